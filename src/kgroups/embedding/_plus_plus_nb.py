"""Kernels of greedy k-means++: bare arrays in and out."""

import numpy as np
from numba import njit

from kgroups._types import Floats, Ints

__all__ = ["drawn_by_mass", "nearer"]


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
