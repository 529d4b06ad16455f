"""Energy statistics: how far samples are from one another, with weights."""

import math
from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from kgroups._types import Floats, Ints
from kgroups.adapters.labels import read_labelling
from kgroups.energy.arguments import MetricLike, SemimetricLike, as_semimetric, is_matrix
from kgroups.energy.measuring import rho_between
from kgroups.energy.points import RowNames, as_points
from kgroups.energy.semimetrics import Power, Semimetric, check_columns
from kgroups.energy.strips import Pairs, pairs_of, strips
from kgroups.energy.weights import as_weights
from kgroups.errors import InputError, PartitionError

__all__ = [
    "between_energy",
    "energy_distance",
    "maximum_mean_discrepancy",
    "mean_semimetric",
    "row_labels",
    "within_energy",
]

# Numbers in one block of the semimetric between two samples.
_BLOCK = 1 << 22
# A sum of this many parts in one of the terms it is the difference of is rounding.
_ROUNDING = 1e-10
_ROW_OF_Y = "row {} of Y"


def mean_semimetric(
    X: npt.ArrayLike,
    Y: npt.ArrayLike | None = None,
    *,
    metric: SemimetricLike = Power(),
    x_weights: npt.ArrayLike | None = None,
    y_weights: npt.ArrayLike | None = None,
) -> float:
    r"""Return the weighted mean g of the semimetric between two samples.

    .. math:: g(X, Y) = \frac{1}{s_X s_Y} \sum_{x \in X} \sum_{y \in Y} w(x) w(y) \rho(x, y)

    Parameters
    ----------
    X, Y : array_like of shape (n, D) and (m, D)
        The samples, a point in each row. Without Y the mean is over all pairs of X, each point
        paired with itself as well.
    metric : Semimetric, str or callable
        The semimetric :math:`\rho`, or its name as for :func:`as_semimetric`.
    x_weights, y_weights : array_like of shape (n,) and (m,), optional
        Finite weights >= 0, 1 by default.

    Returns
    -------
    float
        Equation *g_def2*.

    Notes
    -----
    No matrix of all pairs is kept: memory is O(n + m).

    Examples
    --------
    >>> mean_semimetric([[0.0], [1.0]], [[3.0]])
    2.5
    >>> mean_semimetric([[0.0], [1.0]])
    0.5
    """
    rho = as_semimetric(metric)
    x = as_points(X)
    w = as_weights(x_weights, len(x), name="x_weights")
    if Y is None:
        if y_weights is not None:
            msg = "y_weights must be left out when there is no Y: x_weights weigh both."
            raise InputError(msg)
        return _mean_within(pairs_of(x, rho.scaled_to(x[w > 0.0])), w)
    y = as_points(Y, name="Y")
    v = as_weights(y_weights, len(y), name="y_weights")
    return _mean_between(x, w, y, v, _scaled_to_both(rho, x, w, y, v))


def energy_distance(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    *,
    metric: SemimetricLike = Power(),
    x_weights: npt.ArrayLike | None = None,
    y_weights: npt.ArrayLike | None = None,
) -> float:
    r"""Return the generalised energy distance between two samples.

    .. math:: \mathcal{E}(X, Y) = 2 g(X, Y) - g(X, X) - g(Y, Y)

    Parameters
    ----------
    X, Y : array_like of shape (n, D) and (m, D)
        The samples, a point in each row.
    metric : Semimetric, str or callable
        The semimetric :math:`\rho`, or its name as for :func:`as_semimetric`.
    x_weights, y_weights : array_like of shape (n,) and (m,), optional
        Finite weights >= 0, 1 by default.

    Returns
    -------
    float
        Equation *energy3* for the two samples as distributions: means over all pairs, a point
        with itself included. Not negative but for rounding where the semimetric is of negative
        type. With ``Power(2)`` it sees the means of the samples only.

    See Also
    --------
    between_energy : The same for more samples, and for matrices of distances.
    equal_distribution_test : Whether the distance is larger than chance makes it.

    Notes
    -----
    On a line with the default semimetric, ``scipy.stats.energy_distance`` is the square root.

    Examples
    --------
    >>> energy_distance([[0.0], [1.0]], [[3.0]])
    4.5
    """
    return _energy(X, Y, metric, x_weights, y_weights)[0]


