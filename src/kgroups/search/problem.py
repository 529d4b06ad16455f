"""A graph prepared for detection, and what detection finds."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import (
    block,
    connected_components,
    restricted,
    row_lengths,
    rows_of,
    two_core,
    without_diagonal,
)
from kgroups._types import CSR, Floats, Ints, SelfLoops
from kgroups.adapters import canonical_order
from kgroups.embedding import Init, KMeansInit
from kgroups.graph import Graph
from kgroups.multilevel import Level, finest_level
from kgroups.operators import BetheHessian, BoundBetheHessian
from kgroups.refine import Hartigan, Refinement, RefinementProblem, Refiner
from kgroups.report import ComponentReport, RefinementReport
from kgroups.search.settings import Method, Search, Spectral, search_of, spectral_of
from kgroups.spectrum import ComponentCounts

# Least weight in units of the largest: strengths are squared and multiplied without underflow.
_LEAST_WEIGHT = 1e-150
# The 2-core gives the mean degree if more than this share of the nodes are leaves, and if it is
# denser than the graph by more than this factor: then the leaves, not the graph, are sparse.
_MANY_LEAVES = 0.3
_MUCH_DENSER = 1.5


@dataclass(frozen=True, eq=False)
class Part:
    """A union of components: adjacency, row sums and operator."""

    A: CSR
    d: Floats
    bound: BoundBetheHessian

    def with_own_r(self, *, weighted: bool) -> "Part":
        """Return the part with the r of its own mean degree, if a rule has chosen r.

        The mean degree of a whole graph of many small components says nothing about a large one,
        whose moments measure a signal-to-noise ratio only at its own r. Thousands of leaves at one
        hub do not count either: where the 2-core is much denser, its mean degree is taken.
        """
        if self.bound.r_choice == "given":
            return self
        lengths = np.diff(self.A.indptr)
        c = float(lengths.sum()) / max(1, int(np.count_nonzero(lengths)))
        operator = BetheHessian(self.bound.r_choice)  # type: ignore[arg-type]
        if not weighted and np.count_nonzero(lengths == 1) > _MANY_LEAVES * len(lengths):
            kept = two_core(self.A)
            inside = kept[rows_of(self.A)] & kept[self.A.indices]
            core = float(np.count_nonzero(inside)) / max(1, int(np.count_nonzero(kept)))
            if core > _MUCH_DENSER * c:
                operator, c = BetheHessian(np.sqrt(core)), core
        if c == self.bound.c:
            return self
        return Part(self.A, self.d, operator.bind(self.A, weighted=weighted))

    def restricted(self, rows: Ints) -> "Part":
        """Return the part on some of its nodes."""
        return Part(restricted(self.A, rows), self.d[rows], self.bound.restrict(rows))

    def refinement(self, k: int, *, fast: bool = False) -> RefinementProblem:
        """Return what a refiner of ``k`` groups needs to know."""
        return RefinementProblem(self.A, self.d, self.bound, k, fast)

    def level(self, *, weighted: bool, component: Ints | None = None, loops: bool = True) -> Level:
        """Return the finest level: saturated weights, in units in which they vary like counts.

        Without ``loops`` there are none to be removed.
        """
        A = self.bound.saturated_weights() if weighted else self.A
        if loops:
            A = without_diagonal(A)
        return finest_level(A, weighted=weighted, component=component)


class Pieces(NamedTuple):
    """A graph and its Bethe Hessian as kernels take them, nodes sorted by component."""

    # Weights in units of the largest; one number where all are equal.
    A: CSR
    # Row sums of A.
    strength: Floats
    # The coupling of the Bethe Hessian at the entries of A, one number where all are equal, and
    # its diagonal.
    coupling: Floats
    diagonal: Floats


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph in canonical order, self-loops kept or dropped, operator bound."""

    A: CSR
    bound: BoundBetheHessian
    component: Ints
    n_components: int
    weighted: bool
    loops: bool

    @cached_property
    def whole(self) -> Part:
        """The whole graph, its weights in units of the largest."""
        indptr, indices, data = self.A
        if self.weighted and data.size:
            data = np.maximum(data / data.max(), _LEAST_WEIGHT)
            d = np.bincount(rows_of(self.A), weights=data, minlength=self.bound.n)
        else:
            d = row_lengths(self.A)
        return Part(CSR(indptr, indices, data), d.astype(float), self.bound)

    @cached_property
    def uneven(self) -> bool:
        """Whether edges differ in weight; equal weights carry no information."""
        if not self.weighted:
            return False
        A = self.whole.A
        data = (without_diagonal(A) if self.loops else A).data
        return bool(np.any(data != data[:1]))

    @cached_property
    def sizes(self) -> Ints:
        """Nodes of each component."""
        return np.bincount(self.component, minlength=self.n_components)

    @cached_property
    def entries(self) -> Ints:
        """Matrix entries of each component."""
        lengths = row_lengths(self.A)
        entries = np.bincount(self.component, weights=lengths, minlength=self.n_components)
        return entries.astype(np.int64)

    @cached_property
    def by_component(self) -> tuple[Ints, Ints]:
        """Nodes sorted by component, and where each component starts among them."""
        n = len(self.component)
        if self.n_components == 1:
            return np.arange(n), np.array([0, n])
        order = np.argsort(self.component, kind="stable")
        return order, np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def _ordered(self) -> Part:
        """The whole graph, its nodes sorted by component."""
        return self.whole if self.n_components == 1 else self.whole.restricted(self.by_component[0])

    def part(self, component: int) -> tuple[Ints, Part]:
        """Return the nodes of a component, in order, and the graph on them."""
        order, start = self.by_component
        whole = self._ordered
        if self.n_components == 1:
            return order, whole
        first, last = int(start[component]), int(start[component + 1])
        bound = whole.bound.block(first, last)
        return order[first:last], Part(block(whole.A, first, last), whole.d[first:last], bound)

    @cached_property
    def pieces(self) -> Pieces:
        """The graph and its Bethe Hessian for kernels."""
        whole = self._ordered
        data, coupling = whole.A.data, whole.bound.coupling.data
        if not self.weighted:
            data, coupling = data[:1], coupling[:1]
        A = CSR(*map(_writable, (whole.A.indptr, whole.A.indices, data)))
        return Pieces(A, whole.d, _writable(coupling), whole.bound.diagonal)

    @cached_property
    def level(self) -> Level:
        """The finest level of the whole graph, its nodes sorted by component."""
        component = self.component[self.by_component[0]] if self.uneven else None
        return self._ordered.level(weighted=self.uneven, component=component, loops=self.loops)


