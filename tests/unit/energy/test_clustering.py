"""Kernel k-groups and kernel k-means: their results and their validation."""

import sys

import numpy as np
import pytest

from helpers.data import needs
from helpers.terminal import Terminal
from kgroups import metrics
from kgroups.datasets import load_table
from kgroups.energy import (
    Exponential,
    Gaussian,
    Power,
    between_energy,
    kernel_kgroups,
    kernel_kmeans,
    kernel_matrix,
    split_line,
    within_energy,
)
from kgroups.errors import InputError, NumberOfCommunitiesError

METRICS = [Power(), Power(0.5), Power(2), Exponential(2.0), Gaussian(3.0)]
CLUSTERERS = [kernel_kgroups, kernel_kmeans]


def blobs(n=60, columns=3, k=3, apart=6.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    centers = apart * np.eye(max(k, columns))[:k, :columns]
    return centers[truth] + rng.normal(size=(n, columns)), truth


def taxi(x, y):
    return float(np.abs(x - y).sum())


@pytest.mark.parametrize("cluster", CLUSTERERS)
@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("metric", [*METRICS, taxi])
def test_groups_that_lie_apart_are_found(cluster, init, metric):
    X, truth = blobs()
    found = cluster(X, 3, metric=metric, init=init)
    assert found.converged
    assert metrics.nmi(truth, found.labels) == 1.0


@pytest.mark.parametrize("metric", METRICS)
def test_the_energies_are_those_of_the_labels(metric):
    X, _ = blobs(apart=1.5)
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    found = kernel_kgroups(X, 4, metric=metric, sample_weight=w)
    W = within_energy(X, found.labels, metric=metric, weights=w)
    assert found.within_energy == pytest.approx(W, rel=1e-9)
    G = kernel_matrix(X, metric=metric)
    association = 0.0
    for a in range(4):
        share = np.where(found.labels == a, w, 0.0)
        association += share @ G @ share / share.sum()
    assert found.objective == pytest.approx(association, rel=1e-9)
    assert found.objectives.shape == (10,)
    assert found.objectives.max() == pytest.approx(found.objective)


def test_distances_have_the_mean_as_base_point():
    X, _ = blobs()
    D = Power()(X)
    found = kernel_kgroups(D, 3, metric="precomputed")
    S = between_energy(D, found.labels, metric="precomputed")
    assert found.objective == pytest.approx(S, rel=1e-9)
    assert kernel_kgroups(X, 3, metric=lambda x, y: float(np.linalg.norm(x - y))).objective == (
        pytest.approx(S, rel=1e-9)
    )


@pytest.mark.parametrize("cluster", CLUSTERERS)
def test_points_distances_and_gram_matrix_give_the_same_from_the_same_labels(cluster):
    X, _ = blobs(apart=1.0)
    start = np.random.default_rng(2).permutation(np.arange(60) % 4)
    points = cluster(X, 4, metric=Exponential(), init=start)
    rows = cluster(X, 4, metric=Exponential(), init=start, gram_memory=0)
    distances = cluster(Exponential()(X), 4, metric="precomputed", init=start)
    gram = cluster(kernel_matrix(X, metric=Exponential()), 4, metric="gram", init=start)
    for other in (rows, distances, gram):
        np.testing.assert_array_equal(points.labels, other.labels)
        assert other.within_energy == pytest.approx(points.within_energy, rel=1e-9)
        assert (other.sweeps, other.moves) == (points.sweeps, points.moves)
    assert gram.objective == pytest.approx(points.objective, rel=1e-9)


@pytest.mark.parametrize("cluster", CLUSTERERS)
@pytest.mark.parametrize("memory", [0, 1e9])
def test_new_points_join_the_nearest_mean(cluster, memory):
    X, _ = blobs(apart=2.0)
    found = cluster(X, 3, metric=Gaussian(2.0), gram_memory=memory)
    np.testing.assert_array_equal(found.predict(X), found.labels)
    new = np.random.default_rng(3).normal(size=(7, 3))
    means = [
        Gaussian(2.0)(new, X[found.labels == a]).mean(axis=1)
        - 0.5 * Gaussian(2.0)(X[found.labels == a]).mean()
        for a in range(3)
    ]
    np.testing.assert_array_equal(found.predict(new), np.argmin(means, axis=0))
    gram = kernel_kgroups(kernel_matrix(X), 3, metric="gram", init=found.labels)
    distances = kernel_kgroups(Power()(X), 3, metric="precomputed", init=found.labels)
    origin = np.zeros((1, 3))
    G_new = 0.5 * (Power()(new, origin) + Power()(X, origin).T - Power()(new, X))
    np.testing.assert_array_equal(gram.predict(G_new), distances.predict(Power()(new, X)))


@pytest.mark.parametrize("cluster", CLUSTERERS)
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_the_order_of_the_rows_does_not_matter(cluster, init):
    X, _ = blobs(apart=0.5)
    X = np.round(X, 1)
    order = np.random.default_rng(4).permutation(len(X))
    there, back = cluster(X, 4, init=init), cluster(X[order], 4, init=init)
    np.testing.assert_array_equal(there.labels[order], back.labels)


@pytest.mark.parametrize("cluster", CLUSTERERS)
def test_weights_are_repeated_rows(cluster):
    X, _ = blobs(apart=0.5)
    w = np.random.default_rng(5).integers(0, 4, len(X))
    weighted = cluster(X, 3, sample_weight=w)
    repeated = cluster(np.repeat(X, w, axis=0), 3)
    np.testing.assert_array_equal(np.repeat(weighted.labels, w), repeated.labels)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9)
    np.testing.assert_array_equal(weighted.labels[w == 0], repeated.predict(X[w == 0]))


