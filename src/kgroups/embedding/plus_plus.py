"""First groups around centers that are drawn far from one another."""

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
    """Assign points to the nearest of ``k`` centers drawn by greedy k-means++.

    Parameters
    ----------
    distances_to : callable
        Takes the numbers of some points and returns the squared distances of all points to them,
        of shape (n, number of points).
    n, k : int
        Number of points and of centers, k <= n.
    rng : Generator
        Draws the centers.
    weights : ndarray of shape (n,), optional
        How often each point counts; once each by default.
    slack : float
        Costs that differ by no more than this are a tie, and the first draw stays.

    Returns
    -------
    ndarray of shape (n,)
        Labels in ``range(k)``, none of them unused.
    """
    from kgroups.embedding._plus_plus_nb import drawn_by_mass, nearer

    trials = 2 + int(np.log(k))
    center, picks = np.empty(k, dtype=np.int64), np.empty(trials, dtype=np.int64)
    if weights is None:
        center[0] = rng.integers(n)
    else:
        drawn_by_mass(weights, rng.random(1), center)
    taken = np.zeros(n, dtype=np.bool_)
    taken[center[0]] = True
    distance = np.ascontiguousarray(distances_to(center[:1])[:, 0])
    nearest = np.zeros(n, dtype=np.int64)
    draws = rng.random((k, trials))
    each = np.zeros(0) if weights is None else weights
    for a in range(1, k):
        mass = drawn_by_mass(distance if weights is None else weights * distance, draws[a], picks)
        # Fewer distinct points than centers: any point that is not a center will do.
        tried = picks if mass > 0.0 else np.flatnonzero(~taken)[:1]
        offered = np.ascontiguousarray(distances_to(tried))
        chosen = nearer(offered, each, _TIE, slack, a, distance, nearest)
        center[a] = tried[chosen]
        taken[center[a]] = True
    # A center that equals an earlier one is nobody's nearest: it keeps at least itself.
    nearest[center] = np.arange(k)
    return nearest
