"""k-means on embedding rows: k-means++ starts, Hartigan moves."""

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.embedding.plus_plus import plus_plus
from kgroups.hartigan import improve_rows

__all__ = ["kmeans"]

# Multiplications that all starts together may cost before starts are left out.
_WORK = 4e9
_SWEEPS_EXPECTED = 20
# Rows are of the order of 1, and carry the error of an eigensolver.
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
        start = plus_plus(lambda picks: _squared_distances(X, picks), n, k, rng, slack=_TIE)
        z, cost = improve_rows(X, start, k=k)
        # Starts that end at one optimum differ in rounding only: the first one stays.
        if cost < lowest * (1.0 - 1e-9) - 1e-12:
            best, lowest = z, cost
    return best


def _squared_distances(X: Floats, picks: Ints) -> Floats:
    from kgroups.hartigan._sweep_nb import squared_distances

    out = np.empty((X.shape[0], picks.size))
    squared_distances(X, picks, out)
    return out
