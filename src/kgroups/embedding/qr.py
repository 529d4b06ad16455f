"""Labels from a column-pivoted QR factorization: no randomness, no iterations."""

import numpy as np

from kgroups._types import Floats, Ints

__all__ = ["pivoted_qr_labels"]

# Rows are of the order of 1. On symmetric graphs many are equal up to rounding, which differs
# between machines: the first of them is taken.
_TIE = 1e-8


def pivoted_qr_labels(X: Floats) -> Ints:
    """Give each row of X (n, k) one of k labels by k rows that represent the groups.

    The pivots of a QR factorization of the transpose are k rows that point as far apart as
    possible. The orthogonal matrix nearest to them turns the axes towards the groups, and each
    row belongs to the axis on which it is longest. Equal up to rounding means equal: the first
    row is the pivot and the lowest axis wins, on every machine.
    """
    k = X.shape[1]
    pivots = _pivots(X)
    U, _, Wt = np.linalg.svd(X[pivots].T, full_matrices=False)
    turned = np.abs(X @ (U @ Wt))
    longest = turned >= turned.max(axis=1, keepdims=True) - _TIE
    z: Ints = np.argmax(longest, axis=1).astype(np.int64)
    z[pivots] = np.arange(k)
    return z


def _pivots(X: Floats) -> Ints:
    """Return k different rows, each with the longest part outside of the span of those before.

    LAPACK's pivoted QR does the same, but settles ties by the last digits.
    """
    rest = X.copy()
    left = np.einsum("ic,ic->i", X, X)
    tie = _TIE * float(left.max(initial=0.0))
    pivots = np.empty(X.shape[1], dtype=np.int64)
    for position in range(pivots.size):
        pivot = int(np.argmax(left >= left.max() - tie))
        pivots[position] = pivot
        if left[pivot] > tie:
            direction = rest[pivot] / np.sqrt(left[pivot])
            rest -= np.outer(rest @ direction, direction)
            left = np.einsum("ic,ic->i", rest, rest)
        left[pivots[: position + 1]] = -np.inf
    return pivots
