"""Other methods that studies put beside kgroups."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.adapters.igraph import igraph_draws_from
from kgroups.embedding import KMeansSeed
from kgroups.spectrum.lanczos import largest_eigenpairs
from kgroups.studies.bench import Workbench

__all__ = ["infomap_labels", "leiden_labels", "louvain_labels", "spectral_labels"]

_DENSE_NODES = 300


def spectral_labels(work: Workbench) -> Ints:
    """Group the rows of the top k eigenvectors of A by k-means."""
    matrix, k = work.graph.to_scipy(), work.k
    if k == 1:
        return np.zeros(work.graph.n, dtype=np.int64)
    if work.graph.n <= _DENSE_NODES or 3 * k >= work.graph.n:
        V = np.linalg.eigh(matrix.toarray())[1][:, ::-1][:, :k]
    else:
        # Away from the top eigenvector, which on a regular graph is constant.
        start = 0.5 + np.random.default_rng(0).random(work.graph.n)
        V = largest_eigenpairs(matrix, k, start)[1]
    return KMeansSeed(rows="raw").labels(V, k, work.rng())


def leiden_labels(work: Workbench, *, converged: bool) -> Ints:
    """Maximize modularity by igraph's Leiden: two iterations, or more while modularity rises."""
    with _igraph_of(work) as (graph, weights):
        find = partial(graph.community_leiden, "modularity", weights)
        z = find(n_iterations=2).membership
        reached, before = graph.modularity(z, weights), -np.inf
        # Before igraph 1.0, n_iterations=-1 ends after the first iteration.
        while converged and reached > before:
            rival = find(n_iterations=1, initial_membership=z).membership
            before, reached = reached, graph.modularity(rival, weights)
            if reached > before:
                z = rival
    return np.array(z, dtype=np.int64)


def louvain_labels(work: Workbench) -> Ints:
    """Maximize modularity by igraph's Louvain."""
    with _igraph_of(work) as (graph, weights):
        found = graph.community_multilevel(weights=weights)
    return np.array(found.membership, dtype=np.int64)


def infomap_labels(work: Workbench) -> Ints:
    """Compress random walks by Infomap, in two levels."""
    from infomap import Infomap

    u, v, weights = work.graph.edges()
    seed = int(work.rng().integers(1, 2**31))
    built = Infomap(silent=True, two_level=True, num_trials=1, seed=seed)
    built.add_nodes(range(work.graph.n))
    built.add_links(list(zip(u.tolist(), v.tolist(), weights.tolist(), strict=True)))
    modules = built.run().modules()
    return np.array([modules[node] for node in range(work.graph.n)], dtype=np.int64)


@contextmanager
def _igraph_of(work: Workbench) -> Iterator[tuple[Any, Floats | None]]:
    """Give the graph and its weights to igraph, whose random numbers are ours meanwhile."""
    import igraph

    u, v, weights = work.graph.edges()
    graph = igraph.Graph(n=work.graph.n, edges=np.column_stack([u, v]))
    with igraph_draws_from(random.Random(int(work.rng().integers(2**63)))):
        yield graph, weights if work.graph.is_weighted else None
