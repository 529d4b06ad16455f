"""Lists of edges, edge views, dicts of neighbors, adjacency tables: read as they are meant."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import kgroups as kg
from kgroups.adapters import as_graph
from kgroups.errors import DirectedGraphError, FileFormatError, GraphError, WeightError


def adjacency(graph):
    order = sorted(range(graph.n), key=lambda i: str(graph.nodes[i]))
    return graph.to_scipy().toarray()[np.ix_(order, order)].tolist()


class TestEdgeTuples:
    def test_pairs_are_edges(self):
        graph = as_graph([("ann", "bob"), ("bob", "cy")])
        assert (graph.nodes, graph.m, graph.weights) == (("ann", "bob", "cy"), 2, None)

    def test_two_pairs_are_edges_and_a_tuple_of_them_is_columns(self):
        assert as_graph([(0, 1), (2, 3)]).edges()[1].tolist() == [1, 3]
        assert as_graph(((0, 1), (2, 3))).edges()[1].tolist() == [2, 3]

    def test_triples_have_weights_and_the_report_says_so(self):
        graph = as_graph([(0, 1, 2), (1, 2, 0.5)])
        assert graph.edges()[2].tolist() == [2, 0.5]
        assert graph.about_weights == (
            "Weights: the third entry of each tuple, 0.5 to 2. weight=None uses none."
        )
        assert as_graph([(0, 1, 2), (1, 2, 0.5)], weight=None).weights is None

    def test_triples_may_have_attributes_as_in_networkx(self):
        edges = [(0, 1, {"weight": 3, "cost": 1}), (1, 2, {"cost": 4})]
        assert as_graph(edges).edges()[2].tolist() == [3, 1]
        assert as_graph(edges, weight="cost").edges()[2].tolist() == [1, 4]
        with pytest.raises(WeightError, match="got 'price'; it has 'cost', 'weight'"):
            as_graph(edges, weight="price")

    def test_repeated_edges_and_self_loops_follow_the_policy(self):
        graph = as_graph([("a", "b", 1), ("b", "a", 2), ("a", "a", 5)])
        assert adjacency(graph) == [[5, 3], [3, 0]]
        assert (graph.m, graph.n_loops) == (3, 1)
        assert as_graph([("a", "b"), ("b", "a")]).weights.tolist() == [2, 2]

    def test_no_edges_are_a_graph_without_nodes(self):
        assert as_graph([]).n == 0

    @pytest.mark.parametrize(
        ("edges", "message"),
        [
            ([(0, 1), (1, 2, 3)], r"got \(1, 2, 3\) at position 1 after \(0, 1\)"),
            ([(0, 1, 2, 3)], r"\(u, v\) only, .* got \(0, 1, 2, 3\) at position 0"),
            ([(0,)], r"got \(0,\) at position 0"),
            ([([0], 1)], "node names must be hashable"),
            ([(None, 1), (1, 2)], "node names must not be missing, got None for edge 0"),
            ([(0, 1, "x"), (1, 2, 3)], r"got 'x' on edge \(0, 1\)"),
            ([(0, 1, {}), (1, 2, 3)], r"got \{\} on edge \(0, 1\)"),
        ],
    )
    def test_what_is_no_list_of_edges_is_refused(self, edges, message):
        with pytest.raises(GraphError, match=message):
            as_graph(edges)

    @pytest.mark.parametrize("make", [set, iter, lambda edges: ((u, v) for u, v in edges)])
    def test_sets_and_iterators_are_refused_with_a_way_on(self, make):
        with pytest.raises(GraphError, match=r"a graph is needed, got(.|\n)*pass list\(edges\)"):
            as_graph(make([(0, 1), (1, 2)]))


class TestEdgeViews:
    @pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
    def test_the_edges_of_a_graph_have_its_weights(self, kind):
        G = kind([("a", "b", {"weight": 2.0}), ("b", "c", {})])
        for edges in (G.edges, G.edges(data=True), G.edges(data="weight", default=1)):
            assert adjacency(as_graph(edges)) == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
        assert as_graph(G.edges, weight=None).weights is None

    def test_the_data_that_were_asked_for_are_the_weights(self):
        G = nx.Graph([("a", "b", {"cost": 2.0}), ("b", "c", {"cost": 3.0})])
        assert as_graph(G.edges()).weights is None
        assert as_graph(G.edges(data="cost")).edges()[2].tolist() == [2, 3]

    def test_keys_of_parallel_edges_are_no_weights(self):
        G = nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c")])
        for edges in (G.edges, G.edges(keys=True), G.edges(["a", "b"], keys=True)):
            assert adjacency(as_graph(edges)) == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
        weighted = nx.MultiGraph([("a", "b", {"weight": 2.0}), ("a", "b", {"weight": 3.0})])
        assert adjacency(as_graph(weighted.edges(keys=True, data=True))) == [[0, 5], [5, 0]]

    @pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
    def test_edges_of_a_directed_graph_are_directed(self, kind):
        G = kind([("a", "b"), ("b", "a"), ("b", "c")])
        for edges in (G.edges, G.edges(data=True), G.in_edges, G.in_edges(data=True)):
            with pytest.raises(DirectedGraphError, match=r"Edge(Data)?View of a directed networkx"):
                as_graph(edges)
            assert adjacency(as_graph(edges, symmetrize="sum")) == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]


class TestArraysWithTwoColumns:
    @pytest.mark.parametrize("dtype", ["int64", "int8", "uint32"])
    def test_rows_of_integers_are_edges(self, dtype):
        graph = as_graph(np.array([[5, 7], [7, 9], [9, 5]], dtype))
        assert (graph.nodes, graph.m) == ((5, 7, 9), 3)
        assert as_graph(np.array([[5, 7]], dtype)).m == 1
        assert as_graph(np.zeros((0, 2), dtype)).n == 0

    def test_two_by_two_integers_are_ambiguous(self):
        message = r"an adjacency matrix of two nodes, or two edges in rows\.\n.*\[:, 0\].*astype"
        with pytest.raises(GraphError, match=message):
            as_graph(np.array([[0, 1], [1, 0]]))
        assert as_graph(np.array([[0.0, 1.0], [1.0, 0.0]])).m == 1
        assert as_graph(np.array([[False, True], [True, False]])).m == 1

    def test_two_rows_of_ends_are_refused_with_a_way_on(self):
        with pytest.raises(GraphError, match=r"If the columns are edges, pass \(edges\[0\], edges"):
            as_graph(np.zeros((2, 5), int))


class TestDictsOfNeighbors:
    @pytest.mark.parametrize("kind", [list, set, tuple, frozenset, np.array])
    def test_lists_and_sets_of_neighbors(self, kind):
        G = as_graph({"a": kind(["b", "c"]), "b": kind(["a"]), "c": kind(["a"]), "d": kind([])})
        assert (G.nodes, G.m, G.weights) == (("a", "b", "c", "d"), 2, None)

    def test_numbers_and_attributes_are_weights(self):
        for three in (3, {"weight": 3}, {0: {"weight": 1}, 1: {"weight": 2}}):
            for one in (1, {}, {"weight": 1}):
                graph = as_graph({"a": {"b": three, "c": one}, "b": {"a": three}, "c": {"a": one}})
                assert adjacency(graph) == [[0, 3, 1], [3, 0, 0], [1, 0, 0]]

    def test_named_attributes(self):
        G = nx.Graph([("a", "b", {"cost": 2})])
        assert as_graph(nx.to_dict_of_dicts(G), weight="cost").weights.tolist() == [2, 2]
        assert as_graph(G.adj, weight="cost").weights.tolist() == [2, 2]
        with pytest.raises(WeightError, match=r"an edge attribute .*got 'price'; it has 'cost'"):
            as_graph(G.adj, weight="price")

    def test_neighbors_listed_twice_are_parallel_edges(self):
        graph = as_graph({"a": ["b", "b", "a"], "b": ["a", "a"]})
        assert adjacency(graph) == [[1, 2], [2, 0]]
        assert (graph.m, graph.n_loops) == (3, 1)

    def test_one_direction_is_refused_until_it_is_clear_what_it_means(self):
        once = {"a": ["b", "c"], "b": ["c"]}
        message = (
            r"at both of its ends, got 'b' among the neighbors of 'a' but not 'a' among those of "
            r"'b' \(and 2 more pairs\)\.\n.*has each edge once, pass symmetrize=\"sum\""
        )
        with pytest.raises(GraphError, match=message):
            as_graph(once)
        graph = as_graph(once, symmetrize="sum")
        assert (graph.nodes, graph.m, graph.weights) == (("a", "b", "c"), 3, None)
        D = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")])
        for way in ("sum", "union"):
            found = as_graph(nx.to_dict_of_dicts(D), symmetrize=way)
            assert adjacency(found) == adjacency(as_graph(D, symmetrize=way))

    def test_weights_that_differ_by_direction_are_refused(self):
        with pytest.raises(GraphError, match="other entries from 'a' to 'b' than from 'b' to 'a'"):
            as_graph({"a": {"b": 1}, "b": {"a": 2}})

    def test_no_nodes_and_no_edges(self):
        assert as_graph({}).n == 0
        assert as_graph({"a": [], "b": {}}).nodes == ("a", "b")

    @pytest.mark.parametrize(
        ("neighbors", "message"),
        [
            ({"a": "b", "b": "a"}, "must be a list, set or dict of nodes, got 'b' for 'a'"),
            ({"a": None}, "must be a list, set or dict of nodes, got None for 'a'"),
            ({("a", "b"): 2.5}, r"got 2.5 for \('a', 'b'\)(.|\n)*for \(u, v\), w in edges.items"),
            ({"a": [["b"]]}, "node names must be hashable: .* among the neighbors of 'a'"),
            ({"a": [None], None: ["a"]}, "node names must not be missing, got None"),
            ({"a": [float("nan")]}, "node names must not be missing, got nan"),
            ({"a": {"b": -1}, "b": {"a": -1}}, r"got -1.0 on edge \('a', 'b'\)\.\n"),
        ],
    )
    def test_what_is_no_dict_of_neighbors_is_refused(self, neighbors, message):
        with pytest.raises(GraphError, match=message):
            as_graph(neighbors)


class TestAdjacencyTables:
    def frame(self, matrix, names="abc"):
        return pd.DataFrame(matrix, index=list(names), columns=list(names))

    def test_equal_index_and_columns_are_an_adjacency_matrix(self):
        graph = as_graph(self.frame([[0, 2, 0], [2, 0, 1], [0, 1, 0]]))
        assert (graph.nodes, graph.edges()[2].tolist()) == (("a", "b", "c"), [2, 1])
        assert as_graph(pd.DataFrame(np.eye(4))).nodes == range(4)

    def test_directed_ones_are_refused(self):
        frame = self.frame([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
        with pytest.raises(GraphError, match=r"must be symmetric, got 1.0 from 'a' to 'b'"):
            as_graph(frame)
        assert as_graph(frame, symmetrize="union").m == 1

    def test_names_must_differ(self):
        with pytest.raises(GraphError, match="must differ, got 'a' more than once in the index"):
            as_graph(self.frame(np.zeros((3, 3)), "aba"))

    def test_missing_entries_are_refused(self):
        frame = self.frame([[0, np.nan, 0], [np.nan, 0, 1], [0, 1, 0]])
        with pytest.raises(WeightError, match=r"got nan on edge \('a', 'b'\)"):
            as_graph(frame)

    def test_other_index_and_columns_are_refused_with_a_way_on(self):
        frame = pd.DataFrame(np.eye(2), index=["x", "y"], columns=["y", "x"])
        with pytest.raises(GraphError, match="adjacency matrix must have the same index and"):
            as_graph(frame)

    def test_errors_list_at_most_ten_columns(self):
        frame = pd.DataFrame(np.zeros((2, 30)), columns=[f"gene{i:02}x" for i in range(30)])
        with pytest.raises(GraphError, match="'gene09x' and 20 more\\.") as caught:
            as_graph(frame)
        assert "gene10x" not in str(caught.value)


class TestAdjacencyTablesWithNodesNamedAsColumns:
    """Nodes called a and b, or u and v, are no columns of edges."""

    def table(self, names="abcdefgh"):
        G = nx.relabel_nodes(nx.barbell_graph(4, 0), dict(enumerate(names)))
        return nx.to_pandas_adjacency(G)

    @pytest.mark.parametrize("names", ["abcdefgh", "uvwxyzst"])
    def test_a_table_in_another_order_is_refused(self, names):
        table = self.table(names)
        reordered = table[sorted(table.columns, reverse=True)]
        with pytest.raises(GraphError, match="the same index and columns, in the same order"):
            as_graph(reordered)
        assert as_graph(reordered[reordered.index]).n == 8

    @pytest.mark.parametrize("names", ["abcdefgh", "uvwxyzst"])
    def test_a_file_is_refused_and_so_is_what_pandas_reads_from_it(self, names, tmp_path):
        path = tmp_path / "adj.csv"
        self.table(names).to_csv(path)
        with pytest.raises(FileFormatError, match="looks like an adjacency matrix") as caught:
            kg.read_graph(path)
        assert "pandas.read_csv(path, index_col=0)" in str(caught.value)
        with pytest.raises(GraphError, match=r"looks like an adjacency(.|\n)*set_index\('Unnam"):
            as_graph(pd.read_csv(path))
        assert as_graph(pd.read_csv(path, index_col=0)).n == 8

    @pytest.mark.parametrize("nodes", ["ab", "uv"])
    def test_a_file_of_two_nodes_is_refused(self, nodes, tmp_path):
        u, v = nodes
        path = tmp_path / "adj.csv"
        path.write_text(f",{u},{v}\n{u},0,1\n{v},1,0\n")
        with pytest.raises(FileFormatError, match="looks like an adjacency matrix"):
            kg.read_graph(path)

    def test_columns_a_and_b_are_ends_where_they_come_first_and_little_else_follows(self):
        for others in ([], ["year"], ["weight"], ["value", "count"]):
            table = pd.DataFrame([[0, 1, 1, 1], [1, 2, 1, 1]]).iloc[:, : 2 + len(others)]
            table.columns = ["a", "b", *others]
            assert as_graph(table).m == 2
        for columns in (["x", "a", "b"], ["a", "b", "c", "d"], ["b", "a"], ["a", "b", 1, 2]):
            table = pd.DataFrame([range(len(columns))] * 2, columns=columns)
            with pytest.raises(GraphError, match="one column 'source'"):
                as_graph(table)

    def test_edges_with_the_index_of_pandas_before_them_are_read(self, tmp_path):
        path = tmp_path / "edges.csv"
        pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"]}).to_csv(path)
        assert kg.read_graph(path).nodes == as_graph(pd.read_csv(path)).nodes == ("x", "y", "z")

    def test_a_triangle_with_weights_among_its_nodes_is_no_matrix(self, tmp_path):
        path = tmp_path / "triangle.txt"
        path.write_text("1 2 3\n2 3 1\n3 1 2\n")
        assert kg.read_graph(path).m == 3


class TestNetworKit:
    @pytest.fixture
    def networkit(self):
        return pytest.importorskip("networkit")

    def test_nodes_edges_and_weights(self, networkit):
        graph = networkit.Graph(4, weighted=True)
        graph.addEdge(0, 1, 2.5)
        graph.addEdge(1, 1, 1.5)
        found = as_graph(graph)
        assert found.nodes == range(4)
        assert adjacency(found) == [[0, 2.5, 0, 0], [2.5, 1.5, 0, 0], [0] * 4, [0] * 4]
        assert as_graph(graph, weight=None).weights is None
        with pytest.raises(WeightError, match="got 'cost'; it has 'weight'"):
            as_graph(graph, weight="cost")

    def test_removed_nodes_are_left_out(self, networkit):
        graph = networkit.Graph(4)
        for edge in ((0, 1), (1, 2), (2, 3)):
            graph.addEdge(*edge)
        graph.removeNode(1)
        found = as_graph(graph)
        assert (tuple(found.nodes), found.m) == ((0, 2, 3), 1)
        assert as_graph(networkit.Graph(0)).n == 0

    def test_directed_graphs_are_refused(self, networkit):
        graph = networkit.Graph(2, directed=True)
        graph.addEdge(0, 1)
        with pytest.raises(DirectedGraphError, match="got a directed NetworKit graph"):
            as_graph(graph)
        assert as_graph(graph, symmetrize="sum").m == 1

    def test_the_karate_club_has_its_communities(self, networkit):
        G = nx.karate_club_graph()
        converted = networkit.nxadapter.nx2nk(G, weightAttr="weight")
        assert kg.detect_communities(converted) == kg.detect_communities(G)


G = nx.les_miserables_graph()


@pytest.mark.parametrize(
    "form",
    [
        G.edges,
        list(G.edges(data="weight")),
        list(G.edges(data=True)),
        G.adj,
        nx.to_dict_of_dicts(G),
        nx.to_pandas_adjacency(G),
        nx.to_pandas_edgelist(G),
        nx.to_pandas_edgelist(G).rename(columns={"source": "a", "target": "b", "weight": "w"}),
    ],
    ids=["view", "triples", "attributes", "adj", "dicts", "adjacency", "table", "a,b,w"],
)
def test_every_form_of_a_graph_has_its_communities(form):
    assert kg.detect_communities(form) == kg.detect_communities(G)


class TestWhatLooksLikeSomethingElse:
    def test_the_keys_of_a_multigraph_are_no_weights(self):
        parallel = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 0)])
        for multigraph in (parallel, nx.MultiGraph(nx.karate_club_graph())):
            with pytest.raises(GraphError, match=r"keys of a networkx multigraph(.|\n)*G\.edges"):
                as_graph(list(multigraph.edges))
            assert as_graph(list(multigraph.edges), weight=None).m == as_graph(multigraph).m

    def test_weights_that_start_at_zero_are_weights(self):
        assert as_graph([("a", "b", 0), ("b", "c", 2)]).is_weighted

    def test_three_pairs_in_a_tuple_are_refused(self):
        with pytest.raises(GraphError, match=r"could hold three edges(.|\n)*Pass list\(edges\)"):
            as_graph(((0, 1), (1, 2), (2, 0)))
        assert as_graph(([0, 1], [1, 2], [2, 5])).weights is not None

    def test_sets_are_refused_as_edges(self):
        for edges in ([frozenset((0, 1)), frozenset((1, 2))], [{1, 2}, {3}]):
            with pytest.raises(GraphError, match=r"list of sets(.|\n)*\[tuple\(edge\)"):
                as_graph(edges)
        with pytest.raises(GraphError, match="must be arrays with one entry per edge, got set"):
            as_graph(({0, 1}, {1, 2}))

    def test_tables_without_column_names_hold_edges(self):
        edges = list(nx.karate_club_graph().edges)
        assert as_graph(pd.DataFrame(edges)).m == 78
        weighted = as_graph(pd.DataFrame([(u, v, 2.5) for u, v in edges]))
        assert weighted.is_weighted
        assert "third column (no header), all 2.5" in weighted.about_weights

    @pytest.mark.parametrize("rows", [[(0, 1), (1, 0)], [(0, 1, 2), (1, 3, 4), (2, 4, 5)]])
    def test_square_tables_without_names_are_ambiguous(self, rows):
        with pytest.raises(GraphError, match=r"could hold edges, or be an adj(.|\n)*to_numpy"):
            as_graph(pd.DataFrame(rows))

    def test_weights_that_are_text_are_said_to_be_no_numbers(self):
        with pytest.raises(WeightError, match=r"weights must be numbers, got '3' on edge"):
            as_graph([("a", "b", "3")])
