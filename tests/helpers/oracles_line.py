"""Slow twins of the exact split of a line."""

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


def least_of_all_bipartitions(x, w):
    labelings = (np.array((0, *z)) for z in itertools.product(range(2), repeat=x.size - 1))
    return min(within_energy(x, z, w) for z in labelings if z.any())


def least_of_all_cuts(x, w):
    """The least energy of the lower and the higher numbers, for each place between two numbers."""
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[order]
    return min(within_energy(x, np.arange(x.size) >= cut, w) for cut in range(1, x.size))
