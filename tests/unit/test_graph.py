"""Graph: what the constructor refuses, what stays frozen, what the properties count."""

import pickle

import numpy as np
import pytest

import kgroups as kg
from kgroups.adapters import as_graph
from kgroups.errors import GraphError, WeightError
from kgroups.graph import Graph


@pytest.fixture
def weighted_multigraph():
    """Edges ab (twice), bc, a loop at c and an isolated d."""
    return Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 2], [1.0, 2.0, 0.5, 4.0], nodes=list("abcd"))


def test_parallel_edges_are_summed_and_counted(weighted_multigraph):
    graph = weighted_multigraph
    expected = [[0, 3, 0, 0], [3, 0, 0.5, 0], [0, 0.5, 4, 0], [0, 0, 0, 0]]
    assert np.array_equal(graph.to_scipy().toarray(), expected)
    assert graph.multiplicity.tolist() == [2, 2, 1, 1, 1]
    assert (graph.n, graph.m, graph.n_loops) == (4, 4, 1)
    assert graph.degrees.tolist() == [3, 3.5, 4.5, 0]


def test_parallel_edges_without_weights_weigh_their_number():
    graph = Graph.from_edges([0, 1, 0], [1, 0, 2], None)
    assert graph.weights.tolist() == [2, 1, 2, 1]
    assert graph.is_weighted


def test_weights_of_one_are_not_stored():
    assert Graph.from_edges([0, 1], [1, 2], [1.0, 1.0]).weights is None


def test_edges_of_weight_zero_stay_edges():
    graph = Graph.from_edges([0, 1], [1, 2], [0.0, 1.0])
    assert graph.m == 2
    assert graph.simple_adjacency().indptr.tolist() == [0, 0, 1, 2]


def test_both_directions_hold_the_same_sum_of_parallel_weights():
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 4, (2, 200))
    A = Graph.from_edges(u, v, rng.random(200)).to_scipy().toarray()
    assert np.array_equal(A, A.T)


def test_indices_are_int32_while_they_fit():
    graph = Graph.from_edges(np.array([0, 1], np.int64), np.array([1, 2], np.uint8))
    assert graph.indices.dtype == graph.indptr.dtype == np.int32


def test_a_graph_is_frozen(weighted_multigraph):
    with pytest.raises(AttributeError, match="a Graph is frozen: 'weights' cannot be set"):
        weighted_multigraph.weights = None
    with pytest.raises(ValueError, match="read-only"):
        weighted_multigraph.indices[0] = 3
    assert weighted_multigraph.nodes == ("a", "b", "c", "d")


def test_the_arrays_of_the_caller_stay_writable():
    weights = np.array([2.0, 2.0])
    Graph(np.array([0, 1, 2]), np.array([1, 0]), weights)
    assert weights.flags.writeable


def test_pickling_keeps_everything(weighted_multigraph):
    twin = pickle.loads(pickle.dumps(weighted_multigraph))
    assert twin.nodes == weighted_multigraph.nodes
    assert np.array_equal(twin.weights, weighted_multigraph.weights)
    assert np.array_equal(twin.multiplicity, weighted_multigraph.multiplicity)
    assert pickle.loads(pickle.dumps(Graph.from_edges([0], [1]))).nodes == range(2)


def test_a_name_is_kept_and_changes_nothing_else(weighted_multigraph):
    graph = weighted_multigraph
    assert graph.name is None
    named = graph.named("friends")
    assert pickle.loads(pickle.dumps(named)).name == "friends"
    assert named.nodes == graph.nodes
    for field in ("indptr", "indices", "weights", "multiplicity"):
        assert np.array_equal(getattr(named, field), getattr(graph, field))
    for nothing in (None, "", "  ", 7):
        assert graph.named(nothing) is graph
    assert as_graph(named, weight=None).name == "friends"
    assert as_graph(named, symmetrize="union").name == "friends"


def test_edges_lists_the_upper_triangle(weighted_multigraph):
    u, v, w = weighted_multigraph.edges()
    assert list(zip(u.tolist(), v.tolist(), w.tolist(), strict=True)) == [
        (0, 1, 3.0),
        (1, 2, 0.5),
        (2, 2, 4.0),
    ]


def test_simple_adjacency_drops_loops_or_counts_them_once():
    loops = Graph.from_edges([0, 0, 0, 1], [0, 0, 1, 1])
    assert loops.simple_adjacency().data.tolist() == [1, 1]
    assert loops.simple_adjacency(loops=True).data.tolist() == [1, 1, 1, 1]
    weighted = Graph.from_edges([0, 0], [0, 1], [3.0, 2.0])
    assert weighted.simple_adjacency(loops=True).data.tolist() == [3, 2, 2]


