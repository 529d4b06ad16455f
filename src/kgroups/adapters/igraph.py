"""igraph graphs to ``Graph``, and random numbers for igraph."""

import ctypes
import random
import sys
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np

from kgroups._csr import index_type
from kgroups._types import Floats, Indices
from kgroups.adapters.edges import (
    ReadOptions,
    checked_weights,
    graph_of_edges,
    no_such_attribute,
    refuse_directed,
)
from kgroups.errors import GraphError, InputError
from kgroups.graph import Graph

TESTED_VERSIONS = ("0.11.5", "0.11.6", "0.11.8", "0.11.9", "1.0.0")
"""Versions of igraph whose C structure was compared with their edge lists."""

# Up to this size the list of edges is faster than a copy whose memory is checked. A million edges
# take 0.05 s from memory and 0.25 s as a list.
_EDGES_READ_AS_LIST = 1500
_COMPARED_EDGES = 64  # Edges that igraph must confirm before its memory is trusted.


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


# igraph has one source of random numbers per process.
_drawing = Lock()


def from_igraph(
    graph: Any,
    options: ReadOptions,
    *,
    few_edges: int = _EDGES_READ_AS_LIST,
    versions: Sequence[str] = TESTED_VERSIONS,
    layout: Any = _Head,
) -> Graph:
    """Convert an igraph graph; the vertex attribute ``name`` names the nodes if it is unique.

    Larger graphs of known versions of igraph are read from the C structure of a copy.
    """
    import igraph

    # Subclasses copy by code of their own, which could fail or keep the copy.
    private = (
        graph.ecount() > few_edges
        and type(graph) is igraph.Graph
        and igraph.__version__ in versions
        and sys.maxsize > 2**32
    )
    if private:
        # Another thread could change the caller's graph, and free its memory, at any time.
        graph = graph.copy()
    if graph.is_directed():
        refuse_directed("a directed igraph Graph", options)
    weight = options.weight if options.reads_weights else None
    # All of the graph is read before anything is checked: objects that serve as names or weights
    # run code of their own, and that could change the graph.
    n = graph.vcount()
    names = graph.vs["name"] if "name" in graph.vertex_attributes() else None
    attributes = graph.edge_attributes()
    values = graph.es[weight] if weight in attributes else None
    ends = _ends_in_memory(graph, layout) if private else None
    if ends is None:
        ends = _ends_from_list(graph)
    del graph  # A copy takes 32 bytes per edge; the rows are built without it.
    m = ends.shape[1]
    if (
        (names is not None and len(names) != n)
        or (values is not None and len(values) != m)
        or (m and ends.max() >= n)
    ):
        msg = (
            f"an igraph Graph must not change while it is read, got {n} vertices and edges between "
            "others.\n  Let one thread at a time use the graph, or pass graph.copy()."
        )
        raise GraphError(msg)
    nodes = _vertex_names(names, n)
    weights = None
    if weight is not None:
        weights = _edge_weights(weight, values, attributes, ends, nodes)
    return graph_of_edges(ends[0], ends[1], weights, nodes, options)


def _ends_in_memory(graph: Any, layout: Any = _Head) -> Indices | None:
    """Return both ends of all edges as the list has them, or ``None`` if igraph contradicts them.

    The graph must be private: nothing else may change it meanwhile.
    """
    n, m = graph.vcount(), graph.ecount()
    head = layout.from_address(graph._raw_pointer())
    vectors = [head.ends_from, head.ends_to]
    size = m * ctypes.sizeof(ctypes.c_int64)
    sizes = [(part.end or 0) - (part.begin or 0) for part in vectors]
    if m == 0 or head.n != n or sizes != [size, size]:
        return None
    if not graph.is_directed():
        vectors.reverse()  # The list begins with the smaller end, the structure with the larger.
    memory = [(ctypes.c_int64 * m).from_address(part.begin) for part in vectors]
    given = [np.frombuffer(part, np.int64) for part in memory]
    if min(part.min() for part in given) < 0 or max(part.max() for part in given) >= n:
        return None
    ends = np.empty((2, m), index_type(n, 2 * m))
    for end, part in zip(ends, given, strict=True):
        end[:] = part
    sample = np.linspace(0, m - 1, _COMPARED_EDGES, dtype=np.int64)
    expected = [edge.tuple for edge in graph.es[sample.tolist()]]
    if list(zip(*ends[:, sample].tolist(), strict=True)) != expected:
        return None
    return ends


def _ends_from_list(graph: Any) -> Indices:
    edges = graph.get_edgelist()
    return np.fromiter(chain.from_iterable(edges), np.int64, 2 * len(edges)).reshape(-1, 2).T


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
    ends: Indices,
    nodes: Sequence[Hashable],
) -> Floats | None:
    if values is None or all(value is None for value in values):
        if weight != "weight" and ends.size:
            others = [name for name in attributes if name != weight]
            raise no_such_attribute(weight, others, kind="attribute")
        return None
    if None in values:
        values = [1 if value is None else value for value in values]

    def edge(t: int) -> tuple[Hashable, Hashable]:
        a, b = ends[:, t].tolist()
        return nodes[a], nodes[b]

    return checked_weights(values, edge)


@contextmanager
def igraph_draws_from(source: random.Random) -> Iterator[None]:
    """Let igraph draw its random numbers from a given source, and restore its own afterwards.

    igraph holds functions of a Python object, by default of the module ``random``, for the whole
    process, and for each thread whether it calls them or its own C generator. It has no functions
    that return either, so both are inferred. A generator other than ``random`` cannot be restored.

    Raises
    ------
    InputError
        If the caller has set a generator of their own.
    """
    import igraph

    with _drawing:
        if not _igraph_holds_default():
            msg = (
                "igraph must draw from Python's module random while a seed is given to it, got a "
                "generator of your own, which cannot be restored.\n"
                "  Call igraph.set_random_number_generator(random) before, and set yours again "
                "afterwards."
            )
            raise InputError(msg)
        by_python = _igraph_calls_python()
        igraph.set_random_number_generator(source)
        try:
            yield
        finally:
            igraph.set_random_number_generator(random)
            if not by_python:
                igraph.set_random_number_generator(None)


def _igraph_holds_default() -> bool:
    """Tell whether igraph holds the functions of ``random``: each then has one more reference."""

    def references(name: str) -> int:
        return sys.getrefcount(getattr(random, name))

    unused = references("vonmisesvariate")
    return all(references(name) > unused for name in ("randint", "random", "gauss"))


def _igraph_calls_python() -> bool:
    """Tell whether igraph, when it draws in this thread, calls the functions of ``random``."""
    import igraph

    before = random.getstate()
    igraph.Graph(1).layout_random()
    if random.getstate() == before:
        return False
    random.setstate(before)
    return True
