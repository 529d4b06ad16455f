"""First groups around centres that are drawn far from one another."""

from collections.abc import Callable

import numpy as np

from kgroups._types import Floats, Ints

__all__ = ["plus_plus"]

_TIE = 1e-9


def plus_plus(
    distances_to: Callable[[Ints], Floats],
    n: int,
    k: int,
    rng: np.random.Generator,
    *,
    weights: Floats | None = None,
    slack: float = 0.0,
) -> Ints:
    """Assign points to the nearest of ``k`` centres drawn by greedy k-means++.

    Parameters
    ----------
    distances_to : callable
        Takes the numbers of some points and returns the squared distances of all points to them,
        of shape (n, number of points).
    n, k : int
        Number of points and of centres, k <= n.
    rng : Generator
        Draws the centres.
    weights : ndarray of shape (n,), optional
        How often each point counts; once each by default.
    slack : float
        Costs that differ by no more than this are a tie, and the first draw stays.

    Returns
    -------
    ndarray of shape (n,)
        Labels in ``range(k)``, none of them unused.
    """
    trials = 2 + int(np.log(k))
    centre = np.empty(k, dtype=np.int64)
    centre[0] = rng.integers(n) if weights is None else _drawn(weights, rng.random(1))[0]
    taken = np.zeros(n, dtype=np.bool_)
    taken[centre[0]] = True
    distance = distances_to(centre[:1])[:, 0]
    nearest = np.zeros(n, dtype=np.int64)
    draws = rng.random((k, trials))
    for a in range(1, k):
        counted = distance if weights is None else weights * distance
        # Fewer distinct points than centres: any point that is not a centre will do.
        distinct = counted.sum() > 0.0
        picks = _drawn(counted, draws[a]) if distinct else np.flatnonzero(~taken)[:1]
        offered = np.minimum(distances_to(picks), distance[:, None])
        cost = offered.sum(axis=0) if weights is None else weights @ offered
        chosen = int(np.argmax(cost <= cost.min() * (1.0 + _TIE) + slack))
        closer = offered[:, chosen] < distance
        nearest[closer] = a
        distance = offered[:, chosen]
        centre[a] = picks[chosen]
        taken[centre[a]] = True
    # A centre that equals an earlier one is nobody's nearest: it keeps at least itself.
    nearest[centre] = np.arange(k)
    return nearest


def _drawn(mass: Floats, draws: Floats) -> Ints:
    """Return the points in which shares ``draws`` of the whole mass end."""
    total = np.cumsum(mass)
    picks: Ints = np.searchsorted(total, draws * total[-1], side="right")
    return np.minimum(picks, mass.size - 1)
