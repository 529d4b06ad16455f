"""Points and weights as arrays of finite floats, and Euclidean distances between points."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.errors import InputError

BLOCK_ENTRIES = 1 << 20
"""Entries of one temporary array, 8 MB of floats: larger ones were slower, by page faults."""

# With fewer columns, or fewer rows on either side, differences are faster than a matrix product.
_MIN_PRODUCT_COLUMNS = 32
_MIN_PRODUCT_ROWS = 16

# Where a product leaves less than this fraction of |x|^2 + |y|^2, too many digits are lost.
_CANCELLATION = 1e-4

# Fraction of pairs up to which they are recomputed one by one, which costs about ten times what a
# pair costs in a full block of differences.
_MAX_RECOMPUTED_FRACTION = 0.1

# Points of which all pairs are compared, half a million distances. On mixtures of 5,000 and 10,000
# points in 2 to 50 dimensions the median of the sample was within 4% of that of all pairs.
_MEDIAN_SAMPLE = 1000


@dataclass(frozen=True, eq=False)
class Points:
    """Points, and the numbers by which error messages name their rows."""

    X: Floats
    numbers: Ints
    pattern: str = "row {} of X"

    @classmethod
    def numbered(cls, X: Floats, pattern: str = "row {} of X") -> "Points":
        """Return points that are named by their places in X."""
        return cls(X, np.arange(len(X)), pattern)

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.X)

    def __getitem__(self, rows: Ints | slice) -> "Points":
        """Return some of the points, with their names."""
        return Points(self.X[rows], self.numbers[rows], self.pattern)

    def name(self, i: int) -> str:
        """Return what messages call point ``i``."""
        return self.pattern.format(self.numbers[i])


def as_points(X: Any, *, name: str = "X") -> Floats:
    """Return points as a two-dimensional array of finite floats.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        One point per row; n numbers are n points of one coordinate.
    name : str
        What the caller calls X, for error messages.

    Returns
    -------
    ndarray of shape (n, d)
        The array itself if it is one of floats already.

    Raises
    ------
    InputError
        If X holds anything but finite real numbers, has no rows or no columns, or has more than
        two dimensions.

    Examples
    --------
    >>> as_points([1, 2, 4])
    array([[1.],
           [2.],
           [4.]])
    """
    table = as_table(X, name)
    check_finite(table, name)
    return table


def as_table(X: Any, name: str) -> Floats:
    """Return points as a two-dimensional array of floats that may be nan or infinite."""
    numbers = as_numbers(X, name)
    table = numbers[:, np.newaxis] if numbers.ndim == 1 else numbers
    if table.ndim != 2 or table.size == 0:
        must = "one row per point" if table.ndim != 2 else "at least one row and one column"
        msg = (
            f"{name} must have {must}, got an array of shape {numbers.shape}.\n"
            "  Pass an array of shape (n, d) with n and d at least 1, or n numbers for n points on "
            "the line."
        )
        raise InputError(msg)
    return table


def as_numbers(X: Any, name: str) -> Floats:
    """Return an array of floats of any shape; text and complex numbers are refused."""
    if hasattr(X, "toarray"):
        msg = f"{name} must be dense, got {type(X).__name__}.\n  Pass what its toarray() returns."
        raise InputError(msg)
    if isinstance(X, np.ma.MaskedArray):
        msg = (
            f"{name} must not be a masked array.\n"
            "  Replace the masked entries, for instance with its filled(0)."
        )
        raise InputError(msg)
    try:
        array = np.asarray(X)
    except ValueError:
        msg = (
            f"{name} must have rows of one length, got rows that differ.\n"
            "  Pass an array of shape (n, d)."
        )
        raise InputError(msg) from None
    if array.dtype.kind in "biuf":
        # A long double beyond the range of floats becomes infinite, which check_finite reports.
        with np.errstate(over="ignore"):
            return array.astype(np.float64, copy=False)
    got = f"dtype {array.dtype}" if array.ndim else repr(X)
    if array.dtype.kind == "O":
        bad = (place for place, value in np.ndenumerate(array) if not _converts_to_float(value))
        place = next(bad, None)
        if place is None:
            return array.astype(np.float64)
        if place:
            got = f"{array[place]!r} at {_position(place)}"
    msg = (
        f"{name} must hold real numbers, got {got}.\n"
        "  Convert it first, for instance with numpy.asarray(values, dtype=float)."
    )
    raise InputError(msg)


def check_finite(table: Floats, name: str) -> None:
    """Raise if an entry is nan or infinite; the message names its row and column."""
    # min and max are nan if one entry is, and need no temporary array.
    if table.size == 0 or (np.isfinite(table.min()) and np.isfinite(table.max())):
        return
    bad = np.argwhere(~np.isfinite(table))
    place = tuple(int(index) for index in bad[0])
    msg = (
        f"{name} must be finite, got {table[place]} in {_position(place)}{and_more(len(bad))}.\n"
        "  Drop these rows, or fill in the missing values first."
    )
    raise InputError(msg)


def check_columns(X: Floats, Y: Floats | None) -> None:
    """Raise unless the points of X and those of Y have the same number of coordinates."""
    if Y is not None and X.shape[1] != Y.shape[1]:
        msg = (
            "X and Y must have the same number of columns, "
            f"got {X.shape[1]} in X and {Y.shape[1]} in Y.\n"
            "  A single point of d coordinates is an array of shape (1, d)."
        )
        raise InputError(msg)


def as_weights(weights: Any, n: int, *, name: str = "sample_weight") -> Floats:
    """Return a new array of ``n`` weights >= 0, not all 0; None is 1 for every row."""
    if weights is None:
        return np.ones(n)
    w = as_numbers(weights, name)
    w = np.full(n, w) if w.ndim == 0 else w.copy()
    if w.shape != (n,):
        msg = f"{name} must hold {n} numbers, one for each row, got shape {w.shape}."
        raise InputError(msg)
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0.0)))
    if bad.size:
        first = f"{w[bad[0]]} for row {bad[0]}{and_more(bad.size)}"
        msg = f"{name} must be finite and >= 0, got {first}."
        raise InputError(msg)
    if not w.any() and n:
        msg = f"{name} must not be zero for every row."
        raise InputError(msg)
    with np.errstate(over="ignore"):
        if not math.isfinite(w.sum()):
            msg = f"{name} must have a finite sum, got numbers up to {w.max():g}."
            raise InputError(msg)
    return w


def and_more(found: int) -> str:
    """Return the words that follow the first of ``found`` faults."""
    return f" (and {found - 1} more)" if found > 1 else ""


def _converts_to_float(value: Any) -> bool:
    if isinstance(value, str | bytes | complex | np.complexfloating | np.ndarray):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _position(indices: tuple[int, ...]) -> str:
    axes = zip(("row", "column"), indices, strict=False)
    return ", ".join(f"{axis} {index}" for axis, index in axes)


def row_blocks(n: int, width: int, entries: int) -> Iterator[slice]:
    """Yield slices of ``n`` rows of a matrix of ``width`` columns, each of at most ``entries``."""
    height = max(1, entries // width)
    return (slice(lo, min(lo + height, n)) for lo in range(0, n, height))


def squared_distances(
    X: Floats, Y: Floats | None = None, *, block_entries: int = BLOCK_ENTRIES
) -> Floats:
    r"""Return the squared distances of all rows of X to all rows of Y, or to those of X.

    Equal rows are exactly 0 apart, and without Y the result is exactly symmetric. An entry that is
    not finite, or a square that overflows, makes the largest value of the result nan or infinite;
    coordinates that differ by less than 1e-162 count as equal. With few columns or rows the
    differences are squared and summed. Otherwise the product form
    :math:`|x|^2 + |y|^2 - 2 x \cdot y` is taken of centered data, and pairs in which it cancels are
    recomputed from differences, so that every value is right to about 11 digits.
    """
    with np.errstate(all="ignore"):
        return _squares(X, Y, block_entries)


def median_distance(X: Any, family: str = "Gaussian") -> float:
    """Return the median Euclidean distance between two distinct rows, at most 1,000 of them.

    Equal rows count once, so that copies of a row are the same as a row with a weight. The sample
    is fixed and does not depend on the order of the rows. Messages advise a semimetric of the
    family.
    """
    # Adding 0 turns minus zero into zero: which of the two came first must not matter.
    given = as_points(X) + 0.0
    points = np.unique(given, axis=0)
    if len(points) < 2:
        got = "1 sample" if len(given) == 1 else f"{len(given)} samples with 1 distinct row"
        msg = (
            f'sigma="median" must have two distinct points or more, got {got}.\n'
            f"  Pass a number for sigma, for instance metric={family}(sigma=1.0)."
        )
        raise InputError(msg)
    if len(points) > _MEDIAN_SAMPLE:
        points = np.random.default_rng(0).choice(points, _MEDIAN_SAMPLE, replace=False)
    squares = squared_distances(points)[np.triu_indices(len(points), 1)]
    median = float(np.median(np.sqrt(squares)))
    if not 0.0 < median < math.inf:
        msg = (
            f'sigma="median" must find a finite distance above 0, got {median}: most distances are '
            "too large for floats, or too small beside the largest coordinate.\n"
            "  Rescale the points, remove outliers, or pass a number for sigma, "
            f"metric={family}(sigma=...)."
        )
        raise InputError(msg)
    return median


def _squares(X: Floats, Y: Floats | None, block_entries: int) -> Floats:
    others = X if Y is None else Y
    n, m = X.shape[0], others.shape[0]
    if X.shape[1] < _MIN_PRODUCT_COLUMNS or min(n, m) < _MIN_PRODUCT_ROWS:
        return _by_differences(X, others)
    # One shift for both sides leaves every difference as it is and makes the squares small.
    shift = others.mean(axis=0)
    out = np.empty((n, m))
    for rows in row_blocks(n, m, block_entries):
        lo, hi = rows.start, rows.stop
        first = lo if Y is None else 0
        out[lo:hi, first:] = _by_product(X[lo:hi], others[first:], shift, block_entries)
        if Y is None:
            # A product and its transpose may round differently: copy one half to the other.
            upper = np.triu(out[lo:hi, lo:hi], 1)
            out[lo:hi, lo:hi] = upper + upper.T
            out[hi:, lo:hi] = out[lo:hi, hi:].T
    return out


def _by_differences(X: Floats, Y: Floats) -> Floats:
    from scipy.spatial.distance import cdist

    squares: Floats = cdist(X, Y, "sqeuclidean")
    return squares


def _by_product(X: Floats, Y: Floats, shift: Floats, block_entries: int) -> Floats:
    A, B = X - shift, Y - shift
    total = np.add.outer(_norms(A), _norms(B))
    squares: Floats = A @ B.T
    squares *= -2.0
    squares += total
    total *= _CANCELLATION
    canceled = np.flatnonzero(squares <= total)
    # Take differences of the rows as given: centering may have rounded small ones off.
    if canceled.size > _MAX_RECOMPUTED_FRACTION * squares.size:
        return _by_differences(X, Y)
    for some in row_blocks(canceled.size, X.shape[1], block_entries):
        i, j = np.divmod(canceled[some], squares.shape[1])
        squares[i, j] = _norms(X[i] - Y[j])
    return squares


def _norms(X: Floats) -> Floats:
    norms: Floats = np.einsum("ij,ij->i", X, X)
    return norms
