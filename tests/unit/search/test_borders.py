"""Borders of communities: contiguity and separation against slow oracles, and the warning."""

import math
import warnings
from itertools import permutations
from statistics import NormalDist

import networkx as nx
import numpy as np
import pytest
from scipy.spatial import KDTree

import kgroups as kg
from helpers.oracles_levels import divergence
from kgroups.errors import ContinuumWarning
from kgroups.generators import (
    PlantedAffinity,
    degree_corrected_sbm,
    lfr_benchmark,
    planted_partition,
)
from kgroups.graph import Graph
from kgroups.search import nats_saved, prepare
from kgroups.search.arbiter import borders_of
from kgroups.search.objective import Contiguity, contiguity, separation

ONE = np.zeros(1, dtype=np.int64)
IN_FULL = kg.Auto(search=kg.Search(dispersion=1.0))


def level_of(G, weights=None):
    u, v = np.array(G.edges).T
    return prepare(Graph.from_edges(u, v, weights, n=len(G))).problem.level


def measured(G, labels, **options):
    """Return the contiguity in a graph whose components are taken as one."""
    ready, labels = prepare(kg.as_graph(G)), np.unique(labels, return_inverse=True)[1]
    level, k = ready.problem.as_one().level, np.array([labels.max() + 1])
    (found,) = contiguity(level, ready.sorted(labels), k, ONE, **options)
    return found


def pairs_of_links(G, labels):
    """Return the pairs of links (i, a), (j, b) that leave one community from linked i and j."""
    for i, j in G.edges:
        if labels[i] == labels[j]:
            for a in G[i]:
                for b in G[j]:
                    if labels[a] != labels[i] and labels[b] != labels[i]:
                        yield labels[i], labels[a], labels[b]


def by_hand(G, labels):
    """Return the pairs to the same other community, and how many a random order of ends leaves."""
    found = expected = 0.0
    for r in set(labels):
        ends = [labels[b] for a, b in G.edges if labels[a] == r != labels[b]]
        ends += [labels[a] for a, b in G.edges if labels[b] == r != labels[a]]
        if len(set(ends)) < 2:
            continue
        drawn = list(permutations(ends, 2))
        same = sum(a == b for a, b in drawn) / len(drawn)
        pairs = [(a, b) for group, a, b in pairs_of_links(G, labels) if group == r]
        found += sum(a == b for a, b in pairs)
        expected += same * len(pairs)
    return found, expected


