"""networkx's qualities of partitions, on arrays."""

from typing import Any

import numpy as np

from kgroups.backends.networkx.graph import ConvertedGraph
from kgroups.backends.networkx.partitions import Blocks, as_blocks
from kgroups.backends.networkx.reading import sums_of

__all__ = [
    "inter_community_edges",
    "inter_community_non_edges",
    "intra_community_edges",
    "is_partition",
    "modularity",
    "partition_quality",
]


def is_partition(G: ConvertedGraph, communities: Any) -> bool:
    """As :func:`networkx.algorithms.community.community_utils.is_partition`."""
    blocks = communities if isinstance(communities, list) else list(communities)
    labels = as_blocks(G, blocks)
    if labels is not None:
        return labels.is_complete
    # What has no labels can still be a partition by networkx's count: names that are no nodes
    # stand for nodes that are missing.
    present = {node for block in blocks for node in block if node in G}
    return len(G) == len(present) == sum(len(block) for block in blocks)


def modularity(
    G: ConvertedGraph, communities: Any, weight: str | None = "weight", resolution: float = 1
) -> float:
    """As :func:`networkx.algorithms.community.quality.modularity`."""
    from networkx.algorithms.community.quality import NotAPartition

    listed = communities if isinstance(communities, list) else list(communities)
    blocks = as_blocks(G, listed)
    if blocks is None or not blocks.is_complete:
        if is_partition(G, listed):
            msg = "communities must be collections of nodes of the graph"
            raise NotImplementedError(msg)
        raise NotAPartition(G, listed)
    return modularity_of(G, blocks, weight, resolution)


def modularity_of(
    G: ConvertedGraph, blocks: Blocks, weight: str | None, resolution: float
) -> float:
    """Return the modularity of labels that are known to be a partition."""
    inside = inner_weight(G, blocks, weight)
    k = len(blocks.sizes)
    out_volumes = sums_of(G.out_degrees(weight), blocks.labels, k).astype(float)
    total = float(out_volumes.sum())
    if G.is_directed():
        in_volumes = sums_of(G.in_degrees(weight), blocks.labels, k).astype(float)
        edges = total
    else:
        in_volumes = out_volumes
        edges = total / 2
    expected = float(out_volumes @ in_volumes)
    return float(inside / edges - resolution * (expected * (1 / total**2)))


def partition_quality(G: ConvertedGraph, partition: Any) -> tuple[float, float]:
    """As :func:`networkx.algorithms.community.quality.partition_quality`."""
    blocks = _complete_blocks(G, partition)
    inside = inner_edges(G, blocks)
    coverage = inside / G.n_edges
    if G.is_multigraph():
        return coverage, -1.0
    n = len(G)
    pairs = n * (n - 1) if G.is_directed() else n * (n - 1) // 2
    non_edges = _pairs_between(G, blocks) - (G.n_edges - inside)
    return coverage, (inside + non_edges) / pairs


def intra_community_edges(G: ConvertedGraph, partition: Any) -> int:
    """As :func:`networkx.algorithms.community.quality.intra_community_edges`."""
    return inner_edges(G, _disjoint_blocks(G, partition))


def inter_community_edges(G: ConvertedGraph, partition: Any) -> int:
    """As :func:`networkx.algorithms.community.quality.inter_community_edges`."""
    return _edges_between(G, _disjoint_blocks(G, partition))


def inter_community_non_edges(G: ConvertedGraph, partition: Any) -> int:
    """As :func:`networkx.algorithms.community.quality.inter_community_non_edges`."""
    blocks = _disjoint_blocks(G, partition)
    return _pairs_between(G, blocks) - _edges_between(G, blocks)


def inner_weight(G: ConvertedGraph, blocks: Blocks, weight: str | None) -> float:
    """Return the weight of the edges within blocks, loops counted once."""
    inside = _inside(G, blocks)
    weights = G.weights_of(weight)
    total = inside.sum() if weights is None else weights[inside].sum()
    if G.is_directed():
        return float(total)
    loops = inside & G.is_loop
    looped = loops.sum() if weights is None else weights[loops].sum()
    return float(total + looped) / 2


def inner_edges(G: ConvertedGraph, blocks: Blocks) -> int:
    """Return the number of edges within blocks, parallel ones counted each."""
    return int(inner_weight(G, blocks, None))


def _inside(G: ConvertedGraph, blocks: Blocks) -> Any:
    z = blocks.labels
    here = z[G.rows]
    return (here == z[G.indices]) & (here >= 0)


def _edges_between(G: ConvertedGraph, blocks: Blocks) -> int:
    here, there = blocks.labels[G.rows], blocks.labels[G.indices]
    between = int(np.count_nonzero((here != there) & (here >= 0) & (there >= 0)))
    return between if G.is_directed() else between // 2


def _pairs_between(G: ConvertedGraph, blocks: Blocks) -> int:
    """Return the number of pairs of nodes in different blocks, both ways if directed."""
    covered = int(blocks.sizes.sum())
    ordered = covered**2 - int((blocks.sizes**2).sum())
    return ordered if G.is_directed() else ordered // 2


def _disjoint_blocks(G: ConvertedGraph, partition: Any) -> Blocks:
    if isinstance(partition, dict) or any(_is_node(G, block) for block in partition):
        msg = "a partition must be a list of collections of nodes"
        raise NotImplementedError(msg)
    blocks = as_blocks(G, partition)
    if blocks is None:
        msg = "blocks must be disjoint collections of nodes of the graph"
        raise NotImplementedError(msg)
    return blocks


def _complete_blocks(G: ConvertedGraph, partition: Any) -> Blocks:
    blocks = _disjoint_blocks(G, partition)
    if not blocks.is_complete:
        msg = "every node must be in a block"
        raise NotImplementedError(msg)
    return blocks


def _is_node(G: ConvertedGraph, block: Any) -> bool:
    """Whether networkx would take a block for one single node, as it does with hashable ones."""
    return not isinstance(block, set | list) and block in G
