"""Semimetrics of negative type, the distances that energy statistics are built on."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from kgroups._types import Floats
from kgroups._validation import changed_options, is_real
from kgroups.energy.points import (
    Points,
    and_more,
    as_numbers,
    as_points,
    as_table,
    check_columns,
    check_finite,
    median_distance,
    squared_distances,
)
from kgroups.errors import InputError

FunctionOfPair: TypeAlias = Callable[[Floats, Floats], Any]

# Number of pairs and points, evenly spread, on which symmetry and f(x, x) = 0 are checked.
_PAIRS_CHECKED = 8
# Fractions of the largest value: the error of a 0 that was rounded, and that of its square root.
_ROUNDED_ZERO = 1e-12
_ROOT_OF_ROUNDED_ZERO = 1e-7


class Semimetric(ABC):
    r"""A function :math:`\rho(x, y) = \rho(y, x) \ge 0` with :math:`\rho(x, x) = 0`.

    Energy statistics need it to be of negative type (equation *negative_type* of [1]_):
    :math:`\sum_{ij} c_i c_j \rho(x_i, x_j) \le 0` for all c with sum 0. The three families of
    [1]_, :class:`Power`, :class:`Exponential` and :class:`Gaussian`, are.

    References
    ----------
    .. [1] G. Franca, M. L. Rizzo, J. T. Vogelstein, "Kernel k-Groups via Hartigan's Method",
       IEEE TPAMI 43(12), 2021. :doi:`10.1109/TPAMI.2020.2998120`
    """

    @abstractmethod
    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return rho between all rows of X and all rows of Y.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n,)
            Points; n numbers are n points of one coordinate.
        Y : array-like of shape (m, d) or (m,), optional
            X itself if not given.

        Returns
        -------
        ndarray of shape (n, m)
            Exactly symmetric and exactly 0 on the diagonal if Y is not given.

        Raises
        ------
        InputError
            If X or Y are not finite numbers in rows of one length, or squared distances overflow.
        """

    def scaled_to(self, X: Any) -> "Semimetric":
        """Return the semimetric with its scale set from points, if it has none yet.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n,)
            Points; see ``sigma="median"`` of :class:`Exponential`.

        Returns
        -------
        Semimetric
            Itself, unless its sigma is ``"median"``.
        """
        return self


class _Radial(Semimetric):
    """A function of the Euclidean distance alone."""

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        points, others = as_table(X, "X"), None if Y is None else as_table(Y, "Y")
        check_columns(points, others)
        squares = squared_distances(points, others)
        # Checking the largest result is cheaper than checking every coordinate.
        if not math.isfinite(squares.max()):
            check_finite(points, "X")
            if others is not None:
                check_finite(others, "Y")
            largest = max(np.abs(table).max() for table in (points, others) if table is not None)
            msg = (
                f"squared distances must stay below {np.finfo(float).max:.3g}, but coordinates up "
                f"to {largest:.3g} take them beyond.\n"
                "  Divide all coordinates by a constant."
            )
            raise InputError(msg)
        with np.errstate(over="ignore", under="ignore"):
            return self._of_squares(squares)

    @abstractmethod
    def _of_squares(self, squares: Floats) -> Floats:
        """Return rho at squared distances; may write into them."""


@dataclass(frozen=True)
class Power(_Radial):
    r"""A power of the Euclidean distance, :math:`\rho_\alpha(x, y) = \|x - y\|^\alpha`.

    Parameters
    ----------
    alpha : float
        Above 0, at most 2. With 1 energy statistics are those of the energy distance; with 2 they
        depend on means only, and k-groups is k-means.

    Examples
    --------
    >>> Power()([[0.0, 0.0], [3.0, 4.0]])
    array([[0., 5.],
           [5., 0.]])
    >>> Power(alpha=2)([1, 2], [4])
    array([[9.],
           [4.]])
    """

    alpha: float = 1.0

    __repr__ = changed_options

    def __post_init__(self) -> None:
        if not (is_real(self.alpha) and 0 < float(self.alpha) <= 2):
            msg = (
                f"alpha must be a number above 0 and at most 2, got {self.alpha!r}: "
                "beyond 2 the power of a distance is not of negative type.\n"
                "  Pass for instance Power(alpha=1), the usual energy distance."
            )
            raise InputError(msg)

    def _of_squares(self, squares: Floats) -> Floats:
        if self.alpha == 2:
            return squares
        if self.alpha == 1:
            return np.sqrt(squares, out=squares)
        return np.power(squares, 0.5 * float(self.alpha), out=squares)


