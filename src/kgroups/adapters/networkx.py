"""networkx graphs of every class, views included, to ``Graph``."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, compress
from operator import itemgetter
from typing import Any

import numpy as np

from kgroups._csr import index_type
from kgroups._types import Bools, Floats, Indices, Ints
from kgroups.adapters.edges import (
    ReadOptions,
    checked_weights,
    graph_of_edges,
    no_such_attribute,
    refuse_directed,
)
from kgroups.adapters.numbering import unique_integers
from kgroups.graph import Graph

_FACTORIES = (
    "adjlist_outer_dict_factory",
    "adjlist_inner_dict_factory",
    "edge_key_dict_factory",
    "edge_attr_dict_factory",
)
_READING = ("__iter__", "__len__", "adj", "adjacency", "edges", "neighbors", "nodes")


class Structure:
    """Sorted CSR rows of an undirected graph, and the position of each edge in its dicts.

    Parameters
    ----------
    adjacency : dict of dicts
        Holds each edge in both directions; edge data are not read.
    """

    def __init__(self, adjacency: dict[Any, Any]) -> None:
        from scipy import sparse

        n = len(adjacency)
        names = tuple(chain.from_iterable(adjacency.values()))
        kind = index_type(n, len(names))
        self._dict_indptr = np.zeros(n + 1, kind)
        lengths = np.fromiter(map(len, adjacency.values()), np.int64, n)
        np.cumsum(lengths, out=self._dict_indptr[1:], dtype=kind)
        self._neighbors, self.nodes = _numbered_neighbors(adjacency, names, kind)
        places = np.arange(len(names), dtype=kind)
        unsorted = sparse.csr_array((places, self._neighbors, self._dict_indptr), shape=(n, n))
        # Columns of a symmetric matrix are its rows, and the transposition sorts them on the way.
        transposed = unsorted.tocsc()
        self.indptr, self.indices = transposed.indptr, transposed.indices
        self._place_of_slot = transposed.data

    @cached_property
    def _is_upper(self) -> Bools:
        rows = np.repeat(np.arange(len(self.nodes)), np.diff(self._dict_indptr))
        upper: Bools = rows <= self._neighbors
        return upper

    @cached_property
    def one_direction(self) -> bytes:
        """A 1 for the upper-triangle entry of each edge in dict order, a 0 for the other one."""
        return self._is_upper.tobytes()

    @cached_property
    def edge_of_slot(self) -> Indices:
        """Number of the edge, in the order of ``one_direction``, behind each sorted CSR entry."""
        from scipy import sparse

        n = len(self.nodes)
        number = np.cumsum(self._is_upper, dtype=self.indices.dtype) - 1
        upper = np.where(self._is_upper, number, -1)[self._place_of_slot]
        transposed = sparse.csr_array((upper, self.indices, self.indptr), shape=(n, n)).tocsc()
        edges: Indices = np.maximum(upper, transposed.data)
        return edges

    def edge_names(self, edge: int) -> tuple[Hashable, Hashable]:
        """Return the names of the ends of an edge, for messages."""
        place = int(np.flatnonzero(self._is_upper)[edge])
        row = int(np.searchsorted(self._dict_indptr, place, side="right")) - 1
        return self.nodes[row], self.nodes[self._neighbors[place]]


def _numbered_neighbors(
    adjacency: dict[Any, Any], flat: tuple[Any, ...], kind: type[np.signedinteger[Any]]
) -> tuple[Indices, Sequence[Hashable]]:
    """Return the row number of each neighbor in dict order, and the node names."""
    n, nodes = len(adjacency), tuple(adjacency)
    types = set(map(type, nodes))
    if types and all(issubclass(one, int | np.integer) for one in types):
        try:
            names = np.fromiter(nodes, np.int64, n)
            found = np.fromiter(flat, np.int64, len(flat))
        except OverflowError:
            pass
        else:
            if np.array_equal(names, np.arange(n)):
                return found.astype(kind, copy=False), range(n) if types == {int} else nodes
            return _positions(names, found).astype(kind, copy=False), nodes
    number = dict(zip(nodes, range(n), strict=True)).__getitem__
    return np.fromiter(map(number, flat), kind, len(flat)), nodes


def _positions(names: Ints, found: Ints) -> Indices:
    """Replace each integer name by its position in ``names``."""
    _, (of_names, of_found) = unique_integers(names, found)
    position = np.empty_like(of_names)
    position[of_names] = np.arange(names.size)
    return position[of_found]


def is_plain(graph: Any) -> bool:
    """Return whether a graph consists of plain dicts that no subclass reads in another way."""
    kind = type(graph)
    base = next(cls for cls in kind.__mro__ if cls.__module__.startswith("networkx.classes."))
    return (
        type(graph._adj) is dict
        and not hasattr(graph, "_graph")
        and all(getattr(kind, name, dict) is dict for name in _FACTORIES)
        and all(getattr(kind, name) is getattr(base, name) for name in _READING)
    )


def from_networkx(graph: Any, options: ReadOptions) -> Graph:
    """Convert a networkx graph."""
    if graph.is_directed():
        refuse_directed(f"a directed networkx {type(graph).__name__}", options)
    if graph.is_directed() or not is_plain(graph):
        return _from_edge_view(graph, options)
    structure = Structure(graph._adj)
    if options.symmetrize == "union":
        return Graph(structure.indptr, structure.indices, nodes=structure.nodes)
    counts, weights = _edge_values(graph, structure, options.weight)
    slot = structure.edge_of_slot if counts is not None or weights is not None else None
    return Graph(
        structure.indptr,
        structure.indices,
        None if weights is None else weights[slot],
        multiplicity=None if counts is None else counts[slot],
        nodes=structure.nodes,
    )


def _edge_values(
    graph: Any, structure: Structure, weight: str | None
) -> tuple[Ints | None, Floats | None]:
    """Return the number of parallel edges and their weight; ``None`` where all of them are 1."""

    def entries() -> Iterator[Any]:
        """Yield attributes, or the parallel edges of a multigraph, for each pair of nodes."""
        data = chain.from_iterable(map(dict.values, graph._adj.values()))
        return compress(data, structure.one_direction)

    counts = weights = None
    if graph.is_multigraph():
        bundles = list(entries())
        counts = np.fromiter(map(len, bundles), np.int64, len(bundles))
        bundle_of = np.repeat(np.arange(len(bundles)), counts)
        if weight is not None:
            single = edge_attribute(
                lambda: chain.from_iterable(map(dict.values, bundles)),
                weight,
                lambda t: structure.edge_names(int(bundle_of[t])),
            )
            if single is not None:
                weights = np.zeros(len(bundles))
                # Graph raises a WeightError for a sum that overflows.
                with np.errstate(over="ignore"):
                    np.add.at(weights, bundle_of, single)
        if np.any(counts > 1):
            return counts, counts.astype(float) if weights is None else weights
    # Few graphs have attributes; looking for one in each edge costs more than the structure.
    elif weight is not None and any(entries()):
        weights = edge_attribute(entries, weight, structure.edge_names)
    elif weight not in (None, "weight") and len(structure.indices):
        raise no_such_attribute(weight, (), kind="attribute")
    return None, None if weights is None or np.all(weights == 1) else weights


def edge_attribute(
    attributes: Callable[[], Iterable[Any]],
    weight: str,
    edge: Callable[[int], tuple[object, object]],
) -> Floats | None:
    """Return the named attribute of each edge, 1 where it is missing; ``None`` if none has it.

    ``attributes`` starts a new iteration over the attribute dicts; most graphs need one.
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


def _from_edge_view(graph: Any, options: ReadOptions) -> Graph:
    """Convert node by node and edge by edge, as views and directed graphs need it."""
    nodes = tuple(graph)
    number = dict(zip(nodes, range(len(nodes)), strict=True))
    edges = list(graph.edges(data=True))
    u, v = (
        np.fromiter(map(number.__getitem__, map(itemgetter(end), edges)), np.int64, len(edges))
        for end in (0, 1)
    )
    weights = None
    if options.weight is not None and options.reads_weights:
        weights = edge_attribute(
            lambda: map(itemgetter(2), edges), options.weight, lambda t: (edges[t][0], edges[t][1])
        )
    return graph_of_edges(u, v, weights, nodes, options)
