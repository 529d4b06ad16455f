"""Splits of communities that are described better in pieces."""

import math

import numpy as np

from kgroups._csr import masked, readonly, restricted, rows_of
from kgroups._types import CSR, Bools, Floats, Indices, Ints
from kgroups.hartigan.objective import group_sums
from kgroups.refine import DescriptionLength
from kgroups.refine.description import group_statistics
from kgroups.refine.rates import Frame, merged, outside_rates
from kgroups.refine.splitting import ANY_SAVING_NODES, LEAST_SAVING, ROUNDING
from kgroups.seed.levels import Effort, Level, coarse_level, multilevel, renumbered

__all__ = ["Splitter"]

# One group in this many is tried before all are.
_SAMPLED = 5
# With a smaller share of the sample split, the others are left: they change k by less than this.
_FEW = 0.005
# Splits of what splits have made.
_DEPTH = 5


class Splitter:
    """Splits of the communities of one graph.

    Parameters
    ----------
    level : Level
        The graph.
    rng : Generator
        Order of moves, and the sample.
    effort : Effort
        Gains the entries read.
    """

    def __init__(self, level: Level, rng: np.random.Generator, effort: Effort) -> None:
        self.level, self.rng, self.effort = level, rng, effort
        self.splits = 0
        self._whole: _Whole | None = None

    def labels(self, z: Indices, k: int, *, sample: bool) -> Indices:
        """Return labels after splits, and splits of what they made.

        With ``sample``, one group in five is tried first, and the others only if one of them is
        split. Labels may have gaps; they are ``z`` itself if nothing was split.
        """
        before = self.splits
        chosen = np.ones(k, dtype=np.bool_)
        if sample and k > _SAMPLED:
            chosen[self.rng.permutation(k)[: -(-k // _SAMPLED)]] = False
            tried = ~chosen
            of_sample = self._split_among(z, k, tried)
            if of_sample is None:
                return z
            if self.splits - before < _FEW * np.count_nonzero(tried):
                return of_sample
            self.splits = before
            chosen[:] = True
        for _ in range(_DEPTH):
            deeper = self._split_among(z, k, chosen)
            if deeper is None:
                break
            # Only what was made by the last splits can be split again.
            chosen = np.zeros(int(deeper.max()) + 1, dtype=np.bool_)
            chosen[deeper[deeper != z]] = True
            z, k = deeper, len(chosen)
        return z

    def _split_among(self, z: Indices, k: int, chosen: Bools) -> Indices | None:
        """Split those of the chosen groups that are described better in pieces.

        That is the description of the whole graph, or of the group alone where the whole loses
        next to nothing: small communities of a large graph are too small for it.
        Return new labels, in which groups that stay keep theirs, or None if all stay.
        """
        rows = np.flatnonzero(chosen[z])
        parent, among = renumbered(z[rows])
        inside = _inside(self.level, rows, parent)
        ends = group_sums(parent, inside.strength, among)
        y, count = multilevel(inside, 1.0 / np.maximum(ends[parent], 1.0), self.rng, self.effort)
        pieces, best = y, np.zeros(among)
        kinds = (
            self._merged_inside(inside, parent, y, count, ends),
            self._merged_in_whole(inside, rows, y, count),
        )
        for kind, labels in enumerate(kinds):
            worth = self._worth_of_pieces(z, k, rows, parent, among, labels)
            pieces = np.where((worth > best)[parent], kind * count + labels, pieces)
            best = np.maximum(worth, best)
        accepted = best > 0.0
        if not accepted.any():
            return None
        self.splits += int(np.count_nonzero(accepted))
        split = z.copy()
        taken = accepted[parent]
        split[rows[taken]] = k + pieces[taken]
        return split

    def _worth_of_pieces(
        self, z: Indices, k: int, rows: Ints, parent: Indices, among: int, labels: Indices
    ) -> Floats:
        """Return the nats that each group saves in pieces, 0 where that is not enough."""
        worth = np.zeros(among)
        parent_of = np.empty(int(labels.max()) + 1, dtype=np.int64)
        parent_of[labels] = parent
        several = np.bincount(parent_of, minlength=among) > 1
        if not several.any():
            return worth
        some = several[parent]
        rows, owner, y = rows[some], renumbered(parent[some])[0], renumbered(labels[some])[0]
        inside = _inside(self.level, rows, owner)
        alone, saved, number = _saved_alone(inside.A, owner, y)
        if self._whole is None or self._whole.z is not z:
            self._whole = _Whole(self.level, z, k)
        shorter = self._whole.saved(inside.A, rows, owner, y)
        # Of many communities some are split by chance: among k no more than about root k.
        least = LEAST_SAVING + 0.5 * math.log(k)
        pays_alone = saved > np.where(alone.n <= ANY_SAVING_NODES, ROUNDING, least)
        # More communities cost the whole graph next to nothing: it is too large to see them.
        hardly_longer = shorter > -math.log(self.level.n) * (number - 1.0)
        pays = (shorter > LEAST_SAVING) | (pays_alone & hardly_longer)
        worth[several] = np.where(pays, np.maximum(saved, shorter), 0.0)
        return worth

    def _merged_in_whole(self, inside: Level, rows: Ints, y: Indices, count: int) -> Indices:
        """Merge pieces of groups as the whole graph sees them."""
        whole = inside._replace(strength=self.level.strength[rows])
        pieces = coarse_level(whole, y, count, self.effort)
        edges = self.level.edges
        expected = edges - float(np.sum(np.square(pieces.strength))) / (4.0 * edges)
        cut = edges - float(pieces.inner.sum())
        outside = outside_rates(np.full(count, cut), np.full(count, expected))
        label, _ = merged(pieces, self.effort, frame=Frame(np.full(count, edges), outside))
        return label[y]

    def _merged_inside(
        self, inside: Level, parent: Indices, y: Indices, count: int, ends: Floats
    ) -> Indices:
        """Merge pieces of groups, each group being a graph of its own."""
        pieces = coarse_level(inside, y, count, self.effort)
        parent_of = np.empty(count, dtype=np.int64)
        parent_of[y] = parent
        edges = 0.5 * ends
        expected = edges - group_sums(parent_of, np.square(pieces.strength), edges.size) / (
            np.maximum(4.0 * edges, 1.0)
        )
        cut = edges - group_sums(parent_of, pieces.inner, edges.size)
        outside = outside_rates(cut, expected)
        frame = Frame(np.maximum(edges, 1.0)[parent_of], outside[parent_of])
        label, _ = merged(pieces, self.effort, frame=frame)
        return label[y]


def _saved_alone(A: CSR, parent: Indices, y: Indices) -> tuple[DescriptionLength, Floats, Floats]:
    """Return what each group taken alone saves in the pieces ``y``, and the number of pieces."""
    measure = DescriptionLength(A, parent.astype(np.int64))
    statistics, parent_of = _pieces_of(A, parent, y)
    sums = _sums_of(measure.terms(statistics, parent_of), parent_of, measure.n.size)
    return measure, measure.each_whole() - measure.length(sums), sums[:, 0]


def _pieces_of(A: CSR, parent: Indices, y: Indices) -> tuple[Floats, Ints]:
    """Return nodes, degrees and inner edges of pieces, and the group of each."""
    k = int(y.max()) + 1
    parent_of = np.empty(k, dtype=np.int64)
    parent_of[y] = parent
    return group_statistics(A, y, k), parent_of


def _sums_of(terms: Floats, owner: Ints, k: int) -> Floats:
    return np.stack([group_sums(owner, column, k) for column in terms.T], axis=-1)


class _Whole:
    """The description of a whole graph, when one of its groups is replaced by pieces."""

    def __init__(self, level: Level, z: Indices, k: int) -> None:
        self.z = z
        self._degree = np.diff(level.A.indptr).astype(float)
        self._measure = DescriptionLength(level.A)
        self._own = self._measure.terms(group_statistics(level.A, z, k))
        self._own[np.bincount(z, minlength=k) == 0] = 0.0
        self._sums = self._own.sum(axis=0)
        self._length = float(self._measure.length(self._sums))

    def saved(self, A: CSR, rows: Ints, parent: Indices, y: Indices) -> Floats:
        """Return the nats that pieces ``y`` save, for each group as if it were the only one."""
        statistics, parent_of = _pieces_of(A, parent, y)
        statistics[:, 1] = group_sums(y, self._degree[rows], len(parent_of))
        replaced = self._own[np.unique(self.z[rows])]
        change = _sums_of(self._measure.terms(statistics), parent_of, len(replaced))
        return self._length - self._measure.length(self._sums + change - replaced)


def _inside(level: Level, rows: Ints, parent: Indices) -> Level:
    """Return the level of some nodes, with the links inside of their communities only."""
    A = restricted(level.A, rows)
    A = masked(A, parent[rows_of(A)] == parent[A.indices])
    strength = group_sums(rows_of(A), A.data, rows.size)
    return Level(readonly(A), strength, level.inner[rows], level.nodes[rows])
