"""The planted-partition likelihood, and its fit to labels."""

import math
from typing import NamedTuple

import numpy as np

from kgroups._csr import inner_weights
from kgroups._types import CSR, Floats, Ints

__all__ = ["ROUNDING", "PlantedFit", "fit_of_sums", "planted_fit"]

ROUNDING = 1e-12
"""Differences of likelihoods and of expected edges below this share are rounding."""


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
    return fit_of_sums(len(A.indices), inner, total, float(groups @ groups))


def fit_of_sums(entries: int, inner: float, total: float, squares: float) -> PlantedFit:
    """Return the fit of groups with ``inner`` of the edge weight, and squared strengths."""
    if total <= 0.0:
        return PlantedFit(0.0, 1.0, 1.0)
    inner, expected = 2.0 * inner, squares / total
    outer, rest = total - inner, total - expected
    inside, between = inner / expected, outer / rest if rest > ROUNDING * total else 1.0
    gain = 0.0
    if inside > between:
        if inner > 0.0:
            gain += inner * math.log(inside)
        if outer > 0.0 and between > 0.0:
            gain += outer * math.log(between)
    # Weights are counted in units of their mean.
    return PlantedFit(0.5 * entries / total * gain, inside, between)