def maximum_mean_discrepancy(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    *,
    metric: SemimetricLike = Power(),
    x_weights: npt.ArrayLike | None = None,
    y_weights: npt.ArrayLike | None = None,
) -> float:
    r"""Return the distance between the means of two samples in feature space.

    .. math:: \gamma(X, Y)^2 = \mathrm{E}\,\kappa(x, x') + \mathrm{E}\,\kappa(y, y')
        - 2\,\mathrm{E}\,\kappa(x, y) = \tfrac{1}{2} \mathcal{E}(X, Y)

    Parameters
    ----------
    X, Y : array_like of shape (n, D) and (m, D)
        The samples, a point in each row.
    metric : Semimetric, str or callable
        The semimetric :math:`\rho` that the kernel :math:`\kappa` generates. All such kernels,
        whatever their base point, have one discrepancy.
    x_weights, y_weights : array_like of shape (n,) and (m,), optional
        Finite weights >= 0, 1 by default.

    Returns
    -------
    float
        The discrepancy itself, not its square; equation *mmd2*.

    Raises
    ------
    InputError
        If the energy distance is negative, so that the semimetric is not of negative type and
        there is no feature space.

    Examples
    --------
    >>> maximum_mean_discrepancy([[0.0], [1.0]], [[3.0]])
    1.5
    """
    energy, scale = _energy(X, Y, metric, x_weights, y_weights)
    if energy < -_ROUNDING * scale:
        msg = (
            "a maximum mean discrepancy needs a semimetric of negative type, but the energy "
            f"distance of these samples is {energy:g} by {metric!r}.\n"
            "  Use a semimetric of negative type, such as Power(1.0)."
        )
        raise InputError(msg)
    return math.sqrt(max(0.0, energy) / 2.0)


def within_energy(
    X: npt.ArrayLike,
    labels: Any,
    *,
    metric: MetricLike = Power(),
    weights: npt.ArrayLike | None = None,
) -> float:
    r"""Return the within-energy W of a clustering; smaller is better.

    .. math:: W = \sum_a \frac{s_a}{2}\, g(C_a, C_a), \quad s_a = \sum_{x \in C_a} w(x)

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n)
        A point in each row, or the matrix that ``metric`` says.
    labels : array_like of shape (n,)
        The cluster of each row: numbers or strings.
    metric : Semimetric, str or callable
        The semimetric or its name, as for :func:`as_semimetric`; or what X holds already:
        ``"precomputed"`` for the semimetric between all points, ``"gram"`` for a kernel.
    weights : array_like of shape (n,), optional
        Finite weights >= 0, 1 by default. A cluster without weight adds nothing.

    Returns
    -------
    float
        Equation *within2*.

    See Also
    --------
    between_energy : What W lacks to the energy of all points in one cluster.

    Notes
    -----
    Of vectors, no matrix of all pairs is kept: memory is O(n).

    Examples
    --------
    >>> within_energy([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    0.5
    """
    pairs, w = _weighted_pairs(X, metric, weights)
    return _within(pairs, row_labels(labels, pairs.n), w)


def between_energy(
    X: npt.ArrayLike,
    labels: Any,
    *,
    metric: MetricLike = Power(),
    weights: npt.ArrayLike | None = None,
) -> float:
    r"""Return the between-sample energy statistic S; larger is better.

    .. math:: S = \sum_{a < b} \frac{s_a s_b}{2 s}
        \left[ 2 g(C_a, C_b) - g(C_a, C_a) - g(C_b, C_b) \right]

    Parameters
    ----------
    X : array_like of shape (n, D) or (n, n)
        A point in each row, or the matrix that ``metric`` says.
    labels : array_like of shape (n,)
        The sample of each row: numbers or strings.
    metric : Semimetric, str or callable
        The semimetric or its name, as for :func:`as_semimetric`; or what X holds already:
        ``"precomputed"`` for the semimetric between all points, ``"gram"`` for a kernel.
    weights : array_like of shape (n,), optional
        Finite weights >= 0, 1 by default. A sample without weight adds nothing.

    Returns
    -------
    float
        Equation *between2*. Of two samples, :math:`s_a s_b / 2s` times their energy distance.

    See Also
    --------
    within_energy : The other side: :math:`S + W = \tfrac{s}{2} g(X, X)` for all labels.

    Notes
    -----
    Of vectors, no matrix of all pairs is kept: memory is O(n).

    Examples
    --------
    >>> between_energy([[0.0], [1.0], [3.0]], ["a", "a", "b"])
    1.5
    """
    pairs, w = _weighted_pairs(X, metric, weights)
    z = row_labels(labels, pairs.n)
    # Gathered by sample this is the sum over pairs of samples, by the lemma of S + W.
    return 0.5 * float(w.sum()) * _mean_within(pairs, w) - _within(pairs, z, w)


