"""Every input type gives the same Graph, equal to the slow oracle and to networkx."""

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from helpers import oracles_adapters as oracles
from helpers.strategies_adapters import edge_lists, name_lists, sparse_formats
from kgroups.adapters import as_graph
from kgroups.errors import DirectedGraphError, WeightError
from kgroups.graph import Graph, canonical_order


@given(edge_lists(), st.sampled_from(["weight", None]))
def test_networkx_conversion_equals_the_oracle_and_networkx(case, weight):
    G = case.to_networkx()
    graph = as_graph(G, weight=weight)
    oracles.assert_well_formed(graph)
    edges = case.weighted_edges() if weight else [(u, v, 1) for u, v, _ in case.edges]
    assert tuple(graph.nodes) == case.names
    assert np.array_equal(oracles.dense(graph), oracles.adjacency(case.n, edges))
    assert np.array_equal(oracles.dense_counts(graph), oracles.multiplicities(case.n, case.edges))
    assert graph.m == G.number_of_edges()
    assert graph.n_loops == nx.number_of_selfloops(G)
    if case.n:
        assert np.array_equal(graph.to_scipy().toarray(), nx.to_numpy_array(G, weight=weight))


@given(edge_lists(), st.sampled_from(["weight", None]))
def test_dicts_of_neighbors_equal_the_graph(case, weight):
    G = case.to_networkx()
    graph = as_graph(G, weight=weight)
    for neighbors in (G.adj, nx.to_dict_of_dicts(G), dict(G.adjacency())):
        found = as_graph(neighbors, weight=weight)
        oracles.assert_well_formed(found)
        oracles.assert_same_graph(found, graph)
    simple = as_graph(nx.Graph(G), weight=None)
    oracles.assert_same_graph(as_graph(nx.to_dict_of_lists(G)), simple)


@given(edge_lists(), st.sampled_from(["weight", None]))
def test_lists_of_edges_equal_the_graph_without_isolated_nodes(case, weight):
    G = case.to_networkx()
    graph = as_graph(G.subgraph([node for node in G if G.degree(node)]), weight=weight)
    triples = [(u, v, 1 if w is None else w) for u, v, w in G.edges(data="weight")]
    for edges in (G.edges, list(G.edges(data=True)), triples):
        found = as_graph(edges, weight=weight)
        oracles.assert_well_formed(found)
        oracles.assert_same_graph(found, graph)


@given(edge_lists(parallel=False))
def test_adjacency_tables_equal_the_graph(case):
    G = case.to_networkx()
    # An entry of zero is no edge.
    G.remove_edges_from([(u, v) for u, v, w in G.edges(data="weight", default=1) if w == 0])
    if case.n:
        names = pd.Index(np.fromiter(case.names, object, case.n), tupleize_cols=False)
        frame = pd.DataFrame(nx.to_numpy_array(G), index=names, columns=names)
        oracles.assert_same_graph(as_graph(frame), as_graph(G))


@given(edge_lists(), st.data())
def test_views_equal_their_copies(case, data):
    G = case.to_networkx()
    kept = [name for name in G if data.draw(st.booleans())]
    view = G.subgraph(kept)
    graph = as_graph(view)
    oracles.assert_well_formed(graph)
    oracles.assert_same_graph(graph, as_graph(view.copy()))


@given(edge_lists(), st.sampled_from(["weight", None]))
def test_igraph_conversion_equals_the_oracle(case, weight):
    G = case.to_igraph()
    edges = case.weighted_edges() if weight else [(u, v, 1) for u, v, _ in case.edges]
    expected = oracles.adjacency(case.n, edges)
    graph = as_graph(G, weight=weight)
    oracles.assert_well_formed(graph)
    assert tuple(graph.nodes) == case.names
    assert np.array_equal(oracles.dense(graph), expected)
    assert graph.m == G.ecount()


@given(edge_lists(weights="all", parallel=False), sparse_formats, st.booleans())
def test_matrices_of_every_format_equal_their_entries(case, kind, as_array):
    matrix = case.to_matrix().asformat(kind)
    given_matrix = matrix if as_array else _as_spmatrix(matrix)
    graph = as_graph(given_matrix)
    oracles.assert_well_formed(graph)
    assert np.array_equal(oracles.dense(graph), matrix.toarray())
    assert np.array_equal(oracles.dense(as_graph(matrix.toarray())), matrix.toarray())
    binary = as_graph(given_matrix, weight=None)
    assert np.array_equal(oracles.dense(binary), matrix.toarray() != 0)


def _as_spmatrix(array):
    return getattr(sparse, f"{array.format}_matrix")(array)


def _used(case):
    """Leave out what arrays and tables cannot say: nodes without an edge."""
    used = sorted({end for u, v, _ in case.edges for end in (u, v)})
    place = {old: new for new, old in enumerate(used)}
    edges = tuple((place[u], place[v], w) for u, v, w in case.edges)
    return type(case)(tuple(case.names[i] for i in used), edges, case.parallel)


