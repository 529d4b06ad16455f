"""networkx's three label propagations, each with its own update rule, in compiled kernels.

The draws of the two random ones are numpy's: a seed gives the same communities each time, but not
the ones that networkx's own code would give for it. The third is free of chance and equal.
"""

from collections.abc import Collection, Hashable, Iterator
from typing import Any

import numpy as np

from kgroups._csr import readonly
from kgroups._types import CSR, Floats, Ints, index_type
from kgroups.backends.networkx.graph import ConvertedGraph
from kgroups.backends.networkx.partitions import communities_of

__all__ = [
    "asyn_lpa_communities",
    "compile_kernels",
    "fast_label_propagation_communities",
    "label_propagation_communities",
]


def asyn_lpa_communities(
    G: ConvertedGraph, weight: str | None = None, seed: Any = None
) -> Iterator[set[Hashable]]:
    """As :func:`networkx.algorithms.community.label_propagation.asyn_lpa_communities`."""
    from kgroups.backends.networkx._propagation_nb import spread_once

    n = len(G)
    # Without weights networkx counts neighbours here, each once however many edges lead to it.
    A = _frequencies(G, None if weight is None else G.weights_of(weight))
    rng = _generator(seed)
    z = np.arange(n)
    room = _room(n)
    while spread_once(A, rng.permutation(n), rng.random(n), z, *room):
        pass
    return iter(communities_of(G, z))


def fast_label_propagation_communities(
    G: ConvertedGraph, *, weight: str | None = None, seed: Any = None
) -> Iterator[set[Hashable]]:
    """As networkx's ``fast_label_propagation_communities``, directions of edges ignored."""
    from kgroups.backends.networkx._propagation_nb import spread_queue

    n = len(G)
    A = _frequencies(G, G.weights_of(weight))
    if G.is_directed():
        A = _both_ways(A)
    rng = _generator(seed)
    z = np.arange(n)
    queue, waiting = rng.permutation(n), np.ones(n, dtype=bool)
    room = _room(n)
    start, length = 0, n
    while length:
        start, length = spread_queue(A, rng.random(n), start, length, queue, waiting, z, *room)
    return iter(communities_of(G, z))


def label_propagation_communities(G: ConvertedGraph) -> Collection[set[Hashable]]:
    """As networkx's ``label_propagation_communities``: the very same communities."""
    from kgroups.backends.networkx._propagation_nb import (
        color_greedily,
        has_frequent_labels,
        spread_by_color,
    )

    n = len(G)
    A = _frequencies(G, None)
    by_degree = np.argsort(-G.out_degrees(None), kind="stable")
    color = np.full(n, -1)
    color_greedily(A, by_degree, color, np.full(n + 1, -1))
    by_color = np.argsort(color, kind="stable")
    z = np.arange(n)
    room = _room(n)
    while not has_frequent_labels(A, z, *room):
        spread_by_color(A, by_color, z, *room)
    return dict(enumerate(communities_of(G, z))).values()


def compile_kernels() -> None:
    """Compile the kernels of this module, so that no later call has to wait for that."""
    pair = ConvertedGraph(
        range(2),
        np.array([0, 1, 2], np.int32),
        np.array([1, 0], np.int32),
        directed=False,
        multigraph=False,
        counts=None,
        weights={},
    )
    for function in (
        asyn_lpa_communities,
        fast_label_propagation_communities,
        label_propagation_communities,
    ):
        function(pair)


def _frequencies(G: ConvertedGraph, weights: Any) -> CSR:
    """Return how much each neighbour adds to the frequency of its label."""
    data = np.ones(len(G.indices)) if weights is None else weights.astype(float)
    if not np.all(np.isfinite(data)):
        msg = "weights must be finite"
        raise NotImplementedError(msg)
    kind = index_type(len(G), int(G.indptr[-1]))
    return readonly(CSR(G.indptr.astype(kind), G.indices.astype(kind), data))


def _both_ways(A: CSR) -> CSR:
    from scipy import sparse

    n = len(A.indptr) - 1
    arcs = sparse.csr_array((A.data, A.indices, A.indptr), shape=(n, n)).tocoo()
    rows = np.concatenate([arcs.row, arcs.col])
    columns = np.concatenate([arcs.col, arcs.row])
    order = np.argsort(rows, kind="stable")
    kind = index_type(n, rows.size)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(kind)
    data = np.concatenate([arcs.data, arcs.data])[order]
    # Entries that come twice stay apart: an arc each way makes two neighbours.
    return readonly(CSR(indptr, columns[order].astype(kind), data))


def _room(n: int) -> tuple[Floats, Any, Ints]:
    """Return what the kernels count in: a frequency and a mark per label, a list of labels."""
    return np.zeros(n), np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64)


def _generator(seed: Any) -> np.random.Generator:
    return np.random.default_rng(None if seed is None else int(seed.random() * 2**53))
