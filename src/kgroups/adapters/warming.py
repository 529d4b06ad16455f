"""Compile the kernels that convert large graphs, at a time of the caller's choosing."""

import numpy as np

from kgroups._mirror import are_few
from kgroups.adapters.dispatch import as_graph
from kgroups.adapters.numbering import TextNames, Texts
from kgroups.graph import Graph

__all__ = ["compile_kernels"]


def compile_kernels() -> None:
    """Convert a graph of each kind for which there are kernels; takes no time once compiled."""
    n = 2
    while are_few(n):
        n *= 2
    ring = np.arange(n)
    source, target = np.append(ring, 0), np.append(np.roll(ring, 1), 1)
    weight = np.linspace(1.0, 2.0, source.size)
    far_apart = 2**40
    for weights in ((), (weight,)):
        graph = as_graph((source, target, *weights))
        Graph.from_edges(source, target, *weights)
        as_graph((source * far_apart, target * far_apart, *weights), symmetrize="union")
        as_graph(graph.to_scipy())
        graph.permuted(ring[::-1].copy()).simple_adjacency()
    # So many texts of eight bytes that the table has to grow.
    texts = Texts(np.arange(0, 8 * n + 1, 8), ring.view(np.uint8), bytes)
    numbers = np.empty((2, n), np.int32)
    TextNames().number(texts, texts, *numbers)
