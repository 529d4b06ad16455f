"""The input policy, row by row, through the public functions and the kinds of input.

What is read from each kind of input in detail is tested with the adapters, order and hash seeds
in ``test_determinism.py``.
"""

import igraph
import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import kgroups as kg
from helpers.input_forms import (
    EXPECTED,
    NAMED_FORMS,
    SPARSE_FORMATS,
    TRIANGLES,
    every_named_form,
    networkx_of,
    one_community,
)
from kgroups.errors import GraphError, InputError, NumberOfCommunitiesError

WITHOUT_EDGES = {
    "networkx": [nx.Graph(), nx.empty_graph(1), nx.empty_graph(3)],
    "igraph": [igraph.Graph(), igraph.Graph(n=1), igraph.Graph(n=3)],
    "sparse": [sparse.csr_array((n, n)) for n in (0, 1, 3)],
    "dense": [np.zeros((n, n)) for n in (0, 1, 3)],
    "graph": [kg.Graph.from_edges([], [], n=n) for n in (0, 1, 3)],
}


class TestTheSameGraphInEveryForm:
    @every_named_form
    def test_named_nodes_come_back_by_name(self, form):
        assert set(kg.detect_communities(form(TRIANGLES))) == EXPECTED

    @pytest.mark.parametrize("form", [*SPARSE_FORMATS, "dense", "graph"])
    def test_matrices_give_row_numbers(self, form):
        A = nx.to_scipy_sparse_array(nx.barbell_graph(3, 0), weight=None)
        given = {"dense": A.toarray(), "graph": kg.as_graph(A)}.get(form)
        partition = kg.detect_communities(A.asformat(form) if given is None else given)
        assert set(partition) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}

    @pytest.mark.parametrize("value", [None, 3, 2.5, b"ab", object(), nx.Graph])
    def test_what_is_no_graph_is_named(self, value):
        with pytest.raises(GraphError, match=r"a graph is needed, got(.|\n)*Pass a networkx"):
            kg.detect_communities(value)


class TestParallelEdges:
    @pytest.mark.parametrize("name", sorted(NAMED_FORMS.keys() - {"networkx", "networkx view"}))
    def test_weights_are_summed(self, name):
        edges = [("a", "b", 1.5), ("b", "a", 2.0), ("b", "c", 1.0)]
        A = kg.as_graph(NAMED_FORMS[name](edges)).to_scipy().toarray()
        np.testing.assert_array_equal(A, [[0, 3.5, 0], [3.5, 0, 1], [0, 1, 0]])

    @pytest.mark.parametrize("name", sorted(NAMED_FORMS.keys() - {"networkx", "networkx view"}))
    def test_without_weights_their_number_counts(self, name):
        graph = kg.as_graph(NAMED_FORMS[name]([("a", "b"), ("b", "a"), ("b", "c")]))
        np.testing.assert_array_equal(graph.to_scipy().toarray(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])
        assert graph.m == 3

    def test_detection_sees_the_sum(self):
        M, G = nx.MultiGraph(), nx.Graph()
        for u, v in nx.karate_club_graph().edges:
            count = 1 + (u * v) % 3
            M.add_edges_from([(u, v)] * count)
            G.add_edge(u, v, weight=count)
        assert kg.detect_communities(M) == kg.detect_communities(G)
        assert kg.estimate_k(M) == kg.estimate_k(G)


