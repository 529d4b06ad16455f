"""Spectral radius of the non-backtracking matrix B, without building B."""

import math

import numpy as np

from kgroups._types import CSR, Floats
from kgroups.errors import ConvergenceError

__all__ = ["nonbacktracking_radius"]

_TOLERANCE = 1e-12
_MAX_STEPS = 20_000


def nonbacktracking_radius(csr: CSR, entries: Floats) -> float:
    r"""Return rho(B) with :math:`B_{(i \to j),(j \to l)} = v_{jl}` for l other than i.

    Parameters
    ----------
    csr : CSR
        Symmetric pattern with sorted columns. A self-loop is one directed edge, its own reverse.
    entries : ndarray
        The positive v of each entry: 1 unweighted, the squared weights in the weighted form.

    Returns
    -------
    float
        0 for a forest.
    """
    if not _has_cycle(csr):
        return 0.0
    scale = float(entries.max())
    return scale * _edge_power_iteration(csr, entries / scale)


def _has_cycle(csr: CSR) -> bool:
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    n, nnz = len(csr.indptr) - 1, len(csr.indices)
    if nnz == 0:
        return False
    rows = np.repeat(np.arange(n), np.diff(csr.indptr))
    loops = int(np.count_nonzero(rows == csr.indices))
    pattern = sparse.csr_array((np.ones(nnz), csr.indices, csr.indptr), shape=(n, n))
    parts = connected_components(pattern, directed=False, return_labels=False)
    return bool((nnz + loops) // 2 > n - parts)


def _edge_power_iteration(csr: CSR, v: Floats) -> float:
    """Iterate on directed edges, with the two-sided quotient that the reversal symmetry gives."""
    lengths = np.diff(csr.indptr)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    reverse = np.argsort(csr.indices, kind="stable")
    x = np.ones(len(v))
    rho = 0.0
    for _ in range(_MAX_STEPS):
        flow = v * x
        sums = np.bincount(rows, weights=flow, minlength=len(lengths))
        y = sums[csr.indices] - flow[reverse]
        left = flow[reverse]
        below = float(left @ x)
        if below > 0.0:
            quotient = float(left @ y) / below
            residual = float(np.linalg.norm(y - quotient * x) / np.linalg.norm(x))
            rho = quotient
            if residual <= math.sqrt(_TOLERANCE) * max(abs(quotient), 1e-300):
                return rho
        # The shift breaks the period of bipartite-like graphs.
        x = y + max(rho, 0.1) * 0.5 * x
        x /= float(np.linalg.norm(x))
    msg = f"the non-backtracking radius did not settle in {_MAX_STEPS} steps; the last value was {rho}."
    raise ConvergenceError(msg)
