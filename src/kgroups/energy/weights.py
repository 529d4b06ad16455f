"""Weights of points, checked at the door."""

import math
from typing import Any

import numpy as np

from kgroups._types import Floats
from kgroups.energy.points import and_more, as_numbers
from kgroups.errors import InputError

__all__ = ["as_weights"]


def as_weights(weights: Any, n: int, *, name: str = "sample_weight") -> Floats:
    """Return a new array of one weight >= 0 for each of ``n`` rows, not all zero.

    Parameters
    ----------
    weights : array_like of shape (n,), number or None
        ``None`` is 1 for every row, a number the same for all.
    n : int
        Number of rows.
    name : str
        What the caller calls them, for error messages.
    """
    if weights is None:
        return np.ones(n)
    if isinstance(weights, str):
        msg = f"{name} must hold {n} numbers, one for each row, got {weights!r}."
        raise InputError(msg)
    w = np.array(as_numbers(weights, name))
    if w.shape == ():
        w = np.full(n, float(w))
    if w.shape != (n,):
        msg = f"{name} must hold {n} numbers, one for each row, got shape {w.shape}."
        raise InputError(msg)
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0.0)))
    if bad.size:
        msg = f"{name} must be finite and >= 0, got {w[bad[0]]} for row {bad[0]}"
        msg += f"{and_more(bad.size)}."
        raise InputError(msg)
    if not w.any() and n:
        msg = f"{name} must not be zero for every row: such rows do not count."
        raise InputError(msg)
    with np.errstate(over="ignore"):
        if not math.isfinite(w.sum()):
            msg = f"{name} must have a finite sum, got numbers up to {w.max():g}."
            raise InputError(msg)
    return w
