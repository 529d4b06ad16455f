"""The number of eigenvalues of N_r beyond 1 or -1, exact, component by component."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from kgroups._csr import rows_of
from kgroups._types import CSR, Bools, Floats, Ints
from kgroups.operators import BoundBetheHessian
from kgroups.spectrum.beyond import eigenvalues_beyond_one
from kgroups.spectrum.components import two_core
from kgroups.spectrum.fill import factorisation_work, work_budget
from kgroups.spectrum.inertia import factorise
from kgroups.spectrum.lanczos import all_eigenvalues

__all__ = ["ComponentCounts", "Layout", "Method", "count_components", "count_on"]

Method: TypeAlias = Literal["pruned", "dense", "inertia", "lanczos"]

DENSE_NODES = 250
"""Graphs up to this size are solved densely, all eigenvalues at once."""

_DENSE_FALLBACK_NODES = 1_500
_LARGEST_WORK = 3e11
_MANY = 40
NOISE = 1e-9
"""Eigenvalues this close to 1 are not beyond it."""


class Layout:
    """What the counts at every r share: components, 2-core, and the method for each component.

    Parameters
    ----------
    coupling : CSR
        Symmetric pattern of the graph.
    labels : ndarray of int
        Connected component of each node.
    force : str or None
        One method for all components that are not pruned, instead of a choice by size and fill.
    """

    def __init__(self, coupling: CSR, labels: Ints, *, force: Method | None = None) -> None:
        self.coupling, self.labels, self.force = coupling, labels, force
        self.sizes = np.bincount(labels)
        rows = rows_of(coupling)
        entries = np.bincount(labels[rows], minlength=len(self.sizes))
        loops = np.bincount(labels[rows[rows == coupling.indices]], minlength=len(self.sizes))
        # With no more edges than nodes there is one cycle at most, which no r > 1 sees.
        self.empty = (entries + loops) // 2 <= self.sizes

    @cached_property
    def nodes(self) -> list[Ints]:
        """The nodes of each component."""
        order = np.argsort(self.labels, kind="stable")
        return np.split(order, np.cumsum(self.sizes)[:-1])

    @cached_property
    def core(self) -> Bools:
        """The 2-core of the graph."""
        return two_core(self.coupling)

    @cached_property
    def _plan(self) -> tuple[list[Method], set[int]]:
        """The method for each component, and where inertia is the second choice."""
        plan: list[Method] = ["pruned"] * len(self.sizes)
        second_choice = set()
        for a in np.flatnonzero(~self.empty).tolist():
            if self.force is not None:
                plan[a] = self.force
            elif len(self.labels) <= DENSE_NODES:
                plan[a] = "dense"
            elif self.sizes[a] <= DENSE_NODES:
                # Cheap whatever the fill, and all such components are factorised together.
                plan[a] = "inertia"
            else:
                core = _pattern_on(self.coupling, self.nodes[a][self.core[self.nodes[a]]])
                work = factorisation_work(core)
                cheap = work <= work_budget(len(core.indices))
                plan[a] = "inertia" if cheap else "lanczos"
                if not cheap and work <= _LARGEST_WORK:
                    second_choice.add(a)
        return plan, second_choice

    def part(self, bound: BoundBetheHessian, a: int) -> BoundBetheHessian:
        """Return the operator on one component."""
        return bound if len(self.sizes) == 1 else bound.restrict(self.nodes[a])

    @property
    def methods(self) -> list[Method]:
        """The method for each component."""
        return list(self._plan[0])

    def most_by_lanczos(self, a: int) -> float:
        """Return how many eigenvalues Lanczos may find before a factorisation is better."""
        return _MANY if a in self._plan[1] else float("inf")

    def prefer_inertia(self, a: int) -> None:
        """Remember that a component has many eigenvalues beyond 1, for the next r."""
        self._plan[0][a] = "inertia"


def _pattern_on(csr: CSR, nodes: Ints) -> CSR:
    from scipy import sparse

    n = len(csr.indptr) - 1
    if len(nodes) == n:
        return csr
    pattern = sparse.csr_array((csr.data, csr.indices, csr.indptr), shape=(n, n))
    part = pattern[nodes][:, nodes]
    return CSR(part.indptr, part.indices, part.data)


@dataclass(frozen=True, eq=False)
class ComponentCounts:
    """Eigenvalues of N_r above 1 in each component, and how they were counted.

    Attributes
    ----------
    k : ndarray of int, shape (components,)
        The counts.
    method : tuple of str
        "pruned" (at most one cycle: nothing to count), "dense" (all eigenvalues), "inertia"
        (pivots of a sparse factorisation of the 2-core) or "lanczos".
    known : tuple of ndarray
        The eigenvalues of each component that counting gave, falling: all of them by "dense",
        those above 1 and a few more by "lanczos", else none.
    layout : Layout
        To be used again at another r.
    """

    k: Ints
    method: tuple[Method, ...]
    known: tuple[Floats, ...]
    layout: Layout

    @property
    def total(self) -> int:
        """Sum over the components."""
        return int(self.k.sum())


def count_components(
    bound: BoundBetheHessian, component_labels: Ints, *, method: Method | None = None
) -> ComponentCounts:
    """Count the eigenvalues of N_r above 1, the negative ones of H_r, in each component.

    Parameters
    ----------
    bound : BoundBetheHessian
        The operator on the whole graph.
    component_labels : ndarray of int
        Connected component of each node, as ``connected_components`` numbers them.
    method : {"dense", "inertia", "lanczos"}, optional
        Use this one wherever there is something to count; by default chosen by size and fill.

    Returns
    -------
    ComponentCounts
    """
    return count_on(bound, Layout(bound.coupling, component_labels, force=method), sign=1)


def count_on(bound: BoundBetheHessian, layout: Layout, *, sign: int) -> ComponentCounts:
    """Count the eigenvalues of ``sign * N`` above 1 in each component of a layout."""
    k = np.zeros(len(layout.sizes), dtype=np.int64)
    method: list[Method] = ["pruned"] * len(k)
    known: list[Floats] = [np.zeros(0)] * len(k)
    if bound.trivial:
        return ComponentCounts(k, tuple(method), tuple(known), layout)
    method = layout.methods
    for a in _where(method, "lanczos"):
        most = layout.most_by_lanczos(a)
        known[a] = eigenvalues_beyond_one(layout.part(bound, a), sign=sign, most=most)
        if known[a][-1] > 1.0 and len(known[a]) < layout.sizes[a]:
            layout.prefer_inertia(a)
            method[a], known[a] = "inertia", np.zeros(0)
    joint = _where(method, "inertia")
    if joint:
        negative = _negative_pivots(bound, layout, joint, sign)
        if negative is not None:
            k[joint] = np.bincount(layout.labels[negative], minlength=len(k))[joint]
        else:
            for a in joint:
                if layout.sizes[a] <= _DENSE_FALLBACK_NODES:
                    method[a] = "dense"
                else:
                    method[a] = "lanczos"
                    known[a] = eigenvalues_beyond_one(layout.part(bound, a), sign=sign)
    for a in _where(method, "dense"):
        known[a] = all_eigenvalues(layout.part(bound, a), sign=sign)
    for a in (*_where(method, "lanczos"), *_where(method, "dense")):
        k[a] = np.count_nonzero(known[a] > 1.0 + NOISE)
    return ComponentCounts(k, tuple(method), tuple(known), layout)


def _where(method: list[Method], name: Method) -> list[int]:
    return [a for a, used in enumerate(method) if used == name]


def _negative_pivots(
    bound: BoundBetheHessian, layout: Layout, joint: list[int], sign: int
) -> Ints | None:
    """Return the nodes of the chosen components whose pivot is negative, if it can be told."""
    chosen = np.zeros(len(layout.sizes), dtype=np.bool_)
    chosen[joint] = True
    rows = np.flatnonzero(layout.core & chosen[layout.labels])
    factor = factorise(signed_matrix(bound.on_core(rows), sign))
    return None if factor is None else rows[factor.negative]


def signed_matrix(bound: BoundBetheHessian, sign: int) -> Any:
    """Return H for sign 1, and its mirror with the coupling added for sign -1."""
    if sign > 0:
        return bound.matrix()
    indptr, indices, data = bound.coupling
    return replace(bound, coupling=CSR(indptr, indices, -data)).matrix()
