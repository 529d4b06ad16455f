"""Kernels of semimetrics, and the checks that a given matrix is a semimetric or a kernel."""

import operator
from typing import Any, Literal, TypeAlias

import numpy as np

from kgroups._doors import check_choice
from kgroups._types import Floats
from kgroups.energy.arguments import SemimetricLike, as_semimetric
from kgroups.energy.matrices import (
    add_sums,
    as_square,
    check_symmetric,
    double_centred,
    extreme_eigenvalues,
    first_place,
    largest_entry,
)
from kgroups.energy.measuring import rho_between, rho_within
from kgroups.energy.points import RowNames, as_numbers, as_points, is_finite_number
from kgroups.energy.semimetrics import Power
from kgroups.errors import InputError

__all__ = [
    "check_distances",
    "check_gram",
    "check_not_negative",
    "distances_from_gram",
    "gram_from_distances",
    "is_negative_type",
    "kernel_matrix",
    "rounding_of",
]

DistanceCheck: TypeAlias = Literal["symmetric", "negative-type"]
GramCheck: TypeAlias = Literal["symmetric", "semidefinite"]

# Of the largest entry, or of the largest eigenvalue: what passes for rounding.
_TOLERANCE = 1e-8
_HINT = (
    '  If the matrix holds similarities, pass it as a Gram matrix (metric="gram"). If it comes '
    "from products in single precision, pass numpy.maximum(D, 0) with a diagonal of zeros."
)


def kernel_matrix(X: Any, *, metric: SemimetricLike = Power(), base_point: Any = None) -> Floats:
    r"""Return the Gram matrix of the kernel that a semimetric induces.

    .. math:: \kappa(x, y) = \tfrac12 \left[ \rho(x, x_0) + \rho(y, x_0) - \rho(x, y) \right]

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        Points; n numbers are n points of one coordinate.
    metric : Semimetric, str or callable
        The semimetric, its name as for :func:`as_semimetric`, or a function of two points.
    base_point : array-like of shape (d,), optional
        The point :math:`x_0`; the origin if not given. Kernels of different base points give the
        same distances, and so the same clusters.

    Returns
    -------
    ndarray of shape (n, n)
        Exactly symmetric; positive semidefinite up to rounding if and only if the semimetric is of
        negative type on these points and the base point.

    Raises
    ------
    InputError
        If the points or the base point are not finite numbers that fit together.

    Notes
    -----
    Equation *kernel_semimetric* of [1]_.

    References
    ----------
    .. [1] G. Franca, M. L. Rizzo, J. T. Vogelstein, "Kernel k-Groups via Hartigan's Method",
       IEEE TPAMI 43(12), 2021. :doi:`10.1109/TPAMI.2020.2998120`

    Examples
    --------
    >>> kernel_matrix([1.0, 2.0, -1.0])
    array([[1., 1., 0.],
           [1., 2., 0.],
           [0., 0., 1.]])
    """
    points = as_points(X)
    rho = as_semimetric(metric).scaled_to(points)
    origin = _as_base_point(base_point, points.shape[1])
    names, base_name = RowNames(np.arange(len(points))), RowNames(np.arange(1), "the base point")
    G = rho_within(rho, points, names)
    half = 0.5 * rho_between(rho, points, origin, names, base_name)[:, 0]
    G *= -0.5
    add_sums(G, half)
    return G


def gram_from_distances(D: Any, *, base: int | None = None) -> Floats:
    r"""Return the Gram matrix of points of which only the semimetric is given.

    Parameters
    ----------
    D : array-like of shape (n, n)
        :math:`\rho` between all pairs: symmetric, 0 on the diagonal.
    base : int, optional
        Which point is the base point :math:`x_0`. If not given it is the mean of all
        points in feature space: the double centring :math:`-\tfrac12 J D J` with
        :math:`J = I - \tfrac1n e e^\top`.

    Returns
    -------
    ndarray of shape (n, n)
        Positive semidefinite up to rounding if and only if D is of negative type.

    Raises
    ------
    InputError
        If D is not a matrix of distances, or ``base`` not one of its points.

    Examples
    --------
    >>> gram_from_distances([[0, 4], [4, 0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> gram_from_distances([[0, 4], [4, 0]], base=0)
    array([[0., 0.],
           [0., 4.]])
    """
    distances = check_distances(D)
    if base is None:
        return double_centred(distances)
    half = 0.5 * distances[_as_index(base, distances.shape[0])]
    G: Floats = -0.5 * distances
    add_sums(G, half)
    return G


