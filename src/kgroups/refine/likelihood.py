"""The planted-partition likelihood: its fit to labels, and moves on it."""

import math
from typing import NamedTuple

import numpy as np

from kgroups._progress import new_tally
from kgroups._types import CSR, Floats, Ints
from kgroups.multilevel import ROUNDING, Level, MoveRules, Objective, climb, inner_weights, totals

__all__ = ["PlantedFit", "fits", "likelihood_moves", "planted_fit"]

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


class PlantedFit(NamedTuple):
    """Gain in nats over the graph without communities, and the rates that give it."""

    gain: float
    inside: float
    between: float


def planted_fit(A: CSR, strength: Floats, z: Ints, *, k: int) -> PlantedFit:
    r"""Fit edge rates inside and between groups, relative to degrees alone.

    .. math:: \ell(z) = E_{in} \ln\frac{E_{in}}{P_{in}} + E_{out} \ln\frac{E_{out}}{P_{out}},
        \quad P_{in} = \sum_a \frac{K_a^2}{4m}, \quad P_{out} = m - P_{in}

    The gain is 0 for disassortative groups. Weights are counted in units of their mean, so that
    their scale does not matter.
    """
    groups = np.bincount(z, weights=strength, minlength=k)
    inner, total = float(inner_weights(A, z, k).sum()), float(strength.sum())
    return _fit(len(A.indices), inner, total, float(groups @ groups))


def fits(level: Level, z: Ints, k: Ints, which: Ints) -> list[PlantedFit]:
    """Fit the rates of the groups of some components, each by itself."""
    sums = totals(level, z.astype(np.int32, copy=False), k, which).sums[which].tolist()
    entries = level.entries[which].tolist()
    return [_fit(number, *own) for number, own in zip(entries, sums, strict=True)]


def _fit(entries: int, inner: float, total: float, squares: float) -> PlantedFit:
    """Return the fit of groups with ``inner`` of the edge weight, and squared strengths."""
    if total <= 0.0:
        return PlantedFit(0.0, 1.0, 1.0)
    inner, expected = 2.0 * inner, squares / total
    outer, rest = total - inner, total - expected
    inside, between = inner / expected, outer / rest if rest > _ROUNDING * total else 1.0
    gain = 0.0
    if inside > between:
        if inner > 0.0:
            gain += inner * math.log(inside)
        if outer > 0.0 and between > 0.0:
            gain += outer * math.log(between)
    # Weights are counted in units of their mean.
    return PlantedFit(0.5 * entries / total * gain, inside, between)


def likelihood_moves(level: Level, z: Ints, k: Ints, which: Ints) -> Ints:
    """Move nodes while the planted-partition likelihood rises; no group is emptied.

    With both rates fixed the likelihood is a modularity at resolution
    (inside - between) / ln(inside / between); rates and labels are improved in turn.
    """
    parts, none = k.size, np.zeros(0)
    total, penalty, margin = (np.zeros(parts) for _ in range(3))
    total[which] = [level.strength[level.rows(c)].sum() for c in which.tolist()]
    objective = Objective(0.5 * total, none, none, level.offsets, none)
    rules = MoveRules(np.zeros(1), 0.0, _MAX_VISITS, keep=True)
    best = dict(zip(which.tolist(), fits(level, z, k, which), strict=True))
    labels = z.astype(np.int32)
    for _ in range(_MAX_ROUNDS):
        for c, fit in list(best.items()):
            between = max(fit.between, _LEAST_RATE)
            if fit.inside <= between:
                del best[c]
                continue
            per_edge = math.log(fit.inside / between)
            penalty[c] = (fit.inside - between) / per_edge / total[c]
            margin[c] = _MARGIN_NATS / per_edge * total[c] / level.entries[c] + ROUNDING
        active = np.array(list(best), dtype=np.int64)
        if not active.size:
            break
        arguments = level, objective, labels, active, rules, new_tally()
        moved = climb(*arguments, penalty=penalty, margin=margin, levels=1).z
        for c, fit in zip(active.tolist(), fits(level, moved, k, active), strict=True):
            if fit.gain > best[c].gain * (1.0 + _ROUNDING):
                best[c], rows = fit, level.rows(c)
                labels[rows] = moved[rows]
            else:
                del best[c]
    return labels.astype(np.int64)
