r"""An estimate of how many eigenvalues of N_r are above 1, where they are too many to be found.

The number is the trace of a step function of N. With the step expanded in Chebyshev polynomials,

.. math:: \#\{\nu > 1\} \approx \sum_m c_m \, \mathbb{E}\, g^T T_m(\tilde N) g,

where :math:`\tilde N` is N mapped to [-1, 1] and g are random sign vectors. Jackson's factors in
:math:`c_m` smooth the step over a width that falls as one over the degree.
"""

import math
from typing import NamedTuple

import numpy as np

from kgroups._types import Floats
from kgroups.operators import BoundBetheHessian
from kgroups.spectrum.chebyshev import Recursion
from kgroups.spectrum.chebyshev_operator import ThinBlocks

__all__ = ["TraceCount", "count_by_trace"]

_VECTORS = 16
_PRODUCTS = 150
# Standard errors between an estimate and the ends of its range.
_ERRORS = 3.0


class TraceCount(NamedTuple):
    """An estimated number of eigenvalues above 1, and a range that it should lie in."""

    k: int
    k_low: int
    k_high: int


def count_by_trace(bound: BoundBetheHessian, *, lowest: float, highest: float) -> TraceCount:
    """Estimate the number of eigenvalues of N_r above 1.

    Parameters
    ----------
    bound : BoundBetheHessian
        The operator.
    lowest, highest : float
        An interval that holds all eigenvalues of N_r.

    Returns
    -------
    TraceCount
        The range allows for three standard errors, and for the eigenvalues so close to 1 that the
        smoothed step does not tell on which side they are.
    """
    operator = ThinBlocks(bound, lowest=lowest, highest=highest)
    moments = _moments(operator)
    # The smoothed step rises over about this far to both sides.
    width = math.pi / len(moments) * 0.5 * (highest - lowest)
    at, beyond, before = (
        _above(moments, operator.mapped(threshold))
        for threshold in (1.0, min(1.0 + width, highest), 1.0 - width)
    )
    low = beyond.mean() - _ERRORS * _standard_error(beyond)
    high = before.mean() + _ERRORS * _standard_error(before)
    k = min(max(round(float(at.mean())), 1), bound.n)
    k_low = min(max(math.floor(low), 1), k)
    return TraceCount(k, k_low, max(min(math.ceil(high), bound.n), k, k_low + 1))


def _moments(operator: ThinBlocks) -> Floats:
    """Return g^T T_m g for each degree m and each random vector g."""
    recursion = Recursion(operator, [], operator.random_block(_VECTORS, np.random.default_rng(3)))
    even, odd = operator.products_by_column(recursion.before, recursion.now)
    moments = [even, odd]
    for _ in range(_PRODUCTS):
        recursion.advance()
        own, following = operator.products_by_column(recursion.before, recursion.now)
        # 2 T_q T_q = T_2q + 1 and 2 T_q T_(q+1) = T_(2q+1) + T_1.
        moments += [2.0 * own - even, 2.0 * following - odd]
    return np.array(moments)


def _above(moments: Floats, threshold: float) -> Floats:
    """Return what each vector says of the number of eigenvalues above a threshold."""
    size = len(moments)
    m = np.arange(size)
    angle = math.acos(threshold)
    steps = np.concatenate([[angle], 2.0 * np.sin(m[1:] * angle) / m[1:]]) / math.pi
    turn = math.pi / (size + 1)
    jackson = (size - m + 1) * np.cos(m * turn) + np.sin(m * turn) / math.tan(turn)
    return np.asarray((steps * jackson / (size + 1)) @ moments)


def _standard_error(values: Floats) -> float:
    return float(values.std(ddof=1)) / math.sqrt(values.size)
