"""Parameters within parameters: fields of value objects by names such as ``metric__sigma``."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kgroups import Auto, BetheHessian, Hartigan, Search
from kgroups.backends.sklearn import GraphKGroups, KernelKGroups, KernelKMeans
from kgroups.energy import Exponential, Gaussian, PairFunction, Power, Semimetric
from kgroups.errors import InputError

BOTH = pytest.mark.parametrize("kind", [KernelKGroups, KernelKMeans])
TRUTH = np.arange(90) % 3


def nested(model):
    """Return the parameters of which the name has two parts."""
    return {name: value for name, value in model.get_params().items() if "__" in name}


@BOTH
@pytest.mark.parametrize(
    ("metric", "fields"),
    [
        (Power(0.5), {"metric__alpha": 0.5}),
        (Exponential(2.0), {"metric__sigma": 2.0}),
        ("gaussian", {"metric__sigma": "median"}),
        ("euclidean", {"metric__alpha": 1.0}),
        ("precomputed", {}),
        ("cosine", {}),
        (np.dot, {}),
        (PairFunction(np.dot), {"metric__function": np.dot}),
    ],
)
def test_fields_are_parameters(kind, metric, fields):
    model = kind(metric=metric)
    assert nested(model) == fields
    assert not any("__" in name for name in model.get_params(deep=False))
    assert nested(clone(model)) == fields


@BOTH
def test_a_field_is_set_without_changing_the_object(kind):
    metric = Exponential(2.0)
    model, other = kind(metric=metric), kind(metric=metric)
    assert model.set_params(metric__sigma=3.0, n_clusters=4) is model
    assert model.metric == Exponential(3.0)
    assert model.n_clusters == 4
    assert other.metric is metric
    assert metric == Exponential(2.0)
    assert kind().set_params(metric__alpha=0.5).metric == Power(0.5)
    assert kind().metric == Power(1.0)
    assert clone(model).get_params() == model.get_params()


@BOTH
def test_a_name_gives_way_to_an_object_only_if_a_field_changes(kind):
    model = kind(metric="exponential")
    model.set_params(**model.get_params())
    assert model.metric == "exponential"
    assert model.set_params(metric__sigma=0.5).metric == Exponential(0.5)


@BOTH
def test_a_parameter_is_set_before_its_fields(kind):
    for order in (1, -1):
        changes = dict([("metric", "gaussian"), ("metric__sigma", 2.5)][::order])
        assert kind().set_params(**changes).metric == Gaussian(2.5)


@BOTH
@pytest.mark.parametrize(
    ("metric", "name", "message"),
    [
        (Power(1.0), "metric__sigma", r"'sigma' for metric=Power\(\).*are: \['alpha'\]"),
        ("gram", "metric__sigma", r"'sigma' for metric='gram'.*are: \[\]"),
        (Power(1.0), "n_init__sigma", r"'sigma' for n_init=10.*are: \[\]"),
        (Power(1.0), "kernel__sigma", r"'kernel' for estimator"),
        (Power(1.0), "sigma", r"'sigma' for estimator"),
    ],
)
def test_unknown_fields_are_refused(kind, metric, name, message):
    model = kind(metric=metric)
    with pytest.raises(ValueError, match=f"Invalid parameter {message}"):
        model.set_params(**{name: 1.0})
    assert model.metric is metric


@BOTH
def test_values_that_a_field_cannot_have_are_refused(kind):
    model = kind(metric=Exponential(2.0))
    with pytest.raises(InputError, match="sigma must be a finite number above 0"):
        model.set_params(metric__sigma=-1.0)
    assert model.metric == Exponential(2.0)


@dataclass(frozen=True)
class Stretched(Semimetric):
    """A semimetric of the caller's own, with a field that == cannot compare at once."""

    lengths: np.ndarray

    def __call__(self, X, Y=None):
        return Power()(X * self.lengths, X * self.lengths if Y is None else Y * self.lengths)


def test_semimetrics_of_other_classes_have_fields_too(blobs):
    model = KernelKGroups(3, metric=Stretched(np.ones(2)), random_state=0)
    twin = copy.deepcopy(model).set_params(metric__lengths=np.array([1.0, 0.0]))
    assert twin.metric.lengths.tolist() == [1.0, 0.0]
    assert model.metric.lengths.tolist() == [1.0, 1.0]
    assert adjusted_rand_score(TRUTH, model.fit_predict(blobs)) == 1.0
    assert adjusted_rand_score(TRUTH, twin.fit_predict(blobs)) < 0.9


@BOTH
def test_a_search_over_a_field(kind, blobs):
    model = make_pipeline(StandardScaler(), kind(3, metric="gaussian", n_init=2, random_state=0))
    name = f"{kind.__name__.lower()}__metric__sigma"
    search = GridSearchCV(
        model,
        {name: [1e-3, "median", 1.0]},
        scoring=make_scorer(adjusted_rand_score),
        cv=3,
        error_score="raise",
    ).fit(blobs, TRUTH)
    assert search.best_params_[name] in ("median", 1.0)
    assert search.cv_results_["mean_test_score"][0] < 0.5 < search.best_score_
    assert search.best_estimator_[-1].get_params()["metric__sigma"] == search.best_params_[name]
    assert model[-1].metric == "gaussian"


@BOTH
def test_the_number_that_the_median_became_is_an_attribute(kind, blobs):
    model = kind(3, metric=Exponential("median"), random_state=0).fit(blobs)
    assert model.metric == Exponential("median")
    assert model.metric_ == Exponential("median").scaled_to(blobs)
    fixed = kind(3, metric=model.metric_, random_state=0).fit(blobs)
    assert np.array_equal(fixed.labels_, model.labels_)


@BOTH
@pytest.mark.parametrize(
    ("metric", "advice"),
    [("gaussian", "Gaussian"), (Gaussian("median"), "Gaussian"), ("exponential", "Exponential")],
)
def test_equal_samples_have_no_median(kind, metric, advice):
    message = rf"got 5 samples with 1 distinct row\.\n.*metric={advice}\(sigma=1\.0\)"
    for n_clusters in (1, 2):
        with pytest.raises(InputError, match=message):
            kind(n_clusters, metric=metric).fit(np.zeros((5, 2)))


def test_fields_of_fields_are_no_parameters():
    model = GraphKGroups(method=Auto())
    assert model.get_params()["method__search"] == Search()
    assert "method__search__starts" not in model.get_params()
    model.set_params(method__search=Search(starts=5))
    assert model.method == Auto(search=Search(starts=5))
    assert clone(model).get_params() == model.get_params()
    named = GraphKGroups()
    assert named.set_params(**named.get_params()).method == "auto"
    with pytest.raises(InputError, match=r"'search__starts' for method=Auto\(.*Valid .*'search'"):
        model.set_params(method__search__starts=1)


def test_options_of_the_graph_estimator_have_fields_too():
    model = GraphKGroups(refine=None)
    assert model.get_params()["operator__r"] == BetheHessian().r
    assert "refine__max_sweeps" not in model.get_params()
    model.set_params(operator__r=3.0, method="search", method__starts=2)
    assert model.operator == BetheHessian(r=3.0)
    assert model.method == Search(starts=2)
    assert model.set_params(refine="hartigan", refine__max_sweeps=5).refine == Hartigan(
        max_sweeps=5
    )


@pytest.mark.parametrize("model", [KernelKGroups(metric="gaussian"), GraphKGroups()])
def test_a_model_can_be_shown_as_html(model):
    assert type(model).__name__ in model._repr_html_()