def distances_from_gram(G: Any) -> Floats:
    r"""Return the semimetric that a kernel generates.

    .. math:: \rho(x, y) = \kappa(x, x) + \kappa(y, y) - 2 \kappa(x, y)

    Parameters
    ----------
    G : array-like of shape (n, n)
        :math:`\kappa` between all pairs: symmetric.

    Returns
    -------
    ndarray of shape (n, n)
        Exactly 0 on the diagonal; values below 0 by rounding only are 0.

    Raises
    ------
    InputError
        If G is not a symmetric matrix, or gives a distance below 0.

    Examples
    --------
    >>> distances_from_gram([[0, 0], [0, 4]])
    array([[0., 4.],
           [4., 0.]])
    """
    gram = check_gram(G)
    diagonal = gram.diagonal().copy()
    rho: Floats = -2.0 * gram
    add_sums(rho, diagonal)
    slack = rounding_of(gram)
    if rho.min() < -slack:
        i, j = first_place(rho < -slack)
        msg = (
            "a Gram matrix must give distances G[i, i] + G[j, j] - 2 G[i, j] >= 0, "
            f"got {rho[i, j]} for points {i} and {j}.\n"
            "  A positive semidefinite matrix does; check that G holds similarities, not distances."
        )
        raise InputError(msg)
    return np.maximum(rho, 0.0, out=rho)


def check_distances(D: Any, *, check: DistanceCheck = "symmetric") -> Floats:
    """Return a matrix of distances as floats, or raise.

    Parameters
    ----------
    D : array-like of shape (n, n)
    check : {"symmetric", "negative-type"}
        ``"symmetric"``: finite, symmetric, no entry below 0, all of the diagonal 0, up to 1e-8 of
        the largest entry. ``"negative-type"``: also of negative type, see
        :func:`is_negative_type`; this takes all eigenvalues, O(n^3).

    Returns
    -------
    ndarray of shape (n, n)
        The array itself if it is one of floats already.

    Raises
    ------
    InputError
        If it is no such matrix; the message names the first pair at fault.

    Examples
    --------
    >>> check_distances([[0, 1], [1, 0]])
    array([[0., 1.],
           [1., 0.]])
    """
    check_choice("check", check, ("symmetric", "negative-type"))
    distances = as_square(D, "a matrix of distances")
    slack = rounding_of(distances)
    check_symmetric(distances, slack, "a matrix of distances")
    check_not_negative(distances, slack)
    nonzero = np.flatnonzero(distances.diagonal() > slack)
    if nonzero.size:
        i = int(nonzero[0])
        msg = (
            "the distance of a point to itself must be 0, "
            f"got {distances[i, i]} for point {i}.\n{_HINT}"
        )
        raise InputError(msg)
    if check == "negative-type":
        lowest, highest = extreme_eigenvalues(double_centred(distances))
        if lowest < -_TOLERANCE * highest:
            msg = (
                "distances must be of negative type, that is -J D J / 2 must be positive "
                f"semidefinite, got a lowest eigenvalue of {lowest:.6g} beside a largest of "
                f"{highest:.6g}.\n  Take a smaller power of them, for instance D ** 0.5, "
                "or go without this check, and without its guarantees."
            )
            raise InputError(msg)
    return distances


def check_not_negative(distances: Floats, slack: float, what: str = "distances") -> None:
    """Raise if an entry is below ``-slack``; the message names its row and column."""
    if distances.min() < -slack:
        i, j = first_place(distances < -slack)
        msg = f"{what} must be >= 0, got {distances[i, j]} in row {i}, column {j}.\n{_HINT}"
        raise InputError(msg)


