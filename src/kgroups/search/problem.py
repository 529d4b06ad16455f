"""A graph prepared for detection."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import (
    block,
    connected_components,
    restricted,
    row_lengths,
    rows_of,
    without_diagonal,
    writable,
)
from kgroups._progress import new_control
from kgroups._types import CSR, Floats, Indices, Ints, SelfLoops
from kgroups.graph import Graph, canonical_order
from kgroups.hartigan.refine import ROUNDING, PlantedFit, fit_of_sums
from kgroups.search._search_nb import ROUNDING as ROUNDING_OF_GAINS
from kgroups.search.climbing import MoveRules, climb
from kgroups.search.levels import Level, finest_level
from kgroups.search.objective import Objective, totals
from kgroups.spectrum import BetheHessian, BoundOperator, Operator

# Least weight in units of the largest: strengths are squared and multiplied without underflow.
_LEAST_EDGE_WEIGHT = 1e-150
# Nats that a likelihood move must gain; a node closer to a tie keeps its label.
_MARGIN_NATS = 0.5
# Rates and labels are improved in turn at most this often.
_MAX_ROUNDS = 5
# Visits to each node in a round before its moves end.
_MAX_VISITS = 20
# Keeps the rate between groups positive when no edge is cut.
_LEAST_RATE = 1e-3


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph with its operator, nodes sorted by component and then by name.

    Attributes
    ----------
    A : CSR of shape (n, n)
        Symmetric adjacency matrix, weights in units of the largest.
    strength : ndarray of shape (n,)
        Row sums of A.
    hessian : BoundOperator
        The operator of the graph, by default its Bethe Hessian.
    offsets : ndarray of shape (n_components + 1,)
        Where each component starts among the nodes, and their number.
    weighted : bool
        Whether edges differ in weight; equal weights carry no information.
    loops : bool
        Whether A has self-loops.
    fast : bool
        Whether the graph may be large; costly safeguards are then run only after a loss.
    dispersion : float
        What the evidence of edges is divided by, because edges are correlated.
    """

    A: CSR
    strength: Floats
    hessian: BoundOperator
    offsets: Ints
    weighted: bool
    loops: bool
    fast: bool = False
    dispersion: float = 1.0

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.hessian.n

    @property
    def n_components(self) -> int:
        """Number of components."""
        return self.offsets.size - 1

    @cached_property
    def sizes(self) -> Ints:
        """Nodes of each component."""
        return np.diff(self.offsets)

    @cached_property
    def entries(self) -> Ints:
        """Matrix entries of each component."""
        return np.diff(self.A.indptr[self.offsets]).astype(np.int64)

    @cached_property
    def component(self) -> Ints:
        """The component of each node."""
        return np.repeat(np.arange(self.n_components), self.sizes)

    @cached_property
    def level(self) -> Level:
        """The finest level: saturated weights, in units in which they vary like counts.

        They are divided by the dispersion.
        """
        A = self.hessian.search_weights(self.A) if self.weighted else self.A
        A = without_diagonal(A) if self.loops else A
        level = finest_level(A, weighted=self.weighted, offsets=self.offsets)
        return level.divided(self.dispersion)

    @cached_property
    def objective(self) -> Objective:
        """The code lengths of its components."""
        return Objective.of(self.level, self.dispersion)

    def rows(self, component: int) -> slice:
        """Return the place of a component among the nodes."""
        return slice(*self.offsets[component : component + 2].tolist())

    def part(self, component: int) -> "Problem":
        """Return the problem on one component."""
        if self.n_components == 1:
            return self
        rows = self.rows(component)
        part = replace(
            self,
            A=block(self.A, rows.start, rows.stop),
            strength=self.strength[rows],
            hessian=self.hessian.block(rows.start, rows.stop),
            offsets=np.array([0, rows.stop - rows.start]),
        )
        # Known already, and a view.
        part.__dict__["level"] = self.level.block(component)
        return part

    def planted_fits(self, z: Ints, k: Ints, which: Ints) -> list[PlantedFit]:
        """Fit the rates of the planted partition to ``k`` groups in each of some components."""
        return planted_fits(self.level, z, k, which)

    def likelihood_moves(self, z: Ints, k: Ints, which: Ints) -> Ints:
        """Return the labels that moves on that likelihood reach; no group is emptied."""
        return likelihood_moves(self.level, z, k, which)

    def as_one(self) -> "Problem":
        """Return the problem with all components taken as one."""
        return replace(self, offsets=np.array([0, self.n]))

    def dispersed(self, dispersion: float) -> "Problem":
        """Return the problem with the evidence of edges divided by a dispersion."""
        if dispersion == self.dispersion:
            return self
        changed = replace(self, dispersion=dispersion)
        if self.dispersion == 1.0:
            # Known already.
            changed.__dict__["level"] = self.level.divided(dispersion)
        return changed

    def restricted(self, rows: Ints) -> "Problem":
        """Return the problem on some of its nodes, as if these were one component."""
        A, hessian = restricted(self.A, rows), self.hessian.restrict(rows)
        whole = np.array([0, rows.size])
        return replace(self, A=A, strength=self.strength[rows], hessian=hessian, offsets=whole)

    def at(self, operator: Operator) -> "Problem":
        """Return the problem with another operator."""
        return replace(self, hessian=operator.bind(self.A, weighted=self.weighted))

    def with_own_operator(self) -> "Problem":
        """Return the problem with the operator that suits its own graph.

        The operator of a whole graph with many small components may not suit a large component.
        """
        own = self.hessian.for_part(self.A, weighted=self.weighted)
        return self if own is self.hessian else replace(self, hessian=own)


