"""Squared Euclidean distances between rows, exact where rows are equal or nearly so."""

import math
from typing import NamedTuple

import numpy as np

from kgroups._types import Floats

__all__ = ["BLOCK_ENTRIES", "SquaredDistances", "squared_distances"]

# Entries of one temporary array, 8 MB of floats: larger ones were slower, by page faults.
BLOCK_ENTRIES = 1 << 20

# Below so many columns, or rows on either side, differences are faster than a matrix product.
_PRODUCT_COLUMNS = 32
_PRODUCT_ROWS = 16

# Where a product leaves less than this share of |x|^2 + |y|^2, too many digits are gone.
_CANCELLED = 1e-4

# One pair by itself costs about ten times what a pair in a full block of differences does.
_FEW_PAIRS = 0.1

# Squares are taken of the coordinates as they are while the largest lies between these.
_SMALLEST_SQUARE = 1e-200
_LARGEST_SQUARE = 1e300


class SquaredDistances(NamedTuple):
    """Squared distances in a unit of length of their own.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        The squared distances, divided by the square of ``scale``.
    scale : float
        A power of two: 1 unless squares of the coordinates would overflow or underflow.
    """

    values: Floats
    scale: float


def squared_distances(X: Floats, Y: Floats | None = None) -> SquaredDistances:
    r"""Return the squared distances of all rows of X to all rows of Y.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    Y : ndarray of shape (m, d), optional
        X itself if not given; then the result is exactly symmetric.

    Returns
    -------
    SquaredDistances
        An array of the caller's own. Equal rows are exactly 0 apart. Something that is not
        finite in X or Y makes the largest value of the result nan or infinite.

    Notes
    -----
    With few columns or rows the differences are squared and summed. Else the product form
    :math:`|x|^2 + |y|^2 - 2 x \cdot y` is taken on centred data, and the pairs in which it cancels
    are done again by differences, so that every value is right to about 11 digits.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]])).values
    array([[ 0., 25.],
           [25.,  0.]])
    >>> far = squared_distances(np.array([[0.0], [3e200]]))
    >>> float(np.sqrt(far.values[0, 1]) * far.scale)
    3e+200
    """
    with np.errstate(all="ignore"):
        values = _squares(X, Y)
        largest = float(values.max())
        if _SMALLEST_SQUARE <= largest <= _LARGEST_SQUARE:
            return SquaredDistances(values, 1.0)
        exponent = _exponent(X if Y is None else np.vstack([_extremes(X), _extremes(Y)]))
        if exponent == 0:
            return SquaredDistances(values, 1.0)
        shrunk = None if Y is None else np.ldexp(Y, -exponent)
        return SquaredDistances(_squares(np.ldexp(X, -exponent), shrunk), 2.0**exponent)


def _extremes(X: Floats) -> Floats:
    return np.vstack([X.min(axis=0), X.max(axis=0)])


def _exponent(X: Floats) -> int:
    """Return the power of two just below the largest coordinate; 0 where there is none."""
    largest = float(np.abs(X).max())
    return math.frexp(largest)[1] - 1 if 0.0 < largest < math.inf else 0


def _squares(X: Floats, Y: Floats | None) -> Floats:
    fewest = X.shape[0] if Y is None else min(X.shape[0], Y.shape[0])
    if X.shape[1] < _PRODUCT_COLUMNS or fewest < _PRODUCT_ROWS:
        return _by_differences(X, X if Y is None else Y)
    return _within(X) if Y is None else _across(X, Y)


def _by_differences(X: Floats, Y: Floats) -> Floats:
    from scipy.spatial.distance import cdist

    squares: Floats = cdist(X, Y, "sqeuclidean")
    return squares


def _across(X: Floats, Y: Floats) -> Floats:
    # One shift for both sides leaves every difference as it is and makes the squares small.
    shift = Y.mean(axis=0)
    A, B = _centred(X, shift), _centred(Y, shift)
    rows = max(1, BLOCK_ENTRIES // Y.shape[0])
    if rows >= X.shape[0]:
        return _by_product(A, B)
    out = np.empty((X.shape[0], Y.shape[0]))
    for lo in range(0, X.shape[0], rows):
        out[lo : lo + rows] = _by_product(A.part(lo, lo + rows), B)
    return out


def _within(X: Floats) -> Floats:
    A = _centred(X, X.mean(axis=0))
    n = X.shape[0]
    out = np.empty((n, n))
    rows = max(1, BLOCK_ENTRIES // n)
    for lo in range(0, n, rows):
        hi = min(lo + rows, n)
        out[lo:hi, lo:] = _by_product(A.part(lo, hi), A.part(lo, n))
        # A product and its transpose may round differently: one half is the mirror of the other.
        upper = np.triu(out[lo:hi, lo:hi], 1)
        out[lo:hi, lo:hi] = upper + upper.T
        out[hi:, lo:hi] = out[lo:hi, hi:].T
    return out


class _Rows(NamedTuple):
    """Rows as they came, the same rows centred, and the squared norms of the latter."""

    given: Floats
    centred: Floats
    norms: Floats

    def part(self, lo: int, hi: int) -> "_Rows":
        return _Rows(self.given[lo:hi], self.centred[lo:hi], self.norms[lo:hi])


def _centred(X: Floats, shift: Floats) -> _Rows:
    centred = X - shift
    return _Rows(X, centred, _norms(centred))


def _norms(X: Floats) -> Floats:
    norms: Floats = np.einsum("ij,ij->i", X, X)
    return norms


def _by_product(A: _Rows, B: _Rows) -> Floats:
    total = np.add.outer(A.norms, B.norms)
    squares = A.centred @ B.centred.T
    squares *= -2.0
    squares += total
    total *= _CANCELLED
    cancelled = np.flatnonzero(squares <= total)
    # Differences are those of the rows as they came: centring may have rounded small ones off.
    if cancelled.size > _FEW_PAIRS * squares.size:
        return _by_differences(A.given, B.given)
    step = max(1, BLOCK_ENTRIES // A.given.shape[1])
    for lo in range(0, cancelled.size, step):
        i, j = np.divmod(cancelled[lo : lo + step], squares.shape[1])
        squares[i, j] = _norms(A.given[i] - B.given[j])
    return squares
