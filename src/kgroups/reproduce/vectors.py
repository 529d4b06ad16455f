"""Methods for vector data side by side, all from the starts that the paper describes."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigh

from kgroups._extras import install_hint
from kgroups._types import Floats, Ints
from kgroups.energy import (
    Clustering,
    Power,
    Semimetric,
    kernel_kgroups,
    kernel_kmeans,
    kernel_matrix,
)
from kgroups.errors import MissingExtraError
from kgroups.reproduce.printed import printed_kernel_kmeans
from kgroups.reproduce.starts import nearest_of_drawn
from kgroups.studies.points import Points

__all__ = [
    "METHODS",
    "STARTS",
    "association",
    "exact_kmeans",
    "gmm",
    "kgroups",
    "kmeans",
    "printed_kmeans",
    "require_sklearn",
    "spectral",
    "spectral_times_degree",
]

STARTS = 5
"""Starts of which the paper keeps the one with the best objective."""

Method = Callable[[Points, int, np.random.Generator], Ints]


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
    """Return the labels of kernel k-means, with the exact update, that have the best objective."""
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
    drawn = (nearest_of_drawn(points.X, k, rng) for _ in range(starts))
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
    drawn = (nearest_of_drawn(points.X, k, rng) for _ in range(starts))
    found = [cluster(G, k, metric="gram", init=start) for start in drawn]
    return max(found, key=lambda clustering: clustering.objective).labels


def association(G: Floats, z: Ints, k: int) -> float:
    """Return the objective of labels, to which an empty group adds nothing."""
    member = np.eye(k)[z]
    size = member.sum(axis=0)
    return float(((member * (G @ member)).sum(axis=0)[size > 0.0] / size[size > 0.0]).sum())


def kmeans(points: Points, k: int, rng: np.random.Generator) -> Ints:
    """Return the labels of scikit-learn's k-means."""
    cluster, _ = require_sklearn()
    made = cluster.KMeans(k, n_init=STARTS, random_state=_state(rng))
    with _untroubled():
        labels: Ints = made.fit_predict(points.X).astype(np.int64)
    return labels


def gmm(points: Points, k: int, rng: np.random.Generator) -> Ints:
    """Return the labels of scikit-learn's Gaussian mixture, which starts from its k-means."""
    _, mixture = require_sklearn()
    made = mixture.GaussianMixture(k, n_init=STARTS, random_state=_state(rng))
    with _untroubled():
        labels: Ints = made.fit_predict(points.X).astype(np.int64)
    return labels


def spectral(
    points: Points, k: int, rng: np.random.Generator, *, metric: Semimetric = Power()
) -> Ints:
    """Return the labels of scikit-learn's spectral clustering of the Gram matrix."""
    cluster, _ = require_sklearn()
    made = cluster.SpectralClustering(k, affinity="precomputed", random_state=_state(rng))
    with _untroubled():
        labels: Ints = made.fit_predict(kernel_matrix(points.X, metric=metric)).astype(np.int64)
    return labels


def spectral_times_degree(
    points: Points, k: int, rng: np.random.Generator, *, metric: Semimetric = Power()
) -> Ints:
    """Return the labels of spectral clustering with an embedding times the roots of the degrees.

    So does the author's program. The eigenvectors are those of the normalised Gram matrix, which
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


def require_sklearn() -> tuple[Any, Any]:
    """Return scikit-learn's rooms of clusterings and mixtures, or name the extra."""
    try:
        from sklearn import cluster, mixture
    except ImportError as error:
        msg = (
            "k-means, Gaussian mixtures and spectral clustering need scikit-learn. "
            f"{install_hint('sklearn')}"
        )
        raise MissingExtraError(msg) from error
    return cluster, mixture


def _state(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


@contextmanager
def _untroubled() -> Iterator[None]:
    """Let methods warn to nobody: that one does not converge shows in its accuracy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
