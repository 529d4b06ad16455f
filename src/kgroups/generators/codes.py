"""Unordered pairs of nodes as single numbers, and where they repeat."""

import numpy as np

from kgroups._types import Bools, Indices, Ints

__all__ = ["codes_of", "is_among", "values_seen_twice"]


def codes_of(u: Indices, v: Indices, n: int) -> Ints:
    """Return one number for each unordered pair of nodes."""
    codes: Ints = np.minimum(u, v).astype(np.int64)
    codes *= n
    codes += np.maximum(u, v)
    return codes


def values_seen_twice(values: Ints) -> Ints:
    """Sort in place; return what stands there more than once."""
    values.sort()
    repeated: Ints = values[1:][values[1:] == values[:-1]]
    return repeated


def is_among(values: Ints, rising: Ints) -> Bools:
    """Tell which values are among others that are sorted."""
    if rising.size == 0:
        return np.zeros(values.size, dtype=bool)
    place = np.searchsorted(rising, values)
    return np.asarray(rising[np.minimum(place, rising.size - 1)] == values)