def test_weights_count_by_their_ratios_only():
    X, _ = blobs(apart=0.5)
    w = np.random.default_rng(6).uniform(0.1, 1.0, len(X))
    for factor in (1e-280, 1e-12, 1e12, 1e280):
        one, other = (kernel_kgroups(X, 3, sample_weight=c * w) for c in (1.0, factor))
        np.testing.assert_array_equal(one.labels, other.labels)
        assert other.within_energy == pytest.approx(factor * one.within_energy, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-120, 1e-9, 1e9, 1e120])
def test_the_unit_of_length_does_not_matter(scale):
    X, _ = blobs(apart=0.5)
    one, other = kernel_kgroups(X, 3), kernel_kgroups(scale * X, 3)
    np.testing.assert_array_equal(one.labels, other.labels)


def test_where_the_origin_lies_does_not_matter():
    X, _ = blobs(apart=0.5)
    X = np.round(X * 1024) / 1024
    one, other = kernel_kgroups(X, 3), kernel_kgroups(X + 2.0**20, 3)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert other.within_energy == pytest.approx(one.within_energy, rel=1e-9)


def test_heavier_groups_have_lower_numbers():
    X = np.concatenate([np.zeros(2), np.full(5, 9.0), np.full(3, 20.0)])
    assert kernel_kgroups(X, 3).labels.tolist() == [2, 2, 0, 0, 0, 0, 0, 1, 1, 1]


def test_given_labels_keep_their_numbers():
    X, truth = blobs()
    start = (2 - truth).astype(np.int32)
    found = kernel_kgroups(X, 3, init=start)
    np.testing.assert_array_equal(found.labels, start)
    assert found.moves == 0


def test_more_groups_than_distinct_points():
    found = kernel_kgroups([1.0, 1.0, 1.0, 2.0], 3)
    assert sorted(np.bincount(found.labels)) == [1, 1, 2]
    assert found.within_energy == 0.0


@pytest.mark.parametrize("k", [1, 12])
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_one_group_and_a_group_for_each_point(k, init):
    X, _ = blobs(n=12)
    found = kernel_kgroups(X, k, init=init)
    assert np.unique(found.labels).size == k
    expected = 0.0 if k == 12 else within_energy(X, np.zeros(12, dtype=int))
    assert found.within_energy == pytest.approx(expected, abs=1e-9)


def test_one_point():
    found = kernel_kgroups([[3.0, 4.0]], 1)
    assert found.labels.tolist() == [0]
    assert (found.within_energy, found.objective, found.converged) == (0.0, 5.0, True)


def test_k_groups_is_never_above_k_means_from_the_same_labels_on_a_line():
    x = np.exp(1.5 * np.random.default_rng(7).normal(size=80))
    exact = split_line(x)
    assert kernel_kgroups(x, 2, init=exact.labels).moves == 0
    found = kernel_kgroups(x, 2, n_init=30)
    assert found.within_energy == pytest.approx(exact.within_energy, rel=1e-9)


def test_a_matrix_that_is_not_semidefinite_can_be_grouped():
    A = np.kron(np.eye(3), np.ones((5, 5)) - np.eye(5))
    assert np.linalg.eigvalsh(A)[0] < -0.9
    found = kernel_kgroups(A, 3, metric="gram")
    np.testing.assert_array_equal(found.labels, np.repeat(found.labels[::5], 5))
    assert np.unique(found.labels).size == 3


