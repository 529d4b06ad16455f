"""Communities as networkx takes them, lists of collections of nodes, to one label per row."""

from collections.abc import Collection, Hashable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from kgroups._types import Ints
from kgroups.backends.networkx.graph import ConvertedGraph

__all__ = ["Blocks", "as_blocks", "communities_of"]


class Blocks(NamedTuple):
    """Labels of a partition or of a part of it.

    Attributes
    ----------
    labels : ndarray of int
        Block of each row, -1 where the row is in none.
    sizes : ndarray of int
        Number of nodes of each block.
    """

    labels: Ints
    sizes: Ints

    @property
    def is_complete(self) -> bool:
        """Whether every row is in a block."""
        return int(self.sizes.sum()) == len(self.labels)


def as_blocks(graph: ConvertedGraph, communities: Any) -> Blocks | None:
    """Return the labels of disjoint blocks of nodes, or None if they are something else."""
    blocks = communities if isinstance(communities, list) else list(communities)
    if not all(isinstance(block, Collection) for block in blocks):
        return None
    sizes = np.fromiter(map(len, blocks), np.int64, len(blocks))
    try:
        rows = np.fromiter(
            map(graph.index.__getitem__, chain.from_iterable(blocks)), np.int64, int(sizes.sum())
        )
    except (KeyError, TypeError):
        return None
    labels = np.full(len(graph), -1, dtype=np.int64)
    labels[rows] = np.repeat(np.arange(len(blocks)), sizes)
    # A node that comes twice leaves one row fewer with a label than there are names.
    return Blocks(labels, sizes) if np.count_nonzero(labels >= 0) == rows.size else None


def communities_of(graph: ConvertedGraph, labels: Ints) -> list[set[Hashable]]:
    """Return sets of the caller's node objects, in the order of their first nodes."""
    _, first, inverse, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    order = np.argsort(rank[inverse], kind="stable").tolist()
    ends = np.cumsum(sizes[np.argsort(first)]).tolist()
    names = [graph.nodes[i] for i in order]
    return [set(names[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
