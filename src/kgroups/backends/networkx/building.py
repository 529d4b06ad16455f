"""Edges as arrays to networkx graphs, in the order in which networkx would have added them."""

import gc
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import networkx as nx

from kgroups._types import Ints

__all__ = ["built_graph"]

Neighbours = dict[Hashable, dict[str, Any]]


def built_graph(
    nodes: Sequence[Hashable],
    attributes: Sequence[dict[str, Any]],
    u: Ints,
    v: Ints,
    *,
    directed: bool,
) -> Any:
    """Return the graph that ``add_edge`` would make of different edges, one after the other.

    Parameters
    ----------
    nodes : sequence of hashable
        In the order in which they are added.
    attributes : sequence of dict
        Attributes of each node.
    u, v : ndarray of int
        Ends of each edge as places in ``nodes``; no edge comes twice.
    directed : bool
        Whether to make a ``DiGraph``.
    """
    kind = nx.DiGraph if directed else nx.Graph
    # Not kind(): networkx may be told to let another backend make new graphs.
    graph = object.__new__(kind)
    graph.__init__()
    with _no_garbage_collection():
        graph._node.update(zip(nodes, attributes, strict=True))
        following: list[Neighbours] = [{} for _ in nodes]
        preceding: list[Neighbours] = [{} for _ in nodes] if directed else following
        for i, j in zip(u.tolist(), v.tolist(), strict=True):
            following[i][nodes[j]] = preceding[j][nodes[i]] = {}
        graph._adj.update(zip(nodes, following, strict=True))
        if directed:
            graph._pred.update(zip(nodes, preceding, strict=True))
    return graph


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Keep Python from walking through dicts without cycles again and again as they grow."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if gc.get_freeze_count() == 0:
                # Both together make everything old, as the dicts of a graph soon are anyway; else
                # the next allocation would walk through all of them at once.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
