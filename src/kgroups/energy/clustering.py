"""Kernel k-groups and kernel k-means of points, distances and Gram matrices, and their starts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from kgroups._types import Floats, Ints
from kgroups._validation import RngLike, as_rng, check_integer, check_real
from kgroups.energy.fitting import (
    Data,
    DistanceRows,
    MatrixBetween,
    PointRows,
    PointsBetween,
    VectorRows,
    as_data,
    in_order,
)
from kgroups.energy.points import as_weights
from kgroups.energy.semimetrics import MetricLike, Power, Semimetric
from kgroups.errors import InputError, NumberOfCommunitiesError
from kgroups.hartigan import Outcome, Rule, group_links, improve_dense
from kgroups.hartigan._hartigan_nb import add_rows

Start: TypeAlias = Literal["k-means++", "random"]

GRAM_MEMORY = 8e8
"""Bytes up to which a matrix of all pairs is kept: 10,000 points."""

# Bytes of sums over groups that starts computed from the same tiles may hold together.
_LINK_BYTES = 4e8
# Entries of a stored matrix from which on starts run in parallel threads.
_MIN_PARALLEL_ENTRIES = 250_000
# Objectives that differ by less than this fraction belong to one optimum, up to rounding.
_SAME_OPTIMUM = 1e-10
# Costs of two draws of k-means++ that differ by at most this share are a tie: the first stays.
_TIE = 1e-9
# With more points a sample is grouped first, and the other points join the nearest mean.
_SAMPLE_SIZE = 3_000
# Least number of points of the sample for each group.
_MIN_SAMPLE_PER_GROUP = 3
# Points from which the distance of all points to their mean is estimated.
_PILOT_SIZE = 300
# Number of the best starts on the sample that are extended to all points.
_STARTS_EXTENDED = 3
# Rows computed at a time; bounds the memory.
_ROWS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Clustering:
    """Result of clustering points into k groups.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Group of each row in ``range(k)``, the heaviest group first; labels given to start from
        keep their numbers.
    k : int
        Number of groups, none of them empty.
    objective : float
        Group association Q of the kernel with the origin as base point (for a Gram matrix, of
        the matrix itself; for distances and functions, with the mean of the points as base
        point). Larger is better.
    within_energy : float
        Within-energy dispersion W, the sum of w_i kappa(x_i, x_i) minus Q. Smaller is better.
    sweeps, moves : int
        Sweeps over the points and moves made from the best start.
    converged : bool
        Whether its last sweep moved no point.
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
        found = [np.argmin(block, axis=1) for block in self._to_means(X)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])

    def cost(self, X: Any, sample_weight: Any = None) -> float:
        """Return the energy of new points about the nearest means in feature space.

        Parameters
        ----------
        X : array_like of shape (m, columns)
            As for :meth:`predict`, but no rows of a Gram matrix: these do not hold the kernel of
            a new point with itself.
        sample_weight : array_like of shape (m,), optional
            How much each row counts; 1 by default.

        Returns
        -------
        float
            The sum of the squared distances, times the weights. Of the points that were fitted,
            with their weights, it is ``within_energy`` if :meth:`predict` gives their labels.

        Examples
        --------
        >>> found = kernel_kgroups([0.0, 1.0, 7.0, 8.0, 9.0], 2, metric="sqeuclidean")
        >>> found.within_energy, found.cost([0.0, 1.0, 7.0, 8.0, 9.0]), found.cost([8.0, 10.0])
        (2.5, 2.5, 4.0)
        """
        if self.metric == "gram":
            msg = (
                "cost() needs points or distances: a Gram matrix does not hold the kernel of a new "
                'point with itself.\n  Fit points, or distances with metric="precomputed".'
            )
            raise InputError(msg)
        nearest = np.concatenate(
            [np.zeros(0), *(np.min(block, axis=1) for block in self._to_means(X))]
        )
        return float(as_weights(sample_weight, nearest.size) @ nearest)

    def _to_means(self, X: Any) -> Iterator[Floats]:
        """Yield squared distances of new points to the means, with a Gram matrix up to a constant.

        The constant is another for each point.
        """
        for block in self._between(X):
            yield block @ self._share + self._offset


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

    rises, that is, while the within-energy dispersion W falls and the between-sample energy
    statistic S rises (*energy-identity* of the theory page).

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
        largest, are labeled by :meth:`Clustering.predict`.
    init : {"k-means++", "random"} or array_like of n labels
        Centers drawn far apart in feature space, random groups, or labels in ``range(k)`` to start
        from.
    n_init : int
        Number of starts, of which the best is returned; labels are one start.
    max_sweeps : int
        Sweeps over the points after which a start ends.
    rng : int, Generator or None
        Draws the starts and the order of visits; ``None`` is a fixed stream.
    gram_memory : float
        Bytes up to which the matrix of all pairs is kept. If it is larger, its rows are computed
        when needed.

    Returns
    -------
    Clustering

    Notes
    -----
    If the matrix is not kept, starts are improved on a sample of 3,000 points, in which points far
    from the mean are drawn more often and weigh less. The three best results that differ are
    extended to all points, each of which joins the nearest mean, and are improved further.

    Equal points are merged into one point with the sum of their weights, and points are visited in
    an order that is drawn for the set of points, so that the groups do not depend on the order of
    the rows (unless there are fewer distinct points than groups, so that equal ones are split).
    With labels to start from, and for matrices, points are visited in the order of the rows.

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
    return _cluster("hartigan", X, k, metric, sample_weight, init, n_init, max_sweeps, rng,
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
    r"""Group points by moving each to the nearest mean in feature space, one at a time.

    This is Lloyd's algorithm with means that are updated after every move. It stops at more local
    optima than :func:`kernel_kgroups`, which has the same parameters, result and objective.

    Examples
    --------
    >>> kernel_kmeans([0.0, 0.1, 4.0, 4.2, 4.1], 2).labels
    array([1, 1, 0, 0, 0])
    """
    return _cluster("lloyd", X, k, metric, sample_weight, init, n_init, max_sweeps, rng,
                    gram_memory)  # fmt: skip


def _cluster(
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
    k = check_integer("k", k, error=NumberOfCommunitiesError)
    check_integer("n_init", n_init)
    check_integer("max_sweeps", max_sweeps)
    hint = "  Pass for instance 8e8, or 0 to keep no matrix."
    what = "number of bytes"
    check_real("gram_memory", gram_memory, low=0.0, finite=False, what=what, hint=hint)
    stream = as_rng(rng)
    named = isinstance(init, str)
    if named and init not in STARTS:
        msg = f"init must be 'k-means++', 'random' or an array of labels, got {init!r}."
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
        starts = [_given_start(init, data, k)]
    outcomes = _improve_all(rule, data, starts, k, max_sweeps)
    return _result(X, data, outcomes, k, heaviest_first=named)


def _given_start(init: Any, data: Data, k: int) -> Ints:
    """Return the given labels of the points that count."""
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


def _improve_all(
    rule: Rule, data: Data, starts: list[Ints], k: int, max_sweeps: int
) -> list[tuple[Outcome, float]]:
    """Return the outcome of each start, with the dispersion of all points in one group."""
    M, w = data.rows, data.w

    def outcome(z: Ints, L: Floats) -> tuple[Outcome, float]:
        whole = -float(L.sum()) / float(w.sum())
        return improve_dense(M, w, z, k=k, links=L, rule=rule, max_sweeps=max_sweeps), whole

    if M.stored is not None:
        run = in_order if M.stored.size >= _MIN_PARALLEL_ENTRIES else map
        return list(run(lambda z: outcome(z, group_links(M, [z], k)[0]), starts))
    # Computing rows takes most of the time, and uses all threads itself.
    together = max(1, int(_LINK_BYTES // (8.0 * k * w.size)))
    found = []
    for first in range(0, len(starts), together):
        some = starts[first : first + together]
        links = group_links(M, some, k)
        found += [outcome(z, L) for z, L in zip(some, links, strict=True)]
    return found


def _result(
    X: Any, data: Data, outcomes: list[tuple[Outcome, float]], k: int, *, heaviest_first: bool
) -> Clustering:
    norm = outcomes[0][1] if data.norm is None else data.norm
    unit = data.unit
    association = np.array([outcome.objective for outcome, _ in outcomes])
    # Among starts that end at the same optimum, take the first.
    close = association >= association.max() - _SAME_OPTIMUM * abs(association.max())
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
    result = Clustering(
        labels,
        k,
        unit * (norm + best.objective),
        # Subtracting from 0 avoids a minus zero.
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
        labels[weightless] = result.predict(np.asarray(X)[weightless])
    return result


def starts_of(
    init: Start,
    M: PointRows,
    w: Floats,
    k: int,
    n_init: int,
    rng: np.random.Generator,
    *,
    rule: Rule,
    max_sweeps: int,
    sample_size: int = _SAMPLE_SIZE,
    extended: int = _STARTS_EXTENDED,
) -> list[Ints]:
    """Return labelings to start from, each with ``k`` non-empty groups.

    Where the matrix is not stored, moves cost more than anything else: all starts are improved on
    a sample of the points, and only the best of them are extended to the others.
    """
    make = STARTS[init]
    draws = max(sample_size, _MIN_SAMPLE_PER_GROUP * k)
    if w.size <= draws or not isinstance(M, VectorRows):
        return [make(M, w, k, rng) for _ in range(n_init)]
    sample = draw_sample(M, w, draws, rng, least=k)
    among, v = sample.matrix(M), sample.weights
    grouped = [
        improve_dense(among, v, make(among, v, k, rng), k=k, rule=rule, max_sweeps=max_sweeps)
        for _ in range(n_init)
    ]
    best: list[Outcome] = []
    for found in sorted(grouped, key=lambda found: -found.objective):
        gap = best[-1].objective - found.objective if best else np.inf
        if gap > _SAME_OPTIMUM * abs(found.objective):
            best.append(found)
    return extend_labels(M, w, sample, best[:extended], k)


class Sample(NamedTuple):
    """Points that represent all, with weights that are ``factor`` times their own."""

    points: Ints
    weights: Floats
    factor: Floats

    def matrix(self, M: VectorRows) -> DistanceRows:
        """Return the matrix of the sample."""
        among = M.among(self.points)
        among *= self.factor
        among *= self.factor[:, None]
        return DistanceRows(among)


def draw_sample(
    M: VectorRows, w: Floats, draws: int, rng: np.random.Generator, *, least: int
) -> Sample:
    """Draw at least ``least`` points: a third each by weight, by distance and uniformly.

    So groups that are small but far from the mean are in the sample too; its weights correct for
    the unequal probabilities (a lightweight coreset).
    """
    share = w / w.sum()
    pilot = np.unique(rng.choice(w.size, size=_PILOT_SIZE, p=share))
    distance = M.rows(pilot).sum(axis=0) / (-0.5 * w * w[pilot].sum())
    distance = np.maximum(
        distance - 0.5 * float(np.average(distance[pilot], weights=w[pilot])), 0.0
    )
    far = share * distance
    far = share if far.sum() <= 0.0 else far / far.sum()
    chance = (share + far + 1.0 / w.size) / 3.0
    drawn = rng.choice(w.size, size=draws, p=chance)
    missing = max(0, least - np.unique(drawn).size)
    others = rng.permutation(np.setdiff1d(np.arange(w.size), drawn))[:missing]
    points, times = np.unique(np.concatenate([drawn, others]), return_counts=True)
    factor = times / (draws * chance[points] / share[points])
    factor *= w.sum() / float(w[points] @ factor)
    return Sample(points, w[points] * factor, factor)


def extend_labels(
    M: VectorRows, w: Floats, sample: Sample, grouped: list[Outcome], k: int
) -> list[Ints]:
    """Assign the points outside of a sample to the nearest mean of its groups."""
    links = [np.zeros((k, w.size)) for _ in grouped]
    for first in range(0, sample.points.size, _ROWS_AT_ONCE):
        some = slice(first, first + _ROWS_AT_ONCE)
        rows = M.rows(sample.points[some])
        rows *= sample.factor[some, None]
        for found, L in zip(grouped, links, strict=True):
            add_rows(rows, found.z[some], L)
    starts = []
    for found, L in zip(grouped, links, strict=True):
        L *= -2.0 / (w * found.s[:, None])
        L += (found.Q / np.square(found.s))[:, None]
        z: Ints = np.argmin(L, axis=0)
        z[sample.points] = found.z
        starts.append(z)
    return starts


def _plus_plus(M: PointRows, w: Floats, k: int, rng: np.random.Generator) -> Ints:
    """Assign points to the nearest of ``k`` centers drawn by greedy k-means++."""

    def distances_to(picks: Ints) -> Floats:
        rho = M.rows(picks).T / (-0.5 * w[:, None] * w[picks])
        if M.shift:
            rho += M.shift * np.add.outer(1.0 / w, 1.0 / w[picks])
            rho[picks, np.arange(picks.size)] = 0.0
        return np.ascontiguousarray(np.maximum(rho, 0.0))

    trials = 2 + int(np.log(k))
    center = np.empty(k, dtype=np.int64)
    center[0] = _drawn_by_mass(w, rng.random(1))[0]
    is_center = np.zeros(w.size, dtype=np.bool_)
    is_center[center[0]] = True
    distance = distances_to(center[:1])[:, 0].copy()
    nearest = np.zeros(w.size, dtype=np.int64)
    draws = rng.random((k, trials))
    for a in range(1, k):
        tried = _drawn_by_mass(w * distance, draws[a])
        if not tried.size:
            # Fewer distinct points than centers: take any point that is not a center.
            tried = np.flatnonzero(~is_center)[:1]
        offered = distances_to(tried)
        # The first of those whose costs are equal up to rounding.
        cost = np.cumsum(w[:, None] * np.minimum(offered, distance[:, None]), axis=0)[-1]
        chosen = int(np.argmax(cost <= cost.min() * (1.0 + _TIE)))
        nearest[offered[:, chosen] < distance] = a
        np.minimum(distance, offered[:, chosen], out=distance)
        center[a] = tried[chosen]
        is_center[center[a]] = True
    # A center equal to an earlier one is nearest to no point: it keeps at least itself.
    nearest[center] = np.arange(k)
    return nearest


def _drawn_by_mass(mass: Floats, draws: Floats) -> Ints:
    """Return the points in which shares of the whole mass end, none if there is no mass."""
    total = np.cumsum(mass)
    picks: Ints = np.searchsorted(total[:-1], draws * total[-1], side="right")
    return picks if total[-1] > 0.0 else picks[:0]


def _random(M: PointRows, w: Floats, k: int, rng: np.random.Generator) -> Ints:
    """Draw labels uniformly, with at least one point in every group."""
    z = rng.integers(k, size=w.size)
    z[rng.permutation(w.size)[:k]] = np.arange(k)
    return z


STARTS: dict[str, Callable[[PointRows, Floats, int, np.random.Generator], Ints]] = {
    "k-means++": _plus_plus,
    "random": _random,
}
"""Functions that draw first labels, by their names."""
