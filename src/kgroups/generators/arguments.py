"""Checks of the arguments that several generators share."""

import math
import operator
from typing import Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups._wording import argument
from kgroups.errors import InputError

__all__ = ["block_sizes", "real_number", "symmetric_probabilities", "whole_number"]


def whole_number(name: str, value: object, *, low: int = 0) -> int:
    """Return ``value`` as an int if it is a whole number not below ``low``."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        msg = f"{argument(name)} must be a whole number >= {low}, got {value!r}."
        raise InputError(msg) from None
    if number < low:
        msg = f"{argument(name)} must be a whole number >= {low}, got {number}."
        raise InputError(msg)
    return number


def real_number(
    name: str, value: object, *, low: float = -math.inf, high: float = math.inf
) -> float:
    """Return ``value`` as a float if it is finite and lies in ``[low, high]``."""
    numeric = isinstance(value, int | float | np.integer | np.floating)
    if not numeric or isinstance(value, bool) or not math.isfinite(value):  # type: ignore[arg-type]
        msg = f"{argument(name)} must be a finite number, got {value!r}."
        raise InputError(msg)
    number = float(value)  # type: ignore[arg-type]
    if not low <= number <= high:
        bounds = f">= {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        msg = f"{argument(name)} must be a number {bounds}, got {number:g}."
        raise InputError(msg)
    return number


def block_sizes(sizes: Any) -> Ints:
    """Return the number of nodes of each block, checked."""
    try:
        listed = list(sizes)
    except TypeError:
        msg = f"{argument('sizes')} must list the number of nodes of each block, got {sizes!r}."
        raise InputError(msg) from None
    if not listed:
        msg = f"{argument('sizes')} must name at least one block, got none."
        raise InputError(msg)
    checked = [
        whole_number(f"entry {a} of {argument('sizes')}", size) for a, size in enumerate(listed)
    ]
    return np.array(checked, dtype=np.int64)


def symmetric_probabilities(P: Any, k: int) -> Floats:
    """Return the matrix of edge probabilities between ``k`` blocks, checked."""
    try:
        matrix = np.array(P, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"{argument('P')} must be a {k} x {k} matrix of probabilities: {error}."
        raise InputError(msg) from error
    if matrix.shape != (k, k):
        shape = " x ".join(map(str, matrix.shape)) or "a single number"
        msg = (
            f"{argument('P')} must have a row and a column for each of the {k} blocks of "
            f"{argument('sizes')}, got {shape}."
        )
        raise InputError(msg)
    wrong = np.argwhere(~((matrix >= 0) & (matrix <= 1)))
    if wrong.size:
        a, b = wrong[0]
        msg = (
            f"{argument('P')} must hold probabilities from 0 to 1, got {matrix[a, b]:g} for blocks "
            f"{a} and {b}."
        )
        raise InputError(msg)
    uneven = np.argwhere(matrix != matrix.T)
    if uneven.size:
        a, b = uneven[0]
        msg = (
            f"{argument('P')} must be symmetric, because edges have no direction, got "
            f"{matrix[a, b]:g} for blocks {a} and {b}, and {matrix[b, a]:g} for {b} and {a}."
        )
        raise InputError(msg)
    return matrix
