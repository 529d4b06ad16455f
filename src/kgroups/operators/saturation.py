"""Weights made fit for the weighted Bethe Hessian, which needs each of them below r."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kgroups._types import Bools, Floats

__all__ = ["R_FLOOR", "SaturatedWeights", "bend", "saturate_at", "saturate_at_mean_degree"]

R_FLOOR = 1.001
"""Smallest r in units of the typical weight: at r = 1 an isolated node would have no diagonal."""

_UNBENT = 0.8
# In units of the largest weight; fainter weights would vanish where they are squared.
_FAINTEST = 1e-150


class SaturatedWeights(NamedTuple):
    """Weights in units of r, all below 1, and which of them were bent to be so."""

    r: float
    ratios: Floats
    bent: Bools


def bend(x: Floats, start: float) -> Floats:
    """Return ``x`` up to ``start`` and a smooth approach to ``(1 + start) / 2`` above it."""
    room = (1.0 - start) / 2.0
    excess = np.maximum(x - start, 0.0)
    return np.minimum(x, start) + room * np.tanh(excess / room)


def saturate_at(w: Floats, r: float) -> SaturatedWeights:
    """Bend the weights that come near ``r``; equal weights below ``r`` stay as they are."""
    largest = float(w.max(initial=0.0))
    typical = largest * math.sqrt(float(np.mean(np.square(w / largest)))) if largest else 0.0
    start = min(max(_UNBENT, typical / r), 1.0 / R_FLOOR)
    # An infinite ratio is bent to the same limit as any large one.
    with np.errstate(over="ignore"):
        x = w / r
    return SaturatedWeights(r, bend(x, start), x > start)


def saturate_at_mean_degree(w: Floats, c: float) -> SaturatedWeights:
    r"""Find r and the bent weights together, so that no single heavy edge sets the scale.

    r solves :math:`\frac1N \sum f(w/r)^2 = 1/c` over the N entries, f being :func:`bend`. Where
    nothing is bent that is :math:`r = \sqrt{\sum w^2 / n'}`. The left side falls with r, so the
    solution is unique; it scales with the weights.
    """
    target = 1.0 / max(c, R_FLOOR**2)
    start = max(_UNBENT, math.sqrt(target))
    # Dividing by the largest weight first keeps the squares away from overflow and underflow.
    scale = float(w.max())
    unit = np.maximum(w / scale, _FAINTEST)

    def excess(log_r: float) -> float:
        return float(np.mean(np.square(bend(unit / math.exp(log_r), start)))) - target

    high = math.log(math.sqrt(float(np.mean(np.square(unit))) / target))
    if math.exp(-high) > start:
        low = min(high, math.log(float(unit.min()) / start))
        high = _falling_root(excess, low, high)
    r = math.exp(high)
    x = unit / r
    return SaturatedWeights(r * scale, bend(x, start), x > start)


def _falling_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a falling function by false position with the Illinois safeguard."""
    at_low, at_high = function(low), function(high)
    if at_low <= 0.0:
        return low
    if at_high >= 0.0:
        return high
    middle, last_side = high, 0
    for _ in range(200):
        following = (low * at_high - high * at_low) / (at_high - at_low)
        settled = abs(following - middle) <= 4.0 * math.ulp(max(1.0, abs(following)))
        middle = following
        value = function(middle)
        if settled or value == 0.0:
            break
        if value > 0.0:
            low, at_low = middle, value
            at_high = at_high / 2.0 if last_side > 0 else at_high
            last_side = 1
        else:
            high, at_high = middle, value
            at_low = at_low / 2.0 if last_side < 0 else at_low
            last_side = -1
    return middle
