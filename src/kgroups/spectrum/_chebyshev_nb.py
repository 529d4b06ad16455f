"""Kernels on thin blocks of float32 columns, for the rows from ``start`` to before ``stop``.

Interpreted, numbers read from a block have double precision. Sums are rounded where they are
stored, and products that are added to float32 sums are rounded first, as compiled code does.
"""

from typing import Any

import numpy as np

from kgroups._kernel import kernel
from kgroups._types import Floats, Indices

__all__ = ["add_product", "multiply_rows", "products_by_column", "weighted_products"]


@kernel(seconds=0.36)
def multiply_rows(
    indptr: Indices, indices: Indices, coupling: Any, scale: Any, start: int, stop: int,
    alpha: float, beta: float, shift: float, X: Any, at: int, out: Any, total: Any,
) -> None:
    """Set ``out = alpha (diag(scale) G X + shift X) + beta out`` on some rows.

    Row i of G belongs to row ``at + i`` of X.
    G has the entries ``coupling``, or ones where that is empty. With ``beta`` 0 the old content
    of ``out`` is not read. ``total`` has room for one row.
    """
    columns = X.shape[1]
    unit = len(coupling) == 0
    b = alpha * shift
    if columns == 1:
        # A sum in a register, not in memory, is three times as fast.
        for i in range(start, stop):
            single = 0.0
            for t in range(indptr[i], indptr[i + 1]):
                single += X[indices[t], 0] if unit else 1.0 * coupling[t] * X[indices[t], 0]
            single = alpha * scale[i] * single + b * X[at + i, 0]
            out[i, 0] = single if beta == 0.0 else single + beta * out[i, 0]
        return
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
                    total[c] += np.float32(g * X[j, c])
        a = alpha * scale[i]
        if beta == 0.0:
            for c in range(columns):
                out[i, c] = a * total[c] + b * X[at + i, c]
        else:
            for c in range(columns):
                out[i, c] = a * total[c] + b * X[at + i, c] + beta * out[i, c]


@kernel(seconds=0.11)
def weighted_products(w: Any, X: Any, Y: Any, start: int, stop: int, out: Floats) -> None:
    """Add ``X^T diag(w) Y`` over some rows to ``out``, with float64 products."""
    for i in range(start, stop):
        weight = 1.0 * w[i]
        for a in range(X.shape[1]):
            x = weight * X[i, a]
            for b in range(Y.shape[1]):
                out[a, b] += x * Y[i, b]


@kernel(seconds=0.11)
def products_by_column(w: Any, X: Any, Y: Any, start: int, stop: int, out: Floats) -> None:
    """Add ``X_c^T diag(w) X_c`` to ``out[0, c]`` and ``X_c^T diag(w) Y_c`` to ``out[1, c]``."""
    for i in range(start, stop):
        weight = 1.0 * w[i]
        for c in range(X.shape[1]):
            x = weight * X[i, c]
            out[0, c] += x * X[i, c]
            out[1, c] += x * Y[i, c]


@kernel(seconds=0.1)
def add_product(X: Any, S: Any, start: int, stop: int, out: Any) -> None:
    """Add ``X @ S`` to ``out`` on some rows."""
    for i in range(start, stop):
        for a in range(X.shape[1]):
            x = X[i, a]
            for b in range(S.shape[1]):
                out[i, b] += np.float32(x * S[a, b])
