"""igraph graphs to ``Graph``."""

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from kgroups._types import Floats, Symmetrize
from kgroups.adapters.direction import graph_of_edges, refuse_directed
from kgroups.adapters.weights import checked_weights, no_such_attribute
from kgroups.errors import GraphError
from kgroups.graph import Graph

__all__ = ["from_igraph"]


def from_igraph(graph: Any, weight: str | None, symmetrize: Symmetrize | None) -> Graph:
    """Convert an igraph graph; the vertex attribute ``name`` names the nodes if it is unique."""
    if graph.is_directed():
        refuse_directed("a directed igraph Graph", symmetrize)
    weighted = weight is not None and symmetrize != "union"
    # All of the graph is read before anything is checked: objects that serve as names or weights
    # run code of their own, and that could change the graph.
    n = graph.vcount()
    names = graph.vs["name"] if "name" in graph.vs.attributes() else None
    attributes = graph.es.attributes()
    values = graph.es[weight] if weighted and weight in attributes else None
    edges = graph.get_edgelist()
    ends = np.fromiter(chain.from_iterable(edges), np.int64, 2 * len(edges))
    if (
        (names is not None and len(names) != n)
        or (values is not None and len(values) != len(edges))
        or (ends.size and ends.max() >= n)
    ):
        msg = (
            f"an igraph Graph must not change while it is read, got {n} vertices and edges between "
            "others.\n  Let one thread at a time use the graph, or pass graph.copy()."
        )
        raise GraphError(msg)
    nodes = _vertex_names(names, n)
    weights = None
    if weight is not None and weighted:
        weights = _edge_weights(weight, values, attributes, edges, nodes)
    return graph_of_edges(ends[0::2], ends[1::2], weights, nodes, symmetrize)


def _vertex_names(names: list[Any] | None, n: int) -> Sequence[Hashable]:
    if names is not None:
        try:
            if None not in names and len(set(names)) == n:
                return tuple(names)
        except TypeError:
            pass
    return range(n)


def _edge_weights(
    weight: str,
    values: list[Any] | None,
    attributes: list[str],
    edges: list[tuple[int, int]],
    nodes: Sequence[Hashable],
) -> Floats | None:
    if values is None or all(value is None for value in values):
        if weight != "weight" and edges:
            others = [name for name in attributes if name != weight]
            raise no_such_attribute(weight, others, kind="attribute")
        return None
    if None in values:
        values = [1 if value is None else value for value in values]

    def edge(t: int) -> tuple[Hashable, Hashable]:
        a, b = edges[t]
        return nodes[a], nodes[b]

    return checked_weights(values, edge)
