"""Slow twins of levels, of modularity at a resolution, and of the nats that communities save."""

from math import comb, factorial, log

import numpy as np


def dense(csr):
    """Return the matrix of bare arrays."""
    n = len(csr.indptr) - 1
    matrix = np.zeros((n, n))
    matrix[np.repeat(np.arange(n), np.diff(csr.indptr)), csr.indices] = csr.data
    return matrix


def indicator(z, k):
    """Return the n x k matrix of ones where a unit is in a group."""
    return np.eye(k)[z]


def totals(level, z, k):
    """Return weight inside, strength and nodes of each group."""
    Y = indicator(z, k)
    inner = np.diag(Y.T @ dense(level.A) @ Y) / 2 + Y.T @ level.inner
    return inner, Y.T @ level.strength, np.array(Y.T @ level.nodes, dtype=int)


def modularity(level, z, penalty):
    """Return the sum over groups of twice the weight inside less penalty times strength squared."""
    E, K, _ = totals(level, z, int(z.max()) + 1)
    return float(np.sum(2 * E - penalty * K**2))


def divergence(E, P):
    """Return E ln(E / P) - E + P."""
    return (E * log(E / P) if E > 0 else 0.0) - E + P


def nats_saved(level, z):
    """Return the nats that communities save, term by term in whole-number arithmetic."""
    groups = np.unique(z, return_inverse=True)[1]
    k, n, m = int(groups.max()) + 1, int(level.nodes.sum()), level.strength.sum() / 2
    if k == 1:
        return 0.0
    E, K, N = totals(level, groups, k)
    P = K**2 / (4 * m)
    saved = sum(divergence(e, p) for e, p in zip(E, P, strict=True) if e > p > 0)
    outside, expected = m - E.sum(), m - P.sum()
    if outside < expected:
        saved += divergence(max(outside, 0.0), expected)
    ways = factorial(n)
    for size in N.tolist():
        ways //= factorial(size)
        saved -= log(min(comb(size, 2), m) + 1)
    return saved - log(ways) - log(comb(n - 1, k - 1)) + log(factorial(k))


def neighboring_groups(level, z, i):
    """Return the groups of the neighbors of a unit."""
    return {int(b) for b in z[level.A.indices[level.A.indptr[i] : level.A.indptr[i + 1]]]}


def best_gain(level, z, i, objective):
    """Return the largest gain of a move of one unit to a group of its neighbors or its own."""
    before = objective(level, z)
    gains = [0.0]
    for b in {*neighboring_groups(level, z, i), int(z.max()) + 1} - {int(z[i])}:
        moved = z.copy()
        moved[i] = b
        gains.append(objective(level, moved) - before)
    return max(gains)


def pairs_saved(G, z):
    """Return the nats that communities of one density save where edges are chosen among pairs.

    One community is sent as edges among all pairs, or as degrees and a matching of their ends.
    """
    n, m, k = len(G), G.number_of_edges(), int(z.max()) + 1
    sizes = np.bincount(z).tolist()
    pairs, inside = sum(comb(size, 2) for size in sizes), sum(z[u] == z[v] for u, v in G.edges)
    ways, matchings = factorial(n), factorial(2 * m) / (2**m * factorial(m))
    for size in sizes:
        ways //= factorial(size)
    labels = log(comb(n - 1, k - 1)) + log(ways) - log(factorial(k))
    split = log(comb(pairs, inside)) + log(comb(comb(n, 2) - pairs, m - inside))
    orders = sum(log(factorial(d)) for _, d in G.degree)
    by_degrees = log(comb(n + 2 * m - 1, 2 * m)) + log(matchings) - orders
    return min(log(comb(comb(n, 2), m)), by_degrees) - split - labels - log(m + 1)
