"""First labels of points: far centres in feature space, the relaxed problem, or chance."""

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from kgroups._blas import single_threaded
from kgroups._types import Floats, Ints
from kgroups.embedding.kmeans import kmeans
from kgroups.embedding.plus_plus import plus_plus
from kgroups.energy.rows import DistanceRows, PointRows
from kgroups.errors import ConvergenceError
from kgroups.hartigan import Outcome, Rule, improve_dense
from kgroups.spectrum.lanczos import largest_eigenpairs

__all__ = ["SAME", "STARTS", "Start", "starts_of"]

Start: TypeAlias = Literal["k-means++", "spectral", "random"]

SAME = 1e-10
"""Objectives closer than this part of them belong to one optimum, and differ in rounding."""

_KMEANS_STARTS = 10
# Beyond so many points a sample is grouped first, and the rest joins the nearest means.
_SAMPLE = 3_000
_SAMPLE_PER_GROUP = 3
_PILOT = 300
# So many of the starts that were best on the sample go on to all points.
_CARRIED = 3
_DENSE_POINTS = 300
_ROWS_AT_ONCE = 64


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
) -> list[Ints]:
    """Return labellings to start from, each with ``k`` non-empty groups.

    The relaxed problem has one solution, so that ``"spectral"`` gives one start, and beyond a few
    thousand points solves it for a sample, matrix or not. Where the matrix
    is not stored, moves cost more than anything: all starts are improved on a sample of the points
    first, and only the best of them go on to the others, each of which joins the nearest mean.
    """
    make = STARTS[init]
    count = 1 if init == "spectral" else n_init
    draws = max(_SAMPLE, _SAMPLE_PER_GROUP * k)
    if w.size <= draws or (M.stored is not None and init != "spectral"):
        return [make(M, w, k, rng) for _ in range(count)]
    sample = _sample(M, w, draws, rng, least=k)
    among = sample.matrix(M)
    grouped = [
        improve_dense(
            among,
            sample.weights,
            make(among, sample.weights, k, rng),
            k=k,
            rule=rule,
            max_sweeps=max_sweeps,
        )
        for _ in range(count)
    ]
    return _extended(M, w, sample, _best_that_differ(grouped), k)


def _best_that_differ(grouped: list[Outcome]) -> list[Outcome]:
    """Return the best few, without those that ended where a better one did."""
    best: list[Outcome] = []
    for found in sorted(grouped, key=lambda found: -found.objective):
        if not best or best[-1].objective - found.objective > SAME * abs(found.objective):
            best.append(found)
    return best[:_CARRIED]


class _Sample(NamedTuple):
    """Points that stand for all, with weights that are ``factor`` times their own."""

    points: Ints
    weights: Floats
    factor: Floats

    def matrix(self, M: PointRows) -> DistanceRows:
        """Return the matrix of the sample."""
        made = M.among(self.points)
        made *= self.factor
        made *= self.factor[:, None]
        return DistanceRows(made)


def _sample(
    M: PointRows, w: Floats, draws: int, rng: np.random.Generator, *, least: int
) -> _Sample:
    """Draw points: a third by weight, a third by distance from the mean as well, a third evenly.

    Groups that are small but far away are in the sample too, and the weights of its points make
    up for being drawn more often (lightweight coresets). There are at least ``least`` points.
    """
    share = w / w.sum()
    pilot = np.unique(rng.choice(w.size, size=_PILOT, p=share))
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
    return _Sample(points, w[points] * factor, factor)


def _extended(
    M: PointRows, w: Floats, sample: _Sample, grouped: list[Outcome], k: int
) -> list[Ints]:
    """Send the points outside of a sample to the nearest mean of its groups."""
    from kgroups.hartigan._sweep_nb import add_rows

    links = [np.zeros((k, w.size)) for _ in grouped]
    for first in range(0, sample.points.size, _ROWS_AT_ONCE):
        some = slice(first, first + _ROWS_AT_ONCE)
        rows = M.rows(sample.points[some])
        rows *= sample.factor[some, None]
        for found, L in zip(grouped, links, strict=True):
            add_rows(rows, found.z[some], 0, L)
    starts = []
    for found, L in zip(grouped, links, strict=True):
        L *= -2.0 / (w * found.s[:, None])
        L += (found.Q / np.square(found.s))[:, None]
        z: Ints = np.argmin(L, axis=0)
        z[sample.points] = found.z
        starts.append(z)
    return starts


def _plus_plus(M: PointRows, w: Floats, k: int, rng: np.random.Generator) -> Ints:
    def distances_to(picks: Ints) -> Floats:
        made = M.rows(picks).T / (-0.5 * w[:, None] * w[picks])
        if M.shift:
            made += M.shift * np.add.outer(1.0 / w, 1.0 / w[picks])
            made[picks, np.arange(picks.size)] = 0.0
        return np.maximum(made, 0.0)

    return plus_plus(distances_to, w.size, k, rng, weights=w)


def _random(M: PointRows, w: Floats, k: int, rng: np.random.Generator) -> Ints:
    z = rng.integers(k, size=w.size)
    # One point for each group, whatever the others drew.
    z[rng.permutation(w.size)[:k]] = np.arange(k)
    return z


def _spectral(M: PointRows, w: Floats, k: int, rng: np.random.Generator) -> Ints:
    r"""Return groups of the rows of the leading eigenvectors of the centred matrix.

    Without its constraint that labels are whole, the problem is solved by the leading
    eigenvectors of :math:`W^{1/2} G W^{1/2}` (equation *relaxed* of the theory page).
    """
    if k == 1:
        return np.zeros(w.size, dtype=np.int64)
    root = np.sqrt(w)
    A = M.among(np.arange(w.size)) / np.outer(root, root)
    u = root / np.linalg.norm(root)
    along = A @ u
    A -= np.outer(u, along) + np.outer(along - (u @ along) * u, u)
    with single_threaded(w.size):
        lam, V = _leading(A, k - 1)
    rows = V * np.sqrt(np.maximum(lam, 0.0)) / root[:, None]
    return kmeans(rows, k, n_init=_KMEANS_STARTS, rng=rng)


def _leading(A: Floats, count: int) -> tuple[Floats, Floats]:
    n = A.shape[0]
    if n > _DENSE_POINTS and 4 * count <= n:
        try:
            return largest_eigenpairs(A, count, np.linspace(0.5, 1.5, n))
        except ConvergenceError:
            # Beside one that is huge, or where all are alike, Lanczos finds no further one.
            pass
    lam, V = np.linalg.eigh(A)
    return lam[::-1][:count], V[:, ::-1][:, :count]


STARTS: dict[str, Callable[[PointRows, Floats, int, np.random.Generator], Ints]] = {
    "k-means++": _plus_plus,
    "spectral": _spectral,
    "random": _random,
}
"""How a start is made of a matrix."""
