"""The few regime: a Chebyshev-filtered subspace, where communities are large and not many."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kgroups._csr import without_diagonal
from kgroups._types import Floats, Ints
from kgroups.hartigan import improve_rows
from kgroups.operators import BoundBetheHessian
from kgroups.refine import Hartigan, Refinement
from kgroups.refine.likelihood import planted_fit
from kgroups.regimes.core import Core
from kgroups.regimes.problem import Part
from kgroups.seed import Seed, embedding_rows, informative_eigenpairs
from kgroups.spectrum import Leading, Moments, leading_pairs
from kgroups.spectrum.chebyshev_operator import ThinBlock

__all__ = ["FewFound", "few_communities"]

# Starts are tried on this many rows, or this many for each community if that is more.
_SAMPLE = 4_000
_SAMPLE_PER_COMMUNITY = 50
_SWEEPS_ON_ALL = 10
# Rows worked on at a time, so that nothing but the rows themselves is as large as they are.
_ROWS_AT_ONCE = 1 << 13


@dataclass(frozen=True, eq=False)
class FewFound:
    """Labels of one component, and what happened on the way.

    Attributes
    ----------
    z : ndarray of shape (n,)
        Labels from 0 to k - 1, all in use.
    k : int
        Number of communities.
    refinement : Refinement or None
        What refinement did; ``None`` if there was none.
    leading : Leading
        The eigenpairs that were used.
    visits : int
        Matrix entries that the filter read; those of the moments are counted there.
    """

    z: Ints
    k: int
    refinement: Refinement | None
    leading: Leading
    visits: int


def few_communities(
    part: Part,
    found: Moments,
    init: Seed,
    refine: Hartigan | None,
    rng: np.random.Generator,
    *,
    k: int | None = None,
    leading: Leading | None = None,
) -> FewFound:
    """Find the communities of a connected part from its leading Ritz vectors.

    Parameters
    ----------
    part : Part
        A connected graph.
    found : Moments
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

    Returns
    -------
    FewFound
    """
    visited = found.operator.visits
    if leading is None:
        leading = leading_pairs(found, count=k)
    if k is not None and leading.k < k:
        # The filter leaves nothing of some eigenvectors in the middle of the spectrum.
        leading = _exact_pairs(part.bound, k)
    k = leading.k
    z = np.zeros(part.bound.n, dtype=np.int64)
    refinement = None
    if k > 1:
        rows = _unit_rows(leading.vectors)
        z = _labels(rows, k, init, rng)
        if refine is not None:
            refinement = _refined(part, z, k, refine)
            z = refinement.z
        z = _hanging_together(part, z, k)
    return FewFound(z, k, refinement, leading, found.operator.visits - visited)


def _exact_pairs(bound: BoundBetheHessian, count: int) -> Leading:
    values, V = informative_eigenpairs(bound, count, "normalized")
    vectors = V / np.sqrt(bound.diagonal)[:, np.newaxis]
    return Leading(values, vectors.astype(np.float32), complete=True)


def _hanging_together(part: Part, z: Ints, k: int) -> Ints:
    """Give pendant trees the label of the node that they hang from, unless a group would go."""
    core = Core(without_diagonal(part.A))
    together = core.spread(z[core.rows])
    return together if np.unique(together).size == k else z


def _refined(part: Part, z: Ints, k: int, method: Hartigan) -> Refinement:
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
    for some in _slices(len(rows)):
        rows[some] = embedding_rows(vectors[some].astype(float), "normalized")
    return rows


def _slices(n: int) -> Iterator[slice]:
    yield from (slice(i, i + _ROWS_AT_ONCE) for i in range(0, n, _ROWS_AT_ONCE))


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
    for some in _slices(n):
        z[some] = np.argmax(np.einsum("ic,ac->ia", X[some], means) - half_square, axis=1)
    # A row of the sample stays where it is, so that no group is empty.
    z[sample] = on_sample
    return improve_rows(X, z, k=k, max_sweeps=_SWEEPS_ON_ALL)[0]
