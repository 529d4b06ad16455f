"""Lists of edges, edge views of networkx and dicts of neighbors, to ``Graph``."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kgroups._wording import shown_name
from kgroups.adapters.edges import (
    ReadOptions,
    checked_weights,
    graph_of_edges,
    no_such_attribute,
    refuse_directed,
    symmetrize_arguments,
    with_weights_described,
)
from kgroups.adapters.networkx import edge_attribute
from kgroups.adapters.numbering import is_missing, missing_name
from kgroups.adapters.tables import as_column, from_edge_arrays
from kgroups.errors import GraphError
from kgroups.graph import Graph


def from_edge_tuples(edges: Sequence[tuple[Any, ...]], options: ReadOptions) -> Graph:
    """Convert tuples ``(u, v)``, or ``(u, v, weight)``, or ``(u, v, attributes)``."""
    _check_lengths(edges)
    source, target, *third = zip(*edges, strict=True) if edges else ((), ())
    ends = as_column(source), as_column(target)
    if not third:
        return from_edge_arrays(*ends, options=options)
    weights: Any = third[0]
    if not all(isinstance(value, Mapping) for value in weights):
        graph = from_edge_arrays(*ends, as_column(weights), options=options)
        if options.weight is not None and options.reads_weights:
            _refuse_keys(source, target, weights)
        return with_weights_described(graph, "the third entry of each tuple", (), options)
    values = None
    if options.weight is not None and options.reads_weights:
        values = edge_attribute(lambda: weights, options.weight, lambda t: edges[t][:2])
    return from_edge_arrays(*ends, values, options=options)


def _check_lengths(edges: Sequence[tuple[Any, ...]]) -> None:
    for position, edge in enumerate(edges):
        if len(edge) not in (2, 3) or len(edge) != len(edges[0]):
            msg = (
                "a list of edges must hold tuples (u, v) only, or (u, v, weight) only, got "
                f"{shown_name(edge)} at position {position} after {shown_name(edges[0])}.\n"
                "  Give every edge a weight, or none; attributes may be a dict in its place."
            )
            raise GraphError(msg)


def _refuse_keys(source: Sequence[Any], target: Sequence[Any], weights: Sequence[Any]) -> None:
    """Raise if the third entries number the parallel edges of each pair from 0 on."""
    if 0 not in weights or not all(type(weight) is int for weight in weights):
        return
    of_pair: dict[frozenset[Any], list[int]] = {}
    for u, v, weight in zip(source, target, weights, strict=True):
        of_pair.setdefault(frozenset((u, v)), []).append(weight)
    if all(sorted(keys) == [*range(len(keys))] for keys in of_pair.values()):
        msg = (
            "the third entry of each tuple must be a weight, got numbers that count the edges of "
            "each pair of nodes from 0 on, as the keys of a networkx multigraph do.\n"
            "  Pass G.edges, or [(u, v) for u, v, key in edges]."
        )
        raise GraphError(msg)


def from_edge_view(view: Any, families: set[tuple[str, str]], options: ReadOptions) -> Graph:
    """Convert ``G.edges`` of networkx with the weights of the graph, or ``G.edges(...)`` as it is.

    Nodes without edges are not in it.
    """
    undirected = ("EdgeView", "MultiEdgeView", "EdgeDataView", "MultiEdgeDataView")
    if not families & {("networkx", name) for name in undirected}:
        refuse_directed(f"a {type(view).__name__} of a directed networkx graph", options)
    if ("networkx", "OutEdgeView") in families:
        return from_edge_tuples(list(view(data=True)), options)
    # Keys tell parallel edges apart and are no weights.
    return from_edge_tuples(
        [edge[:2] + edge[3:] for edge in view] if getattr(view, "keys", False) else list(view),
        options,
    )


def from_neighbors(neighbors: Mapping[Any, Any], options: ReadOptions) -> Graph:
    """Convert lists or sets of neighbors, or dicts from neighbors to weights or attributes.

    An edge is listed at both of its ends, as in a symmetric matrix; a self-loop once.
    """
    number: dict[Hashable, int] = {}
    for node in neighbors:
        _check_name(node)
        number[node] = len(number)
    ends: list[tuple[int, int]] = []
    data: list[Any] = []
    for node, listed in neighbors.items():
        for other, value in _entries(node, listed):
            try:
                j = number.setdefault(other, len(number))
            except TypeError as error:
                msg = (
                    f"node names must be hashable: {error}, among the neighbors of "
                    f"{shown_name(node)}.\n"
                    "  Use text, numbers or tuples as names."
                )
                raise GraphError(msg) from None
            if j >= len(neighbors):
                _check_name(other)
            ends.append((number[node], j))
            data.append(value)
    nodes = tuple(number)
    u, v = np.array(ends, np.int64).reshape(-1, 2).T
    weights = None
    values = _weights(data, options)
    if values is not None:
        weights = np.empty(u.size)
        # Each direction on its own, so that an error counts an edge once.
        for part in (np.flatnonzero(u <= v), np.flatnonzero(u > v)):
            edges = [(nodes[i], nodes[j]) for i, j in zip(u[part], v[part], strict=True)]
            weights[part] = checked_weights([values[t] for t in part], edges.__getitem__)
    w = np.ones(u.size) if weights is None else weights
    entries = Counter(zip(u.tolist(), v.tolist(), w.tolist(), strict=True))
    unpaired = [(i, j) for i, j, w in entries if entries[i, j, w] != entries[j, i, w]]
    if not unpaired:
        upper = u <= v
        u, v, weights = u[upper], v[upper], None if weights is None else weights[upper]
    elif options.symmetrize is None:
        back = any(entry[:2] == unpaired[0][::-1] for entry in entries)
        raise GraphError(_asymmetric(unpaired, nodes, back=back))
    names = range(len(nodes)) if nodes == tuple(range(len(nodes))) else nodes
    return graph_of_edges(u, v, weights, names, options)


def _check_name(node: object) -> None:
    if node is None or is_missing(node):
        raise missing_name(repr(node), "in a dict of neighbors")


def _entries(node: object, listed: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each neighbor with its weight or attributes, parallel edges one by one."""
    if isinstance(listed, Mapping):
        for other, value in listed.items():
            is_bundle = isinstance(value, Mapping) and value
            if is_bundle and all(isinstance(edge, Mapping) for edge in value.values()):
                yield from ((other, edge) for edge in value.values())
            else:
                yield other, value
        return
    if isinstance(listed, str | bytes) or not hasattr(listed, "__len__"):
        hint = "Pass for instance {'ann': ['bob'], 'bob': ['ann']}."
        if isinstance(node, tuple) and len(node) == 2:
            hint = "Pass a dict from edges to weights as [(u, v, w) for (u, v), w in edges.items()]"
        msg = (
            "in a dict of neighbors each value must be a list, set or dict of nodes, got "
            f"{shown_name(listed)} for {shown_name(node)}.\n  {hint}"
        )
        raise GraphError(msg)
    yield from ((other, {}) for other in listed)


