"""Convert networkx graphs to :class:`ConvertedGraph` and back, under networkx's names."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress
from operator import itemgetter
from typing import Any, NamedTuple
from weakref import ref

import networkx as nx
import numpy as np

from kgroups._csr import index_type
from kgroups._types import Indices
from kgroups.adapters import (
    Structure,
    cached_structure,
    is_plain,
    structure_of,
    unchanged_structure,
)
from kgroups.backends.networkx.graph import ConvertedGraph, Weights, sums_of

EdgeData = Callable[[], Iterator[Any]]

# Integer weights must sum to less than this, so that no sum overflows 64 bits.
_MAX_INTEGER_SUM = 2.0**62
# networkx reads weights in these functions without declaring it to its dispatcher.
_UNDECLARED = {"bethe_hessian_matrix": {"weight": 1}, "bethe_hessian_spectrum": {"weight": 1}}


class Rows(NamedTuple):
    """Sorted CSR rows, and the index of the edge of each entry in the order of the dicts."""

    nodes: Sequence[Hashable]
    indptr: Indices
    indices: Indices
    edge_of_entry: Indices


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
    """Convert a networkx graph of any class with the edge attributes that a call needs.

    Parameters
    ----------
    graph : networkx.Graph
        Of any of the four classes, views and subclasses included.
    edge_attrs : mapping of str to number, optional
        Edge attributes to read, with the value of edges that have none.
    preserve_edge_attrs : bool
        True is declined: attributes of every kind do not fit into arrays.
    node_attrs, preserve_node_attrs, preserve_graph_attrs, graph_name
        Not used by the functions of this backend.
    name : str, optional
        Function that the graph is converted for.

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
    wanted = {**_UNDECLARED.get(name or "", {}), **(edge_attrs or {})}
    if not is_plain(graph):
        if hasattr(graph, "_graph"):
            _uncache(graph)
        return _of_edge_view(graph, wanted)
    if graph.is_directed():
        return _of_dicts(graph, _read_arcs(graph._succ), lambda: _edge_data(graph._succ), wanted)
    structure = structure_of(graph)
    rows = Rows(structure.nodes, structure.indptr, structure.indices, structure.edge_of_slot)
    later = None if graph.is_multigraph() else _later(graph, structure)
    return _of_dicts(graph, rows, _one_direction(graph, structure), wanted, later)


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
    G = getattr(nx, obj.class_name)()
    G.add_nodes_from(obj.nodes)
    G.add_edges_from(_edges_of(obj))
    return G


def is_converted(graph: Any, attribute: str | None) -> bool:
    """Return whether networkx has cached a conversion of this graph with these weights."""
    if not isinstance(graph, nx.Graph):
        return isinstance(graph, ConvertedGraph)
    cache = getattr(graph, "__networkx_cache__", None) or {}
    kept = cache.get("backends", {}).get("kgroups", {}).values()
    if any(isinstance(one, ConvertedGraph) and one.holds(attribute) for one in kept):
        return True
    plain = attribute is None and not graph.is_directed() and not graph.is_multigraph()
    return plain and is_plain(graph) and cached_structure(graph) is not None


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


def _of_dicts(
    graph: Any,
    rows: Rows,
    data: EdgeData,
    wanted: Mapping[str, Any],
    later: Callable[[str], Weights | None] | None = None,
) -> ConvertedGraph:
    counts = sizes = None
    if graph.is_multigraph():
        bundles = list(data())
        sizes = np.fromiter(map(len, bundles), np.int64, len(bundles))
        counts = sizes[rows.edge_of_entry] if np.any(sizes > 1) else None

        def data() -> Iterator[Any]:
            return chain.from_iterable(map(dict.values, bundles))

    def read(name: str, default: object) -> Weights | None:
        values = _attribute_values(data, name, default)
        if values is not None and sizes is not None:
            values = sums_of(values, np.repeat(np.arange(sizes.size), sizes), sizes.size)
        return None if values is None else values[rows.edge_of_entry]

    return ConvertedGraph(
        rows.nodes,
        rows.indptr,
        rows.indices,
        directed=graph.is_directed(),
        multigraph=graph.is_multigraph(),
        counts=counts,
        weights={name: read(name, default) for name, default in wanted.items()},
        read_later=later,
    )


