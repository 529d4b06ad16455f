"""How the search and the spectrum see the edges of a stored graph: saturated weights, exact sums.

Sums of weights over nodes must not depend on which nodes make up a block, so no sum may be rounded.
Weights are therefore multiples of a power of two so large that a double holds the sum of all.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgroups._types import Floats, Ints
from kgroups.spectrum.operators import saturate

# Bits of a double.
_BITS = 52
# Bits of a weight in single precision that distinguish the classes of a histogram: relative
# differences below 1 in 2,000 are ignored when r is chosen.
_DROPPED_BITS = 12
CLASSES = 1 << (31 - _DROPPED_BITS)
"""Number of classes of weights."""
Singles = npt.NDArray[np.float32]


class Saturation(NamedTuple):
    """How fixed-point weights become the saturated ones that are described."""

    # r in fixed-point units, and the share of it above which weights are saturated.
    r: float
    start: float
    # What makes sums of saturated weights vary like counts.
    scale: float


class Weighing(NamedTuple):
    """What the weight of an edge counts in the description and in the operator."""

    # Number of nodes and sum of the weights at all nodes, 2m, for the precision.
    total: float
    saturation: Saturation | None = None
    dispersion: float = 1.0

    @property
    def step(self) -> float:
        """What all weights are multiples of."""
        return 2.0 ** (math.ceil(math.log2(max(self.total, 1.0))) + 1 - _BITS)

    def described(self, weights: Ints | None) -> Singles:
        """Return the weights as the description counts them, one number if all are equal."""
        counts = np.ones(1) if weights is None else self._saturated(weights)
        if weights is not None and self.saturation is not None:
            counts *= self.saturation.scale
        share = float(np.float32(1.0 / self.dispersion))
        steps = np.maximum(np.rint(counts * (share / self.step)), 1.0)
        return np.asarray(steps * self.step, dtype=np.float32)

    def coupling(self, weights: Ints | None) -> Singles:
        """Return the coupling of the Bethe Hessian in units of r, none without weights."""
        if weights is None:
            return np.zeros(0, dtype=np.float32)
        x = self._saturated(weights)
        return np.asarray(x / (1.0 - np.square(x)), dtype=np.float32)

    def diagonal_terms(self, weights: Ints) -> Floats:
        """Return what each edge adds to the diagonal of the Bethe Hessian at its ends."""
        square = np.square(self._saturated(weights))
        return np.asarray(square / (1.0 - square))

    def _saturated(self, weights: Ints) -> Floats:
        if self.saturation is None:
            return np.ones(weights.size)
        return saturate(weights / self.saturation.r, self.saturation.start)


def classes_of(weights: Ints) -> Ints:
    """Return the class of each weight in a histogram."""
    bits = weights.astype(np.float32).view(np.int32)
    return np.asarray(bits >> _DROPPED_BITS, dtype=np.int64)


def weight_of(classes: Ints) -> Floats:
    """Return a weight in the middle of each class."""
    half = 1 << (_DROPPED_BITS - 1)
    bits = (classes.astype(np.int32) << _DROPPED_BITS) + np.int32(half)
    return bits.view(np.float32).astype(float)
