"""Arrays and tables in: any names, numbered the same way whatever holds them."""

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import kgroups
from kgroups.adapters import as_graph, tables
from kgroups.errors import GraphError, InputError, WeightError


def edges_of(graph):
    u, v, w = graph.edges()
    names = graph.nodes
    return {
        (frozenset({names[a], names[b]}), x)
        for a, b, x in zip(u.tolist(), v.tolist(), w.tolist(), strict=True)
    }


@pytest.mark.parametrize(
    ("source", "target", "nodes"),
    [
        ([0, 1], [1, 2], range(3)),
        ([7, 5], [5, 100], (5, 7, 100)),
        ([-3, 10**17], [10**17, 0], (-3, 0, 10**17)),
        ([2**70, 0], [0, 1], (2**70, 0, 1)),
        (np.array([0, 1], np.uint64), np.array([1, 2**64 - 1], np.uint64), (0, 1, 2**64 - 1)),
        (np.array([0, 1], np.uint64), np.array([1, 2], np.int8), range(3)),
        (["b", "a"], ["a", "c"], ("b", "a", "c")),
        (np.array(["b", "a"]), np.array(["a", "c"]), ("b", "a", "c")),
        ([1, "1"], ["1", 2.5], (1, "1", 2.5)),
        ([(0, 1), (0, 2)], [(0, 2), (1, 1)], ((0, 1), (0, 2), (1, 1))),
        (range(2), range(1, 3), range(3)),
        ([True, False], [2, 3], (True, 2, False, 3)),
        ([0.5, 1.5], [1.5, 2.0], (0.5, 1.5, 2.0)),
        (pd.Series(["x", "y"]), pd.Series(["y", "z"]), ("x", "y", "z")),
        (pa.array([4, 5]), pa.chunked_array([[5], [6]]), (4, 5, 6)),
    ],
)
def test_any_names_are_kept(source, target, nodes):
    graph = as_graph((source, target))
    assert graph.nodes == nodes
    assert graph.m == 2
    assert graph.weights is None


def test_a_list_of_arrays_is_columns():
    graph = as_graph([np.array([0, 1]), np.array([1, 2]), np.array([0.5, 2])])
    assert edges_of(graph) == {(frozenset({0, 1}), 0.5), (frozenset({1, 2}), 2.0)}


def test_weights_are_read_or_ignored():
    columns = (["a", "b"], ["b", "a"], [1, 2.5])
    assert as_graph(columns).weights.tolist() == [3.5, 3.5]
    assert as_graph(columns, weight=None).weights.tolist() == [2, 2]
    assert as_graph(columns, symmetrize="union").weights is None


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table], ids=["pandas", "pyarrow"])
def test_tables_are_read_by_column_names(make):
    table = make({"cost": [2, 3], "target": ["b", "c"], "source": ["a", "b"]})
    assert as_graph(table).weights is None
    assert as_graph(table, weight="cost").weights.tolist() == [2, 2, 3, 3]
    with pytest.raises(WeightError, match="edge column of the graph, got 'price'; it has 'cost'"):
        as_graph(table, weight="price")


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table], ids=["pandas", "pyarrow"])
class TestColumnsOfTables:
    def test_tables_without_ends_are_refused(self, make):
        message = (
            r"'source' and one column 'target', got the columns 'p', 'q'(.|\n)*with source and "
        )
        with pytest.raises(GraphError, match=message):
            as_graph(make({"p": [1], "q": [2]}))

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("from", "to"),
            ("From", "To"),
            ("SOURCE", "Target"),
            ("src", "dst"),
            ("node_1", "node_2"),
            ("Node A", "Node B"),
            ("FromNodeId", "ToNodeId"),
            (":START_ID", ":END_ID"),
            ("u", "v"),
            ("ego", "alter"),
            ("id1", "id2"),
        ],
    )
    def test_columns_with_usual_names_are_found(self, make, first, second):
        table = make({"x": [5], second: ["b"], first: ["a"], "Weight": [2.5]})
        graph = as_graph(table)
        assert (graph.nodes, graph.weights.tolist()) == (("a", "b"), [2.5, 2.5])

    def test_columns_can_be_named(self, make):
        table = make({"source": ["x"], "target": ["y"], "Caller": ["a"], "called": ["b"]})
        assert as_graph(table).nodes == ("x", "y")
        assert as_graph(table, source="Caller", target="called").nodes == ("a", "b")
        assert as_graph(table, source="caller", target="CALLED").nodes == ("a", "b")
        partition = kgroups.detect_communities(table, source="called", target="Caller")
        assert partition.nodes == ("b", "a")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"source": "a", "target": "z"}, "target must name one column .* 'z'; .* are 'a', 'b'"),
            ({"source": "a"}, 'two columns, or both be left out, got source="a" and target=None'),
            ({"source": "a", "target": "a"}, 'names of two columns.* got source="a" and target="a'),
            ({"source": "a", "target": "A"}, 'names of two columns.* got source="a" and target="a'),
            ({"source": 0, "target": 1}, "names of two columns.* got source=0 and target=1"),
        ],
    )
    def test_names_that_choose_no_columns_are_refused(self, make, options, message):
        with pytest.raises(InputError, match=message):
            as_graph(make({"a": [1], "b": [2]}), **options)

    def test_several_usual_pairs_need_a_choice(self, make):
        table = make({"from": [1], "to": [2], "ego": [3], "alter": [4]})
        with pytest.raises(GraphError, match="got 'from' and 'to' or 'ego' and 'alter'"):
            as_graph(table)
        assert as_graph(table, source="ego", target="alter").nodes == (3, 4)


