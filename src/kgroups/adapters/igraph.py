"""igraph graphs to ``Graph``, without a Python object per edge where that is known to be safe."""

import ctypes
import sys
from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from kgroups._types import Floats, Indices, Symmetrize
from kgroups.adapters.direction import graph_of_edges, refuse_directed
from kgroups.adapters.weights import checked_weights, no_such_attribute
from kgroups.graph import Graph

__all__ = ["from_igraph"]

TESTED_VERSIONS = (
    "0.11.2",
    "0.11.3",
    "0.11.4",
    "0.11.5",
    "0.11.6",
    "0.11.8",
    "0.11.9",
    "1.0.0",
)
"""Versions of igraph whose C structure was compared with its edge lists."""

_SAMPLE = 64


class _IntVector(ctypes.Structure):
    _fields_ = [
        ("begin", ctypes.c_void_p),
        ("storage_end", ctypes.c_void_p),
        ("end", ctypes.c_void_p),
    ]


class _Head(ctypes.Structure):
    """The first fields of the C structure of a graph."""

    _fields_ = [
        ("n", ctypes.c_int64),
        ("directed", ctypes.c_bool),
        ("ends_from", _IntVector),
        ("ends_to", _IntVector),
    ]


def from_igraph(graph: Any, weight: str | None, symmetrize: Symmetrize | None) -> Graph:
    """Convert an igraph graph; the vertex attribute ``name`` names the nodes if it is unique."""
    if graph.is_directed():
        refuse_directed("a directed igraph Graph", symmetrize)
    nodes = _vertex_names(graph)
    weights = None
    if weight is not None and symmetrize != "union":
        weights = _edge_weights(graph, weight, nodes)
    # Last, because objects that serve as names and weights run code of their own, and that could
    # change the graph while its memory is in use.
    ends = _ends_in_memory(graph)
    u, v = _ends_from_list(graph) if ends is None else ends
    return graph_of_edges(u, v, weights, nodes, symmetrize)


def _vertex_names(graph: Any) -> Sequence[Hashable]:
    n = graph.vcount()
    if "name" in graph.vs.attributes():
        names = tuple(graph.vs["name"])
        try:
            if None not in names and len(set(names)) == n:
                return names
        except TypeError:
            pass
    return range(n)


def _ends_from_list(graph: Any) -> tuple[Indices, Indices]:
    m = graph.ecount()
    flat = np.fromiter(chain.from_iterable(graph.get_edgelist()), np.int64, 2 * m)
    return flat[0::2], flat[1::2]


def _ends_in_memory(graph: Any) -> tuple[Indices, Indices] | None:
    """Return views of the ends of all edges in igraph's memory, or ``None`` where it is not known.

    The views are good until the graph changes.
    """
    if sys.modules["igraph"].__version__ not in TESTED_VERSIONS or sys.maxsize < 2**32:
        return None
    n, m = graph.vcount(), graph.ecount()
    if m == 0:
        return None
    head = _Head.from_address(graph._raw_pointer())
    vectors = (head.ends_from, head.ends_to)
    size = m * ctypes.sizeof(ctypes.c_int64)
    if head.n != n or any((part.end or 0) - (part.begin or 0) != size for part in vectors):
        return None
    first, second = (
        np.ctypeslib.as_array((ctypes.c_int64 * m).from_address(part.begin)) for part in vectors
    )
    sample = np.unique(np.linspace(0, m - 1, _SAMPLE, dtype=np.int64)).tolist()
    expected = [sorted(graph.es[e].tuple) for e in sample]
    if [sorted((int(first[e]), int(second[e]))) for e in sample] != expected:
        return None
    return first, second


def _edge_weights(graph: Any, weight: str, nodes: Sequence[Hashable]) -> Floats | None:
    found = graph.es.attributes()
    values = graph.es[weight] if weight in found else []
    if all(value is None for value in values):
        if weight != "weight" and graph.ecount():
            others = [name for name in found if name != weight]
            raise no_such_attribute(weight, others, kind="attribute")
        return None
    if None in values:
        values = [1 if value is None else value for value in values]

    def edge(t: int) -> tuple[Hashable, Hashable]:
        a, b = graph.es[t].tuple
        return nodes[a], nodes[b]

    return checked_weights(values, edge)
