"""The planted-partition likelihood: its fit to labels, and moves on it."""

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
    """Gain in nats over the graph without communities, and the rates that give it.

    Numbers, or arrays with one for each component.
    """

    gain: Floats
    inside: Floats
    between: Floats


def planted_fit(A: CSR, strength: Floats, z: Ints, *, k: int) -> PlantedFit:
    r"""Fit edge rates inside and between groups, relative to degrees alone.

    .. math:: \ell(z) = E_{in} \ln\frac{E_{in}}{P_{in}} + E_{out} \ln\frac{E_{out}}{P_{out}},
        \quad P_{in} = \sum_a \frac{K_a^2}{4m}, \quad P_{out} = m - P_{in}

    The gain is 0 for disassortative groups. Weights are counted in units of their mean, so that
    their scale does not matter.
    """
    inner = 2.0 * inner_weights(A, z, k).sum()
    groups = np.bincount(z, weights=strength, minlength=k)
    return _fit(len(A.indices), strength.sum(), inner, groups @ groups)


def fits(level: Level, z: Ints, k: Ints, which: Ints) -> PlantedFit:
    """Fit the rates of the groups of some components, each by itself."""
    found = totals(level, z.astype(np.int32, copy=False), k, which)
    inner, squares = found.by_component(found.E), found.by_component(np.square(found.K))
    return _fit(level.entries, found.by_component(found.K), 2.0 * inner, squares)


def _fit(entries: Ints | int, total: Floats, inner: Floats, squares: Floats) -> PlantedFit:
    """Return the fit of groups that hold ``inner`` of the ``total`` weight of all entries.

    ``squares`` is the sum of their squared strengths.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = squares / total
        outer, rest = total - inner, total - expected
        inside = np.where(expected > 0.0, inner / expected, 1.0)
        between = np.where(rest > _ROUNDING * total, outer / rest, 1.0)
        gain = np.where(inner > 0.0, inner * np.log(inside), 0.0)
        gain = gain + np.where((outer > 0.0) & (between > 0.0), outer * np.log(between), 0.0)
        # Weights are counted in units of their mean.
        gain = np.where((inside > between) & (total > 0.0), 0.5 * entries / total * gain, 0.0)
    return PlantedFit(gain[()], inside[()], between[()])


def likelihood_moves(level: Level, z: Ints, k: Ints, which: Ints) -> Ints:
    """Move nodes while the planted-partition likelihood rises; no group is emptied.

    With both rates fixed the likelihood is a modularity at resolution
    (inside - between) / ln(inside / between); rates and labels are improved in turn.
    """
    none, total = np.zeros(0), np.bincount(
        np.repeat(np.arange(k.size), level.sizes), level.strength, minlength=k.size
    )
    objective = Objective(0.5 * total, none, none, level.offsets, none)
    rules = MoveRules(np.zeros(1), 0.0, _MAX_VISITS, keep=True)
    fit, active, z = fits(level, z, k, which), which, z.astype(np.int32)
    for _ in range(_MAX_ROUNDS):
        between = np.maximum(fit.between, _LEAST_RATE)
        active = active[fit.inside[active] > between[active]]
        if not active.size:
            break
        per_edge = np.log(np.maximum(fit.inside, between) / between)
        with np.errstate(divide="ignore", invalid="ignore"):
            penalty = (fit.inside - between) / per_edge / total
            margin = _MARGIN_NATS / per_edge * total / level.entries + ROUNDING
        options = {"penalty": penalty, "margin": margin, "levels": 1}
        moved = climb(level, objective, z, active, rules, new_tally(), **options).z
        better = fits(level, moved, k, active)
        active = active[better.gain[active] > fit.gain[active] * (1.0 + _ROUNDING)]
        chosen = np.zeros(k.size, dtype=np.bool_)
        chosen[active] = True
        z = np.where(np.repeat(chosen, level.sizes), moved, z)
        fit = PlantedFit(*(np.where(chosen, new, old) for new, old in zip(better, fit, strict=True)))
    return z.astype(np.int64)
