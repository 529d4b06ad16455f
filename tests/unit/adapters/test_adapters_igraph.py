"""igraph in: names, weights, and graphs that change meanwhile."""

import sys
import threading

import igraph
import numpy as np
import pytest

from kgroups.adapters import as_graph
from kgroups.errors import DirectedGraphError, GraphError, WeightError


@pytest.fixture
def friends():
    graph = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (0, 1), (2, 2)])
    graph.vs["name"] = ["ann", "bob", "cy", "dee"]
    graph.es["weight"] = [1.0, 0.5, 2.0, 4.0]
    return graph


def test_names_weights_loops_and_parallel_edges_come_in(friends):
    graph = as_graph(friends)
    assert graph.nodes == ("ann", "bob", "cy", "dee")
    expected = [[0, 3, 0, 0], [3, 0, 0.5, 0], [0, 0.5, 4, 0], [0, 0, 0, 0]]
    assert graph.to_scipy().toarray().tolist() == expected
    assert graph.m == 4
    assert as_graph(friends, weight=None).to_scipy()[0, 1] == 2


def test_changed_graphs_are_read_as_they_are():
    graph = igraph.Graph.Famous("Zachary")
    graph.delete_edges(range(0, 40, 3))
    graph.delete_vertices([5, 6])
    graph.add_edges([(0, 9), (9, 10)])
    dense = np.array(graph.get_adjacency().data)
    assert as_graph(graph).to_scipy().toarray().tolist() == dense.tolist()


@pytest.mark.parametrize("names", [["a", "a", "b"], ["a", None, "b"], [["x"], "a", "b"]])
def test_names_that_cannot_name_nodes_give_indices(names):
    graph = igraph.Graph.Full(3)
    graph.vs["name"] = names
    assert as_graph(graph).nodes == range(3)


@pytest.mark.parametrize("n", [0, 3])
def test_graphs_without_edges(n):
    assert as_graph(igraph.Graph(n=n)).n == n
    assert as_graph(igraph.Graph(n=n), weight="cost").m == 0


def test_missing_weights_count_one(friends):
    friends.es["weight"] = [None, 0.5, None, 4.0]
    assert as_graph(friends).to_scipy()[0, 1] == 2.0
    friends.es["weight"] = [None] * 4
    assert as_graph(friends).to_scipy()[1, 2] == 1.0


def test_bad_weights_name_the_edge(friends):
    friends.es["weight"] = [1.0, -0.5, 2.0, 4.0]
    with pytest.raises(WeightError, match=r"got -0\.5 on edge \('(bob|cy)', '(bob|cy)'\)\."):
        as_graph(friends)
    friends.es["weight"] = ["much", 1, 1, 1]
    with pytest.raises(WeightError, match=r"got 'much' on edge \('(ann|bob)', '(ann|bob)'\)"):
        as_graph(friends)


def test_a_named_weight_that_no_edge_has(friends):
    with pytest.raises(WeightError, match="got 'cost'; it has 'weight'"):
        as_graph(friends, weight="cost")


def test_directed_graphs_name_the_ways_on():
    directed = igraph.Graph(n=3, edges=[(0, 1), (1, 0), (1, 2)], directed=True)
    with pytest.raises(
        DirectedGraphError, match=r'a directed igraph Graph: .*\n.*symmetrize="sum"'
    ):
        as_graph(directed)
    assert as_graph(directed, symmetrize="sum").to_scipy()[0, 1] == 2
    assert as_graph(directed, symmetrize="union").weights is None


def test_weights_that_change_the_graph_change_nothing_that_was_as_graph():
    ring = igraph.Graph.Ring(50)

    class Meddler:
        def __float__(self):
            ring.vs["seen"] = True
            ring.delete_edges([0])
            ring.add_edges([(0, 25)])
            return 2.0

    ring.es["weight"] = [Meddler()] + [1.0] * 49
    graph = as_graph(ring)
    assert graph.to_scipy()[0, 1] == 2.0
    assert graph.to_scipy()[0, 25] == 0.0


def edited(edit):
    """Return a graph that changes between the reading of its weights and of its edges."""

    class Edited(igraph.Graph):
        def get_edgelist(self):
            edit(self)
            return super().get_edgelist()

    graph = Edited(n=3, edges=[(0, 1), (1, 2)])
    graph.es["weight"] = [1.0, 2.0]
    return graph


@pytest.mark.parametrize(
    "edit",
    [
        lambda graph: graph.delete_edges([0]),
        lambda graph: graph.add_edges([(0, 2)]),
        lambda graph: (graph.add_vertices(1), graph.delete_edges([0]), graph.add_edges([(0, 3)])),
    ],
    ids=["fewer edges", "more edges", "an unknown vertex"],
)
def test_a_graph_that_another_thread_changes_meanwhile_is_refused(edit):
    with pytest.raises(GraphError, match="must not change while it is read"):
        as_graph(edited(edit))


def test_a_graph_that_another_thread_edits_is_read_as_one_of_its_states():
    """Reading igraph's own memory gave rows of edges that were being freed."""
    graph = igraph.Graph.Ring(2_000)
    chords = [(i, i + 1_000) for i in range(1_000)]
    states = {2_000, 3_000}
    done = threading.Event()

    def edit():
        while not done.is_set():
            graph.add_edges(chords)
            graph.delete_edges(range(2_000, 3_000))

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        found = [as_graph(graph) for _ in range(200)]
    finally:
        done.set()
        editor.join()
    assert {one.m for one in found} <= states
    for one in found:
        degrees = np.unique(np.diff(one.indptr))
        assert degrees.tolist() == [2 if one.m == 2_000 else 3]


@pytest.fixture
def frequent_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def test_names_weights_and_edges_belong_together_while_another_thread_edits(frequent_switches):
    """States: a ring of 2,000 vertices, with 500 more vertices, with an edge to each of them."""
    graph = igraph.Graph.Ring(2_000)
    graph.vs["name"] = names = [f"v{i}" for i in range(2_000)]
    graph.es["weight"] = 2.0
    done = threading.Event()

    def edit():
        while not done.is_set():
            graph.add_vertices(500)
            graph.add_edges([(i, 2_000 + i) for i in range(500)])
            graph.delete_vertices(range(2_000, 2_500))

    found, refused = [], []
    editor = threading.Thread(target=edit)
    editor.start()
    try:
        for _ in range(200):
            try:
                found.append(as_graph(graph))
            except GraphError as error:
                refused.append(str(error))
    finally:
        done.set()
        editor.join()
    assert all("must not change while it is read" in message for message in refused)
    for one in found:
        assert (one.n, one.m) in {(2_000, 2_000), (2_500, 2_000), (2_500, 2_500)}
        assert list(one.nodes) == (names if one.n == 2_000 else list(range(2_500)))
        rows = one.to_scipy()
        assert np.all(rows.diagonal(1)[:1_999] == 2.0)
        if one.m == 2_500:
            assert np.all(rows.diagonal(2_000)[:500] == 1.0)
