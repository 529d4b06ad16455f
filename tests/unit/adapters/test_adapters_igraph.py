"""igraph in: names, weights, memory that igraph confirms, and graphs that change meanwhile."""

import ctypes
import sys
import threading

import igraph
import numpy as np
import pytest

from kgroups.adapters import as_graph
from kgroups.adapters import igraph as adapter
from kgroups.adapters.edges import ReadOptions
from kgroups.errors import DirectedGraphError, GraphError, WeightError


@pytest.fixture(params=["memory", "edge list"])
def read(request):
    """Convert graphs of every size by the C structure, or all by the list of edges."""
    if request.param == "memory":
        needs_known_memory()
    versions = adapter.TESTED_VERSIONS if request.param == "memory" else ()

    def from_igraph(graph, **options):
        return adapter.from_igraph(graph, ReadOptions(**options), few_edges=-1, versions=versions)

    from_igraph.by_memory = request.param == "memory"
    return from_igraph


def needs_known_memory():
    if igraph.__version__ not in adapter.TESTED_VERSIONS:
        pytest.skip(f"igraph {igraph.__version__} is not a tested version")


@pytest.fixture
def friends():
    graph = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (0, 1), (2, 2)])
    graph.vs["name"] = ["ann", "bob", "cy", "dee"]
    graph.es["weight"] = [1.0, 0.5, 2.0, 4.0]
    return graph


def test_names_weights_loops_and_parallel_edges_come_in(friends, read):
    graph = read(friends)
    assert graph.nodes == ("ann", "bob", "cy", "dee")
    expected = [[0, 3, 0, 0], [3, 0, 0.5, 0], [0, 0.5, 4, 0], [0, 0, 0, 0]]
    assert graph.to_scipy().toarray().tolist() == expected
    assert graph.m == 4
    assert read(friends, weight=None).to_scipy()[0, 1] == 2


def test_changed_graphs_are_read_as_they_are(read):
    graph = igraph.Graph.Famous("Zachary")
    graph.delete_edges(range(0, 40, 3))
    graph.delete_vertices([5, 6])
    graph.add_edges([(0, 9), (9, 10)])
    dense = np.array(graph.get_adjacency().data)
    assert read(graph).to_scipy().toarray().tolist() == dense.tolist()


@pytest.mark.parametrize("names", [["a", "a", "b"], ["a", None, "b"], [["x"], "a", "b"]])
def test_names_that_cannot_name_nodes_give_indices(names):
    graph = igraph.Graph.Full(3)
    graph.vs["name"] = names
    assert as_graph(graph).nodes == range(3)


@pytest.mark.parametrize("n", [0, 3])
def test_graphs_without_edges(n, read):
    assert read(igraph.Graph(n=n)).n == n
    assert read(igraph.Graph(n=n), weight="cost").m == 0


def test_missing_weights_count_one(friends, read):
    friends.es["weight"] = [None, 0.5, None, 4.0]
    assert read(friends).to_scipy()[0, 1] == 2.0
    friends.es["weight"] = [None] * 4
    assert read(friends).to_scipy()[1, 2] == 1.0


def test_bad_weights_name_the_edge(friends, read):
    friends.es["weight"] = [1.0, -0.5, 2.0, 4.0]
    with pytest.raises(WeightError, match=r"got -0\.5 on edge \('(bob|cy)', '(bob|cy)'\)\."):
        read(friends)
    friends.es["weight"] = ["much", 1, 1, 1]
    with pytest.raises(WeightError, match=r"got 'much' on edge \('(ann|bob)', '(ann|bob)'\)"):
        read(friends)


def test_a_named_weight_that_no_edge_has(friends, read):
    with pytest.raises(WeightError, match="got 'cost'; it has 'weight'"):
        read(friends, weight="cost")


def test_directed_graphs_name_the_ways_on(read):
    directed = igraph.Graph(n=3, edges=[(0, 1), (1, 0), (1, 2)], directed=True)
    with pytest.raises(
        DirectedGraphError, match=r'a directed igraph Graph: .*\n.*symmetrize="sum"'
    ):
        read(directed)
    assert read(directed, symmetrize="sum").to_scipy()[0, 1] == 2
    assert read(directed, symmetrize="union").weights is None


