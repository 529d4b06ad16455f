"""Kernel of belief propagation: bare arrays in and out."""

from math import exp, log

import numpy as np
from numba import njit

from kgroups._types import CSR, Floats, Ints

__all__ = ["reversed_entries", "sweep"]

# Products of factors span at most this many nats before they become logarithms: e^230 = 1e100.
_SPAN = 230.0


@njit(cache=True, nogil=True, error_model="numpy")
def reversed_entries(A: CSR) -> Ints:
    """Return for each entry (i, j) the place of the entry (j, i); the matrix is symmetric."""
    place = A.indptr.astype(np.int64)
    reverse = np.empty(A.indices.size, np.int64)
    # Rows come in order, so the entries of column j are met in the order of row j.
    for i in range(A.indptr.size - 1):
        for t in range(A.indptr[i], A.indptr[i + 1]):
            j = A.indices[t]
            reverse[t] = place[j]
            place[j] += 1
    return reverse


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def sweep(
    A: CSR,
    reverse: Ints,
    theta: Floats,
    heaviest: float,
    inside: Floats,
    between: float,
    prior: Floats,
    message: Floats,
    marginal: Floats,
    total: Floats,
    edges: Floats,
    damping: float,
) -> tuple[float, float]:
    """Update the messages and the marginal of each node, in order and in place.

    Nodes i and j are linked at the rate theta[i] theta[j] times ``inside[a]`` if both are in
    group a, and times ``between`` otherwise. An edge of weight w counts as w edges. ``heaviest``
    is the largest weight, 0 if all weights are 1. ``total`` is the sum of theta times the
    marginals and is kept up to date; ``edges`` receives the expected weight of the edges inside
    each group. A share ``damping`` of the messages and marginals stays as it was.

    Returns the part of the Bethe free energy that belongs to nodes and edges, in nats, and the
    mean change of a marginal.
    """
    n, k, weighted = theta.size, inside.size, heaviest > 0.0
    more, field, product, logs = inside - between, np.zeros(k), np.ones(k), np.zeros(k)
    sent, renewed = np.zeros(k), 1.0 - damping
    widest = max(abs(log(between)), 1e-3)
    for a in range(k):
        widest = max(widest, abs(log(inside[a])))
        edges[a] = 0.0
    chunk = max(1, int(_SPAN / (widest * max(heaviest, 1.0))))
    saved, change, factors, pending, fetched = 0.0, 0.0, 1.0, 0, 0.0
    for i in range(n):
        first, last, th = A.indptr[i], A.indptr[i + 1], theta[i]
        # Messages to the node lie far apart. Reading both ends of each first lets the processor
        # fetch them at the same time, which takes a third off the time of a sweep at k = 10.
        for t in range(first, last):
            fetched += message[reverse[t], 0] + message[reverse[t], k - 1]
        for a in range(k):
            product[a], logs[a] = 1.0, 0.0
        for t in range(first, last):
            back = reverse[t]
            if weighted:
                for a in range(k):
                    product[a] *= (between + more[a] * message[back, a]) ** A.data[t]
            else:
                for a in range(k):
                    product[a] *= between + more[a] * message[back, a]
            if (t - first + 1) % chunk == 0:
                for a in range(k):
                    logs[a] += log(product[a])
                    product[a] = 1.0
        top = -1e300
        for a in range(k):
            total[a] -= th * marginal[i, a]
            field[a] = logs[a] - th * more[a] * total[a]
            top = max(top, field[a])
        norm = 0.0
        for a in range(k):
            field[a] = prior[a] * product[a] * exp(field[a] - top)
            norm += field[a]
        saved += top + log(norm)
        for a in range(k):
            field[a] /= norm
            change += abs(field[a] - marginal[i, a])
            marginal[i, a] = damping * marginal[i, a] + renewed * field[a]
            total[a] += th * marginal[i, a]
        for t in range(first, last):
            back, norm = reverse[t], 0.0
            if weighted:
                w = A.data[t]
                for a in range(k):
                    sent[a] = field[a] / (between + more[a] * message[back, a]) ** w
                    norm += sent[a]
                factor = between
                for a in range(k):
                    factor += more[a] * sent[a] * message[back, a] / norm
                for a in range(k):
                    edges[a] += w * sent[a] * message[back, a] / (norm * factor)
                saved -= 0.5 * w * log(factor)
            else:
                # The normalization of a message is one over the factor of its edge.
                for a in range(k):
                    x = message[back, a]
                    sent[a] = field[a] / (between + more[a] * x)
                    norm += sent[a]
                    edges[a] += sent[a] * x
                factors *= norm
                pending += 1
                if pending == chunk:
                    saved += 0.5 * log(factors)
                    factors, pending = 1.0, 0
            norm = renewed / norm
            for a in range(k):
                message[t, a] = damping * message[t, a] + norm * sent[a]
    # Each edge was met from both of its ends.
    for a in range(k):
        edges[a] *= 0.5 * inside[a]
    # Messages are not negative, but only a sum that is used is not optimized away.
    return saved + 0.5 * log(factors) + min(fetched, 0.0), change / max(n, 1)
