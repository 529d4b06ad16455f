"""Matrices through the networkx backend: the same entries, types and errors as networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.backend_parity import assert_declined, assert_parity
from helpers.strategies_backends import cases
from kgroups.backends.networkx.graph import convert_from_nx

FORMATS = ("csr", "csc", "lil", "dok", "bsr", "dia", "nonsense")


@given(cases(), st.sampled_from(["weight", None, "absent"]), st.sampled_from(FORMATS))
def test_to_scipy_sparse_array(case, weight, form):
    assert_parity(nx.to_scipy_sparse_array, case.graph, weight=weight, format=form)


@given(cases(least_nodes=1), st.data())
def test_to_scipy_sparse_array_of_listed_nodes(case, data):
    nodes = list(case.graph)
    listed = data.draw(st.lists(st.sampled_from([*nodes, "stranger"]), max_size=7))
    assert_parity(nx.to_scipy_sparse_array, case.graph, nodelist=listed)
    assert_parity(nx.to_scipy_sparse_array, case.graph, nodelist=data.draw(st.permutations(nodes)))


@given(cases(), st.sampled_from([float, int, "float32", np.int64]))
def test_to_scipy_sparse_array_of_a_number_type(case, dtype):
    try:
        assert_parity(nx.to_scipy_sparse_array, case.graph, dtype=dtype)
    except NotImplementedError:
        # Rounded edge by edge, before parallel edges are added up: left to networkx.
        weights = [w for *_, w in case.graph.edges(data="weight", default=1)]
        fractions = any(isinstance(w, float) for w in weights)
        assert (np.dtype(dtype).kind == "i" and fractions) or case.graph.is_multigraph()


@given(cases((nx.Graph,)), st.sampled_from([None, 2, 0.5, 1, -1.5]))
def test_bethe_hessian_matrix(case, r):
    assert_parity(nx.bethe_hessian_matrix, case.graph, r)


@given(cases((nx.Graph,), least_nodes=2), st.data())
def test_bethe_hessian_matrix_of_listed_nodes(case, data):
    listed = data.draw(st.permutations(list(case.graph)))
    assert_parity(nx.bethe_hessian_matrix, case.graph, r=2, nodelist=listed)


@given(cases((nx.Graph,), least_nodes=1), st.sampled_from([None, 2, 0.5]))
def test_bethe_hessian_spectrum(case, r):
    assert_parity(nx.bethe_hessian_spectrum, case.graph, r)


def test_bethe_hessian_spectrum_of_a_converted_multigraph_is_left_to_networkx():
    G = convert_from_nx(nx.MultiGraph(nx.path_graph(3)))
    with nx.config(fallback_to_nx=True), pytest.raises(nx.NetworkXNotImplemented):
        nx.bethe_hessian_spectrum(G)


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_bethe_hessian_spectrum_of_directed_graphs_and_multigraphs_is_left_to_networkx(kind):
    G = kind(nx.gnm_random_graph(200, 800, seed=1))
    assert_declined(nx.bethe_hessian_spectrum, G)
    assert_declined(nx.bethe_hessian_spectrum, G, k=2)
    with nx.config.backend_priority(algos=["kgroups"]), pytest.raises(nx.NetworkXNotImplemented):
        nx.bethe_hessian_spectrum(G)


@given(cases((nx.Graph,), least_nodes=1), st.data())
def test_lowest_eigenvalues_are_the_beginning_of_the_spectrum(case, data):
    n = len(case.graph)
    if n == 0:
        return
    every = nx.bethe_hessian_spectrum(case.graph, 1.5, backend="networkx")
    k = data.draw(st.integers(1, n))
    lowest = nx.bethe_hessian_spectrum(case.graph, 1.5, k=k, backend="kgroups")
    np.testing.assert_allclose(lowest, every[:k], atol=1e-9)


@pytest.mark.parametrize(
    "graph",
    [
        nx.planted_partition_graph(5, 160, 0.08, 0.005, seed=1),
        nx.caveman_graph(100, 8),
        nx.disjoint_union(nx.cycle_graph(400), nx.cycle_graph(400)),
        nx.grid_2d_graph(28, 28),
    ],
    ids=["planted", "equal cliques", "equal cycles", "grid"],
)
def test_lowest_eigenvalues_by_lanczos_include_copies(graph):
    every = nx.bethe_hessian_spectrum(graph, 2.5, backend="networkx")
    lowest = nx.bethe_hessian_spectrum(graph, 2.5, k=15, backend="kgroups")
    np.testing.assert_allclose(lowest, every[:15], atol=1e-7)


@pytest.mark.parametrize("k", [0, -1, 4, 2.5, True, "two"])
def test_k_must_be_a_number_of_eigenvalues_that_exist(k):
    with pytest.raises(
        ValueError, match=r"k must (be a whole number >= 1|not exceed the number of nodes), got"
    ):
        nx.bethe_hessian_spectrum(nx.path_graph(3), k=k, backend="kgroups")


def test_bethe_hessian_reads_weights_that_no_earlier_call_needed():
    """networkx keeps the graph of the first call, which was converted without weights."""
    G = nx.karate_club_graph()
    blocks = [set(range(17)), set(range(17, 34))]
    nx.community.modularity(G, blocks, None, backend="kgroups")
    ours = nx.bethe_hessian_matrix(G, backend="kgroups")
    assert (ours != nx.bethe_hessian_matrix(G, backend="networkx")).nnz == 0


def test_matrices_do_not_share_memory_with_the_cache():
    G = nx.path_graph(4)
    first = nx.to_scipy_sparse_array(G, backend="kgroups")
    first.data[:] = 7
    first.indices[:] = 0
    second = nx.to_scipy_sparse_array(G, backend="kgroups")
    assert (second != nx.to_scipy_sparse_array(G, backend="networkx")).nnz == 0


def test_entries_in_the_order_of_edges_are_left_to_networkx():
    assert_declined(nx.to_scipy_sparse_array, nx.path_graph(3), format="coo")


def test_a_nodelist_that_is_a_node_is_left_to_networkx():
    G = nx.Graph([((0, 1), 2), (0, 1)])
    assert_declined(nx.to_scipy_sparse_array, G, nodelist=(0, 1))


def test_other_types_are_left_to_networkx():
    assert_declined(nx.to_scipy_sparse_array, nx.path_graph(3), dtype="nonsense")
    assert_declined(nx.bethe_hessian_matrix, nx.path_graph(3), 2j)