@pytest.mark.parametrize("cluster", CLUSTERERS)
@pytest.mark.parametrize("metric", [Power(), Power(2)])
@pytest.mark.parametrize("far", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("init", ["k-means++", "random", np.arange(81) % 3])
def test_a_point_far_away_hides_nothing(cluster, metric, far, init):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 20.0, [[far, 0.0]]])
    found = cluster(X, 3, metric=metric, init=init)
    assert found.converged
    assert found.within_energy == pytest.approx(
        within_energy(X, found.labels, metric=metric), rel=1e-9
    )
    np.testing.assert_array_equal(found.labels, found.predict(X))
    if cluster is kernel_kgroups:
        assert metrics.nmi(np.repeat([0, 1, 2], [40, 40, 1]), found.labels) == 1.0


def test_the_best_start_is_returned_beside_a_point_far_away():
    X = np.vstack([np.random.default_rng(1).normal(size=(300, 2)), [[99_999.0, 0.0]]])
    found = kernel_kgroups(X, 9, metric=Power(2))
    smallest = found.within_energy + found.objective - found.objectives.max()
    assert found.within_energy == pytest.approx(smallest, rel=1e-9)


def test_light_points_move_as_heavy_ones_do():
    X, truth = blobs(k=2, apart=20.0)
    w = np.where(np.arange(60) % 3 == 0, 1e-11, 1.0)
    for init in ("k-means++", "random"):
        found = kernel_kgroups(X, 2, sample_weight=w, init=init)
        assert found.converged
        assert metrics.nmi(truth, found.labels) == 1.0


def test_weights_may_differ_by_any_factor():
    for light in (1e-5, 1e-11, 1e-13, 1e-17, 1e-100, 1e-300):
        found = kernel_kgroups([0.0, 1.0, 5.0], 2, sample_weight=[1.0, light, 1.0])
        assert found.labels[0] == found.labels[1] != found.labels[2]
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = 3.0 * rng.normal(size=(80, 2))
        found = kernel_kgroups(X, 8, sample_weight=np.exp(-np.square(X).sum(axis=1)), n_init=2)
        assert found.converged
        np.testing.assert_array_equal(found.labels, found.predict(X))


def test_sums_beyond_the_range_of_floats_are_refused():
    X, _ = blobs()
    for options in ({}, {"gram_memory": 0}):
        with pytest.raises(InputError, match="energies must be finite, but semimetrics up to"):
            kernel_kgroups(X * 1e152, 2, metric=Power(2), **options)
    with pytest.raises(InputError, match="Divide all coordinates, or all weights"):
        kernel_kgroups(X * 1e100, 2, metric=Power(2), sample_weight=np.full(60, 1e120))
    with pytest.raises(InputError, match="energies must be finite"):
        kernel_kgroups(Power()(X) * 1e306, 2, metric="precomputed")


def test_weights_of_equal_rows_add_up_in_any_order():
    X = np.tile(np.eye(40), (3, 1))
    w = np.repeat([0.1, 0.2, 0.3], 40)
    one = kernel_kgroups(X, 5, sample_weight=w, rng=3)
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(120)
        other = kernel_kgroups(X[order], 5, sample_weight=w[order], rng=3)
        np.testing.assert_array_equal(one.labels[order], other.labels)


def test_a_last_pass_without_a_move_has_converged():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(300, 2)), rng.normal(size=(5, 2)) * 1e3 + 1e9])
    start = rng.integers(3, size=305)
    start[:3] = [0, 1, 2]
    enough = kernel_kgroups(X, 3, init=start)
    for sweeps in range(1, enough.sweeps + 1):
        found = kernel_kgroups(X, 3, init=start, max_sweeps=sweeps)
        further = kernel_kgroups(X, 3, init=start, max_sweeps=sweeps + 1)
        if found.converged:
            assert further.moves == found.moves
        exact = within_energy(X, found.labels)
        assert found.within_energy == pytest.approx(exact, rel=1e-6)


def test_equal_groups_are_numbered_by_their_first_points():
    X = np.repeat([3.0, 1.0, 2.0], 4)
    for seed in range(5):
        assert kernel_kgroups(X, 3, rng=seed).labels.tolist() == [2] * 4 + [0] * 4 + [1] * 4


