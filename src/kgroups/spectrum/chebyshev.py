r"""The Chebyshev filter of P: recursion, deflation, Rayleigh-Ritz, and the Perron vector.

:math:`T_q` is at most 1 on the bulk of the spectrum, [-1, 1], and grows as :math:`s^q / 2` on an
eigenvalue :math:`(s + 1/s) / 2` beyond it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgroups._blas import single_threaded
from kgroups._types import Floats
from kgroups.spectrum.chebyshev_operator import BlockOperator, ThinBlock, subtract_products

__all__ = [
    "Deflated",
    "Perron",
    "Recursion",
    "growth_of",
    "perron_of",
    "ritz_pairs",
    "steps_between",
    "value_of",
]

# The bulk is this much smaller in the Perron vector than in the vector it started from.
_PERRON_LIFT = 1e3
_SLOWEST_GROWTH = 1.35
_STEPS_BETWEEN_RESCALING = 4
# Rounding brings a deflated vector back; it may grow by this much before it is removed again.
_LARGEST_REGROWTH = 200.0
_PERRON_STEPS = 3
_STEPS_BETWEEN_LOOKS = 4
# Directions fainter than this in a block of unit columns are rounding of float32.
_FAINTEST_DIRECTION = 1e-5


def growth_of(value: float) -> float:
    """Return s from an eigenvalue (s + 1/s) / 2; 1 inside [-1, 1]."""
    size = max(1.0, abs(value))
    return size + math.sqrt(size * size - 1.0)


def value_of(growth: float) -> float:
    """Return the eigenvalue (s + 1/s) / 2 whose growth is s."""
    return 0.5 * (growth + 1.0 / growth)


def steps_between(growth: float, factor: float = _LARGEST_REGROWTH) -> int:
    """Return the steps in which something of this growth is multiplied by ``factor`` at most."""
    slowest = 1.0 + 1e-9
    return max(1, int(math.log(factor) / math.log(max(growth, slowest))))


@dataclass(frozen=True, eq=False)
class Perron:
    """The largest eigenvalue of P and its vector, one column of unit length for the operator."""

    value: float
    vector: ThinBlock

    @property
    def deflated(self) -> "Deflated":
        """The vector, for a recursion to keep out."""
        return Deflated(self.vector, _PERRON_STEPS)


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


@dataclass(frozen=True, eq=False)
class Deflated:
    """Vectors that a recursion keeps out of its blocks.

    Attributes
    ----------
    vectors : ndarray of float32, shape (n, count)
        Orthonormal for the operator.
    every : int
        Steps after which they are subtracted again.
    """

    vectors: ThinBlock
    every: int


class Recursion:
    """The blocks T_q X and T_{q-1} X for rising q, without their part along deflated vectors.

    Parameters
    ----------
    operator : BlockOperator
        P itself or mapped.
    deflated : sequence of Deflated
        The vectors to keep out.
    X : ndarray of float32, shape (n, columns)
        Where to start; its memory is used for the work.
    """

    def __init__(self, operator: BlockOperator, deflated: Sequence[Deflated], X: ThinBlock) -> None:
        self._operator = operator
        self._deflated = [held for held in deflated if held.vectors.shape[1]]
        for held in self._deflated:
            subtract_products(operator, held.vectors, X)
        self.q = 1
        self.before, self.now = X, np.empty_like(X)
        operator.matmat(X, self.now)

    def advance(self) -> None:
        """Go on to the next q."""
        self._operator.matmat(self.now, self.before, alpha=2.0, beta=-1.0)
        self.before, self.now = self.now, self.before
        self.q += 1
        self._subtract([held for held in self._deflated if self.q % held.every == 0])

    def advance_to(self, degree: int, *, largest: float = math.inf) -> None:
        """Go on to a degree, or less far if an entry exceeds ``largest``, and deflate."""
        while self.q < degree:
            self.advance()
            grown = self.q % _STEPS_BETWEEN_LOOKS == 0 and largest < math.inf
            if grown and float(np.abs(self.now).max()) > largest:
                break
        self._subtract(self._deflated)

    def _subtract(self, deflated: Sequence[Deflated]) -> None:
        for held in deflated:
            subtract_products(self._operator, held.vectors, self.before)
            subtract_products(self._operator, held.vectors, self.now)


def ritz_pairs(operator: BlockOperator, X: ThinBlock) -> tuple[Floats, ThinBlock]:
    """Return Ritz values, falling, and Ritz vectors of the space that the columns span."""
    lengths, _ = operator.products_by_column(X, X)
    X /= np.sqrt(np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32)
    image = np.empty_like(X)
    operator.matmat(X, image)
    gram, crossed = operator.products(X, X), operator.products(X, image)
    with single_threaded(X.shape[1]):
        sizes, axes = np.linalg.eigh((gram + gram.T) / 2.0)
        firm = sizes > _FAINTEST_DIRECTION * sizes[-1]
        whitened = axes[:, firm] / np.sqrt(sizes[firm])
        values, turns = np.linalg.eigh(whitened.T @ ((crossed + crossed.T) / 2.0) @ whitened)
    vectors = np.zeros((X.shape[0], values.size), dtype=np.float32)
    operator.add_product(X, whitened @ turns[:, ::-1], vectors)
    return values[::-1], vectors
