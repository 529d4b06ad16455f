"""networkx's Louvain and Leiden, run by igraph's C code, and its qualities of partitions.

The algorithms, objectives and parameters are networkx's. The random draws are igraph's: a seed
gives the same partition each time, but not the one that networkx's own code gives for it.
"""

import random
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.community import quality

from kgroups._types import Ints
from kgroups._validation import is_real
from kgroups.adapters import igraph_draws_from
from kgroups.backends.networkx.graph import ConvertedGraph, as_labels, communities_of, sums_of
from kgroups.errors import InputError

Communities = list[set[Hashable]]

# Relative gain of the objective below which an iteration of Leiden counts as none.
_MIN_LEIDEN_GAIN = 1e-10
# networkx's default of theta, the randomness of Leiden's refinement.
_THETA = 0.01


def louvain_communities(
    G: ConvertedGraph,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 0.0000001,
    max_level: int | None = None,
    seed: Any = None,
) -> Communities:
    """As :func:`networkx.algorithms.community.louvain.louvain_communities`."""
    return _last(G, _louvain_levels(G, weight, resolution, threshold, seed), max_level)


def louvain_partitions(
    G: ConvertedGraph,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 0.0000001,
    seed: Any = None,
) -> Iterator[Communities]:
    """As :func:`networkx.algorithms.community.louvain.louvain_partitions`."""
    return _each(G, _louvain_levels(G, weight, resolution, threshold, seed))


def leiden_communities(
    G: ConvertedGraph,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
) -> Communities:
    """As networkx 3.5 and 3.6 define it: Leiden on modularity."""
    return _last(G, _leiden_levels(G, weight, resolution, "modularity", _THETA, seed), max_level)


def leiden_partitions(
    G: ConvertedGraph, weight: str | None = "weight", resolution: float = 1, seed: Any = None
) -> Iterator[Communities]:
    """As networkx 3.5 and 3.6 define it: Leiden on modularity, iteration by iteration."""
    return _each(G, _leiden_levels(G, weight, resolution, "modularity", _THETA, seed))


def leiden_communities_by_metric(
    G: ConvertedGraph,
    *,
    weight: str | None = "weight",
    resolution: float = 1.0,
    max_level: int | None = None,
    seed: Any = None,
    metric: str = "cpm",
    theta: float = _THETA,
) -> Communities:
    """As networkx 3.7 defines it: Leiden on the constant Potts model by default."""
    beta = _beta(G, weight, metric, theta)
    return _last(G, _leiden_levels(G, weight, resolution, metric, beta, seed), max_level)


def leiden_partitions_by_metric(
    G: ConvertedGraph,
    *,
    weight: str | None = "weight",
    resolution: float = 1.0,
    seed: Any = None,
    metric: str = "cpm",
    theta: float = _THETA,
) -> Iterator[Communities]:
    """As networkx 3.7 defines it: the partition after each iteration."""
    beta = _beta(G, weight, metric, theta)
    return _each(G, _leiden_levels(G, weight, resolution, metric, beta, seed))


def modularity(
    G: ConvertedGraph, communities: Any, weight: str | None = "weight", resolution: float = 1
) -> float:
    """As :func:`networkx.algorithms.community.quality.modularity`."""
    listed = communities if isinstance(communities, list) else list(communities)
    labels = as_labels(G, listed)
    if labels is None or np.any(labels < 0):
        # networkx only counts: names that are no nodes may stand for nodes that are missing.
        if nx.community.is_partition.orig_func(G, listed):
            msg = "communities must be collections of nodes of the graph"
            raise NotImplementedError(msg)
        raise quality.NotAPartition(G, listed)
    return _modularity(G, labels, weight, resolution)


