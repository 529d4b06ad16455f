"""The nats that communities save, on graphs where each term is known."""

from math import comb, factorial, log

import networkx as nx
import numpy as np
import pytest

from helpers import oracles_levels as oracles
from helpers.kernels_levels import nats, pairs_saved
from helpers.strategies_levels import ONE, groups_of, level_of
from kgroups._progress import new_control
from kgroups.search import Objective, merged_down, nats_saved

KARATE = nx.karate_club_graph()
FACTIONS = np.array([int(KARATE.nodes[i]["club"] != "Mr. Hi") for i in range(34)], dtype=np.int32)


def test_one_community_saves_nothing():
    assert nats(level_of(KARATE), np.zeros(34)) == 0.0
    # As a move to one group sees it, up to rounding.
    code = Objective.of(level_of(KARATE))
    assert code.of_number[1] + code.of_size[34] == 0.0


def test_nats_saved_by_the_factions_of_karate():
    """Term by term: edges inside, densities, edges across, sizes and labels."""
    level = level_of(KARATE)
    sizes = np.bincount(FACTIONS).tolist()
    inside = [sum(FACTIONS[u] == FACTIONS[v] == a for u, v in KARATE.edges) for a in (0, 1)]
    degrees = [sum(d for i, d in KARATE.degree if FACTIONS[i] == a) for a in (0, 1)]
    m, cut = 78, 78 - sum(inside)
    chance = m - sum(K * K for K in degrees) / (4 * m)
    expected = cut * log(cut / chance) - cut + chance
    for E, K in zip(inside, degrees, strict=True):
        # Each faction has more pairs of nodes than the graph has edges.
        expected += E * log(4 * m * E / K**2) - E + K**2 / (4 * m) - log(m + 1)
    expected -= log(comb(34, sizes[0])) + log(33) - log(2)
    assert nats(level, FACTIONS) == pytest.approx(expected, rel=1e-12)


def test_nats_are_a_likelihood_ratio_less_the_cost_of_labels_and_densities():
    """All groups are denser than chance here, so that no term is left out."""
    G = nx.ring_of_cliques(5, 5)
    level, A = level_of(G), nx.to_numpy_array(G)
    z = np.repeat(np.arange(5), 5)
    labels = log(factorial(25)) - 5 * log(factorial(5)) + log(comb(24, 4)) - log(factorial(5))
    gain = log_likelihood(A, z) - log_likelihood(A, 0 * z)
    assert nats(level, z) == pytest.approx(gain - labels - 5 * log(11), rel=1e-9)


def log_likelihood(A, z):
    """Return the log-likelihood of the Poisson model with the best density of each group."""
    d = A.sum(axis=1)
    same = z[:, None] == z[None, :]
    expected = np.outer(d, d) / d.sum()
    mean = expected.copy()
    for a in range(int(z.max()) + 1):
        inside = np.outer(z == a, z == a)
        mean[inside] *= A[inside].sum() / expected[inside].sum()
    if not same.all():
        mean[~same] *= A[~same].sum() / expected[~same].sum()
    return float((A * np.log(mean) - mean).sum() / 2)


@pytest.mark.parametrize("sides", [(5, 5), (4, 9), (30, 30)])
def test_the_sides_of_a_bipartite_graph_are_no_communities(sides):
    level = level_of(nx.complete_bipartite_graph(*sides))
    assert nats(level, np.repeat([0, 1], sides)) < 0.0


def test_groups_that_avoid_one_another_do_not_pay_for_groups_that_avoid_themselves():
    """Two cliques, and a bipartite graph whose sides are cut: the cut only costs."""
    G = nx.disjoint_union(nx.ring_of_cliques(2, 10), nx.complete_bipartite_graph(12, 12))
    G.add_edge(0, 20)
    level = level_of(G)
    whole = np.repeat([0, 1, 2], [10, 10, 24])
    cut = np.repeat([0, 1, 2, 3], [10, 10, 12, 12])
    assert nats(level, whole) > 0.0
    assert nats(level, cut) < nats(level, whole)


@pytest.mark.parametrize(
    "G", [KARATE, nx.ring_of_cliques(6, 6), nx.complete_graph(9), nx.star_graph(12)]
)
def test_single_nodes_save_no_more_than_the_loops_that_they_do_not_have(G):
    """Labels and densities of single nodes cost nothing; chance gives each of them a loop."""
    level = level_of(G)
    assert nats(level, np.arange(len(G))) == pytest.approx(0.0, abs=1e-12)


