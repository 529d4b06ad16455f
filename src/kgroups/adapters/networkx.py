"""networkx graphs of every class, views included, to ``Graph``."""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, compress
from operator import itemgetter
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from kgroups._types import Floats, Indices, Ints, Symmetrize
from kgroups.adapters.adjacency import Structure, read_structure
from kgroups.adapters.direction import graph_of_edges, refuse_directed
from kgroups.adapters.weights import checked_weights, no_such_attribute
from kgroups.graph import Graph

__all__ = [
    "from_networkx",
    "is_plain",
    "kept_structure",
    "known_structure",
    "remember_structure",
    "structure_of",
]

_CACHE_KEY = "kgroups-structure"
_FACTORIES = (
    "adjlist_outer_dict_factory",
    "adjlist_inner_dict_factory",
    "edge_key_dict_factory",
    "edge_attr_dict_factory",
)
_READING = ("__iter__", "__len__", "adj", "adjacency", "edges", "neighbors", "nodes")

# networkx empties the cache of a graph whenever the graph changes. Only a bare token lies in
# there, so that a pickled graph needs no kgroups to load and carries no arrays.
_structures: WeakKeyDictionary[Any, tuple[object, Structure]] = WeakKeyDictionary()


def from_networkx(graph: Any, weight: str | None, symmetrize: Symmetrize | None) -> Graph:
    """Convert a networkx graph; its structure is kept for the next call, weights are not."""
    if graph.is_directed():
        refuse_directed(f"a directed networkx {type(graph).__name__}", symmetrize)
    if graph.is_directed() or not is_plain(graph):
        return _from_edge_view(graph, weight, symmetrize)
    structure = structure_of(graph)
    if symmetrize == "union":
        return Graph(structure.indptr, structure.indices, nodes=structure.nodes)
    if graph.is_multigraph():
        return _with_parallel_edges(graph._adj, structure, weight)
    return _with_weights(graph._adj, structure, weight)


def is_plain(graph: Any) -> bool:
    """Whether the graph is dicts all the way down and no subclass bends how they are read."""
    kind = type(graph)
    base = next(cls for cls in kind.__mro__ if cls.__module__.startswith("networkx.classes."))
    return (
        type(graph._adj) is dict
        and not hasattr(graph, "_graph")
        and all(getattr(kind, name, dict) is dict for name in _FACTORIES)
        and all(getattr(kind, name) is getattr(base, name) for name in _READING)
    )


def structure_of(graph: Any) -> Structure:
    """Return the structure of a plain undirected graph, read once while networkx knows no change.

    Every door shares it: :func:`kgroups.as_graph` and the networkx backend.
    """
    known = known_structure(graph)
    if known is not None:
        return known
    structure = read_structure(graph._adj)
    remember_structure(graph, structure)
    return structure


def remember_structure(graph: Any, structure: Structure) -> None:
    """Keep the structure of a graph until networkx says that the graph has changed."""
    if _remembers(graph):
        token = object()
        _structures[graph] = (token, structure)
        graph.__networkx_cache__[_CACHE_KEY] = token


def _remembers(graph: Any) -> bool:
    return (
        isinstance(getattr(graph, "__networkx_cache__", None), dict)
        and cast(Any, type(graph)).__hash__ is object.__hash__
        and bool(sys.modules["networkx"].config.cache_converted_graphs)
    )


def known_structure(graph: Any) -> Structure | None:
    """Return the structure that was read before, or None if the graph has changed since.

    All names are compared, which takes less time than reading them: an edit of many edges that
    fails half-way changes the graph, and networkx does not empty its cache.
    """
    structure = kept_structure(graph)
    return structure if structure is not None and structure.matches(graph._adj) else None


def kept_structure(graph: Any) -> Structure | None:
    """Return the structure that was read before, if networkx knows no change and counts agree."""
    if not _remembers(graph) or _CACHE_KEY not in graph.__networkx_cache__:
        return None
    token, structure = _structures.get(graph, (None, None))
    if structure is None or token is not graph.__networkx_cache__[_CACHE_KEY]:
        return None
    return structure if structure.counts_match(graph._adj) else None


