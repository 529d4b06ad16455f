"""Energy statistics: how far samples are from one another, with weights."""

from collections.abc import Iterable
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kgroups._types import Floats, Ints
from kgroups.adapters import read_labeling
from kgroups.energy.fitting import TILE_SIDE, VectorRows
from kgroups.energy.kernels import check_distances, check_gram, generated_distances
from kgroups.energy.points import Points, as_points, as_weights, check_columns, row_blocks
from kgroups.energy.semimetrics import (
    MetricLike,
    Power,
    Semimetric,
    SemimetricLike,
    as_semimetric,
    is_matrix,
    pairwise,
)
from kgroups.errors import InputError, PartitionError

# Entries of the semimetric computed at a time: 32 MB, and a few times that for temporary arrays.
_BLOCK_ENTRIES = 1 << 22


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
    if Y is not None:
        return mean_between(*_two_samples(X, Y, metric, x_weights, y_weights))
    if y_weights is not None:
        msg = "y_weights must be omitted without Y: x_weights apply to both points of a pair."
        raise InputError(msg)
    return mean_within(*weighted(X, as_semimetric(metric), x_weights, "x_weights"))


def energy_distance(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    *,
    metric: SemimetricLike = Power(),
    x_weights: npt.ArrayLike | None = None,
    y_weights: npt.ArrayLike | None = None,
) -> float:
    r"""Return the generalized energy distance between two samples.

    .. math:: \mathcal{E}(X, Y) = 2 g(X, Y) - g(X, X) - g(Y, Y)

    Parameters
    ----------
    X, Y, metric, x_weights, y_weights
        As for :func:`mean_semimetric`, with both samples given.

    Returns
    -------
    float
        Equation *energy3* for the two samples as distributions: means over all pairs, a point
        with itself included. Not negative, up to rounding, if the semimetric is of negative
        type. With ``Power(2)`` it depends on the means of the samples only.

    See Also
    --------
    between_energy : The same for more samples, and for matrices of distances.

    Notes
    -----
    On a line with the default semimetric, ``scipy.stats.energy_distance`` is the square root.
    Half the energy distance is the squared maximum mean discrepancy of the kernel that the
    semimetric generates (*mmd2* of the theory page).

    Examples
    --------
    >>> energy_distance([[0.0], [1.0]], [[3.0]])
    4.5
    """
    x, w, y, v = _two_samples(X, Y, metric, x_weights, y_weights)
    return 2.0 * mean_between(x, w, y, v) - (mean_within(x, w) + mean_within(y, v))


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
        A point in each row, or a matrix as ``metric`` says.
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
    between_energy : The energy of all points in one cluster, minus W.

    Notes
    -----
    Of vectors, no matrix of all pairs is kept: memory is O(n).

    Examples
    --------
    >>> within_energy([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    0.5
    """
    given, w = weighted(X, metric, weights)
    return sum_within(given, row_labels(labels, len(w)), w)


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
    X, labels, metric, weights
        As for :func:`within_energy`, with a sample for each cluster.

    Returns
    -------
    float
        Equation *between2*. Of two samples, :math:`s_a s_b / 2s` times their energy distance.

    See Also
    --------
    within_energy : The complement: :math:`S + W = \tfrac{s}{2} g(X, X)` for all labels.

    Notes
    -----
    Of vectors, no matrix of all pairs is kept: memory is O(n).

    Examples
    --------
    >>> round(between_energy([[0.0], [1.0], [3.0]], ["a", "a", "b"]), 12)
    1.5
    """
    given, w = weighted(X, metric, weights)
    z = row_labels(labels, len(w))
    # S + W is the energy of all points in one cluster.
    return 0.5 * float(w.sum()) * mean_within(given, w) - sum_within(given, z, w)


def row_labels(labels: Any, n: int) -> Ints:
    """Return the group of each of ``n`` rows, numbered from 0 without gaps, or raise."""
    try:
        found = read_labeling(labels)
    except PartitionError:
        got = _first_invalid(labels)
    else:
        if found.nodes is not None and not found.has_node_order:
            got = "groups or a mapping"
        elif found.codes.size != n:
            got = f"{found.codes.size} labels"
        else:
            return found.codes
    msg = (
        f"labels must be one number or string for each of the {n} rows of X, got {got}.\n"
        "  Pass a list or an array of them, and leave out rows without a label."
    )
    raise InputError(msg)


def _first_invalid(labels: Any) -> str:
    """Return the first element that is not a label, or all of them, for an error message."""
    if isinstance(labels, Iterable) and not isinstance(labels, str | bytes):
        for i, label in enumerate(labels):
            if not isinstance(label, str | bytes | Number | np.generic) or label != label:
                return f"{label} for row {i}"
    return repr(labels)


class Vectors(NamedTuple):
    """Points, and the semimetric between them, which is computed when needed and not kept."""

    points: Points
    metric: Semimetric


def mean_within(given: Vectors | Floats, w: Floats, *, tile_side: int = TILE_SIDE) -> float:
    """Return the weighted mean of the semimetric, or of its matrix, over all pairs of points."""
    p = w / w.sum()
    if not isinstance(given, Vectors):
        return float(p @ (given @ p))
    rows = VectorRows(given.points, p, given.metric, tile_side=tile_side)
    return 0.0 - 2.0 * sum(float(tile.sum()) for _, _, tile in rows.tiles())


def mean_between(
    X: Vectors, w: Floats, Y: Vectors, v: Floats, *, entries: int = _BLOCK_ENTRIES
) -> float:
    """Return the weighted mean of the semimetric between two samples, ``entries`` at a time."""
    p, q = w / w.sum(), v / v.sum()
    return sum(
        float(p[rows] @ (pairwise(X.metric, X.points[rows], Y.points) @ q))
        for rows in row_blocks(len(X.points), len(Y.points), entries)
    )


def sum_within(given: Vectors | Floats, z: Ints, w: Floats) -> float:
    """Return the within-energy W of labels in ``range(k)``; groups without weight add nothing."""
    total = 0.0
    for members in np.split(np.argsort(z, kind="stable"), np.cumsum(np.bincount(z))[:-1]):
        v = w[members]
        if v.any():
            if isinstance(given, Vectors):
                group: Vectors | Floats = given._replace(points=given.points[members])
            else:
                group = given[np.ix_(members, members)]
            total += 0.5 * float(v.sum()) * mean_within(group, v)
    return total


def weighted(
    X: npt.ArrayLike, metric: MetricLike, weights: npt.ArrayLike | None, name: str = "weights"
) -> tuple[Vectors | Floats, Floats]:
    """Return vectors or a matrix of distances, and weights; rows of weight 0 set no scale."""
    if is_matrix(metric):
        D = check_distances(X) if metric == "precomputed" else generated_distances(check_gram(X))
        return D, as_weights(weights, len(D), name=name)
    points = as_points(X)
    w = as_weights(weights, len(points), name=name)
    rho = as_semimetric(metric).scaled_to(points[w > 0.0])
    return Vectors(Points.numbered(points), rho), w


def _two_samples(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    metric: SemimetricLike,
    x_weights: npt.ArrayLike | None,
    y_weights: npt.ArrayLike | None,
) -> tuple[Vectors, Floats, Vectors, Floats]:
    """Return two samples, each with its weights; the semimetric is scaled to both together."""
    rho, x, y = as_semimetric(metric), as_points(X), as_points(Y, name="Y")
    w = as_weights(x_weights, len(x), name="x_weights")
    v = as_weights(y_weights, len(y), name="y_weights")
    check_columns(x, y)
    rho = rho.scaled_to(np.concatenate([x[w > 0.0], y[v > 0.0]]))
    named = Points.numbered(y, "row {} of Y")
    return Vectors(Points.numbered(x), rho), w, Vectors(named, rho), v
