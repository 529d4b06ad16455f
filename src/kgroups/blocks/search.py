"""The search for the shortest description in one component of a stored graph, in passes.

A *sweep* takes the colors of the nodes in turn. All blocks of a color see the same labels, so that
the result depends neither on the blocks nor on who works on them. Between sweeps the graph of
groups is searched in memory, by the functions that search a graph in memory.
"""

import ctypes
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kgroups._progress import begin_pass, begin_stage, new_control, tell_share
from kgroups._types import Floats, Indices, Ints
from kgroups.blocks import _sweeps_nb as kernels
from kgroups.blocks import tasks
from kgroups.blocks.engines import Engine, one_pass
from kgroups.blocks.journal import LINKS, Journal
from kgroups.blocks.spectrum import StoredOperator
from kgroups.blocks.store import COLORS
from kgroups.blocks.tasks import Sweep, Totals, Work, group_totals
from kgroups.hartigan.refine import fit_of_sums
from kgroups.search.candidates import projected_groups, shows_few
from kgroups.search.climbing import MoveRules, State, attached_pieces, climb
from kgroups.search.levels import Level, singletons
from kgroups.search.objective import (
    MOST_REPEATED,
    Groups,
    Objective,
    contiguity_of_groups,
    dispersion_of_groups,
    merged_down,
    separation_of,
    totals,
)
from kgroups.search.settings import Search
from kgroups.spectrum import Moments, moments
from kgroups.spectrum.chebyshev import Recursion, ThinBlock
from kgroups.spectrum.operators import R_FLOOR

# Up to this number of groups all links between them are kept, in a table.
_DENSE_GROUPS = 1_024
# Links that are kept of each group if there are more groups; strengths count all links.
_MOST_LINKS = 64
# Links between groups that are added up at once, with about 60 bytes each.
_GATHERED = 2_000_000
# First moves end when fewer than this share of the nodes move, or after the second number of
# sweeps. After the third number it is known whether the graph is locally treelike.
_FEW_MOVES, _FIRST_SWEEPS, _ENOUGH_TO_JUDGE = 0.02, 6, 3
# Moves end when fewer than this share of the nodes move, or after the second number of sweeps.
_SETTLED, _MOST_SWEEPS = 0.001, 3
# Rounds of merging groups and moving nodes; the last one comes when fewer than this share merge.
_ROUNDS, _FEW_MERGES = 6, 0.02
# Temperature of a sweep with noise.
_TEMPERATURE = 0.3
# Columns of a recursion: random vectors, and the one that finds the Perron vector. Where
# communities are many or faint there is a second one, of filtered random vectors alone.
_COLUMNS, _MORE_COLUMNS = 8, 8
# Steps beyond those of the moments that the second vectors are filtered.
_MORE_STEPS = 2
# Groups of projected rows for each community; with two recursions the second number.
_GROUPS_PER_COMMUNITY, _GROUPS_WITH_MORE = 1.5, 2.0
# Bytes for each entry of the rows that are taken to measure the dispersion.
_BYTES_PER_ENTRY = 48
# Entries that are enough to measure it, and of contiguity.
_ENOUGH_ENTRIES = 20_000_000
# With fewer communities, all links that leave one lead to the same other one.
_LEAST_GROUPS = 3
_CHUNK = 1 << 18
_ONE = np.zeros(1, dtype=np.int64)


class SideBySide:
    """Blocks of vectors as one block with all their columns, on some of the nodes."""

    def __init__(self, blocks: list[ThinBlock], nodes: Ints | None) -> None:
        self._blocks, self._nodes = blocks, nodes

    def __len__(self) -> int:
        return len(self._blocks[0]) if self._nodes is None else self._nodes.size

    def __getitem__(self, rows: Any) -> ThinBlock:
        rows = rows if self._nodes is None else self._nodes[rows]
        return np.hstack([block[rows] for block in self._blocks])


