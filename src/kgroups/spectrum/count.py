"""The number of eigenvalues of N_r beyond 1 or -1, component by component.

Counts are exact up to 5,000 nodes, and beyond wherever a factorization is affordable. Elsewhere a
Chebyshev filter finds the eigenvalues and verifies that none is missing; where it cannot,
``k_low`` and ``k_high`` differ.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from kgroups._csr import rows_of
from kgroups._types import CSR, Bools, Floats, Ints
from kgroups.operators import BoundBetheHessian
from kgroups.spectrum.chebyshev_operator import ThinBlock
from kgroups.spectrum.components import two_core
from kgroups.spectrum.count_by_filter import NOISE, count_by_filter
from kgroups.spectrum.fill import factorisation_work, work_budget
from kgroups.spectrum.inertia import factorise, negative_eigenvalues
from kgroups.spectrum.lanczos import all_eigenvalues

__all__ = ["DENSE_NODES", "ComponentCounts", "Layout", "Method", "count_components", "count_on"]

Method: TypeAlias = Literal["pruned", "dense", "inertia", "dense inertia", "filter"]

DENSE_NODES = 250
"""Graphs up to this size are solved densely, all eigenvalues at once."""

EXACT_INERTIA_NODES = 5_000
"""Components with a 2-core up to this size are counted exactly, whatever the fill."""

# A dense factorization does so many times more operations in a second than a sparse one.
_DENSE_SPEED = 4.0


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
    def methods(self) -> list[Method]:
        """The method for each component."""
        plan: list[Method] = ["pruned"] * len(self.sizes)
        for a in np.flatnonzero(~self.empty).tolist():
            plan[a] = self._method(a) if self.force is None else self.force
        return plan

    def _method(self, a: int) -> Method:
        if len(self.labels) <= DENSE_NODES:
            return "dense"
        if self.sizes[a] <= DENSE_NODES:
            # Cheap whatever the fill, and all such components are factorized together.
            return "inertia"
        rows = self.core_of(a)
        work = factorisation_work(_pattern_on(self.coupling, rows))
        if rows.size <= EXACT_INERTIA_NODES:
            cheap = _DENSE_SPEED * work <= rows.size**3 / 3.0
            return "inertia" if cheap else "dense inertia"
        entries = int(np.diff(self.coupling.indptr)[rows].sum())
        return "inertia" if work <= work_budget(entries) else "filter"

    def core_of(self, a: int) -> Ints:
        """Return the nodes of a component that are in the 2-core."""
        return self.nodes[a][self.core[self.nodes[a]]]

    def part(self, bound: BoundBetheHessian, a: int) -> BoundBetheHessian:
        """Return the operator on one component."""
        return bound if len(self.sizes) == 1 else bound.restrict(self.nodes[a])


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
    k_low, k_high : ndarray of int, shape (components,)
        Bounds on the counts, equal where these are exact.
    method : tuple of str
        "pruned" (at most one cycle: nothing to count), "dense" (all eigenvalues), "inertia"
        (pivots of a sparse factorization of the 2-core), "dense inertia" (of a dense one) or
        "filter" (the eigenvalues beyond 1, found and verified).
    known : tuple of ndarray
        The eigenvalues of each component that counting gave, falling: all of them by "dense",
        those above 1 and one or more below by "filter", else none.
    vectors : dict of int to ndarray
        The vectors of components that were counted by "filter".
    layout : Layout
        To be used again at another r.
    """

    k: Ints
    k_low: Ints
    k_high: Ints
    method: tuple[Method, ...]
    known: tuple[Floats, ...]
    vectors: dict[int, ThinBlock]
    layout: Layout

    @property
    def total(self) -> int:
        """Sum over the components."""
        return int(self.k.sum())

    @property
    def is_exact(self) -> bool:
        """Whether all counts are exact."""
        return bool(np.array_equal(self.k_low, self.k_high))


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
    method : {"dense", "inertia", "dense inertia", "filter"}, optional
        Use this one wherever there is something to count; by default chosen by size and fill.

    Returns
    -------
    ComponentCounts
    """
    return count_on(bound, Layout(bound.coupling, component_labels, force=method), sign=1)


def count_on(
    bound: BoundBetheHessian,
    layout: Layout,
    *,
    sign: int,
    near: ComponentCounts | None = None,
    with_next: bool = False,
) -> ComponentCounts:
    """Count the eigenvalues of ``sign * N`` above 1 in each component of a layout.

    Parameters
    ----------
    bound : BoundBetheHessian
        The operator on the whole graph.
    layout : Layout
        Its components.
    sign : {1, -1}
        Which end of the spectrum.
    near : ComponentCounts, optional
        Counts at another r, whose vectors are where the filter starts.
    with_next : bool
        Whether the filter also gives the largest eigenvalue that is not above 1.

    Returns
    -------
    ComponentCounts
    """
    k = np.zeros(len(layout.sizes), dtype=np.int64)
    low, high = k.copy(), k.copy()
    method: list[Method] = ["pruned"] * len(k)
    known: list[Floats] = [np.zeros(0)] * len(k)
    vectors: dict[int, ThinBlock] = {}
    if bound.trivial:
        return ComponentCounts(k, low, high, tuple(method), tuple(known), vectors, layout)
    method = list(layout.methods)
    joint = _where(method, "inertia")
    if joint:
        negative = _negative_pivots(bound, layout, joint, sign)
        if negative is not None:
            k[joint] = np.bincount(layout.labels[negative], minlength=len(k))[joint]
        for a in joint if negative is None else ():
            small = layout.core_of(a).size <= EXACT_INERTIA_NODES
            method[a] = "dense inertia" if small else "filter"
    for a in _where(method, "dense inertia"):
        core = bound.on_core(layout.core_of(a))
        k[a] = negative_eigenvalues(signed_matrix(core, sign).toarray())
    for a in _where(method, "dense"):
        known[a] = all_eigenvalues(layout.part(bound, a), sign=sign)
        k[a] = np.count_nonzero(known[a] > 1.0 + NOISE)
    low[:], high[:] = k, k
    for a in _where(method, "filter"):
        start = None if near is None else near.vectors.get(a)
        found = count_by_filter(layout.part(bound, a), sign=sign, start=start, with_next=with_next)
        k[a], low[a], high[a] = found.k, found.k_low, found.k_high
        known[a], vectors[a] = found.values, found.vectors
    return ComponentCounts(k, low, high, tuple(method), tuple(known), vectors, layout)


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
    """Return H for sign 1, its mirror with the coupling added for sign -1.

    The diagonal is larger by the part ``NOISE``, so that eigenvalues of N at 1 do not count.
    """
    indptr, indices, data = bound.coupling
    coupling = bound.coupling if sign > 0 else CSR(indptr, indices, -data)
    return replace(bound, diagonal=(1.0 + NOISE) * bound.diagonal, coupling=coupling).matrix()
