"""Sums along the rows of a sparse matrix."""

import numpy as np

from kgroups._types import Floats, Ints

__all__ = ["row_sums"]


def row_sums(rows: Ints, values: Floats, n: int) -> Floats:
    """Return the sum of the values of each of ``n`` rows, 0 for a row without entries."""
    return np.bincount(rows, weights=values, minlength=n).astype(np.float64, copy=False)