def test_a_split_into_components_of_a_clique_is_refused():
    level = level_of(nx.complete_graph(12))
    for k in (2, 3, 6):
        assert nats(level, np.arange(12) % k) < 0.0


@pytest.mark.parametrize("unit", [1e-6, 250.0])
def test_the_scale_of_weights_does_not_change_the_nats(unit):
    weights = np.random.default_rng(0).lognormal(size=78)
    one, other = (level_of(KARATE, weights=factor * weights) for factor in (1.0, unit))
    assert nats(other, FACTIONS) == pytest.approx(nats(one, FACTIONS), rel=1e-6)


def test_equal_weights_save_what_none_do():
    plain, equal = level_of(KARATE), level_of(KARATE, weights=np.full(78, 0.01))
    assert nats(equal, FACTIONS) == nats(plain, FACTIONS)


def test_a_cut_without_edges_saves_what_chance_puts_there():
    level = level_of(nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(5)))
    z = np.repeat([0, 1], 5)
    saved = 2 * (10 * log(2) - 10 + 5) + 10
    labels = log(comb(10, 5)) + log(9) - log(2) + 2 * log(11)
    assert nats(level, z) == pytest.approx(saved - labels, rel=1e-12)
    assert nats(level, z) == pytest.approx(oracles.nats_saved(level, z), rel=1e-12)


@pytest.mark.parametrize("wrong", [np.nan, -1e-12])
def test_inner_weights_that_rounding_has_spoiled_are_never_worth_more(wrong):
    level = level_of(KARATE)
    code, factions = Objective.of(level), groups_of(level, FACTIONS, 2)
    none, spoiled = (
        nats_saved(
            factions._replace(inner=np.array([inside, factions.inner[1]])),
            np.arange(2),
            np.array([2]),
            code,
        )[0]
        for inside in (0.0, wrong)
    )
    assert not spoiled > none + 1e-9


def test_empty_groups_do_not_count():
    level = level_of(KARATE)
    gaps = nats_saved(level, 2 * FACTIONS, np.array([3]))
    assert gaps == nats_saved(level, FACTIONS, np.array([2]))


def test_a_component_without_edges_saves_nothing():
    level = level_of(nx.disjoint_union(KARATE, nx.empty_graph(2)))
    level, z = level._replace(offsets=np.array([0, 34, 35, 36])), np.append(FACTIONS, [0, 0])
    saved = nats_saved(level, z, np.array([2, 1, 1]))
    assert saved.tolist() == [nats(level_of(KARATE), FACTIONS), 0.0, 0.0]


def merged(groups, level, target):
    """Merge groups of the nodes of a level; return labels and their number."""
    label, k = merged_down(groups, Objective.of(level), ONE, np.array([target]), new_control())
    return label, k[0]


@pytest.mark.parametrize("target", [1, 2, 5, 30, 33, 34])
def test_merging_to_a_target_ends_there(target):
    level = level_of(KARATE)
    label, k = merged(level, level, target)
    assert k == np.unique(label).size == target


def test_merging_ends_where_nothing_is_linked():
    level = level_of(nx.disjoint_union_all([nx.complete_graph(3)] * 3))
    label, k = merged(level, level, 1)
    assert k == 3
    assert label.tolist() == np.repeat(label[::3], 3).tolist()


def test_halves_of_cliques_merge_first():
    level = level_of(nx.ring_of_cliques(6, 8))
    halves = np.arange(48, dtype=np.int32) // 4
    label, k = merged(groups_of(level, halves, 12), level, 6)
    assert k == 6
    assert label.tolist() == np.repeat(np.arange(6), 2).tolist()


def test_pairs_of_two_bridged_triangles_save_nats():
    G = nx.barbell_graph(3, 0)
    z = np.repeat(np.arange(2, dtype=np.int32), 3)
    # 7 of 15 pairs are linked: 6 of 6 inside, 1 of 9 between. Degrees would take more.
    expected = log(comb(15, 7)) - log(9) - log(comb(6, 3)) - log(5) + log(2) - log(8)
    assert pairs_saved(level_of(G), z, 2) == pytest.approx(expected, abs=1e-9)
    assert expected > 0.0
