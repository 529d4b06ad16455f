"""Kernels of semimetrics, and validation of matrices of distances and of Gram matrices."""

from typing import Any

import numpy as np

from kgroups._blas import single_threaded
from kgroups._types import Bools, Floats
from kgroups._validation import check_integer, check_real
from kgroups.energy.points import (
    BLOCK_ENTRIES,
    Points,
    as_numbers,
    as_points,
    check_finite,
    row_blocks,
)
from kgroups.energy.semimetrics import Power, SemimetricLike, as_semimetric, pairwise
from kgroups.errors import InputError

# Errors up to this fraction of the largest entry, or of the largest eigenvalue, are rounding.
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

    Notes
    -----
    Equation *kernel_semimetric* of :doi:`10.1109/TPAMI.2020.2998120`.

    Examples
    --------
    >>> kernel_matrix([1.0, 2.0, -1.0])
    array([[1., 1., 0.],
           [1., 2., 0.],
           [0., 0., 1.]])
    """
    points = as_points(X)
    rho = as_semimetric(metric).scaled_to(points)
    columns = points.shape[1]
    origin = as_numbers(np.zeros(columns) if base_point is None else base_point, "base_point")
    if origin.size != columns or origin.ndim > 1:
        msg = (
            "base_point must have one coordinate per column of X, "
            f"got shape {origin.shape} for {columns} columns.\n"
            "  Pass one row, for instance base_point=X[0], or None for the origin."
        )
        raise InputError(msg)
    origin = as_points(origin.reshape(1, columns), name="base_point")
    named = Points.numbered(points)
    G = pairwise(rho, named)
    half = 0.5 * pairwise(rho, named, Points.numbered(origin, "the base point"))[:, 0]
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
        points in feature space: the double centering :math:`-\tfrac12 J D J` with
        :math:`J = I - \tfrac1n e e^\top`.

    Returns
    -------
    ndarray of shape (n, n)
        Positive semidefinite up to rounding if and only if D is of negative type.

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
        return _double_centered(distances)
    if check_integer("base", base, low=0) >= len(distances):
        msg = (
            f"base must be the number of a point, from 0 to {len(distances) - 1}, got {base!r}.\n"
            "  Pass None for the mean of all points."
        )
        raise InputError(msg)
    half = 0.5 * distances[base]
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
    rho = generated_distances(gram)
    slack = rounding_of(gram)
    if rho.min() < -slack:
        i, j = _first_true(rho < -slack)
        msg = (
            "a Gram matrix must give distances G[i, i] + G[j, j] - 2 G[i, j] >= 0, "
            f"got {rho[i, j]} for points {i} and {j}.\n"
            "  A positive semidefinite matrix does; check that G holds similarities, not distances."
        )
        raise InputError(msg)
    return np.maximum(rho, 0.0, out=rho)


def generated_distances(gram: Floats) -> Floats:
    """Return the semimetric that a symmetric matrix generates; some of it may be negative."""
    rho: Floats = -2.0 * gram
    add_sums(rho, gram.diagonal())
    return rho


def check_distances(D: Any) -> Floats:
    """Return a matrix of distances as floats, or raise.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Finite, symmetric, no entry below 0, all of the diagonal 0, up to 1e-8 of the largest
        entry. Whether it is of negative type is not checked: see :func:`is_negative_type`.

    Returns
    -------
    ndarray of shape (n, n)
        The array itself if it is one of floats already.

    Raises
    ------
    InputError
        If it is no such matrix; the message names the first pair that is wrong.

    Examples
    --------
    >>> check_distances([[0, 1], [1, 0]])
    array([[0., 1.],
           [1., 0.]])
    """
    distances = _as_square(D, "a matrix of distances")
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
    return distances


def check_not_negative(distances: Floats, slack: float, what: str = "distances") -> None:
    """Raise if an entry is below ``-slack``; the message names its row and column."""
    if distances.min() < -slack:
        i, j = _first_true(distances < -slack)
        msg = f"{what} must be >= 0, got {distances[i, j]} in row {i}, column {j}.\n{_HINT}"
        raise InputError(msg)


def rounding_of(matrix: Floats) -> float:
    """Return the error of an entry that counts as rounding: 1e-8 of the largest."""
    return _TOLERANCE * max(float(matrix.max()), -float(matrix.min()))


def check_gram(G: Any) -> Floats:
    """Return a Gram matrix as floats, or raise.

    Parameters
    ----------
    G : array-like of shape (n, n)
        Finite, and symmetric up to 1e-8 of the largest entry.

    Returns
    -------
    ndarray of shape (n, n)
        The array itself if it is one of floats already.

    Raises
    ------
    InputError
        If it is no such matrix; the message names the first pair that is wrong.

    Examples
    --------
    >>> check_gram([[2, 1], [1, 2]])
    array([[2., 1.],
           [1., 2.]])
    """
    gram = _as_square(G, "a Gram matrix")
    check_symmetric(gram, rounding_of(gram), "a Gram matrix")
    return gram


def is_negative_type(D: Any, *, tolerance: float = _TOLERANCE) -> bool:
    r"""Return whether a matrix of distances is of negative type.

    That is :math:`\sum_{ij} c_i c_j D_{ij} \le 0` for all c with sum 0, or that
    :math:`-\tfrac12 J D J` has no negative eigenvalue.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Symmetric, 0 on the diagonal.
    tolerance : float >= 0
        An eigenvalue counts as negative if it is below minus this fraction of the largest.

    Returns
    -------
    bool

    Notes
    -----
    Equation *negative_type* of :doi:`10.1109/TPAMI.2020.2998120`. All eigenvalues are computed:
    :math:`O(n^3)`.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.abs(np.subtract.outer([0, 1, 2], [0, 1, 2]))
    >>> is_negative_type(gaps), is_negative_type(gaps**3)
    (True, False)
    """
    hint = "  Pass for instance tolerance=1e-8, or 0 to allow for no rounding."
    check_real("tolerance", tolerance, low=0.0, what="finite number", hint=hint)
    gram = _double_centered(check_distances(D))
    with single_threaded(gram.shape[0]):
        eigenvalues = np.linalg.eigvalsh(gram)
    return bool(eigenvalues[0] >= -tolerance * eigenvalues[-1])


def _as_square(matrix: Any, what: str) -> Floats:
    """Return a square matrix of finite floats, or raise; ``what`` is its name in messages."""
    numbers = as_numbers(matrix, what)
    if numbers.ndim != 2 or numbers.shape[0] != numbers.shape[1] or numbers.size == 0:
        msg = (
            f"{what} must be square, with a row and a column per point, "
            f"got shape {numbers.shape}.\n  Pass an n x n array with n at least 1."
        )
        raise InputError(msg)
    check_finite(numbers, what)
    return numbers


def check_symmetric(
    matrix: Floats, slack: float, what: str, *, block_entries: int = BLOCK_ENTRIES
) -> None:
    """Raise if two entries (i, j) and (j, i) differ by more than ``slack``."""
    n = matrix.shape[0]
    for rows in row_blocks(n, n, block_entries):
        lo = rows.start
        # Halves, because the difference of two large floats of opposite sign may overflow.
        gap = np.abs(0.5 * matrix[rows, lo:] - 0.5 * matrix[lo:, rows].T)
        if gap.max() > 0.5 * slack:
            i, j = (index + lo for index in _first_true(gap > 0.5 * slack))
            msg = (
                f"{what} must be symmetric, got {matrix[i, j]} at ({i}, {j}) "
                f"but {matrix[j, i]} at ({j}, {i}).\n"
                "  If it differs by rounding only, pass (M + M.T) / 2."
            )
            raise InputError(msg)


def _first_true(mask: Bools) -> tuple[int, int]:
    """Return the row and column of the first true entry in row order."""
    row, column = divmod(int(np.argmax(mask)), mask.shape[1])
    return row, column


def add_sums(matrix: Floats, terms: Floats, *, block_entries: int = BLOCK_ENTRIES) -> None:
    """Add ``terms[i] + terms[j]`` to every entry; a symmetric matrix stays exactly symmetric."""
    for rows in row_blocks(len(matrix), len(matrix), block_entries):
        matrix[rows] += np.add.outer(terms[rows], terms)


def _double_centered(distances: Floats) -> Floats:
    """Return -J D J / 2."""
    n = distances.shape[0]
    # A weighted product needs no copy, and stays finite where a plain sum overflows.
    half = distances @ np.full(n, 0.5 / n)
    half -= 0.5 * (half @ np.full(n, 1.0 / n))
    G: Floats = -0.5 * distances
    add_sums(G, half)
    return G