def test_too_few_sweeps_are_reported():
    X, _ = blobs(apart=0.1)
    found = kernel_kgroups(X, 4, init="random", max_sweeps=1, n_init=1)
    assert not found.converged
    assert found.sweeps == 1


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"k": 0}, NumberOfCommunitiesError, "k must be a whole number >= 1, got 0"),
        ({"k": True}, NumberOfCommunitiesError, "got True"),
        ({"k": 2.5}, NumberOfCommunitiesError, "got 2.5"),
        ({"k": 61}, NumberOfCommunitiesError, "got k=61 for 60 points"),
        ({"n_init": 0}, InputError, "n_init must be a whole number >= 1, got 0"),
        ({"max_sweeps": 0}, InputError, "max_sweeps must be a whole number >= 1, got 0"),
        ({"init": "k-means"}, InputError, "init must be 'k-means\\+\\+', .*got 'k-means'"),
        ({"init": [0, 1]}, InputError, "must be 60 whole numbers"),
        ({"init": np.full(60, 0.5)}, InputError, "got shape \\(60,\\) of float64"),
        ({"init": np.zeros(60, int)}, InputError, "must use every number of range\\(3\\)"),
        ({"init": np.arange(60) - 1}, InputError, "must use every number of range\\(3\\)"),
        ({"metric": "cosine"}, InputError, "got 'cosine'(.|\n)*'precomputed'.* or 'gram'"),
        ({"metric": None}, InputError, "metric must be a semimetric"),
        ({"metric": "gram"}, InputError, "60"),
        ({"sample_weight": np.ones(59)}, InputError, "60 numbers, one for each row"),
        ({"sample_weight": "heavy"}, InputError, "must hold real numbers, got 'heavy'"),
        ({"sample_weight": np.zeros(60)}, InputError, "must not be zero for every row"),
        ({"sample_weight": -np.arange(60)}, InputError, "got -1.0 for row 1"),
        ({"sample_weight": np.r_[np.nan, np.ones(59)]}, InputError, "got nan for row 0"),
        ({"sample_weight": np.r_[1.0, np.zeros(59)]}, NumberOfCommunitiesError, "for 1 points"),
        ({"rng": -1}, InputError, "rng must be"),
        ({"gram_memory": None}, InputError, "gram_memory must be a number of bytes >= 0, got None"),
        ({"gram_memory": "1e9"}, InputError, "got '1e9'"),
        ({"gram_memory": float("nan")}, InputError, "got nan"),
        ({"gram_memory": -1}, InputError, "got -1"),
        ({"gram_memory": True}, InputError, "got True"),
    ],
)
def test_invalid_arguments_are_named(change, kind, message):
    X, _ = blobs()
    k = change.pop("k", 3)
    with pytest.raises(kind, match=message):
        kernel_kgroups(X, k, **change)


def test_new_points_of_other_width_are_refused():
    X, _ = blobs()
    with pytest.raises(InputError, match="must have 3 columns like the points fitted, got 2"):
        kernel_kgroups(X, 3).predict([[1.0, 2.0]])
    with pytest.raises(InputError, match="must have 60 columns, one for each row fitted, got 3"):
        kernel_kgroups(Power()(X), 3, metric="precomputed").predict([[1.0, 2.0, 3.0]])


def test_the_callers_arrays_are_left_as_they_are():
    X, _ = blobs()
    D, w, start = Power()(X), np.ones(60), np.arange(60) % 3
    kept = [array.copy() for array in (X, D, w, start)]
    for array in (X, D, w, start):
        array.flags.writeable = False
    kernel_kgroups(X, 3, sample_weight=w, init=start)
    kernel_kgroups(D, 3, metric="precomputed", sample_weight=w, init=start)
    kernel_kmeans(kernel_matrix(X), 3, metric="gram")
    for array, before in zip((X, D, w, start), kept, strict=True):
        np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("cluster", [kernel_kgroups, kernel_kmeans])
@pytest.mark.parametrize("memory", [0, 1e9])
def test_nothing_is_drawn_on_a_terminal_that_was_not_asked_for(monkeypatch, cluster, memory):
    monkeypatch.setenv("KGROUPS_JIT", "never")
    monkeypatch.setattr("sys.stderr", Terminal())
    cluster(blobs()[0], 3, gram_memory=memory)
    assert sys.stderr.getvalue() == ""


@needs("dermatology")
@pytest.mark.compiled
def test_dermatology_comes_out_as_in_the_paper():
    table = load_table("dermatology")
    X = np.where(np.isnan(table.X), np.nanmean(table.X, axis=0), table.X)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for init in ("k-means++", "random"):
        found = kernel_kgroups(X, 6, metric=Power(0.5), init=init, n_init=100)
        assert metrics.accuracy(table.labels, found.labels) == pytest.approx(0.9617, abs=5e-5)
        assert found.objective == pytest.approx(449.8813, abs=1e-4)
