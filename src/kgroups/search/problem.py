"""A graph made ready for detection, and what detection finds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kgroups._csr import block, restricted, rows_of, without_diagonal
from kgroups._types import CSR, Floats, Ints, SelfLoops
from kgroups.adapters import canonical_order
from kgroups.embedding import KMeansSeed, Seed
from kgroups.graph import Graph
from kgroups.multilevel import Level, finest_level
from kgroups.operators import BetheHessian, BoundBetheHessian
from kgroups.refine import Hartigan, Refinement, refine_labels
from kgroups.report import ComponentReport
from kgroups.search.settings import Regime
from kgroups.spectrum import connected_components, two_core

__all__ = ["Detection", "Options", "Part", "Prepared", "Problem", "prepared"]

_FAINTEST = 1e-150
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

        Beside many small components the mean degree of the whole graph says nothing of a large
        one; its moments are those of a signal-to-noise ratio only at its own r. Nor do thousands
        of leaves at one hub count: where the 2-core is much denser, its mean degree is taken.
        """
        lengths = np.diff(self.A.indptr)
        c = float(lengths.sum()) / max(1, int(np.count_nonzero(lengths)))
        if self.bound.r_choice == "given":
            return self
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

    def level(self, *, weighted: bool, component: Ints | None = None) -> Level:
        """Return the finest level: saturated weights, in units in which they vary like counts."""
        A = without_diagonal(self._saturated() if weighted else self.A)
        return finest_level(A, weighted=weighted, component=component)

    def _saturated(self) -> CSR:
        indptr, indices, coupling = self.bound.coupling
        # The coupling is x / (1 - x^2) of the weight x in units of r.
        twice = 2.0 * coupling
        return CSR(indptr, indices, twice / (1.0 + np.sqrt(1.0 + np.square(twice))))

    def refined(self, z: Ints, k: int, method: Hartigan) -> Refinement:
        """Return labels refined inside this part."""
        return refine_labels(self.bound, self.A, self.d, z, k=k, method=method)


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph ready for detection: canonical order, loops settled, operator bound."""

    A: CSR
    bound: BoundBetheHessian
    component: Ints
    n_components: int
    weighted: bool

    @cached_property
    def whole(self) -> Part:
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
    def _by_component(self) -> tuple[Ints, Ints, Part]:
        """Rows sorted by component, where each component starts, and the graph in that order."""
        if self.n_components == 1:
            return np.arange(self.bound.n), np.array([0, self.bound.n]), self.whole
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

    def part(self, component: int) -> tuple[Ints, Part]:
        """Return the nodes of a component, in order, and the problem on them."""
        order, start, ordered = self._by_component
        if self.n_components == 1:
            return order, ordered
        first, last = int(start[component]), int(start[component + 1])
        part = Part(
            block(ordered.A, first, last),
            ordered.d[first:last],
            ordered.bound.block(first, last),
        )
        return order[first:last], part

    @cached_property
    def by_component(self) -> tuple[Ints, Ints]:
        """Nodes sorted by component, and where each component starts among them."""
        order, start, _ = self._by_component
        return order, start

    @cached_property
    def level(self) -> Level:
        """The finest level of the whole graph, its nodes sorted by component."""
        order, _, ordered = self._by_component
        return ordered.level(weighted=self.uneven, component=self.component[order])


class Options(NamedTuple):
    """What the caller asked for, and whether edges differ in weight."""

    regime: Regime
    init: Seed
    refine: Hartigan | None
    weighted: bool
    tell: Callable[[str], None]

    @property
    def chosen(self) -> bool:
        """Whether the caller has chosen how eigenvectors become labels."""
        return self.init != KMeansSeed() or self.refine != Hartigan()


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


def prepared(
    graph: Graph, operator: BetheHessian = BetheHessian(), self_loops: SelfLoops = "drop"
) -> Prepared:
    """Put a graph in canonical order, settle its loops, bind the operator."""
    order, ordering = canonical_order(graph)
    if order is not None:
        graph = graph.permuted(order)
    A = graph.simple_adjacency(loops=self_loops == "keep")
    bound = operator.bind(A, weighted=graph.is_weighted)
    n_components, component = connected_components(A)
    problem = Problem(A, bound, component, n_components, graph.is_weighted)
    return Prepared(problem, order, ordering)


@dataclass(eq=False)
class Detection:
    """Labels in canonical order, and what happened on the way."""

    z: Ints
    uninformed: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    refinements: list[Refinement] = field(default_factory=list)
    components: list[ComponentReport] = field(default_factory=list)
    visits: int = 0

    def settle_uninformed(self) -> None:
        """Give the nodes without a label, which are -1, to the largest community."""
        self.uninformed = np.flatnonzero(self.z < 0)
        if self.uninformed.size:
            self.z[self.uninformed] = int(np.argmax(np.bincount(self.z[self.z >= 0])))
