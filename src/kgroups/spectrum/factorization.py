"""Exact counts of negative eigenvalues by factorizations, and what these cost."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kgroups._types import CSR, Bools, Floats

# In units of the largest entry; the sign of a smaller pivot may be rounding.
_SMALLEST_PIVOT = 1e-11

SMALL_PATTERN = 800
"""Patterns of at most this many nodes count as dense in a bound on the work."""

# Elimination in rounds ends when the pattern has this many times its first entries, or after so
# many rounds; the rest counts as dense.
_LARGEST_GROWTH = 1.5
_MAX_ROUNDS = 100


class Factor(NamedTuple):
    """Whether the pivot of each node is negative, and how to solve with the matrix.

    By Sylvester's law of inertia a connected component has as many negative eigenvalues as
    negative pivots.
    """

    negative: Bools
    solve: Callable[[Floats], Floats]


def factorize(matrix: Any, *, largest_residual: float = 1e-7) -> Factor | None:
    """Factorize a sparse symmetric matrix with pivots on its diagonal, or return None.

    None means that the pivots cannot be trusted: one is off the diagonal, or so small that its
    sign may be rounding, or solving a system leaves a relative residual above the largest allowed.
    """
    from scipy.sparse.linalg import splu

    try:
        lu = splu(
            matrix.tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        # The matrix is exactly singular.
        return None
    pivots = lu.U.diagonal()
    smallest = float(np.abs(pivots).min(initial=np.inf))
    if smallest <= _SMALLEST_PIVOT * abs(matrix).max() or not np.array_equal(lu.perm_r, lu.perm_c):
        return None
    b = np.random.default_rng(0).standard_normal(matrix.shape[0])
    residual = np.linalg.norm(matrix @ lu.solve(b) - b) / np.linalg.norm(b)
    return Factor((pivots < 0.0)[lu.perm_r], lu.solve) if residual <= largest_residual else None


def negative_eigenvalues(matrix: Floats) -> int:
    """Count the negative eigenvalues of a dense symmetric matrix, which is overwritten.

    The factorization L D L^T with pivots of order 1 and 2 (Bunch and Kaufman) is stable for every
    symmetric matrix. A pivot of order 2 has one negative eigenvalue.
    """
    from scipy.linalg.lapack import dsytrf, dsytrf_lwork

    n = len(matrix)
    if n == 0:
        return 0
    workspace, _ = dsytrf_lwork(n, lower=1)
    # LAPACK wants columns first; the matrix is symmetric, so its transpose avoids a copy.
    factor, pivots, _ = dsytrf(matrix.T, lower=1, lwork=int(workspace), overwrite_a=1)
    single = pivots > 0
    return int(np.count_nonzero(factor.diagonal()[single] < 0.0) + np.count_nonzero(~single) // 2)


def work_budget(entries: int) -> float:
    """Return the number of operations up to which a factorization is always affordable."""
    return max(4e9, 8e4 * entries)


def factorization_work(csr: CSR) -> float:
    """Return a rough bound on the operations that factorizing a connected pattern takes.

    It is the smaller of two. Road maps and meshes have narrow breadth-first levels, which bound
    the width of a band matrix. Other patterns are eliminated in rounds, an independent set of low
    degree at a time, until the fill outgrows the graph; the rest then counts as a dense matrix.
    """
    from scipy import sparse

    n, nnz = len(csr.indptr) - 1, len(csr.indices)
    if n <= SMALL_PATTERN:
        return n**3 / 3.0
    pattern = sparse.csr_array((np.ones(nnz), csr.indices, csr.indptr), shape=(n, n))
    band = n * _level_width(pattern) ** 2
    if band <= work_budget(nnz):
        return band
    pattern.setdiag(0.0)
    pattern.eliminate_zeros()
    jitter = np.random.default_rng(0).random(n)
    for _ in range(_MAX_ROUNDS):
        out = _independent_low_degree(pattern, np.diff(pattern.indptr) + jitter)
        pattern, jitter = _eliminate(pattern, out), jitter[~out]
        if pattern.shape[0] <= SMALL_PATTERN or pattern.nnz > _LARGEST_GROWTH * nnz:
            break
    return min(band, float(pattern.shape[0]) ** 3 / 3.0)


def _level_width(pattern: Any) -> float:
    """Return the root mean square size of a node's breadth-first level from a peripheral node."""
    from scipy.sparse.csgraph import dijkstra

    # Nodes that are not reached count as level 0.
    far = int(np.argmax(np.nan_to_num(dijkstra(pattern, indices=0, unweighted=True), posinf=0.0)))
    distances = np.nan_to_num(dijkstra(pattern, indices=far, unweighted=True), posinf=0.0)
    sizes = np.bincount(distances.astype(np.int64)).astype(float)
    # The work of a band is the sum over its rows of the squared width around them.
    return float(np.sqrt(np.average(np.square(sizes), weights=sizes)))


def _independent_low_degree(pattern: Any, priority: Floats) -> Any:
    """Mark the nodes of low degree that come before all their neighbors."""
    degree = np.diff(pattern.indptr)
    limit = max(2.0 * float(degree.min()), float(np.quantile(degree, 1.0 / 3.0)))
    around = np.full(len(degree), np.inf)
    full = degree > 0
    around[full] = np.minimum.reduceat(priority[pattern.indices], pattern.indptr[:-1][full])
    return (degree <= limit) & (priority < around)


def _eliminate(pattern: Any, out: Any) -> Any:
    """Return the pattern after the elimination of an independent set, with the fill."""
    kept = pattern[~out]
    across = kept[:, out]
    rest = (kept[:, ~out] + across @ across.T).tocsr()
    rest.setdiag(0.0)
    rest.eliminate_zeros()
    rest.data[:] = 1.0
    return rest
