"""Reference versions of the operators and the counts, from dense matrices and definitions."""

import networkx as nx
import numpy as np
from scipy.linalg import lapack


def bethe_hessian(A, r):
    d = A.sum(axis=1)
    return (r * r - 1.0) * np.eye(len(A)) - r * A + np.diag(d)


def weighted_bethe_hessian(W, r):
    n = len(W)
    H = np.eye(n)
    for i in range(n):
        for j in range(n):
            if W[i, j] > 0:
                rest = r * r - W[i, j] ** 2
                H[i, i] += W[i, j] ** 2 / rest
                H[i, j] -= r * W[i, j] / rest
    return H


def nonbacktracking_radius(V):
    """Return the spectral radius of B over directed edges; a loop is its own reverse."""
    n = len(V)
    edges = [(i, j) for i in range(n) for j in range(n) if V[i, j] > 0]
    if not edges:
        return 0.0
    slot = {edge: t for t, edge in enumerate(edges)}
    B = np.zeros((len(edges), len(edges)))
    for (i, j), t in slot.items():
        for following in range(n):
            if V[j, following] > 0 and following != i:
                B[t, slot[j, following]] = V[j, following]
    return float(np.abs(np.linalg.eigvals(B)).max())


def two_core(A):
    graph = nx.from_numpy_array((A > 0).astype(int))
    looped = np.diag(A) > 0
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    # A pendant triangle does to the core what a loop does.
    for i in np.flatnonzero(looped).tolist():
        graph.add_edges_from([(i, ("a", i)), (("a", i), ("b", i)), (("b", i), i)])
    core = set(nx.k_core(graph, 2))
    return np.array([i in core for i in range(len(A))], dtype=bool)


def components(A):
    graph = nx.from_numpy_array((A > 0).astype(int))
    label = np.empty(len(A), dtype=np.int64)
    parts = sorted((min(part), part) for part in nx.connected_components(graph))
    for a, (_, part) in enumerate(parts):
        label[list(part)] = a
    return len(parts), label


def positive_pivots(M, shift):
    """Return how many eigenvalues of a symmetric matrix, which is overwritten, are above a shift.

    By Sylvester's law of inertia they are as many as positive pivots of M - shift I. The
    factorization of Bunch and Kaufman takes two rows at once where a pivot would be small, of which
    one counts.
    """
    M[np.diag_indices_from(M)] -= shift
    factor, swapped, info = lapack.dsytrf(M.T, lower=1, overwrite_a=1)
    assert info == 0
    single = swapped > 0
    return int(np.count_nonzero(np.diag(factor)[single] > 0.0)) + np.count_nonzero(~single) // 2
