"""The order of nodes that does not depend on how the input was written down."""

import operator
from collections.abc import Hashable, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np

from kgroups._types import Ints
from kgroups.graph import Graph

__all__ = ["canonical_order"]

Method = Literal["index", "sorted names", "input order"]


def canonical_order(graph: Graph) -> tuple[Ints | None, Method]:
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
        one order: of mixed types, sets, or not equal to themselves as NaN.

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
        if _rising(names):
            return None, "sorted names"
        order = _sorting_permutation(names)
        # Sets and NaN sort without complaint; only a strict rise proves that the order is unique.
        if _rising([names[i] for i in order.tolist()]):
            return order, "sorted names"
    except (TypeError, ValueError):
        pass
    return None, "input order"


def _rising(names: Sequence[Any]) -> bool:
    return all(map(operator.lt, names, islice(names, 1, None)))


def _sorting_permutation(names: Sequence[Hashable]) -> Ints:
    if set(map(type, names)) == {int}:
        try:
            return np.argsort(np.array(names, dtype=np.int64), kind="stable")
        except OverflowError:
            pass
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)  # type: ignore[arg-type]
