"""Propensities: how readily each node forms edges."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._types import Floats, Indices, Ints, index_type
from kgroups._wording import argument
from kgroups.errors import InputError
from kgroups.generators.arguments import real_number

__all__ = ["PowerLaw", "PropensityBlocks", "scaled_propensities"]


@dataclass(frozen=True)
class PowerLaw:
    """A density proportional to ``x ** -exponent`` on the numbers from 1 to ``ratio``.

    Parameters
    ----------
    exponent : float
        From 0 to 20. Larger exponents make large values rarer.
    ratio : float
        The largest possible value over the smallest, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = PowerLaw(exponent=2.5, ratio=10).draw(1000, np.random.default_rng(0))
    >>> bool(1 <= drawn.min() < drawn.max() <= 10)
    True
    """

    exponent: float = 2.5
    ratio: float = 100.0

    def __post_init__(self) -> None:
        real_number("exponent", self.exponent, low=0.0, high=20.0)
        real_number("ratio", self.ratio, low=1.0)

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draw values by inverting the distribution function.

        Parameters
        ----------
        count : int
            How many values.
        rng : Generator
            Source of randomness.

        Returns
        -------
        ndarray of float
            Values from 1 to ``ratio``.
        """
        share = rng.random(count)
        power, span = 1.0 - self.exponent, np.log(self.ratio)
        if power == 0.0:
            return np.asarray(np.exp(share * span))
        return np.asarray(np.exp(np.log1p(share * np.expm1(power * span)) / power))


class PropensityBlocks:
    """Blocks in a row whose nodes are drawn in proportion to their propensities."""

    def __init__(self, sizes: Ints, propensities: Floats) -> None:
        self._ends = np.cumsum(sizes)
        self._reached = np.concatenate([[0.0], np.cumsum(propensities)])
        self._index_type = index_type(int(self._ends[-1]))
        self._base = self._reached[self._ends - sizes]
        self.mass: Floats = self._reached[self._ends] - self._base

    def draw(self, block: Ints, counts: Ints, rng: np.random.Generator) -> Indices:
        """Return ``counts[t]`` nodes of ``block[t]``, one after the other."""
        place = rng.random(int(counts.sum()))
        place *= np.repeat(self.mass[block], counts)
        place += np.repeat(self._base[block], counts)
        node = np.searchsorted(self._reached[1:], place, side="right")
        # Rounding may carry the sum over the edge of the block.
        return np.minimum(node, np.repeat(self._ends[block] - 1, counts)).astype(self._index_type)


def scaled_propensities(propensities: Any, sizes: Ints, rng: np.random.Generator) -> Floats:
    """Return the propensities of all nodes, of mean 1 in each block."""
    n = int(sizes.sum())
    if isinstance(propensities, PowerLaw):
        values = propensities.draw(n, rng)
    else:
        values = _given_propensities(propensities, n)
    block = np.repeat(np.arange(sizes.size), sizes)
    # A power of two changes no digit, and keeps the sums of the largest floats finite.
    peaks = np.zeros(sizes.size)
    np.maximum.at(peaks, block, values)
    values = np.ldexp(values, -np.frexp(peaks)[1][block])
    totals = np.bincount(block, weights=values, minlength=sizes.size)
    without = np.flatnonzero((totals == 0) & (sizes > 0))
    if without.size:
        msg = (
            f"propensities must not all be 0 in a block, got none above 0 in block {without[0]}.\n"
            f"  Set probabilities of {argument('P')} to 0 for a block without edges."
        )
        raise InputError(msg)
    return np.asarray(values * sizes[block] / totals[block], dtype=np.float64)


def _given_propensities(propensities: Any, n: int) -> Floats:
    try:
        values = np.array(propensities, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"propensities must be a PowerLaw or one number per node, got {propensities!r}."
        raise InputError(msg) from None
    if values.shape != (n,):
        msg = f"propensities must hold one number for each of the {n} nodes, got {values.shape}."
        raise InputError(msg)
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        msg = f"propensities must be finite and >= 0, got {values[bad[0]]:g} for node {bad[0]}."
        raise InputError(msg)
    return values
