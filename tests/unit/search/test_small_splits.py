"""Communities of a few nodes, split where counting pairs is worth it."""

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.strategies_levels import graph_of
from kgroups.search.arbiter import PAIRS_NODES, split_small
from kgroups.search.candidates import ANY_SAVING_NODES

BRIDGED = nx.barbell_graph(3, 0)


def split(G, z=None, most=PAIRS_NODES):
    z = np.zeros(len(G), dtype=np.int64) if z is None else np.asarray(z)
    A = graph_of(G).simple_adjacency()
    return split_small(A, z, np.full(len(G), most), kg.Search(), np.random.default_rng(0))


def test_two_bridged_triangles_are_two_communities():
    assert split(BRIDGED).tolist() == [0, 0, 0, 1, 1, 1]
    assert set(kg.detect_communities(BRIDGED)) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}


def test_three_triangles_in_a_row_are_three():
    G = nx.disjoint_union_all([nx.complete_graph(3)] * 3)
    G.add_edges_from([(2, 3), (5, 6)])
    assert np.unique(split(G), return_inverse=True)[1].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert len(kg.detect_communities(G)) == 3


@pytest.mark.parametrize("count", [5, 8, 20, 30, 31])
def test_rings_of_triangles(count):
    partition = kg.detect_communities(nx.ring_of_cliques(count, 3))
    assert set(partition) == {frozenset(range(3 * a, 3 * a + 3)) for a in range(count)}


@pytest.mark.parametrize(
    "G",
    [
        nx.complete_graph(9),
        nx.complete_bipartite_graph(4, 5),
        nx.cycle_graph(9),
        nx.path_graph(9),
        nx.star_graph(8),
        nx.wheel_graph(9),
        nx.empty_graph(1),
        nx.path_graph(2),
        nx.house_graph(),
        nx.bull_graph(),
        nx.cubical_graph(),
    ],
)
def test_small_graphs_without_communities_stay_whole(G):
    assert not split(G).any()
    assert len(kg.detect_communities(G)) == 1


@pytest.mark.parametrize("count", [3, 5, 8])
@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_cliques_of_a_small_ring_are_found(count, size):
    partition = kg.detect_communities(nx.ring_of_cliques(count, size))
    assert set(partition) == {frozenset(range(size * a, size * (a + 1))) for a in range(count)}
    assert partition.report.components[0].k == count


@pytest.mark.parametrize("count", [3, 5, 8])
@pytest.mark.parametrize("size", [5, 6])
def test_cliques_at_a_hub_are_found(count, size):
    sails = kg.detect_communities(nx.windmill_graph(count, size))
    nodes = np.arange(1, count * (size - 1) + 1).reshape(count, size - 1).tolist()
    assert {sail - {0} for sail in sails} == set(map(frozenset, nodes))


def test_communities_of_more_nodes_than_are_counted_are_left_alone():
    G = nx.barbell_graph(5, 0)
    assert split(G, most=10).tolist() == [0] * 5 + [1] * 5
    assert not split(G, most=9).any()
    assert not split(BRIDGED, most=5).any()


def test_each_node_says_up_to_which_size_its_community_is_tried():
    G = nx.disjoint_union(nx.barbell_graph(5, 0), nx.barbell_graph(5, 0))
    A, z = graph_of(G).simple_adjacency(), np.repeat([0, 1], 10)
    most = np.repeat([ANY_SAVING_NODES, PAIRS_NODES], 10)
    found = split_small(A, z, most, kg.Search(), np.random.default_rng(0))
    assert found.tolist() == [0] * 10 + [1] * 5 + [2] * 5


def test_weights_are_not_looked_at():
    G = nx.barbell_graph(3, 0)
    weights = np.arange(1.0, 8.0)
    plain, weighted = (graph_of(G, weights=w).simple_adjacency() for w in (None, weights))
    settings, most = kg.Search(), np.full(6, PAIRS_NODES)
    found = [
        split_small(A, np.zeros(6, dtype=np.int64), most, settings, np.random.default_rng(0))
        for A in (plain, weighted)
    ]
    assert found[0].tolist() == found[1].tolist() == [0, 0, 0, 1, 1, 1]


def test_every_small_community_is_judged_alone():
    """Bridged triangles are split, beside a clique and a large community that are not."""
    G = nx.disjoint_union_all([BRIDGED, nx.complete_graph(4), nx.barbell_graph(6, 0), BRIDGED])
    z = np.repeat([2, 0, 1, 3], [6, 4, 12, 6])
    found = split(G, z, most=ANY_SAVING_NODES)
    names = np.unique(found, return_inverse=True)[1]
    expected = np.repeat([0, 1, 2, 3, 4, 5], [3, 3, 4, 12, 3, 3])
    pairs = {*zip(names.tolist(), expected.tolist(), strict=True)}
    assert len(pairs) == np.unique(names).size == 6


def test_nodes_in_any_order_are_split_alike():
    rng = np.random.default_rng(1)
    G = nx.disjoint_union_all([BRIDGED] * 8)
    z = np.repeat(np.arange(8), 6)
    order = rng.permutation(48)
    H = nx.empty_graph(48)
    H.add_edges_from((int(order[u]), int(order[v])) for u, v in G.edges)
    moved = np.empty(48, dtype=np.int64)
    moved[order] = z
    found = split(H, moved)[order]
    assert np.unique(found).size == 16
    assert len({*zip(found.tolist(), (np.arange(48) // 3).tolist(), strict=True)}) == 16


def test_links_between_communities_do_not_count():
    G = nx.disjoint_union_all([BRIDGED, BRIDGED])
    G.add_edges_from((i, j) for i in range(6) for j in range(6, 12))
    assert np.unique(split(G, np.repeat([0, 1], 6))).size == 4


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n", "m", "most"),
    [(6, 8, 15), (7, 12, 1), (8, 12, 10), (9, 14, 12), (9, 20, 8), (20, 40, 1), (60, 120, 1)],
)
def test_random_small_graphs_are_hardly_ever_split(n, m, most):
    """Of 1,000 graphs each 24, 0, 12, 16, 9, 0, 0 were split; bounds: 5 sd above that."""
    count = 0
    for seed in range(1_000, 1_200):
        G = nx.gnm_random_graph(n, m, seed=seed)
        G = nx.convert_node_labels_to_integers(G.subgraph(max(nx.connected_components(G), key=len)))
        count += bool(split(G).any())
    assert count <= most
