"""The number of eigenvalues of N_r above 1 or below -1 in each component, and those around 1.

Counts are exact up to 5,000 nodes, and beyond where the matrix has a narrow band. Elsewhere a
Chebyshev filter finds the eigenvalues and verifies that none is missing; where it cannot,
``k_low`` and ``k_high`` differ.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from kgroups._blas import DENSE
from kgroups._csr import restricted, rows_of, two_core
from kgroups._types import CSR, Bools, Floats, Ints
from kgroups._wording import counted
from kgroups.errors import CrowdedThresholdWarning, DisassortativeWarning, KGroupsWarning
from kgroups.spectrum.chebyshev import ThinBlock
from kgroups.spectrum.eigenpairs import (
    PartialEigenpairsError,
    all_eigenvalues,
    largest_eigenpairs,
    start_vector,
    top_eigenpairs,
)
from kgroups.spectrum.operators import NOISE, R_CHOICES, BoundOperator, above_threshold
from kgroups.spectrum.subspace import count_by_filter

Method: TypeAlias = Literal["pruned", "dense", "inertia", "filter"]

# Operations of a band factorization that are always affordable, and those for each entry.
_AFFORDABLE, _AFFORDABLE_PER_ENTRY = 2e10, 8e4
# In units of the largest entry; the sign of a smaller pivot may be rounding.
_SMALLEST_PIVOT = 1e-11
# Largest relative residual of a system that is solved with trusted pivots.
_LARGEST_RESIDUAL = 1e-7
# All eigenvalues above 1 are listed up to this number, else the nearest ones above and below it.
_ALL_ABOVE = 50
_NEAR_ABOVE = 12
_NEAR_BELOW = 6
# The threshold is crowded if within this distance of 1 there are at least these numbers of
# eigenvalues above and below it, with a gap of at most the last number between them.
_WINDOW = 0.05
_CROWDED_ABOVE, _CROWDED_BELOW = 3, 1
_CROWDED_GAP = 0.04
# The lowest eigenvalue of a random graph fluctuates below -1 by less than this.
_RANDOM_EDGE = 0.02


class Layout:
    """What counts with similar operators share: components, 2-core, and a method per component.

    The operators, such as Bethe Hessians at other r, have the pattern and the kind of ``operator``;
    ``labels`` are the connected components.
    """

    def __init__(self, operator: BoundOperator, labels: Ints) -> None:
        self.labels = labels
        self.coupling, self.ignores_trees = operator.coupling, operator.ignores_trees
        self.sizes = np.bincount(labels)
        rows = rows_of(self.coupling)
        entries = np.bincount(labels[rows], minlength=len(self.sizes))
        on_diagonal = rows[rows == self.coupling.indices]
        loops = np.bincount(labels[on_diagonal], minlength=len(self.sizes))
        # A component with no more edges than nodes is a tree or has a single cycle.
        most = self.sizes if self.ignores_trees else 0
        self.empty = (entries + loops) // 2 <= most

    @cached_property
    def nodes(self) -> list[Ints]:
        """The nodes of each component."""
        order = np.argsort(self.labels, kind="stable")
        return np.split(order, np.cumsum(self.sizes)[:-1])

    @cached_property
    def core(self) -> Bools:
        """The 2-core of the graph, all nodes if trees count."""
        if not self.ignores_trees:
            return np.ones(len(self.labels), dtype=np.bool_)
        return two_core(self.coupling)

    @cached_property
    def core_sizes(self) -> Ints:
        """Nodes of each component that are in the 2-core."""
        return np.bincount(self.labels[self.core], minlength=self.sizes.size)

    @cached_property
    def methods(self) -> list[Method]:
        """The method for each component."""
        return [self._method(a) for a in range(len(self.sizes))]

    def _method(self, a: int) -> Method:
        if self.empty[a]:
            return "pruned"
        if len(self.labels) <= DENSE.counts:
            return "dense"
        if self.core_sizes[a] <= DENSE.exact_counts:
            return "inertia"
        core = restricted(self.coupling, self.nodes[a][self.core[self.nodes[a]]])
        affordable = max(_AFFORDABLE, _AFFORDABLE_PER_ENTRY * len(core.indices))
        return "inertia" if band_work(core) <= affordable else "filter"

    def part(self, hessian: BoundOperator, a: int) -> BoundOperator:
        """Return the operator on one component."""
        return hessian if len(self.sizes) == 1 else hessian.restrict(self.nodes[a])


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
        "pruned" (no edge or at most one cycle, nothing to count), "dense" (all eigenvalues),
        "inertia" (pivots of a sparse factorization of the 2-core) or "filter" (the eigenvalues
        above 1, found and verified).
    known : tuple of ndarray
        The known eigenvalues of each component in decreasing order: all of them by "dense", those
        above 1 and one or more below by "filter", else none.
    vectors : dict of int to ndarray
        The vectors of components that were counted by "filter".
    layout : Layout
        For counts at another r.
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
    def all_known(self) -> bool:
        """Whether all eigenvalues are known from counting."""
        return all(name in ("pruned", "dense") for name in self.method)

    def warnings(self) -> tuple[KGroupsWarning, ...]:
        """Return the reasons to doubt k, if all eigenvalues are known."""
        if not self.all_known:
            return ()
        values = np.sort(np.concatenate([np.zeros(0), *self.known]))[::-1]
        return warnings_of(self.total, values, *lowest_of(values), None)

    @property
    def is_exact(self) -> bool:
        """Whether all counts are exact."""
        return bool(np.array_equal(self.k_low, self.k_high))


def count_components(hessian: BoundOperator, component_labels: Ints) -> ComponentCounts:
    """Count the eigenvalues of N_r above 1, the negative ones of H_r, in each component.

    ``hessian`` is the operator on the whole graph, whose components are numbered as
    ``connected_components`` does.
    """
    return count_on(hessian, Layout(hessian, component_labels), sign=1)


def count_on(
    hessian: BoundOperator,
    layout: Layout,
    *,
    sign: int,
    near: ComponentCounts | None = None,
    with_next: bool = False,
) -> ComponentCounts:
    """Count the eigenvalues of ``sign * N`` above 1 in each component of a layout.

    The filter starts from the vectors of the counts ``near``, made at another r, and with
    ``with_next`` also finds the largest eigenvalue that is not above 1.
    """
    k = np.zeros(len(layout.sizes), dtype=np.int64)
    method = list(layout.methods)
    known: list[Floats] = [np.zeros(0)] * len(k)
    vectors: dict[int, ThinBlock] = {}
    joint = _where(method, "inertia")
    if joint:
        negative = _negative_pivots(hessian, layout, joint, sign)
        if negative is not None:
            k[joint] = np.bincount(layout.labels[negative], minlength=len(k))[joint]
        for a in joint if negative is None else ():
            method[a] = "dense" if layout.sizes[a] <= DENSE.exact_counts else "filter"
    for a in _where(method, "dense"):
        known[a] = all_eigenvalues(layout.part(hessian, a), sign=sign)
        k[a] = np.count_nonzero(above_threshold(known[a]))
    low, high = k.copy(), k.copy()
    for a in _where(method, "filter"):
        start, part = None if near is None else near.vectors.get(a), layout.part(hessian, a)
        found = count_by_filter(part, sign=sign, start=start, with_next=with_next)
        k[a], low[a], high[a] = found.k, found.k_low, found.k_high
        known[a], vectors[a] = found.values, found.vectors
    return ComponentCounts(k, low, high, tuple(method), tuple(known), vectors, layout)


def band_work(csr: CSR) -> float:
    """Return the operations of factorizing a connected pattern, ordered to have a narrow band.

    That is much less than for a dense matrix on meshes and road maps, not on random graphs.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    pattern = sparse.csr_array((np.ones(len(csr.indices)), csr.indices, csr.indptr))
    place = np.argsort(reverse_cuthill_mckee(pattern, symmetric_mode=True))
    behind = place[rows_of(csr)] - place[csr.indices]
    return float(np.square(np.maximum.reduceat(behind, csr.indptr[:-1], dtype=float)).sum())


