"""The estimators among the tools of scikit-learn."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kgroups.backends.sklearn import KernelKGroups, KernelKMeans
from kgroups.energy import Exponential, Gaussian, Power, kernel_matrix

BOTH = pytest.mark.parametrize("kind", [KernelKGroups, KernelKMeans])
TRUTH = np.arange(90) % 3


@BOTH
def test_clone_keeps_the_parameters_and_nothing_else(kind, blobs):
    model = kind(3, metric=Exponential(2.0), random_state=0).fit(blobs)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "labels_")
    assert np.array_equal(twin.fit(blobs).labels_, model.labels_)


@BOTH
@pytest.mark.parametrize("metric", [Power(0.5), "precomputed", "gram"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_predicts_the_same(kind, metric, copied, blobs):
    table = {"precomputed": Power()(blobs), "gram": kernel_matrix(blobs)}
    X = table[metric] if isinstance(metric, str) else blobs
    model = kind(3, metric=metric, random_state=0).fit(X)
    assert np.array_equal(copied(model).predict(X), model.labels_)


def test_a_fitted_model_is_not_as_large_as_the_matrix_of_all_pairs():
    X = np.random.default_rng(1).normal(size=(1000, 2))
    model = KernelKGroups(2, n_init=1, random_state=0).fit(X)
    assert len(pickle.dumps(model)) < X.shape[0] ** 2


@BOTH
def test_repr_shows_what_was_changed(kind):
    assert repr(kind()) == f"{kind.__name__}()"
    shown = repr(kind(3, metric=Gaussian(2.0)))
    assert shown == f"{kind.__name__}(metric=Gaussian(sigma=2.0), n_clusters=3)"


@BOTH
def test_a_pipeline_passes_weights_on(kind, blobs):
    weights = np.random.default_rng(2).uniform(size=90)
    model = make_pipeline(StandardScaler(), kind(3, random_state=0))
    model.fit(blobs, **{f"{kind.__name__.lower()}__sample_weight": weights})
    scaled = StandardScaler().fit_transform(blobs)
    alone = kind(3, random_state=0).fit(scaled, sample_weight=weights)
    assert np.array_equal(model[-1].labels_, alone.labels_)
    assert np.array_equal(model.predict(blobs), alone.predict(scaled))


@BOTH
def test_a_search_over_semimetrics_needs_only_a_scorer(kind, blobs):
    metrics = [Power(0.5), Power(1.0), Exponential(2.0), Gaussian(1.0)]
    search = GridSearchCV(
        kind(3, n_init=2, random_state=0),
        {"metric": metrics, "n_clusters": [2, 3]},
        scoring=make_scorer(adjusted_rand_score),
        cv=3,
        error_score="raise",
    ).fit(blobs, TRUTH)
    assert search.best_params_["metric"] in metrics
    assert search.best_params_["n_clusters"] == 3
    assert search.best_score_ > 0.9


@pytest.mark.parametrize(("metric", "table"), [("precomputed", Power()), ("gram", kernel_matrix)])
def test_cross_validation_cuts_a_matrix_both_ways(metric, table, blobs):
    model = KernelKGroups(3, metric=metric, random_state=0)
    scores = cross_val_score(
        model, table(blobs), TRUTH, scoring=make_scorer(adjusted_rand_score), cv=3
    )
    assert min(scores) > 0.9


@BOTH
def test_names_of_columns_are_kept_and_checked(kind, blobs):
    frame = pd.DataFrame(blobs, columns=["length", "width"])
    model = kind(3, random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert model.n_features_in_ == 2
    assert np.array_equal(model.labels_, kind(3, random_state=0).fit_predict(blobs))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"width": "height"}))