def give_back_memory() -> None:
    """Return freed memory to the system, where that is not done by itself.

    The C library of Linux keeps arrays of up to 32 MB, in pieces that later ones may not fit into.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


class Borders(NamedTuple):
    """Contiguity of communities, their separation where it matters, and how many are patches."""

    contiguity: float
    separation: float | None


class Sampled(NamedTuple):
    """What a sample of the communities shows."""

    dispersion: float
    contiguity: float
    # Whether the contiguity is clearly that of patches.
    clear: bool


class BlockSearch:
    """The search in the nodes of a stored graph whose labels are not -1, which are connected.

    Each step is kept in a journal: after an interruption, the steps that were done are skipped.
    """

    def __init__(
        self, work: Work, engine: Engine, settings: Search, seed: int, journal: Journal
    ) -> None:
        self.work, self.engine, self.settings, self._journal = work, engine, settings, journal
        self._rng = np.random.default_rng(seed)
        self._seed = seed
        self.rules = MoveRules.of(settings, self._rng)
        self.inside = work.z >= 0
        self.whole = bool(self.inside.all())
        self.n = int(np.count_nonzero(self.inside))
        self.m = 0.5 * sum(float(part.sum()) for part in self._strengths())
        self.k, self.undecided, self.saved = 1, 1.0, 0.0
        self.E = np.array([self.m])
        self._objective: Objective | None = None
        self._sample: Sampled | None = None

    def _strengths(self) -> Iterator[Floats]:
        for first in range(0, self.inside.size, _CHUNK):
            chosen = self.inside[first : first + _CHUNK]
            yield self.work.strengths(first, first + chosen.size)[chosen]

    @property
    def objective(self) -> Objective:
        """The code lengths of the component."""
        if self._objective is None:
            edges, dispersion = np.array([self.m]), self.work.weighing.dispersion
            self._objective = Objective.of_sizes(np.array([self.n]), edges, dispersion)
        return self._objective

    @cached_property
    def _given_objective(self) -> Any:
        return self.engine.publish(self.objective)

    def step(self, name: str, compute: Callable[[], Any]) -> Any:
        """Do a step of the search, or return what it returned before an interruption."""
        give_back_memory()
        return self._journal.step(name, self, compute)

    def state(self) -> dict[str, Any]:
        """Return what a later step depends on, beside what steps have returned."""
        return {
            "z": self.work.z,
            "E": self.E,
            "random": self._rng.bit_generator.state,
        }

    def numbers(self) -> list[float]:
        """Return the part of the state that decides which step comes next."""
        return [self.k, self.undecided, self.saved]

    def recall(self, numbers: list[float]) -> None:
        """Set this part."""
        self.k, self.undecided, self.saved = int(numbers[0]), *numbers[1:]

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.E, self._rng.bit_generator.state = state["E"], state["random"]
        self._relabel(state["z"], self.k)

    # Passes over the blocks.

    def sweep(
        self, *, penalty: float = 0.0, temperature: float = 0.0, fixed_k: bool = False
    ) -> tuple[int, float]:
        """Let every node choose once, one color after the other.

        Returns how many nodes have moved, and the links of all nodes to the groups they chose.
        """
        K, N = group_totals(self.work, self.k)
        shift = int(self._rng.integers(1 << 14)) if temperature else 0
        rules, linear = self.rules._replace(fixed_k=fixed_k), penalty > 0.0
        objective = None if linear else self._given_objective
        sweep = Sweep(self.m, objective, rules, penalty, temperature, shift)
        given_sweep = self.engine.publish(sweep)
        moved, kept, undecided, done = 0, 0.0, 0, 0
        begin_pass()
        blocks = self.work.store.blocks
        for color in range(COLORS):
            numbers = [block.number for block in blocks if block.color == color]
            if not numbers:
                continue
            # Modularity needs no weights inside.
            given = self.engine.publish(Totals(self.E[:0] if linear else self.E, K, N))
            parts = []
            for part in self.engine.map(tasks.choose, numbers, given, given_sweep):
                parts.append(part)
                kept, undecided, done = kept + part.kept, undecided + part.undecided, done + 1
                tell_share(done, len(blocks))
            nodes = np.concatenate([part.nodes for part in parts])
            if not nodes.size:
                continue
            to = np.concatenate([part.to for part in parts])
            own, there = (np.concatenate([part[i] for part in parts]) for i in (2, 3))
            if fixed_k:
                stay = _last_of_groups(self.work.z[nodes], to, N)
                nodes, to, own, there = (np.delete(one, stay) for one in (nodes, to, own, there))
            before, d = self.work.z[nodes], self.work.strengths_of(nodes)
            np.subtract.at(K, before, d)
            np.add.at(K, to, d)
            np.subtract.at(N, before, 1)
            np.add.at(N, to, 1)
            if not linear:
                # Links between nodes that move at the same time are counted wrongly until the next
                # pass over the groups.
                np.subtract.at(self.E, before, own)
                np.add.at(self.E, to, there)
                np.maximum(self.E, 0.0, out=self.E)
            self.engine.move(nodes, to)
            moved += nodes.size
        self.undecided = undecided / self.n
        return moved, kept

    def groups(self) -> Level:
        """Return the graph of groups, of each group in which all weights inside are counted.

        Of many groups only the strongest links are kept.
        """
        from scipy import sparse

        k, blocks = self.k, len(self.work.store.blocks)
        K, N = group_totals(self.work, k)
        if k <= _DENSE_GROUPS:
            table, inner = np.zeros((k, k)), np.zeros(k)
            for part in one_pass(self.engine, tasks.group_links, blocks, k):
                rows = np.repeat(np.arange(k), np.diff(part.indptr))
                table[rows, part.indices] += part.data
                inner += part.inner
            links = sparse.csr_array(table.astype(np.float32))
        else:
            links, inner = self._links_of_many(K)
        self.E = inner
        indptr, indices = (x.astype(np.int32, copy=False) for x in (links.indptr, links.indices))
        return Level(indptr, indices, links.data, K, inner.copy(), N, np.array([0, k]))

    def _links_of_many(self, K: Floats) -> tuple[Any, Floats]:
        """Return the strongest links of groups as a sparse matrix, and the weights inside."""
        from scipy import sparse

        k, blocks = self.k, len(self.work.store.blocks)
        ranges = -(-self.work.store.entries // _GATHERED)
        bounds = np.linspace(0, k, ranges + 1).astype(np.int64)
        inner, parts = np.zeros(k), []
        with tempfile.TemporaryDirectory(dir=self._journal.folder, prefix=LINKS) as folder:
            for part in one_pass(self.engine, tasks.spilled_links, blocks, k, folder, bounds):
                inner += part
            given = folder, list(range(blocks)), self.engine.publish(K), self.m, _MOST_LINKS
            parts = list(self.engine.map(tasks.strongest_links, range(ranges), *given))
        first, second, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        del parts
        indptr = np.zeros(k + 1, dtype=np.int32)
        np.cumsum(np.bincount(first, minlength=k), out=indptr[1:])
        del first
        strongest = sparse.csr_array((weight, second, indptr), shape=(k, k))
        # A link is kept if it is one of the strongest of one of its ends.
        return strongest.maximum(strongest.T.tocsr()), inner

    # Labels.

    def _relabel(self, z: Indices, k: int) -> None:
        self.k = k
        self.engine.relabel(z)

    def _lift(self, names: Indices, k: int) -> None:
        """Give each group a new name."""
        names = names.astype(np.int32, copy=False)
        z = picked(names, self.work.z)
        if not self.whole:
            z[~self.inside] = -1
        self._relabel(z, k)

    def _renumber(self) -> None:
        """Remove the numbers of groups that are empty."""
        N = group_totals(self.work, self.k)[1]
        present = N > 0
        self.E = self.E[present]
        self._lift(np.cumsum(present) - 1, int(np.count_nonzero(present)))

    def _label(self, z: Any) -> None:
        """Give labels to the nodes that take part."""
        labels = np.full(self.inside.size, -1, dtype=np.int32)
        labels[self.inside] = z
        self._relabel(labels, int(z.max(initial=0)) + 1)

    # Steps of the search.

    def run(self) -> None:
        """Find connected communities of one component, or that there are none."""
        begin_stage("moving single nodes")
        shown, treelike = 0.0, self._first_moves(self.settings.scales[0])
        if treelike:
            begin_stage("moments of the spectrum")
            shown = self.step("spectrum", self._start_from_spectrum)
        if shown:
            begin_stage("moving nodes")
            self.step("measuring", self._measure)
            self._moves()
            self.step("groups", self._renumber)
        self._settle()
        if shown and not self.is_clear:
            # Communities are faint, or groups looked like trees because they are stars.
            self._join_start(self.settings.scales[0])
        elif not (shown or self._is_final(treelike=treelike)):
            # The errors of a partition of high modularity differ from those of other groups.
            self._join_start(0.0)
        self._connect()
        if not self.saved > self.settings.significance:
            # The moments have shown structure that is too faint for a shorter description.
            if round(shown) > 1:
                self.give(round(shown))
                self._connect()
            elif self.k > 1:
                self.step("one community", self._unite)

    def _is_final(self, *, treelike: bool) -> bool:
        """Return whether another start can gain next to nothing."""
        settled = self.is_clear and self._stake() <= self.settings.least_gain
        return settled or (treelike and self.k == 1)

    def _join_start(self, exponent: float) -> None:
        """Start again from single nodes, and join the result with what was found before."""
        begin_stage("another start")
        kept, saved = self.step("keeping", self._keep)
        self._first_moves(exponent, judge=False)
        if exponent > 0.0:
            self.step("merging", self._regroup)
        else:
            penalty = self._penalty(exponent)
            self.step("merging", lambda: self._regroup(penalty=penalty))
            self._move(penalty=penalty)
        self.step("joining", lambda: self._join(kept))
        self._settle()
        if saved >= self.saved:
            self.step("returning", self._return_to_kept)

    def _join(self, k: int) -> None:
        """Search among the intersections of the groups and those that were kept."""
        mine, kept = self.work.z, self._journal.kept()["z"]
        code = kept.astype(np.int64)
        del kept
        code *= self.k
        code += mine
        code[~self.inside] = -1
        found = np.sort(code)
        new = found >= 0
        new[1:] &= found[1:] != found[:-1]
        found = found[new]
        cells = np.empty(code.size, dtype=np.int32)
        for first in range(0, code.size, _CHUNK):
            some = slice(first, first + _CHUNK)
            cells[some] = np.searchsorted(found, code[some])
        cells[~self.inside] = -1
        before = (found // self.k).astype(np.int32)
        del code
        self._relabel(cells, found.size)
        self._regroup(before=before)

    def _keep(self) -> tuple[int, float]:
        """Write the state to files; return how many groups there are, and what they save."""
        numbers = np.array(self.numbers())
        self._journal.keep({**self.state(), "numbers": numbers})
        return self.k, self.saved

    def _return_to_kept(self) -> None:
        kept, random = self._journal.kept(), self._rng.bit_generator.state
        self.recall(kept["numbers"].tolist())
        self.restore({**kept, "random": random})

    def run_again(self, z: Indices, k: int) -> None:
        """Go on from communities, as edges count less than when they were found."""
        self.step("labels", lambda: self._relabel(z, k))
        self._settle()
        self._connect()
        if not self.saved > self.settings.significance and self.k > 1:
            self.step("one community", self._unite)

    def _penalty(self, exponent: float) -> float:
        """Return the penalty of modularity at a power of the finest resolution."""
        finest = max(1.0, float(self.n) ** 2 / (2.0 * self.m))
        return float(finest**exponent / (2.0 * self.m))

    def _first_moves(self, exponent: float, *, judge: bool = True) -> bool:
        """Move single nodes by modularity; return whether the graph is locally treelike.

        If that is to be judged, moves end as soon as it is known.
        """
        n, penalty = self.n, self._penalty(exponent)
        self.step("single nodes", lambda: self._label(np.arange(n, dtype=np.int32)))
        treelike = False
        for sweep in range(1, _FIRST_SWEEPS + 1):
            moved, kept, k = self.step("first moves", lambda: self._first_sweep(penalty))
            # A dispersion changes what edges are worth, not how many there are.
            inside = 0.5 * kept * self.work.weighing.dispersion
            treelike = inside - (n - k) < self.settings.treelike * inside
            enough = judge and sweep >= _ENOUGH_TO_JUDGE and n > self.settings.spectral_nodes
            if (treelike and enough) or moved < _FEW_MOVES * n:
                break
        self.step("groups of first moves", self._renumber)
        return treelike and n > self.settings.spectral_nodes

    def _first_sweep(self, penalty: float) -> tuple[int, float, int]:
        # Weights inside are not needed by modularity.
        self.E = np.zeros(self.k)
        moved, kept = self.sweep(penalty=penalty)
        return moved, kept, int(np.count_nonzero(group_totals(self.work, self.k)[1]))

    def _measure(self) -> None:
        level = self.groups()
        self.saved = self._saved_by(level)

    def _saved_by(self, level: Level) -> float:
        k = np.array([level.n])
        return float(totals(level, singletons(level), k, _ONE, self.objective).saved[0])

    def _settle(self) -> None:
        """Merge groups and move nodes until neither changes anything."""
        for _ in range(_ROUNDS):
            begin_stage("merging groups")
            before = self.saved
            left = self.step("merging", self._regroup)
            last = left > 1.0 - _FEW_MERGES
            gained = self.saved - before > self.settings.least_gain * abs(self.saved)
            if self.k == 1 or (last and not gained):
                return
            begin_stage("moving nodes")
            moved = self._move(temperature=0.0)
            if self._stake() > self.settings.least_gain:
                self._move(temperature=_TEMPERATURE)
                moved = self._moves() if last else self._move(temperature=0.0)
            self.step("groups", self._renumber)
            if last and moved < _SETTLED * self.n:
                return

    def _stake(self) -> float:
        """Return the nats that undecided nodes could still save, as a share of those saved."""
        nats = self.undecided * self.rules.undecided_margin * self.n
        return nats / max(abs(self.saved), 1.0)

    def _moves(self, *, penalty: float = 0.0, fixed_k: bool = False) -> int:
        """Move nodes until few of them move; return how many did last."""
        moved = self.n
        for _ in range(_MOST_SWEEPS):
            moved = self._move(penalty=penalty, fixed_k=fixed_k)
            if moved < _SETTLED * self.n:
                break
        return moved

    def _move(self, **options: Any) -> int:
        return int(self.step("sweep", lambda: self.sweep(**options)[0]))

    def _regroup(self, *, penalty: float = 0.0, before: Indices | None = None) -> float:
        """Search in the graph of groups; return the share of groups that are left.

        With a ``penalty`` modularity rises. The search starts from single groups, and from the
        labels ``before``.
        """
        level, groups = self.groups(), self.k
        best = self._climbed(level, singletons(level), penalty)
        if before is not None:
            lead = self._climbed(level, before, penalty)
            best = lead if lead.saved[0] >= best.saved[0] else best
        merged = totals(level, best.z, best.k, _ONE, self.objective)
        self._lift(best.z, int(best.k[0]))
        self.E, self.saved = merged.E, float(merged.saved[0])
        return self.k / groups

    def _climbed(self, level: Level, z: Indices, penalty: float) -> State:
        rules, control = self.rules, new_control()
        if not penalty:
            return climb(level, self.objective, z, _ONE, rules, control)
        return climb(level, self.objective, z, _ONE, rules, control, penalty=np.array([penalty]))

    # The spectrum.

    def moments(self, columns: int = _COLUMNS) -> Moments:
        """Return the moments of the Bethe Hessian of the component; each product is a pass."""
        diagonal, factor = self._hessian()
        inside = None if self.whole else self.inside

        def operator(lowest: float) -> StoredOperator:
            return StoredOperator(self.work.store, self.engine, diagonal, factor, inside, lowest)

        return moments(operator, columns=columns)

    def _start_from_spectrum(self, k: int | None = None) -> float:
        """Label nodes by the spectrum, if that shows few communities or ``k`` is given.

        Returns how many communities it shows, 0 if it does not show few.
        """
        found = self.moments()
        shown = shows_few(found)
        if not (shown or k is not None):
            return 0.0
        count = max(found.k, 1.0 if k is None else float(k))
        blocks, per_community = [found.block], _GROUPS_PER_COMMUNITY
        settings = self.settings
        if count > settings.clear_communities or found.s < settings.clear_signal:
            blocks.append(self._more_vectors(found, count))
            per_community = _GROUPS_WITH_MORE
        begin_stage("grouping nodes by the spectrum")
        rows = SideBySide(blocks, None if self.whole else np.flatnonzero(self.inside))
        self._label(projected_groups(rows, max(2, round(per_community * count)), self._rng))
        return found.k if shown else 0.0

    def _hessian(self) -> tuple[Floats, float]:
        """Return the diagonal of the Bethe Hessian, and what the couplings are multiplied by."""
        if self.work.diagonal is not None:
            return self.work.diagonal, 1.0
        diagonal = np.asarray(self.r**2 - 1.0 + self.work.store.strength, dtype=float)
        return diagonal, self.r

    @property
    def r(self) -> float:
        """The parameter of the Bethe Hessian, in the unit of the weights."""
        saturation = self.work.weighing.saturation
        if saturation is not None:
            return saturation.r * self.work.store.unit
        degrees = self.work.store.strength[self.inside]
        c = float(degrees.sum()) / max(1, int(np.count_nonzero(degrees)))
        return max(R_FLOOR, math.sqrt(c))

    def _more_vectors(self, found: Moments, k: float) -> ThinBlock:
        """Return other random vectors, filtered until little else than communities is left."""
        operator, degree = found.operator, found.q
        if found.s > 1.0:
            enough = math.log(2.0 * self.n / k) / (2.0 * math.log(found.s))
            degree = max(degree, math.ceil(enough) + _MORE_STEPS)
        start = operator.random_block(_MORE_COLUMNS, np.random.default_rng([self._seed, 1]))
        recursion = Recursion(operator, [found.perron.deflated], start)
        recursion.advance_to(degree)
        return recursion.now

    # A given number.

    def give(self, k: int) -> None:
        """Find exactly ``k`` communities, after a search that has found another number."""
        if k > self.k:
            begin_stage("moments of the spectrum")
            self.step("spectrum", lambda: self._start_from_spectrum(k))
        begin_stage("merging groups")
        self.step("merging", lambda: self._merge_down(k))
        begin_stage("moving nodes")
        penalty = self.step("rates", self._likelihood_penalty)
        self._moves(penalty=penalty, fixed_k=True)
        self.step("measuring", self._measure)

    def _merge_down(self, k: int) -> None:
        level = self.groups()
        target = np.array([k])
        label, _ = merged_down(level, self.objective, _ONE, target, new_control())
        self._lift(label, int(label.max(initial=0)) + 1)
        self._measure()

    def _likelihood_penalty(self) -> float:
        """Return the resolution of the likelihood of a planted partition, 0 if it has none."""
        K, _ = group_totals(self.work, self.k)
        sums = float(self.E.sum()), float(K.sum()), float(np.square(K).sum())
        fit = fit_of_sums(round(2.0 * self.m), *sums)
        between = max(fit.between, 1e-3)
        if fit.inside <= between:
            return 0.0
        per_edge = math.log(fit.inside / between)
        return (fit.inside - between) / per_edge / (2.0 * self.m)

    # Connected communities.

    def _connect(self) -> None:
        """Merge fragments of communities, and single nodes, with the community that saves most."""
        if self.k > 1:
            begin_stage("connecting communities")
            self.step("connecting", self._attach_pieces)

    def _attach_pieces(self) -> None:
        roots = connected_parts(self.work, self.engine)
        z = self.work.z
        first = np.flatnonzero((roots == np.arange(z.size, dtype=np.int32)) & self.inside)
        names = np.zeros(z.size, dtype=np.int32)
        names[first] = np.arange(first.size, dtype=np.int32)
        pieces = picked(names, roots)
        sizes = np.bincount(pieces[self.inside], minlength=first.size)
        if first.size == self.k and sizes.min() > 1:
            self._measure()
            return
        group, pieces[~self.inside] = z[first].astype(np.int64), -1
        self._relabel(pieces, first.size)
        level = self.groups()
        found = attached_pieces(level, self.objective, group, np.array([self.k]))
        if found is None:
            # Pieces are the groups, under other numbers.
            self.saved = self._saved_by(level)
            return
        merged = totals(level, found.into, found.k, _ONE, self.objective)
        self._lift(found.into, int(found.k[0]))
        self.E, self.saved = merged.E, float(merged.saved[0])

    def _unite(self) -> None:
        self._label(np.zeros(self.n, dtype=np.int32))
        self.E, self.saved, self.undecided = np.array([self.m]), 0.0, 0.0

    # What decides how much edges count, and what communities look like.

    @property
    def is_clear(self) -> bool:
        """Whether communities save at least a nat per node."""
        return self.saved >= self.n

    def dispersion(self) -> float:
        """Return what the evidence of edges is to be divided by, as clear communities show."""
        if self.settings.dispersion is not None:
            return float(self.settings.dispersion)
        if self.k < _LEAST_GROUPS or not self.is_clear:
            return 1.0
        counted = self._repeated_links() <= MOST_REPEATED
        return self._sampled().dispersion if counted else 1.0

    def _repeated_links(self) -> float:
        """Return the share of links that would repeat a pair if degrees alone decided."""
        if self.work.store.weighted:
            return 0.0
        squares = sum(float(np.square(part).sum()) for part in self._strengths())
        return squares**2 / (2.0 * (2.0 * self.m) ** 2) / (2.0 * self.m)

    def borders(self) -> Borders | None:
        """Return how often links from linked nodes meet the same other community."""
        if self.k < _LEAST_GROUPS:
            return None
        known = self._sampled()
        share = self.step("separation", self._separation) if known.clear else None
        return Borders(known.contiguity, share)

    def _sampled(self) -> "Sampled":
        """Return what a sample of the communities shows; it takes a pass at the first call."""
        if self._sample is None:
            begin_stage("measuring the dispersion")
            self._sample = Sampled(*self.step("sample", self._measure_sample))
        return self._sample

    def _measure_sample(self) -> tuple[float, float, bool]:
        groups = self._some_groups()
        level = groups.level._replace(data=np.ones(1, dtype=np.float32))
        unweighted = Groups.numbered(level, groups.group, self.k, groups.order)
        one = contiguity_of_groups(unweighted, _ONE)[0]
        return dispersion_of_groups(groups), one.ratio, one.is_clear()

    def _separation(self) -> float:
        return separation_of(self.groups(), self.objective, np.array([self.k]), _ONE)

    def _some_groups(self) -> Groups:
        """Return all groups with their rows, or as many as fit in memory, chosen at random.

        Links to nodes that are not among them lead to a node without rows, one for each group.
        """
        k, store, z = self.k, self.work.store, self.work.z
        N = group_totals(self.work, k)[1]
        order = np.random.default_rng([self._seed, 2]).permutation(k)
        room = min(_ENOUGH_ENTRIES, store.memory // (16 * _BYTES_PER_ENTRY))
        before = np.cumsum(N[order]) - N[order]
        chosen = np.zeros(k, dtype=np.bool_)
        chosen[order[before * (store.entries / max(1, store.n)) < room]] = True
        found = list(one_pass(self.engine, tasks.rows_of_groups, len(store.blocks), chosen))
        nodes = np.concatenate([part.nodes for part in found])
        lengths = np.concatenate([part.lengths for part in found])
        weights = np.concatenate([part.weights for part in found]) if store.weighted else None
        local = np.full(z.size, -1, dtype=np.int32)
        local[nodes] = np.arange(nodes.size, dtype=np.int32)
        columns = np.empty(int(lengths.sum()), dtype=np.int32)
        filled = 0
        for indices in _taken(found):
            mine = local[indices]
            columns[filled : filled + mine.size] = np.where(mine < 0, nodes.size + z[indices], mine)
            filled += mine.size
        del local
        indptr = np.zeros(nodes.size + k + 1, dtype=np.int32)
        np.cumsum(lengths, out=indptr[1 : nodes.size + 1])
        indptr[nodes.size + 1 :] = indptr[nodes.size]
        count, zeros = np.zeros(nodes.size + k, dtype=np.int64), np.zeros(nodes.size + k)
        count[: nodes.size] = 1
        data, offsets = self.work.weighing.described(weights), np.array([0, nodes.size + k])
        level = Level(indptr, columns, data, zeros, zeros, count, offsets)
        group = np.concatenate([z[nodes], np.arange(k, dtype=np.int32)])
        by_group = np.argsort(group[: nodes.size], kind="stable")
        return Groups.numbered(level, group, k, by_group)


def _last_of_groups(before: Indices, to: Indices, N: Ints) -> Ints:
    """Return which moves to leave out so that no group loses all its nodes at the same time."""
    left = N.copy()
    np.subtract.at(left, before, 1)
    np.add.at(left, to, 1)
    stay: list[int] = []
    while (left[before] == 0).any():
        first = np.unique(np.where(left[before] == 0, before, -1), return_index=True)[1]
        first = first[left[before[first]] == 0]
        stay += first.tolist()
        np.add.at(left, before[first], 1)
        np.subtract.at(left, to[first], 1)
    return np.array(stay, dtype=np.int64)


def _taken(found: list[tasks.Rows]) -> Iterator[Indices]:
    """Yield the columns of rows, each of which is given up."""
    found.reverse()
    while found:
        yield found.pop().indices


def picked(values: Any, places: Indices) -> Any:
    """Return ``values[places]``; NumPy would make long copies of places that are 32 bits wide."""
    found = np.empty(places.size, dtype=values.dtype)
    for first in range(0, places.size, _CHUNK):
        some = slice(first, first + _CHUNK)
        found[some] = values[places[some]]
    return found


def connected_parts(work: Work, engine: Engine) -> Indices:
    """Return the first node of the connected part of its group for each node; -1 has no groups."""
    parent = np.arange(work.z.size, dtype=np.int32)
    for ends in one_pass(engine, tasks.tree_links, len(work.store.blocks)):
        kernels.join(ends, len(ends), parent)
    while True:
        above = picked(parent, parent)
        if np.array_equal(above, parent):
            return parent
        parent = above