@dataclass(frozen=True)
class _Scaled(_Radial):
    """A function of the distance in units of sigma."""

    sigma: float | Literal["median"] = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.sigma, str) and self.sigma == "median":
            return
        if not (is_real(self.sigma) and 0 < float(self.sigma) < math.inf):
            msg = (
                f'sigma must be a finite number above 0 or "median", got {self.sigma!r}.\n'
                "  Pass a typical distance between points, for instance "
                f"{type(self).__name__}(sigma=1.0)."
            )
            raise InputError(msg)

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        if not isinstance(self.sigma, str):
            return super().__call__(X, Y)
        if Y is not None:
            msg = (
                f"{self!r} must know its sigma before it is called with two sets of points.\n"
                "  Call its scaled_to(points) first, with the points that set the scale."
            )
            raise InputError(msg)
        return self.scaled_to(X)(X)

    def scaled_to(self, X: Any) -> Self:
        if not isinstance(self.sigma, str):
            return self
        return replace(self, sigma=median_distance(X, type(self).__name__))


@dataclass(frozen=True)
class Exponential(_Scaled):
    r"""The semimetric :math:`\tilde\rho_\sigma(x, y) = 2 - 2 e^{-\|x - y\| / (2 \sigma)}`.

    Parameters
    ----------
    sigma : float or "median"
        A length above 0; points much farther apart than that have a distance of 2. ``"median"``
        is the median distance between distinct points, which each function takes from the points
        that it is given; an error if it is 0. Of more than 1,000 points it is that of a fixed
        sample. :meth:`Semimetric.scaled_to` returns the semimetric with the number, which must be
        known before a call with two sets of points.

    Examples
    --------
    >>> Exponential(sigma=0.5)([0.0, 1.0, 40.0]).round(3)
    array([[0.   , 1.264, 2.   ],
           [1.264, 0.   , 2.   ],
           [2.   , 2.   , 0.   ]])
    >>> Exponential("median").scaled_to([0.0, 1.0, 40.0])
    Exponential(sigma=39.0)
    """

    __repr__ = changed_options

    def _of_squares(self, squares: Floats) -> Floats:
        return _two_minus_two_exp(np.sqrt(squares, out=squares), float(self.sigma))


@dataclass(frozen=True)
class Gaussian(_Scaled):
    r"""The semimetric :math:`\hat\rho_\sigma(x, y) = 2 - 2 e^{-\|x - y\|^2 / (2 \sigma^2)}`.

    Parameters
    ----------
    sigma : float or "median"
        A length above 0, as that of :class:`Exponential`.

    Examples
    --------
    >>> Gaussian(sigma=2.0)([0.0, 1.0, 40.0]).round(3)
    array([[0.   , 0.235, 2.   ],
           [0.235, 0.   , 2.   ],
           [2.   , 2.   , 0.   ]])
    """

    __repr__ = changed_options

    def _of_squares(self, squares: Floats) -> Floats:
        # The square of sigma may overflow or underflow; that of the ratio does so only where rho
        # has reached its limit.
        sigma = float(self.sigma)
        squares /= sigma
        return _two_minus_two_exp(squares, sigma)