def test_permuting_keeps_edges_with_their_names(weighted_multigraph):
    moved = weighted_multigraph.permuted(np.array([3, 2, 1, 0]))
    assert moved.nodes == ("d", "c", "b", "a")
    assert moved.to_scipy()[2, 3] == 3.0
    assert moved.multiplicity.tolist() == [1, 1, 1, 2, 2]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_graphs_without_edges_are_defined(n):
    graph = Graph.from_edges([], [], n=n)
    assert (graph.n, graph.m, len(graph)) == (n, 0, n)
    assert graph.degrees.tolist() == [0.0] * n
    assert repr(graph) == f"Graph({n} nodes, 0 edges)"
    assert graph.permuted(np.arange(n)).n == n


def test_repr_tells_weights_and_loops(weighted_multigraph):
    assert repr(weighted_multigraph) == "Graph(4 nodes, 4 edges, weighted, 1 self-loops)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], [1]), "must be one-dimensional integer arrays of one length, got float64"),
        (([0, 1], [1]), r"of one length, got int64 of shape \(2,\) and int64 of shape \(1,\)"),
        (([0], [-1]), r"edge ends must lie in range\(1\), got -1"),
        (([0], [1], [1.0, 2.0]), r"weight must be one number per edge \(1\), got float64"),
        (([0], [1], ["heavy"]), r"weight must be one number per edge \(1\), got <U5"),
    ],
)
def test_from_edges_says_what_must_hold(arguments, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edges(*arguments)


def test_from_edges_checks_ends_against_the_number_of_nodes():
    with pytest.raises(GraphError, match=r"edge ends must lie in range\(2\), got 5"):
        Graph.from_edges([0], [5], n=2)
    with pytest.raises(GraphError, match="nodes must name each of the n = 3 nodes, got 2 names"):
        Graph.from_edges([0], [1], n=3, nodes=["a", "b"])
    with pytest.raises(GraphError, match="node names must differ, got 'b' more than once"):
        Graph.from_edges([0], [1], nodes=["a", "b", "b"])


@pytest.mark.parametrize("bad", [-1.5, np.nan, np.inf])
def test_bad_weights_name_the_edge(bad):
    message = rf"finite and >= 0, got {bad} on edge \('ann', 'bob'\) \(and 1 more\)\.\n  Remove"
    with pytest.raises(WeightError, match=message):
        Graph.from_edges([0, 0, 1], [1, 2, 2], [bad, 1, bad], nodes=["ann", "bob", "cy"])


def test_weights_whose_sum_overflows_are_refused():
    with pytest.raises(WeightError, match="the sum of the edge weights must be finite"):
        Graph.from_edges([0, 1], [1, 2], [1e308, 1e308])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [0, 0]), {}, "indptr must start at 0 and end at the 2 entries"),
        (([0, 1, 2], [1, 0], [1.0]), {}, r"weights must have one value per entry \(2\), got 1"),
        (([0, 1, 2], [1, 0]), {"multiplicity": [2]}, "multiplicity must have one value per entry"),
        (([0, 1, 2], [1, 0]), {"nodes": ["a"]}, "nodes must name each of the 2 rows, got 1 names"),
    ],
)
def test_the_constructor_checks_shapes(arguments, options, message):
    with pytest.raises(GraphError, match=message):
        Graph(*map(np.array, arguments), **options)


class TestWhatAGraphKeeps:
    """Its name, and the sentence on its weights where it is still true."""

    def graph(self, tmp_path):
        path = tmp_path / "calls.csv"
        path.write_text("from,to,count\nann,bob,3\nbob,cy,12\nbob,cy,1\n")
        return kg.read_graph(path)

    def test_a_permuted_graph_keeps_both(self, tmp_path):
        graph = self.graph(tmp_path)
        turned = graph.permuted(np.array([2, 0, 1]))
        assert turned.nodes == ("cy", "ann", "bob")
        assert (turned.name, turned.about_weights) == (graph.name, graph.about_weights)

    @pytest.mark.parametrize("options", [{"weight": None}, {"symmetrize": "union"}])
    def test_a_reweighted_graph_says_what_its_weights_are(self, tmp_path, options):
        graph = self.graph(tmp_path)
        again = kg.as_graph(graph, **options)
        read = kg.read_graph(tmp_path / "calls.csv", **options)
        assert again.name == graph.name == "calls.csv"
        assert again.about_weights.rstrip(".") == read.about_weights.partition("; not used")[0]
