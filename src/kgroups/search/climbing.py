"""The search for the partition with the shortest description, in all components at once.

Climbing moves units between groups, then groups of units, while an objective rises. The search
climbs from several starts. Each stage treats the components that are still active; arrays have one
entry per component.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr_nb import label_components
from kgroups._progress import ENTRIES, new_control, run_kernel
from kgroups._types import Bools, Floats, Indices, Ints
from kgroups.search import _search_nb as kernels
from kgroups.search.levels import Level, coarsened, intersection, places, singletons
from kgroups.search.objective import LEAST_NATS, Objective, best_partners, merged_down, totals
from kgroups.search.settings import Search

ALL_LEVELS = 1 << 30
_NONE = np.zeros(0)
# Gumbel-distributed numbers that annealing draws from; a power of two, as kernels mask the index.
_NOISE = 1 << 14
# Groups per node that agglomeration starts from, and the factor by which a step reduces them.
_FINEST_SHARE = 0.1
_STEP_DOWN = 1.25
# Smaller groups are not split.
_LEAST_SPLIT = 10
# Keeps quotients finite where no nats are saved, or there are no edges.
_LEAST_DIVISOR = 1e-200


class MoveRules(NamedTuple):
    """How units are moved, as kernels take it."""

    # Gumbel-distributed numbers; their count is a power of two.
    noise: Floats
    # A unit is undecided if its best group leads the second best by fewer nats.
    undecided_margin: float
    # Visits to each unit before its moves end.
    max_visits: int
    # Whether the number of groups stays: none is emptied, none is opened.
    fixed_k: bool

    @classmethod
    def of(cls, settings: Search, rng: np.random.Generator) -> "MoveRules":
        """Return the rules of a search, with noise drawn from ``rng``."""
        noise = _noise(int(rng.integers(2**63)))
        return cls(noise, float(settings.undecided_margin), int(settings.max_visits), fixed_k=False)


@lru_cache(maxsize=8)
def _noise(seed: int) -> Floats:
    # Cached, as drawing it takes longer than the search of a small graph.
    return np.random.default_rng(seed).gumbel(size=_NOISE)


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
        *objective.arrays,
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
    found = attached_pieces(top, objective, group, state.k)
    if found is None:
        return state
    into, k, which = found
    z = level.lifted(top, into, piece)
    saved = totals(level, z, k, which, objective).saved
    return state.replaced(state._replace(z=z, k=k, saved=saved), which, level)


class Attached(NamedTuple):
    """New labels of the pieces of groups, their numbers, and the components that have changed."""

    into: Indices
    k: Ints
    which: Ints


def attached_pieces(top: Level, objective: Objective, group: Ints, k: Ints) -> Attached | None:
    """Merge all pieces but the largest of each group, and single nodes, with another group.

    The pieces are the units of a level. None if no piece is to be merged.
    """
    by_size = np.argsort(-top.nodes, kind="stable")
    largest = by_size[np.unique(group[by_size], return_index=True)[1]]
    loose = np.ones(top.n, dtype=np.bool_)
    loose[largest] = top.nodes[largest] == 1
    component = np.repeat(np.arange(k.size), top.sizes)
    which = np.unique(component[loose])
    if not which.size:
        return None
    order = np.lexsort((top.nodes, component))
    into, k = np.zeros(top.n, dtype=np.int32), k.copy()
    scratch = top.scratch
    sums = top.inner.copy(), top.strength.copy(), top.nodes.copy()
    code = objective.edges, objective.of_size, objective.tables
    kernels.attach(*top, *code, which, order, loose, *sums, into, scratch.link, k, scratch.work)
    return Attached(into, k, which)


class Searching:
    """The search in the components of a graph: its settings, and the work done so far.

    Moves draw noise from ``rng``, or follow the rules of another search.
    """

    def __init__(
        self,
        level: Level,
        settings: Search,
        rng: np.random.Generator | MoveRules,
        dispersion: float = 1.0,
    ) -> None:
        self.level, self.settings = level, settings
        self.rules = rng if isinstance(rng, MoveRules) else MoveRules.of(settings, rng)
        self.objective = settings.objective_of(level, dispersion)
        self.sizes, self.control = level.sizes, new_control()
        self.temperatures = np.array(settings.temperatures, dtype=float)
        # The resolution at which hardly any two nodes join; 1 is modularity.
        edges = np.maximum(self.objective.edges, _LEAST_DIVISOR)
        self._finest = np.maximum(1.0, np.square(self.sizes.astype(float)) / (2.0 * edges))

    @property
    def cyclic(self) -> Ints:
        """The components in which the objective may rise."""
        return self.objective.divisible(self.level)

    @property
    def visits(self) -> int:
        """Matrix entries read."""
        return int(self.control[ENTRIES])

    def search(
        self,
        which: Ints,
        *,
        labels: Indices | None = None,
        searched: bool = False,
        spectrum: Callable[[int], tuple[Indices, bool] | None] = lambda component: None,
    ) -> State:
        """Return the best connected communities of some components.

        The search starts from ``labels``, which an earlier search may have found, or by moves of
        single nodes. For a large, locally treelike component, ``spectrum`` returns labels and
        whether these need no rival, or None.
        """
        best, done = self._nothing, np.zeros(self.sizes.size, dtype=np.bool_)
        settings, spectral = self.settings, done.copy()
        if labels is not None:
            best = self._climb(labels, which)
        elif which.size:
            best, treelike, spectral = self._first_start(which, spectrum)
            # Other starts find more only in small graphs, and cost 1,000 visits per edge.
            done = treelike & ~spectral & (best.k == 1) & (self.sizes > settings.spectral_nodes)
            # Nothing is left that another start could gain.
            done |= (
                ~spectral & (best.saved >= self.sizes) & (self._stake(best) <= settings.least_gain)
            )
        best = self._spectral_search(best, which[spectral[which]])
        active = which[~(done | spectral)[which]]
        if settings.starts > 1 and active.size:
            # The errors of a partition of high modularity differ from those of cells.
            z, k = self.modularity_groups(active)
            saved = totals(self.level, z, k, active, self.objective).saved
            rival, leader = self._nothing, np.maximum(best.saved, saved)
            best = self._joined(best, rival._replace(z=z, k=k, saved=saved), active)
            agreed = best.saved - leader <= settings.least_gain * np.abs(best.saved)
            # The nodes of communities that given labels have merged are not undecided.
            enough = agreed & self._is_settled(best) & (labels is None or searched)
            unsettled = active[~enough[active]]
            best = self._further_starts(best, unsettled)
            if labels is None:
                best = self._with_splits(best, unsettled)
        best = self.connected(self.annealed(best, active), which)
        return best.replaced(
            self._nothing._replace(share=np.zeros(self.sizes.size)),
            np.flatnonzero(~(best.saved > settings.significance)),
            self.level,
        )

    def _spectral_search(self, best: State, which: Ints) -> State:
        """Return what the search makes of communities that the spectrum has shown."""
        best = self.annealed(best, which)
        faint = which[best.saved[which] < self.sizes[which]]
        if faint.size:
            # Communities are faint, or cells looked like trees because they are stars.
            best = self._next_start(best, faint, 0)
        # Where communities are faint other starts would find less, at 400 visits per edge.
        clear = (best.saved >= self.sizes) & ~self._is_settled(best)
        which = which[clear[which]]
        return self.annealed(self._further_starts(best, which), which) if which.size else best

    def cells(
        self, which: Ints, exponent: float | None = None, start: int = 0
    ) -> tuple[Indices, Ints]:
        """Return groups of nodes at the resolution of a start, or at a power of the finest one."""
        scales = self.settings.scales
        exponent = scales[start % len(scales)] if exponent is None else exponent
        found = self._climb(
            singletons(self.level),
            which,
            penalty=self._penalty(which, exponent),
            start=start,
            levels=1,
        )
        return found.z, found.k

    def modularity_groups(
        self, which: Ints, exponent: float = 0.0, start: int = 0
    ) -> tuple[Indices, Ints]:
        """Return groups of high modularity at a resolution: climb all levels, then move nodes."""
        penalty = self._penalty(which, exponent)
        found = self._climb(singletons(self.level), which, penalty=penalty, start=start)
        found = self._climb(found.z, which, penalty=penalty, levels=1)
        return found.z, found.k

    def annealed(self, state: State, which: Ints) -> State:
        """Anneal while that gains enough, and while enough nodes are undecided for it to matter."""
        least, active = self.settings.least_gain, which
        while True:
            active = active[(state.k[active] > 1) & (self._stake(state)[active] > least)]
            if not active.size:
                return state
            rival = self._climb(
                state.z,
                active,
                temperatures=self.temperatures,
                waiting=np.zeros(state.z.size, dtype=np.bool_),
                undecided=state.undecided,
            )
            gain = rival.saved - state.saved
            state = self._better(state, rival, active)
            active = active[gain[active] > least * np.abs(state.saved[active])]

    def connected(self, state: State, which: Ints) -> State:
        """Return connected communities, after more moves if these improve them."""
        best = attached(self.level, self.objective, state, which)
        worse = which[best.saved[which] < state.saved[which]]
        if not worse.size:
            return best
        moved = self._climb(best.z, worse)
        rival = attached(self.level, self.objective, moved, worse)
        return self._better(best, rival, worse)

    def improved(self, z: Ints, which: Ints) -> State:
        """Return the connected communities that annealing reaches from labels."""
        found = self._climb(z.astype(np.int32), which, temperatures=self.temperatures)
        return self.connected(found, which)

    def split(self, z: Ints, which: Ints) -> tuple[Indices, Ints]:
        """Split groups of some components into pieces, and the pieces again.

        In the graph of the group alone, the pieces must save as many nats as super-groups must, and
        ln k more, as there are k groups to try. Returns labels from 0 in each of these components,
        and their numbers.
        """
        rows = np.flatnonzero(self.level.mask(which))
        component = np.repeat(np.arange(self.sizes.size), self.sizes)[rows]
        group = np.zeros(self.level.n, dtype=np.int64)
        group[rows] = np.unique(component * self.level.n + z[rows], return_inverse=True)[1]
        k = int(group[rows].max(initial=-1)) + 1
        owner = np.zeros(k, dtype=np.int64)
        owner[group[rows]] = component
        least, untried = LEAST_NATS + np.log(np.bincount(owner)[owner]), np.arange(k)
        while untried.size:
            sizes = np.bincount(group[rows], minlength=k)
            tried = untried[sizes[untried] >= _LEAST_SPLIT]
            inside = rows[np.isin(group[rows], tried)]
            inside = inside[np.argsort(group[inside], kind="stable")]
            pieces = self._pieces(self.level.inside(group, inside))
            split = pieces.saved > least[tried]
            # The first piece of a group keeps its label, the others get new ones.
            number = np.where(split, pieces.k, 1)
            ends = k + np.cumsum(number - 1)
            new = np.repeat(ends - number, sizes[tried]) + pieces.z
            moved = (pieces.z > 0) & np.repeat(split, sizes[tried])
            group[inside[moved]] = new[moved]
            untried = np.concatenate([tried[split], np.arange(k, k + (number - 1).sum())])
            least = np.concatenate([least, np.repeat(least[tried], number - 1)])
            owner = np.concatenate([owner, np.repeat(owner[tried], number - 1)])
            k = owner.size
        order = np.argsort(owner, kind="stable")
        counts = np.bincount(owner, minlength=self.sizes.size)
        name = np.empty(k, dtype=np.int32)
        name[order] = np.arange(k) - np.repeat(np.cumsum(counts) - counts, counts)
        labels = z.astype(np.int32)
        labels[rows] = name[group[rows]]
        return labels, counts

    def _inside(self, groups: Level) -> "Searching":
        """Return the same search in groups, which are the components of a level."""
        return Searching(groups, self.settings, self.rules, self.objective.dispersion)

    def _pieces(self, inside: Level) -> State:
        """Return the pieces of groups, which are the components of a level."""
        searching = self._inside(inside)
        which, objective = searching.cyclic, searching.objective
        z, k = searching.modularity_groups(which)
        saved = totals(inside, z, k, which, objective).saved
        # Where high modularity costs more than a nat per node, there is nothing to find.
        which = which[saved[which] > -inside.sizes[which]]
        merged = searching._agglomerated(z, k, which, finest_share=1.0)
        found = searching._climb(merged.z, which)
        self.control[ENTRIES] += searching.visits
        return found

    def halved(self, z: Indices, k: Ints, which: Ints) -> tuple[Ints, Ints]:
        """Split each group of some components in two, and rank the groups by the nats this loses.

        Returns for each node of a second half the rank of its group in its component, from 0 on,
        and n for all other nodes; and for each component how many groups have two halves.
        """
        level, firsts = self.level, places(k, which)
        component = np.repeat(np.arange(self.sizes.size), self.sizes)
        group = firsts[component] + z
        rows = np.flatnonzero(level.mask(which))
        rows = rows[np.argsort(group[rows], kind="stable")]
        inside = level.inside(group, rows)
        searching = self._inside(inside)
        halves = np.minimum(inside.sizes, 2)
        # A group that is not connected may have more pieces; all but one are the second half.
        second = searching.given_number(halves, np.flatnonzero(halves == 2)) > 0
        self.control[ENTRIES] += searching.visits
        # The halves as units, with links to the other half alone.
        before = np.concatenate([[0], np.cumsum(halves)])
        units = before[firsts]
        labels = np.zeros(level.n, dtype=np.int32)
        labels[rows] = before[group[rows]] - units[component[rows]] + second
        top = coarsened(level, labels, np.diff(units), which, self.control)
        owner = np.repeat(np.arange(halves.size), halves)
        pairs = top.inside(owner, np.arange(top.n))
        pairs = pairs._replace(strength=top.strength, offsets=top.offsets)
        # A merge of both halves gains what their split loses.
        lost = best_partners(pairs, self.objective, which)[0][before[:-1]]
        parent = np.repeat(np.arange(k.size), np.diff(firsts))
        divided = np.bincount(parent, halves == 2, minlength=k.size).astype(np.int64)
        order = np.lexsort((lost, halves == 1, parent))
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size) - firsts[parent]
        place = np.full(level.n, level.n)
        moved = rows[second]
        place[moved] = rank[group[moved]]
        return place, divided

    def moved(self, z: Indices, which: Ints) -> State:
        """Return what moves of single nodes make of labels; the number of communities stays."""
        return self._climb(z, which, rules=self.rules._replace(fixed_k=True), levels=1)

    def given_number(
        self, k: Ints, which: Ints, *, finer: tuple[Indices, Ints] | None = None
    ) -> Indices:
        """Return exactly ``k`` communities of each component.

        They are merged from small groups, or from ``finer`` labels, given with their numbers.
        """
        cells, count = self.cells(which) if finer is None else finer
        few = which[count[which] < k[which]]
        if few.size:
            apart = self.level.mask(few)
            cells, count = np.where(apart, singletons(self.level), cells), count.copy()
            count[few] = self.sizes[few]
        return self._agglomerated(cells, count, which, k).z

    def _with_cells(self, cells: Indices, count: Ints, which: Ints, start: int = 0) -> State:
        """Climb with whole cells, each initially a group, then with nodes."""
        top = coarsened(self.level, cells, count, which, self.control)
        found = self._climb(singletons(top), which, level=top, start=start)
        return self._climb(self.level.lifted(top, found.z, cells), which, start=start)

    def _joined(self, best: State, rival: State, which: Ints, start: int = 0) -> State:
        """Join two partitions: the cells of their intersection move, then nodes.

        Cells start from the better partition, and from singletons.
        """
        level, first = self.level, best
        ahead = which[rival.saved[which] > best.saved[which]]
        best, rival = best.replaced(rival, ahead, level), rival.replaced(best, ahead, level)
        cells, count = intersection(level, best.z, best.k, rival.z, which)
        # Where both are the same partition, rounding alone may have put the rival first.
        which = which[(count[which] != best.k[which]) | (count[which] != rival.k[which])]
        if not which.size:
            return first
        top = coarsened(level, cells, count, which, self.control)
        before = level.contracted(top, best.z, cells)
        lead = self._climb(before, which, level=top, start=start)
        other = self._climb(singletons(top), which, level=top, start=start)
        lead = lead.replaced(other, which[other.saved[which] > lead.saved[which]], top)
        # Decided nodes wait only if their cell, or that of a neighbor, has moved.
        waiting = woken(level, top, cells, before, lead.z, best.undecided, which)
        z = level.lifted(top, lead.z, cells)
        found = self._climb(z, which, start=start, waiting=waiting, undecided=best.undecided)
        return first.replaced(found, which, level)

    def _first_start(
        self, which: Ints, spectrum: Callable[[int], tuple[Indices, bool] | None]
    ) -> tuple[State, Bools, Bools]:
        """Return the communities of the first start, and which components are locally treelike.

        The last array says which of these start from their spectrum instead.
        """
        cells, count = self.cells(which)
        treelike = self._is_treelike(cells, count, which)
        best, clear = self._nothing, which[~treelike[which]]
        if clear.size:
            best = best.replaced(self._with_cells(cells, count, clear), clear, self.level)
        shown, rivals = np.zeros_like(treelike), []
        z, active = best.z.copy(), which[treelike[which]]
        for c in active[self.sizes[active] > self.settings.spectral_nodes].tolist():
            found = spectrum(c)
            if found is not None:
                z[self.level.offsets[c] : self.level.offsets[c + 1]], shown[c] = found
                rivals += [] if shown[c] else [c]
        from_spectrum = np.flatnonzero(shown)
        if from_spectrum.size:
            best = best.replaced(self._climb(z, from_spectrum), from_spectrum, self.level)
        # Without short cycles communities, if any, are large, and moves of single nodes miss them.
        active = active[~shown[active]]
        for exponent in (self.settings.scales[0], 0.0):
            if not active.size:
                break
            groups, _ = self.modularity_groups(active, exponent, start=1)
            rival = self._climb(groups, active, temperatures=self.temperatures)
            best = self._better(best, self.annealed(rival, active), active)
            active = active[~self._is_settled(best)[active]]
        if rivals:
            compared = np.array(rivals)
            best = self._better(best, self.annealed(self._climb(z, compared), compared), compared)
        return best, treelike, shown

    def _better(self, best: State, rival: State, which: Ints) -> State:
        return best.replaced(rival, which[rival.saved[which] > best.saved[which]], self.level)

    def _is_treelike(self, cells: Indices, count: Ints, which: Ints) -> Bools:
        """Return which components have hardly more links inside cells than a spanning tree."""
        # A dispersion changes what edges are worth, not how many there are.
        inside = self.objective.dispersion * totals(self.level, cells, count, which).sums[:, 0]
        return np.asarray(inside - (self.sizes - count) < self.settings.treelike * inside)

    def _next_start(self, best: State, which: Ints, start: int) -> State:
        """Start again at the resolution of a start, and join the result with the best one so far.

        Where the best is faint, so that most nodes are undecided, the start is annealed first.
        """
        cells, count = self.cells(which, start=start)
        rival = self._with_cells(cells, count, which, start)
        rival = self.annealed(rival, which[best.saved[which] < self.sizes[which]])
        return self._joined(best, rival, which, start)

    def _further_starts(self, best: State, which: Ints) -> State:
        """Make more starts while that gains; where the best is faint, also descend."""
        least, active, failures = self.settings.least_gain, which, np.zeros_like(self.sizes)
        for start in range(1, self.settings.starts):
            if not active.size:
                break
            before = best.saved
            best = self._next_start(best, active, start)
            gained = best.saved - before > least * np.abs(best.saved)
            failures = np.where(gained, 0, failures + 1)
            active = active[failures[active] < self.settings.patience]
        faint = which[best.saved[which] < self.sizes[which]]
        if not faint.size:
            return best
        merged = self._agglomerated(*self.cells(faint), faint)
        return self._joined(best, self._climb(merged.z, faint), faint)

    def _with_splits(self, best: State, which: Ints) -> State:
        """Split communities where they are clear, and keep the splits if the whole saves more."""
        which = which[(best.k[which] > 1) & (best.saved[which] >= self.sizes[which])]
        z, k = self.split(best.z, which)
        which = which[k[which] > best.k[which]]
        return self._better(best, self.improved(z, which), which)

    def _agglomerated(
        self,
        cells: Indices,
        count: Ints,
        which: Ints,
        k_given: Ints | None = None,
        *,
        finest_share: float = _FINEST_SHARE,
    ) -> State:
        """Merge groups step by step, with annealed moves at each step.

        The first step begins with at most ``finest_share`` groups per node. The last one ends at
        ``k_given`` groups or, if that is not given, one step after the best number.
        """
        given = k_given is not None
        target = np.ones_like(count) if k_given is None else k_given
        first = np.maximum(target, (finest_share * self.sizes).astype(np.int64))
        z, k = self._merged(cells, count, which[count[which] > first[which]], first)
        best = self._nothing._replace(saved=np.full(k.size, -np.inf))
        rules, active = self.rules._replace(fixed_k=True), which
        while True:
            found = self._climb(z, active, rules=rules, temperatures=self.temperatures, levels=1)
            improved = active if given else active[found.saved[active] >= best.saved[active]]
            best = best.replaced(found, improved, self.level)
            last, active = k, improved[k[improved] > target[improved]]
            fewer = np.maximum(target, (k / _STEP_DOWN).astype(np.int64))
            z, k = self._merged(found.z, k, active, fewer)
            # Groups without links between them are not merged.
            active = active[k[active] < last[active]]
            if not active.size:
                return best

    def _merged(self, z: Indices, k: Ints, which: Ints, target: Ints) -> tuple[Indices, Ints]:
        """Merge the groups of some components down to a number."""
        if not which.size:
            return z, k
        top = coarsened(self.level, z, k, which, self.control)
        label, found = merged_down(top, self.objective, which, target, self.control)
        fewer = k.copy()
        fewer[which] = found[which]
        lifted = self.level.lifted(top, label, z)
        return np.where(self.level.mask(which), lifted, z), fewer

    def _climb(
        self, z: Indices, which: Ints, *, level: Level | None = None, **options: Any
    ) -> State:
        level = self.level if level is None else level
        rules = options.pop("rules", self.rules)
        return climb(level, self.objective, z, which, rules, self.control, **options)

    def _penalty(self, which: Ints, exponent: float) -> Floats:
        """Return the penalties at a power of the finest resolution."""
        # By Python's power, whose digits do not depend on the processor.
        powers = [finest**exponent for finest in self._finest[which].tolist()]
        penalty = np.zeros(self.sizes.size)
        penalty[which] = powers / (2.0 * self.objective.edges[which])
        return penalty

    @cached_property
    def _nothing(self) -> State:
        """One community in every component."""
        parts, z = self.sizes.size, np.zeros(self.level.n, dtype=np.int32)
        one = np.ones(parts, dtype=np.int64)
        return State(z, one, np.zeros(parts), self.level.everyone, np.ones(parts))

    def _stake(self, state: State) -> Floats:
        """Return the nats that undecided nodes could still save, as a share of those saved."""
        nats = state.share * self.rules.undecided_margin * self.sizes
        return np.asarray(nats / np.maximum(np.abs(state.saved), _LEAST_DIVISOR))

    def _is_settled(self, state: State) -> Bools:
        """Return where so few nodes are undecided that another start would gain next to nothing."""
        few = self._stake(state) <= self.settings.at_stake
        return np.asarray(few & (state.saved >= self.sizes))
