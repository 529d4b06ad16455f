"""Slow inference by the definitions: belief propagation with dicts, and sums over all labels."""

from itertools import product
from math import lgamma, log

import numpy as np

from kgroups.inference.belief_propagation import Rates


def some_rates(k, *, own, seed=0):
    """Return rates of k groups, shared or each its own, with unequal shares."""
    rng = np.random.default_rng(seed)
    inside = rng.uniform(1.2, 3.0, k) if own else np.full(k, 2.2)
    prior = rng.uniform(0.5, 1.5, k)
    return Rates(inside, 0.45, prior / prior.sum())


def omega(rates):
    """Return the rates as a matrix."""
    k = rates.inside.size
    matrix = np.full((k, k), rates.between)
    matrix[np.diag_indices(k)] = rates.inside
    return matrix


def slow_sweeps(A, theta, rates, z, softness, sweeps):
    """Return evidence, marginals and expected inner edges after asynchronous sweeps in order.

    ``A`` is a dense matrix of weights: an edge of weight w is a factor omega^w.
    """
    n, k, W = len(A), rates.inside.size, omega(rates)
    mean = np.full((n, k), softness / k)
    mean[np.arange(n), z] += 1.0 - softness
    message = {(i, j): mean[i].copy() for i, j in np.argwhere(A).tolist()}
    for _ in range(sweeps):
        edges, saved = np.zeros(k), 0.0
        for i in range(n):
            near = np.flatnonzero(A[i]).tolist()
            others = [j for j in range(n) if j != i]
            weights = []
            for a in range(k):
                field = theta[i] * sum(theta[j] * (mean[j] @ W[a]) for j in others)
                logs = log(rates.prior[a]) - field
                weights.append(logs + sum(log(W[a] ** A[i, j] @ message[j, i]) for j in near))
            weights = np.array(weights)
            top = weights.max()
            saved += top + log(np.exp(weights - top).sum())
            mean[i] = np.exp(weights - top) / np.exp(weights - top).sum()
            for j in near:
                out = np.exp(weights - top) / (W ** A[i, j] @ message[j, i])
                message[i, j] = out / out.sum()
                both = np.outer(message[i, j], message[j, i]) * W ** A[i, j]
                saved -= 0.5 * log(both.sum())
                edges += 0.5 * A[i, j] * np.diag(both) / both.sum()
        for i, j in product(range(n), repeat=2):
            if i != j:
                saved += 0.5 * theta[i] * theta[j] * (mean[i] @ W @ mean[j])
    return saved + 0.5 * A.sum(), mean, edges


def sums_over_labels(A, theta, rates, mean):
    """Return evidence, marginals and expected inner weights by a sum over all labels.

    A node feels its links exactly, an edge of weight w as a factor omega^w, and all pairs through
    the means of the other nodes. On a tree, belief propagation ends where the marginals are the
    means.
    """
    n, k, W = len(A), rates.inside.size, omega(rates)
    u, v = np.nonzero(np.triu(A))
    every = np.array(list(product(range(k), repeat=n)))
    links = np.log(W[every[:, u], every[:, v]]) @ A[u, v]
    field = -theta[:, None] * ((theta @ mean - theta[:, None] * mean) @ W)
    logs = links + (np.log(rates.prior) + field)[np.arange(n), every].sum(axis=1)
    top = logs.max()
    p = np.exp(logs - top)
    evidence = top + log(p.sum()) + 0.5 * A.sum()
    p /= p.sum()
    for i, j in product(range(n), repeat=2):
        if i != j:
            evidence += 0.5 * theta[i] * theta[j] * (mean[i] @ W @ mean[j])
    marginals = np.stack([p @ (every == a) for a in range(k)], axis=1)
    together = every[:, u] == every[:, v]
    inner = [p @ (together & (every[:, u] == a)) @ A[u, v] for a in range(k)]
    return evidence, marginals, np.array(inner)


def tree_posterior(A, theta, rates, z, rounds=400):
    """Return evidence and marginals by sums over all labels, the means found self-consistently."""
    mean = 0.9 * np.eye(rates.inside.size)[z] + 0.1 / rates.inside.size
    for _ in range(rounds):
        # In small steps, or all nodes would swing together.
        mean += 0.1 * (sums_over_labels(A, theta, rates, mean)[1] - mean)
    return sums_over_labels(A, theta, rates, mean)[0], mean


def exact_posterior(A, theta, rates):
    """Return the marginals of the Poisson block model itself, by a sum over all labels."""
    n, k, W = len(A), rates.inside.size, omega(rates)
    every = np.array(list(product(range(k), repeat=n)))
    logs = np.log(rates.prior)[every].sum(axis=1)
    for i in range(n):
        for j in range(i):
            rate = theta[i] * theta[j] * W[every[:, i], every[:, j]]
            logs += A[i, j] * np.log(rate) - rate - lgamma(A[i, j] + 1.0)
    p = np.exp(logs - logs.max())
    p /= p.sum()
    return np.stack([p @ (every == a) for a in range(k)], axis=1)
