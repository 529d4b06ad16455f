"""Profile likelihood of the degree-corrected planted partition, and moves that raise it."""

from typing import NamedTuple

import numpy as np

from kgroups._csr import rows_of, without_diagonal
from kgroups._types import CSR, Floats, Ints
from kgroups.multilevel import modularity_moves

__all__ = ["PlantedFit", "likelihood_moves", "planted_fit"]

# Nats that a single move must be worth: below it a node is a toss-up and keeps its label.
_MARGIN_NATS = 0.5
_ROUNDS = 5
# Visits to each node before moves are given up.
_MAX_VISITS = 20
# Keeps the rate between groups positive when no edge is cut.
_LEAST_RATE = 1e-3


class PlantedFit(NamedTuple):
    """Gain in nats over the graph without communities, and the rates that give it."""

    gain: float
    inside: float
    between: float


def planted_fit(A: CSR, strength: Floats, z: Ints, *, k: int) -> PlantedFit:
    r"""Fit edge rates inside and between groups, relative to degrees alone.

    .. math:: \ell(z) = E_{in} \ln\frac{E_{in}}{P_{in}} + E_{out} \ln\frac{E_{out}}{P_{out}},
        \quad P_{in} = \sum_a \frac{K_a^2}{4m}, \quad P_{out} = m - P_{in}

    Groups whose nodes avoid one another gain nothing. Weights are counted in units of their mean,
    so that their scale does not matter.
    """
    total = float(strength.sum())
    if total <= 0.0:
        return PlantedFit(0.0, 1.0, 1.0)
    inner = float(A.data[z[rows_of(A)] == z[A.indices]].sum())
    groups = np.bincount(z, weights=strength, minlength=k)
    expected = float(groups @ groups) / total
    inside = inner / expected
    between = (total - inner) / (total - expected) if total - expected > 1e-12 * total else 1.0
    edges = 0.5 * A.data.size / total
    if inside <= between:
        return PlantedFit(0.0, inside, between)
    gain = edges * (_times_log(inner, inside) + _times_log(total - inner, between))
    return PlantedFit(gain, inside, between)


def _times_log(amount: float, rate: float) -> float:
    return amount * float(np.log(rate)) if amount > 0.0 and rate > 0.0 else 0.0


def likelihood_moves(A: CSR, strength: Floats, z: Ints, *, k: int) -> Ints:
    """Move nodes while the planted-partition likelihood rises; no group is emptied.

    With both rates fixed the likelihood is a modularity at resolution
    (inside - between) / ln(inside / between); rates and labels are improved in turn.
    """
    total = float(strength.sum())
    unit = total / A.data.size if A.data.size else 1.0
    fit = planted_fit(A, strength, z, k=k)
    for _ in range(_ROUNDS):
        between = max(fit.between, _LEAST_RATE)
        if fit.inside <= between:
            break
        per_edge = float(np.log(fit.inside / between))
        moved = modularity_moves(
            without_diagonal(A),
            strength,
            z,
            penalty=(fit.inside - between) / per_edge / total,
            margin=_MARGIN_NATS / per_edge * unit,
            max_visits=_MAX_VISITS,
        )
        better = planted_fit(A, strength, moved, k=k)
        if not better.gain > fit.gain * (1.0 + 1e-12):
            break
        z, fit = moved, better
    return z
