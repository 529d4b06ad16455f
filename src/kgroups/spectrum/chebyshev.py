r"""The Perron vector of P, and the Chebyshev recursion on its complement.

:math:`T_q` is at most 1 on the bulk of the spectrum, [-1, 1], and grows as :math:`s^q / 2` on an
eigenvalue :math:`(s + 1/s) / 2` beyond it.
"""

import math
from dataclasses import dataclass

import numpy as np

from kgroups.spectrum.chebyshev_operator import BlockOperator, ThinBlock, subtract_products

__all__ = ["Perron", "Recursion", "growth_of", "perron_of", "value_of"]

# The bulk is this much smaller in the Perron vector than in the vector it started from.
_PERRON_LIFT = 1e3
_SLOWEST_GROWTH = 1.35
_STEPS_BETWEEN_RESCALING = 4
# Rounding brings the Perron vector back; so many steps leave it too small to matter.
_STEPS_BETWEEN_DEFLATIONS = 3


def growth_of(value: float) -> float:
    """Return s from an eigenvalue (s + 1/s) / 2; 1 inside [-1, 1]."""
    size = max(1.0, abs(value))
    return size + math.sqrt(size * size - 1.0)


def value_of(growth: float) -> float:
    """Return the eigenvalue (s + 1/s) / 2 whose growth is s."""
    return 0.5 * (growth + 1.0 / growth)


@dataclass(frozen=True, eq=False)
class Perron:
    """The largest eigenvalue of P and its vector, one column of unit length for the operator."""

    value: float
    vector: ThinBlock


def perron_of(operator: BlockOperator) -> Perron:
    """Find the Perron pair by a Chebyshev recursion from the vector of ones.

    On bipartite graphs the eigenvalue of the same size below 0 grows as fast; a last step takes
    it out. Where no eigenvalue exceeds 1, as on a tree, none grows, and the pair is a mixture.
    """
    x = np.ones((operator.n, 1), dtype=np.float32)
    y = np.empty_like(x)
    operator.matmat(x, y)
    (xx,), (xy,) = operator.products_by_column(x, y)
    growth = max(_SLOWEST_GROWTH, growth_of(float(xy / xx)))
    for step in range(math.ceil(math.log(_PERRON_LIFT) / math.log(growth))):
        operator.matmat(y, x, alpha=2.0, beta=-1.0)
        x, y = y, x
        if step % _STEPS_BETWEEN_RESCALING == 0:
            length = float(np.max(np.abs(y)))
            x /= length
            y /= length
    operator.matmat(y, x)
    (yy,), _ = operator.products_by_column(y, y)
    (xx,), _ = operator.products_by_column(x, x)
    # N^2 has the same value on the two vectors, so this length is right for any mixture of them.
    x += np.float32(math.sqrt(xx / yy)) * y
    (xx,), _ = operator.products_by_column(x, x)
    x /= np.float32(math.sqrt(xx))
    operator.matmat(x, y)
    _, (xy,) = operator.products_by_column(x, y)
    return Perron(float(xy), x)


class Recursion:
    """The blocks T_q X and T_{q-1} X for rising q, without their part along the Perron vector.

    Parameters
    ----------
    operator : BlockOperator
        P itself or mapped.
    perron : Perron
        Its Perron pair.
    X : ndarray of float32, shape (n, columns)
        Where to start; its memory is used for the work.
    """

    def __init__(self, operator: BlockOperator, perron: Perron, X: ThinBlock) -> None:
        self._operator, self._perron = operator, perron
        subtract_products(operator, perron.vector, X)
        self.q = 1
        self.before, self.now = X, np.empty_like(X)
        operator.matmat(X, self.now)

    def advance(self) -> None:
        """Go on to the next q."""
        self._operator.matmat(self.now, self.before, alpha=2.0, beta=-1.0)
        self.before, self.now = self.now, self.before
        self.q += 1
        if self.q % _STEPS_BETWEEN_DEFLATIONS == 0:
            self.deflate()

    def deflate(self) -> None:
        """Take the Perron vector out of both blocks."""
        subtract_products(self._operator, self._perron.vector, self.before)
        subtract_products(self._operator, self._perron.vector, self.now)
