"""Kernels on thin blocks of float32 columns, for the rows from ``start`` to before ``stop``."""

from typing import Any

import numpy as np
from numba import njit

__all__ = ["add_product", "multiply_rows", "products_by_column", "weighted_products"]


@njit(cache=True, nogil=True)
def multiply_rows(
    indptr: Any,
    indices: Any,
    coupling: Any,
    scale: Any,
    start: int,
    stop: int,
    alpha: Any,
    beta: Any,
    shift: Any,
    X: Any,
    out: Any,
) -> None:
    """Set ``out = alpha (diag(scale) G X + shift X) + beta out`` on some rows.

    G has the entries ``coupling``, or ones where that is empty. With ``beta`` 0 the old content
    of ``out`` is not read.
    """
    columns = X.shape[1]
    unit = coupling.size == 0
    b = alpha * shift
    if columns == 1:
        # A sum in a register, not in memory, is three times as fast.
        for i in range(start, stop):
            single = np.float32(0.0)
            for t in range(indptr[i], indptr[i + 1]):
                single += X[indices[t], 0] if unit else coupling[t] * X[indices[t], 0]
            single = alpha * scale[i] * single + b * X[i, 0]
            out[i, 0] = single if beta == 0.0 else single + beta * out[i, 0]
        return
    total = np.empty(columns, np.float32)
    for i in range(start, stop):
        for c in range(columns):
            total[c] = 0.0
        if unit:
            for t in range(indptr[i], indptr[i + 1]):
                j = indices[t]
                for c in range(columns):
                    total[c] += X[j, c]
        else:
            for t in range(indptr[i], indptr[i + 1]):
                j = indices[t]
                g = coupling[t]
                for c in range(columns):
                    total[c] += g * X[j, c]
        a = alpha * scale[i]
        if beta == 0.0:
            for c in range(columns):
                out[i, c] = a * total[c] + b * X[i, c]
        else:
            for c in range(columns):
                out[i, c] = a * total[c] + b * X[i, c] + beta * out[i, c]


@njit(cache=True, nogil=True)
def weighted_products(w: Any, X: Any, Y: Any, start: int, stop: int, out: Any) -> None:
    """Set ``out = X^T diag(w) Y`` over some rows; sums of float32 products in float64."""
    out[:] = 0.0
    for i in range(start, stop):
        for a in range(X.shape[1]):
            x = np.float64(w[i] * X[i, a])
            for b in range(Y.shape[1]):
                out[a, b] += x * Y[i, b]


@njit(cache=True, nogil=True)
def products_by_column(w: Any, X: Any, Y: Any, start: int, stop: int, out: Any) -> None:
    """Set ``out[0, c]`` to ``X_c^T diag(w) X_c`` and ``out[1, c]`` to ``X_c^T diag(w) Y_c``."""
    out[:] = 0.0
    for i in range(start, stop):
        for c in range(X.shape[1]):
            x = np.float64(w[i]) * X[i, c]
            out[0, c] += x * X[i, c]
            out[1, c] += x * Y[i, c]


@njit(cache=True, nogil=True)
def add_product(X: Any, S: Any, start: int, stop: int, out: Any) -> None:
    """Add ``X @ S`` to ``out`` on some rows."""
    for i in range(start, stop):
        for a in range(X.shape[1]):
            x = X[i, a]
            for b in range(S.shape[1]):
                out[i, b] += x * S[a, b]
