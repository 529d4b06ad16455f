"""Input that ends in an error, in every public function and every form."""

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
    every_public_function,
    networkx_of,
)
from kgroups.errors import DirectedGraphError, GraphError, InputError, PartitionError, WeightError

DIRECTED = {
    "DiGraph": networkx_of(TRIANGLES, nx.DiGraph),
    "MultiDiGraph": networkx_of(TRIANGLES, nx.MultiDiGraph),
    "igraph": igraph.Graph(n=3, edges=[(0, 1), (1, 2)], directed=True),
    "empty DiGraph": nx.DiGraph(),
}

BAD_WEIGHTS = [
    (float("nan"), "nan"),
    (float("inf"), "inf"),
    (float("-inf"), "-inf"),
    (-1.5, r"-1\.5"),
    (-5e-324, "-5e-324"),
]


class TestDirected:
    @every_public_function
    @pytest.mark.parametrize("form", DIRECTED)
    def test_an_error_names_the_ways_on(self, function, form):
        message = (
            r"must be undirected, got a directed \w+ \w+: communities and scores are defined(.|\n)*"
            r'symmetrize="sum"(.|\n)*symmetrize="union"(.|\n)*G\.to_undirected\(\)(.|\n)*one'
        )
        with pytest.raises(DirectedGraphError, match=message):
            function(DIRECTED[form])

    @pytest.mark.parametrize("symmetrize", ["sum", "union"])
    @pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
    def test_each_way_on_leads_somewhere(self, symmetrize, kind):
        D = networkx_of(TRIANGLES, kind)
        assert set(kg.detect_communities(D, symmetrize=symmetrize)) == EXPECTED
        assert kg.estimate_k(D, symmetrize=symmetrize).k == kg.estimate_k(D.to_undirected()).k

    def test_sum_adds_both_directions_and_union_is_binary(self):
        D = nx.DiGraph()
        D.add_weighted_edges_from([("a", "b", 2.0), ("b", "a", 3.0), ("b", "c", 4.0)])
        added = kg.as_graph(D, symmetrize="sum").to_scipy().toarray()
        np.testing.assert_array_equal(added, [[0, 5, 0], [5, 0, 4], [0, 4, 0]])
        union = kg.as_graph(D, symmetrize="union").to_scipy().toarray()
        np.testing.assert_array_equal(union, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])

    @every_named_form
    def test_union_does_not_read_weights(self, form):
        edges = [("a", "b", float("nan")), ("b", "c", -1.0), ("c", "a", 1.0)]
        assert not kg.as_graph(form(edges), symmetrize="union").is_weighted

    def test_other_ways_are_refused(self):
        with pytest.raises(InputError, match="symmetrize must be one of None, 'sum', 'union'"):
            kg.detect_communities(nx.DiGraph(), symmetrize="max")


class TestBadWeights:
    @every_public_function
    @pytest.mark.parametrize(("value", "shown"), BAD_WEIGHTS)
    def test_every_function_names_the_edge(self, function, value, shown):
        G = networkx_of([("ann", "bob", 1.0), ("bob", "cy", value)])
        message = (
            rf"weights must be finite and >= 0, got {shown} on edge \('bob', 'cy'\)\.\n"
            r"  Remove or transform these weights, or pass weight=None"
        )
        with pytest.raises(WeightError, match=message):
            function(G)

    @every_named_form
    @pytest.mark.parametrize(("value", "shown"), BAD_WEIGHTS)
    def test_every_form_names_the_edge(self, form, value, shown):
        edges = [("ann", "bob", 1.0), ("bob", "cy", value), ("cy", "ann", value)]
        with pytest.raises(WeightError, match=rf"got {shown} on edge \(.*\) \(and 1 more\)"):
            kg.detect_communities(form(edges))

    @pytest.mark.parametrize("form", [*SPARSE_FORMATS, "dense"])
    @pytest.mark.parametrize(("value", "shown"), BAD_WEIGHTS)
    def test_matrices_name_the_entry(self, form, value, shown):
        A = np.zeros((3, 3))
        A[0, 1] = A[1, 0] = 1
        A[1, 2] = A[2, 1] = value
        matrix = A if form == "dense" else sparse.csr_array(A).asformat(form)
        with pytest.raises(WeightError, match=rf"got {shown} on edge \(1, 2\) \(and 1 more\)"):
            kg.detect_communities(matrix)

    @pytest.mark.parametrize("name", ["networkx", "igraph", "arrays", "pandas"])
    @pytest.mark.parametrize("value", ["3", b"3", 1j])
    def test_text_and_complex_numbers_are_no_weights(self, name, value):
        G = NAMED_FORMS[name]([("ann", "bob", value)])
        message = r"(>= 0|numbers), got (b?'3'|1j|.*1j.) on edge \('(ann|bob)', '(ann|bob)'\)"
        with pytest.raises(WeightError, match=message):
            kg.detect_communities(G)

    @every_named_form
    def test_weight_none_ignores_them(self, form):
        edges = [(u, v, float("nan")) for u, v in TRIANGLES]
        assert set(kg.detect_communities(form(edges), weight=None)) == EXPECTED

    @pytest.mark.parametrize("largest", [1e16, 1e154, 1e300])
    @pytest.mark.parametrize("weights", ["association", "uniform", "gram"])
    def test_weights_of_any_size_are_no_error(self, largest, weights):
        G = networkx_of([(u, v, 1 / largest) for u, v in TRIANGLES])
        G["a"]["b"]["weight"] = largest
        refine = kg.Hartigan(weights=weights)
        for operator in (kg.BetheHessian(), kg.BetheHessian("second-moment"), kg.BetheHessian(0.5)):
            for k in (None, 2):
                partition = kg.detect_communities(G, k, operator=operator, refine=refine)
                assert nx.community.is_partition(G, partition)


