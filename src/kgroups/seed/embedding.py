"""Rows in which nodes of one community lie close together."""

from typing import Literal, TypeAlias

import numpy as np

from kgroups._types import Floats
from kgroups.operators import BoundBetheHessian
from kgroups.spectrum import top_eigenpairs

__all__ = ["Rows", "embedding_rows", "informative_eigenpairs"]

Rows: TypeAlias = Literal["normalized", "raw"]

_DENSE_NODES = 1_500
# Ties between symmetric nodes must not be settled by the last digits of an eigensolver.
_DIGITS = 10


def informative_eigenpairs(
    bound: BoundBetheHessian, count: int, rows: Rows
) -> tuple[Floats, Floats]:
    """Return eigenvalues, most informative first, and their eigenvectors as columns.

    For ``"normalized"`` rows these are the top eigenpairs of N_r; for ``"raw"`` rows the lowest
    eigenvectors of H_r, as in the paper, with the sign of the eigenvalues turned.
    """
    if rows == "normalized":
        return top_eigenpairs(bound, count)
    H = bound.matrix()
    if bound.n <= _DENSE_NODES or 3 * count >= bound.n:
        lam, V = np.linalg.eigh(H.toarray())
        return -lam[:count], V[:, :count]
    from scipy.sparse.linalg import eigsh

    width = min(bound.n, 3 * count + 20)
    lam, V = eigsh(H, k=count, which="SA", v0=np.sqrt(bound.diagonal), ncv=width)
    order = np.argsort(lam, kind="stable")
    return -lam[order], V[:, order]


def embedding_rows(V: Floats, rows: Rows) -> Floats:
    """Return one row of coordinates per node.

    Rows of length 1 put the nodes of a community at one point whatever their degree.
    """
    if rows == "raw":
        return np.round(V, _DIGITS)
    length = np.sqrt(np.einsum("ic,ic->i", V, V))
    scaled: Floats = V / np.maximum(length, np.finfo(float).tiny)[:, None]
    return np.round(scaled, _DIGITS)
