"""Drawn graphs against the laws they are drawn from; fixed seeds, bounds from the laws."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy import stats

from kgroups.generators import (
    PlantedAffinity,
    PowerLaw,
    configuration_model,
    degree_corrected_sbm,
    lfr_benchmark,
    planted_partition,
    stochastic_block_model,
)
from kgroups.generators.lfr import DiscretePowerLaw, _assigned_communities, _community_sizes

pytestmark = pytest.mark.statistical

SMALLEST_P_VALUE = 1e-4


def counts_by_blocks(graph, labels, k):
    u, v, _ = graph.edges()
    low, high = np.minimum(labels[u], labels[v]), np.maximum(labels[u], labels[v])
    return np.bincount(low * k + high, minlength=k * k).reshape(k, k)


def pairs_by_blocks(sizes):
    pairs = np.triu(np.multiply.outer(sizes, sizes), 1)
    np.fill_diagonal(pairs, sizes * (sizes - 1) // 2)
    return pairs


def assert_binomial(samples, trials, p):
    """Compare counts with a binomial law by chi-square over its deciles."""
    cuts = np.unique(stats.binom.ppf(np.linspace(0.1, 0.9, 9), trials, p))
    expected = np.diff(np.concatenate([[0], stats.binom.cdf(cuts, trials, p), [1]]))
    seen = np.bincount(np.searchsorted(cuts, samples, side="left"), minlength=cuts.size + 1)
    assert stats.chisquare(seen, expected * len(samples)).pvalue > SMALLEST_P_VALUE


P = np.array([[0.02, 0.3, 0.001], [0.3, 0.6, 0.1], [0.001, 0.1, 0.24]])


def test_edges_between_blocks_are_binomial():
    sizes = np.array([60, 25, 40])
    drawn = [stochastic_block_model(sizes, P, rng=seed) for seed in range(400)]
    counts = np.array([counts_by_blocks(*planted, 3) for planted in drawn])
    pairs = pairs_by_blocks(sizes)
    for a in range(3):
        for b in range(a, 3):
            assert_binomial(counts[:, a, b], pairs[a, b], P[a, b])


@pytest.mark.parametrize(
    ("k", "snr", "sizes"),
    [(3, 1.5, "balanced"), (3, -0.8, "balanced"), (60, 1.5, "balanced"), (60, 1.5, "multinomial")],
)
def test_planted_edges_are_binomial_given_the_groups(k, snr, sizes):
    n, degree = 240, 4.0
    inside, between = PlantedAffinity(degree, snr).probabilities(n, k)
    uniform = []
    for seed in range(300):
        graph, labels = planted_partition(n, k, degree, snr, sizes=sizes, rng=seed)
        counts = counts_by_blocks(graph, labels, k)
        group = np.bincount(labels, minlength=k)
        pairs_inside = int((group * (group - 1) // 2).sum())
        for seen, pairs, p in (
            (np.trace(counts), pairs_inside, inside),
            (counts.sum() - np.trace(counts), n * (n - 1) // 2 - pairs_inside, between),
        ):
            # The distribution function at a point drawn within the step at a count is uniform.
            share = np.random.default_rng([seed, pairs]).random()
            low, high = stats.binom.cdf([seen - 1, seen], pairs, p)
            uniform.append(low + share * (high - low))
    for part in (uniform[0::2], uniform[1::2]):
        assert stats.kstest(part, "uniform").pvalue > SMALLEST_P_VALUE


@pytest.mark.parametrize("p", [0.1, 0.4])
def test_every_pair_of_a_block_pair_is_as_likely(p):
    runs = 2000
    seen = np.zeros((9, 9))
    for seed in range(runs):
        graph, _ = stochastic_block_model([5, 4], np.full((2, 2), p), rng=seed)
        seen += graph.to_scipy().toarray()
    pairs = seen[np.triu_indices(9, 1)]
    statistic = np.sum((pairs - runs * p) ** 2) / (runs * p * (1 - p))
    assert SMALLEST_P_VALUE < stats.chi2.sf(statistic, pairs.size) < 1 - SMALLEST_P_VALUE


@pytest.mark.parametrize(("degree", "snr"), [(1.5, 0.0), (2.0, 0.9)])
def test_pairs_of_many_small_groups_are_as_likely_as_they_should(degree, snr):
    runs, n, k = 1500, 8, 4
    inside, between = PlantedAffinity(degree, snr).probabilities(n, k)
    hits, chances = np.zeros(2), np.zeros(2)
    together = 0
    for seed in range(runs):
        graph, labels = planted_partition(n, k, degree, snr, rng=seed)
        same = np.equal.outer(labels, labels)[np.triu_indices(n, 1)]
        edge = graph.to_scipy().toarray()[np.triu_indices(n, 1)] > 0
        hits += [edge[same].sum(), edge[~same].sum()]
        chances += [same.sum(), (~same).sum()]
        together += labels[0] == labels[1]
    for hit, chance, p in zip(hits, chances, (inside, between), strict=True):
        assert stats.binomtest(int(hit), int(chance), p).pvalue > SMALLEST_P_VALUE
    assert stats.binomtest(int(together), runs, 1 / 7).pvalue > SMALLEST_P_VALUE


def test_multinomial_groups_are_drawn_node_by_node():
    labels = planted_partition(60_000, 6, 1.0, 0.0, sizes="multinomial", rng=0).labels
    assert stats.chisquare(np.bincount(labels)).pvalue > SMALLEST_P_VALUE


def test_mean_degree_is_the_one_asked_for():
    degrees = [planted_partition(2000, 5, 6.0, 1.5, rng=s).graph.degrees.mean() for s in range(50)]
    inside, _ = PlantedAffinity(6.0, 1.5).probabilities(2000, 5)
    spread = np.sqrt(2 * 6.0 / 2000 / 50)
    assert np.mean(degrees) == pytest.approx(6.0 - inside, abs=4 * spread)


def test_propensities_give_each_pair_its_probability():
    theta = np.array([2.0, 0.5, 0.5, 1.0, 3.0, 0.0])
    block = np.array([0, 0, 0, 1, 1, 1])
    given = np.array([[0.3, 0.1], [0.1, 0.2]])
    scaled = theta / np.array([1.0, 4 / 3])[block]
    expected = 1 - (1 - given[np.ix_(block, block)]) ** np.multiply.outer(scaled, scaled)
    runs, seen = 2000, np.zeros((6, 6))
    for seed in range(runs):
        seen += degree_corrected_sbm([3, 3], given, theta, rng=seed).graph.to_scipy().toarray()
    upper = np.triu_indices(6, 1)
    for hits, p in zip(seen[upper], expected[upper], strict=True):
        assert stats.binomtest(int(hits), runs, p).pvalue > SMALLEST_P_VALUE


def test_degrees_follow_their_propensities():
    theta = PowerLaw(2.5, 20).draw(4000, np.random.default_rng(0))
    graph, _ = degree_corrected_sbm([2000, 2000], PlantedAffinity(10, 2), theta, rng=1)
    wanted = 10 * theta / theta.reshape(2, 2000).mean(axis=1).repeat(2000)
    # Sums of independent coins vary less than Poisson counts of the same mean.
    z = (graph.degrees - wanted) / np.sqrt(wanted)
    assert abs(z.mean()) < 0.15
    assert 0.9 < z.std() < 1.05


@pytest.mark.parametrize(("exponent", "ratio"), [(2.5, 100.0), (1.0, 10.0), (0.0, 3.0)])
def test_power_law_has_its_density(exponent, ratio):
    drawn = PowerLaw(exponent, ratio).draw(20_000, np.random.default_rng(0))

    def share_below(x):
        if exponent == 1.0:
            return np.log(x) / np.log(ratio)
        power = 1 - exponent
        return (x**power - 1) / (ratio**power - 1)

    assert stats.kstest(drawn, share_below).pvalue > SMALLEST_P_VALUE


def test_lfr_degrees_follow_their_power_law():
    graph, _ = lfr_benchmark(20_000, degree=12, mixing=0.3, max_degree=60, rng=0)
    law = DiscretePowerLaw.of_mean(12, 60, 2.5)
    seen = np.bincount(graph.degrees.astype(int), minlength=61)[law.low :]
    rare = law.probabilities * graph.n < 10
    expected = law.probabilities * graph.n
    seen = np.append(seen[~rare], seen[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    assert stats.chisquare(seen[expected > 0], expected[expected > 0]).pvalue > SMALLEST_P_VALUE


def test_lfr_community_sizes_follow_their_power_law():
    law = DiscretePowerLaw.between(20, 200, 1.5)
    rngs = [np.random.default_rng(seed) for seed in range(20)]
    sizes = np.concatenate([_community_sizes(law, 50_000, rng) for rng in rngs])
    mean = np.arange(20, 201) @ law.probabilities
    spread = np.sqrt((np.arange(20, 201) - mean) ** 2 @ law.probabilities)
    # Sizes are drawn until a sum is reached, and then moved by single nodes.
    assert sizes.mean() == pytest.approx(mean, abs=4 * spread / np.sqrt(sizes.size) + 0.5)
    assert np.mean(sizes < 40) == pytest.approx(law.probabilities[:20].sum(), abs=0.03)


@pytest.mark.parametrize("mixing", [0.1, 0.5])
def test_lfr_internal_degrees_are_binomial_when_asked(mixing):
    graph, labels = lfr_benchmark(
        8000, degree=15, mixing=mixing, min_community=60, internal="binomial", rng=0
    )
    same = labels[graph.row_of_slot] == labels[graph.indices]
    inside = np.bincount(graph.row_of_slot[same], minlength=graph.n)
    d = graph.degrees
    z = (inside - (1 - mixing) * d) / np.sqrt(mixing * (1 - mixing) * d)
    assert abs(z.mean()) < 4 / np.sqrt(graph.n)
    assert z.std() == pytest.approx(1.0, abs=4 / np.sqrt(2 * graph.n) + 0.01)


def test_all_assignments_to_communities_are_as_likely():
    sizes, inside = np.array([2, 3, 1]), np.array([0, 1, 0, 0, 1, 0])
    seen = {}
    for seed in range(3000):
        labels = tuple(_assigned_communities(inside, sizes, np.random.default_rng(seed)).tolist())
        seen[labels] = seen.get(labels, 0) + 1
    # Four nodes may be alone, and the other five fill the places of two communities.
    assert len(seen) == 4 * comb(5, 2)
    assert stats.chisquare(list(seen.values())).pvalue > SMALLEST_P_VALUE


def all_simple_graphs(degrees):
    n, m = len(degrees), sum(degrees) // 2
    for edges in combinations(combinations(range(n), 2), m):
        if np.array_equal(np.bincount(np.ravel(edges), minlength=n), degrees):
            yield frozenset(edges)


@pytest.mark.parametrize(
    ("degrees", "runs_per_graph"),
    [((2, 2, 2, 1, 1), 500), ((3, 2, 2, 2, 1), 200), ((3, 3, 2, 2, 2, 2), 20)],
)
def test_configuration_model_draws_all_graphs_alike(degrees, runs_per_graph):
    graphs = dict.fromkeys(all_simple_graphs(degrees), 0)
    start = np.zeros((len(degrees), len(degrees)))
    for u, v in next(iter(graphs)):
        start[u, v] = start[v, u] = 1
    for seed in range(runs_per_graph * len(graphs)):
        u, v, _ = configuration_model(start, swaps_per_edge=5, rng=seed).edges()
        graphs[frozenset(zip(u.tolist(), v.tolist(), strict=True))] += 1
    assert stats.chisquare(list(graphs.values())).pvalue > SMALLEST_P_VALUE


def test_configuration_model_forgets_the_communities():
    graph, labels = planted_partition(2000, 4, 10.0, 3.0, rng=0)
    null = configuration_model(graph, rng=1)
    assert np.array_equal(null.degrees, graph.degrees)
    u, v, _ = null.edges()
    inside = int(np.count_nonzero(labels[u] == labels[v]))
    assert inside / graph.m == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / graph.m))