@given(edge_lists())
def test_arrays_equal_networkx_whatever_the_names(case):
    case = _used(case)
    graph = as_graph(case.to_arrays())
    oracles.assert_well_formed(graph)
    oracles.assert_same_graph(graph, as_graph(case.to_networkx()))


@given(edge_lists(names=name_lists().filter(lambda names: len({type(x) for x in names}) == 1)))
def test_tables_equal_arrays(case):
    case = _used(case)
    source, target, weight = case.to_arrays()
    columns = {"source": source, "target": target, "weight": weight}
    frame = pd.DataFrame({key: pd.Series(list(values)) for key, values in columns.items()})
    oracles.assert_same_graph(as_graph(frame), as_graph((source, target, weight)))
    if all(_fits_arrow(name) for name in case.names):
        table = pa.table(columns)
        oracles.assert_same_graph(as_graph(table), as_graph((source, target, weight)))


def _fits_arrow(name):
    return isinstance(name, str) or (isinstance(name, int) and -(2**63) <= name < 2**63)


@given(edge_lists(weights="some"))
def test_union_makes_every_input_binary(case):
    pattern = oracles.multiplicities(case.n, case.edges) > 0
    for form in (case.to_networkx(), case.to_igraph(), as_graph(case.to_networkx())):
        graph = as_graph(form, symmetrize="union")
        assert graph.weights is None
        assert graph.multiplicity is None
        assert np.array_equal(oracles.dense(graph), pattern)


@given(edge_lists(weights="some"))
def test_sum_adds_both_directions_of_directed_graphs(case):
    A = np.zeros((case.n, case.n))
    for u, v, w in case.weighted_edges():
        A[u, v] += w
    expected = A + A.T - np.diag(np.diag(A))
    D = nx.MultiDiGraph()
    D.add_nodes_from(case.names)
    for u, v, w in case.weighted_edges():
        D.add_edge(case.names[u], case.names[v], weight=w)
    assert np.array_equal(oracles.dense(as_graph(D, symmetrize="sum")), expected)
    if not np.array_equal(A, A.T):
        assert np.array_equal(oracles.dense(as_graph(A, symmetrize="sum")), expected)


@given(edge_lists(), st.randoms(use_true_random=False))
def test_canonical_order_does_not_depend_on_the_order_of_the_nodes(case, random):
    graph = as_graph(case.to_networkx())
    shuffled = list(range(graph.n))
    random.shuffle(shuffled)
    other = graph.permuted(np.array(shuffled, dtype=np.int64))
    (order, how), (order2, how2) = canonical_order(graph), canonical_order(other)
    names = list(graph.nodes) if order is None else [graph.nodes[i] for i in order]
    names2 = list(other.nodes) if order2 is None else [other.nodes[i] for i in order2]
    if "input order" not in (how, how2):
        assert names == names2
    else:
        assert how == how2


@given(edge_lists(), st.randoms(use_true_random=False))
def test_permuting_moves_rows_names_weights_and_multiplicities(case, random):
    graph = as_graph(case.to_networkx())
    order = list(range(graph.n))
    random.shuffle(order)
    moved = graph.permuted(np.array(order, dtype=np.int64))
    oracles.assert_well_formed(moved)
    assert list(moved.nodes) == [graph.nodes[i] for i in order]
    assert np.array_equal(oracles.dense(moved), oracles.dense(graph)[np.ix_(order, order)])
    oracles.assert_same_graph(moved, graph)


@given(edge_lists())
def test_from_edges_equals_the_oracle(case):
    edges = case.weighted_edges()
    columns = ([edge[part] for edge in edges] for part in range(3))
    graph = Graph.from_edges(*columns, n=case.n)
    oracles.assert_well_formed(graph)
    assert np.array_equal(oracles.dense(graph), oracles.adjacency(case.n, edges))
    assert np.allclose(graph.degrees, oracles.dense(graph).sum(axis=1))


bad_weights = st.sampled_from([-1.0, float("nan"), float("inf"), "1", None])
graph_kinds = st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])


@settings(max_examples=300)
@given(edge_lists(), graph_kinds, st.lists(bad_weights, max_size=2), st.data())
def test_every_networkx_graph_is_converted_or_refused_for_what_it_is(case, kind, bad, data):
    G = kind()
    G.add_nodes_from(case.names)
    for u, v, w in case.edges:
        G.add_edge(case.names[u], case.names[v], **({} if w is None else {"weight": w}))
    edges = list(G.edges(data=True))
    for value in bad if edges else ():
        data.draw(st.sampled_from(edges))[2]["weight"] = value
    is_bad = any(_is_bad(attributes.get("weight", 1)) for *_, attributes in edges)
    if G.is_directed():
        with pytest.raises(DirectedGraphError, match="must be undirected"):
            as_graph(G)
    elif is_bad:
        with pytest.raises(WeightError, match=r"must be (finite and >= 0|numbers), got"):
            as_graph(G)
    else:
        oracles.assert_well_formed(as_graph(G))
    binary = as_graph(G, weight=None, symmetrize="union")
    oracles.assert_well_formed(binary)
    assert tuple(binary.nodes) == case.names


def _is_bad(weight):
    return not isinstance(weight, int | float) or not 0 <= weight < float("inf")