class TestSelfLoops:
    @pytest.fixture
    def looped(self):
        G = nx.barbell_graph(5, 0)
        G.add_edges_from([(0, 0), (7, 7), (8, 8)])
        return G

    def test_detection_drops_them_and_says_so(self, looped):
        partition = kg.detect_communities(looped)
        assert partition == kg.detect_communities(nx.barbell_graph(5, 0))
        assert partition.report.loops_dropped == 3
        assert "3 self-loops were not used." in partition.report.lines()
        assert kg.estimate_k(looped) == kg.estimate_k(nx.barbell_graph(5, 0))

    def test_kept_loops_are_diagonal_ones_and_count_once_in_the_degree(self, looped):
        A = nx.to_numpy_array(looped)
        d = A.sum(axis=1)
        r = np.sqrt(d.mean())
        H = (r**2 - 1) * np.eye(10) - r * A + np.diag(d)
        spectrum = kg.estimate_k(looped, self_loops="keep")
        assert spectrum.r == pytest.approx(r)
        assert spectrum.k == np.count_nonzero(np.linalg.eigvalsh(H) < 0)
        report = kg.detect_communities(looped, self_loops="keep").report
        assert (report.loops_dropped, report.r) == (0, pytest.approx(r))

    def test_scores_count_them_as_networkx_does(self, looped):
        parts = [set(range(5)), set(range(5, 10))]
        ours = kg.scoring.modularity(looped, parts)
        assert ours == pytest.approx(nx.community.modularity(looped, parts), abs=1e-12)

    def test_a_node_with_nothing_but_a_loop_is_a_community(self):
        G = nx.Graph([(0, 1), (1, 2), (2, 0), ("lone", "lone")])
        assert set(kg.detect_communities(G)) == {frozenset({0, 1, 2}), frozenset({"lone"})}

    @pytest.mark.parametrize(
        "function",
        [
            kg.detect_communities,
            kg.estimate_k,
            lambda G, self_loops: kg.refine_partition(G, one_community(G), self_loops=self_loops),
        ],
    )
    def test_other_words_are_refused(self, function, looped):
        with pytest.raises(InputError, match="self_loops must be one of 'drop', 'keep', got True"):
            function(looped, self_loops=True)


class TestIsolatedNodes:
    @pytest.mark.parametrize("lone", [["i"], ["i", "j", "k"]])
    def test_each_is_its_own_community_when_k_is_found(self, lone):
        G = networkx_of(TRIANGLES)
        G.add_nodes_from(lone)
        assert set(kg.detect_communities(G)) == EXPECTED | {frozenset({name}) for name in lone}
        assert kg.detect_communities(G).report.n_isolated == len(lone)

    def test_matrix_rows_and_vertices_without_edges_are_kept(self):
        A = np.zeros((5, 5))
        A[0, 1] = A[1, 0] = 1
        for form in (A, sparse.csr_array(A), igraph.Graph.Adjacency(A.tolist(), mode="undirected")):
            assert sorted(map(sorted, kg.detect_communities(form))) == [[0, 1], [2], [3], [4]]

    def test_edges_of_weight_zero_connect_nothing_and_lose_nobody(self):
        G = nx.Graph()
        G.add_weighted_edges_from([("a", "b", 1.0), ("b", "c", 0.0), ("d", "e", 0.0)])
        partition = kg.detect_communities(G)
        assert sorted(map(sorted, partition)) == [["a", "b"], ["c"], ["d"], ["e"]]
        assert kg.detect_communities(G, weight=None) == kg.Partition(
            [0, 0, 0, 1, 1], nodes=list("abcde")
        )


class TestDisconnectedGraphs:
    def test_communities_never_span_components(self):
        parts = [nx.karate_club_graph(), nx.complete_graph(4), nx.path_graph(5), nx.star_graph(6)]
        G = nx.disjoint_union_all(parts)
        partition = kg.detect_communities(G, weight=None)
        for component in nx.connected_components(G):
            inside = [c for c in partition if c & component]
            assert set().union(*inside) == component

    def test_a_component_without_signal_is_one_community(self):
        G = nx.disjoint_union_all([nx.cycle_graph(9), nx.path_graph(7), nx.complete_graph(5)])
        assert [len(community) for community in kg.detect_communities(G)] == [9, 7, 5]


