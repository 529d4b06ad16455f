"""Node names and labels to numbers."""

from typing import Any

import numpy as np

from kgroups._csr import index_type
from kgroups._types import Indices, Ints
from kgroups.errors import GraphError

_LOOKUP_SLOTS_PER_VALUE = 4  # Up to this size a lookup table is faster than sorting.


def unique_integers(*columns: Any) -> tuple[Any, list[Indices]]:
    """Return the sorted distinct integers, and for each column the index among them of each value.

    For integers from a dense range, a lookup table is several times as fast as ``np.unique``.
    """
    size = sum(column.size for column in columns)
    low = min((int(column.min()) for column in columns if column.size), default=0)
    high = max((int(column.max()) for column in columns if column.size), default=-1)
    kind = index_type(size)
    if high < 2**63:
        # Signed and unsigned integers side by side would become floats.
        columns = tuple(column.astype(np.int64, copy=False) for column in columns)
    if high >= 2**63 or high - low > _LOOKUP_SLOTS_PER_VALUE * size + 1024:
        names, places = np.unique(np.concatenate(columns), return_inverse=True)
        bounds = np.cumsum([column.size for column in columns])[:-1]
        return names, np.split(places.astype(kind), bounds)
    seen = np.zeros(high - low + 1, bool)
    for column in columns:
        seen[column - low] = True
    number = np.cumsum(seen, dtype=kind) - kind(1)
    codes = [number[column - low] for column in columns]
    return np.flatnonzero(seen) + low, codes


def by_first_node(labels: Any) -> tuple[Any, Ints]:
    """Return the labels in the order of their first nodes, and each node's place in that order."""
    labels, (codes,) = unique_integers(labels)
    first = np.empty(labels.size, np.int64)
    # numpy keeps the last assignment to a repeated index: in reverse order, that of the first node.
    first[codes[::-1]] = np.arange(codes.size - 1, -1, -1)
    by_first = np.argsort(first)
    rank = np.empty_like(by_first)
    rank[by_first] = np.arange(labels.size)
    return labels[by_first], rank[codes]


def is_missing(value: Any) -> bool:
    """Return whether a value differs from itself, as NaN, NaT and pandas.NA do."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def missing_name(shown: str, place: str) -> GraphError:
    """Return the error for a name that is missing in some place."""
    return GraphError(
        f"node names must not be missing, got {shown} {place}.\n"
        "  Name the node, or leave out its edges."
    )
