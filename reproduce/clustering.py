"""Methods for vector data, all from the starts that the paper describes."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigh

from kgroups._types import Floats, Ints
from kgroups._wording import install_hint
from kgroups.energy import (
    Clustering,
    Power,
    Semimetric,
    kernel_kgroups,
    kernel_kmeans,
    kernel_matrix,
)
from kgroups.errors import MissingExtraError
from kgroups.studies import Points

STARTS = 5
"""Starts of which the paper keeps the one with the best objective."""

# Rows whose criterion is computed together at first. A move invalidates the rows behind it, so the
# block is small after a move and doubles while nothing moves.
_FIRST_BLOCK = 8

Method = Callable[[Points, int, np.random.Generator], Ints]


def plus_plus_labels(rows: Any, k: int, rng: np.random.Generator) -> Ints:
    """Assign points to the nearest of ``k`` of them, drawn by k-means++."""
    n = len(rows)
    centers = [int(rng.integers(n))]
    distances = [np.square(rows - rows[centers[0]]).sum(axis=1)]
    for _ in range(1, k):
        nearest = np.min(distances, axis=0)
        centers.append(int(rng.choice(n, p=nearest / nearest.sum())))
        distances.append(np.square(rows - rows[centers[-1]]).sum(axis=1))
    labels: Ints = np.argmin(distances, axis=0).astype(np.int64)
    labels[centers] = np.arange(k)
    return labels


def association(G: Floats, z: Ints, k: int) -> float:
    """Return the objective of labels, to which an empty group adds nothing."""
    member = np.eye(k)[z]
    size = member.sum(axis=0)
    return float(((member * (G @ member)).sum(axis=0)[size > 0.0] / size[size > 0.0]).sum())


def printed_kernel_kmeans(G: Floats, z: Ints, *, k: int, max_sweeps: int = 100) -> Ints:
    r"""Return the labels of Algorithm 1 of the paper, weights 1, exactly as printed.

    When a point moves, the printed update of the sums :math:`Q_a` leaves out :math:`G_{ii}`, and
    so does the author's program. The sums drift down with every move, which makes groups look more
    compact than they are, and finally groups become empty. The mean of an empty group is 0/0; as in
    the author's program it counts as the nearest, so the next point moves there.

    Parameters
    ----------
    G : ndarray of shape (n, n)
        Symmetric Gram matrix.
    z : ndarray of shape (n,)
        First labels, in ``range(k)``.
    k : int
        Number of groups.
    max_sweeps : int
        Largest number of passes over the points.

    Returns
    -------
    ndarray of shape (n,)
        Labels in ``range(k)``; groups may be empty.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 10.0, 11.0])
    >>> printed_kernel_kmeans(np.outer(x, x), np.array([0, 0, 0, 1]), k=2)
    array([0, 0, 1, 1])
    """
    n, z = len(z), z.copy()
    member = np.eye(k)[z]
    size = member.sum(axis=0)
    sums = np.asfortranarray(G @ member)
    q = (member * sums).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(max_sweeps):
            place, moves, width = 0, 0, _FIRST_BLOCK
            while place < n:
                ahead = slice(place, place + width)
                # argmin takes NaN for the smallest value.
                nearest = np.argmin(q / size**2 - 2.0 * sums[ahead] / size, axis=1)
                wanting = np.flatnonzero(nearest != z[ahead])
                if wanting.size == 0:
                    place, width = place + width, 2 * width
                    continue
                i = place + int(wanting[0])
                a, b = z[i], nearest[wanting[0]]
                q[a] -= 2.0 * sums[i, a]
                q[b] += 2.0 * sums[i, b]
                sums[:, a] -= G[i]
                sums[:, b] += G[i]
                size[a] -= 1.0
                size[b] += 1.0
                if size[a] == 0.0:
                    sums[:, a] = 0.0
                z[i] = b
                place, moves, width = i + 1, moves + 1, _FIRST_BLOCK
            if moves == 0:
                break
    return z


def kgroups(
    points: Points,
    k: int,
    rng: np.random.Generator,
    *,
    metric: Semimetric = Power(),
    starts: int = STARTS,
) -> Ints:
    """Return the labels of kernel k-groups with the best objective."""
    return _best_of(kernel_kgroups, points, k, rng, metric, starts)


def exact_kmeans(
    points: Points,
    k: int,
    rng: np.random.Generator,
    *,
    metric: Semimetric = Power(),
    starts: int = STARTS,
) -> Ints:
    """Return the labels of kernel k-means with the exact update that have the best objective."""
    return _best_of(kernel_kmeans, points, k, rng, metric, starts)


def printed_kmeans(
    points: Points,
    k: int,
    rng: np.random.Generator,
    *,
    metric: Semimetric = Power(),
    starts: int = STARTS,
) -> Ints:
    """Return the labels of kernel k-means as printed that have the best objective."""
    G = kernel_matrix(points.X, metric=metric)
    drawn = (plus_plus_labels(points.X, k, rng) for _ in range(starts))
    found = [printed_kernel_kmeans(G, start, k=k) for start in drawn]
    return max(found, key=lambda z: association(G, z, k))


def _best_of(
    cluster: Callable[..., Clustering],
    points: Points,
    k: int,
    rng: np.random.Generator,
    metric: Semimetric,
    starts: int,
) -> Ints:
    G = kernel_matrix(points.X, metric=metric)
    drawn = (plus_plus_labels(points.X, k, rng) for _ in range(starts))
    found = [cluster(G, k, metric="gram", init=start) for start in drawn]
    return max(found, key=lambda clustering: clustering.objective).labels


def kmeans(points: Points, k: int, rng: np.random.Generator) -> Ints:
    """Return the labels of scikit-learn's k-means."""
    return kmeans_labels(points.X, k, starts=STARTS, state=random_state(rng))


