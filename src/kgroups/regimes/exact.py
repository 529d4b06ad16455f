"""The exact regime: eigenvectors of N_r, component by component."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kgroups._csr import restricted, rows_of, without_diagonal
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
from kgroups.seed import Seed, embedding_rows, informative_eigenpairs

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
    def _rows_by_component(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.component, kind="stable")
        sizes = np.bincount(self.component, minlength=self.n_components)
        return order, np.concatenate([[0], np.cumsum(sizes)])

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

    def rows(self, component: int) -> Ints:
        """Return the nodes of a component, in order."""
        order, start = self._rows_by_component
        return order[start[component] : start[component + 1]]

    def part(self, rows: Ints) -> "Part":
        """Return the problem on a union of components."""
        whole = self.whole
        if len(rows) == whole.d.size:
            return whole
        return Part(restricted(whole.A, rows), whole.d[rows], self.bound.restrict(rows))


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
    k_total = problem.n_components
    for component in _worth_a_look(problem, counts):
        rows, k = problem.rows(component), max(1, int(counts[component]))
        part = problem.part(rows)
        z = np.zeros(len(rows), dtype=np.int64)
        if k > 1:
            _, V = informative_eigenpairs(part.bound, k, init.rows)
            z = init.labels(embedding_rows(V, init.rows), k, rng)
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

    The other way round, from the whole component down, is tried too: where it ends with a shorter
    description, and with no fewer communities than the spectrum shows, its result is taken.
    """
    A = without_diagonal(part.A)
    steps = _split_and_merged(A, z, k, k, weighted=weighted)
    # Description length looks at edges, not weights: it may split what the weighted spectrum
    # leaves whole, but has no say over the communities that the weights have made.
    if k > 1 and not weighted:
        rival = _split_and_merged(A, np.zeros_like(z), 1, k, weighted=weighted)
        measure = DescriptionLength(A)
        if rival[-1].k >= k and (
            measure.of(A, rival[-1].z, rival[-1].k) < measure.of(A, steps[-1].z, steps[-1].k)
        ):
            found.from_above += 1
            steps = rival
    for step in steps:
        found.splits += step.splits
        found.merges += step.merges
        found.nats_saved += step.saved
    return steps[-1].z, steps[-1].k


def _split_and_merged(A: CSR, z: Ints, k: int, least: int, *, weighted: bool) -> list[Rearranged]:
    steps = [split_communities(A, z, k=k)]
    if steps[0].splits and not weighted:
        steps.append(merge_communities(A, steps[0].z, k=steps[0].k, least=least))
    return steps


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
    shares, vectors = _shares(problem, k, init)
    k_total = 0
    for component in np.flatnonzero(shares).tolist():
        rows, share = problem.rows(component), int(shares[component])
        z = np.zeros(len(rows), dtype=np.int64)
        if share > 1:
            X = embedding_rows(vectors[component][:, :share], init.rows)
            z = init.labels(X, share, rng)
            if refine is not None:
                found.refinements.append(problem.part(rows).refined(z, share, refine))
                z = found.refinements[-1].z
        found.z[rows] = k_total + z
        k_total += share
    found.uninformed = np.flatnonzero(found.z < 0)
    if found.uninformed.size:
        largest = int(np.argmax(np.bincount(found.z[found.z >= 0])))
        found.z[found.uninformed] = largest
    return found


def _shares(problem: Problem, k: int, init: Seed) -> tuple[Ints, dict[int, Floats]]:
    """Return how many of the top k eigenvalues each component has, and its eigenvectors."""
    values: list[Floats] = []
    owners: list[Ints] = []
    vectors: dict[int, Floats] = {}
    for component in range(problem.n_components):
        count = min(k, int(problem.sizes[component]))
        if problem.entries[component]:
            part = problem.part(problem.rows(component))
            lam, vectors[component] = informative_eigenpairs(part.bound, count, init.rows)
        else:
            lam = np.zeros(1) if init.rows == "normalized" else np.full(1, -problem.bound.bare)
        values.append(np.round(lam, _DIGITS))
        owners.append(np.full(len(lam), component))
    value, owner = np.concatenate(values), np.concatenate(owners)
    top = np.argsort(-value, kind="stable")[:k]
    return np.bincount(owner[top], minlength=problem.n_components), vectors
