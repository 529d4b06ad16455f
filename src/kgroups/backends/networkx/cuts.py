"""networkx's cuts between two sets of nodes, from the arrays of a converted graph."""

from collections.abc import Collection
from typing import Any

import numpy as np

from kgroups._types import Bools, Ints
from kgroups.backends.networkx.graph import ConvertedGraph

__all__ = ["conductance", "cut_size", "volume"]

Number = int | float


def cut_size(G: ConvertedGraph, S: Any, T: Any = None, weight: str | None = None) -> Number:
    """As :func:`networkx.algorithms.cuts.cut_size`."""
    return _cut_size(G, _mask(G, S), None if T is None else _mask(G, T), weight)


def volume(G: ConvertedGraph, S: Any, weight: str | None = None) -> Number:
    """As :func:`networkx.algorithms.cuts.volume`; a node that comes twice counts twice."""
    return _total(G.out_degrees(weight)[_rows(G, S)])


def conductance(G: ConvertedGraph, S: Any, T: Any = None, weight: str | None = None) -> float:
    """As :func:`networkx.algorithms.cuts.conductance`."""
    inside = _mask(G, S)
    outside = ~inside if T is None else _mask(G, T)
    degrees = G.out_degrees(weight)
    volume_S = _total(degrees[_rows(G, S)])
    volume_T = _total(degrees[outside] if T is None else degrees[_rows(G, T)])
    return _cut_size(G, inside, outside, weight) / min(volume_S, volume_T)


def _cut_size(G: ConvertedGraph, S: Bools, T: Bools | None, weight: str | None) -> Number:
    u, v = G.rows, G.indices
    weights = G.weights_of(weight)
    values = np.ones(len(u), dtype=np.int64) if weights is None else weights
    if T is None:
        if G.is_directed():
            msg = "networkx needs T for directed graphs"
            raise NotImplementedError(msg)
        cut = (S[u] ^ S[v]) & (u <= v)
        return _total(values[cut])
    if G.is_directed():
        # networkx adds the edges that leave S and those that leave T, where both are asked for.
        leaves_S = S[u] & (T[v] | (S[v] & T[u]))
        leaves_T = T[u] & (S[v] | (T[v] & S[u]))
        return _total(values[leaves_S]) + _total(values[leaves_T])
    cut = ((S[u] & T[v]) | (S[v] & T[u])) & (u <= v)
    return _total(values[cut])


def _total(values: Any) -> Number:
    """Add up as Python does: nothing adds up to the whole number 0."""
    if values.size == 0:
        return 0
    total: Number = values.sum().item()
    return total


def _rows(G: ConvertedGraph, nodes: Any) -> Ints:
    """Return the rows of those names that are nodes, as often as they come."""
    if not isinstance(nodes, Collection) or (not isinstance(nodes, set | list) and nodes in G):
        msg = "S and T must be collections of nodes, not one node"
        raise NotImplementedError(msg)
    try:
        found = [G.index[node] for node in nodes if node in G.index]
    except TypeError as error:
        msg = "S and T must hold nodes"
        raise NotImplementedError(msg) from error
    return np.array(found, dtype=np.int64)


def _mask(G: ConvertedGraph, nodes: Any) -> Bools:
    mask = np.zeros(len(G), dtype=bool)
    mask[_rows(G, nodes)] = True
    return mask
