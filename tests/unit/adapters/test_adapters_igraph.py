"""igraph in: names, weights, and memory that is read only where it was tested."""

import igraph
import numpy as np
import pytest

from kgroups import _mirror
from kgroups.adapters import as_graph
from kgroups.adapters import igraph as adapter
from kgroups.errors import DirectedGraphError, WeightError


@pytest.fixture(params=["memory", "edge list"])
def path(request, monkeypatch):
    """Run a test on the read of the C structure and on the fallback."""
    if request.param == "edge list":
        monkeypatch.setattr(adapter, "TESTED_VERSIONS", ())
    elif igraph.__version__ not in adapter.TESTED_VERSIONS:
        pytest.skip(f"igraph {igraph.__version__} is not a tested version")
    return request.param


@pytest.fixture
def friends():
    graph = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (0, 1), (2, 2)])
    graph.vs["name"] = ["ann", "bob", "cy", "dee"]
    graph.es["weight"] = [1.0, 0.5, 2.0, 4.0]
    return graph


def test_names_weights_loops_and_parallel_edges_come_in(friends, path):
    graph = as_graph(friends)
    assert graph.nodes == ("ann", "bob", "cy", "dee")
    expected = [[0, 3, 0, 0], [3, 0, 0.5, 0], [0, 0.5, 4, 0], [0, 0, 0, 0]]
    assert graph.to_scipy().toarray().tolist() == expected
    assert graph.m == 4
    assert as_graph(friends, weight=None).to_scipy()[0, 1] == 2


def test_memory_is_read_on_tested_versions_only(friends, monkeypatch):
    if igraph.__version__ not in adapter.TESTED_VERSIONS:
        pytest.skip(f"igraph {igraph.__version__} is not a tested version")
    ends = adapter._ends_in_memory(friends)
    assert np.sort(ends, axis=0).T.tolist() == [[0, 1], [1, 2], [0, 1], [2, 2]]
    monkeypatch.setattr(adapter, "TESTED_VERSIONS", ("0.0.1",))
    assert adapter._ends_in_memory(friends) is None


@pytest.mark.parametrize(
    ("method", "answer"),
    [("vcount", lambda: 5), ("ecount", lambda: 3)],
)
def test_memory_that_contradicts_igraph_is_not_used(friends, monkeypatch, method, answer):
    class Liar:
        def __getattr__(self, name):
            return answer if name == method else getattr(friends, name)

    assert adapter._ends_in_memory(Liar()) is None


def test_memory_whose_sample_differs_is_not_used(friends):
    other = igraph.Graph(n=4, edges=[(0, 1), (1, 3), (0, 1), (2, 2)])

    class Liar:
        def __getattr__(self, name):
            return getattr(other if name == "es" else friends, name)

    assert adapter._ends_in_memory(Liar()) is None


def test_changed_graphs_are_read_as_they_are(path):
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
def test_graphs_without_edges(n, path):
    assert as_graph(igraph.Graph(n=n)).n == n
    assert as_graph(igraph.Graph(n=n), weight="cost").m == 0


def test_missing_weights_count_one(friends):
    friends.es["weight"] = [None, 0.5, None, 4.0]
    assert as_graph(friends).to_scipy()[0, 1] == 2.0
    friends.es["weight"] = [None] * 4
    assert as_graph(friends).to_scipy()[1, 2] == 1.0


def test_bad_weights_name_the_edge(friends, path):
    friends.es["weight"] = [1.0, -0.5, 2.0, 4.0]
    with pytest.raises(WeightError, match=r"got -0\.5 on edge \('(bob|cy)', '(bob|cy)'\)\."):
        as_graph(friends)
    friends.es["weight"] = ["much", 1, 1, 1]
    with pytest.raises(WeightError, match=r"got 'much' on edge \('(ann|bob)', '(ann|bob)'\)"):
        as_graph(friends)


def test_a_named_weight_that_no_edge_has(friends):
    with pytest.raises(WeightError, match="got 'cost'; it has 'weight'"):
        as_graph(friends, weight="cost")


def test_directed_graphs_name_the_ways_on(path):
    directed = igraph.Graph(n=3, edges=[(0, 1), (1, 0), (1, 2)], directed=True)
    with pytest.raises(DirectedGraphError, match=r'a directed igraph Graph\.\n.*symmetrize="sum"'):
        as_graph(directed)
    assert as_graph(directed, symmetrize="sum").to_scipy()[0, 1] == 2
    assert as_graph(directed, symmetrize="union").weights is None


def test_the_graph_does_not_live_in_the_memory_of_igraph(path, monkeypatch):
    for few in (_mirror._FEW_EDGES, 0):
        monkeypatch.setattr(_mirror, "_FEW_EDGES", few)
        ring = igraph.Graph.Ring(50)
        graph = as_graph(ring)
        ring.delete_edges(range(50))
        ring.add_edges([(0, 25)] * 50)
        assert graph.indices[:2].tolist() == [1, 49]
        assert graph.indices[-2:].tolist() == [0, 48]


def test_weights_that_change_the_graph_do_so_before_its_memory_is_read(path):
    ring = igraph.Graph.Ring(50)

    class Meddler:
        def __float__(self):
            ring.vs["seen"] = True
            ring.delete_edges([0])
            ring.add_edges([(0, 25)])
            return 2.0

    ring.es["weight"] = [Meddler()] + [1.0] * 49
    assert as_graph(ring).to_scipy()[0, 25] == 1.0
