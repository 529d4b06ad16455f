"""Climbing: units change groups, then groups of units, while an objective rises."""

from typing import NamedTuple

import numpy as np

from kgroups._csr_nb import label_components
from kgroups._progress import new_control, run_kernel
from kgroups._types import Bools, Floats, Indices, Ints
from kgroups.search import _climbing_nb as kernels
from kgroups.search.levels import Level, coarsened, places
from kgroups.search.objective import Objective, totals

ALL_LEVELS = 1 << 30
_NONE = np.zeros(0)


class MoveRules(NamedTuple):
    """How units are moved, as kernels take it."""

    # Gumbel-distributed numbers; as many as a power of two.
    noise: Floats
    # A unit is undecided if its best group leads the second best by fewer nats.
    undecided_margin: float
    # Visits to each unit before its moves end.
    max_visits: int
    # Whether the number of groups stays: none is emptied, none is opened.
    keep: bool


class State(NamedTuple):
    """A partition of some components of a level, and how certain it is."""

    # Labels without gaps from 0 in each component.
    z: Indices
    # For each component: number of groups, and nats saved.
    k: Ints
    saved: Floats
    # Units that have another group nearly as good, and their share of the nodes of a component.
    undecided: Bools
    share: Floats

    def replaced(self, rival: "State", take: Ints, level: Level) -> "State":
        """Return the state with the components ``take`` of a rival."""
        if take.size == self.k.size:
            return rival
        if not take.size:
            return self
        chosen = np.zeros(self.k.size, dtype=np.bool_)
        chosen[take] = True
        units = np.repeat(chosen, level.sizes)
        return State(
            np.where(units, rival.z, self.z),
            np.where(chosen, rival.k, self.k),
            np.where(chosen, rival.saved, self.saved),
            np.where(units, rival.undecided, self.undecided),
            np.where(chosen, rival.share, self.share),
        )


def climb(
    level: Level,
    objective: Objective,
    z: Indices,
    which: Ints,
    rules: MoveRules,
    control: Ints,
    *,
    penalty: Floats | None = None,
    margin: Floats | None = None,
    temperatures: Floats = _NONE,
    start: int = 0,
    levels: int = ALL_LEVELS,
    waiting: Bools | None = None,
    undecided: Bools | None = None,
) -> State:
    """Move units of some components, then groups of them, until nothing improves.

    The nats saved rise, or with a ``penalty`` for each component modularity at a resolution; then
    ``margin`` is the least gain of a move, in edges. ``waiting`` and ``undecided``, by default all
    units, say which are visited first. There is a sweep with noise for each temperature. ``start``
    chooses the order of visits.
    """
    z, parts = z.copy(), level.offsets.size - 1
    waiting = (level.everyone if waiting is None else waiting).copy()
    undecided = (level.everyone if undecided is None else undecided).copy()
    saved, share, none = np.zeros((3, parts))
    k = np.ones(parts, dtype=np.int64)
    if penalty is None:
        penalty = none
    if margin is None:
        margin = none + kernels.ROUNDING
    run_kernel(
        kernels.climb,
        len(level.indices),
        *level,
        *objective[:4],
        which,
        z,
        penalty,
        margin,
        *rules,
        temperatures,
        start,
        levels,
        waiting,
        undecided,
        k,
        saved,
        share,
        *level.scratch,
        control,
    )
    return State(z, k, saved, undecided, share)


def woken(
    level: Level,
    top: Level,
    cells: Indices,
    before: Indices,
    after: Indices,
    undecided: Bools,
    which: Ints,
) -> Bools:
    """Return undecided units, units whose cell has left its group, and neighbors of these.

    ``before`` and ``after`` are labels of the cells, which are the units of a coarser level.
    """
    waiting, entries = undecided.copy(), len(level.indices)
    work = top.scratch.work
    state = cells, top.nodes, before, after, waiting, work, new_control()
    offsets = level.offsets, top.offsets
    run_kernel(kernels.wake, entries, level.indptr, level.indices, *offsets, which, *state)
    return waiting


def attached(level: Level, objective: Objective, state: State, which: Ints) -> State:
    """Merge fragments of groups, and single nodes, with the neighboring group that saves most.

    The largest piece of a group stays where it is.
    """
    which = which[state.k[which] > 1]
    if not which.size:
        return state
    piece, stack = np.zeros((2, level.n), dtype=np.int32)
    counts, control = np.zeros_like(state.k), new_control()
    arrays = (
        level.indptr,
        level.indices,
        level.offsets,
        which,
        state.z,
        piece,
        counts,
        stack,
        control,
    )
    run_kernel(label_components, len(level.indices), *arrays)
    if np.array_equal(counts[which], state.k[which]):
        # Groups are connected; none may be a single node either.
        units = piece + np.repeat(places(counts, which)[:-1], level.sizes)
        chosen = units if which.size == counts.size else units[level.mask(which)]
        if np.bincount(chosen).min() > 1:
            return state
    top = coarsened(level, piece, counts, which, control)
    group = level.contracted(top, state.z, piece) + np.repeat(top.offsets[:-1], top.sizes)
    by_size = np.argsort(-top.nodes, kind="stable")
    largest = by_size[np.unique(group[by_size], return_index=True)[1]]
    loose = np.ones(top.n, dtype=np.bool_)
    loose[largest] = top.nodes[largest] == 1
    component = np.repeat(np.arange(counts.size), top.sizes)
    which = np.unique(component[loose])
    if not which.size:
        return state
    order = np.lexsort((top.nodes, component))
    into, k = np.zeros(top.n, dtype=np.int32), state.k.copy()
    scratch = top.scratch
    sums = top.inner.copy(), top.strength.copy(), top.nodes.copy()
    code = objective.edges, objective.of_size, objective.tables
    kernels.attach(*top, *code, which, order, loose, *sums, into, scratch.link, k, scratch.work)
    z = level.lifted(top, into, piece)
    saved = totals(level, z, k, which, objective).saved
    return state.replaced(state._replace(z=z, k=k, saved=saved), which, level)