class Factor(NamedTuple):
    """Whether the pivot of each node is negative, and how to solve with the matrix.

    By Sylvester's law of inertia a connected component has as many negative eigenvalues as
    negative pivots.
    """

    negative: Bools
    solve: Callable[[Floats], Floats]


def factorize(matrix: Any) -> Factor | None:
    """Factorize a sparse symmetric matrix with pivots on its diagonal, or return None.

    None means that the pivots cannot be trusted: one is off the diagonal, or so small that its
    sign may be rounding, or solving a system leaves a large residual.
    """
    from scipy.sparse.linalg import splu

    try:
        lu = splu(
            matrix.tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        # The matrix is exactly singular.
        return None
    pivots = lu.U.diagonal()
    smallest = float(np.abs(pivots).min(initial=np.inf))
    if smallest <= _SMALLEST_PIVOT * abs(matrix).max() or not np.array_equal(lu.perm_r, lu.perm_c):
        return None
    b = np.random.default_rng(0).standard_normal(matrix.shape[0])
    residual = np.linalg.norm(matrix @ lu.solve(b) - b) / np.linalg.norm(b)
    return Factor((pivots < 0.0)[lu.perm_r], lu.solve) if residual <= _LARGEST_RESIDUAL else None


def _where(method: list[Method], name: Method) -> list[int]:
    return [a for a, used in enumerate(method) if used == name]


def _negative_pivots(
    hessian: BoundOperator, layout: Layout, joint: list[int], sign: int
) -> Ints | None:
    """Return the nodes of the chosen components whose pivot is negative, if they can be trusted."""
    chosen = np.zeros(len(layout.sizes), dtype=np.bool_)
    chosen[joint] = True
    rows = np.flatnonzero(layout.core & chosen[layout.labels])
    factor = factorize(_signed_matrix(hessian.on_core(rows), sign))
    return None if factor is None else rows[factor.negative]


def _signed_matrix(hessian: BoundOperator, sign: int) -> Any:
    """Return the diagonal minus ``sign`` times the coupling.

    The threshold is larger by the factor 1 + NOISE, so that eigenvalues of N at 1 do not count.
    """
    indptr, indices, data = hessian.coupling
    coupling = hessian.coupling if sign > 0 else CSR(indptr, indices, -data)
    threshold = (1.0 + NOISE) * hessian.threshold
    return replace(hessian, threshold=threshold, coupling=coupling).matrix()


def eigenvalues_around_one(hessian: BoundOperator, counts: ComponentCounts) -> Floats:
    """Return consecutive eigenvalues of N_r around 1, in decreasing order.

    All above 1 if these are at most 50, else the 12 next to it; and up to 6 below. Empty if the
    counts are not exact.
    """
    if not counts.is_exact:
        return np.zeros(0)
    values = [known for known in counts.known if known.size]
    # The filter finds some eigenvalues below 1; under the lowest of these there are others.
    known_down_to = [
        float(known[~above_threshold(known)].max(initial=-np.inf))
        for known, name in zip(counts.known, counts.method, strict=True)
        if name == "filter"
    ]
    layout = counts.layout
    unknown = np.array([not known.size for known in counts.known], dtype=bool) & (layout.sizes > 1)
    rows = np.flatnonzero(unknown[layout.labels])
    if rows.size:
        part = hessian if rows.size == hessian.n else hessian.restrict(rows)
        k = int(counts.k[unknown].sum())
        found = _around_one(part, k, k if counts.total <= _ALL_ABOVE else min(k, _NEAR_ABOVE))
        if not found.size:
            return found
        values.append(found)
        if found.size < rows.size:
            known_down_to.append(float(found[-1]))
    if not values:
        return np.zeros(0)
    merged = np.sort(np.concatenate(values))[::-1]
    is_above = above_threshold(merged)
    above, below = merged[is_above], merged[~is_above]
    above = above if counts.total <= _ALL_ABOVE else above[-_NEAR_ABOVE:]
    below = below[below >= max(known_down_to, default=-np.inf)]
    return np.concatenate([above, below[:_NEAR_BELOW]])


def _around_one(hessian: BoundOperator, k: int, above: int) -> Floats:
    """Return the ``above`` lowest of the k eigenvalues above 1, and some below."""
    if hessian.n <= DENSE.eigenvalues:
        return all_eigenvalues(hessian, sign=1)[k - above :]
    if above == k:
        values = _by_lanczos(hessian, k)
        if np.count_nonzero(above_threshold(values)) == k:
            return values
    factor = factorize(hessian.matrix())
    if factor is None:
        small = hessian.n <= DENSE.exact_counts
        return all_eigenvalues(hessian, sign=1)[k - above :] if small else np.zeros(0)
    up = _by_inverse(hessian, factor, above, sign=-1) if above else np.zeros(0)
    return np.concatenate([up, _by_inverse(hessian, factor, _NEAR_BELOW, sign=1)])


def _by_lanczos(hessian: BoundOperator, k: int) -> Floats:
    """Return the k largest eigenvalues and some more, or those that were found."""
    try:
        return top_eigenpairs(hessian, min(k + _NEAR_BELOW, hessian.n))[0]
    except PartialEigenpairsError as error:
        return error.eigenvalues


def _by_inverse(hessian: BoundOperator, factor: Factor, count: int, *, sign: int) -> Floats:
    """Return the eigenvalues nu of N next below 1, or next above for sign -1, decreasing.

    Those of (1 - N)^-1 are 1 / (1 - nu), so that the nearest ones to 1 are extreme.
    """
    from scipy.sparse.linalg import LinearOperator

    n, scale = hessian.n, np.sqrt(hessian.scale)

    def inverse(x: Floats) -> Floats:
        return sign * scale * factor.solve(scale * x.reshape(n))

    operator = LinearOperator((n, n), matvec=inverse, dtype=float)
    try:
        mu, _ = largest_eigenpairs(operator, count, start_vector(hessian))
    except PartialEigenpairsError as error:
        mu = error.eigenvalues
    return np.sort(1.0 - sign / mu[mu > 0.0])[::-1]


def lowest_of(values: Floats) -> tuple[int, float]:
    """Return how many eigenvalues are below -1, and the lowest, or 0 if that is positive."""
    below = int(np.count_nonzero(above_threshold(-values)))
    return below, float(values.min(initial=0.0))


def warnings_of(
    k: int, values: Floats, below_minus_one: int, lowest: float, k_at: dict[str, int] | None
) -> tuple[KGroupsWarning, ...]:
    """Return warnings of a threshold within a run of eigenvalues, and of eigenvalues below -1."""
    warnings: list[KGroupsWarning] = []
    is_above, gap = above_threshold(values), gap_of(values)
    above = int(np.count_nonzero(is_above & (values < 1.0 + _WINDOW)))
    below = int(np.count_nonzero(~is_above & (values > 1.0 - _WINDOW)))
    if above >= _CROWDED_ABOVE and below >= _CROWDED_BELOW and gap <= _CROWDED_GAP:
        spread = ""
        if k_at is not None:
            counts = "/".join(str(k_at[choice]) for choice in R_CHOICES)
            spread = f" The rules for r give k={counts}."
        message = (
            f"the number of communities that the spectrum shows, {k}, is uncertain: grids, meshes "
            "and road maps look like this without having communities. Give k if you know it. At "
            f"least {above} eigenvalues lie within {_WINDOW} above the threshold 1 and at least "
            f"{below} within {_WINDOW} below, with a gap of {gap:.2g} between them.{spread}"
        )
        warnings.append(CrowdedThresholdWarning(message))
    if lowest <= -1.0 - _RANDOM_EDGE:
        lie = counted(below_minus_one, "eigenvalue of N_r is", "eigenvalues of N_r are")
        message = (
            "there are groups whose nodes avoid one another and link to other groups instead, as "
            "in bipartite graphs. Communities of nodes that link to one another do not show this "
            f"structure ({lie} below -1, the lowest at {lowest:.3f})."
        )
        warnings.append(DisassortativeWarning(message))
    return tuple(warnings)


def gap_of(values: Floats) -> float:
    """Return the distance of the eigenvalues next to 1, from 1 itself where one is missing."""
    is_above = above_threshold(values)
    above, below = values[is_above], values[~is_above]
    return float(above[-1] if above.size else 1.0) - float(below[0] if below.size else 1.0)
