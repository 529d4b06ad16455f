"""Levels of a graph: units, which are nodes or groups of nodes, sorted by component."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import masked, restricted, rows_of
from kgroups._progress import ENTRIES, run_kernel
from kgroups._types import CSR, Bools, Floats, Indices, Ints
from kgroups.search import _search_nb as kernels

# Keeps weights positive in single precision: the kernels treat a weight of 0 as no link.
_LEAST_SINGLE = 1e-30
# From this many entries on ones are not stored: on smaller graphs they take little memory.
_IMPLICIT_ENTRIES = 1_000_000
# Up to this many units and entries a level keeps the arrays that kernels work in.
_KEPT_UNITS, _KEPT_ENTRIES = 20_000, 200_000


class Scratch(NamedTuple):
    """Arrays that kernels work in: tables of groups and units, and two coarser levels."""

    group: Floats
    link: Floats
    counts: Ints
    touched: Indices
    work: Indices
    # The coarser levels of the largest component, alternately in the first and the second half.
    indptr: Indices
    indices: Indices
    data: Any
    strength: Floats
    inner: Floats
    nodes: Ints
    z: Indices
    waiting: Bools
    undecided: Bools


class _Arrays(NamedTuple):
    """What kernels take of a level."""

    # Links between different units, their weights in single precision. On large graphs without
    # weights there is one number, 1, for all of them.
    indptr: Indices
    indices: Indices
    data: Any
    # Sum of the weights at the nodes of a unit, those inside counted twice.
    strength: Floats
    # Sum of the weights inside a unit, counted once.
    inner: Floats
    # Number of nodes of a unit.
    nodes: Ints
    # Where each component starts among the units, and their number.
    offsets: Ints


class Level(_Arrays):
    """Units, which are nodes or groups of nodes, and the links between them.

    Units of a component are consecutive, and components are not linked.
    """

    @property
    def A(self) -> CSR:  # noqa: N802
        """The links as a matrix."""
        return CSR(self.indptr, self.indices, self.data)

    @property
    def n(self) -> int:
        """Number of units."""
        return self.strength.size

    @cached_property
    def sizes(self) -> Ints:
        """Units of each component."""
        return self.offsets[1:] - self.offsets[:-1]

    @cached_property
    def entries(self) -> Ints:
        """Matrix entries of each component."""
        ends = self.indptr[self.offsets].astype(np.int64, copy=False)
        return ends[1:] - ends[:-1]

    def rows(self, component: int) -> slice:
        """Return the place of a component among the units."""
        return slice(*self.offsets[component : component + 2].tolist())

    @cached_property
    def everyone(self) -> Bools:
        """A mask of all units."""
        return np.ones(self.n, dtype=np.bool_)

    @property
    def scratch(self) -> Scratch:
        """Arrays that kernels work in, for its largest component."""
        return self._kept_scratch if self.is_small else self._new_scratch()

    @property
    def is_small(self) -> bool:
        """Whether it keeps these arrays."""
        return self.n <= _KEPT_UNITS and len(self.indices) <= _KEPT_ENTRIES

    @cached_property
    def _kept_scratch(self) -> Scratch:
        return self._new_scratch()

    def _new_scratch(self) -> Scratch:
        # The unused part of a large array takes no memory.
        n, entries = int(self.sizes.max(initial=0)), int(self.entries.max(initial=0))
        waiting, undecided = np.empty((2, 2 * n), dtype=np.bool_)
        strength, inner = np.empty((2, 2 * n))
        return Scratch(
            np.empty((n, 5)),
            np.empty(n),
            np.empty((2, n + 1), dtype=np.int64),
            np.empty(n + 1, dtype=np.int32),
            np.empty((4, n + 1), dtype=np.int32),
            np.empty(2 * n + 2, dtype=self.indptr.dtype),
            np.empty(2 * entries, dtype=self.indices.dtype),
            np.empty(2 * entries, dtype=np.float32),
            strength,
            inner,
            np.empty(2 * n, dtype=np.int64),
            np.empty(2 * n, dtype=np.int32),
            waiting,
            undecided,
        )

    def mask(self, which: Ints) -> Bools:
        """Return which units are in some components."""
        chosen = np.zeros(self.offsets.size - 1, dtype=np.bool_)
        chosen[which] = True
        return np.repeat(chosen, self.sizes)

    def lifted(self, top: "Level", labels: Indices, cells: Indices) -> Indices:
        """Return for each unit the label of its cell, which is a unit of a coarser level."""
        if self.offsets.size == 2:
            return labels[cells]
        # A component that the coarser level leaves out has no labels.
        return labels.take(self._place(top, cells), mode="clip")

    def contracted(self, top: "Level", labels: Indices, cells: Indices) -> Indices:
        """Return the label of each unit of a coarser level, a cell whose units share that label."""
        found = np.zeros(top.n, dtype=np.int32)
        if self.offsets.size == 2:
            found[cells] = labels
            return found
        left_out = np.repeat(top.sizes == 0, self.sizes)
        found[self._place(top, cells)[~left_out]] = labels[~left_out]
        return found

    def _place(self, top: "Level", cells: Indices) -> Ints:
        return np.asarray(np.repeat(top.offsets[:-1], self.sizes) + cells)

    def block(self, component: int) -> "Level":
        """Return the level of one component."""
        if self.offsets.size == 2:
            return self
        first, last = self.offsets[component : component + 2].tolist()
        rows, slots = slice(first, last), slice(*self.indptr[[first, last]].tolist())
        return Level(
            self.indptr[first : last + 1] - self.indptr[first],
            self.indices[slots] - self.indices.dtype.type(first),
            self.data if len(self.data) == 1 else self.data[slots],
            self.strength[rows],
            self.inner[rows],
            self.nodes[rows],
            np.array([0, last - first]),
        )

    def as_one(self) -> "Level":
        """Return the level with all components taken as one."""
        return self._replace(offsets=np.array([0, self.n]))

    def divided(self, divisor: float) -> "Level":
        """Return the level with all weights divided by a number."""
        if divisor == 1.0:
            return self
        # Rounded once, so that sums of weights are those of the links in single precision.
        share = np.float32(1.0 / divisor)
        data, scale = self.data * share, float(share)
        if not np.all(self.data == 1.0):
            ends = np.repeat(np.arange(self.n), np.diff(self.indptr))
            strength = np.bincount(ends, data, minlength=self.n) + 2.0 * scale * self.inner
        else:
            strength = self.strength * scale
        return self._replace(data=data, strength=strength, inner=self.inner * scale)

    def inside(self, group: Ints, rows: Ints) -> "Level":
        """Return the level of some units, sorted by group, whose components are their groups.

        Links to other groups are left out.
        """
        own = np.full(self.n, -1, dtype=self.indices.dtype)
        own[rows] = group[rows]
        A = self.A._replace(data=np.broadcast_to(self.data, self.indices.shape))
        ends = np.repeat(own, np.diff(A.indptr))
        kept = ends == own[A.indices]
        if rows.size < self.n:
            kept &= ends >= 0
        A = restricted(masked(A, kept), rows)
        inner, data = self.inner[rows], self.data
        if len(data) == 1:
            strength = np.diff(A.indptr) * float(data[0])
        else:
            data = A.data.astype(np.float32)
            strength = np.bincount(rows_of(A), data, minlength=rows.size).astype(float)
        sizes = np.unique(own[rows], return_counts=True)[1]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        return Level(
            A.indptr, A.indices, data, strength + 2.0 * inner, inner, self.nodes[rows], offsets
        )

    def with_explicit_weights(self) -> "Level":
        """Return the level with a weight for each link."""
        if len(self.data) == len(self.indices):
            return self
        return self._replace(data=np.full(len(self.indices), self.data[0], dtype=np.float32))


def finest_level(
    A: CSR,
    *,
    weighted: bool,
    offsets: Ints | None = None,
    implicit_entries: int = _IMPLICIT_ENTRIES,
) -> Level:
    """Return the level of single nodes of a graph without loops, its nodes sorted by component.

    Weights, unless all are equal, are scaled by their mean over their mean square, so that sums of
    weights vary like counts of edges. Each component has its own scale. Without weights, and
    from ``implicit_entries`` entries on, one number stands for all weights. Without ``offsets`` all
    nodes count as one component.
    """
    n = len(A.indptr) - 1
    offsets = np.array([0, n]) if offsets is None else offsets
    if not weighted or not A.data.size:
        entries = len(A.indices)
        data: Any = np.ones(entries if entries < implicit_entries else 1, dtype=np.float32)
        strength = np.diff(A.indptr).astype(float)
    else:
        rows = rows_of(A)
        part = np.repeat(np.arange(offsets.size - 1), np.diff(A.indptr[offsets]))
        scale = np.bincount(part, A.data) / np.maximum(
            np.bincount(part, np.square(A.data)), np.finfo(float).tiny
        )
        data = np.maximum(scale[part] * A.data, _LEAST_SINGLE).astype(np.float32)
        strength = np.bincount(rows, weights=data, minlength=n).astype(float)
    # Writable, as coarser levels are: numba compiles a kernel for each kind of array.
    indptr, indices = (np.require(array, None, ["C", "W"]) for array in A[:2])
    return Level(indptr, indices, data, strength, np.zeros(n), np.ones(n, dtype=np.int64), offsets)


def singletons(level: Level) -> Indices:
    """Return labels that put each unit in a group by itself."""
    if level.offsets.size == 2:
        return np.arange(level.n, dtype=np.int32)
    return (np.arange(level.n) - np.repeat(level.offsets[:-1], level.sizes)).astype(np.int32)


def places(k: Ints, which: Ints) -> Ints:
    """Return where the ``k`` items of each of some components start, and their number."""
    ends = np.zeros(k.size + 1, dtype=np.int64)
    ends[1 + which] = k[which]
    return ends.cumsum()


def coarsened(level: Level, z: Indices, k: Ints, which: Ints, control: Ints) -> Level:
    """Return the level whose units are the ``k`` groups of labels in some components.

    The other components have no units there.
    """
    offsets = places(k, which)
    units, entries = int(offsets[-1]), len(level.indices)
    indptr = np.empty(units + 1, dtype=level.indptr.dtype)
    indices = np.empty(entries, dtype=level.indices.dtype)
    data = np.empty(entries, dtype=np.float32)
    strength, inner, nodes = np.empty(units), np.empty(units), np.empty(units, dtype=np.int64)
    arrays = indptr, indices, data, strength, inner, nodes
    work = level.scratch[:5]
    written = np.zeros(1, dtype=np.int64)
    arguments = *level, which, z, 0, offsets, *arrays, *work, written, control
    run_kernel(kernels.coarsen, entries, *arguments)
    indptr[units] = filled = int(written[0])
    control[ENTRIES] += entries if k.size == 1 else int(level.entries[which].sum())
    # The unused part of a large array takes no memory: copy the array only if that frees much.
    indices, data = indices[:filled], data[:filled]
    if 2 * filled < entries:
        indices, data = indices.copy(), data.copy()
    top = Level(indptr, indices, data, strength, inner, nodes, offsets)
    if level.is_small:
        # No kernel needs both at once, and no component of the coarser level is larger.
        top.__dict__["_kept_scratch"] = level.scratch
    return top


def intersection(
    level: Level, z: Indices, k: Ints, y: Indices, which: Ints
) -> tuple[Indices, Ints]:
    """Return the groups that two partitions both keep together, and their numbers.

    ``k`` are the numbers of groups of ``z``.
    """
    cells, found = np.zeros(level.n, dtype=np.int32), np.zeros_like(k)
    scratch = level.scratch
    kernels.intersect(level.offsets, which, z, k, y, cells, scratch.counts, scratch.work, found)
    return cells, found


def majority(fine: Ints, coarse: Ints) -> tuple[Ints, Floats]:
    """Return the coarse group that holds most of each fine one, and the share that it holds.

    In a tie it is the first.
    """
    k = int(coarse.max(initial=0)) + 1
    codes, nodes = np.unique(fine * np.int64(k) + coarse, return_counts=True)
    child, parent = np.divmod(codes, k)
    order = np.lexsort((parent, -nodes, child))
    best = order[np.unique(child, return_index=True)[1]]
    return parent[best], nodes[best] / np.bincount(fine)
