"""The graph that networkx's dispatcher passes to this backend, and its conversion both ways."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress
from operator import itemgetter
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
import numpy.typing as npt

from kgroups._csr import index_type
from kgroups._types import Indices, Ints
from kgroups.adapters import Structure, is_plain

Weights: TypeAlias = npt.NDArray[Any]
"""int64 or float64: integers stay integers, so that results have networkx's types."""

DIRECTED = (
    "networkx computes with the directions of the edges, and this backend has undirected graphs "
    "only. Leave out backend='kgroups' to let networkx run, or pass G.to_undirected(), which drops "
    "the directions; where both exist it keeps the weight of one and does not add them"
)
"""Why directed graphs are left to networkx, and what to do."""

# Integer weights must sum to less than this, so that no sum overflows 64 bits.
_MAX_INTEGER_SUM = 2.0**62
# The types whose sums in numpy are those of networkx in Python.
_NUMBERS = {int, float, np.int64, np.float64}


@dataclass(eq=False, repr=False)
class ConvertedGraph:
    """An undirected networkx graph as CSR rows, with parallel edges counted.

    Parameters
    ----------
    nodes : sequence of hashable
        The caller's own node objects, in the order of the graph.
    indptr, indices : ndarray of int
        Neighbors of each node, sorted; an edge stands in both rows, a loop once.
    multigraph : bool
        As ``is_multigraph()`` of the networkx graph says.
    counts : ndarray of int or None
        Number of parallel edges behind each entry; ``None`` when there are none.
    weights : dict of str to ndarray or None
        Sum of an edge attribute over the parallel edges of each entry, by the name of the
        attribute; ``None`` where every edge weighs 1.

    Notes
    -----
    networkx keeps this object in the cache of the graph that it was made of. It is pickled and
    copied as None, which networkx takes for an empty slot: a graph that was used with kgroups
    can be loaded where kgroups is not installed, and its file holds no arrays.
    """

    __networkx_backend__ = "kgroups"

    nodes: Sequence[Hashable]
    indptr: Indices
    indices: Indices
    multigraph: bool = field(kw_only=True)
    counts: Ints | None = field(kw_only=True)
    weights: dict[str, Weights | None] = field(kw_only=True)

    def __post_init__(self) -> None:
        self._degrees: dict[str | None, Weights] = {}
        self.__networkx_cache__: dict[str, Any] = {}

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return False

    def is_multigraph(self) -> bool:
        """Whether the graph may hold parallel edges."""
        return self.multigraph

    def weights_of(self, attribute: str | None) -> Weights | None:
        """Return the weight of each entry, or None where each entry is one edge of weight 1."""
        if attribute is None:
            return self.counts
        if attribute not in self.weights:
            msg = f"the edge attribute {attribute!r} was not converted"
            raise NotImplementedError(msg)
        weights = self.weights[attribute]
        return self.counts if weights is None else weights

    @cached_property
    def index(self) -> dict[Hashable, int]:
        """Row of each node."""
        return dict(zip(self.nodes, range(len(self.nodes)), strict=True))

    @cached_property
    def rows(self) -> Indices:
        """Row of each entry."""
        return np.repeat(np.arange(len(self), dtype=self.indices.dtype), np.diff(self.indptr))

    @cached_property
    def is_loop(self) -> Any:
        """Whether each entry is a self-loop."""
        return self.rows == self.indices

    @cached_property
    def igraph(self) -> Any:
        """The graph in igraph: an edge for each entry of the upper triangle."""
        import igraph

        upper = self.rows <= self.indices
        ends = np.column_stack([self.rows[upper], self.indices[upper]])
        graph = igraph.Graph(n=len(self))
        # Twice as fast as the constructor, which goes through a memoryview.
        graph.add_edges(ends)
        return graph

    def degrees(self, attribute: str | None) -> Weights:
        """Weighted degrees, with loops counted twice, as networkx does."""
        if attribute not in self._degrees:
            weights = self.weights_of(attribute)
            if weights is None:
                weights = np.ones(len(self.indices), dtype=np.int64)
            ends = np.concatenate([self.rows, self.rows[self.is_loop]])
            both = np.concatenate([weights, weights[self.is_loop]])
            self._degrees[attribute] = sums_of(both, ends, len(self))
        return self._degrees[attribute]

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:
            return False

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def __repr__(self) -> str:
        name = "MultiGraph" if self.multigraph else "Graph"
        return f"{name} with {len(self)} nodes and {int(self.degrees(None).sum()) // 2} edges"


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: Mapping[str, Any] | None = None,
    node_attrs: Mapping[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> ConvertedGraph:
    """Convert an undirected networkx graph with the edge attributes that a call needs.

    Parameters
    ----------
    graph : networkx.Graph
        A graph or multigraph, views and subclasses included.
    edge_attrs : mapping of str to number, optional
        Edge attributes to read, with the value of edges that have none.
    preserve_edge_attrs : bool
        True is declined: attributes of every kind do not fit into arrays.
    node_attrs, preserve_node_attrs, preserve_graph_attrs, name, graph_name
        Not used by the functions of this backend.

    Returns
    -------
    ConvertedGraph
        A view is converted again at each call.
    """
    if not isinstance(graph, nx.Graph):
        msg = f"a networkx graph is needed, got {type(graph).__name__}"
        raise NotImplementedError(msg)
    if preserve_edge_attrs:
        msg = "kgroups converts single edge attributes, not all of them"
        raise NotImplementedError(msg)
    if graph.is_directed():
        raise NotImplementedError(DIRECTED)
    if hasattr(graph, "_graph"):
        _uncache(graph)
    read = _of_dicts if is_read_from_dicts(graph) else _of_edges
    return read(graph, edge_attrs or {})


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """Return a networkx graph for a converted one, and everything else as it is.

    Parameters
    ----------
    obj : object
        Result of a function of this backend, or a graph that another function needs.
    name : str, optional
        Function that the graph is converted for.

    Returns
    -------
    object
        Edges of a converted graph carry the attributes that were converted. Parallel edges
        that differ in an attribute are declined: only their sum is known.
    """
    if not isinstance(obj, ConvertedGraph):
        return obj
    G = nx.MultiGraph() if obj.multigraph else nx.Graph()
    G.add_nodes_from(obj.nodes)
    G.add_edges_from(_edges_of(obj))
    return G


def is_read_from_dicts(graph: nx.Graph) -> bool:
    """Return whether a graph is read from its dicts, and not edge by edge."""
    return is_plain(graph) and not graph.is_multigraph()


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


def as_labels(graph: ConvertedGraph, communities: Sequence[Any]) -> Ints | None:
    """Return the community of each row, or -1; None unless they are disjoint sets of nodes."""
    if not all(isinstance(community, Collection) for community in communities):
        return None
    sizes = [len(community) for community in communities]
    try:
        rows = np.fromiter(
            map(graph.index.__getitem__, chain.from_iterable(communities)), np.int64, sum(sizes)
        )
    except (KeyError, TypeError):
        return None
    labels = np.full(len(graph), -1, dtype=np.int64)
    labels[rows] = np.repeat(np.arange(len(sizes)), sizes)
    # With a repeated node fewer rows have a label than there are names.
    return labels if np.count_nonzero(labels >= 0) == rows.size else None


def sums_of(values: Weights, place: Indices, size: int) -> Weights:
    """Return the sums of the values at each place, exact for integers."""
    totals: Weights = np.zeros(size, dtype=values.dtype)
    np.add.at(totals, place, values)
    return totals


def _of_dicts(graph: Any, declared: Mapping[str, Any]) -> ConvertedGraph:
    """Read a plain graph from its dicts."""
    structure = Structure(graph._adj)

    def attributes() -> Iterator[Any]:
        neighbors = chain.from_iterable(map(dict.values, graph._adj.values()))
        return compress(neighbors, structure.one_direction)

    def read(name: str, default: object) -> Weights | None:
        values = _attribute_values(attributes, name, default)
        return None if values is None else values[structure.edge_of_slot]

    return ConvertedGraph(
        structure.nodes,
        structure.indptr,
        structure.indices,
        multigraph=False,
        counts=None,
        weights=_weights(read, declared),
    )


def _of_edges(graph: Any, declared: Mapping[str, Any]) -> ConvertedGraph:
    """Read multigraphs, views, and subclasses that change how edges are read, edge by edge."""
    nodes = tuple(graph)
    n = len(nodes)
    number = dict(zip(nodes, range(n), strict=True)).__getitem__
    edges = list(graph.edges(data=True))
    u = np.fromiter((number(edge[0]) for edge in edges), np.int64, len(edges))
    v = np.fromiter((number(edge[1]) for edge in edges), np.int64, len(edges))
    edge = np.arange(len(edges))
    mirrored = u != v
    edge = np.concatenate([edge, edge[mirrored]])
    u, v = np.concatenate([u, v[mirrored]]), np.concatenate([v, u[mirrored]])
    order = np.lexsort((v, u))
    u, v, edge = u[order], v[order], edge[order]
    first = np.ones(len(u), dtype=bool)
    first[1:] = (u[1:] != u[:-1]) | (v[1:] != v[:-1])
    entry = np.cumsum(first) - 1
    entries = int(first.sum())
    parallel = np.bincount(entry, minlength=entries)

    def read(name: str, default: object) -> Weights | None:
        values = _attribute_values(lambda: (edge[2] for edge in edges), name, default)
        return None if values is None else sums_of(values[edge], entry, entries)

    kind = index_type(n, entries)
    return ConvertedGraph(
        nodes,
        np.concatenate([[0], np.cumsum(np.bincount(u[first], minlength=n))]).astype(kind),
        v[first].astype(kind),
        multigraph=graph.is_multigraph(),
        counts=parallel if np.any(parallel > 1) else None,
        weights=_weights(read, declared),
    )


def _weights(
    read: Callable[[str, object], Weights | None], declared: Mapping[str, Any]
) -> dict[str, Weights | None]:
    """Read the declared attributes, and ``weight``.

    networkx reads the latter for Bethe Hessians without declaring it to its dispatcher.
    """
    weights = {}
    for name, default in {"weight": 1, **declared}.items():
        try:
            weights[name] = read(name, default)
        except NotImplementedError:
            if name in declared:
                raise
    return weights


def _attribute_values(
    attributes: Callable[[], Iterable[Any]], name: str, default: object
) -> Weights | None:
    """Return one edge attribute as int64 or float64, None if every edge weighs 1.

    ``attributes`` starts a new iteration over the attribute dicts of the edges, and ``default`` is
    the value of edges without the attribute.
    """
    if default == 1 and not any(attributes()):
        return None
    try:
        values = list(map(itemgetter(name), attributes()))
    except KeyError:
        values = [data.get(name, default) for data in attributes()]
    kinds = set(map(type, values))
    if not kinds <= _NUMBERS:
        others = sorted(kind.__name__ for kind in kinds - _NUMBERS)
        msg = f"the edge attribute {name!r} must hold int and float values only, got {others}"
        raise NotImplementedError(msg)
    try:
        numbers = np.array(values, dtype=np.int64 if kinds <= {int, np.int64} else np.float64)
    except OverflowError as error:
        msg = f"the edge attribute {name!r} holds numbers beyond 64 bits"
        raise NotImplementedError(msg) from error
    if numbers.dtype.kind == "i":
        if np.abs(numbers.astype(float)).sum() >= _MAX_INTEGER_SUM:
            msg = f"sums of the edge attribute {name!r} could exceed 64 bits"
            raise NotImplementedError(msg)
        if np.all(numbers == 1):
            return None
    return numbers


def _edges_of(graph: ConvertedGraph) -> Iterator[tuple[Hashable, Hashable, dict[str, Any]]]:
    upper = graph.rows <= graph.indices
    known = {name: values for name, values in graph.weights.items() if values is not None}
    if known and graph.counts is not None:
        msg = "the weights of single parallel edges are not known, only their sums"
        raise NotImplementedError(msg)
    counts = np.ones(len(upper), np.int64) if graph.counts is None else graph.counts
    columns = (graph.rows, graph.indices, counts, *known.values())
    for i, j, count, *values in zip(*(column[upper].tolist() for column in columns), strict=True):
        for _ in range(count):
            yield graph.nodes[i], graph.nodes[j], dict(zip(known, values, strict=True))


def _uncache(view: Any) -> None:
    """Replace the cache of a view by one without this backend.

    A view does not notice that the graph below it changes. networkx stores the conversion in the
    dict that it looked up before, so that the new one stays without it.
    """
    cache = view.__networkx_cache__
    if cache is not None:
        others = cache.get("backends", {}).items()
        kept = {name: graphs for name, graphs in others if name != "kgroups"}
        view.__networkx_cache__ = {**cache, "backends": kept}