def row_labels(labels: Any, n: int) -> Ints:
    """Return the group of each of ``n`` rows, numbered from 0 without gaps, or raise."""
    try:
        found = read_labelling(labels)
    except PartitionError:
        msg = (
            f"labels must be one number or string for each of the {n} rows of X, "
            f"got {_no_label(labels)}.\n  Pass a list or an array of them, and leave "
            "out rows without a label."
        )
        raise InputError(msg) from None
    if found.nodes is not None and not found.has_node_order:
        msg = (
            "labels must be one label per row of X, got groups or a mapping.\n"
            "  Pass a list or an array of numbers or strings."
        )
        raise InputError(msg)
    if found.codes.size != n:
        msg = f"labels must be one label for each of the {n} rows of X, got {found.codes.size}."
        raise InputError(msg)
    return found.codes


def _no_label(labels: Any) -> str:
    """Return what stands in for a label: the first element that is none, or all there is."""
    if isinstance(labels, Iterable) and not isinstance(labels, str | bytes):
        for i, label in enumerate(labels):
            if not isinstance(label, str | bytes | Number | np.generic) or label != label:
                return f"{label} for row {i}"
    return repr(labels)


def _energy(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    metric: SemimetricLike,
    x_weights: npt.ArrayLike | None,
    y_weights: npt.ArrayLike | None,
) -> tuple[float, float]:
    """Return the energy distance, and the size of the terms it is the difference of."""
    rho, x, y = as_semimetric(metric), as_points(X), as_points(Y, name="Y")
    w, v = (
        as_weights(x_weights, len(x), name="x_weights"),
        as_weights(y_weights, len(y), name="y_weights"),
    )
    rho = _scaled_to_both(rho, x, w, y, v)
    across = 2.0 * _mean_between(x, w, y, v, rho)
    within_y = _mean_within(pairs_of(y, rho, pattern=_ROW_OF_Y), v)
    inside = _mean_within(pairs_of(x, rho), w) + within_y
    return across - inside, abs(across) + abs(inside)


def _weighted_pairs(
    X: npt.ArrayLike, metric: MetricLike, weights: npt.ArrayLike | None
) -> tuple[Pairs, Floats]:
    """Return the pairs of all points and their weights; those of weight 0 set no scale."""
    if is_matrix(metric):
        pairs = pairs_of(X, metric)
        return pairs, as_weights(weights, pairs.n, name="weights")
    points = as_points(X)
    w = as_weights(weights, len(points), name="weights")
    return pairs_of(points, as_semimetric(metric).scaled_to(points[w > 0.0])), w


def _scaled_to_both(rho: Semimetric, x: Floats, w: Floats, y: Floats, v: Floats) -> Semimetric:
    """Return a semimetric whose scale, if it asks for one, is that of both samples together."""
    check_columns(x, y)
    return rho.scaled_to(np.concatenate([x[w > 0.0], y[v > 0.0]]))


def _mean_between(x: Floats, w: Floats, y: Floats, v: Floats, rho: Semimetric) -> float:
    p, q = w / w.sum(), v / v.sum()
    names, others = RowNames(np.arange(len(x))), RowNames(np.arange(len(y)), _ROW_OF_Y)
    height = max(1, _BLOCK // len(y))
    total = 0.0
    for start in range(0, len(x), height):
        rows = slice(start, start + height)
        total += float(p[rows] @ (rho_between(rho, x[rows], y, names[rows], others) @ q))
    return total


def _mean_within(pairs: Pairs, w: Floats) -> float:
    p = w / w.sum()
    total = 0.0
    for rows, inner, later, outer in strips(pairs):
        total += float(p[rows] @ (inner @ p[rows])) + 2.0 * float(p[rows] @ (outer @ p[later]))
    return total


def _within(pairs: Pairs, z: Ints, w: Floats) -> float:
    order = np.argsort(z, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(z))[:-1])
    return sum(
        0.5 * float(w[rows].sum()) * _mean_within(pairs.subset(rows), w[rows])
        for rows in members
        if w[rows].any()
    )
