"""Graphs of igraph and NetworKit to ``Graph``, and random numbers for igraph."""

import random
import sys
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np

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

# igraph has one source of random numbers per process.
_drawing = Lock()


def from_igraph(graph: Any, options: ReadOptions) -> Graph:
    """Convert an igraph graph; the vertex attribute ``name`` names the nodes if it is unique."""
    if graph.is_directed():
        refuse_directed("a directed igraph Graph", options)
    weight = options.weight if options.reads_weights else None
    # All of the graph is read before anything is checked: objects that serve as names or weights
    # run code, which could change the graph.
    n = graph.vcount()
    names = graph.vs["name"] if "name" in graph.vertex_attributes() else None
    attributes = graph.edge_attributes()
    values = graph.es[weight] if weight in attributes else None
    edges = graph.get_edgelist()
    m = len(edges)
    ends = np.fromiter(chain.from_iterable(edges), np.int64, 2 * m).reshape(-1, 2).T
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


@contextmanager
def igraph_draws_from(source: random.Random) -> Iterator[None]:
    """Let igraph draw its random numbers from a given source, and restore its own afterwards.

    igraph holds functions of a Python object, by default of the module ``random``, for the whole
    process, and for each thread whether it calls them or its own C generator. It has no functions
    that return either, so both are inferred. A generator other than ``random`` cannot be restored.

    Raises
    ------
    InputError
        If the caller has set another generator.
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
    """Return whether igraph holds the functions of ``random``: each then has one more reference."""

    def references(name: str) -> int:
        return sys.getrefcount(getattr(random, name))

    unused = references("vonmisesvariate")
    return all(references(name) > unused for name in ("randint", "random", "gauss"))


def _igraph_calls_python() -> bool:
    """Return whether igraph, when it draws in this thread, calls the functions of ``random``."""
    import igraph

    before = random.getstate()
    igraph.Graph(1).layout_random()
    if random.getstate() == before:
        return False
    random.setstate(before)
    return True
