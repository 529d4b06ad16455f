"""Rows of the matrix that vector data are clustered by, stored or made when asked for."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.energy.measuring import is_family, rho_between, rho_within
from kgroups.energy.points import RowNames
from kgroups.energy.semimetrics import Semimetric
from kgroups.energy.threads import in_order
from kgroups.hartigan import Rows, StoredRows

__all__ = ["DistanceRows", "PointRows", "VectorRows", "rows_of_distances", "rows_of_points"]

# Side of a tile: large enough for fast arithmetic, small beside any bound on memory.
_TILE = 1024


class PointRows(Rows, Protocol):
    r"""Rows of :math:`M_{ij} = -\tfrac12 w_i w_j \rho(x_i, x_j)`.

    Attributes
    ----------
    shift : float
        The least c >= 0 for which all :math:`\rho_{ij} + c (1 / w_i + 1 / w_j) \ge 0`; 0 unless
        they come from a matrix that is not semidefinite. Adding these terms adds a number to W
        that is the same for all labellings.
    """

    shift: float

    def among(self, points: Ints) -> Floats:
        """Return the matrix of some points among themselves."""


class DistanceRows(StoredRows):
    """Rows of a matrix in memory."""

    def __init__(self, M: Floats, shift: float = 0.0) -> None:
        super().__init__(M)
        self.shift = shift

    def among(self, points: Ints) -> Floats:
        """Return the matrix of some points among themselves."""
        matrix: Floats = self.stored[np.ix_(points, points)]
        return matrix


class VectorRows:
    """Rows of which none is kept."""

    def __init__(self, X: Floats, w: Floats, metric: Semimetric, names: RowNames) -> None:
        self.X, self.w, self.metric, self.names = X, w, metric, names
        self.stored: None = None
        self.shift = 0.0
        self.diagonal = np.zeros(X.shape[0])

    def rows(self, nodes: Ints) -> Floats:
        """Return the rows of some points."""
        made = rho_between(self.metric, self.X[nodes], self.X, self.names[nodes], self.names)
        made *= -0.5 * self.w[nodes, None]
        made *= self.w
        # A point is at no distance from itself, which a function of two points need not know.
        made[np.arange(nodes.size), nodes] = 0.0
        return made

    def among(self, points: Ints) -> Floats:
        """Return the matrix of some points among themselves."""
        D = rho_within(self.metric, self.X[points], self.names[points])
        return rows_of_distances(D, self.w[points]).stored

    def tiles(self) -> Iterator[tuple[int, int, Floats]]:
        """Yield tiles that cover the matrix, each with its first row and column.

        They are made by several threads, and come in an order that does not depend on how many.
        """
        n = self.X.shape[0]
        corners = [(i, j) for i in range(0, n, _TILE) for j in range(i, n, _TILE)]
        # A function in Python gains nothing by threads, and may not bear them.
        run = in_order if is_family(self.metric) else map
        for (top, left), tile in zip(corners, run(self._tile, corners), strict=True):
            yield top, left, tile
            if left > top:
                yield left, top, np.ascontiguousarray(tile.T)

    def _tile(self, corner: tuple[int, int]) -> Floats:
        top, left = corner
        rows, columns = slice(top, top + _TILE), slice(left, left + _TILE)
        X, names = self.X[rows], self.names[rows]
        if top == left:
            tile = rho_within(self.metric, X, names)
        else:
            tile = rho_between(self.metric, X, self.X[columns], names, self.names[columns])
        tile *= -0.5 * self.w[rows, None]
        tile *= self.w[columns]
        return tile


def rows_of_points(
    X: Floats, w: Floats, metric: Semimetric, names: RowNames, *, memory: float
) -> PointRows:
    """Return the rows for points, stored if they fit into ``memory`` bytes."""
    if 8.0 * X.shape[0] ** 2 <= memory:
        return rows_of_distances(rho_within(metric, X, names), w)
    return VectorRows(X, w, metric, names)


def rows_of_distances(D: Floats, w: Floats) -> DistanceRows:
    """Return the rows for distances, whose memory is taken over."""
    shift = 0.0
    if D.min() < 0.0:
        shift = -float((D / np.add.outer(1.0 / w, 1.0 / w)).min())
    D *= -0.5 * w[:, None]
    D *= w
    np.fill_diagonal(D, 0.0)
    return DistanceRows(D, shift)
