"""The scores of communities of a stored graph, in one pass over its blocks."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from kgroups._types import Floats, Indices, Ints
from kgroups.blocks._scores_nb import add_cuts
from kgroups.blocks.engines import Engine, one_pass
from kgroups.blocks.store import StoredGraph
from kgroups.blocks.tasks import Work
from kgroups.blocks.weighing import Weighing
from kgroups.scoring import LabeledGraph

# Rows of a block that a thread treats at once.
_ROWS = 8_192
# Nodes that are added to their groups at once; bounds the temporary arrays.
_CHUNK = 1 << 18
_NO_WEIGHTS = np.zeros(0, dtype=np.int64)


class Cut(NamedTuple):
    """What leads from the rows of a block to other groups."""

    # Of each row, in units of the weights of the store.
    weight: Ints
    entries: int


def cut_of_rows(work: Work, number: int) -> Cut:
    """Return the weight of the entries of each row of a block that lead to another group."""
    block = work.store.read(number)
    rows = block.last - block.first
    indptr = block.indptr.astype(np.int32)
    weights = _NO_WEIGHTS if block.weights is None else block.weights
    cut = np.empty(rows, dtype=np.int64)
    bounds = [*range(0, rows, _ROWS), rows]
    entries = np.zeros(len(bounds) - 1, dtype=np.int64)

    def task(t: int) -> None:
        entries[t] = add_cuts(
            indptr, block.indices, weights, block.first, bounds[t], bounds[t + 1], work.z, cut
        )

    work.threads.run(task, len(bounds) - 1)
    return Cut(cut, int(entries.sum()))


class LabeledStore(LabeledGraph):
    """A stored graph with the community of the node at each position, none of them empty.

    All sums are of whole numbers of the unit of the store, and exact.
    """

    def __init__(self, store: StoredGraph, z: Indices, sizes: Ints, engine: Engine) -> None:
        k = sizes.size
        work = Work(store, Weighing(1.0), z)
        engine.start(work)
        cuts, entries = np.zeros(k, dtype=np.int64), 0
        parts = one_pass(engine, cut_of_rows, len(store.blocks))
        for block, part in zip(store.blocks, parts, strict=True):
            np.add.at(cuts, z[block.first : block.last], part.weight)
            entries += part.entries
        volumes = np.zeros(k, dtype=np.int64)
        for first in range(0, store.n, _CHUNK):
            some = slice(first, first + _CHUNK)
            np.add.at(volumes, z[some], store.strength[some])
        # Without weights an entry counts 1, and may weigh more.
        common = 1 if store.weighted else round(store.common_weight / store.unit)
        cuts *= common
        volumes *= common
        places, loops = store.loops
        np.add.at(volumes, z[places], 2 * loops)
        vars(self).update(store=store, sizes=sizes, _cut_entries=entries)
        vars(self).update(_cuts=cuts, _volumes=volumes)

    store: StoredGraph
    _cut_entries: int
    _cuts: Ints
    _volumes: Ints

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.store.n

    @property
    def m(self) -> int:
        """Number of edges, as in memory: parallel ones are counted unless they have weights."""
        store = self.store
        return store.m if store.counted else store.entries // 2 + store.loops.shape[1]

    @cached_property
    def n_cut_pairs(self) -> int:
        """Number of adjacent pairs of nodes between communities, parallel edges counted once."""
        return self._cut_entries // 2

    @cached_property
    def n_inner_pairs(self) -> int:
        """Number of adjacent pairs of nodes within communities, parallel edges counted once."""
        return self.store.entries // 2 - self.n_cut_pairs

    @cached_property
    def n_cut_edges(self) -> int:
        """Number of edges between communities, parallel edges counted as in ``m``."""
        return round(self.cut_weight) if self.store.counted else self.n_cut_pairs

    @cached_property
    def cut_weight(self) -> float:
        """Weight of the edges between communities."""
        return float(int(self._cuts.sum()) // 2) * self.store.unit

    @cached_property
    def inner_weight(self) -> float:
        """Weight of the edges within communities, self-loops counted once."""
        twice = int(self._volumes.sum()) - int(self._cuts.sum())
        return float(twice // 2) * self.store.unit

    @cached_property
    def volumes(self) -> Floats:
        """Sum of the weighted degrees of each community, self-loops counted twice."""
        return self._volumes.astype(float) * self.store.unit

    @cached_property
    def cuts(self) -> Floats:
        """Weight of the edges that leave each community."""
        return self._cuts.astype(float) * self.store.unit
