"""Pairs of nodes to a simple ``Graph``."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from kgroups._types import Indices, index_type
from kgroups.graph import Graph

__all__ = ["Ends", "joined_ends", "simple_graph"]

Ends: TypeAlias = tuple[Indices, Indices]
"""Both ends of some pairs of nodes."""


def joined_ends(parts: Sequence[Ends]) -> Ends:
    """Return one list of pairs from several."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([u for u, _ in parts]), np.concatenate([v for _, v in parts])


def simple_graph(ends: Ends, n: int) -> Graph:
    """Return the graph with an edge for each pair that is listed at least once, loops left out."""
    from scipy import sparse

    u, v = ends
    loops = u == v
    if loops.any():
        u, v = u[~loops], v[~loops]
    kind = index_type(n, 2 * u.size)
    rows = np.concatenate([u, v], dtype=kind)
    columns = np.concatenate([v, u], dtype=kind)
    # Only the pattern counts: the sums of repeated pairs may wrap around in so small a type.
    entries = np.ones(rows.size, dtype=np.int8)
    pattern = sparse.coo_array((entries, (rows, columns)), shape=(n, n)).tocsr()
    return Graph(pattern.indptr, pattern.indices)
