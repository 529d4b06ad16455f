"""Random graphs that the suite draws: planted partitions and null models."""

import networkx as nx
import numpy as np

from kgroups.graph import Graph


def planted_partition(n, k, degree, snr, rng):
    """Draw a planted partition of given mean degree and signal-to-noise ratio."""
    a = degree + snr * (k - 1) * np.sqrt(degree)
    b = degree - snr * np.sqrt(degree)
    assert b >= 0, "the signal-to-noise ratio exceeds sqrt(degree)"
    truth = rng.permutation(np.arange(n) % k)
    u, v = np.triu_indices(n, 1)
    drawn = rng.random(u.size) < np.where(truth[u] == truth[v], a / n, b / n)
    return Graph.from_edges(u[drawn], v[drawn], n=n), truth


def configuration_null(G, seed):
    """Return a simple graph with the degrees of G and nothing else of it."""
    null = nx.Graph(G)
    nx.double_edge_swap(null, 10 * null.number_of_edges(), max_tries=10**6, seed=seed)
    return null
