"""networkx graphs to :class:`ConvertedGraph` and back, under networkx's names."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import chain, compress
from typing import Any, NamedTuple
from weakref import ref

import networkx as nx
import numpy as np

from kgroups._types import Indices, index_type
from kgroups.adapters.adjacency import Structure
from kgroups.adapters.networkx import (
    is_plain,
    kept_structure,
    known_structure,
    structure_of,
)
from kgroups.backends.networkx.graph import ConvertedGraph
from kgroups.backends.networkx.reading import (
    Weights,
    attribute_values,
    edge_data,
    read_arcs,
    sums_of,
)

__all__ = ["convert_from_nx", "convert_to_nx", "converted"]

EdgeData = Callable[[], Iterator[Any]]

# networkx reads weights in these and does not say so to its dispatcher.
_UNDECLARED = {"bethe_hessian_matrix": {"weight": 1}, "bethe_hessian_spectrum": {"weight": 1}}


class Rows(NamedTuple):
    """Sorted CSR rows, and the number of the edge, in the order of the dicts, behind each entry."""

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
        Of no use to the functions of this backend.
    name : str, optional
        Function that the graph is converted for.

    Returns
    -------
    ConvertedGraph
        Of a view it is made anew for each call.
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
            _keep_nothing_of_ours(graph)
        return _of_edge_view(graph, wanted)
    if graph.is_directed():
        arcs = read_arcs(graph._succ)
        rows = Rows(arcs.nodes, arcs.indptr, arcs.indices, arcs.place)
        return _of_dicts(graph, rows, lambda: edge_data(graph._succ), wanted)
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
    kinds = {
        (False, False): nx.Graph,
        (True, False): nx.DiGraph,
        (False, True): nx.MultiGraph,
        (True, True): nx.MultiDiGraph,
    }
    G = kinds[obj.is_directed(), obj.is_multigraph()]()
    G.add_nodes_from(obj.nodes)
    G.add_edges_from(_edges_of(obj))
    return G


def converted(graph: Any, attribute: str | None) -> bool:
    """Whether networkx holds a conversion of this graph with the weights of that name."""
    if not isinstance(graph, nx.Graph):
        return isinstance(graph, ConvertedGraph)
    cache = getattr(graph, "__networkx_cache__", None) or {}
    kept = cache.get("backends", {}).get("kgroups", {}).values()
    if any(isinstance(one, ConvertedGraph) and one.holds(attribute) for one in kept):
        return True
    plain = attribute is None and not graph.is_directed() and not graph.is_multigraph()
    return plain and is_plain(graph) and kept_structure(graph) is not None


def _keep_nothing_of_ours(view: Any) -> None:
    """Take our part out of the cache of a view, which is not told when the graph below changes.

    networkx puts the result into the dict that it has looked up before the conversion; the view
    gets a new one, with what other backends keep.
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
    counts = None
    if graph.is_multigraph():
        bundles = list(data())
        sizes = np.fromiter(map(len, bundles), np.int64, len(bundles))
        bundle_of_edge = np.repeat(np.arange(len(bundles)), sizes)
        counts = sizes[rows.edge_of_entry] if np.any(sizes > 1) else None

        def read(name: str, default: object) -> Weights | None:
            single = attribute_values(
                lambda: chain.from_iterable(map(dict.values, bundles)), name, default
            )
            total = None if single is None else sums_of(single, bundle_of_edge, len(bundles))
            return None if total is None else total[rows.edge_of_entry]
    else:

        def read(name: str, default: object) -> Weights | None:
            values = attribute_values(data, name, default)
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
    return lambda: compress(edge_data(graph._adj), structure.one_direction)


def _later(graph: Any, structure: Structure) -> Callable[[str], Weights | None]:
    """Return what reads one more attribute while the graph is there and has not changed."""
    source = ref(graph)

    def read(name: str) -> Weights | None:
        present = source()
        if present is None or known_structure(present) is not structure:
            msg = f"the edge attribute {name!r} was not converted, and the graph has changed"
            raise NotImplementedError(msg)
        values = attribute_values(_one_direction(present, structure), name, 1)
        return None if values is None else values[structure.edge_of_slot]

    return read


def _of_edge_view(graph: Any, wanted: Mapping[str, Any]) -> ConvertedGraph:
    """Read node by node and edge by edge, as views and bent subclasses need it."""
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
        single = attribute_values(lambda: (edge[2] for edge in edges), name, default)
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
