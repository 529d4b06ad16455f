"""Work on one block: pure functions of the store, the labels, and small arguments.

They can run in any process and any order, and again. What they return depends on the graph and the
labels alone; sums over nodes are exact, so that they can be added up in any order.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from kgroups._parallel import Threads
from kgroups._progress import new_control
from kgroups._types import Floats, Indices, Ints
from kgroups.blocks import _sweeps_nb as kernels
from kgroups.blocks.store import Block, StoredGraph
from kgroups.blocks.weighing import CLASSES, Singles, Weighing, classes_of
from kgroups.search import _search_nb as search_kernels
from kgroups.search._search_nb import ROUNDING
from kgroups.search.climbing import MoveRules
from kgroups.search.objective import Objective
from kgroups.spectrum import _chebyshev_nb as chebyshev_kernels

# Rows of the range of a block that a thread treats at once, and the most numbers that the arrays of
# all threads may hold for the groups.
_ROWS = 8_192
_MOST_SHARED_GROUPS = 1 << 17
# Single-precision numbers in a cache line.
_LINE = 16
# A link between two groups in a file.
_LINK = np.dtype([("first", np.int32), ("second", np.int32), ("weight", np.float64)])
# Nodes whose strengths are added up at once; bounds the temporary arrays.
_CHUNK = 1 << 18
_NONE = np.zeros(0)

Task = Callable[..., Any]


@dataclass(eq=False)
class Work:
    """What tasks need: the graph, what its edges count, and the labels of the nodes.

    Nodes that take no part have the label -1.
    """

    store: StoredGraph
    weighing: Weighing
    z: Indices
    threads: Threads = field(default_factory=Threads)
    # With weights: their sums at each node as the description counts them, and the diagonal of the
    # Bethe Hessian in units of r.
    strength: Floats | None = None
    diagonal: Any = None

    def strengths(self, first: int, last: int) -> Floats:
        """Return the sums of the weights at some nodes, as the description counts them."""
        if self.strength is not None:
            return self.strength[first:last]
        each = float(self.weighing.described(None)[0])
        return np.asarray(self.store.strength[first:last] * each)

    def strengths_of(self, nodes: Ints) -> Floats:
        """Return the same of other nodes."""
        if self.strength is not None:
            return self.strength[nodes]
        return np.asarray(self.store.strength[nodes] * float(self.weighing.described(None)[0]))


class Totals(NamedTuple):
    """Weights inside, strength and nodes of each group."""

    E: Floats
    K: Floats
    N: Ints


def group_totals(work: Work, k: int) -> tuple[Floats, Ints]:
    """Return the strength and the nodes of each group."""
    K, N = np.zeros(k), np.zeros(k, dtype=np.int64)
    for first in range(0, work.z.size, _CHUNK):
        z = work.z[first : first + _CHUNK]
        inside = z >= 0
        strengths = work.strengths(first, first + z.size)
        if not inside.all():
            z, strengths = z[inside], strengths[inside]
        if k < _CHUNK:
            K += np.bincount(z, strengths, minlength=k)
            N += np.bincount(z, minlength=k)
        else:
            np.add.at(K, z, strengths)
            np.add.at(N, z, 1)
    return K, N


class Sweep(NamedTuple):
    """How nodes choose in a sweep."""

    # Sum of the weights of the edges, as the description counts them.
    m: float
    # Modularity needs none.
    objective: Objective | None
    rules: MoveRules
    penalty: float = 0.0
    temperature: float = 0.0
    shift: int = 0


class Chosen(NamedTuple):
    """The rows of a block that change their groups, and counts over all rows."""

    nodes: Ints
    to: Indices
    # Links to the group that a node leaves, and to the one that it joins.
    own: Floats
    there: Floats
    undecided: int
    # Links of all rows to the groups they choose.
    kept: float


def choose(work: Work, number: int, totals: Totals, sweep: Sweep) -> Chosen:
    """Return what each node of a block would do, all as if the others stayed."""
    block = work.store.read(number)
    rows = block.last - block.first
    arrays = _arrays(block)
    data: Any = work.weighing.described(block.weights)
    strength, k = work.strengths(block.first, block.last), totals.N.size
    m, inside, expected = sweep.m, 0.0, 0.0
    if sweep.objective is None:
        # Modularity looks at the first columns only.
        group, counts = totals.K.reshape(-1, 1), totals.N.reshape(1, -1)
        code = _NONE, _NONE
    else:
        group, counts = np.empty((k, 5)), np.empty((1, k), dtype=np.int64)
        code = sweep.objective.of_size, sweep.objective.of_number
        kernels.tabulate(*totals, m, code[0], group, counts)
        inside, expected = float(totals.E.sum()), float(np.square(totals.K).sum() / (4.0 * m))
    to, own, there = np.empty(rows, dtype=np.int32), np.empty(rows), np.empty(rows)
    bounds = [*range(0, rows, _ROWS), rows] if k <= _MOST_SHARED_GROUPS else [0, rows]
    tasks = len(bounds) - 1
    tally, control = np.zeros((tasks, 2)), new_control()
    widest = int(np.diff(arrays[0]).max(initial=0)) + 1
    present = int(np.count_nonzero(totals.N))

    def task(t: int) -> None:
        kernels.choose(
            *arrays, data, strength, block.first, bounds[t], bounds[t + 1], work.z, m,
            *code, present, inside, expected, sweep.penalty, ROUNDING, sweep.temperature,
            sweep.rules.noise, sweep.shift, sweep.rules.undecided_margin, sweep.rules.fixed_k,
            group, counts, np.zeros(k), np.empty(widest, dtype=np.int32), to, own, there, tally[t],
            control,
        )  # fmt: skip

    work.threads.run(task, tasks)
    moved = np.flatnonzero(to != work.z[block.first : block.last])
    undecided, kept = tally.sum(axis=0).tolist()
    return Chosen(
        block.first + moved, to[moved], own[moved], there[moved], int(undecided), float(kept)
    )


def multiplied(
    work: Work,
    number: int,
    X: Any,
    scale: Any,
    before: Any,
    alpha: float,
    shift: float,
    beta: float,
) -> Any:
    """Return ``alpha (diag(scale) G X + shift X) + beta before`` on the rows of a block."""
    block = work.store.read(number)
    arrays, coupling = _arrays(block), work.weighing.coupling(block.weights)
    rows = block.last - block.first
    bounds = [*range(0, rows, _ROWS), rows]
    width = -(-X.shape[1] // _LINE) * _LINE
    total = np.empty((len(bounds) - 1, width), dtype=np.float32)
    mine = np.ascontiguousarray(scale[block.first : block.last])
    if before is None:
        out = np.empty((rows, X.shape[1]), dtype=np.float32)
    else:
        out = np.array(before[block.first : block.last])

    def task(t: int) -> None:
        chebyshev_kernels.multiply_rows(
            *arrays, coupling, mine, bounds[t], bounds[t + 1], alpha, beta, shift, X, block.first,
            out, total[t],
        )  # fmt: skip

    work.threads.run(task, len(bounds) - 1)
    return out


class Weights(NamedTuple):
    """Sums over the weights of a block."""

    histogram: Ints
    entries: int
    # Rows that have an entry.
    occupied: int


def measured_weights(work: Work, number: int) -> Weights:
    """Return how many entries there are of each class of weights, in nodes that take part."""
    block = work.store.read(number)
    lengths = np.diff(block.indptr)
    chosen = work.z[block.first : block.last] >= 0
    histogram = np.zeros(0, dtype=np.int64)
    if block.weights is not None:
        weights = block.weights if chosen.all() else block.weights[np.repeat(chosen, lengths)]
        histogram = np.bincount(classes_of(weights), minlength=CLASSES)
    lengths = lengths[chosen]
    return Weights(histogram, int(lengths.sum()), int(np.count_nonzero(lengths)))


def row_sums(work: Work, number: int) -> tuple[Floats, Floats]:
    """Return the described strength and the diagonal of the Bethe Hessian, less that of a node."""
    block = work.store.read(number)
    if block.weights is None:
        strength = work.strengths(block.first, block.last)
        return strength, np.zeros(strength.size)
    rows = np.repeat(np.arange(block.last - block.first), np.diff(block.indptr))
    described = work.weighing.described(block.weights).astype(float)
    terms = work.weighing.diagonal_terms(block.weights)
    count = block.last - block.first
    sums = (np.bincount(rows, each, count) for each in (described, terms))
    strength, diagonal = (each.astype(float, copy=False) for each in sums)
    return strength, diagonal


def tree_links(work: Work, number: int) -> Indices:
    """Return links that connect whatever the rows of a block connect inside groups."""
    block = work.store.read(number)
    n = work.z.size
    parent = np.arange(n, dtype=np.int32)
    ends = np.empty((min(n, block.indices.size), 2), dtype=np.int32)
    found = kernels.tree_links(*_arrays(block), block.first, work.z, parent, ends)
    return ends[:found].copy()


class GroupLinks(NamedTuple):
    """The links that the rows of a block have between groups, by their first group."""

    indptr: Indices
    indices: Indices
    data: Floats
    # Weights inside each group, those of both ends halved.
    inner: Floats


def group_links(work: Work, number: int, k: int) -> GroupLinks:
    """Return the links of the nodes of a block, added up by groups."""
    block = work.store.read(number)
    rows, z = block.last - block.first, work.z
    arrays = _arrays(block)
    data: Any = work.weighing.described(block.weights)
    if (z[block.first : block.last] < 0).any():
        arrays, data, z = _of_taking_part(arrays, data, block, z, k)
    entries = arrays[1].size
    to_indptr = np.empty(k + 2, dtype=np.int32)
    # In double precision, so that sums over blocks are exact.
    columns, sums = np.empty(entries, dtype=np.int32), np.empty(entries)
    of_group = np.empty(k + 1), np.empty(k + 1)
    strength, inner, nodes = np.zeros(rows), np.zeros(rows), np.ones(rows, dtype=np.int64)
    one, offsets = np.zeros(1, dtype=np.int64), np.array([0, rows])
    written, width = np.zeros(1, dtype=np.int64), max(k, rows) + 1
    search_kernels.coarsen(
        *arrays, data, strength, inner, nodes, offsets, one, z, block.first, np.array([0, k]),
        to_indptr, columns, sums, *of_group, np.empty(k + 1, dtype=np.int64), np.empty((0, 5)),
        np.empty(k + 1), np.empty((2, width), dtype=np.int64), np.empty(k + 2, dtype=np.int32),
        np.empty((4, width), dtype=np.int32), written, new_control(),
    )  # fmt: skip
    filled = int(written[0])
    to_indptr[k] = filled
    return GroupLinks(
        to_indptr[: k + 1], columns[:filled].copy(), sums[:filled].copy(), of_group[1][:k].copy()
    )


def _of_taking_part(arrays: Any, data: Any, block: Block, z: Indices, k: int) -> Any:
    """Return the entries of the rows that take part; the others have none, and group 0."""
    indptr, indices = arrays
    lengths = np.diff(indptr)
    chosen = z[block.first : block.last] >= 0
    kept = np.repeat(chosen, lengths)
    ends = np.concatenate([[0], np.cumsum(lengths * chosen)]).astype(np.int32)
    data = data if data.size == 1 else data[kept]
    return (ends, indices[kept]), data, np.maximum(z, 0)


def spilled_links(work: Work, number: int, k: int, folder: str, bounds: Ints) -> Floats:
    """Write the links between groups to a file for each range of first groups.

    Returns the weights inside groups.
    """
    found = group_links(work, number, k)
    for r, (low, high) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        ends = found.indptr[low : high + 1]
        part = slice(int(ends[0]), int(ends[-1]))
        target = Path(folder) / f"links-{number}-{r}.npy"
        links = np.empty(part.stop - part.start, dtype=_LINK)
        links["first"] = np.repeat(np.arange(low, high, dtype=np.int32), np.diff(ends))
        links["second"], links["weight"] = found.indices[part], found.data[part]
        write_array(target, links)
    return found.inner


def write_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array to a file in one step; another process may write the same."""
    # NumPy writes the content past Python's file, and then does not say that the disk is full.
    content = np.ascontiguousarray(array)
    with _written(path) as file:
        header = np.lib.format.header_data_from_array_1_0(content)
        np.lib.format.write_array_header_1_0(file, header)
        file.write(content.reshape(-1).view(np.uint8).data)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in one step; another process may write the same."""
    with _written(path) as file:
        file.write(content)


@contextmanager
def _written(path: Path) -> Iterator[BinaryIO]:
    half = path.with_name(f"{path.name}.{uuid4().hex}.half")
    try:
        with half.open("wb") as file:
            yield file
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


class Strongest(NamedTuple):
    """The strongest links of a range of groups."""

    first: Indices
    second: Indices
    weight: Singles


def strongest_links(
    work: Work, r: int, folder: str, blocks: list[int], K: Floats, m: float, most: int
) -> Strongest:
    """Return the links of a range of groups that most exceed what strengths alone would give."""
    from scipy import sparse

    del work
    links = np.concatenate([np.load(Path(folder) / f"links-{b}-{r}.npy") for b in blocks])
    if not links.size:
        return Strongest(links["first"], links["second"], links["weight"].astype(np.float32))
    low = int(links["first"].min())
    ends = links["first"] - low, links["second"]
    shape = int(ends[0].max()) + 1, K.size
    matrix = sparse.csr_array((links["weight"], ends), shape=shape)
    del links, ends
    first = low + np.repeat(np.arange(shape[0]), np.diff(matrix.indptr))
    second, weight = matrix.indices, matrix.data
    beyond = (K[first] * K[second] / (2.0 * m) - weight).astype(np.float32)
    # Whole numbers in the order of the groups, and of each group's links by how much they exceed.
    bits = beyond.view(np.int32)
    places = np.where(bits < 0, ~bits | np.int32(-(2**31)), bits).astype(np.int64)
    places += (first - low) << 33
    last = np.minimum(matrix.indptr[:-1] + most, matrix.indptr[1:]) - 1
    kept = places <= np.sort(places)[np.maximum(last, 0)][first - low]
    return Strongest(first[kept].astype(np.int32), second[kept], weight[kept].astype(np.float32))


class Rows(NamedTuple):
    """Rows of some nodes, whose columns are nodes of the whole graph."""

    nodes: Ints
    lengths: Ints
    indices: Indices
    weights: Ints | None


def rows_of_groups(work: Work, number: int, chosen: npt.NDArray[np.bool_]) -> Rows:
    """Return the rows of the nodes in some groups."""
    block = work.store.read(number)
    z = work.z[block.first : block.last]
    mine = (z >= 0) & chosen[np.maximum(z, 0)]
    lengths = np.diff(block.indptr)
    kept = np.repeat(mine, lengths)
    nodes = block.first + np.flatnonzero(mine)
    weights = None if block.weights is None else block.weights[kept]
    return Rows(nodes, lengths[mine], block.indices[kept], weights)


def _arrays(block: Block) -> tuple[Indices, Indices]:
    """Return the rows of a block as kernels take them, like those of a graph in memory."""
    return block.indptr.astype(np.int32), block.indices
