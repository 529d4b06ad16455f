"""Louvain and Leiden under networkx's names, run by igraph's C code.

The algorithm, the objective and the parameters are networkx's; the draws are igraph's, so a seed
gives the same partition each time, but not the one that networkx's own code would give for it.
"""

import random
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from kgroups._types import Ints
from kgroups.adapters.igraph import igraph_draws_from
from kgroups.backends.networkx.graph import ConvertedGraph
from kgroups.backends.networkx.partitions import Blocks, communities_of
from kgroups.backends.networkx.quality import inner_weight, modularity_of
from kgroups.backends.networkx.rules import DIRECTED
from kgroups.errors import InputError

__all__ = [
    "leiden_communities",
    "leiden_communities_by_metric",
    "leiden_partitions",
    "leiden_partitions_by_metric",
    "louvain_communities",
    "louvain_partitions",
]

Communities = list[set[Hashable]]

_LEIDEN_GAIN = 1e-10
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
    levels = _louvain_levels(G, weight, resolution, threshold, seed)
    return _last(G, levels, max_level)


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
    """As networkx 3.7 defines it: Leiden on the constant Potts model unless told otherwise."""
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
    """Return the labels after each level, up to the first that gains no more than a threshold."""
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
        degrees = G.out_degrees(weight).astype(float)
        node_weights, penalty = degrees.tolist(), resolution / float(degrees.sum())
    quality = _modularity if by_modularity else _potts_quality
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
            reached = quality(G, labels, weight, resolution)
            if levels and not reached > best + _LEIDEN_GAIN * max(1.0, abs(best)):
                return levels
            best = reached
            levels.append(labels)


def _beta(G: ConvertedGraph, weight: str | None, metric: str, theta: float) -> float:
    """Return networkx's theta in igraph's units: networkx divides modularity by all weights."""
    if metric != "modularity":
        return theta
    return theta * float(G.out_degrees(weight).sum()) / 2


def _igraph_of(
    G: ConvertedGraph, weight: str | None, resolution: float
) -> tuple[Any, list[float] | None]:
    """Return an igraph graph and its weights; None for a graph without edges."""
    if G.is_directed():
        raise NotImplementedError(DIRECTED)
    if isinstance(resolution, bool) or not isinstance(resolution, Real) or not resolution >= 0:
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


def _modularity(G: ConvertedGraph, labels: Ints, weight: str | None, resolution: float) -> float:
    return modularity_of(G, Blocks(labels, np.bincount(labels)), weight, resolution)


def _potts_quality(G: ConvertedGraph, labels: Ints, weight: str | None, resolution: float) -> float:
    blocks = Blocks(labels, np.bincount(labels))
    return inner_weight(G, blocks, weight) - resolution * float((blocks.sizes**2).sum()) / 2


@contextmanager
def _drawing_from(seed: Any) -> Iterator[None]:
    """Let igraph draw from a stream that depends on the seed alone."""
    source = random.Random() if seed is None else random.Random(int(seed.random() * 2**53))
    try:
        with igraph_draws_from(source):
            yield
    except InputError as error:
        raise NotImplementedError(str(error)) from error
