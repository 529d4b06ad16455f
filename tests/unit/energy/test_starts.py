"""First labels of clusterings, and the sample that they are drawn on."""

import numpy as np
import pytest

from kgroups import metrics
from kgroups.energy import Gaussian, Power, kernel_kgroups
from kgroups.energy.clustering import STARTS, draw_sample, extend_labels, starts_of
from kgroups.energy.fitting import VectorRows, rows_of_distances
from kgroups.energy.points import Points
from kgroups.hartigan import improve_dense

OPTIONS = {"rule": "hartigan", "max_sweeps": 100}


def matrix_of(X, w=None, metric=Power()):
    return rows_of_distances(metric(X), np.ones(len(X)) if w is None else w)


def rows_on_demand(X, w, metric=Power()):
    return VectorRows(Points.numbered(X), w, metric)


def groups(sizes, apart=30.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(truth.size, 2))
    X[:, 0] += apart * truth
    return X, truth


@pytest.mark.parametrize("init", STARTS)
def test_every_group_has_points(init):
    X, _ = groups([6, 6])
    for k in (1, 2, 5, 12):
        for z in starts_of(
            init, matrix_of(X), np.ones(12), k, 3, np.random.default_rng(k), **OPTIONS
        ):
            assert np.bincount(z, minlength=k).min() >= 1
            assert z.max() < k


def test_starts_differ():
    X, _ = groups([20, 20], apart=0.0)
    for init in ("k-means++", "random"):
        found = starts_of(
            init, matrix_of(X), np.ones(40), 3, 5, np.random.default_rng(0), **OPTIONS
        )
        assert len({tuple(z) for z in found}) == len(found) == 5


def test_random_labels_are_even_everywhere():
    rng = np.random.default_rng(0)
    drawn = np.array([STARTS["random"](None, np.ones(30), 3, rng) for _ in range(600)])
    # 600 draws with chance 1/3: mean 200, standard deviation 11.5.
    counts = np.array([(drawn == a).sum(axis=0) for a in range(3)])
    assert counts.min() > 200 - 5 * 11.5
    assert counts.max() < 200 + 5 * 11.5