@dataclass(frozen=True)
class PairFunction(Semimetric):
    """Any function of two points.

    Parameters
    ----------
    function : callable
        Takes two rows as arrays of d floats and returns a number >= 0, the same one for (x, y) and
        (y, x), and 0 for (x, x). Whether it is of negative type is not checked; see
        :func:`is_negative_type`.

    Raises
    ------
    InputError
        If ``function`` cannot be called; when used, if a value is not a finite number >= 0, or if
        it is not symmetric or not 0 for (x, x) on the pairs and points that are checked.

    Notes
    -----
    For the matrix of n points it is called once per pair, n (n - 1) / 2 times, and a few more
    times to check that it is symmetric. Clustering that does not keep the matrix, because it
    exceeds ``gram_memory``, calls it again whenever a pair is needed again; so does an energy
    statistic for each of its means.

    Examples
    --------
    >>> def taxi(x, y):
    ...     return abs(x - y).sum()
    >>> PairFunction(taxi)([[0, 0], [1, 2]])
    array([[0., 3.],
           [3., 0.]])
    """

    function: FunctionOfPair

    def __post_init__(self) -> None:
        if not callable(self.function):
            msg = (
                "a semimetric must be a function of two points, "
                f"got {self.function!r}, which cannot be called.\n"
                "  Pass a function f(x, y) of two rows that returns a number >= 0."
            )
            raise InputError(msg)

    def __call__(self, X: Any, Y: Any = None) -> Floats:
        """Return rho between all rows of X and all rows of Y; see :class:`Semimetric`."""
        points = Points.numbered(as_points(X, name="X"))
        if Y is None:
            return pairwise(self, points)
        return pairwise(self, points, Points.numbered(as_points(Y, name="Y"), "row {} of Y"))


MetricName: TypeAlias = Literal["euclidean", "sqeuclidean", "exponential", "gaussian"]
SemimetricLike: TypeAlias = Semimetric | FunctionOfPair | MetricName
MetricLike: TypeAlias = SemimetricLike | Literal["precomputed", "gram"]

NAMED_METRICS: dict[str, Semimetric] = {
    "euclidean": Power(1.0),
    "sqeuclidean": Power(2.0),
    "exponential": Exponential("median"),
    "gaussian": Gaussian("median"),
}
"""The semimetric of each name; those with a scale take it from the points."""


def is_matrix(metric: object) -> bool:
    """Return whether a metric means that X is a matrix of all pairs."""
    return isinstance(metric, str) and metric in ("precomputed", "gram")


def as_semimetric(metric: Any) -> Semimetric:
    """Return the semimetric of a name or of a function of two points.

    Parameters
    ----------
    metric : Semimetric, str or callable
        A semimetric, which is returned as it is; ``"euclidean"`` for ``Power(1)``,
        ``"sqeuclidean"`` for ``Power(2)``, ``"exponential"`` and ``"gaussian"`` for
        ``Exponential("median")`` and ``Gaussian("median")``; or a function, which becomes a
        :class:`PairFunction`.

    Returns
    -------
    Semimetric

    Examples
    --------
    >>> as_semimetric(Power(0.5))
    Power(alpha=0.5)
    >>> as_semimetric("gaussian")
    Gaussian(sigma='median')
    """
    if isinstance(metric, Semimetric):
        return metric
    if isinstance(metric, str) and metric in NAMED_METRICS:
        return NAMED_METRICS[metric]
    if callable(metric) and not isinstance(metric, type):
        return PairFunction(metric)
    hint = "Pass for instance Power(1.0), Exponential(sigma=2.0), or a function f(x, y)."
    if isinstance(metric, type) and issubclass(metric, Semimetric):
        hint = f"Pass an instance: {metric.__name__}(...)."
    elif isinstance(metric, str):
        hint += (
            "\n  Functions that take a matrix of all pairs as X have the metrics 'precomputed' "
            "(distances) or 'gram' (a kernel) for it."
        )
    names = ", ".join(repr(name) for name in NAMED_METRICS)
    msg = (
        f"metric must be a semimetric, one of the names {names}, or a function of two points, "
        f"got {metric!r}.\n  {hint}"
    )
    raise InputError(msg)


def is_family(metric: Semimetric) -> bool:
    """Return whether a semimetric is one of the three families, which need no validation."""
    return type(metric) in (Power, Exponential, Gaussian)


def pairwise(metric: Semimetric, points: Points, others: Points | None = None) -> Floats:
    """Return rho between all points and all others, or all pairs of points, in a new array.

    Without others the result is symmetric with a zero diagonal. What a function or a semimetric of
    the caller returns is validated, and errors name the points.
    """
    tables = [points.X] if others is None else [points.X, others.X]
    if is_family(metric):
        return metric(*tables)
    check_columns(tables[0], tables[-1])
    if isinstance(metric, PairFunction):
        return _function_values(metric.function, points, others)
    # A copy, because the semimetric may keep the array that it returns.
    rho = np.array(as_numbers(metric(*tables), f"what {type(metric).__name__} returns"))
    shape = (len(tables[0]), len(tables[-1]))
    if rho.shape != shape:
        msg = (
            f"{type(metric).__name__} must return a row for each row of X and a column for each "
            f"of Y, here an array of shape {shape}, got shape {rho.shape}.\n"
            "  Correct its __call__; without Y, X takes its place."
        )
        raise InputError(msg)
    if others is None:
        np.fill_diagonal(rho, 0.0)
    _check_values(rho, points, points if others is None else others)
    return rho