def gmm(points: Points, k: int, rng: np.random.Generator) -> Ints:
    """Return the labels of scikit-learn's Gaussian mixture."""
    return gmm_labels(points.X, k, starts=STARTS, state=random_state(rng))


def spectral(
    points: Points, k: int, rng: np.random.Generator, *, metric: Semimetric = Power()
) -> Ints:
    """Return the labels of scikit-learn's spectral clustering of the Gram matrix."""
    cluster, _ = require_sklearn()
    model = cluster.SpectralClustering(k, affinity="precomputed", random_state=random_state(rng))
    with _without_warnings():
        labels: Ints = model.fit_predict(kernel_matrix(points.X, metric=metric)).astype(np.int64)
    return labels


def spectral_times_degree(
    points: Points, k: int, rng: np.random.Generator, *, metric: Semimetric = Power()
) -> Ints:
    """Return the labels of spectral clustering with the embedding times the roots of the degrees.

    The author's program does this. The eigenvectors are those of the normalized Gram matrix, which
    scikit-learn's :func:`spectral` divides by the roots.
    """
    G = kernel_matrix(points.X, metric=metric)
    root = np.sqrt(G.sum(axis=1))
    V = eigh(G / np.outer(root, root), subset_by_index=[len(G) - k, len(G) - 1])[1]
    return kmeans(Points(V * root[:, None]), k, rng)


METHODS: dict[str, Method] = {
    "k-groups": kgroups,
    "k-groups x1": partial(kgroups, starts=1),
    "kernel k-means": exact_kmeans,
    "kernel k-means x1": partial(exact_kmeans, starts=1),
    "as printed": printed_kmeans,
    "as printed x1": partial(printed_kmeans, starts=1),
    "k-means": kmeans,
    "GMM": gmm,
    "spectral": spectral,
    "spectral √d": spectral_times_degree,
}
"""All methods with the semimetric of the energy distance."""


def kmeans_labels(X: Floats, k: int, *, starts: int, state: int) -> Ints:
    """Return the labels of scikit-learn's k-means."""
    cluster, _ = require_sklearn()
    with _without_warnings():
        labels: Ints = cluster.KMeans(k, n_init=starts, random_state=state).fit_predict(X)
    return labels.astype(np.int64)


def gmm_labels(X: Floats, k: int, *, starts: int, state: int) -> Ints:
    """Return the labels of scikit-learn's Gaussian mixture, which starts from its k-means."""
    _, mixture = require_sklearn()
    model = mixture.GaussianMixture(k, n_init=starts, random_state=state)
    with _without_warnings():
        labels: Ints = model.fit_predict(X)
    return labels.astype(np.int64)


def spectral_rows(G: Floats, k: int) -> Floats:
    """Return the rows that scikit-learn's spectral clustering of a Gram matrix gives to k-means."""
    from sklearn.manifold import spectral_embedding

    with _without_warnings():
        V: Floats = spectral_embedding(G, n_components=k, drop_first=False, random_state=0)
    return V


def require_sklearn() -> tuple[Any, Any]:
    """Return scikit-learn's modules ``cluster`` and ``mixture``, or raise and name the extra."""
    try:
        from sklearn import cluster, mixture
    except ImportError as error:
        msg = (
            "k-means, Gaussian mixtures and spectral clustering need scikit-learn. "
            f"{install_hint('sklearn')}"
        )
        raise MissingExtraError(msg) from error
    return cluster, mixture


def random_state(rng: np.random.Generator) -> int:
    """Draw a seed for scikit-learn."""
    return int(rng.integers(2**31))


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Suppress warnings: that a method does not converge shows in its accuracy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