class Prepared(NamedTuple):
    """A problem, the order of its nodes among those of the graph, and where that came from."""

    problem: Problem
    order: Ints | None
    ordering: str
    # Number of each component by the first of its names; None if they are in that order.
    numbers: Ints | None = None

    def sorted(self, values: Any) -> Any:
        """Return values in the order of the problem."""
        return values if self.order is None else values[self.order]

    def restored(self, values: Any) -> Any:
        """Return values in the order of the graph."""
        if self.order is None:
            return values
        restored = np.empty_like(values)
        restored[self.order] = values
        return restored


def prepare(
    graph: Graph,
    operator: Operator = BetheHessian(),
    self_loops: SelfLoops = "drop",
    *,
    shuffle: Ints | None = None,
) -> Prepared:
    """Sort the nodes of a graph, keep or drop its self-loops, bind the operator.

    ``shuffle`` is a permutation of the sorted nodes, which replaces their order.
    """
    named, ordering = canonical_order(graph)
    order, numbers = named, None
    if shuffle is not None:
        order = shuffle if named is None else named[shuffle]
    keep = self_loops == "keep"
    A = graph.simple_adjacency(loops=keep)
    n_components, component = connected_components(A)
    offsets = np.array([0, graph.n])
    if n_components != 1:
        # Components are numbered by their first nodes.
        ranked = component if order is None else component[order]
        rank = _ranks(ranked, n_components)
        if shuffle is not None:
            numbers = np.empty_like(rank)
            numbers[rank] = _ranks(component if named is None else component[named], n_components)
        by_component = np.argsort(rank[ranked], kind="stable")
        if np.any(by_component[1:] < by_component[:-1]):
            order = by_component if order is None else order[by_component]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rank[component]))])
    if order is not None:
        A = graph.permuted(order, named=False).simple_adjacency(loops=keep)
    A = CSR(writable(A.indptr), writable(A.indices), A.data)
    hessian = operator.bind(A, weighted=graph.is_weighted)
    loops, weighted = keep and graph.n_loops > 0, False
    strength = row_lengths(A).astype(float)
    if graph.is_weighted and A.data.size:
        A = A._replace(data=np.maximum(A.data / A.data.max(), _LEAST_EDGE_WEIGHT))
        strength = np.bincount(rows_of(A), weights=A.data, minlength=graph.n)
        links = (without_diagonal(A) if loops else A).data
        weighted = bool(np.any(links != links[:1]))
    problem = Problem(A, strength, hessian, offsets, weighted, loops)
    return Prepared(problem, order, ordering, numbers)


def _ranks(component: Ints, n_components: int) -> Ints:
    """Return the place of each component by its first node, for the components of all nodes."""
    rank = np.empty(n_components, dtype=np.int64)
    rank[component[np.sort(np.unique(component, return_index=True)[1])]] = np.arange(n_components)
    return rank


def labels_from_zero(z: Ints, problem: Problem) -> tuple[Indices, Ints]:
    """Return labels that start from 0 in each component, without gaps, and their numbers."""
    names, place = np.unique(
        problem.component * (int(z.max(initial=0)) + 1) + z, return_inverse=True
    )
    owner = np.empty(names.size, dtype=np.int64)
    owner[place] = problem.component
    k = np.bincount(owner, minlength=problem.n_components)
    first = (np.cumsum(k) - k)[owner]
    return (np.arange(names.size) - first)[place].astype(np.int32), k


def planted_fits(level: Level, z: Ints, k: Ints, which: Ints) -> list[PlantedFit]:
    """Fit the rates of the groups of some components separately."""
    sums = totals(level, z.astype(np.int32, copy=False), k, which).sums[which].tolist()
    entries = level.entries[which].tolist()
    return [fit_of_sums(number, *own) for number, own in zip(entries, sums, strict=True)]


def likelihood_moves(level: Level, z: Ints, k: Ints, which: Ints) -> Ints:
    """Move nodes while the planted-partition likelihood rises; no group is emptied.

    With both rates fixed the likelihood is a modularity at resolution
    (inside - between) / ln(inside / between); rates and labels are improved in turn.
    """
    parts, none = k.size, np.zeros(0)
    total, penalty, margin = (np.zeros(parts) for _ in range(3))
    total[which] = [level.strength[level.rows(c)].sum() for c in which.tolist()]
    objective = Objective(0.5 * total, none, none, level.offsets, none)
    rules = MoveRules(np.zeros(1), 0.0, _MAX_VISITS, fixed_k=True)
    best = dict(zip(which.tolist(), planted_fits(level, z, k, which), strict=True))
    labels = z.astype(np.int32)
    for _ in range(_MAX_ROUNDS):
        for c, fit in list(best.items()):
            between = max(fit.between, _LEAST_RATE)
            if fit.inside <= between:
                del best[c]
                continue
            per_edge = math.log(fit.inside / between)
            penalty[c] = (fit.inside - between) / per_edge / total[c]
            margin[c] = _MARGIN_NATS / per_edge * total[c] / level.entries[c] + ROUNDING_OF_GAINS
        active = np.array(list(best), dtype=np.int64)
        if not active.size:
            break
        arguments = level, objective, labels, active, rules, new_control()
        moved = climb(*arguments, penalty=penalty, margin=margin, levels=1).z
        for c, fit in zip(active.tolist(), planted_fits(level, moved, k, active), strict=True):
            if fit.gain > best[c].gain * (1.0 + ROUNDING):
                best[c], rows = fit, level.rows(c)
                labels[rows] = moved[rows]
            else:
                del best[c]
    return labels.astype(np.int64)
