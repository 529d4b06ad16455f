"""Semimetrics of negative type: the distances that energy statistics are built on."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from kgroups._types import Floats
from kgroups.energy.distances import squared_distances
from kgroups.energy.functions import FunctionOfPair, values_across, values_within
from kgroups.energy.points import RowNames, as_points, as_table, check_finite, is_finite_number
from kgroups.energy.scales import median_distance
from kgroups.errors import InputError

__all__ = [
    "Exponential",
    "Gaussian",
    "PairFunction",
    "Power",
    "Semimetric",
    "check_columns",
]


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
            If X or Y are not finite numbers in rows of one length, or rho overflows.
        """

    def scaled_to(self, X: Any) -> "Semimetric":
        """Return the semimetric with its scale taken from points, if it asks for that.

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
        squares, scale = squared_distances(points, others)
        # One look at the largest result is cheaper than one at every coordinate.
        if not math.isfinite(squares.max()):
            check_finite(points, "X")
            if others is not None:
                check_finite(others, "Y")
        with np.errstate(over="ignore", under="ignore"):
            rho = self._of_squares(squares, scale)
        if not math.isfinite(rho.max()):
            msg = (
                f"{self!r} must stay below {np.finfo(float).max:.3g}, but coordinates up to "
                f"{_largest(points, others):.3g} take it beyond.\n"
                "  Divide all coordinates by a constant."
            )
            raise InputError(msg)
        return rho

    @abstractmethod
    def _of_squares(self, squares: Floats, scale: float) -> Floats:
        """Return rho at the squared distances ``squares * scale**2``; may write into them."""


@dataclass(frozen=True)
class Power(_Radial):
    r"""A power of the Euclidean distance, :math:`\rho_\alpha(x, y) = \|x - y\|^\alpha`.

    Parameters
    ----------
    alpha : float
        Above 0, at most 2. With 1 energy statistics are those of the energy distance; with 2 they
        see differences of means only, and k-groups is k-means.

    Raises
    ------
    InputError
        If alpha is not such a number.

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

    def __post_init__(self) -> None:
        if not (is_finite_number(self.alpha) and 0 < float(self.alpha) <= 2):
            msg = (
                f"alpha must be a number above 0 and at most 2, got {self.alpha!r}: "
                "beyond 2 the power of a distance is not of negative type.\n"
                "  Pass for instance Power(alpha=1), the usual energy distance."
            )
            raise InputError(msg)

    def _of_squares(self, squares: Floats, scale: float) -> Floats:
        if scale != 1.0:
            np.sqrt(squares, out=squares)
            squares *= scale
            return np.power(squares, float(self.alpha), out=squares)
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
        if not (is_finite_number(self.sigma) and 0 < float(self.sigma) < math.inf):
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
        A length above 0: far beyond it all points are 2 apart. ``"median"`` is the median distance
        between distinct points, which each function takes from the points that it is given. Of
        more than 1,000 points it is that of a fixed sample.

    Raises
    ------
    InputError
        If sigma is not a finite number above 0 or "median"; when used, if the median is 0.

    Notes
    -----
    With ``"median"`` it can be called with one set of points only; :meth:`Semimetric.scaled_to`
    returns the semimetric with the number in place of the word.

    Examples
    --------
    >>> Exponential(sigma=0.5)([0.0, 1.0, 40.0]).round(3)
    array([[0.   , 1.264, 2.   ],
           [1.264, 0.   , 2.   ],
           [2.   , 2.   , 0.   ]])
    >>> Exponential("median").scaled_to([0.0, 1.0, 40.0])
    Exponential(sigma=39.0)
    """

    def _of_squares(self, squares: Floats, scale: float) -> Floats:
        np.sqrt(squares, out=squares)
        squares *= scale
        squares /= float(self.sigma)
        squares *= -0.5
        return _two_minus_two_exp(squares)


@dataclass(frozen=True)
class Gaussian(_Scaled):
    r"""The semimetric :math:`\hat\rho_\sigma(x, y) = 2 - 2 e^{-\|x - y\|^2 / (2 \sigma^2)}`.

    Parameters
    ----------
    sigma : float or "median"
        A length above 0, as that of :class:`Exponential`.

    Raises
    ------
    InputError
        If sigma is not a finite number above 0 or "median"; when used, if the median is 0.

    Examples
    --------
    >>> Gaussian(sigma=2.0)([0.0, 1.0, 40.0]).round(3)
    array([[0.   , 0.235, 2.   ],
           [0.235, 0.   , 2.   ],
           [2.   , 2.   , 0.   ]])
    """

    def _of_squares(self, squares: Floats, scale: float) -> Floats:
        # The square of sigma by itself may overflow or vanish, that of the ratio only where
        # rho has long reached its end.
        if scale != 1.0:
            np.sqrt(squares, out=squares)
            squares *= scale
            squares /= float(self.sigma)
            np.square(squares, out=squares)
        else:
            squares /= float(self.sigma)
            squares /= float(self.sigma)
        squares *= -0.5
        return _two_minus_two_exp(squares)


@dataclass(frozen=True)
class PairFunction(Semimetric):
    """Any function of two points.

    Parameters
    ----------
    function : callable
        Takes two rows as arrays of d floats and returns a number >= 0, the same one for (x, y) and
        (y, x), and 0 for (x, x). Whether it is of negative type is for the caller to know, or to
        test with :func:`is_negative_type`.

    Raises
    ------
    InputError
        If ``function`` cannot be called; when used, if a value is not a finite number >= 0, or if
        the pairs and points that are tried show that it is not symmetric or not 0 for (x, x).

    Notes
    -----
    For the matrix of n points it is called once per pair, n (n - 1) / 2 times, and a few times
    more to try whether it is symmetric. Clustering that does not keep the matrix, for want of
    ``gram_memory``, calls it again whenever a pair is needed again; so does an energy statistic
    for each of the means it is made of.

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
        points = as_points(X, name="X")
        if Y is None:
            return values_within(self.function, points, RowNames(np.arange(len(points))))
        others = as_points(Y, name="Y")
        check_columns(points, others)
        names = RowNames(np.arange(len(points)))
        other_names = RowNames(np.arange(len(others)), "row {} of Y")
        return values_across(self.function, points, others, names, other_names)


def _two_minus_two_exp(exponents: Floats) -> Floats:
    # 2 - 2 exp(t) would round small distances off at 1e-16.
    np.expm1(exponents, out=exponents)
    exponents *= -2.0
    return exponents


def check_columns(X: Floats, Y: Floats | None) -> None:
    """Raise if the points of X and those of Y have not as many coordinates."""
    if Y is not None and X.shape[1] != Y.shape[1]:
        msg = (
            "X and Y must have the same number of columns, "
            f"got {X.shape[1]} in X and {Y.shape[1]} in Y.\n"
            "  A single point of d coordinates is an array of shape (1, d)."
        )
        raise InputError(msg)


def _largest(X: Floats, Y: Floats | None) -> float:
    tables = [X] if Y is None else [X, Y]
    return max(float(np.abs(table).max()) for table in tables)
