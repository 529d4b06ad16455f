"""Kernels from eigenvectors to first labels: embedding rows, k-means++ and k-means."""

from math import sqrt

import numpy as np
from numba import njit

from kgroups._components_nb import spread
from kgroups._types import CSR, Bools, Floats, Ints
from kgroups.embedding.first_labels import SWEEPS_EXPECTED, TIE
from kgroups.hartigan import ROW_ERROR
from kgroups.hartigan._sweep_nb import improve_rows

__all__ = ["best_kmeans", "drawn_by_mass", "first_labels", "long_rows", "nearer", "unit_rows"]

# Costs of draws closer than this are a tie: rows have length 1 and the error of an eigensolver.
_SLACK = 1e-9
# A later start must lower the cost by more than rounding: this share, and this much.
_COST_SHARE, _COST_ROUNDING = 1e-9, 1e-12
# Sweeps of one start at most.
_MAX_SWEEPS = 50
# Coordinates are rounded to one in this many parts, so that the error of the solver does not
# decide between symmetric nodes.
_PARTS = 1e10
# Rows shorter than this part of the longest are mostly the error of the solver.
_LEAST_LENGTH = 1e-7
_TINY = np.finfo(np.float64).tiny


@njit(cache=True, nogil=True, error_model="numpy")
def drawn_by_mass(mass: Floats, draws: Floats, picks: Ints) -> float:
    """Find the points in which shares ``draws`` of the whole mass end; return the mass."""
    total = np.cumsum(mass)
    last = mass.size - 1
    for t in range(draws.size):
        picks[t] = min(np.searchsorted(total, draws[t] * total[last], side="right"), last)
    return float(total[last])


@njit(cache=True, nogil=True, error_model="numpy")
def nearer(
    offered: Floats,
    weights: Floats,
    tie: float,
    slack: float,
    center: int,
    distance: Floats,
    nearest: Ints,
) -> int:
    """Take the column of ``offered`` after which points are nearest to a center, in place.

    Columns whose costs differ by no more than ``tie`` of the least, and ``slack``, are a tie, and
    the first is taken. Without ``weights`` each point counts once.
    """
    n, trials = offered.shape
    cost = np.zeros(trials)
    for i in range(n):
        weight = weights[i] if weights.size else 1.0
        for t in range(trials):
            cost[t] += weight * min(offered[i, t], distance[i])
    bound = cost.min() * (1.0 + tie) + slack
    chosen = 0
    while chosen < trials - 1 and cost[chosen] > bound:
        chosen += 1
    for i in range(n):
        if offered[i, chosen] < distance[i]:
            distance[i] = offered[i, chosen]
            nearest[i] = center
    return chosen


@njit(cache=True, nogil=True, fastmath=True)
def _squared_distances(X: Floats, picks: Ints, out: Floats) -> None:
    """Fill ``out`` (n, len(picks)) with squared distances of all rows to the picked rows."""
    for i in range(X.shape[0]):
        for position in range(picks.size):
            j = picks[position]
            distance = 0.0
            for c in range(X.shape[1]):
                gap = X[i, c] - X[j, c]
                distance += gap * gap
            out[i, position] = distance


@njit(cache=True, nogil=True, error_model="numpy")
def _nearest_of_drawn(X: Floats, first: int, draws: Floats, tally: Ints) -> Ints:
    """Draw centers among the rows of X by greedy k-means++; return the nearest of each row.

    ``first`` is the first center, and row a of ``draws`` draws the candidates for center a.
    """
    n = X.shape[0]
    k, trials = draws.shape
    center = np.zeros(k, dtype=np.int64)
    center[0] = first
    taken = np.zeros(n, dtype=np.bool_)
    taken[first] = True
    picks = np.empty(trials, dtype=np.int64)
    offered = np.empty((n, trials))
    each = np.zeros(0)
    picks[:] = first
    _squared_distances(X, picks, offered)
    distance = offered[:, 0].copy()
    nearest = np.zeros(n, dtype=np.int64)
    for a in range(1, k):
        if tally[2] != 0:
            break
        if drawn_by_mass(distance, draws[a], picks) <= 0.0:
            # Fewer distinct rows than centers: any row that is not a center will do.
            picks[:] = np.argmin(taken)
        _squared_distances(X, picks, offered)
        center[a] = picks[nearer(offered, each, TIE, _SLACK, a, distance, nearest)]
        taken[center[a]] = True
    for a in range(k):
        nearest[center[a]] = a
    return nearest


