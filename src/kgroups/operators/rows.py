"""Sums along the rows of a CSR matrix."""

import numpy as np

from kgroups._types import CSR, Floats, Ints

__all__ = ["row_sums", "rows_of"]


def rows_of(csr: CSR) -> Ints:
    """Return the row index of every entry."""
    return np.repeat(np.arange(len(csr.indptr) - 1), np.diff(csr.indptr))


def row_sums(rows: Ints, values: Floats, n: int) -> Floats:
    """Return the sum of the values of each of ``n`` rows, 0 for a row without entries."""
    return np.bincount(rows, weights=values, minlength=n).astype(np.float64, copy=False)
