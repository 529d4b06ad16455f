"""networkx's Louvain, Leiden and label propagation, run by igraph's C code and kernels.

The algorithms, objectives and parameters are networkx's. The random draws are igraph's and numpy's:
a seed gives the same partition each time, but not the one that networkx's own code gives for it.
Only ``label_propagation_communities`` draws nothing, and its communities are equal to networkx's.
"""

import random
from collections.abc import Collection, Hashable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np

from kgroups._csr import index_type
from kgroups._types import CSR, Bools, Floats, Ints
from kgroups._validation import is_real
from kgroups.adapters import igraph_draws_from
from kgroups.backends.networkx._propagation_nb import (
    color_greedily,
    has_frequent_labels,
    spread_by_color,
    spread_once,
    spread_queue,
)
from kgroups.backends.networkx.graph import ConvertedGraph, communities_of
from kgroups.backends.networkx.quality import inner_weight, modularity_of
from kgroups.errors import InputError

Communities = list[set[Hashable]]

# Relative gain of the objective below which an iteration of Leiden counts as none.
_MIN_LEIDEN_GAIN = 1e-10
# networkx's default of theta, the randomness of Leiden's refinement.
_THETA = 0.01

DIRECTED = (
    "on a directed graph networkx maximizes directed modularity, and the igraph code that runs "
    "here only that of undirected graphs. Leave out backend='kgroups' to let networkx run, or pass "
    "G.to_undirected(), which drops the directions; where both exist it keeps the weight of one "
    "and does not add them"
)
"""Why Louvain and Leiden leave directed graphs to networkx, and what to do."""


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


def asyn_lpa_communities(
    G: ConvertedGraph, weight: str | None = None, seed: Any = None
) -> Iterator[set[Hashable]]:
    """As :func:`networkx.algorithms.community.label_propagation.asyn_lpa_communities`."""
    n = len(G)
    # Without weights networkx counts neighbors here, each once however many edges lead to it.
    A = _frequencies(G, None if weight is None else G.weights_of(weight))
    rng = _generator(seed)
    z = np.arange(n)
    work = _work_arrays(n)
    while spread_once(*A, rng.permutation(n), rng.random(n), z, *work):
        pass
    return iter(communities_of(G, z))


def fast_label_propagation_communities(
    G: ConvertedGraph, *, weight: str | None = None, seed: Any = None
) -> Iterator[set[Hashable]]:
    """As networkx's ``fast_label_propagation_communities``, directions of edges ignored."""
    n = len(G)
    A = _frequencies(G, G.weights_of(weight))
    if G.is_directed():
        A = _both_ways(A)
    rng = _generator(seed)
    z = np.arange(n)
    queue, waiting = rng.permutation(n), np.ones(n, dtype=bool)
    state, work = np.array([0, n]), _work_arrays(n)
    while state[1]:
        spread_queue(*A, rng.random(n), state, queue, waiting, z, *work)
    return iter(communities_of(G, z))


def label_propagation_communities(G: ConvertedGraph) -> Collection[set[Hashable]]:
    """As networkx's ``label_propagation_communities``: the very same communities."""
    n = len(G)
    A = _frequencies(G, None)
    by_degree = np.argsort(-G.out_degrees(None), kind="stable")
    color = np.full(n, -1)
    color_greedily(*A[:2], by_degree, color, np.full(n + 1, -1))
    by_color = np.argsort(color, kind="stable")
    z = np.arange(n)
    work = _work_arrays(n)
    while not has_frequent_labels(*A, z, *work):
        spread_by_color(*A, by_color, z, *work)
    return dict(enumerate(communities_of(G, z))).values()


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
    before = modularity_of(G, singles, weight, resolution)
    for labels in levels:
        kept.append(labels)
        after = modularity_of(G, labels, weight, resolution)
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
    quality = modularity_of if by_modularity else _potts_quality
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
            if levels and not reached > best + _MIN_LEIDEN_GAIN * max(1.0, abs(best)):
                return levels
            best = reached
            levels.append(labels)


def _beta(G: ConvertedGraph, weight: str | None, metric: str, theta: float) -> float:
    """Return theta in igraph's units: networkx divides modularity by the total weight."""
    if metric != "modularity":
        return theta
    return theta * float(G.out_degrees(weight).sum()) / 2


def _igraph_of(
    G: ConvertedGraph, weight: str | None, resolution: float
) -> tuple[Any, list[float] | None]:
    """Return an igraph graph and its weights; None for a graph without edges."""
    if G.is_directed():
        raise NotImplementedError(DIRECTED)
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
    return inner_weight(G, labels, weight) - resolution * float((sizes**2).sum()) / 2


@contextmanager
def _drawing_from(seed: Any) -> Iterator[None]:
    """Let igraph draw from a generator that depends on the seed alone."""
    source = random.Random() if seed is None else random.Random(int(seed.random() * 2**53))
    try:
        with igraph_draws_from(source):
            yield
    except InputError as error:
        raise NotImplementedError(str(error)) from error


def _frequencies(G: ConvertedGraph, weights: Any) -> CSR:
    """Return how much each neighbor adds to the frequency of its label."""
    data = np.ones(len(G.indices)) if weights is None else weights.astype(float)
    if not np.all(np.isfinite(data)):
        msg = "weights must be finite"
        raise NotImplementedError(msg)
    kind = index_type(len(G), int(G.indptr[-1]))
    return CSR(G.indptr.astype(kind), G.indices.astype(kind), data)


def _work_arrays(n: int) -> tuple[Floats, Bools, Ints]:
    """Return a frequency and a mark for each label, and room for a list of labels."""
    return np.zeros(n), np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.int64)


def _both_ways(A: CSR) -> CSR:
    n = len(A.indptr) - 1
    sources = np.repeat(np.arange(n), np.diff(A.indptr))
    rows, columns = np.concatenate([sources, A.indices]), np.concatenate([A.indices, sources])
    order = np.argsort(rows, kind="stable")
    kind = index_type(n, rows.size)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(kind)
    data = np.concatenate([A.data, A.data])[order]
    # Repeated entries are kept: an arc each way makes two neighbors.
    return CSR(indptr, columns[order].astype(kind), data)


def _generator(seed: Any) -> np.random.Generator:
    return np.random.default_rng(None if seed is None else int(seed.random() * 2**53))
