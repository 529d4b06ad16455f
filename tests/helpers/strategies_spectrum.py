"""Graphs of many shapes for the operators and the spectrum, and counts by a given method."""

import networkx as nx
import numpy as np
from scipy import sparse

from kgroups._types import CSR
from kgroups.spectrum.chebyshev import start_with_perron
from kgroups.spectrum.count import Layout, count_on


def csr_of(A):
    matrix = sparse.csr_array(A)
    matrix.sort_indices()
    return CSR(matrix.indptr, matrix.indices, matrix.data.astype(float))


def adjacency_of(graph):
    return (nx.to_numpy_array(graph, weight=None) > 0).astype(float)


def random_adjacency(seed, *, largest=30, weighted=False, loops=False):
    """Draw a symmetric matrix: sparse to dense, with isolated nodes, often disconnected."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, largest + 1))
    density = min(1.0, float(rng.choice([1.0, 2.0, 4.0, 8.0])) / n)
    upper = np.triu(rng.random((n, n)) < density, 0 if loops else 1).astype(float)
    if rng.random() < 0.4:
        group = rng.integers(0, int(rng.integers(2, 5)), n)
        upper += np.triu((group[:, None] == group) & (rng.random((n, n)) < 0.6), 1)
        upper = np.minimum(upper, 1.0)
    if weighted:
        upper *= rng.choice([rng.lognormal(0.0, 1.0, (n, n)), rng.integers(1, 6, (n, n))])
    return np.triu(upper) + np.triu(upper, 1).T


def perron_of(operator):
    start = operator.random_block(2, np.random.default_rng(0))
    return start_with_perron(operator, start, last=1).perron


def counts_by(hessian, labels, method=None):
    """Count by one method wherever there is something to count, or as chosen by size and fill."""
    layout = Layout(hessian, labels)
    if method is not None:
        layout.methods = [name if name == "pruned" else method for name in layout.methods]
    return count_on(hessian, layout, sign=1)


def random_tree(n, rng):
    A = np.zeros((n, n))
    for i in range(1, n):
        j = int(rng.integers(0, i))
        A[i, j] = A[j, i] = 1.0
    return A


TEXTBOOK = {
    "ring of 6 cliques of 5": nx.ring_of_cliques(6, 5),
    "ring of 20 cliques of 5": nx.ring_of_cliques(20, 5),
    "ring of 10 cliques of 8": nx.ring_of_cliques(10, 8),
    "ring of 30 cliques of 9": nx.ring_of_cliques(30, 9),
    "seven lone cliques": nx.disjoint_union_all([nx.complete_graph(6)] * 7),
    "caveman": nx.caveman_graph(8, 6),
    "connected caveman": nx.connected_caveman_graph(12, 7),
    "barbell": nx.barbell_graph(7, 4),
    "windmill": nx.windmill_graph(6, 5),
    "hypercube": nx.hypercube_graph(6),
    "complete bipartite": nx.complete_bipartite_graph(5, 9),
    "complete": nx.complete_graph(12),
    "star": nx.star_graph(20),
    "path": nx.path_graph(40),
    "cycle": nx.cycle_graph(17),
    "lone edges": nx.Graph([(0, 1), (2, 3), (4, 5)]),
    "grid": nx.grid_2d_graph(12, 15),
    "petersen": nx.petersen_graph(),
    "lollipop": nx.lollipop_graph(8, 12),
    "isolated nodes": nx.empty_graph(5),
    "clique among isolated nodes": nx.disjoint_union(nx.complete_graph(6), nx.empty_graph(4)),
}
