"""Node names to row numbers, and the canonical order of names."""

import operator
from collections.abc import Hashable, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np

from kgroups._csr import index_type
from kgroups._types import Indices, Ints
from kgroups.errors import GraphError
from kgroups.graph import Graph

_LOOKUP_SLOTS_PER_VALUE = 4  # Up to this size a lookup table is faster than sorting.


def unique_integers(*columns: Any) -> tuple[Any, list[Indices]]:
    """Return the sorted distinct integers, and for each column the index among them of each value.

    For integers from a dense range, a lookup table is several times as fast as ``np.unique``.
    """
    size = sum(column.size for column in columns)
    low = min((int(column.min()) for column in columns if column.size), default=0)
    high = max((int(column.max()) for column in columns if column.size), default=-1)
    kind = index_type(size)
    if high >= 2**63 or high - low > _LOOKUP_SLOTS_PER_VALUE * size + 1024:
        names, places = np.unique(np.concatenate(columns), return_inverse=True)
        bounds = np.cumsum([column.size for column in columns])[:-1]
        return names, np.split(places.astype(kind), bounds)
    seen = np.zeros(high - low + 1, bool)
    for column in columns:
        seen[column.astype(np.int64, copy=False) - low] = True
    number = np.cumsum(seen, dtype=kind) - kind(1)
    codes = [number[column.astype(np.int64, copy=False) - low] for column in columns]
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


def canonical_order(
    graph: Graph,
) -> tuple[Ints | None, Literal["index", "sorted names", "input order"]]:
    """Return the permutation that sorts the node names, and how it was found.

    Parameters
    ----------
    graph : Graph
        The graph whose nodes are to be put in order.

    Returns
    -------
    order : ndarray of int or None
        Row indices in the order of the sorted names, for :meth:`Graph.permuted`; ``None`` when
        the rows are in that order already.
    method : {"index", "sorted names", "input order"}
        ``"index"`` for nodes without names of their own, ``"input order"`` for names that have no
        unique order: of mixed types, sets, or not equal to themselves as NaN.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2], nodes=["c", "a", "b"])
    >>> canonical_order(graph)
    (array([1, 2, 0]), 'sorted names')
    >>> canonical_order(Graph.from_edges([0], [1], nodes=["a", 1]))
    (None, 'input order')
    """
    names = graph.nodes
    if isinstance(names, range):
        return None, "index"
    try:
        if _is_ascending(names):
            return None, "sorted names"
        order = _sorting_permutation(names)
        # Sets and NaN sort without an error; only strictly ascending names have a unique order.
        if _is_ascending([names[i] for i in order.tolist()]):
            return order, "sorted names"
    except (TypeError, ValueError):
        pass
    return None, "input order"


def _is_ascending(names: Sequence[Any]) -> bool:
    return all(map(operator.lt, names, islice(names, 1, None)))


def _sorting_permutation(names: Sequence[Hashable]) -> Ints:
    if set(map(type, names)) == {int}:
        try:
            return np.argsort(np.array(names, dtype=np.int64), kind="stable")
        except OverflowError:
            pass
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)  # type: ignore[arg-type]