def _one_direction(graph: Any, structure: Structure) -> EdgeData:
    return lambda: compress(_edge_data(graph._adj), structure.one_direction)


def _later(graph: Any, structure: Structure) -> Callable[[str], Weights | None]:
    """Return what reads one more attribute while the graph is there and has not changed."""
    source = ref(graph)

    def read(name: str) -> Weights | None:
        present = source()
        if present is None or unchanged_structure(present) is not structure:
            msg = f"the edge attribute {name!r} was not converted, and the graph has changed"
            raise NotImplementedError(msg)
        values = _attribute_values(_one_direction(present, structure), name, 1)
        return None if values is None else values[structure.edge_of_slot]

    return read


def _of_edge_view(graph: Any, wanted: Mapping[str, Any]) -> ConvertedGraph:
    """Read views, and subclasses with methods of their own, edge by edge."""
    nodes = tuple(graph)
    n = len(nodes)
    number = dict(zip(nodes, range(n), strict=True)).__getitem__
    edges = list(graph.edges(data=True))
    u = np.fromiter((number(edge[0]) for edge in edges), np.int64, len(edges))
    v = np.fromiter((number(edge[1]) for edge in edges), np.int64, len(edges))
    edge = np.arange(len(edges))
    if not graph.is_directed():
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
    weights: dict[str, Weights | None] = {}
    for name, default in wanted.items():
        single = _attribute_values(lambda: (edge[2] for edge in edges), name, default)
        weights[name] = None if single is None else sums_of(single[edge], entry, entries)
    kind = index_type(n, entries)
    return ConvertedGraph(
        nodes,
        np.concatenate([[0], np.cumsum(np.bincount(u[first], minlength=n))]).astype(kind),
        v[first].astype(kind),
        directed=graph.is_directed(),
        multigraph=graph.is_multigraph(),
        counts=parallel if np.any(parallel > 1) else None,
        weights=weights,
    )


def _read_arcs(adjacency: dict[Any, Any]) -> Rows:
    """Read the successors of each node from a dict of dicts."""
    from scipy import sparse

    nodes = tuple(adjacency)
    n = len(nodes)
    number = dict(zip(nodes, range(n), strict=True)).__getitem__
    lengths = np.fromiter(map(len, adjacency.values()), np.int64, n)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    entries = int(indptr[-1])
    neighbors = np.fromiter(map(number, chain.from_iterable(adjacency.values())), np.int64, entries)
    unsorted = sparse.csr_array((np.arange(entries), neighbors, indptr), shape=(n, n))
    # There and back: each of the two transpositions is linear, and the second one sorts.
    rows = unsorted.tocsc().tocsr()
    return Rows(nodes, rows.indptr, rows.indices, rows.data)


def _edge_data(adjacency: dict[Any, Any]) -> Iterator[Any]:
    """Yield what each adjacency entry holds: attributes, or the parallel edges of a multigraph."""
    return chain.from_iterable(map(dict.values, adjacency.values()))


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
    # The types whose sums in numpy are those of networkx in Python.
    kinds = set(map(type, values))
    if not kinds <= {int, float, np.float64, np.int64}:
        others = sorted(kind.__name__ for kind in kinds - {int, float, np.float64, np.int64})
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
    kept = np.ones(len(graph.indices), dtype=bool)
    if not graph.is_directed():
        kept = graph.rows <= graph.indices
    counts = np.ones(len(graph.indices), np.int64) if graph.counts is None else graph.counts
    columns = graph.known_weights()
    if columns and graph.counts is not None:
        msg = "the weights of single parallel edges are not known, only their sums"
        raise NotImplementedError(msg)
    values = [column[kept].tolist() for column in columns.values()]
    ends = zip(graph.rows[kept].tolist(), graph.indices[kept].tolist(), strict=True)
    for place, ((i, j), count) in enumerate(zip(ends, counts[kept].tolist(), strict=True)):
        for _ in range(count):
            attributes = {name: value[place] for name, value in zip(columns, values, strict=True)}
            yield graph.nodes[i], graph.nodes[j], attributes
