"""What is clustered: points, distances or a Gram matrix, checked at the door and put in order."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.energy.arguments import MetricLike, as_semimetric, is_matrix
from kgroups.energy.kernels import check_distances, check_gram, check_not_negative, rounding_of
from kgroups.energy.measuring import is_family, rho_between
from kgroups.energy.points import RowNames, as_points
from kgroups.energy.rows import PointRows, rows_of_distances, rows_of_points
from kgroups.energy.semimetrics import Semimetric
from kgroups.energy.weights import as_weights
from kgroups.errors import InputError
from kgroups.hartigan.objective import group_sums

__all__ = ["Data", "MatrixBetween", "PointsBetween", "as_data"]

# Numbers in one block of semimetrics between new points and those fitted.
_BLOCK = 1 << 20
# Beside a weight of 1, sums that are kept while points move cannot tell such a one from rounding.
_LEAST_WEIGHT = 1e-12


@dataclass(frozen=True, eq=False)
class Data:
    """Points that count, in the order in which they are visited.

    Attributes
    ----------
    rows : PointRows
        The matrix of the points.
    w : ndarray of shape (m,)
        Their weights, all positive, in a unit of their own.
    unit : float
        That unit: products of the weights as they came might overflow.
    point_of : ndarray of shape (n,)
        Which point each row of the input is; -1 for rows that do not count.
    rank : ndarray of shape (m,)
        Place of each point in an order that depends on the points alone, if there is one.
    norm : float or None
        Sum of w_i kappa(x_i, x_i), where the base point is not the mean of the points.
    between : callable
        Takes new points as the caller gives them and yields the semimetric between some of them
        and the points, up to a number for each new point.
    metric : Semimetric or str
        The semimetric with its scale, or what the matrix holds.
    """

    rows: PointRows
    w: Floats
    unit: float
    point_of: Ints
    rank: Ints
    norm: float | None
    between: "PointsBetween | MatrixBetween"
    metric: Semimetric | str


@dataclass(frozen=True, eq=False)
class PointsBetween:
    """The semimetric between new points and those fitted; an object, as functions do not pickle."""

    points: Floats
    metric: Semimetric
    names: RowNames

    def __call__(self, new: Any) -> Iterator[Floats]:
        """Yield the semimetric between blocks of new points and the points fitted."""
        Y = as_points(new)
        if Y.shape[1] != self.points.shape[1]:
            msg = (
                f"new points must have {self.points.shape[1]} columns as those fitted, "
                f"got {Y.shape[1]}."
            )
            raise InputError(msg)
        step = max(1, _BLOCK // self.points.shape[0])
        new_names = RowNames(np.arange(len(Y)), "new row {}")
        for first in range(0, len(Y), step):
            some = slice(first, first + step)
            yield rho_between(self.metric, Y[some], self.points, new_names[some], self.names)


@dataclass(frozen=True, eq=False)
class MatrixBetween:
    """The semimetric in rows that the caller has made, or the kernel and its diagonal.

    ``slack`` is what passes for rounding beside the entries fitted.
    """

    n: int
    counted: Ints
    own: Floats | None
    slack: float

    def __call__(self, new: Any) -> Iterator[Floats]:
        """Yield the semimetric to the points that count, up to a number for each new row."""
        R = as_points(new)
        if R.shape[1] != self.n:
            msg = f"new rows must have {self.n} columns, one for each row fitted, got {R.shape[1]}."
            raise InputError(msg)
        if self.own is None:
            check_not_negative(R, max(self.slack, rounding_of(R)), "distances of new points")
            yield R[:, self.counted]
        else:
            yield self.own[self.counted] - 2.0 * R[:, self.counted]


def as_data(
    X: Any,
    metric: MetricLike,
    weights: Any,
    *,
    k: int,
    rng: np.random.Generator | None,
    memory: float,
) -> Data:
    """Return what is to be clustered.

    With ``rng``, equal points become one and all are put into an order drawn from it, which
    does not depend on the order of the rows. Distances and Gram matrices keep theirs. Rows whose
    weight is below 1e-12 of the largest do not count, as those of weight 0.
    """
    if is_matrix(metric):
        return _matrix_data(X, str(metric), weights)
    return _point_data(as_points(X), as_semimetric(metric), weights, k=k, rng=rng, memory=memory)


def _point_data(
    X: Floats,
    metric: Semimetric,
    weights: Any,
    *,
    k: int,
    rng: np.random.Generator | None,
    memory: float,
) -> Data:
    n = X.shape[0]
    w, counted = _counted(weights, n)
    point_of = np.full(n, -1)
    given = X[counted]
    if rng is None:
        points, rank, first = given, np.arange(counted.size), counted
        point_of[counted] = rank
    else:
        # Minus zero equals zero: which of the two came first must not show.
        points = given + 0.0
        some, w, rank, place = _in_own_order(points, w, k, rng)
        points, first = points[some], counted[some]
        point_of[counted] = place
    w, unit = _scaled(w)
    # The families count equal rows once, and their messages say how many rows came.
    metric = metric.scaled_to(given if is_family(metric) else points)
    # Other semimetrics need not be defined at the origin.
    origin = np.zeros((1, X.shape[1]))
    norm = None
    if is_family(metric):
        corners = points.min(axis=0, keepdims=True), points.max(axis=0, keepdims=True)
        _check_range(float(metric(*corners)[0, 0]), w, unit)
        norm = float(w @ metric(points, origin)[:, 0])
    names = RowNames(first)
    between = PointsBetween(points, metric, names)
    rows = rows_of_points(points, w, metric, names, memory=memory)
    return Data(rows, w, unit, point_of, rank, norm, between, metric)


def _counted(weights: Any, n: int) -> tuple[Floats, Ints]:
    """Return the rows that count, and their weights."""
    w = as_weights(weights, n)
    counted = np.flatnonzero(w > _LEAST_WEIGHT * w.max())
    return w[counted], counted


def _scaled(w: Floats) -> tuple[Floats, float]:
    """Return the weights in a unit of their own, a power of two, and that unit."""
    exponent = int(np.frexp(w.max())[1]) - 1
    return np.ldexp(w, -exponent), float(np.ldexp(1.0, exponent))


def _check_range(largest: float, w: Floats, unit: float) -> None:
    """Raise if sums of semimetrics up to ``largest`` leave the range of floats."""
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


def _in_own_order(
    X: Floats, w: Floats, k: int, rng: np.random.Generator
) -> tuple[Ints, Floats, Ints, Ints]:
    """Return points and weights in an order drawn for the set of points, and who went where.

    The points are rows of X, the first of those that are equal.
    """
    _, first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    if first.size >= k:
        # Light ones first, so that the order of the rows does not decide how their sum rounds.
        order = np.lexsort((w, inverse))
        w = group_sums(inverse[order], w[order], first.size)
    else:
        # Fewer distinct points than groups: equal points go into different ones.
        first = np.lexsort((w, inverse))
        w = w[first]
        inverse = np.argsort(first)
    shuffled = rng.permutation(first.size)
    return first[shuffled], w[shuffled], shuffled, np.argsort(shuffled)[inverse]


def _matrix_data(X: Any, metric: str, weights: Any) -> Data:
    if metric == "precomputed":
        matrix, own = check_distances(X), None
    else:
        matrix = check_gram(X)
        own = matrix.diagonal().copy()
    n = matrix.shape[0]
    w, counted = _counted(weights, n)
    w, unit = _scaled(w)
    point_of = np.full(n, -1)
    point_of[counted] = np.arange(counted.size)
    D = matrix.copy() if counted.size == n else matrix[np.ix_(counted, counted)]
    if own is not None:
        # Also for a matrix that is not semidefinite, on which Hartigan's moves are as good.
        D *= -2.0
        D += own[counted]
        D += own[counted, None]
    _check_range(float(np.abs(matrix).max()), w, unit)
    rows = rows_of_distances(D, w)
    norm = None if own is None else float(w @ own[counted])

    between = MatrixBetween(n, counted, own, rounding_of(matrix))
    return Data(rows, w, unit, point_of, np.arange(counted.size), norm, between, metric)
