"""Slow twins of super-groups: expected numbers of edges, and the nats that they save."""

from itertools import combinations
from math import comb, factorial, log, sqrt

import numpy as np

from helpers.oracles_levels import divergence


def expected(e, rounds=20_000):
    """Return the matrix a_r a_s, 0 on the diagonal, with the row sums of a symmetric one."""
    sums, k = e.sum(axis=1), len(e)
    a = sums / sqrt(sums.sum())
    for _ in range(rounds):
        for r in range(k):
            a[r] = sqrt(a[r] * sums[r] / (a.sum() - a[r]))
    p = np.outer(a, a)
    np.fill_diagonal(p, 0.0)
    return p


def nats_of_model(e, p, y, *, shared, dispersion=1.0):
    """Return what super-groups save by one density for all of them, or by one for each."""
    y = np.asarray(y).tolist()
    names, k, m = sorted(set(y)), len(y), e.sum() / 2
    inside, chance = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for r, s in combinations(range(k), 2):
        if y[r] == y[s]:
            inside[y[r]] += e[r, s]
            chance[y[r]] += p[r, s]
    E, P = sum(inside.values()), sum(chance.values())
    cost, q = log(dispersion * m + 1), len(names)
    pairs = [(E, P)] if shared else [(inside[c], chance[c]) for c in names if y.count(c) > 1]
    nats = sum((divergence(x, c) if x > c else 0.0) - cost for x, c in pairs)
    nats += divergence(m - E, m - P) if m - E < m - P else 0.0
    ways = factorial(k)
    for c in names:
        ways //= factorial(y.count(c))
    return nats - log(ways) - log(comb(k - 1, q - 1)) + log(factorial(q))


def nats(e, p, y, dispersion=1.0):
    """Return what super-groups save by the better model."""
    return max(nats_of_model(e, p, y, shared=own, dispersion=dispersion) for own in (True, False))


def partitions(k):
    """Yield all partitions of some items as labels in the order of their first members."""
    labels = [0] * k

    def extended(r, used):
        if r == k:
            yield tuple(labels)
            return
        for label in range(used + 1):
            labels[r] = label
            yield from extended(r + 1, max(used, label + 1))

    yield from extended(1, 1)
