"""igraph graphs to ``Graph``, and random numbers for igraph."""

import random
import sys
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np

from kgroups._types import Floats, Symmetrize
from kgroups.adapters.direction import graph_of_edges, refuse_directed
from kgroups.adapters.weights import checked_weights, no_such_attribute
from kgroups.errors import GraphError, InputError
from kgroups.graph import Graph

__all__ = ["from_igraph", "igraph_draws_from"]

# igraph has one source of random numbers per process.
_drawing = Lock()


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


@contextmanager
def igraph_draws_from(source: random.Random) -> Iterator[None]:
    """Let igraph draw its random numbers from a given source, and then from where it did before.

    igraph holds functions of a Python object, by default of the module ``random``, for the whole
    process, and for each thread whether it calls them or its own C generator. Neither can be asked
    for, so both are found out. Another object than ``random`` could not be given back.

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
                "generator of your own, which igraph cannot give back.\n"
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
    """Whether igraph holds the functions of ``random``: each then has a reference more."""

    def references(name: str) -> int:
        return sys.getrefcount(getattr(random, name))

    unused = references("vonmisesvariate")
    return all(references(name) > unused for name in ("randint", "random", "gauss"))


def _igraph_calls_python() -> bool:
    """Whether igraph, if told to draw in this thread, calls the functions of ``random``."""
    import igraph

    before = random.getstate()
    igraph.Graph(1).layout_random()
    if random.getstate() == before:
        return False
    random.setstate(before)
    return True
