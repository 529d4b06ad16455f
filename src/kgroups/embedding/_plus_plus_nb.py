"""Kernels of k-means and of its greedy start, k-means++: bare arrays in and out."""

import numpy as np
from numba import njit

from kgroups._types import Floats, Ints
from kgroups.hartigan._sweep_nb import improve_rows

__all__ = ["best_kmeans", "drawn_by_mass", "nearer"]


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
def _nearest_of_drawn(
    X: Floats, first: int, draws: Floats, tie: float, slack: float, tally: Ints
) -> Ints:
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
        center[a] = picks[nearer(offered, each, tie, slack, a, distance, nearest)]
        taken[center[a]] = True
    for a in range(k):
        nearest[center[a]] = a
    return nearest


@njit(cache=True, nogil=True, error_model="numpy")
def best_kmeans(
    X: Floats,
    firsts: Ints,
    draws: Floats,
    tie: float,
    slack: float,
    row_error: float,
    share: float,
    rounding: float,
    max_sweeps: int,
    tally: Ints,
) -> Ints:
    """Return the labels with the lowest k-means cost of several starts, the first in a tie.

    Start t draws its centers by ``firsts[t]`` and ``draws[t]``. A later one must lower the cost by
    a ``share`` of it and by ``rounding``.
    """
    best, lowest, k = np.zeros(X.shape[0], dtype=np.int64), np.inf, draws.shape[1]
    for start in range(firsts.size):
        z = _nearest_of_drawn(X, firsts[start], draws[start], tie, slack, tally)
        if tally[2] != 0:
            break
        cost = improve_rows(X, z, k, row_error, max_sweeps, tally)
        if cost < lowest * (1.0 - share) - rounding:
            best, lowest = z, cost
    return best
