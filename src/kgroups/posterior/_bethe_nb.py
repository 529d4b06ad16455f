"""Kernel of belief propagation: bare arrays in and out."""

from math import exp, log

import numpy as np
from numba import njit

from kgroups._types import CSR, Floats, Indices, Ints

__all__ = ["propagate", "reversed_entries"]

# Products of factors span at most this many nats before they become logarithms.
_SPAN = 230.0
_LEAST_EDGES = 1e-3
_LEAST_SHARE = 1e-30
_LEAST_CONTRAST = 1.001


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
def propagate(
    A: CSR,
    d: Floats,
    reverse: Ints,
    z: Indices,
    k: int,
    softness: float,
    tolerance: float,
    max_sweeps: int,
    stop: Ints,
) -> tuple[float, Floats, float, int]:
    """Run belief propagation for ``k`` groups from labels, rates learned on the way.

    Two rates, inside and between groups, on top of degrees; pairs of a node with itself are left
    out. Nodes take turns in order. Returns the nats saved against one community before parameters
    are paid for (Bethe free energy), marginals, the last mean change, and the sweeps.
    """
    n, m, squares = d.size, 0.0, 0.0
    for i in range(n):
        m += 0.5 * d[i]
        squares += d[i] * d[i]
    q = m / (4.0 * m * m - squares)
    marginal = np.full((n, k), softness / k)
    message = np.empty((A.indices.size, k))
    total, own, share = np.zeros(k), np.zeros(k), np.zeros(k)
    field, product, logs, inside = np.zeros(k), np.ones(k), np.zeros(k), 0.0
    weighted, heaviest = False, 1.0
    for i in range(n):
        marginal[i, z[i]] += 1.0 - softness
        for t in range(A.indptr[i], A.indptr[i + 1]):
            for a in range(k):
                message[t, a] = marginal[i, a]
            weighted, heaviest = weighted or A.data[t] != 1.0, max(heaviest, A.data[t])
            if z[A.indices[t]] == z[i]:
                inside += 0.5 * A.data[t]
        for a in range(k):
            total[a] += d[i] * marginal[i, a]
            own[a] += (d[i] * marginal[i, a]) ** 2
            share[a] += marginal[i, a] / n
    saved, change, sweeps = 0.0, 1.0, 0
    while sweeps < max_sweeps and change > tolerance and stop[2] == 0:
        sweeps += 1
        expected = 0.0
        for a in range(k):
            expected += q * (total[a] * total[a] - own[a])
        between = max(m - inside, _LEAST_EDGES) / max(m - expected, _LEAST_EDGES)
        more = max(inside / max(expected, _LEAST_EDGES), _LEAST_CONTRAST * between) - between
        widest = heaviest * max(abs(log(between)), abs(log(between + more)), 1e-3)
        chunk = max(1, int(_SPAN / widest))
        saved, change, inside = m, 0.0, 0.0
        edges, factors = 1.0, 0
        new_share = np.zeros(k)
        for i in range(n):
            first, last = A.indptr[i], A.indptr[i + 1]
            for a in range(k):
                product[a], logs[a] = 1.0, 0.0
            for t in range(first, last):
                back = reverse[t]
                if weighted:
                    for a in range(k):
                        product[a] *= (between + more * message[back, a]) ** A.data[t]
                else:
                    for a in range(k):
                        product[a] *= between + more * message[back, a]
                if (t - first + 1) % chunk == 0:
                    for a in range(k):
                        logs[a] += log(product[a])
                        product[a] = 1.0
            top = -1e300
            for a in range(k):
                total[a] -= d[i] * marginal[i, a]
                own[a] -= (d[i] * marginal[i, a]) ** 2
                field[a] = logs[a] - 2.0 * q * d[i] * more * total[a]
                top = max(top, field[a])
            norm = 0.0
            for a in range(k):
                field[a] = share[a] * product[a] * exp(field[a] - top)
                norm += field[a]
            saved += top + log(norm) - 2.0 * q * d[i] * between * (2.0 * m - d[i])
            for a in range(k):
                x = field[a] / norm
                change += abs(x - marginal[i, a]) / n
                marginal[i, a], field[a] = x, x
                total[a] += d[i] * x
                own[a] += (d[i] * x) ** 2
                new_share[a] += x / n
            for t in range(first, last):
                back, w, norm, both = reverse[t], A.data[t], 0.0, 0.0
                if weighted:
                    for a in range(k):
                        message[t, a] = field[a] / (between + more * message[back, a]) ** w
                        norm += message[t, a]
                else:
                    for a in range(k):
                        message[t, a] = field[a] / (between + more * message[back, a])
                        norm += message[t, a]
                norm = 1.0 / norm
                for a in range(k):
                    message[t, a] *= norm
                    both += message[t, a] * message[back, a]
                factor = between + more * both
                inside += 0.5 * w * (between + more) * both / factor
                if weighted:
                    saved -= 0.5 * w * log(factor)
                else:
                    edges *= factor
                    factors += 1
                    if factors == chunk:
                        saved -= 0.5 * log(edges)
                        edges, factors = 1.0, 0
        saved -= 0.5 * log(edges)
        saved += q * between * (4.0 * m * m - squares)
        for a in range(k):
            saved += q * more * (total[a] * total[a] - own[a])
            share[a] = max(new_share[a], _LEAST_SHARE)
    return saved, marginal, change, sweeps