def rounding_of(matrix: Floats) -> float:
    """Return up to how much an entry may be off for rounding: 1e-8 of the largest."""
    return _TOLERANCE * largest_entry(matrix)


def check_gram(G: Any, *, check: GramCheck = "symmetric") -> Floats:
    """Return a Gram matrix as floats, or raise.

    Parameters
    ----------
    G : array-like of shape (n, n)
    check : {"symmetric", "semidefinite"}
        ``"symmetric"``: finite, and symmetric up to 1e-8 of the largest entry.
        ``"semidefinite"``: also without eigenvalues below -1e-8 of the largest, O(n^3).

    Returns
    -------
    ndarray of shape (n, n)
        The array itself if it is one of floats already.

    Raises
    ------
    InputError
        If it is no such matrix; the message names the first pair at fault.

    Examples
    --------
    >>> check_gram([[2, 1], [1, 2]], check="semidefinite")
    array([[2., 1.],
           [1., 2.]])
    """
    check_choice("check", check, ("symmetric", "semidefinite"))
    gram = as_square(G, "a Gram matrix")
    check_symmetric(gram, rounding_of(gram), "a Gram matrix")
    if check == "semidefinite":
        lowest, highest = extreme_eigenvalues(gram)
        if lowest < -_TOLERANCE * highest:
            msg = (
                "a Gram matrix must be positive semidefinite, got a lowest eigenvalue of "
                f"{lowest:.6g} beside a largest of {highest:.6g}.\n"
                "  Add a multiple of the identity, or go without this check, and without its "
                "guarantees."
            )
            raise InputError(msg)
    return gram


def is_negative_type(D: Any, *, tolerance: float = _TOLERANCE) -> bool:
    r"""Whether a matrix of distances is of negative type.

    That is :math:`\sum_{ij} c_i c_j D_{ij} \le 0` for all c with sum 0, or that
    :math:`-\tfrac12 J D J` has no negative eigenvalue.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Symmetric, 0 on the diagonal.
    tolerance : float
        An eigenvalue counts as negative below minus this share of the largest.

    Returns
    -------
    bool

    Raises
    ------
    InputError
        If D is not a matrix of distances, or the tolerance not a number >= 0.

    Notes
    -----
    Equation *negative_type* of [1]_. All eigenvalues are computed: :math:`O(n^3)`.

    References
    ----------
    .. [1] G. Franca, M. L. Rizzo, J. T. Vogelstein, "Kernel k-Groups via Hartigan's Method",
       IEEE TPAMI 43(12), 2021. :doi:`10.1109/TPAMI.2020.2998120`

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.abs(np.subtract.outer([0, 1, 2], [0, 1, 2]))
    >>> is_negative_type(gaps), is_negative_type(gaps**3)
    (True, False)
    """
    if not (is_finite_number(tolerance) and tolerance >= 0):
        msg = (
            f"tolerance must be a finite number >= 0, got {tolerance!r}.\n"
            "  Pass for instance tolerance=1e-8, or 0 to leave nothing to rounding."
        )
        raise InputError(msg)
    lowest, highest = extreme_eigenvalues(double_centred(check_distances(D)))
    return lowest >= -tolerance * highest


def _as_base_point(base_point: Any, columns: int) -> Floats:
    if base_point is None:
        return np.zeros((1, columns))
    coordinates = as_numbers(base_point, "base_point")
    if coordinates.size != columns or coordinates.ndim > 1:
        msg = (
            "base_point must have one coordinate per column of X, "
            f"got shape {coordinates.shape} for {columns} columns.\n"
            "  Pass one row, for instance base_point=X[0], or None for the origin."
        )
        raise InputError(msg)
    return as_points(coordinates.reshape(1, columns), name="base_point")


def _as_index(base: Any, n: int) -> int:
    try:
        if isinstance(base, bool | np.bool_):
            raise TypeError
        index = operator.index(base)
    except TypeError:
        index = -1
    if not 0 <= index < n:
        msg = (
            f"base must be the number of a point, from 0 to {n - 1}, got {base!r}.\n"
            "  Pass None for the mean of all points."
        )
        raise InputError(msg)
    return index
