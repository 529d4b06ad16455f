"""Lists of edges, edge views of networkx, and two-column arrays, to ``Graph``."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kgroups._wording import shown_name
from kgroups.adapters.edges import ReadOptions, refuse_directed, with_weights_described
from kgroups.adapters.matrices import from_dense
from kgroups.adapters.networkx import edge_attribute
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


def from_array(array: Any, options: ReadOptions) -> Graph:
    """Convert an adjacency matrix, or edges in the rows of an array of two columns."""
    is_pairs = array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu"
    if not is_pairs or isinstance(array, np.ma.MaskedArray):
        return from_dense(array, options)
    if array.shape[0] == 2:
        msg = (
            "a 2 x 2 array of integers could be an adjacency matrix of two nodes, or two edges in "
            "rows.\n  Pass (array[:, 0], array[:, 1]) for edges, or array.astype(float) for a "
            "matrix."
        )
        raise GraphError(msg)
    pairs = np.asarray(array)
    return from_edge_arrays(pairs[:, 0], pairs[:, 1], options=options)
