"""Edges as arrays to networkx graphs, in the order in which networkx would have added them."""

from collections.abc import Hashable, Sequence
from typing import Any

import networkx as nx
import numpy as np

from kgroups._types import Ints

__all__ = ["built_graph"]


def built_graph(nodes: Sequence[Hashable], u: Ints, v: Ints, *, directed: bool) -> Any:
    """Return the graph that ``add_edge`` would make of different edges, one after the other.

    Parameters
    ----------
    nodes : sequence of hashable
        In the order in which they are added.
    u, v : ndarray of int
        Ends of each edge as places in ``nodes``; no edge comes twice.
    directed : bool
        Whether to make a ``DiGraph``.
    """
    kind = nx.DiGraph if directed else nx.Graph
    # Not kind(): networkx may be told to let another backend make new graphs.
    graph = object.__new__(kind)
    graph.__init__()
    graph._node.update((node, {}) for node in nodes)
    attributes: list[dict[str, Any]] = [{} for _ in range(len(u))]
    edge = np.arange(len(u))
    if directed:
        graph._succ.update(_neighbour_dicts(nodes, u, v, edge, attributes))
        graph._pred.update(_neighbour_dicts(nodes, v, u, edge, attributes))
        return graph
    source = np.column_stack([u, v]).ravel()
    target = np.column_stack([v, u]).ravel()
    once = np.ones(len(source), dtype=bool)
    once[1::2] = u != v
    both = np.repeat(edge, 2)[once]
    graph._adj.update(_neighbour_dicts(nodes, source[once], target[once], both, attributes))
    return graph


def _neighbour_dicts(
    nodes: Sequence[Hashable],
    source: Ints,
    target: Ints,
    edge: Ints,
    attributes: list[dict[str, Any]],
) -> dict[Hashable, dict[Hashable, dict[str, Any]]]:
    order = np.argsort(source, kind="stable")
    ends = np.cumsum(np.bincount(source, minlength=len(nodes))).tolist()
    neighbours = list(map(nodes.__getitem__, target[order].tolist()))
    data = list(map(attributes.__getitem__, edge[order].tolist()))
    return {
        node: dict(zip(neighbours[start:end], data[start:end], strict=True))
        for node, start, end in zip(nodes, [0, *ends], ends, strict=False)
    }