def _weights(data: list[Any], options: ReadOptions) -> list[Any] | None:
    """Return the weight of each entry, 1 where attributes have none; ``None`` if none has one."""
    weight = options.weight
    if weight is None or not options.reads_weights:
        return None
    attributes = [value for value in data if isinstance(value, Mapping)]
    if len(attributes) == len(data) and not any(weight in value for value in attributes):
        if weight != "weight" and data:
            found = {name for value in attributes for name in value}
            raise no_such_attribute(weight, found, kind="attribute")
        return None
    return [value.get(weight, 1) if isinstance(value, Mapping) else value for value in data]


def _asymmetric(
    unpaired: Sequence[tuple[int, int]], nodes: Sequence[Hashable], *, back: bool
) -> str:
    """Return the message for entries without an equal one in the other direction."""
    a, b = (shown_name(nodes[end]) for end in unpaired[0])
    what = (
        f"other entries from {a} to {b} than from {b} to {a}"
        if back
        else f"{b} among the neighbors of {a} but not {a} among those of {b}"
    )
    others = len(set(map(frozenset, unpaired))) - 1
    more = f" (and {others} more pairs)" if others else ""
    return (
        f"a dict of neighbors must have each edge at both of its ends, got {what}{more}.\n"
        f"  If it is directed, or has each edge once, pass {symmetrize_arguments()}."
    )
