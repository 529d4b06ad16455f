"""The search for the shortest description in one component of a stored graph, in passes.

A *sweep* takes the colors of the nodes in turn. All blocks of a color see the same labels, so that
the result depends neither on the blocks nor on who works on them. Between sweeps the graph of
groups is searched in memory, by the same functions as a graph that fits.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kgroups._progress import begin_stage, new_control, tell_share
from kgroups._types import Bools, Floats, Indices, Ints
from kgroups.blocks import _sweeps_nb as kernels
from kgroups.blocks import tasks
from kgroups.blocks.engines import Engine
from kgroups.blocks.spectrum import StoredOperator
from kgroups.blocks.tasks import Sweep, Totals, Work, group_totals
from kgroups.search.candidates import projected_labels
from kgroups.search.climbing import MoveRules, climb
from kgroups.search.levels import Level, singletons
from kgroups.search.objective import Objective, totals
from kgroups.search.settings import Search
from kgroups.spectrum import Moments, has_structure, moments
from kgroups.spectrum.chebyshev import Recursion

COLORS = 8
# Up to this many groups all links between them are kept in a table.
_DENSE_GROUPS = 1_024
# Links that are kept of each group if there are more groups; strengths count all.
_MOST_LINKS = 64
# Links between groups that are added up at once, with 40 bytes each.
_GATHERED = 4_000_000
# First moves end when fewer than this share of the nodes move, or after the second number of
# sweeps.
_FEW_MOVES, _FIRST_SWEEPS = 0.02, 6
# Moves end when fewer than this share of the nodes move.
_SETTLED = 0.001
# Rounds of merging groups and moving nodes; the last one comes when fewer than this share merge.
_ROUNDS, _FEW_MERGES = 6, 0.02
_ANNEALED = (0.3, 0.0)
_LAST = (0.3, 0.0, 0.0, 0.0)
# Columns of random vectors in a recursion, and the one that finds the Perron vector.
_COLUMNS = 9
# Steps beyond those of the moments that the second vectors of faint communities are filtered.
_MORE_STEPS = 2


class Found(NamedTuple):
    """What a search has found in a component."""

    k: int
    # Nats saved by the description, and the share of undecided nodes.
    nats: float
    undecided: float
    dispersion: float
    signal: Moments | None


class BlockSearch:
    """The search in the nodes of a stored graph whose labels are not -1, which are connected."""

    def __init__(self, work: Work, engine: Engine, settings: Search, seed: int) -> None:
        self.work, self.engine, self.settings = work, engine, settings
        self._rng = np.random.default_rng(seed)
        self.rules = MoveRules.of(settings, self._rng)
        self.inside = work.z >= 0
        self.whole = bool(self.inside.all())
        self.n = int(np.count_nonzero(self.inside))
        self.k = 1
        self.E = np.zeros(1)
        self.undecided = 1.0
        self.passes = 0
        total = sum(
            float(part.sum()) for part in self._strengths_of_participants()
        )
        self.m = 0.5 * total
        edges = np.array([self.m])
        self.objective = Objective.of_sizes(np.array([self.n]), edges, work.weighing.dispersion)

    def _strengths_of_participants(self):
        for first in range(0, self.inside.size, 1 << 18):
            chosen = self.inside[first : first + (1 << 18)]
            yield self.work.strengths(first, first + chosen.size)[chosen]

    # Passes.

    def sweep(self, *, penalty: float = 0.0, temperature: float = 0.0, fixed_k: bool = False) -> tuple[int, float]:
        """Let every node choose once; return how many move, and the links of nodes to what they choose."""
        K, N = group_totals(self.work, self.k)
        shift = int(self._rng.integers(1 << 14)) if temperature else 0
        rules = self.rules._replace(fixed_k=fixed_k)
        sweep = Sweep(self.objective, rules, penalty, kernels_margin, temperature, shift)
        moved, kept, undecided, done = 0, 0.0, 0, 0
        blocks = self.work.store.blocks
        for color in range(COLORS):
            numbers = [block.number for block in blocks if block.color == color]
            if not numbers:
                continue
            given = self.engine.publish(Totals(self.E, K, N))
            parts = []
            for part in self.engine.map(tasks.choose, numbers, given, sweep):
                parts.append(part)
                kept += part.kept
                undecided += part.undecided
                done += 1
                tell_share(done, len(blocks))
            nodes = np.concatenate([part.nodes for part in parts])
            if not nodes.size:
                continue
            to = np.concatenate([part.to for part in parts])
            own = np.concatenate([part.own for part in parts])
            there = np.concatenate([part.there for part in parts])
            self._move(nodes, to, own, there, K, N, linear=penalty > 0.0)
            moved += nodes.size
        self.undecided = undecided / self.n
        self.passes += 1
        return moved, kept

    def _move(self, nodes, to, own, there, K, N, *, linear: bool) -> None:
        before = self.work.z[nodes]
        d = np.concatenate([self.work.strengths(int(i), int(i) + 1) for i in nodes[:0]] or [np.zeros(0)])
        d = self._strength_at(nodes)
        np.subtract.at(K, before, d)
        np.add.at(K, to, d)
        np.subtract.at(N, before, 1)
        np.add.at(N, to, 1)
        if not linear:
            np.subtract.at(self.E, before, own)
            np.add.at(self.E, to, there)
            np.maximum(self.E, 0.0, out=self.E)
        self.engine.move(nodes, to)

    def _strength_at(self, nodes: Ints) -> Floats:
        if self.work.strength is not None:
            return self.work.strength[nodes]
        return self.work.store.strength[nodes] * float(self.work.weighing.described(None)[0])

    def relabel(self, z: Indices, k: int) -> None:
        """Replace all labels."""
        self.k = k
        self.engine.relabel(z)

    def renumber(self) -> None:
        """Number the groups that have nodes without gaps, in the order of their first nodes... by number."""
        K, N = group_totals(self.work, self.k)
        present = N > 0
        names = (np.cumsum(present) - 1).astype(np.int32)
        self.E = self.E[present] if self.E.size == present.size else np.zeros(int(present.sum()))
        self._lift(names, int(present.sum()))

    def _lift(self, names: Indices, k: int) -> None:
        z = self.work.z
        new = names[z] if self.whole else np.where(z >= 0, names[z], np.int32(-1))
        self.relabel(new.astype(np.int32, copy=False), k)

    def groups(self) -> Level:
        """Return the graph of groups, whose weights inside are exact; of many groups the strongest links."""
        k, blocks = self.k, range(len(self.work.store.blocks))
        K, N = group_totals(self.work, k)
        self.passes += 1
        inner = np.zeros(k)
        if k <= _DENSE_GROUPS:
            table = np.zeros((k, k))
            for number, part in enumerate(self.engine.map(tasks.group_links, blocks, k)):
                rows = np.repeat(np.arange(k), np.diff(part.indptr))
                table[rows, part.indices] += part.data
                inner += part.inner
                tell_share(number + 1, len(blocks))
            first, second = np.nonzero(table)
            weight = table[first, second]
        else:
            first, second, weight, inner = self._many_links(K)
        indptr = np.zeros(k + 1, dtype=np.int32)
        np.cumsum(np.bincount(first, minlength=k), out=indptr[1:])
        self.E = inner.copy()
        return Level(
            indptr, second.astype(np.int32), weight.astype(np.float32), K, inner, N, np.array([0, k])
        )

    def _many_links(self, K: Floats):
        import tempfile

        k, blocks = self.k, range(len(self.work.store.blocks))
        ranges = max(1, -(-self.work.store.entries // _GATHERED))
        bounds = np.linspace(0, k, ranges + 1).astype(np.int64)
        inner, parts = np.zeros(k), []
        with tempfile.TemporaryDirectory() as folder:
            for part in self.engine.map(tasks.spilled_links, blocks, k, folder, bounds):
                inner += part
            most = self.engine.publish(K)
            for part in self.engine.map(tasks.strongest_links, range(ranges), folder, list(blocks), most, self.m, _MOST_LINKS):
                parts.append(part)
        first, second, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        # A link is kept if it is strong for one of its ends.
        a, b = np.concatenate([first, second]), np.concatenate([second, first])
        w = np.concatenate([weight, weight])
        order = np.lexsort((b, a))
        a, b, w = a[order], b[order], w[order]
        new = np.ones(a.size, dtype=np.bool_)
        new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
        return a[new], b[new], w[new], inner

    # Steps of the search.

    def first_moves(self) -> bool:
        """Move single nodes at the first resolution; return whether the graph is locally treelike."""
        n, settings = self.n, self.settings
        z = np.full(self.inside.size, -1, dtype=np.int32)
        z[self.inside] = np.arange(n, dtype=np.int32)
        self.relabel(z, n)
        self.E = np.zeros(0)
        finest = max(1.0, float(n) ** 2 / (2.0 * self.m))
        penalty = finest ** settings.scales[0] / (2.0 * self.m)
        for _ in range(_FIRST_SWEEPS):
            moved, kept = self.sweep(penalty=penalty)
            print("first", self.passes, moved / n, kept / (2 * self.m))
            if moved < _FEW_MOVES * n:
                break
        self.renumber()
        inside = 0.5 * kept * self.objective.dispersion
        return inside - (n - self.k) < settings.treelike * inside

    def regroup(self, **options: Any) -> float:
        """Search in the graph of groups; return the share of groups that are left."""
        level, before = self.groups(), self.k
        state = climb(level, self.objective, singletons(level), np.zeros(1, dtype=np.int64),
                      self.rules, new_control(), **options)
        k = int(state.k[0])
        merged = totals(level, state.z, state.k, np.zeros(1, dtype=np.int64), self.objective)
        self._lift(state.z, k)
        self.E = merged.E.copy()
        print("regroup", self.passes, before, k, merged.saved)
        return k / before

    def settle(self) -> None:
        for _ in range(_ROUNDS):
            last = self.regroup() > 1.0 - _FEW_MERGES
            for temperature in _LAST if last else _ANNEALED:
                moved, kept = self.sweep(temperature=temperature)
                print("sweep", self.passes, temperature, moved / self.n, self.undecided)
                if not temperature and moved < _SETTLED * self.n:
                    break
            self.renumber()
            if last:
                break

    def spectrum(self, columns: int = _COLUMNS) -> Moments:
        store = self.work.store
        d = self.work.store.strength
        c = store.entries / np.count_nonzero(d)
        r = max(1.001, np.sqrt(c))
        diagonal = r * r - 1.0 + d
        def operator(lowest):
            return StoredOperator(store, self.engine, diagonal, r, None if self.whole else self.inside, lowest)
        found = moments(operator, columns=columns)
        self.passes += found.visits // store.entries
        print("moments", self.passes, found.k, found.s, found.signal)
        return found

    def run(self) -> None:
        treelike = self.first_moves()
        print("treelike", treelike, self.k)
        if treelike:
            found = self.spectrum()
            z = projected_labels(found, self._rng)
            if z is not None:
                self.relabel(z.astype(np.int32), int(z.max()) + 1)
                self.groups()
                for _ in range(3):
                    moved, kept = self.sweep()
                    print("sweep", self.passes, 0, moved / self.n, self.undecided)
                self.renumber()
        self.settle()


kernels_margin = 1e-9
