"""The semimetric of a graph, its ratio association and ratio cut."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from kgroups.energy.graphs import graph_semimetric, ratio_association, ratio_cut
from kgroups.energy.statistics import within_energy
from kgroups.errors import DirectedGraphError, GraphError, InputError, PartitionError
from kgroups.graph import Graph

TRIANGLES = ([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5])
HALVES = [{0, 1, 2}, {3, 4, 5}]


@pytest.fixture
def triangles():
    """Two triangles with a bridge."""
    return Graph.from_edges(*TRIANGLES)


def test_two_triangles_by_hand(triangles):
    assert ratio_association(triangles, HALVES) == pytest.approx(12 / 7)
    assert ratio_cut(triangles, HALVES) == pytest.approx(2 / 7)
    assert ratio_association(triangles, HALVES, node_weights="uniform") == pytest.approx(4.0)
    assert ratio_cut(triangles, HALVES, node_weights="uniform") == pytest.approx(2 / 3)
    assert ratio_association(triangles, HALVES, node_weights=[1, 2, 3, 6, 6, 6]) == pytest.approx(
        1 + 1 / 3
    )


def test_cut_is_the_normalized_cut_of_networkx():
    club = nx.karate_club_graph()
    left = {i for i, side in club.nodes(data="club") if side == "Mr. Hi"}
    right = set(club) - left
    assert ratio_cut(club, [left, right]) == pytest.approx(
        nx.normalized_cut_size(club, left, right, weight="weight")
    )
    assert ratio_cut(club, [left, right], weight=None) == pytest.approx(
        nx.normalized_cut_size(club, left, right)
    )


def test_a_self_loop_counts_once():
    loop = Graph.from_edges([0, 0, 1], [0, 1, 2], [3.0, 1.0, 1.0])
    assert ratio_association(loop, [0, 0, 1]) == pytest.approx(5 / 6)
    assert ratio_cut(loop, [0, 0, 1]) == pytest.approx(1 / 6 + 1.0)


def test_semimetric_with_self_loops_by_hand():
    graph = Graph.from_edges([0, 0, 1], [0, 1, 1], [3.0, 1.0, 1.0])
    expected = 3 / 16 + 1 / 4 - 2 / 8
    np.testing.assert_allclose(graph_semimetric(graph), [[0, expected], [expected, 0]])
    uniform = graph_semimetric(graph, node_weights="uniform", shift=2)
    np.testing.assert_allclose(uniform, [[0, 6], [6, 0]])


def test_semimetric_is_exactly_symmetric_with_a_zero_diagonal():
    rng = np.random.default_rng(3)
    A = np.triu(rng.random((30, 30)))
    A += np.triu(A, 1).T
    rho = graph_semimetric(A, node_weights=rng.uniform(0.1, 9.0, 30), shift=0.3)
    assert np.array_equal(rho, rho.T)
    assert not rho.diagonal().any()


def test_kernel_without_a_shift_needs_self_loops(triangles):
    raw = graph_semimetric(triangles)
    assert raw.min() == -0.5
    with pytest.raises(InputError, match="must be >= 0"):
        within_energy(raw, [0, 0, 0, 1, 1, 1], metric="precomputed")


@pytest.mark.parametrize(
    "partition",
    [HALVES, [0, 0, 0, 1, 1, 1], list("aaabbb"), dict(enumerate("aaabbb")), [{3, 4, 5}, {0, 1, 2}]],
)
def test_any_partition(triangles, partition):
    assert ratio_association(triangles, partition) == pytest.approx(12 / 7)


def test_any_graph(triangles):
    A = triangles.to_scipy()
    forms = [triangles.to_networkx(), triangles.to_igraph(), A, A.toarray(), TRIANGLES]
    for form in (*forms, sparse.coo_matrix(A)):
        np.testing.assert_array_equal(graph_semimetric(form), graph_semimetric(triangles))
        assert ratio_cut(form, HALVES) == ratio_cut(triangles, HALVES)


def test_edge_weights_count_by_default():
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=2.0)
    graph.add_edge("b", "c", capacity=5.0, weight=4.0)
    sets = [{"a"}, {"b", "c"}]
    assert ratio_cut(graph, sets) == pytest.approx(2 / 2 + 2 / 10)
    assert ratio_cut(graph, sets, weight=None) == pytest.approx(1 + 1 / 3)
    assert graph_semimetric(graph, node_weights="uniform")[0, 1] == -4.0


def test_directed_graphs_must_be_made_undirected():
    arcs = nx.DiGraph([(0, 1), (1, 2), (2, 0), (1, 0)])
    with pytest.raises(DirectedGraphError, match="symmetrize"):
        graph_semimetric(arcs)
    with pytest.raises(DirectedGraphError, match="symmetrize"):
        ratio_cut(arcs, [0, 0, 1])
    assert ratio_cut(arcs, [0, 0, 1], symmetrize="sum") == pytest.approx(2 / 6 + 1)
    assert graph_semimetric(arcs, symmetrize="union")[0, 1] == -0.5


@pytest.mark.parametrize("score", [ratio_association, ratio_cut])
def test_nodes_without_edges_are_named(score):
    graph = nx.Graph([("ann", "bob")])
    graph.add_nodes_from(["cy", "di"])
    message = r"node 'cy' has no edges \(and 1 more\)"
    with pytest.raises(GraphError, match=message):
        score(graph, [0, 0, 1, 1])
    with pytest.raises(GraphError, match=message):
        graph_semimetric(graph)
    assert score(graph, [0, 0, 1, 1], node_weights="uniform") >= 0.0


@pytest.mark.parametrize(
    ("node_weights", "message"),
    [
        ("degrees", "got 'degrees'"),
        ([1, 1], r"each of the 6 nodes, got an array of shape \(2,\)"),
        ([1, 1, 0, 1, -1, 1], r"> 0, got 0 for node 2 \(and 1 more\)"),
        ([1, 1, 1, np.nan, 1, 1], "> 0, got nan for node 3"),
        (["1"] * 6, "node_weights must hold real numbers, got dtype <U1"),
        ([1j] * 6, "node_weights must hold real numbers, got dtype complex128"),
        (np.ma.ones(6), "node_weights must not be a masked array"),
    ],
)
def test_bad_node_weights_are_named(triangles, node_weights, message):
    with pytest.raises(InputError, match=message):
        ratio_association(triangles, HALVES, node_weights=node_weights)
    with pytest.raises(InputError, match=message):
        graph_semimetric(triangles, node_weights=node_weights)


@pytest.mark.parametrize("shift", [-0.1, np.nan, np.inf, "1", True])
def test_bad_shifts_are_refused(triangles, shift):
    with pytest.raises(InputError, match="shift must be a finite number >= 0"):
        graph_semimetric(triangles, shift=shift)


def test_a_graph_too_large_for_a_matrix_is_refused():
    path = np.arange(20_000)
    long = Graph.from_edges(path, path + 1)
    with pytest.raises(GraphError, match="dense matrix, which can have at most 20,000 rows"):
        graph_semimetric(long)
    assert ratio_cut(long, [*path.tolist(), 0]) > 0


def test_partitions_must_fit_the_graph(triangles):
    with pytest.raises(PartitionError, match="one entry per node of the graph"):
        ratio_cut(triangles, [0, 1])
    with pytest.raises(PartitionError, match="node 5 is in no community"):
        ratio_association(triangles, [{0, 1, 2}, {3, 4}])


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_weights_that_take_the_semimetric_beyond_all_floats_are_refused(shift):
    path = Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(GraphError, match=r"must stay below .*node weights down to 1e-200"):
        graph_semimetric(path, node_weights=[1e-200] * 3, shift=shift)
    small = graph_semimetric(path, node_weights=[1e-150] * 3)
    np.testing.assert_allclose(small[0, 1], -2e300)