class TestWeightsThatOverflow:
    @pytest.mark.parametrize(
        "edges",
        [
            [("a", "b", 1.7e308), ("b", "c", 1.7e308)],
            [("a", "b", 1e308), ("a", "b", 1e308)],
            [("a", "a", 1.7e308)],
        ],
    )
    @pytest.mark.parametrize("name", ["networkx multigraph", "igraph", "arrays", "pandas"])
    def test_a_sum_beyond_all_numbers_is_refused_in_words(self, name, edges):
        message = r"sum of the edge weights must be finite.*overflows(.|\n)*Divide all weights"
        with pytest.raises(WeightError, match=message):
            kg.detect_communities(NAMED_FORMS[name](edges))


class TestWeightsThatAreNotThere:
    @every_public_function
    def test_a_named_attribute_that_no_edge_has(self, function):
        G = networkx_of([("a", "b", 1.0), ("b", "c", 2.0)])
        message = (
            r"weight must name an edge attribute.*'strength'; it has 'weight'(.|\n)*weight=None"
        )
        with pytest.raises(WeightError, match=message):
            function(G, weight="strength")

    @pytest.mark.parametrize("name", sorted(NAMED_FORMS.keys() - {"arrays", "edge tuples"}))
    def test_every_form_with_names_for_attributes(self, name):
        kind = "column" if name in ("pandas", "pyarrow") else "attribute"
        with pytest.raises(WeightError, match=f"weight must name an edge {kind}.*got 'strength'"):
            kg.detect_communities(NAMED_FORMS[name](TRIANGLES), weight="strength")

    def test_the_usual_name_need_not_be_there(self):
        assert set(kg.detect_communities(networkx_of(TRIANGLES), weight="weight")) == EXPECTED

    @every_public_function
    def test_a_weight_that_is_no_name(self, function):
        with pytest.raises(
            InputError, match="weight must be the name of an edge attribute or None"
        ):
            function(networkx_of(TRIANGLES), weight=2)


class TestMatricesThatAreNoGraphs:
    @pytest.mark.parametrize("matrix", [np.zeros((3, 4)), sparse.csr_array((3, 4))])
    def test_not_square(self, matrix):
        with pytest.raises(GraphError, match=r"must be square, got shape \(3, 4\)"):
            kg.detect_communities(matrix)

    @pytest.mark.parametrize("shape", [(3,), (2, 2, 2)])
    def test_not_two_dimensional(self, shape):
        with pytest.raises(GraphError, match="must be square, got shape"):
            kg.estimate_k(np.zeros(shape))

    @pytest.mark.parametrize("function", [kg.detect_communities, kg.estimate_k])
    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.lil_array])
    def test_not_symmetric(self, function, form):
        A = np.zeros((3, 3))
        A[0, 1], A[1, 0], A[1, 2], A[2, 1] = 1, 1, 2, 3
        message = (
            r"must be symmetric, got 2\.0 from 1 to 2 but 3\.0 from 2 to 1(.|\n)*"
            r'symmetrize="sum"(.|\n)*symmetrize="union"(.|\n)*\(A \+ A\.T\) / 2'
        )
        with pytest.raises(GraphError, match=message):
            function(form(A))
        assert function(form(A), symmetrize="sum") is not None


class TestPartitionsThatDoNotFit:
    @pytest.mark.parametrize(
        ("partition", "message"),
        [
            ([set("abc"), set("xy")], "'z'"),
            ([set("abc"), set("xyzw")], "'w'"),
            ([set("abcx"), set("xyz")], "'x'"),
            ([0, 1, 0], "6"),
        ],
    )
    @pytest.mark.parametrize(
        "function", [kg.refine_partition, kg.scoring.modularity, kg.scoring.scores]
    )
    def test_the_node_is_named(self, function, partition, message):
        with pytest.raises(PartitionError, match=message):
            function(networkx_of(TRIANGLES), partition)
