"""The exact regime: eigenvectors of N_r, component by component."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kgroups._csr import block, restricted, rows_of, without_diagonal
from kgroups._types import CSR, Floats, Ints
from kgroups.operators import BoundBetheHessian
from kgroups.refine import (
    DescriptionLength,
    Hartigan,
    Rearranged,
    Refinement,
    absorb_fragments,
    merge_communities,
    refine_labels,
    split_communities,
)
from kgroups.seed import (
    Seed,
    embedding_rows,
    informative_eigenpairs,
    spread_labels,
    strong_rows,
)

__all__ = ["Found", "Problem", "communities_found", "communities_given_k"]

# Eigenvalues of equal components differ in rounding only; they must rank as equal.
_DIGITS = 9
_FAINTEST = 1e-150


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph ready for detection: canonical order, loops settled, operator bound."""

    A: CSR
    bound: BoundBetheHessian
    component: Ints
    n_components: int
    weighted: bool

    @cached_property
    def whole(self) -> "Part":
        """The whole graph, its weights in units of the largest."""
        indptr, indices, data = self.A
        if self.weighted and data.size:
            # Strengths are squared and multiplied later on; no weight may vanish on the way.
            data = np.maximum(data / data.max(), _FAINTEST)
        d = np.bincount(rows_of(self.A), weights=data, minlength=self.bound.n)
        return Part(CSR(indptr, indices, data), d.astype(float), self.bound)

    @cached_property
    def uneven(self) -> bool:
        """Whether edges differ in weight; equal weights say no more than none."""
        if not self.weighted:
            return False
        data = without_diagonal(self.whole.A).data
        return bool(np.any(data != data[:1]))

    @cached_property
    def _by_component(self) -> tuple[Ints, Ints, "Part"]:
        """Rows sorted by component, where each component starts, and the graph in that order."""
        order = np.argsort(self.component, kind="stable")
        start = np.concatenate([[0], np.cumsum(self.sizes)])
        whole = self.whole
        return (
            order,
            start,
            Part(restricted(whole.A, order), whole.d[order], self.bound.restrict(order)),
        )

    @cached_property
    def sizes(self) -> Ints:
        """Nodes of each component."""
        return np.bincount(self.component, minlength=self.n_components)

    @cached_property
    def entries(self) -> Ints:
        """Matrix entries of each component."""
        lengths = np.diff(self.A.indptr)
        weighted = np.bincount(self.component, weights=lengths, minlength=self.n_components)
        return weighted.astype(np.int64)

    def part(self, component: int) -> tuple[Ints, "Part"]:
        """Return the nodes of a component, in order, and the problem on them."""
        if self.n_components == 1:
            return np.arange(self.bound.n), self.whole
        order, start, ordered = self._by_component
        first, last = int(start[component]), int(start[component + 1])
        part = Part(
            block(ordered.A, first, last),
            ordered.d[first:last],
            ordered.bound.block(first, last),
        )
        return order[first:last], part


@dataclass(frozen=True, eq=False)
class Part:
    """A union of components: adjacency, row sums and operator."""

    A: CSR
    d: Floats
    bound: BoundBetheHessian

    def refined(self, z: Ints, k: int, method: Hartigan) -> Refinement:
        """Return labels refined inside this part."""
        return refine_labels(self.bound, self.A, self.d, z, k=k, method=method)


@dataclass(eq=False)
class Found:
    """Labels in canonical order, and what happened on the way."""

    z: Ints
    uninformed: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    refinements: list[Refinement] = field(default_factory=list)
    splits: int = 0
    merges: int = 0
    nats_saved: float = 0.0
    from_above: int = 0


def communities_found(
    problem: Problem, counts: Ints, init: Seed, refine: Hartigan | None, rng: np.random.Generator
) -> Found:
    """Find communities when k is not given: connected, and never across components.

    A component has at least as many communities as ``counts`` says, which is its number of
    eigenvalues above the threshold. More come from splits that shorten its description.
    """
    found = Found(problem.component.copy())
    entropy = int(rng.integers(2**63))
    k_total = problem.n_components
    for component in _worth_a_look(problem, counts):
        k = max(1, int(counts[component]))
        rows, part = problem.part(component)
        z = np.zeros(len(rows), dtype=np.int64)
        if k > 1:
            _, V = informative_eigenpairs(part.bound, k, init.rows)
            z = _first_labels(part, V, init, np.random.default_rng([entropy, component]))
            if refine is not None:
                found.refinements.append(part.refined(z, k, refine))
                z = found.refinements[-1].z
            z, _ = absorb_fragments(part.A, z)
        if refine is not None:
            z, k = _rearranged(part, z, k, found, weighted=problem.uneven)
        found.z[rows] = np.where(z == 0, component, k_total + z - 1)
        k_total += k - 1
    return found


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


def _worth_a_look(problem: Problem, counts: Ints) -> Iterator[int]:
    """Yield the components that may hold more than one community, in order."""
    # With fewer edges than nodes + 1 a component is a tree or has one cycle.
    dense_enough = (problem.sizes >= 6) & (problem.entries >= 2 * (problem.sizes + 1))
    yield from np.flatnonzero((counts > 1) | dense_enough).tolist()


def communities_given_k(
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
        z = np.zeros(len(rows), dtype=np.int64)
        if share == len(rows):
            z = np.arange(share)
        elif share > 1:
            V = vectors[component][:, :share]
            z = _first_labels(part, V, init, np.random.default_rng([entropy, component]))
            if refine is not None:
                found.refinements.append(part.refined(z, share, refine))
                z = found.refinements[-1].z
        found.z[rows] = k_total + z
        k_total += share
    found.uninformed = np.flatnonzero(found.z < 0)
    if found.uninformed.size:
        largest = int(np.argmax(np.bincount(found.z[found.z >= 0])))
        found.z[found.uninformed] = largest
    return found


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
