"""networkx's qualities of partitions, cuts and connected components, on arrays."""

from collections.abc import Collection, Hashable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from kgroups._types import Bools, Ints
from kgroups.backends.networkx.graph import ConvertedGraph, as_labels, communities_of, sums_of

Number = int | float


def is_partition(G: ConvertedGraph, communities: Any) -> bool:
    """As :func:`networkx.algorithms.community.community_utils.is_partition`."""
    blocks = list(communities)
    labels = as_labels(G, blocks)
    if labels is not None:
        return bool(np.all(labels >= 0))
    # networkx only counts: names that are no nodes may stand for nodes that are missing.
    present = {node for block in blocks for node in block if node in G}
    return len(G) == len(present) == sum(len(block) for block in blocks)


def modularity(
    G: ConvertedGraph, communities: Any, weight: str | None = "weight", resolution: float = 1
) -> float:
    """As :func:`networkx.algorithms.community.quality.modularity`."""
    from networkx.algorithms.community.quality import NotAPartition

    listed = communities if isinstance(communities, list) else list(communities)
    labels = as_labels(G, listed)
    if labels is None or np.any(labels < 0):
        if is_partition(G, listed):
            msg = "communities must be collections of nodes of the graph"
            raise NotImplementedError(msg)
        raise NotAPartition(G, listed)
    return modularity_of(G, labels, weight, resolution)


def modularity_of(G: ConvertedGraph, labels: Ints, weight: str | None, resolution: float) -> float:
    """Return the modularity of labels that are known to be a partition."""
    k = int(labels.max(initial=-1)) + 1
    out_volumes = sums_of(G.out_degrees(weight), labels, k).astype(float)
    total = float(out_volumes.sum())
    in_volumes, edges = out_volumes, total / 2
    if G.is_directed():
        in_volumes, edges = sums_of(G.in_degrees(weight), labels, k).astype(float), total
    expected = float(out_volumes @ in_volumes)
    inside = inner_weight(G, labels, weight)
    return float(inside / edges - resolution * (expected * (1 / total**2)))


def partition_quality(G: ConvertedGraph, partition: Any) -> tuple[float, float]:
    """As :func:`networkx.algorithms.community.quality.partition_quality`."""
    labels = _disjoint_labels(G, partition)
    if np.any(labels < 0):
        msg = "every node must be in a block"
        raise NotImplementedError(msg)
    inside = int(inner_weight(G, labels, None))
    coverage = inside / G.n_edges
    if G.is_multigraph():
        return coverage, -1.0
    n = len(G)
    pairs = n * (n - 1) if G.is_directed() else n * (n - 1) // 2
    non_edges = _pairs_between(G, labels) - (G.n_edges - inside)
    return coverage, (inside + non_edges) / pairs


def intra_community_edges(G: ConvertedGraph, partition: Any) -> int:
    """As :func:`networkx.algorithms.community.quality.intra_community_edges`."""
    return int(inner_weight(G, _disjoint_labels(G, partition), None))


def inter_community_edges(G: ConvertedGraph, partition: Any) -> int:
    """As :func:`networkx.algorithms.community.quality.inter_community_edges`."""
    return _edges_between(G, _disjoint_labels(G, partition))


def inter_community_non_edges(G: ConvertedGraph, partition: Any) -> int:
    """As :func:`networkx.algorithms.community.quality.inter_community_non_edges`."""
    labels = _disjoint_labels(G, partition)
    return _pairs_between(G, labels) - _edges_between(G, labels)


def inner_weight(G: ConvertedGraph, labels: Ints, weight: str | None) -> float:
    """Return the weight of the edges within blocks, loops counted once."""
    here = labels[G.rows]
    inside = (here == labels[G.indices]) & (here >= 0)
    weights = G.weights_of(weight)
    total = inside.sum() if weights is None else weights[inside].sum()
    if G.is_directed():
        return float(total)
    loops = inside & G.is_loop
    looped = loops.sum() if weights is None else weights[loops].sum()
    return float(total + looped) / 2


