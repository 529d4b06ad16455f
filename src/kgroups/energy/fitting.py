"""The points to cluster: validation, order, and rows of the matrix that Hartigan's moves use."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np

from kgroups._parallel import available_cores
from kgroups._types import Floats, Ints
from kgroups.energy.kernels import check_distances, check_gram, check_not_negative, rounding_of
from kgroups.energy.points import Points, as_points, as_weights, row_blocks
from kgroups.energy.semimetrics import (
    MetricLike,
    Semimetric,
    as_semimetric,
    is_family,
    is_matrix,
    pairwise,
)
from kgroups.errors import InputError
from kgroups.hartigan import StoredRows, group_sums

Task = TypeVar("Task")
Result = TypeVar("Result")

# Entries of the semimetric between new points and those fitted that are computed at a time.
_PREDICT_ENTRIES = 1 << 20
# Weights below this fraction of the largest are lost to rounding in the sums of a group.
_MIN_RELATIVE_WEIGHT = 1e-12
TILE_SIDE = 1024
"""Side of a tile: large enough for fast arithmetic, small beside any bound on memory."""


class DistanceRows(StoredRows):
    r"""Rows of :math:`M_{ij} = -\tfrac12 w_i w_j \rho(x_i, x_j)`, a matrix in memory.

    ``shift`` is the least c >= 0 for which all :math:`\rho_{ij} + c (1 / w_i + 1 / w_j) \ge 0`; it
    is 0 unless :math:`\rho` comes from a matrix that is not semidefinite. Adding these terms adds
    the same number to W for all labelings.
    """

    def __init__(self, M: Floats, shift: float = 0.0) -> None:
        super().__init__(M)
        self.shift = shift


class VectorRows:
    """The same rows, computed from the points when needed and not kept."""

    def __init__(
        self, points: Points, w: Floats, metric: Semimetric, *, tile_side: int = TILE_SIDE
    ) -> None:
        self.points, self.w, self.metric, self.tile_side = points, w, metric, tile_side
        self.stored: None = None
        self.shift = 0.0
        self.diagonal = np.zeros(len(points))

    def rows(self, nodes: Ints) -> Floats:
        """Return the rows of some points."""
        rows = pairwise(self.metric, self.points[nodes], self.points)
        _weigh(rows, self.w[nodes], self.w)
        # Set here, because a function may return a rounded 0 for a point and itself.
        rows[np.arange(nodes.size), nodes] = 0.0
        return rows

    def among(self, points: Ints) -> Floats:
        """Return the matrix of some points among themselves."""
        D = pairwise(self.metric, self.points[points])
        return rows_of_distances(D, self.w[points]).stored

    def tiles(self) -> Iterator[tuple[int, int, Floats]]:
        """Yield tiles that cover the matrix, each with its first row and column.

        Threads compute them, and they come in the same order whatever the number of threads.
        """
        n, side = len(self.points), self.tile_side
        corners = [(i, j) for i in range(0, n, side) for j in range(i, n, side)]
        # A Python function gains nothing by threads, and may not be safe in them.
        run = in_order if is_family(self.metric) else map
        for (top, left), tile in zip(corners, run(self._tile, corners), strict=True):
            yield top, left, tile
            if left > top:
                yield left, top, np.ascontiguousarray(tile.T)

    def _tile(self, corner: tuple[int, int]) -> Floats:
        rows, columns = (slice(first, first + self.tile_side) for first in corner)
        others = None if rows == columns else self.points[columns]
        tile = pairwise(self.metric, self.points[rows], others)
        _weigh(tile, self.w[rows], self.w[columns])
        return tile


PointRows: TypeAlias = DistanceRows | VectorRows


def rows_of_points(points: Points, w: Floats, metric: Semimetric, *, memory: float) -> PointRows:
    """Return the rows of points, stored if they fit into ``memory`` bytes."""
    if 8.0 * len(points) ** 2 <= memory:
        return rows_of_distances(pairwise(metric, points), w)
    return VectorRows(points, w, metric)


def rows_of_distances(D: Floats, w: Floats) -> DistanceRows:
    """Return the rows of a matrix of distances, which is overwritten."""
    shift = 0.0
    if D.min() < 0.0:
        shift = -float((D / np.add.outer(1.0 / w, 1.0 / w)).min())
    _weigh(D, w, w)
    np.fill_diagonal(D, 0.0)
    return DistanceRows(D, shift)


def _weigh(rho: Floats, w: Floats, v: Floats) -> None:
    """Multiply each entry (i, j) by ``-w[i] v[j] / 2``, in place."""
    rho *= -0.5 * w[:, None]
    rho *= v


@dataclass(frozen=True, eq=False)
class PointsBetween:
    """The semimetric between new points and those fitted; closures would not pickle."""

    points: Points
    metric: Semimetric
    block_entries: int = _PREDICT_ENTRIES

    def __call__(self, new: Any) -> Iterator[Floats]:
        """Yield blocks of rows, one for each new point, of at most ``block_entries`` entries."""
        others = Points.numbered(as_points(new), "new row {}")
        columns = self.points.X.shape[1]
        if others.X.shape[1] != columns:
            msg = (
                f"new points must have {columns} columns like the points fitted, "
                f"got {others.X.shape[1]}."
            )
            raise InputError(msg)
        for some in row_blocks(len(others), len(self.points), self.block_entries):
            yield pairwise(self.metric, others[some], self.points)


@dataclass(frozen=True, eq=False)
class MatrixBetween:
    """The semimetric of new rows of a matrix, up to a constant for each row.

    ``counted`` are the points of positive weight among the ``n`` fitted, ``diagonal`` is that of
    the Gram matrix fitted, if it was one, and entries above ``-slack`` count as rounding.
    """

    n: int
    counted: Ints
    diagonal: Floats | None
    slack: float

    def __call__(self, new: Any) -> Iterator[Floats]:
        """Yield the semimetric between the new rows and the points that count."""
        R = as_points(new)
        if R.shape[1] != self.n:
            msg = f"new rows must have {self.n} columns, one for each row fitted, got {R.shape[1]}."
            raise InputError(msg)
        if self.diagonal is None:
            check_not_negative(R, max(self.slack, rounding_of(R)), "distances of new points")
            yield R[:, self.counted]
        else:
            yield self.diagonal[self.counted] - 2.0 * R[:, self.counted]


@dataclass(frozen=True, eq=False)
class Data:
    """The points that count, in the order in which they are visited.

    ``w`` are their positive weights divided by ``unit``, a power of two that avoids overflow;
    ``point_of`` is the point of each row of the input, -1 for rows that do not count; ``rank`` is
    the place of each point in an order that does not depend on that of the rows; ``norm`` is the
    sum of w_i kappa(x_i, x_i), unless the base point is the mean of the points; ``between`` yields
    the semimetric of new points to these, up to a constant for each new point.
    """

    rows: PointRows
    w: Floats
    unit: float
    point_of: Ints
    rank: Ints
    norm: float | None
    between: PointsBetween | MatrixBetween
    metric: Semimetric | str


def as_data(
    X: Any,
    metric: MetricLike,
    weights: Any,
    *,
    k: int,
    rng: np.random.Generator | None,
    memory: float,
) -> Data:
    """Return the points to cluster; rows whose weight is below 1e-12 of the largest do not count.

    With ``rng``, equal points are merged and all are shuffled, which makes their order independent
    of the order of the rows. Distances and Gram matrices keep their order.
    """
    if is_matrix(metric):
        return _matrix_data(X, str(metric), weights)
    X, rho = as_points(X), as_semimetric(metric)
    w, counted, point_of = _counted(weights, len(X))
    given = X[counted]
    if rng is None:
        points, rank = Points(given, counted), np.arange(counted.size)
    else:
        # Adding 0 turns minus zero into zero: which of the two came first must not matter.
        distinct = given + 0.0
        some, w, rank, place = _shuffled(distinct, w, k, rng)
        points = Points(distinct[some], counted[some])
        point_of[counted] = place
    w, unit = _scaled(w)
    # The families count equal rows once, and their messages give the number of rows.
    rho = rho.scaled_to(given if is_family(rho) else points.X)
    norm = None
    # Other semimetrics need not be defined at the origin.
    if is_family(rho):
        corners = points.X.min(axis=0, keepdims=True), points.X.max(axis=0, keepdims=True)
        _check_range(float(rho(*corners)[0, 0]), w, unit)
        norm = float(w @ rho(points.X, np.zeros((1, X.shape[1])))[:, 0])
    rows = rows_of_points(points, w, rho, memory=memory)
    return Data(rows, w, unit, point_of, rank, norm, PointsBetween(points, rho), rho)


def _matrix_data(X: Any, metric: str, weights: Any) -> Data:
    if metric == "precomputed":
        matrix, diagonal = check_distances(X), None
    else:
        matrix = check_gram(X)
        diagonal = matrix.diagonal().copy()
    n = matrix.shape[0]
    w, counted, point_of = _counted(weights, n)
    w, unit = _scaled(w)
    D = matrix.copy() if counted.size == n else matrix[np.ix_(counted, counted)]
    norm = None
    if diagonal is not None:
        # Also for a matrix that is not semidefinite: Hartigan's moves need no distances >= 0.
        D *= -2.0
        D += diagonal[counted]
        D += diagonal[counted, None]
        norm = float(w @ diagonal[counted])
    _check_range(float(np.abs(matrix).max()), w, unit)
    rows = rows_of_distances(D, w)
    between = MatrixBetween(n, counted, diagonal, rounding_of(matrix))
    return Data(rows, w, unit, point_of, np.arange(counted.size), norm, between, metric)


def _counted(weights: Any, n: int) -> tuple[Floats, Ints, Ints]:
    """Return the weights of the rows that count, these rows, and the point of each row."""
    w = as_weights(weights, n)
    counted = np.flatnonzero(w > _MIN_RELATIVE_WEIGHT * w.max())
    point_of = np.full(n, -1)
    point_of[counted] = np.arange(counted.size)
    return w[counted], counted, point_of


def _scaled(w: Floats) -> tuple[Floats, float]:
    """Return the weights divided by a power of two, so that the largest is in [1, 2), and it."""
    exponent = int(np.frexp(w.max())[1]) - 1
    return np.ldexp(w, -exponent), float(np.ldexp(1.0, exponent))


def _check_range(largest: float, w: Floats, unit: float) -> None:
    """Raise if sums of semimetrics up to ``largest`` overflow."""
    with np.errstate(over="ignore"):
        sums = largest * np.square(w.sum())
        energy = unit * (0.5 * largest * w.sum())
    if not (np.isfinite(sums) and np.isfinite(energy)):
        msg = (
            f"energies must be finite, but semimetrics up to {largest:.3g} with weights up to "
            f"{unit * w.max():.3g} add up beyond {np.finfo(float).max:.3g}.\n"
            "  Divide all coordinates, or all weights, by a constant."
        )
        raise InputError(msg)


def _shuffled(
    X: Floats, w: Floats, k: int, rng: np.random.Generator
) -> tuple[Ints, Floats, Ints, Ints]:
    """Merge equal rows and shuffle them; return rows, weights, ranks, and the place of each row."""
    _, first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    if first.size >= k:
        # Sum light weights first, so that rounding does not depend on the order of the rows.
        order = np.lexsort((w, inverse))
        w = group_sums(inverse[order], w[order], first.size)
    else:
        # Fewer distinct points than groups: equal points must go into different groups.
        first = np.lexsort((w, inverse))
        w = w[first]
        inverse = np.argsort(first)
    rank = rng.permutation(first.size)
    return first[rank], w[rank], rank, np.argsort(rank)[inverse]


def in_order(work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Yield the results of tasks in their order, computed by a thread for each core.

    At most one result more than there are threads waits to be used. An interrupt waits for the
    tasks that run, not for those that have not begun.
    """
    workers = available_cores()
    if workers == 1:
        yield from map(work, tasks)
        return
    pool = ThreadPoolExecutor(workers)
    waiting: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(work, task))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
