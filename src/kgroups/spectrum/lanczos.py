"""Top eigenpairs of N_r."""

import numpy as np

from kgroups._types import Floats
from kgroups.operators import BoundBetheHessian

__all__ = ["top_eigenpairs"]

_DENSE_NODES = 400


def top_eigenpairs(bound: BoundBetheHessian, count: int) -> tuple[Floats, Floats]:
    """Return the ``count`` largest eigenvalues of N_r, falling, and their eigenvectors."""
    n = bound.n
    if n <= _DENSE_NODES or 3 * count >= n:
        lam, V = np.linalg.eigh(bound.normalized_dense())
    else:
        from scipy.sparse.linalg import eigsh

        start = np.sqrt(bound.diagonal) * (1.0 + 0.1 * np.random.default_rng(0).random(n))
        lam, V = eigsh(bound.normalized_matrix(), k=count, which="LA", v0=start)
    order = np.argsort(-lam, kind="stable")[:count]
    return lam[order], _with_fixed_signs(V[:, order])


def _with_fixed_signs(V: Floats) -> Floats:
    if V.size == 0:
        return V
    rounded = np.round(np.abs(V) / np.abs(V).max(axis=0), 8)
    peak = V[np.argmax(rounded, axis=0), np.arange(V.shape[1])]
    return V * np.where(peak < 0, -1.0, 1.0)
