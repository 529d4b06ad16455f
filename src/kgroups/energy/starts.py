"""First labels of points: far centres in feature space, the relaxed problem, or chance."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.energy.rows import PointRows
from kgroups.hartigan.objective import group_sums
from kgroups.seed.kmeans import kmeans
from kgroups.seed.plus_plus import plus_plus
from kgroups.spectrum.lanczos import largest_eigenpairs

__all__ = ["STARTS", "Start", "starts_of"]

Start: TypeAlias = Literal["k-means++", "spectral", "random"]

_KMEANS_STARTS = 10
# Beyond this many points the relaxed problem is solved for a sample of them.
_SPECTRAL_POINTS = 2_000
_DENSE_POINTS = 300


def starts_of(
    init: Start, rows: PointRows, w: Floats, k: int, n_init: int, rng: np.random.Generator
) -> list[Ints]:
    """Return labellings to start from, each with ``k`` non-empty groups.

    The relaxed problem has one solution, so that ``"spectral"`` gives one start.
    """
    if init == "spectral":
        return [_spectral(rows, w, k, rng)]
    make = STARTS[init]
    return [make(rows, w, k, rng) for _ in range(n_init)]


def _plus_plus(rows: PointRows, w: Floats, k: int, rng: np.random.Generator) -> Ints:
    def distances_to(picks: Ints) -> Floats:
        made = np.stack([rows.row(int(i)) for i in picks], axis=1)
        # A Gram matrix that is not semidefinite has negative squared distances.
        return np.maximum(made / (-0.5 * w[:, None] * w[picks]), 0.0)

    return plus_plus(distances_to, w.size, k, rng, weights=w)


def _random(rows: PointRows, w: Floats, k: int, rng: np.random.Generator) -> Ints:
    z = rng.integers(k, size=w.size)
    # One point for each group, whatever the others drew.
    z[rng.permutation(w.size)[:k]] = np.arange(k)
    return z


def _spectral(rows: PointRows, w: Floats, k: int, rng: np.random.Generator) -> Ints:
    """Solve the relaxed problem for a sample, and send the rest to the nearest mean."""
    n = w.size
    if n <= _SPECTRAL_POINTS:
        return _relaxed(rows.among(np.arange(n)), w, k, rng)
    sample = np.sort(rng.choice(n, size=min(n, max(_SPECTRAL_POINTS, 4 * k)), replace=False))
    M, w_sample = rows.among(sample), w[sample]
    z_sample = _relaxed(M, w_sample, k, rng)
    s = group_sums(z_sample, w_sample, k)
    inside = z_sample[:, None] == z_sample
    Q = group_sums(z_sample, np.where(inside, M, 0.0).sum(axis=1), k)
    links = np.zeros((k, n))
    for i, a in zip(sample, z_sample, strict=True):
        links[a] += rows.row(int(i))
    z: Ints = np.argmin((Q / np.square(s))[:, None] - 2.0 * links / (w * s[:, None]), axis=0)
    z[sample] = z_sample
    return z


def _relaxed(M: Floats, w: Floats, k: int, rng: np.random.Generator) -> Ints:
    r"""Return groups of the rows of the leading eigenvectors of the centred matrix.

    Without its constraint that labels are whole, the problem is solved by the leading
    eigenvectors of :math:`W^{1/2} G W^{1/2}` (equation *relaxed* of the theory page).
    """
    if k == 1:
        return np.zeros(w.size, dtype=np.int64)
    root = np.sqrt(w)
    A = M / np.outer(root, root)
    u = root / np.linalg.norm(root)
    along = A @ u
    A -= np.outer(u, along) + np.outer(along, u) - np.outer((u @ along) * u, u)
    lam, V = _leading(A, min(k - 1, w.size - 1))
    return kmeans(
        V * np.sqrt(np.maximum(lam, 0.0)) / root[:, None], k, n_init=_KMEANS_STARTS, rng=rng
    )


def _leading(A: Floats, count: int) -> tuple[Floats, Floats]:
    n = A.shape[0]
    if n <= _DENSE_POINTS or 4 * count > n:
        lam, V = np.linalg.eigh(A)
        return lam[::-1][:count], V[:, ::-1][:, :count]
    return largest_eigenpairs(A, count, np.linspace(0.5, 1.5, n))


STARTS: dict[str, Callable[[PointRows, Floats, int, np.random.Generator], Ints]] = {
    "k-means++": _plus_plus,
    "random": _random,
}
"""Starts that differ from draw to draw."""
