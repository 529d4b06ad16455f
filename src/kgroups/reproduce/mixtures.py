"""The paper's drawn vector data: mixtures of two classes, and a grid of many."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.studies.points import Points

__all__ = [
    "LINE",
    "PAIRS",
    "UNEVEN",
    "Mixture",
    "grid",
    "in_space",
    "line",
    "many_points",
    "uneven",
]

# eq. gauss2 of the paper: the variances of the second class in the first ten dimensions.
_WIDE = (1.367, 3.175, 3.247, 4.403, 1.249, 1.969, 4.035, 4.237, 2.813, 3.637)
_PER_CLASS = 10
_UNEVEN_POINTS = 300

Drawn = tuple[Points, Ints]


@dataclass(frozen=True)
class Mixture:
    """Two normal classes with independent coordinates; sizes vary as those of a mixture do.

    Attributes
    ----------
    means, variances : pair of tuples
        Of the coordinates in the first and in the second class. Coordinates beyond them are 0 on
        average in both classes, with variance 1.
    transform : callable
        What is done to the normal points; nothing by default.
    """

    means: tuple[tuple[float, ...], tuple[float, ...]]
    variances: tuple[tuple[float, ...], tuple[float, ...]]
    transform: Callable[[Floats], Floats] = np.positive

    def draw(
        self, n: int, rng: np.random.Generator, *, dimension: int | None = None, share: float = 0.5
    ) -> Drawn:
        """Return points in random order and their classes; a share of them is of the first."""
        # One point of each class at least: with one class there is nothing to find.
        first = min(max(int(rng.binomial(n, share)), 1), n - 1)
        z = rng.permutation((np.arange(n) >= first).astype(np.int64))
        given = len(self.means[0])
        X = rng.standard_normal((n, dimension or given))
        X[:, :given] *= np.sqrt(self.variances)[z]
        X[:, :given] += np.array(self.means)[z]
        return Points(self.transform(X)), z


_LINE = Mixture(((0.0,), (1.5,)), ((1.5**2,), (0.3**2,)))
LINE = {"normal": _LINE, "lognormal": Mixture(_LINE.means, _LINE.variances, np.exp)}
"""Fig. 1d; 1.5 and 0.3 are standard deviations, other than the notation suggests."""

_TWENTY = Mixture(((0.0,) * 20, (0.5,) * 5 + (0.0,) * 15), ((0.5,) * 20, (1.0,) * 20))
PAIRS = {
    "gauss1": Mixture(((0.0,) * 10, (0.7,) * 10), ((1.0,) * 10,) * 2),
    "gauss2": Mixture(((0.0,) * 10, (1.0,) * 10), ((1.0,) * 10, _WIDE)),
    "normal": _TWENTY,
    "lognormal": Mixture(_TWENTY.means, _TWENTY.variances, np.exp),
}
"""Figs. a to d: eqs. gauss1, gauss2 and 20gauss, the last one also as exponents."""

UNEVEN = Mixture(((0.0,) * 4, (1.5, 1.5, 0.0, 0.0)), ((1.0,) * 4, (0.5, 0.5, 1.0, 1.0)))
"""Fig. f: eq. gauss3, whose second term is printed as the first."""


def line(data: str, n: int, rng: np.random.Generator) -> Drawn:
    """Draw numbers of Fig. 1d, ``normal`` or ``lognormal``."""
    return LINE[data].draw(n, rng)


def in_space(data: str, D: int, rng: np.random.Generator) -> Drawn:
    """Draw 200 points of ``gauss1`` or ``gauss2`` in D dimensions, ten of which tell."""
    return PAIRS[data].draw(200, rng, dimension=D)


def many_points(data: str, n: int, rng: np.random.Generator) -> Drawn:
    """Draw points of the mixtures in 20 dimensions, ``normal`` or ``lognormal``."""
    return PAIRS[data].draw(n, rng)


def uneven(m: int, rng: np.random.Generator) -> Drawn:
    """Draw points of Fig. f; the larger m, the smaller is the share of the first class."""
    return UNEVEN.draw(_UNEVEN_POINTS, rng, share=0.5 - m / (2 * _UNEVEN_POINTS))


def grid(k: int, variance: float, rng: np.random.Generator) -> Drawn:
    """Draw ten points around each of k places of a square grid with unit spacing."""
    side = math.ceil(math.sqrt(k))
    z = rng.permutation(np.repeat(np.arange(k), _PER_CLASS))
    centres = np.column_stack([z // side, z % side])
    return Points(centres + math.sqrt(variance) * rng.standard_normal((z.size, 2))), z