@pytest.mark.parametrize("seed", range(6))
def test_contiguity_is_its_definition(seed):
    G = nx.connected_watts_strogatz_graph(40, 6, 0.3, seed=seed)
    labels = (np.arange(40) // 8).tolist()
    found = measured(G, labels)
    assert (found.found, found.expected) == pytest.approx(by_hand(G, labels), rel=1e-12)
    assert found.ratio == pytest.approx(found.found / found.expected, abs=1e-6)


def test_the_deviation_is_that_of_links_that_lead_anywhere():
    """The ends of the links that leave a community are exchanged 2,000 times."""
    G = nx.connected_watts_strogatz_graph(60, 10, 0.4, seed=1)
    labels = np.arange(60) // 12
    rng, drawn = np.random.default_rng(0), []
    leaving = {r: [] for r in range(5)}
    for a, b in [*G.edges, *((b, a) for a, b in G.edges)]:
        if labels[a] != labels[b]:
            leaving[labels[a]].append((a, labels[b]))
    inside = [(i, j) for i, j in G.edges if labels[i] == labels[j]]
    for _ in range(2_000):
        x = np.zeros((60, 5))
        for links in leaving.values():
            starts, ends = np.array(links).T
            np.add.at(x, (starts, rng.permutation(ends)), 1.0)
        drawn.append(sum(float(x[i] @ x[j]) for i, j in inside))
    found = measured(G, labels)
    assert np.mean(drawn) == pytest.approx(found.expected, rel=0.01)
    assert np.std(drawn) == pytest.approx(found.deviation, rel=0.08)


def test_links_that_have_no_choice_say_nothing():
    G = nx.barbell_graph(6, 0)
    G.add_edges_from([(0, 7), (1, 8)])
    found = measured(G, [0] * 6 + [1] * 6)
    assert (found.found, found.expected, found.ratio) == (0.0, 0.0, 1.0)
    assert not found.is_clear()


def test_two_parts_with_neighbors_of_their_own_are_contiguous():
    """Half of each community is linked to the next one in a ring, half to the last one."""
    rng, k, half = np.random.default_rng(0), 6, 40
    G, labels = nx.empty_graph(2 * half * k), np.arange(2 * half * k) // (2 * half)
    for c in range(k):
        nodes = 2 * half * c + np.arange(2 * half)
        for part in (nodes[:half], nodes[half:]):
            drawn = nx.gnm_random_graph(half, 5 * half, seed=c)
            G.add_edges_from(part[np.array(drawn.edges)].tolist())
        after = 2 * half * ((c + 1) % k) + np.arange(half)
        G.add_edges_from(zip(nodes[half:], rng.permutation(after), strict=True))
    found = measured(G, labels)
    assert found.is_clear()
    # Without replacement, two of 80 links have a chance of 39/79.
    assert found.ratio == pytest.approx(79 / 39, abs=1e-5)


@pytest.mark.parametrize("at_most", [100, 400, 1_600])
def test_some_of_the_nodes_are_enough(at_most):
    G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(40, 40))
    labels = np.arange(40) // 8
    labels = (5 * labels[:, np.newaxis] + labels).ravel()
    found, whole = measured(G, labels, at_most=at_most), measured(G, labels)
    assert found.is_clear()
    assert found.ratio == pytest.approx(whole.ratio, rel=0.25)
    assert found.found <= whole.found


def test_weights_do_not_count_in_contiguity():
    G = nx.connected_watts_strogatz_graph(60, 6, 0.2, seed=0)
    weights = np.random.default_rng(0).lognormal(size=G.number_of_edges())
    labels, k = np.arange(60) // 10, np.array([6])
    (plain,), (weighted,) = (contiguity(level_of(G, w), labels, k, ONE) for w in (None, weights))
    assert plain == weighted


def nats_of_edges(E, K, m):
    """Return what densities save: inside, if there are more edges than expected, and outside."""
    P = [x * x / (4.0 * m) for x in K]
    inside = sum(divergence(e, p) for e, p in zip(E, P, strict=True) if e > p)
    out, chance = m - sum(E), m - sum(P)
    return inside + (divergence(out, chance) if out < chance else 0.0)


def test_separation_is_its_definition():
    """Of four cliques in a ring two pairs are merged; those that are linked most."""
    G = nx.disjoint_union_all([nx.complete_graph(8) for _ in range(4)])
    G.add_edges_from([(i, 8 + i) for i in range(6)] + [(16 + i, 24 + i) for i in range(6)])
    G.add_edges_from([(8, 16), (24, 0)])
    level = level_of(G)
    problem = prepare(kg.as_graph(G)).problem
    fine, merged = np.repeat([0, 1, 2, 3], 8), np.repeat([0, 0, 1, 1], 8)
    m, degree = G.number_of_edges(), np.array([d for _, d in sorted(G.degree)])
    cost = (
        nats_saved(level, fine, np.array([4]), problem.objective)
        - nats_saved(level, merged, np.array([2]), problem.objective)
    )[0]
    K = np.bincount(merged, degree)
    links = nats_of_edges([62.0, 62.0], K, m) - nats_of_edges([56.0, 56.0], K, m)
    share = separation(level, problem.objective, fine, np.array([4]), ONE)
    assert share == pytest.approx(cost / (cost + links), abs=2e-6)
    assert 0.0 < share < 1.0


