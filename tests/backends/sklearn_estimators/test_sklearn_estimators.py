"""Results and validation of the estimators of points."""

import importlib
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from helpers.strategies_energy_kernels import squared_distances_by_products
from kgroups.backends.sklearn import KernelKGroups, KernelKMeans
from kgroups.energy import Exponential, Power, kernel_kgroups, kernel_matrix, within_energy
from kgroups.errors import InputError, MissingExtraError, NumberOfCommunitiesError

BOTH = pytest.mark.parametrize("kind", [KernelKGroups, KernelKMeans])
CENTERS = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    return np.repeat(CENTERS, 20, axis=0) + 0.5 * rng.normal(size=(60, 2))


@BOTH
def test_fit_predict_gives_the_labels_of_the_fit(kind, blobs):
    model = kind(3, random_state=0)
    labels = model.fit_predict(blobs)
    assert labels is model.labels_
    assert np.bincount(labels).tolist() == [20, 20, 20]
    assert np.array_equal(labels, np.repeat(labels[[0, 20, 40]], 20))
    assert model.converged_


@BOTH
def test_prediction_of_what_was_fitted_is_its_labels(kind):
    X = np.random.default_rng(1).normal(size=(80, 3))
    model = kind(5, random_state=1).fit(X)
    assert np.array_equal(model.predict(X), model.labels_)


@BOTH
@pytest.mark.parametrize("metric", [Power(0.5), Exponential(2.0)])
def test_attributes_belong_to_the_labels(kind, metric, blobs):
    weights = np.random.default_rng(2).uniform(0.5, 2.0, size=60)
    model = kind(4, metric=metric, random_state=0).fit(blobs, sample_weight=weights)
    G = kernel_matrix(blobs, metric=metric)
    association = 0.0
    for a in range(4):
        w = np.where(model.labels_ == a, weights, 0.0)
        association += w @ G @ w / w.sum()
    assert model.objective_ == pytest.approx(association)
    expected = within_energy(blobs, model.labels_, metric=metric, weights=weights)
    assert model.within_energy_ == pytest.approx(expected)
    assert model.n_iter_ >= 1


@BOTH
@pytest.mark.parametrize("metric", [Power(0.5), Power(2.0), Exponential("median")])
def test_the_score_of_what_was_fitted_is_minus_its_within_energy(kind, metric, blobs):
    weights = np.random.default_rng(2).uniform(0.5, 2.0, size=60)
    model = kind(4, metric=metric, random_state=0).fit(blobs, sample_weight=weights)
    assert model.score(blobs, sample_weight=weights) == pytest.approx(-model.within_energy_)
    worse = kind(2, metric=metric, random_state=0).fit(blobs, sample_weight=weights)
    assert worse.score(blobs, sample_weight=weights) < model.score(blobs, sample_weight=weights)


@BOTH
def test_the_score_of_new_points_is_that_of_k_means(kind, blobs):
    model = kind(3, metric="sqeuclidean", random_state=0).fit(blobs)
    peer = KMeans(3, init=np.array([blobs[model.labels_ == a].mean(axis=0) for a in range(3)]))
    new = np.random.default_rng(3).normal(size=(40, 2))
    weights = np.random.default_rng(4).uniform(0.5, 2.0, size=40)
    peer.fit(blobs)
    assert model.score(new) == pytest.approx(peer.score(new))
    assert model.score(new, None, weights) == pytest.approx(peer.score(new, sample_weight=weights))
    twin = kind(3, metric="precomputed", init=model.labels_)
    twin.fit(Power(2.0)(blobs))
    assert twin.score(Power(2.0)(new, blobs)) == pytest.approx(peer.score(new))


def test_a_gram_matrix_has_no_score(blobs):
    """It does not hold the kernel of a new point with itself."""
    G = kernel_matrix(blobs)
    assert not hasattr(KernelKGroups(3, metric="gram").fit(G), "score")
    with pytest.raises(InputError, match=r"cost\(\) needs points or distances: a Gram matrix"):
        kernel_kgroups(G, 3, metric="gram").cost(G)


def test_scores_are_checked(blobs):
    with pytest.raises(NotFittedError):
        KernelKGroups(3).score(blobs)
    model = KernelKGroups(3).fit(blobs)
    with pytest.raises(InputError, match="sample_weight must hold 60 numbers"):
        model.score(blobs, sample_weight=[1.0, 2.0])


