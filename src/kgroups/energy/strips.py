"""The semimetric between all pairs of a set of points, a strip of the matrix at a time."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.energy.arguments import MetricLike, as_semimetric, is_matrix
from kgroups.energy.kernels import check_distances, check_gram
from kgroups.energy.measuring import rho_between, rho_within
from kgroups.energy.points import RowNames, as_points
from kgroups.energy.semimetrics import Semimetric

__all__ = ["Pairs", "Strip", "pairs_of", "strips"]

# Numbers in one strip: 32 MB, and a few times that while a semimetric works on it.
_STRIP = 1 << 22


class Pairs(ABC):
    """A set of points of which only the semimetric between them is known."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of points."""

    @abstractmethod
    def within(self, rows: slice) -> Floats:
        """Return rho between all pairs of some points: symmetric with a zero diagonal."""

    @abstractmethod
    def between(self, rows: slice, columns: slice) -> Floats:
        """Return rho between some points and others."""

    @abstractmethod
    def subset(self, members: Ints) -> "Pairs":
        """Return the same for some of the points."""


@dataclass(frozen=True, eq=False)
class _Points(Pairs):
    """Vectors: rho is computed when it is asked for, and not kept."""

    X: Floats
    metric: Semimetric
    names: RowNames

    @property
    def n(self) -> int:
        return len(self.X)

    def within(self, rows: slice) -> Floats:
        return rho_within(self.metric, self.X[rows], self.names[rows])

    def between(self, rows: slice, columns: slice) -> Floats:
        X, Y = self.X[rows], self.X[columns]
        return rho_between(self.metric, X, Y, self.names[rows], self.names[columns])

    def subset(self, members: Ints) -> Pairs:
        return _Points(self.X[members], self.metric, self.names[members])


@dataclass(frozen=True, eq=False)
class _Distances(Pairs):
    """A matrix that holds rho."""

    D: Floats

    @property
    def n(self) -> int:
        return len(self.D)

    def within(self, rows: slice) -> Floats:
        return self.D[rows, rows]

    def between(self, rows: slice, columns: slice) -> Floats:
        return self.D[rows, columns]

    def subset(self, members: Ints) -> Pairs:
        return _Distances(self.D[np.ix_(members, members)])


@dataclass(frozen=True, eq=False)
class _Kernel(Pairs):
    """A Gram matrix, which generates rho."""

    G: Floats

    @property
    def n(self) -> int:
        return len(self.G)

    def within(self, rows: slice) -> Floats:
        return self.between(rows, rows)

    def between(self, rows: slice, columns: slice) -> Floats:
        diagonal = np.diagonal(self.G)
        rho: Floats = diagonal[rows, None] + diagonal[columns]
        rho -= 2.0 * self.G[rows, columns]
        return rho

    def subset(self, members: Ints) -> Pairs:
        return _Kernel(self.G[np.ix_(members, members)])


class Strip(NamedTuple):
    """Some rows of the upper triangle: ``inner`` is their square, ``outer`` the rest to its right.

    Every pair of points is in one strip; those of ``inner`` stand there twice.
    """

    rows: slice
    inner: Floats
    later: slice
    outer: Floats


def pairs_of(X: Any, metric: MetricLike, *, pattern: str = "row {} of X") -> Pairs:
    """Return what is needed of vectors, a matrix of rho or a Gram matrix, or raise.

    Errors name vectors by ``pattern``.
    """
    if is_matrix(metric):
        return _Distances(check_distances(X)) if metric == "precomputed" else _Kernel(check_gram(X))
    points = as_points(X)
    rho = as_semimetric(metric).scaled_to(points)
    return _Points(points, rho, RowNames(np.arange(len(points)), pattern))


def strips(pairs: Pairs) -> Iterator[Strip]:
    """Yield the pairs of all points, in strips that need little memory."""
    n = pairs.n
    height = max(1, _STRIP // n)
    for start in range(0, n, height):
        stop = min(start + height, n)
        rows, later = slice(start, stop), slice(stop, n)
        outer = pairs.between(rows, later) if stop < n else np.empty((stop - start, 0))
        yield Strip(rows, pairs.within(rows), later, outer)