def _edge_data(adjacency: dict[Any, Any]) -> Iterator[Any]:
    """Yield what each adjacency entry holds: attributes, or the parallel edges of a multigraph."""
    return chain.from_iterable(map(dict.values, adjacency.values()))


def _with_weights(adjacency: dict[Any, Any], structure: Structure, weight: str | None) -> Graph:
    weights = None
    # Attributes exist in few graphs; looking for one in each edge costs more than the structure.
    if weight is not None and any(_edge_data(adjacency)):
        weights = _attribute(
            lambda: compress(_edge_data(adjacency), structure.one_direction),
            weight,
            structure.edge_names,
        )
    elif weight not in (None, "weight") and len(structure.indices):
        raise no_such_attribute(weight, (), kind="attribute")
    if weights is None or np.all(weights == 1):
        return Graph(structure.indptr, structure.indices, nodes=structure.nodes)
    spread = weights[structure.edge_of_slot]
    return Graph(structure.indptr, structure.indices, spread, nodes=structure.nodes)


def _with_parallel_edges(
    adjacency: dict[Any, Any], structure: Structure, weight: str | None
) -> Graph:
    bundles = list(compress(_edge_data(adjacency), structure.one_direction))
    counts = np.fromiter(map(len, bundles), np.int64, len(bundles))
    weights = None
    if weight is not None:
        bundle_of = np.repeat(np.arange(len(bundles)), counts)
        single = _attribute(
            lambda: chain.from_iterable(map(dict.values, bundles)),
            weight,
            lambda t: structure.edge_names(int(bundle_of[t])),
        )
        if single is not None:
            weights = np.zeros(len(bundles))
            # A sum that overflows is refused by Graph, in words.
            with np.errstate(over="ignore"):
                np.add.at(weights, bundle_of, single)
    return _spread(structure, counts, weights)


def _spread(structure: Structure, counts: Ints, weights: Floats | None) -> Graph:
    parallel = bool(np.any(counts > 1))
    if weights is None and parallel:
        weights = counts.astype(float)
    if weights is not None and not parallel and np.all(weights == 1):
        weights = None
    slot = structure.edge_of_slot if parallel or weights is not None else None
    return Graph(
        structure.indptr,
        structure.indices,
        None if weights is None else weights[slot],
        multiplicity=counts[slot] if parallel else None,
        nodes=structure.nodes,
    )


def _attribute(
    attributes: Callable[[], Iterable[Any]],
    weight: str,
    edge: Callable[[int], tuple[object, object]],
) -> Floats | None:
    """Return the named attribute of each edge, 1 where it is missing; ``None`` if none has it.

    ``attributes`` begins a new walk over the attribute dicts; most graphs need one.
    """
    try:
        values = list(map(itemgetter(weight), attributes()))
    except KeyError:
        if not any(weight in data for data in attributes()):
            if weight == "weight":
                return None
            found = set(chain.from_iterable(attributes()))
            raise no_such_attribute(weight, found, kind="attribute") from None
        values = [data.get(weight, 1) for data in attributes()]
    return checked_weights(values, edge) if values else None


def _from_edge_view(graph: Any, weight: str | None, symmetrize: Symmetrize | None) -> Graph:
    """Read node by node and edge by edge, as views and directed graphs need it."""
    nodes = tuple(graph)
    number = dict(zip(nodes, range(len(nodes)), strict=True))
    edges = list(graph.edges(data=True))
    u = _numbers(number, map(itemgetter(0), edges), len(edges))
    v = _numbers(number, map(itemgetter(1), edges), len(edges))
    weights = None
    if weight is not None and symmetrize != "union":
        weights = _attribute(
            lambda: map(itemgetter(2), edges), weight, lambda t: (edges[t][0], edges[t][1])
        )
    return graph_of_edges(u, v, weights, nodes, symmetrize)


def _numbers(number: dict[Any, int], names: Iterable[Any], count: int) -> Indices:
    return np.fromiter(map(number.__getitem__, names), np.int64, count)
