"""Kernels of the planted-partition likelihood: its fit, moves on it, and the guard by it."""

from math import log
from typing import Any, cast

import numpy as np
from numba import njit

from kgroups._types import CSR, Floats, Ints
from kgroups.multilevel import ROUNDING, Code, Level, Rules
from kgroups.multilevel._moving_nb import add_inner_weights, move
from kgroups.refine.refinement import PlantedFit

__all__ = ["KEPT", "fit_of_totals", "guarded", "likelihood_moves"]

KEPT = ("hartigan", "likelihood moves", "first labels")
"""Names of the labels that the guard keeps; kernels return their number."""
_HARTIGAN, _LIKELIHOOD, _FIRST = range(len(KEPT))
# Units are moved in this step: in order. A literal has a type of its own, for which numba would
# compile the moves once more.
_IN_ORDER = cast(int, np.int64(1))
# Nats that a likelihood move must gain; a node closer to a tie keeps its label.
_MARGIN_NATS = 0.5
# Rates and labels are improved in turn at most this often.
_MAX_ROUNDS = 5
# Visits to each node in a round before its moves end.
_MAX_VISITS = 20
# Keeps the rate between groups positive when no edge is cut.
_LEAST_RATE = 1e-3
# Differences of likelihoods and of expected edges below this share are rounding.
_ROUNDING = 1e-12


@njit(cache=True, nogil=True, error_model="numpy")
def fit_of_totals(
    entries: int, total: float, inner: float, expected: float
) -> tuple[float, float, float]:
    """Return gain and rates of groups that hold ``inner`` of the ``total`` weight of all entries.

    ``expected`` is what degrees alone would put inside.
    """
    outer, rest = total - inner, total - expected
    inside, between = inner / expected, outer / rest if rest > _ROUNDING * total else 1.0
    gain = 0.0
    if inside > between:
        if inner > 0.0:
            gain += inner * log(inside)
        if outer > 0.0 and between > 0.0:
            gain += outer * log(between)
    # Weights are counted in units of their mean.
    return 0.5 * entries / total * gain, inside, between


@njit(cache=True, nogil=True, error_model="numpy")
def _fit(A: CSR, strength: Floats, z: Ints, k: int) -> PlantedFit:
    """Return the fit of labels; the strength is not 0 everywhere."""
    inner, groups = np.zeros(k), np.zeros(k)
    add_inner_weights(A, z, 0, z.size, inner)
    for i in range(z.size):
        groups[z[i]] += strength[i]
    total = strength.sum()
    expected = np.square(groups).sum() / total
    gain, inside, between = fit_of_totals(A.indices.size, total, 2.0 * inner.sum(), expected)
    return PlantedFit(gain, inside, between)


@njit(cache=True, nogil=True, error_model="numpy")
def _level_of(A: CSR, strength: Floats) -> Level:
    """Return the level of single nodes, their loops left out."""
    n = strength.size
    indptr, indices = np.zeros(n + 1, A.indptr.dtype), np.empty(A.indices.size, A.indices.dtype)
    data: Any = np.empty(A.indices.size, np.float32)
    filled = 0
    for i in range(n):
        for t in range(A.indptr[i], A.indptr[i + 1]):
            if A.indices[t] != i:
                indices[filled], data[filled] = A.indices[t], A.data[t]
                filled += 1
        indptr[i + 1] = filled
    links = CSR(indptr, indices[:filled], data[:filled])
    return Level(links, strength, np.zeros(n), np.ones(n, np.int64))


@njit(cache=True, nogil=True, error_model="numpy")
def likelihood_moves(A: CSR, strength: Floats, z: Ints, k: int, tally: Ints) -> Ints:
    """Move nodes while the planted-partition likelihood rises; no group is emptied.

    With both rates fixed the likelihood is a modularity at resolution
    (inside - between) / ln(inside / between); rates and labels are improved in turn.
    """
    total, none = strength.sum(), np.zeros(0)
    if total <= 0.0:
        return z
    level, code = _level_of(A, strength), Code(0.5 * total, none, none)
    fit = _fit(A, strength, z, k)
    for _ in range(_MAX_ROUNDS):
        between = max(fit.between, _LEAST_RATE)
        if fit.inside <= between or tally[2] != 0:
            break
        per_edge = log(fit.inside / between)
        penalty = (fit.inside - between) / per_edge / total
        margin = _MARGIN_NATS / per_edge * total / A.indices.size + ROUNDING
        rules = Rules(none, 0.0, _MAX_VISITS, margin, keep=True)
        labels, waiting = z.astype(np.int32), np.ones(z.size, np.bool_)
        move(level, labels, code, penalty, rules, none, _IN_ORDER, waiting, waiting, tally)
        moved = labels.astype(np.int64)
        better = _fit(A, strength, moved, k)
        if not better.gain > fit.gain * (1.0 + _ROUNDING):
            break
        z, fit = moved, better
    return z


@njit(cache=True, nogil=True, error_model="numpy")
def guarded(
    A: CSR, strength: Floats, labels: Ints, z: Ints, k: int, guard: float, fast: bool, tally: Ints
) -> tuple[Ints, int]:
    """Return the labels to keep, and the number of their name: ``z``, or a likelier rival.

    The rival is what moves on the likelihood reach from ``labels``. It is kept if ``z`` falls
    shorter of it than the part ``guard``. With ``fast`` it is looked for only if ``z`` is less
    likely than ``labels``, as it costs more than Hartigan moves.
    """
    if strength.sum() <= 0.0:
        return z, _HARTIGAN
    reached = _fit(A, strength, z, k).gain
    if fast and reached >= _fit(A, strength, labels, k).gain:
        return z, _HARTIGAN
    rival = likelihood_moves(A, strength, labels, k, tally)
    if not reached < (1.0 - guard) * _fit(A, strength, rival, k).gain:
        return z, _HARTIGAN
    for i in range(z.size):
        if rival[i] != labels[i]:
            return rival, _LIKELIHOOD
    return rival, _FIRST
