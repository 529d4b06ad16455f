"""A function of two points, called for all pairs and checked on the way."""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from kgroups._types import Floats
from kgroups.energy.points import RowNames, and_more
from kgroups.errors import InputError

__all__ = ["FunctionOfPair", "check_values", "values_across", "values_within"]

FunctionOfPair: TypeAlias = Callable[[Floats, Floats], Any]

# Symmetry and f(x, x) = 0 are tried on so many pairs and points, spread evenly.
_TRIES = 8
# Of the largest value: what may be left where a rounded 0 was, and where its root was taken.
_ROUNDED_ZERO = 1e-12
_ROOT_OF_ROUNDED_ZERO = 1e-7


def values_within(function: FunctionOfPair, X: Floats, names: RowNames) -> Floats:
    """Return the values for all pairs of rows of X: one call for each two rows, 0 for a row."""
    n = X.shape[0]
    called = [names(i) for i in range(n)]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            out[i, j] = out[j, i] = _value(function, X[i], X[j], called[i], called[j])
    check_values(out, names, names)
    largest = float(out.max())
    # A lone point has no distance beside which a rounded 0 could be told.
    for i in _spread(n) if n > 1 else ():
        _check_zero(function, X[i], called[i], largest)
        j = (i + (n + 1) // 2) % n
        _check_symmetric(function, X[i], X[j], called[i], called[j], largest)
    return out


def values_across(
    function: FunctionOfPair, X: Floats, Y: Floats, names: RowNames, others: RowNames
) -> Floats:
    """Return the values for all pairs of a row of X and a row of Y."""
    called, others_called = ([of(i) for i in range(of.numbers.size)] for of in (names, others))
    out = np.empty((X.shape[0], Y.shape[0]))
    for i, j in np.ndindex(out.shape):
        out[i, j] = _value(function, X[i], Y[j], called[i], others_called[j])
    check_values(out, names, others)
    largest = float(out.max())
    for i in _spread(X.shape[0]):
        _check_zero(function, X[i], called[i], largest)
    for j in _spread(Y.shape[0]):
        i = j % X.shape[0]
        _check_symmetric(function, X[i], Y[j], called[i], others_called[j], largest)
    return out


def check_values(out: Floats, names: RowNames, others: RowNames) -> None:
    """Raise if a value is not finite, or below 0 by more than rounding; by less, it becomes 0."""
    # Both ends are nan if one value is.
    lowest, highest = float(out.min()), float(out.max())
    finite = math.isfinite(lowest) and math.isfinite(highest)
    slack = _ROUNDED_ZERO * max(highest, -lowest) if finite else 0.0
    if not finite or lowest < -slack:
        bad = np.argwhere(~(np.isfinite(out) & (out >= -slack)))
        i, j = (int(index) for index in bad[0])
        msg = (
            f"a semimetric must return a finite number >= 0, got {out[i, j]} for {names(i)} and "
            f"{others(j)}{and_more(len(bad))}.\n  Correct the function: it must measure how far "
            "apart two points are, not how alike."
        )
        raise InputError(msg)
    np.maximum(out, 0.0, out=out)


def _spread(n: int) -> range:
    return range(0, n, -(-n // _TRIES))


def _value(function: FunctionOfPair, x: Floats, y: Floats, one: str, other: str) -> float:
    # Copies, because the function may write into the rows it is given.
    got = function(x.copy(), y.copy())
    number = np.asarray(got)
    if number.size == 1 and number.dtype.kind in "biuf":
        value = float(number.item())
        if np.isfinite(value):
            return value
    msg = (
        f"a semimetric must return a finite number >= 0, got {got!r} for {one} and {other}.\n"
        "  Correct the function, or drop the points that it cannot measure."
    )
    raise InputError(msg)


def _check_zero(function: FunctionOfPair, x: Floats, name: str, largest: float) -> None:
    value = _value(function, x, x, name, "itself")
    if abs(value) > _ROOT_OF_ROUNDED_ZERO * largest:
        msg = (
            f"a semimetric must be 0 between a point and itself, got {value} for {name}.\n"
            "  If the function is a kernel, pass x, y -> f(x, x) + f(y, y) - 2 f(x, y) instead."
        )
        raise InputError(msg)


def _check_symmetric(
    function: FunctionOfPair, x: Floats, y: Floats, one: str, other: str, largest: float
) -> None:
    forth, back = _value(function, x, y, one, other), _value(function, y, x, other, one)
    if abs(forth - back) > _ROOT_OF_ROUNDED_ZERO * largest:
        msg = (
            f"a semimetric must be symmetric, got {forth} and, in the other order, {back} "
            f"for {one} and {other}.\n  Pass for instance x, y -> (f(x, y) + f(y, x)) / 2 instead."
        )
        raise InputError(msg)