@BOTH
def test_points_distances_and_gram_matrices_give_the_same_groups(kind, blobs):
    metric = Power(1.0)
    start = np.arange(60) % 3
    new = np.random.default_rng(3).normal(size=(10, 2))
    of_points = kind(3, metric=metric, init=start).fit(blobs)
    of_distances = kind(3, metric="precomputed", init=start).fit(metric(blobs))
    of_gram = kind(3, metric="gram", init=start).fit(kernel_matrix(blobs, metric=metric))
    # The kernel with the origin as base point, between new points and those fitted.
    origin = np.zeros((1, 2))
    kernel = 0.5 * (metric(new, origin) + metric(blobs, origin).T - metric(new, blobs))
    for other, given in ((of_distances, metric(new, blobs)), (of_gram, kernel)):
        assert np.array_equal(other.labels_, of_points.labels_)
        assert other.within_energy_ == pytest.approx(of_points.within_energy_)
        assert np.array_equal(other.predict(given), of_points.predict(new))
    assert of_gram.objective_ == pytest.approx(of_points.objective_)


@BOTH
def test_a_function_of_two_samples_is_a_metric(kind, blobs):
    def taxi(x, y):
        return np.abs(x - y).sum()

    distances = np.abs(blobs[:, None] - blobs[None]).sum(axis=2)
    start = np.arange(60) % 3
    by_function = kind(3, metric=taxi, init=start).fit(blobs)
    by_matrix = kind(3, metric="precomputed", init=start).fit(distances)
    assert np.array_equal(by_function.labels_, by_matrix.labels_)
    assert by_function.within_energy_ == pytest.approx(by_matrix.within_energy_)


@BOTH
def test_a_weight_counts_as_copies_and_zero_as_none(kind, blobs):
    copies = np.random.default_rng(4).integers(0, 4, size=60)
    weighted = kind(4, random_state=0).fit(blobs, sample_weight=copies)
    repeated = kind(4, random_state=0).fit(np.repeat(blobs, copies, axis=0))
    assert np.array_equal(np.repeat(weighted.labels_, copies), repeated.labels_)
    assert weighted.within_energy_ == pytest.approx(repeated.within_energy_)
    left_out = copies == 0
    assert left_out.any()
    assert np.array_equal(weighted.labels_[left_out], repeated.predict(blobs[left_out]))


@BOTH
def test_order_of_the_samples_does_not_matter(kind):
    X = np.random.default_rng(5).normal(size=(90, 2))
    p = np.random.default_rng(6).permutation(90)
    original = kind(6, n_init=2, random_state=0).fit(X)
    shuffled = kind(6, n_init=2, random_state=0).fit(X[p])
    assert np.array_equal(original.labels_[p], shuffled.labels_)


def one_start(X, random_state):
    """Labels of one start by chance on noise: they tell streams of random numbers apart."""
    return KernelKGroups(8, init="random", n_init=1, random_state=random_state).fit_predict(X)


def test_random_state_is_that_of_scikit_learn():
    X = np.random.default_rng(7).normal(size=(120, 3))
    assert np.array_equal(one_start(X, 0), one_start(X, 0))
    assert not np.array_equal(one_start(X, 0), one_start(X, 1))
    state = np.random.RandomState(0)
    first = one_start(X, state)
    assert np.array_equal(first, one_start(X, 0))
    assert not np.array_equal(first, one_start(X, state))
    before = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(0)  # noqa: NPY002
        assert np.array_equal(first, one_start(X, None))
    finally:
        np.random.set_state(before)  # noqa: NPY002


@BOTH
def test_a_fit_that_stops_early_warns(kind):
    X = np.random.default_rng(8).normal(size=(100, 2))
    model = kind(5, init="random", n_init=1, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match=f"{kind.__name__} still moved.* Raise max_iter"):
        model.fit(X)
    assert not model.converged_
    assert model.n_iter_ == 1


def test_more_starts_are_no_worse():
    X = np.random.default_rng(9).normal(size=(60, 2))
    single = [KernelKGroups(7, n_init=1, random_state=s).fit(X).objective_ for s in range(10)]
    assert KernelKGroups(7, n_init=20, random_state=0).fit(X).objective_ > np.mean(single)


@BOTH
@pytest.mark.parametrize("bad", [0, -2, 2.5, "3", None, True])
@pytest.mark.parametrize("name", ["n_clusters", "n_init", "max_iter"])
def test_counts_are_whole_numbers(kind, name, bad, blobs):
    with pytest.raises(InputError, match=f"{name} must be a whole number >= 1, got"):
        kind().set_params(**{name: bad}).fit(blobs)


