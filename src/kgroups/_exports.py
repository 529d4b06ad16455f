"""Bare edge arrays to the graph classes of other packages."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from kgroups._types import Floats, Indices

__all__ = ["igraph_of_edges", "networkx_of_edges"]


def networkx_of_edges(
    nodes: Sequence[Hashable], u: Indices, v: Indices, weights: Floats | None
) -> Any:
    """Return a ``networkx.Graph`` with these names and, where given, edge weights."""
    import networkx as nx

    G = nx.Graph()
    G.add_nodes_from(nodes)
    sources = [nodes[i] for i in u.tolist()]
    targets = [nodes[j] for j in v.tolist()]
    if weights is None:
        G.add_edges_from(zip(sources, targets, strict=True))
    else:
        G.add_weighted_edges_from(zip(sources, targets, weights.tolist(), strict=True))
    return G


def igraph_of_edges(
    nodes: Sequence[Hashable], u: Indices, v: Indices, weights: Floats | None
) -> Any:
    """Return an ``igraph.Graph`` with these vertex names and, where given, edge weights."""
    import igraph

    g = igraph.Graph(n=len(nodes), edges=np.column_stack([u, v]))
    if nodes != range(len(nodes)):
        g.vs["name"] = list(nodes)
    if weights is not None:
        g.es["weight"] = weights.tolist()
    return g
