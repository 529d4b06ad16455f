"""A function of two points, called for all pairs and checked on the way."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from kgroups._types import Floats
from kgroups.errors import InputError

__all__ = ["FunctionOfPair", "values_across", "values_within"]

FunctionOfPair: TypeAlias = Callable[[Floats, Floats], Any]

# Symmetry and f(x, x) = 0 are tried on so many pairs and points, spread evenly.
_TRIES = 8
# Of the largest value: what may be left where a rounded 0 was, and where its root was taken.
_ROUNDED_ZERO = 1e-12
_ROOT_OF_ROUNDED_ZERO = 1e-7


def values_within(function: FunctionOfPair, X: Floats) -> Floats:
    """Return the values for all pairs of rows of X: one call for each two rows, 0 for a row."""
    n = X.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            out[i, j] = out[j, i] = _value(function, X[i], X[j], f"rows {i} and {j} of X")
    _check_sign(out, "rows {} and {} of X")
    largest = float(out.max())
    for i in _spread(n):
        _check_zero(function, X[i], f"row {i} of X", largest)
        j = (i + (n + 1) // 2) % n
        _check_symmetric(function, X[i], X[j], f"rows {i} and {j} of X", largest)
    return out


def values_across(function: FunctionOfPair, X: Floats, Y: Floats) -> Floats:
    """Return the values for all pairs of a row of X and a row of Y."""
    out = np.empty((X.shape[0], Y.shape[0]))
    for i, j in np.ndindex(out.shape):
        out[i, j] = _value(function, X[i], Y[j], f"row {i} of X and row {j} of Y")
    _check_sign(out, "row {} of X and row {} of Y")
    largest = float(out.max())
    for i in _spread(X.shape[0]):
        _check_zero(function, X[i], f"row {i} of X", largest)
    for j in _spread(Y.shape[0]):
        i = j % X.shape[0]
        _check_symmetric(function, X[i], Y[j], f"row {i} of X and row {j} of Y", largest)
    return out


def _spread(n: int) -> range:
    return range(0, n, -(-n // _TRIES))


def _value(function: FunctionOfPair, x: Floats, y: Floats, place: str) -> float:
    # Copies, because the function may write into the rows it is given.
    got = function(x.copy(), y.copy())
    number = np.asarray(got)
    if number.size == 1 and number.dtype.kind in "biuf":
        value = float(number.item())
        if np.isfinite(value):
            return value
    msg = (
        f"a semimetric must return a finite number >= 0, got {got!r} for {place}.\n"
        "  Correct the function, or drop the points that it cannot measure."
    )
    raise InputError(msg)


def _check_sign(out: Floats, place: str) -> None:
    """Raise if a value is below 0 by more than rounding, and set those that are not to 0."""
    bad = np.argwhere(out < -_ROUNDED_ZERO * np.abs(out).max())
    if bad.size:
        i, j = (int(index) for index in bad[0])
        msg = (
            f"a semimetric must return a finite number >= 0, got {out[i, j]} for "
            f"{place.format(i, j)}.\n  Correct the function: it must measure how far apart two "
            "points are, not how alike."
        )
        raise InputError(msg)
    np.maximum(out, 0.0, out=out)


def _check_zero(function: FunctionOfPair, x: Floats, place: str, largest: float) -> None:
    value = _value(function, x, x, f"{place} and itself")
    if abs(value) > _ROOT_OF_ROUNDED_ZERO * largest:
        msg = (
            f"a semimetric must be 0 between a point and itself, got {value} for {place}.\n"
            "  If the function is a kernel, pass x, y -> f(x, x) + f(y, y) - 2 f(x, y) instead."
        )
        raise InputError(msg)


def _check_symmetric(
    function: FunctionOfPair, x: Floats, y: Floats, place: str, largest: float
) -> None:
    forth, back = _value(function, x, y, place), _value(function, y, x, place)
    if abs(forth - back) > _ROOT_OF_ROUNDED_ZERO * largest:
        msg = (
            f"a semimetric must be symmetric, got {forth} and, in the other order, {back} "
            f"for {place}.\n  Pass for instance x, y -> (f(x, y) + f(y, x)) / 2 instead."
        )
        raise InputError(msg)
