"""Kernel k-groups and kernel k-means of points, distances and Gram matrices."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kgroups._doors import RngLike, as_rng, check_count
from kgroups._progress import counted_progress
from kgroups._types import Floats, Ints
from kgroups.energy.arguments import MetricLike
from kgroups.energy.fitting import Data, MatrixBetween, PointsBetween, as_data
from kgroups.energy.semimetrics import Power, Semimetric
from kgroups.energy.starts import SAME, STARTS, Start, starts_of
from kgroups.energy.threads import in_order
from kgroups.errors import InputError, NumberOfCommunitiesError
from kgroups.hartigan import Outcome, Rule, group_links, improve_dense

__all__ = ["GRAM_MEMORY", "Clustering", "kernel_kgroups", "kernel_kmeans"]

GRAM_MEMORY = 8e8
"""Bytes up to which a matrix of all pairs is kept: 10,000 points."""

# Bytes of sums over groups that several starts may hold at a time.
_LINKS = 4e8
# Entries of a matrix from which on starts run side by side.
_THREADS_PAY = 250_000


@dataclass(frozen=True, eq=False)
class Clustering:
    """Groups of points.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Group of each row in ``range(k)``, the heaviest group first; given starts keep their
        numbers.
    k : int
        Number of groups, none of them empty.
    objective : float
        Group association Q of the kernel with the origin as base point (for a Gram matrix, of
        the matrix itself; for distances and functions, with the mean of the points as base
        point). Larger is better.
    within_energy : float
        Within-energy dispersion W, the sum of w_i kappa(x_i, x_i) minus Q. Smaller is better.
    sweeps, moves : int
        Passes over the points and moves made in the best start.
    converged : bool
        Whether its last pass moved no point.
    objectives : ndarray
        Q at the end of each start; see the notes of :func:`kernel_kgroups` on many points.
    metric : Semimetric or str
        The semimetric, with the number that ``sigma="median"`` became, or ``"precomputed"`` or
        ``"gram"``.
    """

    labels: Ints = field(repr=False)
    k: int
    objective: float
    within_energy: float
    sweeps: int
    moves: int
    converged: bool
    objectives: Floats = field(repr=False)
    metric: Semimetric | str
    _between: PointsBetween | MatrixBetween = field(repr=False)
    _share: Floats = field(repr=False)
    _offset: Floats = field(repr=False)

    def predict(self, X: Any) -> Ints:
        """Return the group of nearest mean in feature space for each new point.

        Parameters
        ----------
        X : array_like of shape (m, columns)
            New points; with distances or a Gram matrix, one row for each new point that holds its
            semimetric or kernel with all rows that were fitted.

        Returns
        -------
        ndarray of shape (m,)
        """
        found = [
            np.argmin(block @ self._share + self._offset, axis=1) for block in self._between(X)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def kernel_kgroups(
    X: Any,
    k: int,
    *,
    metric: MetricLike = Power(),
    sample_weight: Any = None,
    init: Start | Any = "k-means++",
    n_init: int = 10,
    max_sweeps: int = 300,
    rng: RngLike = None,
    gram_memory: float = GRAM_MEMORY,
) -> Clustering:
    r"""Group points so that their distributions differ most, by Hartigan's moves.

    Points move one at a time, while the group association

    .. math:: Q = \sum_a \frac{1}{s_a} \sum_{i, j \in a} w_i w_j \kappa(x_i, x_j)

    rises, which is to say while the within-energy dispersion W falls and the between-sample
    energy statistic S rises (*energy-identity* of the theory page).

    Parameters
    ----------
    X : array_like
        Points of shape (n, columns), or n numbers; with ``metric="precomputed"`` the semimetric
        of all pairs and with ``metric="gram"`` their Gram matrix, of shape (n, n).
    k : int
        Number of groups.
    metric : Semimetric, str or callable
        :class:`Power`, :class:`Exponential`, :class:`Gaussian`, their names as for
        :func:`as_semimetric`, or a function of two points; ``"precomputed"`` or ``"gram"`` for
        matrices.
    sample_weight : array_like of shape (n,), optional
        How much each row counts; 1 by default. Rows of weight 0, or less than 1e-12 of the
        largest, are labelled by :meth:`Clustering.predict`.
    init : {"k-means++", "spectral", "random"} or array_like of n labels
        Centers drawn far apart in feature space, groups of the leading eigenvectors, groups by
        chance, or labels in ``range(k)`` to start from.
    n_init : int
        Number of starts, of which the best is returned; ``"spectral"`` and labels are one start.
    max_sweeps : int
        Passes over the points after which a start ends.
    rng : int, Generator or None
        Draws the starts and the order of visits; ``None`` is a fixed stream.
    gram_memory : float
        Bytes up to which the matrix of all pairs is kept. Beyond, its rows are made when needed.

    Returns
    -------
    Clustering

    Notes
    -----
    Where the matrix is not kept, starts are improved on a sample of 3,000 points, in which far ones
    are drawn more often and weigh less; the three best of them that differ go on, when the other
    points have joined the nearest mean.

    Equal points are one point with the sum of their weights, and points are visited in an order
    that is drawn for the set of points, so that the groups do not depend on the order of the rows
    (unless there are fewer distinct points than groups, so that equal ones are split). With labels
    to start from, and for matrices, points are visited in the order of the rows.

    Examples
    --------
    >>> points = [[0.0, 0.1], [0.1, 0.0], [4.0, 4.1], [4.2, 4.0], [4.1, 4.2]]
    >>> found = kernel_kgroups(points, 2)
    >>> found.k, found.converged
    (2, True)
    >>> found.labels
    array([1, 1, 0, 0, 0])
    >>> found.predict([[3.0, 3.0]])
    array([0])
    """
    return _clustered("hartigan", X, k, metric, sample_weight, init, n_init, max_sweeps, rng,
                      gram_memory)  # fmt: skip


def kernel_kmeans(
    X: Any,
    k: int,
    *,
    metric: MetricLike = Power(),
    sample_weight: Any = None,
    init: Start | Any = "k-means++",
    n_init: int = 10,
    max_sweeps: int = 300,
    rng: RngLike = None,
    gram_memory: float = GRAM_MEMORY,
) -> Clustering:
    r"""Group points by sending each to the nearest mean in feature space, one at a time.

    This is the algorithm of Lloyd with means that follow every move exactly. It stops at more
    local optima than :func:`kernel_kgroups`, which has the same parameters, result and objective.

    Examples
    --------
    >>> kernel_kmeans([0.0, 0.1, 4.0, 4.2, 4.1], 2).labels
    array([1, 1, 0, 0, 0])
    """
    return _clustered("lloyd", X, k, metric, sample_weight, init, n_init, max_sweeps, rng,
                      gram_memory)  # fmt: skip


def _clustered(
    rule: Rule,
    X: Any,
    k: Any,
    metric: MetricLike,
    sample_weight: Any,
    init: Any,
    n_init: Any,
    max_sweeps: Any,
    rng: RngLike,
    gram_memory: float,
) -> Clustering:
    k = check_count("k", k, error=NumberOfCommunitiesError)
    for name, number in (("n_init", n_init), ("max_sweeps", max_sweeps)):
        check_count(name, number)
    _check_memory(gram_memory)
    stream = as_rng(rng)
    named = isinstance(init, str)
    if named and init not in STARTS:
        msg = f"init must be 'k-means++', 'spectral', 'random' or an array of labels, got {init!r}."
        raise InputError(msg)
    data = as_data(X, metric, sample_weight, k=k, rng=stream if named else None, memory=gram_memory)
    if k > data.w.size:
        msg = (
            f"k must not exceed the number of points of positive weight, got k={k} for "
            f"{data.w.size} points."
        )
        raise NumberOfCommunitiesError(msg)
    if named:
        starts = starts_of(
            init, data.rows, data.w, k, n_init, stream, rule=rule, max_sweeps=max_sweeps
        )
    else:
        starts = [_given(init, data, k)]
    outcomes = _improved(rule, data, starts, k, max_sweeps)
    return _result(X, data, outcomes, k, heaviest_first=named)


def _check_memory(gram_memory: Any) -> None:
    number = isinstance(gram_memory, int | float | np.integer | np.floating)
    if not number or isinstance(gram_memory, bool) or not gram_memory >= 0:
        msg = (
            f"gram_memory must be a number of bytes >= 0, got {gram_memory!r}.\n"
            "  Pass for instance 8e8, or 0 to keep no matrix."
        )
        raise InputError(msg)


def _given(init: Any, data: Data, k: int) -> Ints:
    """Return the labels to start from of the points that count."""
    labels = np.asarray(init)
    n = data.point_of.size
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        msg = (
            f"labels to start from must be {n} whole numbers, one for each row, got shape "
            f"{labels.shape} of {labels.dtype}."
        )
        raise InputError(msg)
    z = np.empty(data.w.size, dtype=np.int64)
    z[data.point_of[data.point_of >= 0]] = labels[data.point_of >= 0]
    missing = np.setdiff1d(np.arange(k), z)
    if missing.size or z.min() < 0 or z.max() >= k:
        msg = (
            f"labels to start from must use every number of range({k}), got {np.unique(z)} for "
            "the rows of positive weight."
        )
        raise InputError(msg)
    return z


def _improved(
    rule: Rule, data: Data, starts: list[Ints], k: int, max_sweeps: int
) -> list[tuple[Outcome, float]]:
    """Return what became of each start, with the dispersion of all points in one group."""
    M, w = data.rows, data.w

    def outcome(z: Ints, L: Floats) -> tuple[Outcome, float]:
        whole = -float(L.sum()) / float(w.sum())
        return improve_dense(M, w, z, k=k, links=L, rule=rule, max_sweeps=max_sweeps), whole

    if M.stored is None:
        # Rows that are made anew take their time, and use all threads themselves.
        together = max(1, int(_LINKS // (8.0 * k * w.size)))
        found = []
        with counted_progress("bar", len(starts), "start") as show:
            for first in range(0, len(starts), together):
                some = starts[first : first + together]
                for z, L in zip(some, group_links(M, some, k), strict=True):
                    found.append(outcome(z, L))
                    show(len(found))
        return found

    def from_start(z: Ints) -> tuple[Outcome, float]:
        return outcome(z, group_links(M, [z], k)[0])

    run = in_order if M.stored.size >= _THREADS_PAY else map
    return list(run(from_start, starts))


def _result(
    X: Any, data: Data, outcomes: list[tuple[Outcome, float]], k: int, *, heaviest_first: bool
) -> Clustering:
    whole = outcomes[0][1]
    norm = whole if data.norm is None else data.norm
    unit = data.unit
    association = np.array([outcome.objective for outcome, _ in outcomes])
    # Of starts that end at one optimum the first one stays.
    close = association >= association.max() - SAME * abs(association.max())
    best = outcomes[int(np.argmax(close))][0]
    z, s, Q = best.z, best.s, best.Q
    if heaviest_first:
        first = np.full(k, data.w.size)
        np.minimum.at(first, z, data.rank)
        order = np.lexsort((first, -s))
        z, s, Q = np.argsort(order)[z], s[order], Q[order]
    share = np.zeros((data.w.size, k))
    share[np.arange(z.size), z] = data.w / s[z]
    labels = np.where(data.point_of >= 0, z[data.point_of], 0)
    made = Clustering(
        labels,
        k,
        unit * (norm + best.objective),
        # Minus zero is no energy.
        unit * (0.0 - best.objective),
        best.sweeps,
        best.moves,
        best.converged,
        unit * (norm + association),
        data.metric,
        data.between,
        share,
        Q / np.square(s),
    )
    weightless = np.flatnonzero(data.point_of < 0)
    if weightless.size:
        labels[weightless] = made.predict(np.asarray(X)[weightless])
    return made