def test_the_graph_does_not_live_in_the_memory_of_igraph(read):
    for few in (ReadOptions().few_edges, 0):
        ring = igraph.Graph.Ring(50)
        graph = read(ring, few_edges=few)
        ring.delete_edges(range(50))
        ring.add_edges([(0, 25)] * 50)
        assert graph.indices[:2].tolist() == [1, 49]
        assert graph.indices[-2:].tolist() == [0, 48]


def test_weights_that_change_the_graph_change_nothing_that_was_read(read):
    ring = igraph.Graph.Ring(50)

    class Meddler:
        def __float__(self):
            ring.vs["seen"] = True
            ring.delete_edges([0])
            ring.add_edges([(0, 25)])
            return 2.0

    ring.es["weight"] = [Meddler()] + [1.0] * 49
    graph = read(ring)
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


@pytest.fixture
def large():
    rng = np.random.default_rng(0)
    return igraph.Graph(n=500, edges=rng.integers(0, 500, (2_000, 2)))


def refuse(*_):
    raise AssertionError


def test_the_memory_of_large_graphs_is_read_and_not_their_edge_list(large, monkeypatch):
    needs_known_memory()
    expected = large.get_adjacency_sparse()
    monkeypatch.setattr(igraph.Graph, "get_edgelist", refuse)
    assert (as_graph(large).to_scipy() != expected).nnz == 0


def test_the_memory_of_unknown_versions_is_not_read(large, monkeypatch):
    monkeypatch.setattr(igraph, "__version__", "99.0.0")
    monkeypatch.setattr(igraph.Graph, "_raw_pointer", refuse)
    assert (as_graph(large).to_scipy() != large.get_adjacency_sparse()).nnz == 0


def test_subclasses_are_not_copied(large):
    class Own(igraph.Graph):
        def __init__(self, edges):
            super().__init__(edges=edges)

    own = Own(large.get_edgelist())
    with pytest.raises(TypeError):
        own.copy()
    assert (as_graph(own).to_scipy() != large.get_adjacency_sparse()).nnz == 0


FIELDS = dict(adapter._Head._fields_)


@pytest.mark.parametrize(
    "fields",
    [
        ("directed", "n", "ends_from", "ends_to"),
        ("n", "directed", "ends_to", "ends_from"),
        ("n", "ends_from", "ends_to"),
    ],
    ids=["number of vertices", "sample of edges", "number of edges"],
)
@pytest.mark.parametrize("directed", [False, True])
def test_memory_that_contradicts_igraph_is_not_used(large, fields, directed):
    needs_known_memory()

    class Head(ctypes.Structure):
        _fields_ = [(name, FIELDS[name]) for name in fields]

    if directed:
        large.to_directed("arbitrary")
    assert adapter._ends_in_memory(large) is not None
    assert adapter._ends_in_memory(large, Head) is None
    expected = igraph.Graph(n=500, edges=large.get_edgelist()).get_adjacency_sparse()
    converted = adapter.from_igraph(large, ReadOptions(symmetrize="sum"), layout=Head)
    assert (converted.to_scipy() != expected).nnz == 0


@pytest.mark.parametrize("end", [-1, 500])
def test_memory_with_ends_that_are_no_vertices_is_not_used(large, end):
    needs_known_memory()
    begin = adapter._Head.from_address(large._raw_pointer()).ends_from.begin
    ctypes.c_int64.from_address(begin + 8).value = end  # The second edge is not in the sample.
    assert adapter._ends_in_memory(large) is None


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


def test_names_weights_and_edges_belong_together_while_another_thread_edits(
    read, frequent_switches
):
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
                found.append(read(graph))
            except GraphError as error:
                refused.append(str(error))
    finally:
        done.set()
        editor.join()
    assert all("must not change while it is read" in message for message in refused)
    if read.by_memory:
        assert refused == []
    for one in found:
        assert (one.n, one.m) in {(2_000, 2_000), (2_500, 2_000), (2_500, 2_500)}
        assert list(one.nodes) == (names if one.n == 2_000 else list(range(2_500)))
        rows = one.to_scipy()
        assert np.all(rows.diagonal(1)[:1_999] == 2.0)
        if one.m == 2_500:
            assert np.all(rows.diagonal(2_000)[:500] == 1.0)
