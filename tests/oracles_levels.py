"""Slow twins of multilevel moving and of communities with densities of their own."""

from math import comb, exp, factorial, lgamma, log

import numpy as np


def dense(csr):
    """Return the matrix of bare arrays."""
    n = len(csr.indptr) - 1
    matrix = np.zeros((n, n))
    matrix[np.repeat(np.arange(n), np.diff(csr.indptr)), csr.indices] = csr.data
    return matrix


def indicator(z, k):
    """Return the n x k matrix of ones where a node is in a group."""
    return np.eye(k)[z]


def association(level, z, penalty):
    """Return the sum over groups of twice the weight inside less penalty times strength squared."""
    Y = indicator(z, int(z.max()) + 1)
    inside = np.trace(Y.T @ dense(level.A) @ Y) + 2 * level.inner.sum()
    return inside - penalty * np.sum((Y.T @ level.strength) ** 2)


def neighbouring_groups(level, z, i):
    """Return the groups of the neighbours of a node."""
    return {int(b) for b in z[level.A.indices[level.A.indptr[i] : level.A.indptr[i + 1]]]}


def best_move(level, z, penalty, i):
    """Return the largest change of the association by a move of one node, 0 where there is none."""
    before = association(level, z, penalty)
    gains = [0.0]
    for b in neighbouring_groups(level, z, i) - {int(z[i])}:
        moved = z.copy()
        moved[i] = b
        gains.append(association(level, moved, penalty) - before)
    return max(gains)


def totals(level, z, k):
    """Return strength, weight inside and nodes of each group."""
    Y = indicator(z, k)
    inner = np.diag(Y.T @ dense(level.A) @ Y) / 2 + Y.T @ level.inner
    return Y.T @ level.strength, inner, Y.T @ level.nodes


def log_rate_between(level, z, k):
    """Return the log of edges between groups over those that degrees alone would give."""
    m = level.strength.sum() / 2
    K, E, _ = totals(level, z, k)
    expected = m - sum(x * x for x in K) / (4 * m)
    return log(max(max(0.0, m - sum(E)) / max(expected, 1e-3), 1e-3))


def worth(m, K, E, N):
    """Return what one community adds in likelihood and in cheaper labels."""
    return (E * log(4 * m * E / K**2) if E > 0 else 0.0) + lgamma(N + 1)


def cost(m, n, sizes):
    """Return the nats for labels and densities, but for what labels inside of groups save."""
    k = len(sizes)
    labels = log(factorial(n)) + log(comb(n - 1, k - 1)) - log(factorial(k))
    return labels + sum(log(min(N * (N - 1) / 2, m) + 1) for N in sizes)


def nats_saved(level, z, k):
    """Return the nats that labels in two groups or more save, term by term."""
    m, n = level.strength.sum() / 2, int(level.nodes.sum())
    K, E, N = totals(level, z, k)
    inside = sum(worth(m, *terms) for terms in zip(K, E, N, strict=True))
    between = max(0.0, m - sum(E)) * log_rate_between(level, z, k)
    return inside + between - cost(m, n, N)


def planted_log_likelihood(A, z):
    """Return the log-likelihood of a simple graph in the Poisson degree-corrected model.

    Every community has a density of its own and all pairs of communities share one, each density
    at its best value; pairs of a node with itself count, with half the rate, as the model has it.
    """
    d = A.sum(axis=1)
    m = d.sum() / 2
    same = z[:, None] == z[None, :]
    rate = np.ones_like(A)
    expected = np.outer(d, d) / (2 * m)
    for a in range(int(z.max()) + 1):
        inside = np.outer(z == a, z == a)
        rate[inside] = A[inside].sum() / expected[inside].sum()
    if not same.all():
        rate[~same] = A[~same].sum() / expected[~same].sum()
    mean = rate * expected
    logs = np.log(mean, out=np.zeros_like(mean), where=A > 0)
    return float((A * logs - mean).sum() / 2)


def fixed_rate_likelihood(level, z, k, rates):
    """Return the likelihood with given rates, whose differences are the gains of moves."""
    K, E, N = totals(level, z, k)
    squares = indicator(z, k).T @ level.strength**2
    terms = rates[:, 0] * E - rates[:, 1] * (K**2 - squares) / 2 + rates[:, 2] * N
    return float(terms.sum())


def poisson_log_likelihood(A, z, inside, outside):
    """Return the log-likelihood of a graph whose groups have these rates inside, and one between.

    Rates are relative to what the degrees alone give; a node has no edge with itself.
    """
    d = A.sum(axis=1)
    rate = np.where(z[:, None] == z[None, :], np.asarray(inside)[z][:, None], outside)
    mean = rate * np.outer(d, d) / d.sum()
    u, v = np.triu_indices(len(z), 1)
    return float(np.sum(A[u, v] * np.log(mean[u, v]) - mean[u, v]))


def merge_gain(level, z, k, a, b):
    """Return what a merge gains, densities apart, while the rate between groups stays the same."""
    m, rate = level.strength.sum() / 2, log_rate_between(level, z, k)

    def gained(labels):
        K, E, N = totals(level, labels, k)
        inside = sum(worth(m, *terms) for terms in zip(K, E, N, strict=True))
        return inside + (m - E.sum()) * rate

    return gained(np.where(z == b, a, z)) - gained(z)


def matching(order, gain, partner, least, most):
    """Return pairs (group, partner) by the greedy rule."""
    pairs, taken = [], set()
    for a in order:
        b = int(partner[a])
        if len(pairs) == most or not gain[a] > least:
            return pairs
        if b >= 0 and a not in taken and b not in taken:
            pairs.append((int(a), b))
            taken |= {int(a), b}
    return pairs


def logistic(x):
    """Return the share of two choices that the first has when it is x nats ahead."""
    return 1 / (1 + exp(-x))