def test_communities_that_are_not_linked_are_separate():
    G = nx.ring_of_cliques(9, 8)
    problem = prepare(kg.as_graph(G)).problem
    share = separation(problem.level, problem.objective, np.arange(72) // 8, np.array([9]), ONE)
    assert share > 0.8


def test_a_part_of_the_components_is_measured():
    ring = nx.connected_watts_strogatz_graph(200, 6, 0.02, seed=0)
    alone = prepare(kg.as_graph(ring)).problem
    both = prepare(kg.as_graph(nx.disjoint_union(nx.barbell_graph(9, 0), ring))).problem
    z = np.arange(200) // 20
    together = np.concatenate([np.repeat([0, 1], 9), 2 + z])
    assert borders_of(both, both, together) == borders_of(alone, alone, z)
    pair = prepare(kg.as_graph(nx.barbell_graph(9, 0))).problem
    assert borders_of(pair, pair, np.repeat([0, 1], 9)) is None


def test_names_of_communities_do_not_matter():
    ring = nx.connected_watts_strogatz_graph(300, 6, 0.05, seed=0)
    problem = prepare(kg.as_graph(ring)).problem
    z = np.arange(300) // 20
    renamed = np.random.default_rng(0).permutation(15)[z]
    one, other = (borders_of(problem, problem, labels) for labels in (z, renamed))
    assert one.contiguity == other.contiguity
    # Of pairs that are as good, others may be merged.
    assert one.separation == pytest.approx(other.separation, abs=0.1)
    assert one.patches == other.patches == 15


def test_chance_is_more_where_there_are_more_components():
    found = Contiguity(20.0, 10.0, 3.0)
    assert found.is_clear()
    assert not found.is_clear(among=20)
    # Three standard deviations of one are about as rare as these in one of many.
    beyond = math.sqrt(9.0 + 2.0 * math.log(100.0))
    normal = NormalDist()
    assert 100 * normal.cdf(-beyond) <= normal.cdf(-3.0)


def test_components_are_judged_one_by_one():
    blocks = planted_partition(600, k=4, degree=20.0, snr=3.0, rng=0).graph.to_networkx()
    G = nx.disjoint_union_all([nx.grid_2d_graph(24, 24), blocks, nx.empty_graph(50)])
    with pytest.warns(ContinuumWarning) as issued:
        found = kg.detect_communities(G)
    grid = {found.membership[node] for node in range(24 * 24)}
    assert f"{len(grid)} of {len(found)} communities look like patches" in str(issued[0].message)
    alone = kg.detect_communities(blocks)
    assert not any(isinstance(one, ContinuumWarning) for one in alone.report.warnings)


def plane(seed, n=800):
    """Link points of the unit square that are near each other."""
    X = np.random.default_rng(seed).random((n, 2))
    G = nx.empty_graph(n)
    G.add_edges_from(KDTree(X).query_pairs(np.sqrt(12.0 / (np.pi * n))))
    return G


def neighbors(X, near=10):
    G = nx.empty_graph(len(X))
    for i, row in enumerate(KDTree(X).query(X, near + 1)[1][:, 1:]):
        G.add_edges_from((i, int(j)) for j in row)
    return G


CONTINUUM = {
    "square grid": lambda: nx.grid_2d_graph(20, 20),
    "hexagons": lambda: nx.hexagonal_lattice_graph(20, 20),
    "torus": lambda: nx.grid_2d_graph(24, 30, periodic=True),
    "plane": lambda: plane(0),
    "small world": lambda: nx.connected_watts_strogatz_graph(800, 8, 0.05, seed=0),
    "cloud": lambda: neighbors(np.random.default_rng(0).normal(size=(900, 2))),
}


@pytest.mark.parametrize("kind", list(CONTINUUM))
def test_a_continuum_is_warned_of(kind):
    graph = CONTINUUM[kind]()
    with pytest.warns(ContinuumWarning, match="communities look like patches of a continuum"):
        found = kg.detect_communities(graph)
    assert found.report.contiguity > 1.5
    assert found.report.separation < 0.5
    (warning,) = (w for w in found.report.warnings if isinstance(w, ContinuumWarning))
    largest = max(nx.connected_components(graph), key=len)
    patches = sum(community <= largest for community in found)
    assert found.report.patches == patches
    who = f"the {patches} communities" if patches == len(found) else f"{patches} of {len(found)}"
    assert str(warning).startswith(who)
    assert "partition.stability()" in str(warning)
    assert f"Warning: {warning}" in str(found.report)
    assert found.report.to_dict()["contiguity"] == found.report.contiguity


def separate_clouds():
    rng = np.random.default_rng(0)
    centers = 12.0 * np.eye(8)
    return neighbors(centers[np.arange(800) % 8] + 1.5 * rng.normal(size=(800, 8)))


PLANTED = {
    "SBM": lambda: planted_partition(900, k=9, degree=14.0, snr=2.2, rng=0).graph,
    "DCSBM": lambda: degree_corrected_sbm([150] * 6, PlantedAffinity(16.0, 2.2), rng=0).graph,
    "LFR": lambda: lfr_benchmark(900, degree=15, mixing=0.4, rng=0).graph,
    "cliques": lambda: nx.ring_of_cliques(30, 6),
    "caves": lambda: nx.relaxed_caveman_graph(30, 10, 0.2, seed=0),
    "clouds": separate_clouds,
    "karate": nx.karate_club_graph,
}


@pytest.mark.parametrize("kind", list(PLANTED))
def test_communities_are_not_warned_of(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ContinuumWarning)
        found = kg.detect_communities(PLANTED[kind]())
    assert len(found) > 1


def test_patches_inside_clouds_are_warned_of():
    """Counted in full, edges of neighbors justify many patches of each cloud."""
    rng = np.random.default_rng(0)
    G = neighbors(20.0 * np.eye(3)[np.arange(1_500) % 3] + rng.normal(size=(1_500, 3)))
    with pytest.warns(ContinuumWarning):
        assert len(kg.detect_communities(G, method=IN_FULL)) > 20


def test_order_and_names_of_nodes_do_not_matter():
    G = plane(1, n=400)
    names = np.random.default_rng(0).permutation(400)
    H = nx.Graph()
    H.add_nodes_from(sorted(names.tolist()))
    H.add_edges_from((names[a], names[b]) for a, b in reversed(list(G.edges)))
    shuffled = nx.Graph(list(reversed(list(G.edges))))
    shuffled.add_nodes_from(G)
    one, same, other = (kg.detect_communities(graph).report for graph in (G, shuffled, H))
    assert (one.contiguity, one.separation) == (same.contiguity, same.separation)
    assert other.contiguity > 1.5


def test_a_given_number_is_judged_if_it_is_the_one_found_without():
    grid = nx.grid_2d_graph(20, 20)
    found = kg.detect_communities(grid)
    again = kg.detect_communities(grid, k=len(found))
    assert again.report.contiguity == found.report.contiguity
    assert [type(warning) for warning in again.report.warnings] == [ContinuumWarning]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ContinuumWarning)
        other = kg.detect_communities(grid, k=len(found) + 1)
    assert other.report.contiguity is other.report.separation is None


@pytest.mark.statistical
def test_contiguity_is_one_on_block_models():
    """Bounds: five standard errors of the mean in units of the deviation."""
    off = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        graph, labels = (
            lfr_benchmark(400, degree=12, mixing=0.4, rng=rng)
            if seed % 2
            else degree_corrected_sbm([80] * 5, PlantedAffinity(12.0, 1.8), rng=rng)
        )
        found = measured(graph, labels)
        off.append((found.found - found.expected) / found.deviation)
    assert abs(np.mean(off)) < 5.0 / math.sqrt(len(off))
    assert 0.5 < np.std(off) < 1.5
    assert np.max(off) < 3.5
