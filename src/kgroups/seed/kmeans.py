"""k-means on embedding rows: k-means++ starts, Hartigan moves."""

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.hartigan import improve_rows

__all__ = ["kmeans"]

# Multiplications that all starts together may cost before starts are left out.
_WORK = 4e9
_SWEEPS_EXPECTED = 20
_TIE = 1e-9


def kmeans(X: Floats, k: int, *, n_init: int, rng: np.random.Generator) -> Ints:
    """Group the rows of X into exactly ``k`` non-empty groups, the best of ``n_init`` starts.

    On large problems fewer starts are made, so that the work stays bounded; at least two.
    """
    n = X.shape[0]
    if k == 1:
        return np.zeros(n, dtype=np.int64)
    X = np.ascontiguousarray(X, dtype=float)
    per_start = float(n) * k * X.shape[1] * _SWEEPS_EXPECTED
    starts = int(min(n_init, max(2, _WORK // per_start)))
    best, lowest = np.zeros(n, dtype=np.int64), np.inf
    for _ in range(starts):
        z, cost = improve_rows(X, _plus_plus(X, k, rng), k=k)
        # Starts that end at one optimum differ in rounding only: the first one stays.
        if cost < lowest * (1.0 - 1e-9) - 1e-12:
            best, lowest = z, cost
    return best


def _plus_plus(X: Floats, k: int, rng: np.random.Generator) -> Ints:
    """Assign rows to the nearest of k centres drawn by greedy k-means++."""
    n = X.shape[0]
    trials = 2 + int(np.log(k))
    centre = np.empty(k, dtype=np.int64)
    centre[0] = rng.integers(n)
    taken = np.zeros(n, dtype=np.bool_)
    taken[centre[0]] = True
    distance = _squared_distances(X, centre[:1])[:, 0]
    nearest = np.zeros(n, dtype=np.int64)
    draws = rng.random((k, trials))
    for a in range(1, k):
        total = np.cumsum(distance)
        if total[-1] <= 0.0:
            # Fewer distinct rows than centres: any row that is not a centre will do.
            picks = np.flatnonzero(~taken)[:1]
        else:
            picks = np.minimum(np.searchsorted(total, draws[a] * total[-1], side="right"), n - 1)
        offered = np.minimum(_squared_distances(X, picks), distance[:, None])
        cost = offered.sum(axis=0)
        chosen = int(np.argmax(cost <= cost.min() * (1.0 + _TIE) + _TIE))
        closer = offered[:, chosen] < distance
        nearest[closer] = a
        distance = offered[:, chosen]
        centre[a] = picks[chosen]
        taken[centre[a]] = True
    # A centre that equals an earlier one is nobody's nearest: it keeps at least itself.
    nearest[centre] = np.arange(k)
    return nearest


def _squared_distances(X: Floats, picks: Ints) -> Floats:
    from kgroups.hartigan._sweep_nb import squared_distances

    out = np.empty((X.shape[0], picks.size))
    squared_distances(X, picks, out)
    return out
