"""The regime for many communities: moves at the resolution of the spectrum, description length."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from kgroups._csr import without_diagonal
from kgroups._types import Indices, Ints
from kgroups.hartigan import improve
from kgroups.refine import Hartigan, absorb_fragments
from kgroups.refine.rates import Warmth, merged, nats_saved
from kgroups.regimes.choice import resolution_of
from kgroups.regimes.core import Core
from kgroups.regimes.problem import Part
from kgroups.regimes.splits import Splitter
from kgroups.seed.levels import (
    Effort,
    Level,
    coarse_level,
    finest_level,
    group_moves,
    multilevel,
    renumbered,
)
from kgroups.spectrum import Moments

__all__ = [
    "ManyFound",
    "many_communities",
    "many_further",
    "many_given_k",
    "nats_of",
]

_COLD = (0.0,) * 5
_MILD = (0.3, 0.0)
_REHEAT = (0.7, 0.3, 0.0)
_STEP = (1.0, 0.8, 0.6, 0.4, 0.2)

# Communities fainter than this are not found by moves that only ever improve.
_FAINT = 1.45
# Among communities clearer than this none are left merged, or so many that a sample shows some.
_CLEAR = 1.8
# A share of undecided nodes below which nothing is left to gain.
_DECIDED = 0.05
_UNDECIDED = 0.1
# Reheating goes on while it saves this part more, and a start from below follows after more.
_WORTH_REHEATING = 0.002
_HARD = 0.03
_REHEATS = 3
# Groups merged at a time, steps of the descent from many groups, and where it begins.
_SHARE = 0.2
_NOTABLE = 0.02
_MOST_ROUNDS = 100
_STEP_DOWN = 1.25
_FINER = 4.0
_FINEST_SHARE = 0.1
_STEPS_PAST_BEST = 1
_HARTIGAN_SWEEPS = 5


@dataclass(frozen=True, eq=False)
class ManyFound:
    """Labels of one component, and what happened on the way.

    Attributes
    ----------
    z : ndarray of shape (n,)
        Labels from 0 to k - 1, all in use.
    k : int
        Number of communities.
    nats : float
        What the partition saves against the graph in one piece, in nats.
    resolution : float or None
        Resolution of the first moves, if there were any.
    undecided : float or None
        Share of the nodes for which another community was nearly as good, if nodes were moved.
    stairs : int
        Steps of a descent from many groups; 0 if there was none.
    splits : int
        Communities that were split.
    hartigan : str
        "kept", "dropped" because it saved nothing, or "not needed".
    visits, moves : int
        Matrix entries read, and moves made.
    """

    z: Ints
    k: int
    nats: float
    resolution: float | None
    undecided: float | None
    stairs: int
    splits: int
    hartigan: str
    visits: int
    moves: int


@dataclass(frozen=True, eq=False)
class _State:
    """Labels, their groups, and what they save; ``linked`` tells if the groups know their links."""

    z: Indices
    groups: Level
    nats: float
    linked: bool

    @property
    def k(self) -> int:
        return self.groups.n


def many_communities(
    part: Part,
    found: Moments,
    refine: Hartigan | None,
    rng: np.random.Generator,
    *,
    weighted: bool,
    start: Ints | None = None,
    tell: Callable[[str], None] = lambda stage: None,
) -> ManyFound:
    """Find the communities of a connected part, as many as its description is best with.

    Parameters
    ----------
    part : Part
        A connected graph.
    found : Moments
        Its moments, whose k and s give the resolution.
    refine : Hartigan or None
        The polish at the end; ``None`` leaves it out, and splits too.
    rng : Generator
        Order of the first moves, and noise of the warm ones.
    weighted : bool
        Whether the edges differ in weight.
    start : ndarray of shape (n,), optional
        Labels to start from, in place of those that moves at a resolution give.
    tell : callable
        Called with the name of each stage.
    """
    search = _Search(part, rng, tell, weighted=weighted, splits=refine is not None)
    resolution = resolution_of(found.k_low, found.s, float(search.level.strength.mean()))
    state = search.found(resolution, snr=found.s) if start is None else search.found_from(start)
    if refine is not None and search.undecided > _UNDECIDED and state.k > 1:
        state = search.polished(state, part, refine)
    return search.result(search.connected(state), resolution)


def many_given_k(
    part: Part,
    found: Moments,
    k: int,
    rng: np.random.Generator,
    *,
    weighted: bool,
    tell: Callable[[str], None] = lambda stage: None,
) -> ManyFound:
    """Find exactly ``k`` communities of a connected part; parameters as above."""
    search = _Search(part, rng, tell, weighted=weighted, least=k)
    resolution = resolution_of(max(k, found.k_low), found.s, float(search.level.strength.mean()))
    return search.result(search.descent_to(k, resolution), resolution)


class _Search:
    """One graph, and the ways of changing a partition of it."""

    def __init__(
        self,
        part: Part,
        rng: np.random.Generator,
        tell: Callable[[str], None] = lambda stage: None,
        *,
        weighted: bool,
        splits: bool = True,
        least: int = 3,
    ) -> None:
        self.core = Core(without_diagonal(part.bent() if weighted else part.A), least=least)
        self.level = finest_level(self.core.A, weighted=weighted)
        self.rng, self.tell, self._splits = rng, tell, splits
        self.effort = Effort()
        self.undecided = 1.0
        self.stairs = 0
        self.hartigan = "not needed"
        self.splitter = Splitter(self.level, rng, self.effort)

    def on_core(self, z: Ints) -> _State:
        """Return the state that labels of all nodes give."""
        return self.linked(*renumbered(z[self.core.rows].astype(np.int32)))

    def found(self, resolution: float, *, snr: float) -> _State:
        """Return the best state of those that the searches end in."""
        best = None
        clear = snr >= _CLEAR
        if snr >= _FAINT:
            self.tell("moving nodes")
            first = self._settled(self._first(resolution))
            best = self._reheated(first) if self.undecided > _DECIDED else first
            if best.nats > 0.0 and best.nats - first.nats <= _HARD * abs(first.nats):
                return self._split(best, sample=clear)
        self.tell("merging groups step by step")
        rival = self._descent(resolution)
        if best is None or rival.nats > best.nats:
            best = rival
        return self._split(best, sample=clear)

    def settled_from(self, given: _State) -> _State:
        """Return the state that merges and moves lead to, the given one if it saves more."""
        settled = self._settled(given)
        return settled if settled.nats > given.nats else given

    def found_from(self, start: Ints) -> _State:
        """Return the state that labels lead to, themselves if nothing saves more."""
        self.tell("moving nodes")
        given = self.on_core(start)
        # Labels from elsewhere may hide communities in any of theirs: a sample could miss them.
        best = self._split(self._settled(given), sample=False)
        return best if best.nats > given.nats else given

    def result(self, state: _State, resolution: float | None) -> ManyFound:
        """Return what was found, pendant trees labelled too."""
        return ManyFound(
            self.core.spread(state.z),
            state.k,
            state.nats,
            resolution,
            self.undecided if self.effort.moves else None,
            self.stairs,
            self.splitter.splits,
            self.hartigan,
            self.effort.entries,
            self.effort.moves,
        )

    def linked(self, z: Indices, k: int) -> _State:
        groups = coarse_level(self.level, z, k, self.effort)
        return _State(z, groups, nats_saved(groups), linked=True)

    def _with_links(self, state: _State) -> _State:
        return state if state.linked else self.linked(state.z, state.k)

    def _unlinked(self, z: Indices, groups: Level) -> _State:
        return _State(z, groups, nats_saved(groups), linked=False)

    def _first(self, resolution: float) -> _State:
        level = self.level
        penalty = np.full(level.n, resolution / (2.0 * level.edges))
        return self.linked(*multilevel(level, penalty, self.rng, self.effort))

    def _settled(self, state: _State) -> _State:
        """Merge best pairs first, a few at a time, and let nodes move in between."""
        warmth = Warmth(self.level, self.effort, self.rng)
        state = self._with_links(state)
        z, groups = state.z, state.groups
        for _ in range(_MOST_ROUNDS):
            k = groups.n
            label, groups = merged(groups, self.effort, share=_SHARE)
            z = label[z]
            if groups.n == k:
                break
            if k - groups.n > _NOTABLE * k:
                z, groups = warmth.moved(z, groups, _MILD)
                groups = coarse_level(self.level, z, groups.n, self.effort)
        z, groups = warmth.moved(z, groups, (_MILD[0], *_COLD))
        self.undecided = warmth.unsure
        return self._unlinked(z, groups)

    def _reheated(self, state: _State) -> _State:
        """Warm the labels and let them cool, again while that saves enough."""
        for _ in range(_REHEATS):
            warmth = Warmth(self.level, self.effort, self.rng)
            warmer = self._settled(self._unlinked(*warmth.moved(state.z, state.groups, _REHEAT)))
            gain = warmer.nats - state.nats
            if gain > 0.0:
                state = warmer
            if gain < _WORTH_REHEATING * abs(state.nats):
                break
        return state

    def _finest_groups(self, resolution: float) -> tuple[Indices, int]:
        """Return groups of neighbouring nodes, far more than there are communities."""
        level, n = self.level, self.level.n
        return group_moves(
            level,
            np.arange(n, dtype=np.int32),
            n,
            self.effort,
            penalty=np.full(n, _FINER * resolution / (2.0 * level.edges)),
            order=self.rng.permutation(n),
        )

    def _descent(self, resolution: float) -> _State:
        """Merge down from many groups, with warm moves at every step; return the best state."""
        steps: list[_State] = []
        best = 0
        for state in self._steps_down(resolution, 1):
            steps.append(state)
            if state.nats >= steps[best].nats:
                best = len(steps) - 1
            elif len(steps) - 1 - best >= _STEPS_PAST_BEST:
                break
        self.stairs = len(steps)
        ends = [self._settled(state) for state in steps[max(0, best - 1) : best + 1]]
        return max(ends, key=lambda end: end.nats)

    def _steps_down(self, resolution: float, k: int) -> Iterator[_State]:
        """Yield a state after warm moves at every step from many groups down to ``k``."""
        level, effort = self.level, self.effort
        z, count = self._finest_groups(resolution)
        if count < k:
            z, count = np.arange(level.n, dtype=np.int32), level.n
        groups = coarse_level(level, z, count, effort)
        start = max(k, int(_FINEST_SHARE * level.n))
        if count > start:
            label, groups = merged(groups, effort, target=start)
            z = label[z]
        warmth = Warmth(level, effort, self.rng)
        while True:
            z, groups = warmth.moved(z, groups, _STEP)
            self.undecided = warmth.unsure
            yield self._unlinked(z, groups)
            if groups.n <= k:
                break
            label, groups = merged(
                coarse_level(level, z, groups.n, effort),
                effort,
                target=max(k, int(groups.n / _STEP_DOWN)),
            )
            z = label[z]

    def descent_to(self, k: int, resolution: float) -> _State:
        """Merge down to exactly k groups, with warm moves at every step."""
        steps = list(self._steps_down(resolution, k))
        self.stairs, state = len(steps), steps[-1]
        warmth = Warmth(self.level, self.effort, self.rng)
        z, groups = warmth.moved(state.z, state.groups, _COLD)
        self.undecided = warmth.unsure
        return self._unlinked(z, groups)

    def _split(self, state: _State, *, sample: bool = True) -> _State:
        """Split communities that are described better in pieces, and let nodes move."""
        if not self._splits:
            return state
        self.tell("splitting communities")
        whole = self.split_only(state.z, state.k, sample=sample)
        if whole is state.z:
            return state
        z, k = renumbered(whole)
        groups = coarse_level(self.level, z, k, self.effort)
        warmth = Warmth(self.level, self.effort, self.rng)
        return self._unlinked(*warmth.moved(z, groups, (_MILD[0], *_COLD)))

    def split_only(self, z: Indices, k: int, *, sample: bool = True) -> Indices:
        """Return labels after splits; a sample may be tried first where most nodes are decided."""
        return self.splitter.labels(z, k, sample=sample and self.undecided < _UNDECIDED)

    def polished(self, state: _State, part: Part, method: Hartigan) -> _State:
        """Make Hartigan moves on H_r, and keep them if they save more."""
        self.tell("Hartigan moves")
        M, diagonal, w = method.objective(part.bound, part.d)
        outcome = improve(
            M,
            diagonal,
            w,
            self.core.spread(state.z),
            k=state.k,
            candidates=method.candidates,
            margin=method.margin,
            max_sweeps=min(method.max_sweeps, _HARTIGAN_SWEEPS),
        )
        self.effort.read(outcome.visits, moves=outcome.moves)
        moved = self._settled(self.on_core(outcome.z))
        self.hartigan = "kept" if moved.nats > state.nats else "dropped"
        return moved if moved.nats > state.nats else state

    def connected(self, state: _State) -> _State:
        """Give fragments of communities to their neighbours; one community if nothing is saved."""
        z, k = absorb_fragments(self.core.A, state.z.astype(np.int64))
        state = self.linked(z.astype(np.int32), k)
        if state.nats <= 0.0 and k > 1:
            return self.linked(np.zeros(self.level.n, dtype=np.int32), 1)
        return state


def many_further(
    part: Part, z: Ints, rng: np.random.Generator, *, weighted: bool, moves: bool, splits: bool
) -> ManyFound:
    """Go on from labels: moves and merges that save more, and splits.

    Splits are judged on each community alone, so they need no labels that save anything.
    """
    search = _Search(part, rng, weighted=weighted)
    state = search.on_core(z)
    if moves:
        state = search.settled_from(state)
    if splits:
        state = search.linked(*renumbered(search.split_only(state.z, state.k)))
    labels, k = absorb_fragments(search.core.A, state.z.astype(np.int64))
    return search.result(search.linked(labels.astype(np.int32), k), None)


def nats_of(part: Part, z: Ints, *, weighted: bool) -> float:
    """Return what a partition of a part saves against the part in one piece, in nats."""
    return _Search(part, np.random.default_rng(0), weighted=weighted).on_core(z).nats
