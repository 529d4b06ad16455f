"""networkx's connected components, from the arrays of a converted graph."""

from collections.abc import Hashable, Iterator

import networkx as nx
import numpy as np

from kgroups.backends.networkx.graph import ConvertedGraph
from kgroups.backends.networkx.partitions import communities_of

__all__ = [
    "connected_components",
    "is_connected",
    "node_connected_component",
    "number_connected_components",
]


def connected_components(G: ConvertedGraph) -> Iterator[set[Hashable]]:
    """As :func:`networkx.algorithms.components.connected.connected_components`."""
    return iter(communities_of(G, G.components[1]))


def number_connected_components(G: ConvertedGraph) -> int:
    """As :func:`networkx.algorithms.components.connected.number_connected_components`."""
    return G.components[0]


def is_connected(G: ConvertedGraph) -> bool:
    """As :func:`networkx.algorithms.components.connected.is_connected`."""
    if len(G) == 0:
        msg = "Connectivity is undefined for the null graph."
        raise nx.NetworkXPointlessConcept(msg)
    return G.components[0] == 1


def node_connected_component(G: ConvertedGraph, n: Hashable) -> set[Hashable]:
    """As :func:`networkx.algorithms.components.connected.node_connected_component`."""
    labels = G.components[1]
    rows = np.flatnonzero(labels == labels[G.index[n]])
    return {G.nodes[i] for i in rows.tolist()}
