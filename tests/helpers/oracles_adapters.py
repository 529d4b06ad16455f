"""Slow twins of the adapters: dense matrices filled edge by edge."""

import numpy as np


def adjacency(n, edges):
    """Sum the weights of edges (u, v, w) into a symmetric matrix, a self-loop once."""
    A = np.zeros((n, n))
    for u, v, w in edges:
        A[u, v] += w
        if u != v:
            A[v, u] += w
    return A


def multiplicities(n, edges):
    """Count the edges between each pair of nodes."""
    return adjacency(n, [(u, v, 1) for u, v, _ in edges])


def dense(graph):
    """The adjacency matrix of a Graph, read slot by slot."""
    A = np.zeros((graph.n, graph.n))
    values = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    for i in range(graph.n):
        for t in range(graph.indptr[i], graph.indptr[i + 1]):
            A[i, graph.indices[t]] = values[t]
    return A


def dense_counts(graph):
    """How many edges stand between each pair of nodes of a Graph."""
    counts = graph.multiplicity
    values = np.ones(len(graph.indices)) if counts is None else counts
    A = np.zeros((graph.n, graph.n))
    for i in range(graph.n):
        for t in range(graph.indptr[i], graph.indptr[i + 1]):
            A[i, graph.indices[t]] = values[t]
    return A


def assert_well_formed(graph):
    """Everything that a Graph promises about its arrays."""
    assert graph.indptr[0] == 0
    assert graph.indptr[-1] == len(graph.indices)
    assert len(graph.nodes) == graph.n
    assert len(set(graph.nodes)) == graph.n
    assert graph.indices.dtype == graph.indptr.dtype == np.int32
    assert not graph.indices.flags.writeable
    for i in range(graph.n):
        row = graph.indices[graph.indptr[i] : graph.indptr[i + 1]].tolist()
        assert row == sorted(set(row))
    A, counts = dense(graph), dense_counts(graph)
    assert np.array_equal(A, A.T)
    assert np.array_equal(counts, counts.T)
    assert graph.weights is None or not np.all(graph.weights == 1) or graph.multiplicity is not None
    assert graph.multiplicity is None or graph.multiplicity.max() > 1


def assert_same_graph(one, other):
    """The same nodes in any order, the same edges, weights and multiplicities."""
    assert set(one.nodes) == set(other.nodes)
    place = {name: i for i, name in enumerate(other.nodes)}
    order = [place[name] for name in one.nodes]
    assert np.array_equal(dense(one), dense(other)[np.ix_(order, order)])
    assert np.array_equal(dense_counts(one), dense_counts(other)[np.ix_(order, order)])
    assert (one.weights is None) == (other.weights is None)
    assert (one.multiplicity is None) == (other.multiplicity is None)
