"""A bound on the work of a sparse factorisation, found by eliminating the pattern in rounds."""

from typing import Any

import numpy as np

from kgroups._types import CSR, Floats

__all__ = ["factorisation_work", "work_budget"]

_SMALL = 800
_GROWTH = 1.5
_MAX_ROUNDS = 100


def work_budget(entries: int) -> float:
    """Return the number of operations below which a factorisation is worth it in any case."""
    return max(4e9, 8e4 * entries)


def factorisation_work(csr: CSR) -> float:
    """Return a rough bound on the operations that factorising a connected pattern takes.

    Two cheap bounds are tried. Graphs that are long in some direction, as road maps and meshes are,
    have narrow breadth-first levels, and a band as narrow as these would do. Others
    are eliminated in rounds, an independent set of low degree at a time, until the fill outgrows
    the graph; what remains then counts as a dense matrix. A large random graph shows after a few
    rounds that it is too much.
    """
    from scipy import sparse

    n, nnz = len(csr.indptr) - 1, len(csr.indices)
    if n <= _SMALL:
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
        if pattern.shape[0] <= _SMALL or pattern.nnz > _GROWTH * nnz:
            break
    return min(band, float(pattern.shape[0]) ** 3 / 3.0)


def _level_width(pattern: Any) -> float:
    """Return the root mean square size of the breadth-first level of a node, from the rim."""
    from scipy.sparse.csgraph import dijkstra

    far = int(np.argmax(_finite(dijkstra(pattern, indices=0, unweighted=True))))
    level = _finite(dijkstra(pattern, indices=far, unweighted=True)).astype(np.int64)
    sizes = np.bincount(level).astype(float)
    # The work of a band is the sum over its rows of the squared width around them.
    return float(np.sqrt(np.average(np.square(sizes), weights=sizes)))


def _finite(distances: Floats) -> Floats:
    return np.where(np.isfinite(distances), distances, 0.0)


def _independent_low_degree(pattern: Any, priority: Floats) -> Any:
    """Mark the nodes among the third of least degree that come before all their neighbours."""
    degree = np.diff(pattern.indptr)
    limit = max(2.0 * float(degree.min()), float(np.quantile(degree, 1.0 / 3.0)))
    around = np.full(len(degree), np.inf)
    full = degree > 0
    around[full] = np.minimum.reduceat(priority[pattern.indices], pattern.indptr[:-1][full])
    return (degree <= limit) & (priority < around)


def _eliminate(pattern: Any, out: Any) -> Any:
    kept = pattern[~out]
    across = kept[:, out]
    rest = (kept[:, ~out] + across @ across.T).tocsr()
    rest.setdiag(0.0)
    rest.eliminate_zeros()
    rest.data[:] = 1.0
    return rest