@pytest.mark.parametrize(
    "graph", [np.zeros((2, 2)), ([0], [1]), nx.path_graph(3), kgroups.Graph.from_edges([0], [1])]
)
def test_column_names_of_what_has_no_columns_are_refused(graph):
    with pytest.raises(InputError, match=r"name the columns of a table of edges, got .*none"):
        as_graph(graph, source="a", target="b")


@pytest.mark.parametrize("dtype", ["int32", "Int64", "int64[pyarrow]", "category", "object"])
def test_columns_of_every_pandas_type(dtype):
    column = pd.Series([1, 2], dtype=dtype)
    assert as_graph(pd.DataFrame({"source": column, "target": column})).nodes == (1, 2)


def test_dictionary_columns_of_arrow():
    dictionary = pa.array(["a", "b"]).dictionary_encode()
    assert as_graph(pa.table({"source": dictionary, "target": dictionary})).nodes == ("a", "b")


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_names_are_refused_with_their_place(missing):
    with pytest.raises(GraphError, match=r"node names must not be missing, got .* for edge 1"):
        as_graph((["a", missing], ["b", "c"]))


def test_missing_numbers_in_tables_are_refused():
    frame = pd.DataFrame({"source": [1, None], "target": [2, 3]})
    with pytest.raises(GraphError, match="node names must not be missing, got nan for edge 1"):
        as_graph(frame)


@pytest.mark.parametrize("bad", [-1, float("nan"), "2", None])
def test_bad_weights_name_the_edge(bad):
    message = r"got .* on edge \('ann', 'bob'\)\.\n"
    with pytest.raises(WeightError, match=message):
        as_graph((["x", "ann"], ["ann", "bob"], [1, bad]))


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (([0], [1], [1.0], [2]), "got 4 parts"),
        ((np.array([0]),), "got 1 parts"),
        (([0, 1], [1]), "must have one entry per edge, got lengths 2, 1"),
        (([0], [1], [1.0, 2.0]), "must have one entry per edge, got lengths 1, 1, 2"),
        (
            (np.zeros((2, 2), int), [1, 2]),
            r"must be one-dimensional, got an array of shape \(2, 2\)",
        ),
        (("ab", "cd"), "must be arrays with one entry per edge, got str"),
        ((3, 4), "must be arrays with one entry per edge, got int"),
        (([[1], [2]], [3, 4]), "node names must be hashable"),
        ([[0, 1], [1, 2]], r"a list of lists could hold(.|\n)*\[tuple\(edge\) for edge in edges\]"),
        ([(0, 1), [1, 2]], "a list of lists could hold edges, columns or matrix rows"),
        ([[0, 1], [1, 0]], r"(.|\n)*numpy\.array\(rows\) for a matrix"),
    ],
)
def test_what_is_no_edge_array_is_refused(obj, message):
    with pytest.raises(GraphError, match=message):
        as_graph(obj)


def test_a_list_of_edges_comes_in_as_the_message_says():
    edges = [("a", "b"), ("b", "c"), ("c", "d")]
    assert as_graph(tuple(zip(*edges, strict=True))).m == 3


@pytest.mark.parametrize("make", [tuple, pa.table, pd.DataFrame], ids=["arrays", "arrow", "pandas"])
def test_integer_names_never_become_python_objects_edge_by_edge(make, monkeypatch):
    for slow in ("_hashable_list", "_from_objects"):
        monkeypatch.setattr(tables, slow, lambda *_: pytest.fail("a Python object per edge"))
    source, target = np.random.default_rng(0).integers(0, 500, (2, 2_000)) * 3
    columns = (source, target) if make is tuple else {"source": source, "target": target}
    assert as_graph(make(columns)).m == 2_000
    source[0] = 10**15
    assert as_graph(make(columns)).nodes[-1] == 10**15


def test_no_edges_at_all():
    assert as_graph(([], [])).n == 0
    assert as_graph((np.array([], object), np.array([], str))).n == 0
    assert as_graph(pd.DataFrame({"source": [], "target": [], "weight": []})).n == 0
