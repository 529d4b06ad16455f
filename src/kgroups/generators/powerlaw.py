"""Power laws on whole numbers with a smallest and a largest value."""

from typing import NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups._wording import argument, setting
from kgroups.errors import InputError

__all__ = ["WholePowerLaw"]


class WholePowerLaw(NamedTuple):
    """Whole numbers in a row from ``low`` on, with their probabilities."""

    low: int
    probabilities: Floats

    @classmethod
    def between(cls, low: int, high: int, exponent: float) -> "WholePowerLaw":
        """Return the law ``x ** -exponent`` on ``low`` to ``high``."""
        relative = np.arange(low, high + 1, dtype=np.float64) / low
        share = relative**-exponent
        return cls(low, share / share.sum())

    @classmethod
    def of_mean(cls, mean: float, high: int, exponent: float) -> "WholePowerLaw":
        """Return the law up to ``high`` whose smallest value is chosen to give this mean.

        A mean between those of two smallest values is met by making the smaller one rarer than
        the law says.
        """
        x = np.arange(1, high + 1, dtype=np.float64)
        share = (x / high) ** -exponent
        share_from = np.cumsum(share[::-1])[::-1]
        mean_from = np.cumsum((share * x)[::-1])[::-1] / share_from
        if not mean_from[0] <= mean <= high:
            msg = (
                f"{argument('degree')} must lie between {mean_from[0]:.4g} and {high} for "
                f"{setting('max_degree', high)} and {setting('degree_exponent', exponent)}, got "
                f"{mean:g}.\n"
                "  Change the degree or the largest degree."
            )
            raise InputError(msg)
        start = int(np.searchsorted(mean_from, mean, side="right")) - 1
        probabilities = share[start:].copy()
        if start < high - 1:
            above = share_from[start + 1] * (mean_from[start + 1] - mean)
            probabilities[0] = above / (mean - x[start])
        return cls(start + 1, probabilities / probabilities.sum())

    @property
    def mean(self) -> float:
        """Expected value."""
        values = np.arange(self.low, self.low + self.probabilities.size)
        return float(values @ self.probabilities)

    def draw(self, count: int, rng: np.random.Generator) -> Ints:
        """Draw independent values."""
        reached = np.cumsum(self.probabilities)
        place = np.searchsorted(reached, rng.random(count) * reached[-1], side="right")
        return np.asarray(self.low + np.minimum(place, reached.size - 1), dtype=np.int64)