def _writable(array: Any) -> Any:
    """Return an array that numba takes for one of its own, copied only if it must be."""
    return np.require(array, None, ["C", "W"])


class Options(NamedTuple):
    """The options of the caller, and whether edges differ in weight."""

    method: Method
    init: Init
    refine: Refiner | None
    weighted: bool
    progress: Callable[[str], None]

    @property
    def chosen(self) -> bool:
        """Whether the caller has chosen how eigenvectors become labels."""
        return self.init != KMeansInit() or self.refine != Hartigan()

    @property
    def search(self) -> Search | None:
        """Settings of the search, None if there is none."""
        return search_of(self.method)

    @property
    def spectral(self) -> Spectral:
        """How eigenvectors are computed."""
        return spectral_of(self.method)


class Prepared(NamedTuple):
    """A problem, the order of its nodes among those of the graph, and where that came from."""

    problem: Problem
    order: Ints | None
    ordering: str

    def restored(self, z: Ints) -> Ints:
        """Return labels in the order of the graph."""
        if self.order is None:
            return z
        labels = np.empty_like(z)
        labels[self.order] = z
        return labels


def prepare(
    graph: Graph, operator: BetheHessian = BetheHessian(), self_loops: SelfLoops = "drop"
) -> Prepared:
    """Put a graph in canonical order, keep or drop its self-loops, bind the operator."""
    order, ordering = canonical_order(graph)
    if order is not None:
        graph = graph.permuted(order)
    A = graph.simple_adjacency(loops=self_loops == "keep")
    bound = operator.bind(A, weighted=graph.is_weighted)
    n_components, component = connected_components(A)
    loops = self_loops == "keep" and graph.n_loops > 0
    problem = Problem(A, bound, component, n_components, graph.is_weighted, loops)
    return Prepared(problem, order, ordering)


class Proposal(NamedTuple):
    """Labels of a connected part, their number, and the refinement if there was one."""

    z: Ints
    k: int
    refinement: Refinement | None


@dataclass(eq=False)
class RefinementTotals:
    """Sums over all refinements of a detection."""

    components: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    sweeps: int = 0
    moves: int = 0
    visits: int = 0
    converged: bool = True
    models: Counter[str] = field(default_factory=Counter)

    def add(self, one: Refinement) -> None:
        """Count one refinement."""
        self.components += 1
        self.kept[one.kept] += 1
        self.sweeps += one.sweeps
        self.moves += one.moves
        self.visits += one.visits
        self.converged &= one.converged
        if one.model:
            self.models[one.model] += 1

    def add_all(self, done: Ints, names: Sequence[str]) -> None:
        """Count what a kernel did in several components, a row each.

        A row has the number of the name of the labels that were kept, sweeps, moves, entries read,
        and 1 if the refinement converged.
        """
        self.components += len(done)
        self.kept.update(names[kept] for kept in done[:, 0].tolist())
        sweeps, moves, visits = done[:, 1:4].sum(axis=0).tolist()
        self.sweeps, self.moves = self.sweeps + sweeps, self.moves + moves
        self.visits += visits
        self.converged &= bool(done[:, 4].all())

    def report(self, method: str) -> RefinementReport:
        """Return the totals of a method as the report shows them."""
        return RefinementReport(
            method,
            self.components,
            dict(self.kept),
            self.sweeps,
            self.moves,
            self.visits,
            self.converged,
            dict(self.models),
        )


@dataclass(eq=False)
class Detection:
    """Labels in canonical order, and how they were found.

    ``counts`` are the eigenvalues above the threshold, if all components were counted.
    """

    z: Ints
    uninformed: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    refinements: RefinementTotals = field(default_factory=RefinementTotals)
    components: list[ComponentReport] = field(default_factory=list)
    visits: int = 0
    counts: ComponentCounts | None = None

    def keep(self, proposal: Proposal) -> Ints:
        """Record a refinement, and return its labels."""
        if proposal.refinement is not None:
            self.refinements.add(proposal.refinement)
        return proposal.z

    def assign_uninformed(self) -> None:
        """Give the nodes without a label, which are -1, to the largest community."""
        self.uninformed = np.flatnonzero(self.z < 0)
        if self.uninformed.size:
            self.z[self.uninformed] = int(np.argmax(np.bincount(self.z[self.z >= 0])))
