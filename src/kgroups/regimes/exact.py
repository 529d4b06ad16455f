"""The exact regime: eigenvectors of N_r, component by component."""

import numpy as np

from kgroups._csr import without_diagonal
from kgroups._types import CSR, Floats, Ints
from kgroups.refine import (
    DescriptionLength,
    Hartigan,
    Rearranged,
    absorb_fragments,
    merge_communities,
    split_communities,
)
from kgroups.regimes.problem import Found, Part, Problem
from kgroups.seed import (
    Seed,
    embedding_rows,
    informative_eigenpairs,
    spread_labels,
    strong_rows,
)

__all__ = ["exact_communities", "exact_given_k", "exact_share"]

# Eigenvalues of equal components differ in rounding only; they must rank as equal.
_DIGITS = 9


def exact_communities(
    part: Part,
    k: int,
    init: Seed,
    refine: Hartigan | None,
    rng: np.random.Generator,
    found: Found,
    *,
    weighted: bool,
    start: Ints | None = None,
) -> tuple[Ints, int]:
    """Find the communities of a connected part.

    There are at least ``k``, the number of its eigenvalues above the threshold, or as many as
    ``start`` has if labels to start from are given. More come from splits that shorten the
    description. What happened is added to ``found``.
    """
    z = np.zeros(part.bound.n, dtype=np.int64)
    if start is not None:
        z, k = start, int(start.max()) + 1
    elif k > 1:
        _, V = informative_eigenpairs(part.bound, k, init.rows)
        z = _first_labels(part, V, init, rng)
    if k > 1:
        if refine is not None:
            found.refinements.append(part.refined(z, k, refine))
            z = found.refinements[-1].z
        z, _ = absorb_fragments(part.A, z)
    if refine is not None:
        z, k = _rearranged(part, z, k, found, weighted=weighted)
    return z, k


def _rearranged(part: Part, z: Ints, k: int, found: Found, *, weighted: bool) -> tuple[Ints, int]:
    """Split communities by description length, and merge what is in excess of the spectrum.

    The other way round, from the whole component down, is tried too: its result is taken where it
    ends with a shorter description and no community of the spectrum is lost in it.
    """
    A = without_diagonal(part.A)
    # Description length looks at edges, not weights: it may split what the weighted spectrum
    # leaves whole, but has no say over the communities that the weights have made.
    steps = _split_and_merged(A, z, z, k, across=not weighted)
    if k > 1 and not weighted:
        rival = _split_and_merged(A, np.zeros_like(z), z, k, across=True)
        if len(rival) > 1 and _length(A, rival[-1]) < _length(A, steps[-1]):
            found.from_above += 1
            steps = rival
    for step in steps:
        found.splits += step.splits
        found.merges += step.merges
        found.nats_saved += step.saved
    return steps[-1].z, steps[-1].k


def _length(A: CSR, state: Rearranged) -> float:
    return DescriptionLength(A).of(A, state.z, state.k)


def _split_and_merged(
    A: CSR, start: Ints, spectral: Ints, k: int, *, across: bool
) -> list[Rearranged]:
    """Split, and merge unless a community of the spectrum has lost its majority everywhere."""
    split = split_communities(A, start, k=int(start.max()) + 1)
    shared = np.bincount(split.z * k + spectral, minlength=split.k * k).reshape(split.k, k)
    owner = np.argmax(shared, axis=1)
    if not split.splits or np.unique(owner).size < k:
        return [split]
    return [split, merge_communities(A, split.z, k=split.k, owner=owner, across=across)]


def exact_given_k(
    problem: Problem, k: int, init: Seed, refine: Hartigan | None, rng: np.random.Generator
) -> Found:
    """Find exactly ``k`` communities.

    The k most informative eigenvalues of the whole graph decide how many communities each
    component gets; components that get none join the largest community and are uninformed.
    """
    found = Found(np.full(problem.bound.n, -1, dtype=np.int64))
    entropy = int(rng.integers(2**63))
    shares, vectors = _shares(problem, k, init)
    k_total = 0
    for component in np.flatnonzero(shares).tolist():
        share = int(shares[component])
        rows, part = problem.part(component)
        stream = np.random.default_rng([entropy, component])
        V = vectors[component][:, :share] if component in vectors else np.zeros((len(rows), share))
        found.z[rows] = k_total + exact_share(part, V, init, refine, stream, found)
        k_total += share
    found.settle_uninformed()
    return found


def exact_share(
    part: Part,
    V: Floats,
    init: Seed,
    refine: Hartigan | None,
    rng: np.random.Generator,
    found: Found,
) -> Ints:
    """Return as many communities of a connected part as there are eigenvectors."""
    n, share = V.shape
    if share == n:
        return np.arange(n)
    if share == 1:
        return np.zeros(n, dtype=np.int64)
    z = _first_labels(part, V, init, rng)
    if refine is not None:
        found.refinements.append(part.refined(z, share, refine))
        z = found.refinements[-1].z
    return z


def _first_labels(part: Part, V: Floats, init: Seed, rng: np.random.Generator) -> Ints:
    """Label the nodes by their embedding rows, and those lost in noise by their neighbours."""
    k = V.shape[1]
    X = embedding_rows(V, init.rows)
    strong = strong_rows(V)
    if strong.all() or np.count_nonzero(strong) < k:
        return init.labels(X, k, rng)
    z = np.full(len(X), -1, dtype=np.int64)
    z[strong] = init.labels(X[strong], k, rng)
    return spread_labels(part.A, z)


def _shares(problem: Problem, k: int, init: Seed) -> tuple[Ints, dict[int, Floats]]:
    """Return how many of the top k eigenvalues each component has, and its eigenvectors.

    Isolated nodes come last: they are communities of their own only when nothing else is left.
    """
    values: list[Floats] = []
    owners: list[Ints] = []
    vectors: dict[int, Floats] = {}
    for component in range(problem.n_components):
        if problem.entries[component]:
            count = min(k, int(problem.sizes[component]))
            _, part = problem.part(component)
            lam, vectors[component] = informative_eigenpairs(part.bound, count, init.rows)
        else:
            lam = np.full(1, -np.inf)
        values.append(np.round(lam, _DIGITS))
        owners.append(np.full(len(lam), component))
    value, owner = np.concatenate(values), np.concatenate(owners)
    top = np.argsort(-value, kind="stable")[:k]
    return np.bincount(owner[top], minlength=problem.n_components), vectors