def partition_quality(G: ConvertedGraph, partition: Any) -> tuple[float, float]:
    """As :func:`networkx.algorithms.community.quality.partition_quality`."""
    labels = _disjoint_labels(G, partition)
    if np.any(labels < 0):
        msg = "every node must be in a block"
        raise NotImplementedError(msg)
    n, inside = len(G), int(_inner_weight(G, labels, None))
    edges = int(G.degrees(None).sum()) // 2
    if G.is_multigraph():
        return inside / edges, -1.0
    non_edges = _pairs_between(labels) - (edges - inside)
    return inside / edges, (inside + non_edges) / (n * (n - 1) // 2)


def intra_community_edges(G: ConvertedGraph, partition: Any) -> int:
    """As :func:`networkx.algorithms.community.quality.intra_community_edges`."""
    return int(_inner_weight(G, _disjoint_labels(G, partition), None))


def inter_community_edges(G: ConvertedGraph, partition: Any) -> int:
    """As :func:`networkx.algorithms.community.quality.inter_community_edges`."""
    return _edges_between(G, _disjoint_labels(G, partition))


def inter_community_non_edges(G: ConvertedGraph, partition: Any) -> int:
    """As :func:`networkx.algorithms.community.quality.inter_community_non_edges`."""
    labels = _disjoint_labels(G, partition)
    return _pairs_between(labels) - _edges_between(G, labels)


def _last(G: ConvertedGraph, levels: list[Ints], max_level: int | None) -> Communities:
    if max_level is not None and max_level <= 0:
        msg = "max_level argument must be a positive integer or None"
        raise ValueError(msg)
    *_, last = islice(levels, max_level)
    return communities_of(G, last)


def _each(G: ConvertedGraph, levels: list[Ints]) -> Iterator[Communities]:
    return (communities_of(G, labels) for labels in levels)


def _louvain_levels(
    G: ConvertedGraph, weight: str | None, resolution: float, threshold: float, seed: Any
) -> list[Ints]:
    """Return the labels after each level, up to the first that gains at most the threshold."""
    graph, weights = _igraph_of(G, weight, resolution)
    singles = np.arange(len(G))
    if graph is None:
        return [singles]
    with _drawing_from(seed):
        found = graph.community_multilevel(
            weights=weights, return_levels=True, resolution=resolution
        )
    levels = [np.asarray(level.membership) for level in found] or [singles]
    kept = []
    before = _modularity(G, singles, weight, resolution)
    for labels in levels:
        kept.append(labels)
        after = _modularity(G, labels, weight, resolution)
        if after - before <= threshold:
            break
        before = after
    return kept


def _leiden_levels(
    G: ConvertedGraph,
    weight: str | None,
    resolution: float,
    metric: str,
    beta: float,
    seed: Any,
) -> list[Ints]:
    """Return the labels after each iteration that raises the objective."""
    if metric not in ("cpm", "modularity"):
        msg = f"metric must be 'cpm' or 'modularity', got {metric!r}"
        raise NotImplementedError(msg)
    graph, weights = _igraph_of(G, weight, resolution)
    if graph is None:
        return [np.arange(len(G))]
    by_modularity = metric == "modularity"
    node_weights, penalty = None, resolution
    if by_modularity:
        # igraph leaves self-loops out of the degrees that it would count itself.
        degrees = G.degrees(weight).astype(float)
        node_weights, penalty = degrees.tolist(), resolution / float(degrees.sum())
    objective = _modularity if by_modularity else _potts_quality
    levels: list[Ints] = []
    best = -np.inf
    with _drawing_from(seed):
        while True:
            found = graph.community_leiden(
                objective_function="CPM",
                weights=weights,
                node_weights=node_weights,
                resolution=penalty,
                beta=beta,
                initial_membership=levels[-1].tolist() if levels else None,
                n_iterations=1,
            )
            labels = np.asarray(found.membership)
            reached = objective(G, labels, weight, resolution)
            if levels and not reached > best + _MIN_LEIDEN_GAIN * max(1.0, abs(best)):
                return levels
            best = reached
            levels.append(labels)


def _beta(G: ConvertedGraph, weight: str | None, metric: str, theta: float) -> float:
    """Return theta in igraph's units: networkx divides modularity by the total weight."""
    if metric != "modularity":
        return theta
    return theta * float(G.degrees(weight).sum()) / 2


def _igraph_of(
    G: ConvertedGraph, weight: str | None, resolution: float
) -> tuple[Any, list[float] | None]:
    """Return an igraph graph and its weights; None for a graph without edges."""
    if not (is_real(resolution, finite=False) and resolution >= 0):
        msg = f"resolution must be a number >= 0, got {resolution!r}"
        raise NotImplementedError(msg)
    if len(G.indices) == 0:
        return None, None
    weights = G.weights_of(weight)
    kept = None if weights is None else weights[G.rows <= G.indices].astype(float)
    if kept is not None and not (np.all(kept >= 0) and 0 < kept.sum() < np.inf):
        msg = "weights must be finite, not negative, and not all 0"
        raise NotImplementedError(msg)
    return G.igraph, None if kept is None else kept.tolist()


def _potts_quality(G: ConvertedGraph, labels: Ints, weight: str | None, resolution: float) -> float:
    sizes = np.bincount(labels)
    return _inner_weight(G, labels, weight) - resolution * float((sizes**2).sum()) / 2


@contextmanager
def _drawing_from(seed: Any) -> Iterator[None]:
    """Let igraph draw from a generator that depends on the seed alone."""
    source = random.Random() if seed is None else random.Random(int(seed.random() * 2**53))
    try:
        with igraph_draws_from(source):
            yield
    except InputError as error:
        raise NotImplementedError(str(error)) from error


def _modularity(G: ConvertedGraph, labels: Ints, weight: str | None, resolution: float) -> float:
    """Return the modularity of labels that are known to be a partition."""
    volumes = sums_of(G.degrees(weight), labels, int(labels.max(initial=-1)) + 1).astype(float)
    total = float(volumes.sum())
    expected = float(volumes @ volumes) * (1 / total**2)
    return float(_inner_weight(G, labels, weight) / (total / 2) - resolution * expected)


def _inner_weight(G: ConvertedGraph, labels: Ints, weight: str | None) -> float:
    """Return the weight of the edges within blocks, loops counted once."""
    here = labels[G.rows]
    inside = (here == labels[G.indices]) & (here >= 0)
    weights = G.weights_of(weight)
    values = np.ones(len(inside), dtype=np.int64) if weights is None else weights
    return float(values[inside].sum() + values[inside & G.is_loop].sum()) / 2


def _edges_between(G: ConvertedGraph, labels: Ints) -> int:
    if G.is_multigraph():
        msg = "networkx counts parallel edges as one"
        raise NotImplementedError(msg)
    here, there = labels[G.rows], labels[G.indices]
    return int(np.count_nonzero((here != there) & (here >= 0) & (there >= 0))) // 2


def _pairs_between(labels: Ints) -> int:
    """Return the number of pairs of nodes in different blocks."""
    sizes = np.bincount(labels[labels >= 0])
    return (int(sizes.sum()) ** 2 - int((sizes**2).sum())) // 2


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
