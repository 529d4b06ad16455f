"""Rows of the matrix that vector data are clustered by, stored or made when asked for."""

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.energy.semimetrics import Semimetric
from kgroups.hartigan import Rows, StoredRows

__all__ = ["DistanceRows", "PointRows", "VectorRows", "rows_of_distances", "rows_of_points"]

# Numbers in one block of rows: large enough for fast arithmetic, small beside the memory bound.
_BLOCK = 1 << 20


class PointRows(Rows, Protocol):
    r"""Rows of :math:`M_{ij} = -\tfrac12 w_i w_j \rho(x_i, x_j)`."""

    def among(self, points: Ints) -> Floats:
        """Return the matrix of some points among themselves."""


class DistanceRows(StoredRows):
    """Rows of a matrix in memory."""

    def among(self, points: Ints) -> Floats:
        """Return the matrix of some points among themselves."""
        return self.stored[np.ix_(points, points)]


class VectorRows:
    """Rows of which none is kept.

    Blocks are made by one thread for each core, and come in order.
    """

    def __init__(self, X: Floats, w: Floats, metric: Semimetric) -> None:
        self.X, self.w, self.metric = X, w, metric
        self.stored = np.empty((0, 0))
        self.diagonal = np.zeros(X.shape[0])

    def row(self, i: int) -> Floats:
        """Return row i."""
        made: Floats = self.metric(self.X[i : i + 1], self.X)[0]
        made *= self.w
        made *= -0.5 * self.w[i]
        # The semimetric of a point to itself is zero, which rounding need not know.
        made[i] = 0.0
        return made

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield all rows in order, some at a time, with the number of the first."""
        n = self.X.shape[0]
        step = max(1, _BLOCK // n)
        workers = os.cpu_count() or 1
        with ThreadPoolExecutor(workers) as pool:
            waiting: deque[tuple[int, Future[Floats]]] = deque()
            for first in range(0, n, step):
                waiting.append((first, pool.submit(self._block, first, first + step)))
                if len(waiting) > workers:
                    number, made = waiting.popleft()
                    yield number, made.result()
            for number, made in waiting:
                yield number, made.result()

    def among(self, points: Ints) -> Floats:
        """Return the matrix of some points among themselves."""
        return rows_of_distances(self.metric(self.X[points]), self.w[points]).stored

    def _block(self, first: int, end: int) -> Floats:
        made: Floats = self.metric(self.X[first:end], self.X)
        made *= -0.5 * self.w[first:end, None]
        made *= self.w
        rows = np.arange(made.shape[0])
        made[rows, first + rows] = 0.0
        return made


def rows_of_points(X: Floats, w: Floats, metric: Semimetric, *, memory: float) -> PointRows:
    """Return the rows for points, stored if they fit into ``memory`` bytes."""
    n = X.shape[0]
    return rows_of_distances(metric(X), w) if 8.0 * n * n <= memory else VectorRows(X, w, metric)


def rows_of_distances(D: Floats, w: Floats) -> DistanceRows:
    """Return the rows for distances, whose memory is taken over."""
    D *= -0.5 * w[:, None]
    D *= w
    np.fill_diagonal(D, 0.0)
    return DistanceRows(D)