def test_centers_are_drawn_by_weight():
    X, truth = groups([10, 10, 10])
    w = np.where(truth == 1, 1e-6, 1.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        z = STARTS["k-means++"](matrix_of(X, w), w, 2, rng)
        # The middle group has next to no weight: the two centers lie in the others.
        assert z[0] != z[-1]


def test_a_sample_stands_for_all_points():
    X, truth = groups([3000, 900, 10], apart=20.0)
    X[truth == 2] += 1000.0
    w = np.random.default_rng(3).uniform(0.5, 1.5, truth.size)
    M = rows_on_demand(X, w, Power())
    sample = draw_sample(M, w, 600, np.random.default_rng(0), least=2)
    assert sample.points.size <= 600
    assert sample.weights.sum() == pytest.approx(w.sum())
    np.testing.assert_allclose(sample.weights, w[sample.points] * sample.factor)
    # Of ten points in 3910, 600 even draws would find 1.5.
    assert np.count_nonzero(truth[sample.points] == 2) == 10
    expected = Power()(X[sample.points]) * -0.5 * np.outer(sample.weights, sample.weights)
    np.testing.assert_allclose(sample.matrix(M).stored, expected, atol=1e-9)


def test_weights_of_groups_come_out_of_samples_without_bias():
    X, truth = groups([1500, 300, 30], apart=50.0)
    w = np.ones(truth.size)
    M = rows_on_demand(X, w, Power())
    rng = np.random.default_rng(0)
    found = []
    for _ in range(40):
        sample = draw_sample(M, w, 300, rng, least=3)
        found.append(np.bincount(truth[sample.points], weights=sample.weights, minlength=3))
    found = np.array(found)
    error = found.std(axis=0, ddof=1) / np.sqrt(40)
    assert np.all(np.abs(found.mean(axis=0) - np.bincount(truth)) < 4 * error + 1e-9)


def test_points_that_are_all_equal_can_be_sampled():
    w = np.ones(50)
    sample = draw_sample(
        rows_on_demand(np.zeros((50, 2)), w), w, 20, np.random.default_rng(0), least=2
    )
    assert sample.weights.sum() == pytest.approx(50.0)


def test_other_points_join_the_nearest_mean_of_the_sample():
    X, truth = groups([40, 60], apart=8.0)
    w = np.random.default_rng(4).uniform(0.5, 2.0, 100)
    M = rows_on_demand(X, w, Gaussian(4.0))
    sample = draw_sample(M, w, 40, np.random.default_rng(0), least=2)
    assert sample.points.size < 40
    among = sample.matrix(M)
    start = truth[sample.points].astype(np.int64)
    # A label that is not the nearest mean's stays with the sample.
    grouped = improve_dense(among, sample.weights, start, k=2)
    kept = grouped._replace(z=np.where(np.arange(start.size) == 0, 1 - grouped.z, grouped.z))
    (z,) = extend_labels(M, w, sample, [grouped], 2)
    np.testing.assert_array_equal(z, truth)
    (z,) = extend_labels(M, w, sample, [kept], 2)
    assert z[sample.points[0]] == kept.z[0]


def test_the_best_start_on_the_sample_is_extended():
    X, truth = groups([100] * 4, apart=20.0)
    options = {"sample_size": 120, "extended": 1, **OPTIONS}
    w = np.ones(400)
    M = rows_on_demand(X, w)
    alone, best = [], []
    for seed in range(5):
        for found, count in ((alone, 1), (best, 40)):
            (z,) = starts_of("random", M, w, 4, count, np.random.default_rng(seed), **options)
            found.append(metrics.nmi(truth, z))
    assert min(alone) < 0.95
    assert min(best) > 0.99


def test_a_sample_has_as_many_points_as_there_are_groups():
    X, _ = groups([400])
    w = np.r_[1.0, np.full(399, 1e-9)]
    for least in (2, 90, 400):
        sample = draw_sample(rows_on_demand(X, w), w, 90, np.random.default_rng(0), least=least)
        assert sample.points.size >= least
        assert np.unique(sample.points).size == sample.points.size
        assert sample.weights.sum() == pytest.approx(w.sum())


def test_starts_that_end_at_one_optimum_are_extended_once():
    X, truth = groups([150, 150], apart=40.0)
    w = np.ones(300)
    found = starts_of(
        "k-means++",
        rows_on_demand(X, w),
        w,
        2,
        10,
        np.random.default_rng(0),
        sample_size=60,
        **OPTIONS,
    )
    assert len(found) == 1
    assert metrics.nmi(truth, found[0]) == 1.0


def test_few_points_of_all_the_weight_leave_no_sample_to_group():
    X, _ = groups([100])
    w = np.r_[1.0, np.full(99, 1e-9)]
    M, rng = rows_on_demand(X, w), np.random.default_rng(0)
    found = starts_of("k-means++", M, w, 4, 10, rng, sample_size=30, **OPTIONS)
    assert found
    assert all(np.unique(z).size == 4 for z in found)


@pytest.mark.compiled
@pytest.mark.parametrize("init", STARTS)
def test_without_the_matrix_a_sample_is_grouped_first(init):
    X, truth = groups([200] * 3, apart=12.0)
    w = np.ones(600)
    M, rng = rows_on_demand(X, w), np.random.default_rng(0)
    found = starts_of(init, M, w, 3, 10, rng, sample_size=90, **OPTIONS)
    assert 1 <= len(found) <= 3
    outcomes = [improve_dense(M, w, z, k=3) for z in found]
    best = max(outcomes, key=lambda outcome: outcome.objective)
    assert metrics.nmi(truth, best.z) == 1.0


@pytest.mark.compiled
def test_more_points_than_a_sample_are_all_grouped():
    X, truth = groups([1000, 1600, 500], apart=8.0)
    found = kernel_kgroups(X, 3, n_init=2, gram_memory=0)
    assert metrics.nmi(truth, found.labels) == 1.0
    assert 1 <= found.objectives.size <= 3