@BOTH
def test_more_groups_than_samples_are_refused(kind, blobs):
    with pytest.raises(NumberOfCommunitiesError, match="got n_clusters=8 for n_samples=5"):
        kind().fit(blobs[:5])
    weights = np.r_[np.ones(5), np.zeros(55)]
    with pytest.raises(NumberOfCommunitiesError, match="n_samples=60, 5 of positive weight"):
        kind().fit(blobs, sample_weight=weights)


@BOTH
def test_other_invalid_parameters_are_named(kind, blobs):
    with pytest.raises(InputError, match="init must be 'k-means"):
        kind(2, init="farthest").fit(blobs)
    with pytest.raises(InputError, match="labels to start from must be 60 whole numbers"):
        kind(2, init=[0, 1]).fit(blobs)
    with pytest.raises(InputError, match=r"metric must be .*names 'euclidean', .*got 'cosine'"):
        kind(2, metric="cosine").fit(blobs)
    with pytest.raises(ValueError, match=r"Negative values in data .*got -1.0 in row 0, column 0"):
        kind(2, metric="precomputed").fit(-np.ones((3, 3)))
    with pytest.raises(InputError, match=r"must be finite and >= 0, got -1\.0 for row 3"):
        kind(2).fit(blobs, sample_weight=np.where(np.arange(60) == 3, -1.0, 1.0))


@BOTH
def test_distances_below_zero_by_rounding_are_taken(kind, blobs):
    D = squared_distances_by_products(blobs[np.arange(120) % 60] + 3.0)
    assert D.min() < 0.0
    model = kind(3, metric="precomputed", random_state=0).fit(D)
    assert np.array_equal(model.labels_[:60], model.labels_[60:])
    assert np.array_equal(model.predict(D), model.labels_)


@BOTH
def test_distances_that_are_negative_are_refused(kind, blobs):
    D = Power()(blobs)
    with pytest.raises(ValueError, match=r"Negative values.*\n.*metric=\"gram\".*numpy.maximum"):
        kind(3, metric="precomputed").fit(-D)
    model = kind(3, metric="precomputed", random_state=0).fit(D)
    with pytest.raises(InputError, match=r"distances of new points must be >= 0, got .* in row 0"):
        model.predict(-D)
    gram = kind(3, metric="gram", random_state=0).fit(kernel_matrix(blobs))
    assert gram.predict(-kernel_matrix(blobs)).shape == (60,)


@BOTH
def test_how_much_memory_there_is_is_passed_on(kind, blobs):
    calls = []

    def counted(x, y):
        calls.append(1)
        return np.abs(x - y).sum()

    counts = []
    for memory in (8 * 60**2, 8 * 60**2 - 1):
        calls.clear()
        kind(3, metric=counted, gram_memory=memory, n_init=2, random_state=0).fit(blobs)
        counts.append(len(calls))
    assert counts[0] < 60 * 59 // 2 + 40 < counts[1]


@BOTH
@pytest.mark.parametrize(
    "given",
    [list, tuple, pd.Series, np.float32, lambda w: pd.Series(w, index=range(60, 0, -1)), np.int64],
)
def test_weights_of_any_kind_are_taken(kind, given, blobs):
    weights = np.random.default_rng(10).integers(1, 5, size=60)
    expected = kind(4, random_state=0).fit(blobs, sample_weight=weights.astype(float))
    found = kind(4, random_state=0).fit(blobs, sample_weight=given(weights))
    assert np.array_equal(found.labels_, expected.labels_)
    assert found.within_energy_ == expected.within_energy_


@BOTH
@pytest.mark.parametrize(
    "weights", [["1"] * 60, np.ones(60) + 0j, np.ma.ones(60), np.ones(60).astype("datetime64[s]")]
)
def test_weights_that_are_no_numbers_are_refused(kind, weights, blobs):
    with pytest.raises(InputError, match=r"sample_weight must (hold real numbers|not be a masked)"):
        kind(2).fit(blobs, sample_weight=weights)


@BOTH
def test_nothing_is_predicted_before_a_fit(kind, blobs):
    with pytest.raises(NotFittedError, match=f"This {kind.__name__} instance is not fitted yet"):
        kind().predict(blobs)


def test_a_failed_fit_leaves_nothing_fitted(blobs):
    model = KernelKGroups(2, metric="cosine")
    with pytest.raises(InputError, match="metric must be"):
        model.fit(blobs)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(blobs)


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "kgroups.backends.sklearn")
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    advice = r"(?s)extra 'sklearn'.*python -m pip install \"\.\[sklearn\]\""
    with pytest.raises(MissingExtraError, match=advice):
        importlib.import_module("kgroups.backends.sklearn")
