"""Local moving of nodes between neighbouring groups, on one level and on many."""

import numpy as np

from kgroups._csr import readonly, rows_of
from kgroups._types import CSR, Floats, Indices, Ints

__all__ = ["coarse_graph", "local_moves", "multilevel_groups", "relabelled"]

# Differences below this are rounding of sums of links, not reasons to move.
_ROUNDING = 1e-9
_FEW_CELLS = 10_000


def relabelled(z: Ints) -> tuple[Ints, int]:
    """Return labels 0, 1, ... in the order in which the groups first appear, and their number."""
    names, first, inverse = np.unique(z, return_index=True, return_inverse=True)
    rank = np.empty(names.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(names.size)
    return rank[inverse], int(names.size)


def local_moves(
    A: CSR,
    strength: Floats,
    penalty: Floats,
    z: Ints,
    *,
    k: int,
    margin: float = 0.0,
    may_empty: bool = False,
    max_sweeps: int = 20,
) -> Ints:
    r"""Move nodes while :math:`\sum_a 2 E_a - \gamma K_a^2 / 2m` rises; ``penalty`` is gamma/2m.

    ``penalty`` has one value per node, so that parts of a graph can each have their own null
    model. A move must be worth more than ``margin`` edges.
    """
    from kgroups.seed._moving_nb import move_nodes

    z = z.astype(np.int64, copy=True)
    total = np.asarray(np.bincount(z, weights=strength, minlength=k), dtype=float)
    size = np.bincount(z, minlength=k)
    link, touched = np.zeros(k), np.zeros(k, dtype=np.int64)
    move_nodes(
        readonly(A),
        strength,
        penalty,
        margin + _ROUNDING,
        may_empty,
        max_sweeps,
        z,
        total,
        size,
        link,
        touched,
    )
    return z


def coarse_graph(A: CSR, z: Ints, k: int) -> CSR:
    """Return the graph of groups: weights between them summed, inner weights on the diagonal."""
    if k * k <= 4 * len(A.indices) + _FEW_CELLS:
        # A table of all pairs of groups is no larger than the graph, and quicker to fill.
        cell = np.multiply(z, k, dtype=np.int64)[rows_of(A)] + z[A.indices]
        table = np.asarray(np.bincount(cell, weights=A.data, minlength=k * k), dtype=float)
        filled = np.flatnonzero(table)
        indptr = np.searchsorted(filled, np.arange(0, k * k + 1, k) if k else [0])
        return _like(A, indptr, filled % max(k, 1), table[filled])
    from scipy import sparse

    n = z.size
    matrix = sparse.csr_array((A.data, A.indices, A.indptr), shape=(n, n))
    group = sparse.csr_array((np.ones(n), z, np.arange(n + 1)), shape=(n, k))
    coarse = (group.T @ matrix @ group).tocsr()
    coarse.sort_indices()
    return _like(A, coarse.indptr, coarse.indices, coarse.data)


def _like(A: CSR, indptr: Indices, indices: Indices, data: Floats) -> CSR:
    """Return a CSR with the index type of A, for which the kernels are compiled."""
    kind = A.indices.dtype
    return CSR(indptr.astype(kind), indices.astype(kind), data)


def multilevel_groups(A: CSR, strength: Floats, penalty: Floats) -> tuple[Ints, int]:
    """Move single nodes, then groups of groups, until nothing moves; polish on the way down.

    Returns
    -------
    z : ndarray of shape (n,)
        Groups, each inside one connected part of the graph.
    k : int
        Number of groups.
    """
    levels = []
    while True:
        n = strength.size
        z = local_moves(A, strength, penalty, np.arange(n), k=n, may_empty=True)
        z, k = relabelled(z)
        if k == n:
            break
        levels.append((A, strength, penalty, z))
        A = coarse_graph(A, z, k)
        strength = np.asarray(np.bincount(z, weights=strength, minlength=k), dtype=float)
        coarse_penalty = np.empty(k)
        coarse_penalty[z] = penalty
        penalty = coarse_penalty
    z = np.arange(n)
    for A, strength, penalty, inner in reversed(levels):
        z = local_moves(A, strength, penalty, z[inner], k=k, may_empty=True)
    return relabelled(z)
