"""What holds for kernel k-groups and kernel k-means whatever the points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import oracles_hartigan as oracles
from kgroups.energy import (
    Exponential,
    Gaussian,
    Power,
    between_energy,
    kernel_kgroups,
    kernel_kmeans,
    mean_semimetric,
    within_energy,
)

METRICS = [Power(0.5), Power(), Power(2), Exponential(0.7), Gaussian(1.3)]


@st.composite
def clustering_problems(draw):
    """Draw few points, many of them equal, weights some of which are zero, and k."""
    n = draw(st.integers(2, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, draw(st.integers(1, 3))))
    if draw(st.booleans()):
        X = np.round(X)
    w = rng.uniform(0.2, 3.0, n) * (rng.random(n) < draw(st.sampled_from([0.6, 1.0])))
    w[0] = 1.0
    k = draw(st.integers(1, min(4, np.count_nonzero(w))))
    return X, w, k


metrics = st.sampled_from(METRICS)
inits = st.sampled_from(["k-means++", "random"])
memories = st.sampled_from([0.0, 1e9])


@given(clustering_problems(), metrics, inits, memories)
def test_no_move_of_a_point_improves_k_groups(problem, metric, init, memory):
    X, w, k = problem
    found = kernel_kgroups(
        X, k, metric=metric, sample_weight=w, init=init, n_init=2, gram_memory=memory
    )
    counts = w > 0
    M = -0.5 * np.outer(w, w)[np.ix_(counts, counts)] * metric(X[counts])
    z = found.labels[counts]
    assert found.converged
    assert np.unique(z).size == k
    scale = 1.0 + abs(found.within_energy)
    assert oracles.association(M, w[counts], z, k) == pytest.approx(
        -found.within_energy, abs=1e-9 * scale
    )
    assert oracles.best_single_move(M, w[counts], z, k) <= 1e-8 * scale


@given(clustering_problems(), metrics, inits)
def test_what_is_left_within_groups_and_lies_between_them_is_the_whole(problem, metric, init):
    X, w, k = problem
    for cluster in (kernel_kgroups, kernel_kmeans):
        found = cluster(X, k, metric=metric, sample_weight=w, init=init, n_init=2)
        within = within_energy(X, found.labels, metric=metric, weights=w)
        between = between_energy(X, found.labels, metric=metric, weights=w)
        whole = 0.5 * w.sum() * mean_semimetric(X, metric=metric, x_weights=w)
        assert found.within_energy == pytest.approx(within, rel=1e-7, abs=1e-9)
        assert within + between == pytest.approx(whole, rel=1e-9, abs=1e-9)


@given(clustering_problems(), metrics, inits, st.integers(0, 2**32 - 1))
def test_rows_in_any_order_and_repeated_rows_give_the_same_groups(problem, metric, init, seed):
    X, w, k = problem
    order = np.random.default_rng(seed).permutation(len(X))
    whole = np.ceil(w)
    one = kernel_kgroups(X, k, metric=metric, sample_weight=whole, init=init, n_init=2)
    other = kernel_kgroups(
        X[order], k, metric=metric, sample_weight=whole[order], init=init, n_init=2
    )
    assert other.within_energy == pytest.approx(one.within_energy, rel=1e-9, abs=1e-9)
    distinct = np.unique(X[whole > 0], axis=0).shape[0]
    if distinct >= k:
        np.testing.assert_array_equal(other.labels, one.labels[order])
        copies = np.repeat(np.arange(len(X)), whole.astype(int))
        repeated = kernel_kgroups(X[copies], k, metric=metric, init=init, n_init=2)
        np.testing.assert_array_equal(repeated.labels, one.labels[copies])


@given(clustering_problems(), metrics)
def test_k_groups_goes_on_from_where_k_means_stops(problem, metric):
    X, w, k = problem
    X, w = X[w > 0], w[w > 0]
    stopped = kernel_kmeans(X, k, metric=metric, sample_weight=w, n_init=1)
    further = kernel_kgroups(X, k, metric=metric, sample_weight=w, init=stopped.labels)
    assert further.within_energy <= stopped.within_energy + 1e-9 * (1 + stopped.within_energy)
    settled = kernel_kmeans(X, k, metric=metric, sample_weight=w, init=further.labels)
    assert settled.within_energy == pytest.approx(further.within_energy, rel=1e-7, abs=1e-9)


@given(clustering_problems(), metrics)
def test_points_that_were_grouped_are_nearest_to_their_own_mean(problem, metric):
    X, w, k = problem
    found = kernel_kgroups(X, k, metric=metric, sample_weight=w, n_init=2)
    distance = np.empty((len(X), k))
    for a in range(k):
        share = np.where(found.labels == a, w, 0.0)
        share /= share.sum()
        distance[:, a] = metric(X) @ share - 0.5 * share @ metric(X) @ share
    own = distance[np.arange(len(X)), found.predict(X)]
    np.testing.assert_allclose(own, distance.min(axis=1), atol=1e-9)
    np.testing.assert_allclose(
        distance[np.arange(len(X)), found.labels], distance.min(axis=1), atol=1e-7
    )
