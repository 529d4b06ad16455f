"""Metric arguments: semimetrics, names, functions, and a scale taken from the points."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from kgroups.energy import (
    Exponential,
    Gaussian,
    PairFunction,
    Power,
    Semimetric,
    as_semimetric,
    between_energy,
    energy_distance,
    kernel_kgroups,
    kernel_kmeans,
    kernel_matrix,
    mean_semimetric,
    within_energy,
)
from kgroups.energy.statistics import mean_within, weighted
from kgroups.errors import InputError

SCALED = pytest.mark.parametrize("family", [Exponential, Gaussian])
BOTH = pytest.mark.parametrize("cluster", [kernel_kgroups, kernel_kmeans])


def taxi(x, y):
    return np.abs(x - y).sum()


def sample(seed, n=60, shift=0.0):
    return 3.0 * np.random.default_rng(seed).normal(size=(n, 2)) + shift


def test_metrics_of_the_right_kind_are_taken_as_they_are():
    metric = Gaussian(2.0)
    assert as_semimetric(metric) is metric
    assert as_semimetric(taxi) == PairFunction(taxi)
    assert isinstance(as_semimetric(taxi), Semimetric)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("euclidean", Power(1.0)),
        ("sqeuclidean", Power(2.0)),
        ("exponential", Exponential("median")),
        ("gaussian", Gaussian("median")),
    ],
)
def test_names_stand_for_semimetrics(name, metric):
    assert as_semimetric(name) == metric
    X = sample(0)
    assert np.array_equal(kernel_matrix(X, metric=name), kernel_matrix(X, metric=metric))
    labels = np.arange(60) % 3
    assert within_energy(X, labels, metric=name) == within_energy(X, labels, metric=metric)
    named, given = (kernel_kgroups(X, 3, metric=one) for one in (name, metric))
    assert named.within_energy == given.within_energy
    assert named.metric == given.metric == metric.scaled_to(X)


@pytest.mark.parametrize("metric", ["cosine", "precomputed", "power", None, 1.0, float])
def test_metrics_of_the_wrong_kind_are_refused(metric):
    message = "metric must be a semimetric, one of the names 'euclidean', .* a function of two poi"
    with pytest.raises(InputError, match=message):
        as_semimetric(metric)


def test_a_name_that_is_not_known_leads_to_matrices():
    with pytest.raises(InputError, match=r"'precomputed' \(distances\) or 'gram' \(a kernel\)"):
        as_semimetric("cityblock")


def test_a_class_in_place_of_a_semimetric_is_refused():
    with pytest.raises(InputError, match=r"Pass an instance: Power\(\.\.\.\)"):
        as_semimetric(Power)


@SCALED
def test_a_scale_is_taken_from_points_once(family):
    X = sample(1)
    metric = family("median").scaled_to(X)
    assert metric == family(float(np.median(pdist(X))))
    assert metric.scaled_to(sample(2)) is metric
    assert np.array_equal(family("median")(X), metric(X))
    assert Power(0.5).scaled_to(X) == Power(0.5)
    with pytest.raises(InputError, match=r"must know its sigma(.|\n)*scaled_to\(points\) first"):
        family("median")(X, X)


@SCALED
@pytest.mark.parametrize("word", ["mean", "Median", ""])
def test_other_words_are_no_scale(family, word):
    with pytest.raises(InputError, match="sigma must be a finite number above 0 or"):
        family(word)


@SCALED
@BOTH
@pytest.mark.parametrize("init", ["k-means++", np.arange(60) % 3])
@pytest.mark.parametrize("memory", [8e8, 0.0])
def test_groups_are_those_of_the_median(cluster, family, init, memory):
    X, new = sample(3), sample(4, 20)
    options = {"init": init, "gram_memory": memory, "n_init": 2, "rng": 0}
    found = cluster(X, 3, metric=family("median"), **options)
    given = cluster(X, 3, metric=family(np.median(pdist(X))), **options)
    assert type(found.metric) is family
    assert found.metric.sigma == pytest.approx(np.median(pdist(X)))
    assert np.array_equal(found.labels, given.labels)
    assert found.within_energy == pytest.approx(given.within_energy)
    assert np.array_equal(found.predict(new), given.predict(new))


@SCALED
@BOTH
def test_rows_without_weight_and_copies_set_no_scale(cluster, family):
    X = sample(5)
    outliers = np.vstack([X, 1e3 + sample(6)])
    weights = np.repeat([1.0, 0.0], 60)
    plain = cluster(X, 3, metric=family("median"), rng=0)
    weighted = cluster(outliers, 3, metric=family("median"), sample_weight=weights, rng=0)
    assert weighted.metric == plain.metric
    copies = cluster(np.repeat(X, 3, axis=0), 3, metric=family("median"), rng=0)
    assert copies.metric == plain.metric
    for energy in (within_energy, between_energy):
        labels = np.arange(120) % 3
        expected = energy(X, labels[:60], metric=plain.metric)
        found = energy(outliers, labels, metric=family("median"), weights=weights)
        assert found == pytest.approx(expected)


@SCALED
def test_tiles_of_the_matrix_have_one_scale(family):
    X = sample(7, 30)
    metric = family("median").scaled_to(X)
    vectors, w = weighted(X, family("median"), None)
    found = mean_within(vectors, w, tile_side=10)
    assert found == pytest.approx(mean_semimetric(X, metric=metric))


@SCALED
def test_statistics_of_two_samples_have_one_scale(family):
    X, Y = sample(7, 30), sample(8, 40, shift=20.0)
    both = np.vstack([X, Y])
    metric = family(float(np.median(pdist(both))))
    assert metric != family("median").scaled_to(X)
    for statistic in (mean_semimetric, energy_distance):
        found = statistic(X, Y, metric=family("median"))
        assert found == pytest.approx(statistic(X, Y, metric=metric))
    far = np.vstack([Y, np.full((3, 2), 1e4)])
    counted = np.r_[np.ones(40), np.zeros(3)]
    found = energy_distance(X, far, metric=family("median"), y_weights=counted)
    assert found == pytest.approx(energy_distance(X, Y, metric=metric))
    alone = family("median").scaled_to(X)
    assert mean_semimetric(X, metric=family("median")) == mean_semimetric(X, metric=alone)


@BOTH
def test_what_a_matrix_holds_is_kept_as_the_metric(cluster):
    D = Power()(sample(9))
    assert cluster(D, 2, metric="precomputed").metric == "precomputed"
    assert cluster(kernel_matrix(sample(9)), 2, metric="gram").metric == "gram"


def test_points_without_a_scale_are_refused():
    with pytest.raises(InputError, match="two distinct points or more, got 4 samples"):
        kernel_kgroups(np.ones((4, 2)), 2, metric="gaussian", init=[0, 0, 1, 1])
    assert kernel_kgroups(np.ones((4, 2)), 2, metric=Gaussian(1.0)).k == 2