class TestKGiven:
    @pytest.mark.parametrize("k", [1, 2, 3, 4, 9, 15])
    def test_exactly_k_communities_even_below_the_number_of_components(self, k):
        G = nx.disjoint_union_all([nx.complete_graph(5), nx.complete_graph(5), nx.empty_graph(5)])
        partition = kg.detect_communities(G, k)
        assert len(partition) == k
        assert nx.community.is_partition(G, partition)
        for community in partition.disconnected:
            assert not nx.is_connected(G.subgraph(community))

    def test_nodes_without_signal_join_the_largest_community_and_are_listed(self):
        G = networkx_of(TRIANGLES)
        G.add_edges_from([("p", "q")])
        G.add_nodes_from(["i", "j"])
        partition = kg.detect_communities(G, 2)
        assert set(partition.uninformed) == {"p", "q", "i", "j"}
        assert set(partition.uninformed) <= partition[0]
        assert partition.disconnected == (partition[0],)
        assert "4 nodes lie in components without signal" in " ".join(partition.report.lines())

    @pytest.mark.parametrize("k", [np.int32(2), np.int64(2), np.uint8(2)])
    def test_whole_numbers_of_numpy_are_whole_numbers(self, k):
        assert set(kg.detect_communities(networkx_of(TRIANGLES), k)) == EXPECTED

    @pytest.mark.parametrize(
        ("k", "shown"),
        [
            (0, "0"),
            (-1, "-1"),
            (2.5, "2.5"),
            (2.0, "2.0"),
            (True, "True"),
            (np.True_, "True"),
            (float("nan"), "nan"),
            ("2", "'2'"),
            ([2], r"\[2\]"),
        ],
    )
    def test_what_is_no_number_of_communities_is_refused(self, k, shown):
        message = rf"k must be a whole number >= 1 or None, got .*{shown}(.|\n)*Leave k out"
        with pytest.raises(NumberOfCommunitiesError, match=message):
            kg.detect_communities(networkx_of(TRIANGLES), k)

    @pytest.mark.parametrize(("G", "k"), [(nx.path_graph(3), 4), (nx.Graph(), 1)])
    def test_more_communities_than_nodes_cannot_be(self, G, k):
        message = (
            rf"must not exceed the number of nodes, got k={k} for {len(G)} nodes(.|\n)*Leave k out"
        )
        with pytest.raises(NumberOfCommunitiesError, match=message):
            kg.detect_communities(G, k)


class TestEstimateAndNumberOfCommunities:
    def test_both_are_in_the_report_with_the_reason(self):
        G = nx.disjoint_union_all([nx.karate_club_graph(), nx.path_graph(3), nx.path_graph(3)])
        partition = kg.detect_communities(G, weight=None)
        assert kg.estimate_k(G, weight=None).k == partition.report.k_hat == 2
        assert len(partition) == partition.report.k_found == 4
        assert partition.report.about_k() == "4 communities in 3 components."
        largest = partition.report.components[0]
        assert (largest.n, largest.k, largest.k_hat) == (34, 2, 2)


class TestSmallCliques:
    @pytest.mark.parametrize(("count", "size"), [(4, 4), (20, 5), (3, 4)])
    def test_they_are_found_and_the_report_says_why(self, count, size):
        partition = kg.detect_communities(nx.ring_of_cliques(count, size))
        assert [len(community) for community in partition] == [size] * count
        said = partition.report.about_k()
        assert "are described better in pieces" in said or "nats shorter" in said
        if (partition.report.k_hat or count) < count:
            assert "which can miss small or faint communities" in said

    @pytest.mark.parametrize("seed", range(10))
    def test_random_graphs_are_not_split(self, seed):
        for G in (
            nx.gnm_random_graph(60, 240, seed=seed),
            nx.random_regular_graph(4, 60, seed=seed),
        ):
            partition = kg.detect_communities(G)
            assert len(partition) == max(1, kg.estimate_k(G).k) == 1


class TestConnectedCommunities:
    @pytest.mark.parametrize("seed", range(10))
    def test_they_are_connected_when_k_is_found(self, seed):
        G = nx.planted_partition_graph(5, 12, 0.5, 0.05, seed=seed)
        partition = kg.detect_communities(G)
        assert partition.disconnected == ()
        assert all(nx.is_connected(G.subgraph(community)) for community in partition)


