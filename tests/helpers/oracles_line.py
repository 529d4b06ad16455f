"""Slow twins of the exact clustering of a line."""

import itertools

import numpy as np


def within_energy(x, z, w):
    """W of a labeling, from the double sum of its definition."""
    total = 0.0
    for a in np.unique(z):
        y, v = x[z == a], w[z == a]
        if v.sum() > 0:
            total += np.sum(np.outer(v, v) * np.abs(y[:, None] - y)) / (2 * v.sum())
    return total


def labelings(n, k):
    """Every partition of n points into exactly k classes, as labels in order of appearance."""
    for z in itertools.product(range(k), repeat=n - 1):
        z = np.array((0, *z))
        seen = np.unique(z, return_index=True)
        if seen[0].size == k and np.all(np.diff(seen[1]) > 0):
            yield z


def least_of_all_partitions(x, k, w):
    return min(within_energy(x, z, w) for z in labelings(x.size, k))


def least_of_all_intervals(x, k, w):
    """The dynamic program without tables and without bounds on the search, O(k n^2) costs."""
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[order]
    n = x.size
    cost = np.full((n, n + 1), np.inf)
    for i in range(n):
        for j in range(i + 1, n + 1):
            cost[i, j] = within_energy(x[i:j], np.zeros(j - i), w[i:j])
    best = cost[0]
    for _ in range(k - 1):
        best = np.min(best[:n, None] + cost, axis=0)
    return best[n]
