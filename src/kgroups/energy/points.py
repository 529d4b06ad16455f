"""Points as the rows of a table of finite floats, or an error with the place."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.errors import InputError

__all__ = [
    "RowNames",
    "and_more",
    "as_numbers",
    "as_points",
    "as_table",
    "check_finite",
    "is_finite_number",
]


@dataclass(frozen=True, eq=False)
class RowNames:
    """What error messages call points: by their row in the table that the caller has given."""

    numbers: Ints
    pattern: str = "row {} of X"

    def __call__(self, i: int) -> str:
        """Return the name of one point."""
        return self.pattern.format(self.numbers[i])

    def __getitem__(self, points: Ints | slice) -> "RowNames":
        """Return the names of some of the points."""
        return RowNames(self.numbers[points], self.pattern)


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
        If X holds something else than finite real numbers, has no rows or no columns, or more
        than two dimensions.

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
    if table.ndim != 2:
        msg = (
            f"{name} must have one row per point, got an array of shape {numbers.shape}.\n"
            "  Pass an array of shape (n, d), or n numbers for n points on the line."
        )
        raise InputError(msg)
    if table.size == 0:
        msg = (
            f"{name} must have at least one row and one column, "
            f"got an array of shape {numbers.shape}.\n"
            "  Pass an array of shape (n, d) with n and d at least 1."
        )
        raise InputError(msg)
    return table


def as_numbers(X: Any, name: str) -> Floats:
    """Return an array of floats, of any shape; text and complex numbers are no numbers here."""
    if hasattr(X, "toarray"):
        msg = f"{name} must be dense, got {type(X).__name__}.\n  Pass what its toarray() returns."
        raise InputError(msg)
    if isinstance(X, np.ma.MaskedArray):
        msg = (
            f"{name} must not be a masked array.\n"
            "  Say what masked entries are, for instance with its filled(0)."
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
        # A long double beyond the range of floats becomes infinite, which is told later.
        with np.errstate(over="ignore"):
            return array.astype(np.float64, copy=False)
    if array.dtype.kind == "O":
        return _of_objects(array, name)
    raise InputError(_not_numbers(name, f"dtype {array.dtype}"))


def check_finite(table: Floats, name: str) -> None:
    """Raise if an entry is nan or infinite; the message names its row, and column if there is."""
    # Both ends are nan if one entry is, and need no array of their own.
    if table.size == 0 or (np.isfinite(table.min()) and np.isfinite(table.max())):
        return
    bad = np.argwhere(~np.isfinite(table))
    place = tuple(int(index) for index in bad[0])
    msg = (
        f"{name} must be finite, got {table[place]} in {_shown(place)}{and_more(len(bad))}.\n"
        "  Drop these rows, or fill in the missing values first."
    )
    raise InputError(msg)


def and_more(found: int) -> str:
    """Return the words that follow the first of ``found`` faults."""
    return f" (and {found - 1} more)" if found > 1 else ""


def is_finite_number(value: object) -> bool:
    """Whether a value is one real number, within the range of floats; truth values are not."""
    if isinstance(value, bool | np.bool_):
        return False
    if not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _of_objects(array: Any, name: str) -> Floats:
    for place, value in np.ndenumerate(array):
        if isinstance(value, str | bytes | complex | np.complexfloating | np.ndarray):
            raise InputError(_not_numbers(name, f"{value!r}{_at(place)}"))
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(_not_numbers(name, f"{value!r}{_at(place)}")) from None
    numbers: Floats = array.astype(np.float64)
    return numbers


def _at(place: tuple[int, ...]) -> str:
    return f" at {_shown(place)}" if place else ""


def _shown(place: tuple[int, ...]) -> str:
    return ", ".join(
        f"{axis} {index}" for axis, index in zip(("row", "column"), place, strict=False)
    )


def _not_numbers(name: str, got: str) -> str:
    return (
        f"{name} must hold real numbers, got {got}.\n"
        "  Convert it first, for instance with numpy.asarray(values, dtype=float)."
    )
