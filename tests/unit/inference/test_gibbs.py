"""The Gibbs chain against sums over all labels, and its short cuts against none."""

import networkx as nx
import numpy as np
import pytest

from helpers.oracles_inference import exact_posterior, some_rates
from helpers.oracles_levels import dense
from helpers.strategies_levels import level_of
from kgroups.generators import lfr_benchmark
from kgroups.inference.belief_propagation import Rates, block_model, rates_of_labels
from kgroups.inference.gibbs import _points, _unlinked_mass, gibbs_masses
from kgroups.search import finest_level


def sampled(model, z, rates, **options):
    return gibbs_masses(model, np.asarray(z), rates, rng=np.random.default_rng(0), **options)


def as_rows(masses, k):
    """Return the masses as a matrix; groups without a slot are NaN."""
    slots, group, mass = masses
    rows = np.full((slots.size - 1, k), np.nan)
    rows[np.repeat(np.arange(slots.size - 1), np.diff(slots)), group] = mass
    return rows


def lfr_model(n, mixing, seed):
    graph, truth = lfr_benchmark(n, degree=10, mixing=mixing, max_degree=40, rng=seed)
    level = finest_level(graph.simple_adjacency(), weighted=False)
    return block_model(level, degree_corrected=True), truth


@pytest.mark.compiled
@pytest.mark.statistical
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("corrected", [False, True])
def test_a_long_chain_is_the_sum_over_all_labels(k, corrected):
    """The largest error of 40 runs was 0.009."""
    G = nx.gnm_random_graph(7, 10, seed=4)
    model = block_model(level_of(G), degree_corrected=corrected)
    rates = some_rates(k, own=True)
    masses = sampled(model, np.arange(7) % k, rates, sweeps=40_000, burn_in=100)
    exact = exact_posterior(dense(model.A), model.theta, rates)
    rows = as_rows(masses, k)
    known = np.isfinite(rows)
    assert np.count_nonzero(known) > 10
    assert rows[known] == pytest.approx(exact[known], abs=0.015)


@pytest.mark.compiled
def test_weights_count_as_edges():
    G = nx.gnm_random_graph(6, 9, seed=1)
    level = level_of(G)
    rng = np.random.default_rng(0)
    W = np.triu(rng.integers(1, 4, (6, 6)), 1)
    W = (W + W.T) * dense(level.A)
    data = W[np.repeat(np.arange(6), np.diff(level.A.indptr)), level.A.indices]
    strength = W.sum(axis=1).astype(float)
    weighted = level._replace(data=data.astype(np.float32), strength=strength)
    model = block_model(weighted, degree_corrected=True)
    rates = Rates(np.array([1.5, 1.2]), 0.8, np.array([0.55, 0.45]))
    masses = sampled(model, [0, 0, 0, 1, 1, 1], rates, sweeps=40_000, burn_in=100)
    exact = exact_posterior(W, model.theta, rates)
    rows = as_rows(masses, 2)
    assert rows[np.isfinite(rows)] == pytest.approx(exact[np.isfinite(rows)], abs=0.01)


@pytest.mark.compiled
@pytest.mark.parametrize("mixing", [0.2, 0.35])
def test_groups_without_a_link_may_be_summed(mixing):
    """All groups weighed one by one, or only those with a link and the sum of all others."""
    model, truth = lfr_model(1_000, mixing, 1)
    k = int(truth.max()) + 1
    rates = rates_of_labels(model, truth, k)
    one, other = (
        sampled(model, truth, rates, sweeps=210, burn_in=10, few_groups=few) for few in (k, 0)
    )
    assert one.group.tolist() == other.group.tolist()
    difference = np.abs(one.mass - other.mass)
    assert difference.mean() < 0.005
    assert difference.max() < 0.2


def test_slots_are_the_groups_of_a_node_and_its_neighbors():
    model = block_model(level_of(nx.path_graph(5)), degree_corrected=True)
    z = np.array([2, 0, 0, 1, 1])
    masses = sampled(model, z, rates_of_labels(model, z, 3), sweeps=3, burn_in=1)
    rows = np.split(masses.group, masses.slots[1:-1])
    assert [row.tolist() for row in rows] == [[0, 2], [0, 2], [0, 1], [0, 1], [1]]


@pytest.mark.parametrize("few_groups", [0, 10])
def test_masses_are_probabilities(few_groups):
    G = nx.connected_caveman_graph(6, 5)
    model, z = block_model(level_of(G), degree_corrected=True), np.arange(30) // 5
    rates = rates_of_labels(model, z, 6)
    rows = as_rows(sampled(model, z, rates, sweeps=30, burn_in=5, few_groups=few_groups), 6)
    assert np.nanmin(rows) >= 0.0
    assert np.nansum(rows, axis=1).max() <= 1.0 + 1e-9
    assert rows[np.arange(30), z].mean() > 0.9


def test_a_chain_repeats():
    model, truth = lfr_model(300, 0.4, 0)
    rates = rates_of_labels(model, truth, int(truth.max()) + 1)
    one, other = (sampled(model, truth, rates, sweeps=6, burn_in=1) for _ in range(2))
    assert one.mass.tolist() == other.mass.tolist()


def test_the_mass_without_a_link_is_a_sum_over_groups():
    rng = np.random.default_rng(0)
    theta, prior, slope = rng.pareto(2.0, 2_000), rng.random(700), rng.gamma(2.0, 3.0, 700)
    exact = np.exp(-np.outer(theta, slope)) @ prior
    found = _unlinked_mass(theta, _points(theta), prior, slope)
    assert found == pytest.approx(exact, rel=0.02)


def test_progress_counts_sweeps():
    model = block_model(level_of(nx.karate_club_graph()), degree_corrected=True)
    seen = []
    rates = Rates(np.full(2, 1.5), 0.5, np.full(2, 0.5))
    sampled(model, np.arange(34) % 2, rates, sweeps=4, burn_in=1, progress=seen.append)
    assert seen == [1, 2, 3, 4]
