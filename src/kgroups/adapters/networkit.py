"""NetworKit graphs to ``Graph``."""

from typing import Any

import numpy as np

from kgroups.adapters.edges import (
    ReadOptions,
    checked_weights,
    graph_of_edges,
    no_such_attribute,
    refuse_directed,
)
from kgroups.graph import Graph


def from_networkit(graph: Any, options: ReadOptions) -> Graph:
    """Convert a NetworKit graph; nodes are named by their numbers, removed ones are left out."""
    if graph.isDirected():
        refuse_directed("a directed NetworKit graph", options)
    is_weighted = graph.isWeighted()
    if options.weight not in (None, "weight"):
        found = ["weight"] if is_weighted else []
        raise no_such_attribute(options.weight, found, kind="attribute")
    nodes = np.fromiter(graph.iterNodes(), np.int64, graph.numberOfNodes())
    # Numbers of nodes are ascending, with gaps where nodes were removed.
    edges = np.array(list(graph.iterEdgesWeights())).reshape(-1, 3)
    u, v = (np.searchsorted(nodes, edges[:, end].astype(np.int64)) for end in (0, 1))
    weights = None
    if is_weighted and options.reads_weights:
        weights = checked_weights(edges[:, 2], lambda t: (int(nodes[u[t]]), int(nodes[v[t]])))
    n = nodes.size
    names = range(n) if np.array_equal(nodes, np.arange(n)) else nodes.tolist()
    return graph_of_edges(u, v, weights, names, options)