@njit(cache=True, nogil=True, error_model="numpy")
def best_kmeans(X: Floats, firsts: Ints, draws: Floats, tally: Ints) -> Ints:
    """Return the labels with the lowest k-means cost of several starts, the first in a tie.

    Start t draws its centers by ``firsts[t]`` and ``draws[t]``. A later one must lower the cost by
    more than rounding.
    """
    best, lowest, k = np.zeros(X.shape[0], dtype=np.int64), np.inf, draws.shape[1]
    for start in range(firsts.size):
        z = _nearest_of_drawn(X, firsts[start], draws[start], tally)
        if tally[2] != 0:
            break
        cost = improve_rows(X, z, k, ROW_ERROR, _MAX_SWEEPS, tally)
        if cost < lowest * (1.0 - _COST_SHARE) - _COST_ROUNDING:
            best, lowest = z, cost
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _length(V: Floats, i: int) -> float:
    square = 0.0
    for c in range(V.shape[1]):
        square += V[i, c] * V[i, c]
    return sqrt(square)


@njit(cache=True, nogil=True, error_model="numpy")
def unit_rows(V: Floats) -> Floats:
    """Return the rows of V, each scaled to length 1 and rounded."""
    X = np.empty_like(V)
    for i in range(V.shape[0]):
        length = max(_length(V, i), _TINY)
        for c in range(V.shape[1]):
            X[i, c] = np.rint(V[i, c] / length * _PARTS) / _PARTS
    return X


@njit(cache=True, nogil=True, error_model="numpy")
def long_rows(V: Floats) -> Bools:
    """Return which rows are longer than the error of the solver."""
    length, most = np.empty(V.shape[0]), 0.0
    for i in range(V.shape[0]):
        length[i] = _length(V, i)
        most = max(most, length[i])
    return length >= _LEAST_LENGTH * most


@njit(cache=True, nogil=True, error_model="numpy")
def first_labels(A: CSR, V: Floats, draws: Floats, max_work: float, tally: Ints) -> Ints:
    """Group the nodes of a connected graph by k-means of their rows of k eigenvectors.

    A row of ``draws`` has the random numbers of one start: one for its first center, and as many
    for each center as points are drawn for it. Fewer starts are made, but at least two, if all of
    them would take more than ``max_work`` multiplications. Nodes whose
    rows are no more than the error of the solver get the label of the nearest others.
    """
    n, k = V.shape
    X, chosen = unit_rows(V), np.flatnonzero(long_rows(V))
    if chosen.size < k:
        chosen = np.arange(n)
    per_start = float(chosen.size) * k * k * SWEEPS_EXPECTED
    starts = int(min(float(draws.shape[0]), max(2.0, max_work // per_start)))
    trials = (draws.shape[1] - 1) // k
    firsts, shares = np.empty(starts, np.int64), np.empty((starts, k, trials))
    for start in range(starts):
        firsts[start] = int(draws[start, 0] * chosen.size)
        for a in range(k):
            for t in range(trials):
                shares[start, a, t] = draws[start, 1 + a * trials + t]
    on_chosen = best_kmeans(X[chosen], firsts, shares, tally)
    z = np.full(n, -1, np.int64)
    for position in range(chosen.size):
        z[chosen[position]] = on_chosen[position]
    if chosen.size < n:
        spread(A.indptr, A.indices, z)
    return z