class TestNextToNothing:
    @pytest.mark.parametrize("form", WITHOUT_EDGES)
    def test_no_edges_is_a_community_per_node(self, form):
        for n, G in zip((0, 1, 3), WITHOUT_EDGES[form], strict=True):
            partition = kg.detect_communities(G)
            assert [len(community) for community in partition] == [1] * n
            assert kg.estimate_k(G).k == 0
            scores = partition.scores()
            assert (scores.k, scores.modularity, scores.coverage) == (n, 0.0, 1.0)
            assert len(kg.refine_partition(G, list(range(n)))) == n

    @pytest.mark.parametrize("columns", [([], []), ([], [], []), (np.array([]), np.array([]))])
    def test_no_rows_is_no_node(self, columns):
        assert len(kg.detect_communities(columns)) == 0

    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_no_edges_with_k_given(self, k):
        partition = kg.detect_communities(nx.empty_graph(3), k)
        assert len(partition) == k

    @pytest.mark.parametrize("weight", [0.0, 5e-324, 1e-300, 1.0, 1e300])
    def test_one_edge(self, weight):
        G = nx.Graph()
        G.add_edge("a", "b", weight=weight)
        assert len(kg.detect_communities(G)) == (1 if weight else 2)
        assert len(kg.detect_communities(G, 2)) == 2
        assert kg.estimate_k(G).k == 0


class TestOrdinaryGraphs:
    """Symmetric graphs too large to be solved densely: no eigensolver may give up on them."""

    GRAPHS = (
        nx.cycle_graph(700),
        nx.path_graph(700),
        nx.star_graph(2000),
        nx.complete_graph(320),
        nx.complete_bipartite_graph(150, 180),
        nx.grid_2d_graph(20, 20),
        nx.grid_2d_graph(18, 20, periodic=True),
        nx.random_regular_graph(3, 600, seed=1),
        nx.disjoint_union_all([nx.complete_graph(6)] * 80),
        nx.barbell_graph(160, 0),
        nx.balanced_tree(2, 8),
    )

    @pytest.mark.parametrize("G", GRAPHS, ids=lambda G: f"{len(G)} nodes, {G.size()} edges")
    def test_they_have_an_answer_with_and_without_k(self, G):
        partition = kg.detect_communities(G)
        assert nx.community.is_partition(G, partition)
        assert partition.disconnected == ()
        assert partition.report.k_hat in (None, kg.estimate_k(G).k)
        for k in (1, 2, 5):
            assert len(kg.detect_communities(G, k)) == k


class TestUnitOfWeights:
    @pytest.mark.parametrize("factor", [1e-300, 1e-3, 1000.0, 1e300])
    @pytest.mark.parametrize("seed", range(8))
    def test_equal_weights_are_no_weights(self, seed, factor):
        for G in (nx.gnm_random_graph(24, 60, seed=seed), nx.ring_of_cliques(3 + seed, 4)):
            weighted = G.copy()
            nx.set_edge_attributes(weighted, factor, "weight")
            assert kg.detect_communities(weighted) == kg.detect_communities(G)
            assert kg.estimate_k(weighted).k_at == kg.estimate_k(G).k_at


class TestRandomness:
    def test_no_rng_is_a_fixed_stream(self):
        G = nx.gnm_random_graph(80, 200, seed=1)
        first = kg.detect_communities(G, 6, rng=None)
        assert kg.detect_communities(G, 6, rng=None) == first
        drawn = kg.detect_communities(G, 6, rng=0)
        assert kg.detect_communities(G, 6, rng=np.random.default_rng(0)) == drawn

    def test_the_global_stream_is_left_alone(self):
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        kg.detect_communities(nx.gnm_random_graph(80, 200, seed=1), 6)
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002

    @pytest.mark.parametrize("rng", [-1, 2.5, True, "seed"])
    def test_what_is_no_rng_is_refused(self, rng):
        with pytest.raises(InputError, match=r"rng must be None, a whole number >= 0 or a numpy"):
            kg.detect_communities(nx.path_graph(4), rng=rng)


class TestTheInputIsLeftAsItWas:
    def test_matrices_and_graphs_are_not_changed(self):
        A = nx.to_numpy_array(networkx_of([(u, v, 2.0) for u, v in TRIANGLES]))
        S, before = sparse.coo_array(A), A.copy()
        G = networkx_of(TRIANGLES)
        edges = list(G.edges(data=True))
        for given in (A, S, G):
            kg.detect_communities(given)
        np.testing.assert_array_equal(A, before)
        np.testing.assert_array_equal(S.toarray(), before)
        assert list(G.edges(data=True)) == edges