def cut_size(G: ConvertedGraph, S: Any, T: Any = None, weight: str | None = None) -> Number:
    """As :func:`networkx.algorithms.cuts.cut_size`."""
    return _cut_size(G, _mask(G, S), None if T is None else _mask(G, T), weight)


def volume(G: ConvertedGraph, S: Any, weight: str | None = None) -> Number:
    """As :func:`networkx.algorithms.cuts.volume`; repeated nodes count repeatedly."""
    return _total(G.out_degrees(weight)[_rows(G, S)])


def conductance(G: ConvertedGraph, S: Any, T: Any = None, weight: str | None = None) -> float:
    """As :func:`networkx.algorithms.cuts.conductance`."""
    inside = _mask(G, S)
    outside = ~inside if T is None else _mask(G, T)
    degrees = G.out_degrees(weight)
    volume_S = _total(degrees[_rows(G, S)])
    volume_T = _total(degrees[outside] if T is None else degrees[_rows(G, T)])
    return _cut_size(G, inside, outside, weight) / min(volume_S, volume_T)


def connected_components(G: ConvertedGraph) -> Iterator[set[Hashable]]:
    """As :func:`networkx.algorithms.components.connected.connected_components`."""
    return iter(communities_of(G, G.components[1]))


def number_connected_components(G: ConvertedGraph) -> int:
    """As :func:`networkx.algorithms.components.connected.number_connected_components`."""
    return G.components[0]


def is_connected(G: ConvertedGraph) -> bool:
    """As :func:`networkx.algorithms.components.connected.is_connected`."""
    if len(G) == 0:
        msg = "Connectivity is undefined for the null graph."
        raise nx.NetworkXPointlessConcept(msg)
    return G.components[0] == 1


def node_connected_component(G: ConvertedGraph, n: Hashable) -> set[Hashable]:
    """As :func:`networkx.algorithms.components.connected.node_connected_component`."""
    labels = G.components[1]
    rows = np.flatnonzero(labels == labels[G.index[n]])
    return {G.nodes[i] for i in rows.tolist()}


def _edges_between(G: ConvertedGraph, labels: Ints) -> int:
    here, there = labels[G.rows], labels[G.indices]
    between = int(np.count_nonzero((here != there) & (here >= 0) & (there >= 0)))
    return between if G.is_directed() else between // 2


def _pairs_between(G: ConvertedGraph, labels: Ints) -> int:
    """Return the number of pairs of nodes in different blocks, in both orders if directed."""
    sizes = np.bincount(labels[labels >= 0])
    ordered = int(sizes.sum()) ** 2 - int((sizes**2).sum())
    return ordered if G.is_directed() else ordered // 2


def _disjoint_labels(G: ConvertedGraph, partition: Any) -> Ints:
    # networkx takes a hashable block that is a node for this one node.
    if isinstance(partition, dict) or any(
        not isinstance(block, set | list) and block in G for block in partition
    ):
        msg = "a partition must be a list of collections of nodes"
        raise NotImplementedError(msg)
    labels = as_labels(G, list(partition))
    if labels is None:
        msg = "blocks must be disjoint collections of nodes of the graph"
        raise NotImplementedError(msg)
    return labels


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
        # networkx adds the edges that leave S and those that leave T.
        leaves_S = S[u] & (T[v] | (S[v] & T[u]))
        leaves_T = T[u] & (S[v] | (T[v] & S[u]))
        return _total(values[leaves_S]) + _total(values[leaves_T])
    cut = ((S[u] & T[v]) | (S[v] & T[u])) & (u <= v)
    return _total(values[cut])


def _total(values: Any) -> Number:
    """Return the sum as Python computes it: the integer 0 for no values."""
    if values.size == 0:
        return 0
    total: Number = values.sum().item()
    return total


def _rows(G: ConvertedGraph, nodes: Any) -> Ints:
    """Return the rows of the names that are nodes, repeated names included."""
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
