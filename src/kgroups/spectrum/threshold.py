"""Eigenvalues of N_r around the threshold 1, whichever way they were counted."""

from dataclasses import replace

import numpy as np

from kgroups._types import Floats
from kgroups.operators import BoundBetheHessian
from kgroups.spectrum.count import ComponentCounts
from kgroups.spectrum.count_by_filter import NOISE
from kgroups.spectrum.inertia import Factor, factorise
from kgroups.spectrum.lanczos import (
    PartialEigenpairsError,
    all_eigenvalues,
    lanczos_pairs,
    largest_eigenpairs,
    start_vector,
    top_eigenpairs,
)

__all__ = ["eigenvalues_around_one"]

_ALL_ABOVE = 50
_NEAR_ABOVE = 12
_NEAR_BELOW = 6
_DENSE_NODES = 400
_ASIDE = 1e-7
# The largest matrix that is solved densely if Lanczos fails.
_LARGEST_DENSE = 5_000


def eigenvalues_around_one(bound: BoundBetheHessian, counts: ComponentCounts) -> Floats:
    """Return eigenvalues around 1, falling, none left out between the first and the last.

    All that are above 1 if these are at most 50, else the 12 next to it; and up to 6 below. Empty
    if counting has not found them all.
    """
    if not counts.is_exact:
        return np.zeros(0)
    values = [known for known in counts.known if known.size]
    # The filter stops somewhere below 1; under that some eigenvalues are unknown.
    known_down_to = [
        float(known[known <= 1.0 + NOISE].max(initial=-np.inf))
        for known, name in zip(counts.known, counts.method, strict=True)
        if name == "filter"
    ]
    sizes, labels = counts.layout.sizes, counts.layout.labels
    unknown = np.array([known.size == 0 for known in counts.known], dtype=np.bool_) & (sizes > 1)
    for a in np.flatnonzero(unknown).tolist():
        if counts.method[a] == "dense inertia":
            found = _by_lanczos(counts.layout.part(bound, a), int(counts.k[a]))
            if not found.size:
                return found
            values.append(found)
            known_down_to.append(float(found[-1]))
            unknown[a] = False
    rows = np.flatnonzero(unknown[labels])
    if rows.size:
        part = bound if rows.size == bound.n else bound.restrict(rows)
        k = int(counts.k[unknown].sum())
        found = _around_one(part, k, k if counts.total <= _ALL_ABOVE else min(k, _NEAR_ABOVE))
        if not found.size:
            return found
        values.append(found)
        if found.size < rows.size:
            known_down_to.append(float(found[-1]))
    if not values:
        return np.zeros(0)
    merged = np.sort(np.concatenate(values))[::-1]
    k = counts.total
    first = 0 if k <= _ALL_ABOVE else np.count_nonzero(merged > 1.0 + NOISE) - _NEAR_ABOVE
    kept = merged[first:]
    below = kept[kept <= 1.0 + NOISE]
    below = below[below >= max(known_down_to, default=-np.inf)][:_NEAR_BELOW]
    return np.concatenate([kept[kept > 1.0 + NOISE], below])


def _around_one(bound: BoundBetheHessian, k: int, above: int) -> Floats:
    """Return the ``above`` eigenvalues next above 1 of the k there are, and some below."""
    if bound.n <= _DENSE_NODES:
        return all_eigenvalues(bound, sign=1)[k - above :]
    factor = factorise(bound.matrix())
    if factor is None:
        found = _by_lanczos(bound, k)
        return found[k - above :] if found.size else found
    up = _by_inverse(bound, factor, k, above, sign=-1) if above else np.zeros(0)
    return np.concatenate([up, _by_inverse(bound, factor, k, _NEAR_BELOW, sign=1)])


def _by_lanczos(bound: BoundBetheHessian, k: int) -> Floats:
    """Return the k eigenvalues above 1 and some below, or none if they cannot be had."""
    try:
        values, _ = top_eigenpairs(bound, min(k + _NEAR_BELOW, bound.n))
    except PartialEigenpairsError as error:
        values = error.eigenvalues
    if np.count_nonzero(values > 1.0 + NOISE) == k:
        return values
    return all_eigenvalues(bound, sign=1) if bound.n <= _LARGEST_DENSE else np.zeros(0)


def _by_inverse(
    bound: BoundBetheHessian, factor: Factor, k: int, count: int, *, sign: int
) -> Floats:
    """Return the eigenvalues nu of N next below 1, or next above for sign -1, falling.

    Those of (1 - N)^-1 are 1 / (1 - nu), so that the nearest ones to 1 are extreme.
    """
    from scipy.sparse.linalg import LinearOperator

    n = bound.n
    scale = np.sqrt(bound.diagonal)

    def inverse(x: Floats) -> Floats:
        return sign * scale * factor.solve(scale * x.reshape(n))

    operator = LinearOperator((n, n), matvec=inverse, dtype=float)
    start = start_vector(bound)
    try:
        values = _values(lanczos_pairs(operator, count, start)[0], sign)
        if not _is_complete(bound, values, k, sign):
            values = _values(largest_eigenpairs(operator, count, start)[0], sign)
    except PartialEigenpairsError as error:
        values = _values(error.eigenvalues, sign)
    return values


def _values(mu: Floats, sign: int) -> Floats:
    return np.sort(1.0 - sign / mu[mu > 0.0])[::-1]


def _is_complete(bound: BoundBetheHessian, values: Floats, k: int, sign: int) -> bool:
    """Check by the inertia at the far end of the values that no copy among them was missed."""
    if sign < 0 and len(values) == k:
        return True
    far = float(values[-1]) + _ASIDE if sign > 0 else float(values[0]) - _ASIDE
    factor = factorise(replace(bound, diagonal=far * bound.diagonal).matrix())
    if factor is None:
        return False
    larger = int(np.count_nonzero(factor.negative))
    if sign > 0:
        return larger == k + int(np.count_nonzero(values > far))
    return larger == k - int(np.count_nonzero(values < far))
