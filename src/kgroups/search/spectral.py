"""The spectral candidate: eigenvectors of N_r, k-means on their rows, kernel k-groups on H_r."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.embedding import (
    Seed,
    embedding_rows,
    informative_eigenpairs,
    spread_labels,
    strong_rows,
)
from kgroups.hartigan import improve_rows
from kgroups.operators import BoundBetheHessian
from kgroups.refine import Hartigan, Refinement, absorb_fragments
from kgroups.refine.likelihood import planted_fit
from kgroups.search.problem import Detection, Part
from kgroups.spectrum import Leading, Moments, leading_pairs
from kgroups.spectrum.chebyshev_operator import ThinBlock

__all__ = [
    "Spectral",
    "by_eigenvectors",
    "by_filter",
    "exact_share",
    "from_labels",
]

# k-means starts on this many rows, or this many for each community if that is more.
_SAMPLE = 4_000
_SAMPLE_PER_COMMUNITY = 50
_SWEEPS_ON_ALL = 10
# Rows per chunk; bounds the temporary arrays.
_CHUNK = 1 << 13


class Spectral(NamedTuple):
    """Labels of a connected part, their number, and what refinement did if there was any."""

    z: Ints
    k: int
    refinement: Refinement | None


def by_eigenvectors(
    part: Part, V: Floats, init: Seed, refine: Hartigan | None, rng: np.random.Generator
) -> Spectral:
    """Find as many connected communities of a connected part as there are eigenvectors."""
    return _refined(part, _first_labels(part, V, init, rng), V.shape[1], refine)


def from_labels(part: Part, z: Ints, refine: Hartigan | None) -> Spectral:
    """Improve labels of a connected part by Hartigan moves alone."""
    return _refined(part, z, int(z.max()) + 1, refine)


def _refined(part: Part, z: Ints, k: int, refine: Hartigan | None) -> Spectral:
    refinement = None
    if refine is not None and k > 1:
        refinement = part.refined(z, k, refine)
        z = refinement.z
    z, k = absorb_fragments(part.A, z)
    return Spectral(z, k, refinement)


def exact_share(
    part: Part,
    V: Floats,
    init: Seed,
    refine: Hartigan | None,
    rng: np.random.Generator,
    found: Detection,
) -> Ints:
    """Return as many communities of a connected part as there are eigenvectors."""
    share = V.shape[1]
    z = _first_labels(part, V, init, rng)
    if refine is not None:
        found.refinements.append(part.refined(z, share, refine))
        z = found.refinements[-1].z
    return z


def _first_labels(part: Part, V: Floats, init: Seed, rng: np.random.Generator) -> Ints:
    """Label the nodes by their embedding rows, and those lost in noise by their neighbors."""
    k = V.shape[1]
    X = embedding_rows(V, init.rows)
    strong = strong_rows(V)
    if strong.all() or np.count_nonzero(strong) < k:
        return init.labels(X, k, rng)
    z = np.full(len(X), -1, dtype=np.int64)
    z[strong] = init.labels(X[strong], k, rng)
    return spread_labels(part.A, z)


def by_filter(
    part: Part,
    moments: Moments,
    init: Seed,
    refine: Hartigan | None,
    rng: np.random.Generator,
    *,
    k: int | None = None,
    leading: Leading | None = None,
) -> Spectral:
    """Find the communities of a connected part by Ritz vectors of a Chebyshev filter.

    Parameters
    ----------
    part : Part
        A connected graph.
    moments : Moments
        Its moments.
    init : Seed
        How embedding rows of length 1 become labels, on a sample of them.
    refine : Hartigan or None
        How the labels are improved on the graph.
    rng : Generator
        For the sample and the starts.
    k : int, optional
        Number of communities; by default as many as there are Ritz values beyond the edge of noise.
        Where it is nearly the number of nodes, exact eigenpairs are used.
    leading : Leading, optional
        The eigenpairs, where they are known.
    """
    if leading is None:
        leading = leading_pairs(moments, count=k)
    if k is not None and leading.k < k:
        # The filter leaves nothing of some eigenvectors in the middle of the spectrum.
        leading = _exact_pairs(part.bound, k)
    k = leading.k
    if k < 2:
        return Spectral(np.zeros(part.bound.n, dtype=np.int64), 1, None)
    z = _labels(_unit_rows(leading.vectors), k, init, rng)
    refinement = None
    if refine is not None:
        refinement = _guarded(part, z, k, refine)
        z = refinement.z
    return Spectral(z, k, refinement)


def _exact_pairs(bound: BoundBetheHessian, count: int) -> Leading:
    values, V = informative_eigenpairs(bound, count, "normalized")
    vectors = V / np.sqrt(bound.diagonal)[:, np.newaxis]
    return Leading(values, vectors.astype(np.float32), complete=True)


def _guarded(part: Part, z: Ints, k: int, method: Hartigan) -> Refinement:
    """Refine labels; the guard, which costs more than the moves, is asked only about a loss."""
    refined = part.refined(z, k, replace(method, guard=None))
    if method.guard is None:
        return refined
    reached = planted_fit(part.A, part.d, refined.z, k=k).gain
    if reached >= planted_fit(part.A, part.d, z, k=k).gain:
        return refined
    return part.refined(z, k, method)


def _unit_rows(vectors: ThinBlock) -> Floats:
    rows = np.empty(vectors.shape)
    for some in _chunks(len(rows)):
        rows[some] = embedding_rows(vectors[some].astype(float), "normalized")
    return rows


def _chunks(n: int) -> Iterator[slice]:
    yield from (slice(i, i + _CHUNK) for i in range(0, n, _CHUNK))


def _labels(X: Floats, k: int, init: Seed, rng: np.random.Generator) -> Ints:
    """Label a sample of the rows, give all others the nearest mean, and let rows move."""
    n = X.shape[0]
    size = max(_SAMPLE, _SAMPLE_PER_COMMUNITY * k)
    if n <= 2 * size:
        return init.labels(X, k, rng)
    sample = np.sort(rng.choice(n, size, replace=False))
    on_sample = init.labels(X[sample], k, rng)
    means = np.zeros((k, X.shape[1]))
    np.add.at(means, on_sample, X[sample])
    means /= np.bincount(on_sample, minlength=k)[:, np.newaxis]
    half_square = 0.5 * np.einsum("ac,ac->a", means, means)
    z = np.empty(n, dtype=np.int64)
    for some in _chunks(n):
        z[some] = np.argmax(np.einsum("ic,ac->ia", X[some], means) - half_square, axis=1)
    # A row of the sample stays where it is, so that no group is empty.
    z[sample] = on_sample
    return improve_rows(X, z, k=k, max_sweeps=_SWEEPS_ON_ALL)[0]