def _function_values(function: FunctionOfPair, points: Points, others: Points | None) -> Floats:
    """Call a function for all pairs of points, and check that it is a semimetric."""
    n = len(points)
    if others is None:
        out, second = np.zeros((n, n)), points
        for i, j in combinations(range(n), 2):
            out[i, j] = out[j, i] = _value(function, points, i, points, j)
        reversed_pairs = [(i, (i + (n + 1) // 2) % n) for i in _spread(n)]
    else:
        out, second = np.empty((n, len(others))), others
        for i, j in product(range(n), range(len(others))):
            out[i, j] = _value(function, points, i, others, j)
        reversed_pairs = [(j % n, j) for j in _spread(len(others))]
    _check_values(out, points, second)
    # A single point has no distance to compare a rounded 0 with.
    if out.size == 1 and others is None:
        return out
    slack = _ROOT_OF_ROUNDED_ZERO * float(out.max())
    for i in _spread(n):
        value = _value(function, points, i, points, i)
        if abs(value) > slack:
            msg = (
                "a semimetric must be 0 between a point and itself, "
                f"got {value} for {points.name(i)}.\n"
                "  If the function is a kernel, pass x, y -> f(x, x) + f(y, y) - 2 f(x, y) instead."
            )
            raise InputError(msg)
    for i, j in reversed_pairs:
        value, back = (
            _value(function, points, i, second, j),
            _value(function, second, j, points, i),
        )
        if abs(value - back) > slack:
            msg = (
                f"a semimetric must be symmetric, got {value} and, in the other order, {back} "
                f"for {points.name(i)} and {second.name(j)}.\n"
                "  Pass for instance x, y -> (f(x, y) + f(y, x)) / 2 instead."
            )
            raise InputError(msg)
    return out


def _check_values(out: Floats, points: Points, others: Points) -> None:
    """Raise if a value is not finite, or below 0 by more than rounding; set rounded ones to 0."""
    # min and max are nan if one value is.
    lowest, highest = float(out.min()), float(out.max())
    finite = math.isfinite(lowest) and math.isfinite(highest)
    slack = _ROUNDED_ZERO * max(highest, -lowest) if finite else 0.0
    if not finite or lowest < -slack:
        bad = np.argwhere(~(np.isfinite(out) & (out >= -slack)))
        i, j = (int(index) for index in bad[0])
        msg = (
            f"a semimetric must return a finite number >= 0, got {out[i, j]} for {points.name(i)} "
            f"and {others.name(j)}{and_more(len(bad))}.\n  Correct the function: it must measure "
            "how far apart two points are, not how similar."
        )
        raise InputError(msg)
    np.maximum(out, 0.0, out=out)


def _spread(n: int) -> range:
    return range(0, n, -(-n // _PAIRS_CHECKED))


def _value(function: FunctionOfPair, points: Points, i: int, others: Points, j: int) -> float:
    # Copies, because the function may write into its arguments.
    got = function(points.X[i].copy(), others.X[j].copy())
    number = np.asarray(got)
    if number.size == 1 and number.dtype.kind in "biuf":
        value = float(number.item())
        if math.isfinite(value):
            return value
    other = "itself" if others is points and i == j else others.name(j)
    msg = (
        f"a semimetric must return a finite number >= 0, got {got!r} for {points.name(i)} and "
        f"{other}.\n  Correct the function, or drop the points that it cannot measure."
    )
    raise InputError(msg)


def _two_minus_two_exp(values: Floats, divisor: float) -> Floats:
    """Return ``2 - 2 exp(-values / (2 divisor))``, in place."""
    values /= divisor
    values *= -0.5
    # 2 - 2 exp(t) would round small distances off at 1e-16.
    np.expm1(values, out=values)
    values *= -2.0
    return values
