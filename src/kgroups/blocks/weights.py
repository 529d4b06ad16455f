"""Weights in fixed point: whole numbers of a unit, whose sums are the same in any order."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.errors import WeightError

_UNIT_BITS = 61
_LOWEST_EXPONENT = -1074


class Tally(NamedTuple):
    """What is known of weights: exact, and so the same for any order.

    ``total`` is their sum in units of 2**-1074; 2**``lowest`` divides all of them.
    """

    total: int = 0
    lowest: int | None = None
    smallest: float = math.inf
    largest: float = 0.0

    @classmethod
    def of(cls, weights: Floats) -> "Tally":
        """Return the tally of some weights."""
        low, high = float(weights.min(initial=math.inf)), float(weights.max(initial=0.0))
        positive = weights[weights > 0]
        if not positive.size:
            return cls(0, None, low, high)
        fraction, exponent = np.frexp(positive)
        mantissa = np.ldexp(fraction, 53).astype(np.int64)
        exponent = exponent.astype(np.int64) - 53
        base = int(exponent.min())
        # Halves of mantissas have sums below 2**53, which are exact.
        total = 0
        for part, shift in ((mantissa >> 27, 27), (mantissa & ((1 << 27) - 1), 0)):
            sums = np.bincount(exponent - base, weights=part)
            for place in np.flatnonzero(sums).tolist():
                moved = base + place + shift - _LOWEST_EXPONENT
                value = int(sums[place])
                total += value << moved if moved >= 0 else value >> -moved
        last = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
        return cls(total, int((exponent + last).min()), low, high)

    def __or__(self, other: "Tally") -> "Tally":
        lowest = [each for each in (self.lowest, other.lowest) if each is not None]
        return Tally(
            self.total + other.total,
            min(lowest, default=None),
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
        )

    @property
    def all_ones(self) -> bool:
        """Whether each weight is 1."""
        return self.smallest == self.largest == 1.0

    def exponent(self, count: int) -> int:
        """Return the exponent of the unit in which ``count`` edges are added exactly.

        All weights are multiples of it if that is possible, and else it is so small that the sum of
        all entries is below 2**61 units.
        """
        if self.lowest is None:
            return 0
        # Each edge is two entries.
        finest = (2 * self.total + 1).bit_length() + _LOWEST_EXPONENT - _UNIT_BITS + 1
        if self.lowest >= finest:
            return self.lowest
        # Rounding may add a unit per entry.
        while ((2 * self.total) >> (finest - _LOWEST_EXPONENT)) + 2 * count >= 1 << _UNIT_BITS:
            finest += 1
        return finest

    def check(self) -> None:
        """Raise if the sum of the weights is not finite."""
        # Scores count self-loops twice.
        if 2 * self.total >= 1 << (1024 - _LOWEST_EXPONENT):
            msg = (
                "the sum of the edge weights must be finite, but it overflows.\n"
                "  Divide all weights by a large number: communities do not change."
            )
            raise WeightError(msg)

    @classmethod
    def restored(cls, values: Sequence[Any]) -> "Tally":
        """Return the tally of a record in the journal."""
        return cls(int(values[0], 16), values[1], *map(float, values[2:]))

    def record(self) -> list[Any]:
        """Return it as JSON can keep it."""
        return [hex(self.total), self.lowest, str(self.smallest), str(self.largest)]


def units_of(weights: Floats, exponent: int) -> Ints:
    """Return weights as whole numbers of 2**exponent; one that is positive is at least 1."""
    units = np.rint(np.ldexp(weights, -exponent)).astype(np.int64)
    return np.maximum(units, weights > 0, out=units)
