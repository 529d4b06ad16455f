"""Communities that are split as a search inside them proposes."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import kgroups as kg
from kgroups.adapters import as_graph
from kgroups.generators import lfr_benchmark, planted_partition
from kgroups.metrics import ami
from kgroups.search import prepare
from kgroups.search.climbing import Searching

ONE = np.zeros(1, dtype=np.int64)


def searching_of(graph):
    problem = prepare(as_graph(graph)).problem
    return Searching(problem.level, kg.Search(), np.random.default_rng(0), problem.dispersion)


def test_a_community_of_several_cliques_is_split_and_others_are_not():
    cliques = np.repeat(np.arange(6), 8)
    searching = searching_of(nx.ring_of_cliques(6, 8))
    merged = np.maximum(cliques - 2, 0)
    z, k = searching.split(merged, ONE)
    assert k.tolist() == [6]
    assert ami(cliques, z) == pytest.approx(1.0)
    again, k = searching.split(cliques, ONE)
    assert k.tolist() == [6]
    assert np.array_equal(again, cliques)


def test_pieces_are_split_again():
    """Four groups of three cliques: a first split leaves pieces of several."""
    cliques = np.repeat(np.arange(12), 12)
    same, near = np.eye(12), np.kron(np.eye(4), np.ones((3, 3)))
    graph, truth = kg.generators.stochastic_block_model(
        [12] * 12, 0.02 + 0.2 * near + 0.7 * same, rng=0
    )
    assert np.array_equal(truth, cliques)
    z, k = searching_of(graph).split(np.zeros(144, dtype=np.int64), ONE)
    assert k[0] > 4
    assert ami(cliques, z) > 0.95


def test_components_are_split_apart_and_those_not_asked_for_stay():
    G = nx.disjoint_union_all([nx.ring_of_cliques(4, 8) for _ in range(3)])
    searching = searching_of(G)
    z, k = searching.split(np.zeros(96, dtype=np.int64), np.array([0, 2]))
    assert k[[0, 2]].tolist() == [4, 4]
    assert not z[32:64].any()
    assert [np.unique(z[rows]).size for rows in (slice(0, 32), slice(64, 96))] == [4, 4]


def test_nothing_is_split_where_there_is_nothing_inside():
    for graph in (
        nx.complete_graph(30),
        nx.gnm_random_graph(200, 1_000, seed=0),
        nx.star_graph(20),
        nx.path_graph(40),
        nx.empty_graph(12),
    ):
        searching = searching_of(graph)
        one = np.zeros(len(graph), dtype=np.int64)
        everything = np.arange(searching.sizes.size)
        z, k = searching.split(one, everything)
        assert not z.any()
        assert np.all(k == 1)


def test_groups_that_are_not_connected_end_the_merging_of_pieces():
    """It once went on for ever: groups without links between them cannot merge."""
    G = nx.disjoint_union(nx.ring_of_cliques(4, 8), nx.ring_of_cliques(4, 8))
    problem = prepare(as_graph(G)).problem.as_one()
    searching = Searching(problem.level, kg.Search(), np.random.default_rng(0), problem.dispersion)
    _, k = searching.split(np.zeros(64, dtype=np.int64), ONE)
    assert k.tolist() == [8]


@pytest.mark.parametrize("data", [1.0, 0.5])
def test_the_level_inside_groups_has_their_links_alone(data):
    G = nx.gnm_random_graph(40, 160, seed=2)
    level = prepare(as_graph(G)).problem.level.divided(1.0 / data)
    group = np.arange(40) % 4
    rows = np.flatnonzero(group > 0)
    rows = rows[np.argsort(group[rows], kind="stable")]
    inside = level.inside(group, rows)
    data_of_links = np.broadcast_to(inside.data, inside.indices.shape)
    dense = csr_array((data_of_links, inside.indices, inside.indptr), (30, 30)).toarray()
    A = nx.to_numpy_array(G, nodelist=range(40)) * data
    expected = np.where(group[:, np.newaxis] == group, A, 0.0)[np.ix_(rows, rows)]
    assert np.array_equal(dense, expected)
    assert np.allclose(inside.strength, expected.sum(axis=1))
    assert inside.sizes.tolist() == [10, 10, 10]


@pytest.mark.statistical
@pytest.mark.compiled
def test_splits_find_communities_that_the_search_has_merged(monkeypatch):
    """Moves of nodes and of groups do not split them."""
    gained = []
    for seed in range(6):
        graph, truth = lfr_benchmark(2_000, degree=15, mixing=0.5, rng=seed)
        after = kg.detect_communities(graph)
        with monkeypatch.context() as patched:
            patched.setattr(Searching, "_with_splits", lambda self, best, which: best)
            before = kg.detect_communities(graph)
        nats = [found.report.components[0].nats for found in (before, after)]
        assert nats[1] >= nats[0] - 1e-6
        if nats[1] > nats[0] + 1.0:
            gained.append(ami(truth, after.labels) - ami(truth, before.labels))
    assert gained
    assert min(gained) > 0.0


@pytest.mark.compiled
def test_the_default_is_its_search_where_communities_are_clear():
    graph, _ = planted_partition(2_000, k=20, degree=15.0, snr=2.5, rng=1)
    assert kg.detect_communities(graph) == kg.detect_communities(graph, method=kg.Search())


def loss_of_splits(searching, z, place):
    """Return the nats that each group's split loses, by the rank that it was given."""
    from kgroups.search import nats_saved

    level, objective = searching.level, searching.objective
    k = np.array([z.max() + 1])
    before = nats_saved(level, z, k, objective, ONE)[0]
    lost = []
    for rank in range(int(k[0])):
        second = place == rank
        if second.any():
            y = np.where(second, k[0], z).astype(np.int32)
            lost.append(before - nats_saved(level, y, k + 1, objective, ONE)[0])
    return lost


@pytest.mark.compiled
@pytest.mark.parametrize("weighted", [False, True])
def test_halves_are_ranked_by_what_their_split_loses(weighted):
    G = nx.planted_partition_graph(6, 20, 0.5, 0.04, seed=3)
    if weighted:
        rng = np.random.default_rng(0)
        for _, _, values in G.edges(data=True):
            values["weight"] = float(rng.uniform(0.5, 2.0))
    # Two pairs of groups are one: their splits come first.
    z = np.repeat(np.array([0, 0, 1, 1, 2, 3], dtype=np.int32), 20)
    searching = searching_of(G)
    place, divided = searching.halved(z, np.array([4]), ONE)
    assert divided.tolist() == [4]
    for rank in range(4):
        (parent,) = np.unique(z[place == rank])
        assert 0 < np.count_nonzero(place == rank) < np.count_nonzero(z == parent)
    assert set(z[place < 2].tolist()) == {0, 1}
    lost = loss_of_splits(searching, z, place)
    assert lost == sorted(lost)
    assert lost[1] < 0.0 < lost[2]


def test_single_nodes_and_other_components_are_not_halved():
    G = nx.disjoint_union(nx.complete_graph(5), nx.ring_of_cliques(3, 6))
    searching = searching_of(G)
    z = np.array([0, 0, 0, 0, 1, *np.repeat([0, 1, 2], 6)], dtype=np.int32)
    place, divided = searching.halved(z, np.array([2, 3]), np.array([0]))
    assert divided.tolist() == [1, 0]
    assert (place[5:] == G.number_of_nodes()).all()
    assert place[4] == G.number_of_nodes()
    assert 0 < np.count_nonzero(place[:4] == 0) < 4
