"""Identities of energy statistics, against sums written out pair by pair."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.energy.kernels import distances_from_gram, gram_from_distances, kernel_matrix
from kgroups.energy.semimetrics import Exponential, Gaussian, Power
from kgroups.energy.statistics import (
    between_energy,
    energy_distance,
    mean_semimetric,
    mean_within,
    sum_within,
    weighted,
    within_energy,
)
from kgroups.graph import Graph
from kgroups.hartigan import group_association

SEMIMETRICS = [Power(), Power(0.5), Power(1.7), Power(2.0), Exponential(0.7), Gaussian(1.5)]

semimetrics = st.sampled_from(SEMIMETRICS)
seeds = st.integers(0, 2**32 - 1)


def close(value, scale=1.0):
    return pytest.approx(value, rel=1e-9, abs=1e-9 * (1.0 + scale))


@st.composite
def samples(draw):
    """Draw points with repeats, labels with no empty group, and weights, some of them 0."""
    n, columns, k = draw(st.integers(2, 14)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(seeds))
    X = rng.normal(scale=draw(st.sampled_from([0.1, 1.0, 30.0])), size=(n, columns))
    X = X[rng.integers(0, n, n)]
    k = min(k, n)
    z = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))
    w = rng.uniform(0.1, 3.0, n) * (rng.random(n) < draw(st.sampled_from([0.7, 1.0])))
    w[0] = 1.0
    return X, z, w, k


@st.composite
def two_samples(draw):
    X, _, w, _ = draw(samples())
    rng = np.random.default_rng(draw(seeds))
    m = draw(st.integers(1, 14))
    return X, w, rng.normal(0.5, size=(m, X.shape[1])), rng.uniform(0.1, 2.0, m)


@st.composite
def labeled_graphs(draw):
    """Draw weighted graphs with self-loops and without isolated nodes, and their labels."""
    n, k = draw(st.integers(2, 10)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(seeds))
    A = rng.uniform(0.1, 3.0, (n, n)) * (rng.random((n, n)) < draw(st.sampled_from([0.3, 0.8])))
    A = np.triu(A, draw(st.sampled_from([0, 1])))
    # A path through all nodes leaves none isolated.
    A[np.arange(n - 1), np.arange(1, n)] = 1.0
    u, v = np.nonzero(A)
    graph = Graph.from_edges(u, v, A[u, v], n=n)
    k = min(k, n)
    z = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))
    return graph, np.triu(A) + np.triu(A, 1).T, z, k


def slow_mean(x, w, y, v, metric):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            total += w[i] * v[j] * metric(x[i : i + 1], y[j : j + 1])[0, 0]
    return total / (w.sum() * v.sum())


def slow_groups(z, w):
    return [a for a in np.unique(z) if w[z == a].sum() > 0]


def slow_within(X, z, w, metric):
    return sum(
        w[z == a].sum() / 2 * slow_mean(X[z == a], w[z == a], X[z == a], w[z == a], metric)
        for a in slow_groups(z, w)
    )


def slow_between(X, z, w, metric):
    total = 0.0
    for a, b in combinations(slow_groups(z, w), 2):
        x, y, u, v = X[z == a], X[z == b], w[z == a], w[z == b]
        energy = (
            2 * slow_mean(x, u, y, v, metric)
            - slow_mean(x, u, x, u, metric)
            - slow_mean(y, v, y, v, metric)
        )
        total += u.sum() * v.sum() / (2 * w.sum()) * energy
    return total


@given(samples(), semimetrics)
def test_statistics_are_the_sums_over_pairs(case, metric):
    X, z, w, _ = case
    scale = float(metric(X).max()) * w.sum()
    assert mean_semimetric(X, metric=metric, x_weights=w) == close(slow_mean(X, w, X, w, metric))
    assert within_energy(X, z, metric=metric, weights=w) == close(slow_within(X, z, w, metric))
    assert between_energy(X, z, metric=metric, weights=w) == close(
        slow_between(X, z, w, metric), scale
    )


@given(
    samples(),
    semimetrics,
    st.sampled_from([1, 5]),
    st.sampled_from(["points", "distances", "kernel"]),
)
def test_vectors_and_matrices_have_the_same_energies(case, metric, side, kind):
    X, z, w, _ = case
    given_as = {
        "points": (X, metric),
        "distances": (metric(X), "precomputed"),
        "kernel": (kernel_matrix(X, metric=metric), "gram"),
    }
    pairs, _ = weighted(*given_as[kind], w)
    scale = float(metric(X).max()) * w.sum()
    assert mean_within(pairs, w, tile_side=side) == close(slow_mean(X, w, X, w, metric), scale)
    assert sum_within(pairs, z, w) == close(slow_within(X, z, w, metric), scale)


@given(samples(), semimetrics)
def test_between_and_within_add_up_to_the_energy_of_all(case, metric):
    X, z, w, _ = case
    between = between_energy(X, z, metric=metric, weights=w)
    within = within_energy(X, z, metric=metric, weights=w)
    total = w.sum() / 2 * mean_semimetric(X, metric=metric, x_weights=w)
    assert between + within == close(total)
    assert between >= -1e-9 * total


@given(two_samples(), semimetrics, seeds)
def test_energy_is_twice_the_squared_discrepancy_of_any_kernel(case, metric, seed):
    X, w, Y, v = case
    base = np.random.default_rng(seed).normal(size=X.shape[1])
    G = kernel_matrix(np.vstack([X, Y]), metric=metric, base_point=base)
    difference = np.concatenate([w / w.sum(), -v / v.sum()])
    squared = difference @ G @ difference
    scale = float(np.abs(G).max())
    energy = energy_distance(X, Y, metric=metric, x_weights=w, y_weights=v)
    assert energy == close(2 * squared, scale)


@given(two_samples())
def test_squared_distances_see_means_only(case):
    X, w, Y, v = case
    gap = np.average(X, axis=0, weights=w) - np.average(Y, axis=0, weights=v)
    energy = energy_distance(X, Y, metric=Power(2.0), x_weights=w, y_weights=v)
    assert energy == close(2 * gap @ gap, np.square(X).max())


@given(two_samples(), semimetrics)
def test_two_samples_have_the_energy_distance_between_them(case, metric):
    X, w, Y, v = case
    z = np.repeat(["x", "y"], [len(X), len(Y)])
    between = between_energy(np.vstack([X, Y]), z, metric=metric, weights=np.concatenate([w, v]))
    factor = w.sum() * v.sum() / (2 * (w.sum() + v.sum()))
    energy = energy_distance(X, Y, metric=metric, x_weights=w, y_weights=v)
    assert between == close(factor * energy, w.sum() * float(metric(X, Y).max()))


@given(samples(), semimetrics, seeds)
def test_energies_of_a_gram_matrix_have_no_base_point(case, metric, seed):
    X, z, w, _ = case
    base = np.random.default_rng(seed).normal(size=X.shape[1])
    within = within_energy(X, z, metric=metric, weights=w)
    between = between_energy(X, z, metric=metric, weights=w)
    kernels = [
        kernel_matrix(X, metric=metric),
        kernel_matrix(X, metric=metric, base_point=base),
        gram_from_distances(metric(X)),
        gram_from_distances(metric(X), base=0),
    ]
    for G in kernels:
        scale = float(np.abs(G).max()) * w.sum()
        assert within_energy(G, z, metric="gram", weights=w) == close(within, scale)
        assert between_energy(G, z, metric="gram", weights=w) == close(between, scale)
        association = sum(
            w[z == a] @ G[np.ix_(z == a, z == a)] @ w[z == a] / w[z == a].sum()
            for a in slow_groups(z, w)
        )
        assert w @ np.diag(G) - association == close(within, scale)


@given(samples(), semimetrics)
def test_a_matrix_of_distances_says_what_points_say(case, metric):
    X, z, w, _ = case
    D = metric(X)
    scale = float(D.max()) * w.sum()
    between = between_energy(D, z, metric="precomputed", weights=w)
    within = within_energy(D, z, metric="precomputed", weights=w)
    assert between == close(between_energy(X, z, metric=metric, weights=w), scale)
    assert within == close(within_energy(X, z, metric=metric, weights=w), scale)


@given(samples(), semimetrics, seeds)
def test_moving_and_turning_all_points_changes_nothing(case, metric, seed):
    X, z, w, _ = case
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    moved = X @ turn + rng.normal(size=X.shape[1])
    scale = float(metric(X).max()) * w.sum()
    # Rounding that parts equal points by 1e-16 makes 1e-8 of their square root.
    for statistic in (within_energy, between_energy):
        expected = statistic(X, z, metric=metric, weights=w)
        found = statistic(moved, z, metric=metric, weights=w)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6 * (1.0 + scale))


@given(samples(), semimetrics, st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_groups_change_nothing(case, metric, random):
    X, z, w, k = case
    p = np.array(random.sample(range(len(z)), len(z)))
    name = np.array(random.sample([f"group {a}" for a in range(k)], k))
    scale = float(metric(X).max()) * w.sum()
    for statistic in (within_energy, between_energy):
        expected = statistic(X, z, metric=metric, weights=w)
        assert statistic(X[p], name[z][p], metric=metric, weights=w[p]) == close(expected, scale)


def ratio_association(A, w, z, k):
    return sum(A[np.ix_(z == a, z == a)].sum() / w[z == a].sum() for a in range(k))


@given(labeled_graphs(), st.sampled_from(["degree", "uniform", "random"]), seeds)
def test_ratio_association_is_the_objective_of_kernel_k_groups(case, which, seed):
    graph, A, z, k = case
    w = {
        "degree": A.sum(axis=1),
        "uniform": np.ones(graph.n),
        "random": np.random.default_rng(seed).uniform(0.2, 3.0, graph.n),
    }[which]
    association = ratio_association(A, w, z, k)
    assert association == close(group_association(graph.csr, np.diag(A).copy(), w, z, k=k))
    kernel = A / np.outer(w, w)
    within = within_energy(kernel, z, metric="gram", weights=w)
    assert within + association == close(np.sum(np.diag(A) / w))


@given(labeled_graphs(), seeds, st.sampled_from([1.0, 1.5]))
def test_self_loops_make_a_graph_a_kernel_and_add_to_each_group(case, seed, factor):
    graph, A, z, k = case
    w = np.random.default_rng(seed).uniform(0.2, 3.0, graph.n)
    shift = factor * float(np.max(A.sum(axis=1) / w))
    kernel = (A + shift * np.diag(w)) / np.outer(w, w)
    eigenvalues = np.linalg.eigvalsh(kernel)
    assert eigenvalues[0] >= -1e-9 * eigenvalues[-1]
    within = within_energy(distances_from_gram(kernel), z, metric="precomputed", weights=w)
    association = ratio_association(A, w, z, k)
    assert within + association == close(np.sum(np.diag(A) / w) + shift * (graph.n - k), shift)
