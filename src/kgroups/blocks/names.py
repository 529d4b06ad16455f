"""Node names of a store: the distinct ones in sorted order, and the number of each name.

While edges are read, a name is a number of 64 bits, its key: the name itself if that is a whole
number, else a hash of the text.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import index_type, writable
from kgroups._output import import_pyarrow
from kgroups._types import Indices, Ints
from kgroups.blocks._store_nb import find_keys, hash_texts, merge_sorted
from kgroups.blocks.folder import FileInfo, Output
from kgroups.blocks.sources import mixed_bits, text_buffers
from kgroups.blocks.store import COLORS

SPILLED_NAMES = "names"
"""Folder of the texts of each piece."""
PARTITIONS = 64
"""Parts into which texts are divided by their hash, so that one part at a time is compared."""

_KEYS_PER_BUCKET = 4
_RANKS_AT_ONCE = 1 << 20
_HASH_BITS = 62


class CollisionError(Exception):
    """Two texts have the same hash."""


def hashes(texts: Any, seed: int) -> Ints:
    """Return a number from 0 to 2**62 - 1 for each text."""
    bases = np.random.default_rng(seed).integers(1 << 20, 1 << 30, 2)
    keys = np.empty(len(texts), np.int64)
    hash_texts(*text_buffers(texts), int(bases[0]), int(bases[1]), keys)
    return keys


def keys_of_texts(u: Any, v: Any, seed: int) -> tuple[Ints, Ints, Any]:
    """Return keys of the texts in two Arrow arrays, and a table of the distinct ones.

    The table is sorted by key, and has a batch for each part.
    """
    pyarrow, _ = import_pyarrow()
    encoded = pyarrow.concat_arrays([u, v]).dictionary_encode()
    texts = encoded.dictionary
    key = hashes(texts, seed)
    order = np.argsort(key)
    _refuse_equal(key[order])
    codes = encoded.indices.to_numpy()
    keys = key[codes]
    table = pyarrow.table({"key": key[order], "name": texts.take(pyarrow.array(order))})
    return keys[: len(u)], keys[len(u) :], table


def _refuse_equal(keys: Ints) -> None:
    if np.any(keys[1:] == keys[:-1]):
        raise CollisionError


def spill_texts(folder: Path, number: int, table: Any) -> FileInfo:
    """Write distinct texts with their keys, a batch for each part."""
    pyarrow, _ = import_pyarrow()
    table = table.combine_chunks()
    bounds = np.searchsorted(
        table["key"].to_numpy(), np.arange(PARTITIONS + 1) * ((1 << _HASH_BITS) // PARTITIONS)
    ).tolist()
    with (
        Output(folder, f"{SPILLED_NAMES}/{number:05d}.arrow") as out,
        pyarrow.ipc.new_file(pyarrow.PythonFile(out, "w"), table.schema) as writer,
    ):
        for first, stop in pairwise(bounds):
            part = table.slice(first, stop - first)
            batches = part.to_batches() or [
                pyarrow.RecordBatch.from_pylist([], schema=table.schema)
            ]
            writer.write_batch(batches[0])
    return out.info


def merged_texts(
    folder: Path, pieces: int, seed: int, tell: Callable[[int], None]
) -> tuple[Ints, Any]:
    """Return the sorted keys of all texts that were spilled, and the texts in this order."""
    pyarrow, _ = import_pyarrow()
    keys: list[Ints] = []
    texts: list[Any] = []
    for part in range(PARTITIONS):
        tell(part)
        found = []
        for number in range(pieces):
            with pyarrow.OSFile(str(folder / SPILLED_NAMES / f"{number:05d}.arrow")) as file:
                found.append(pyarrow.ipc.open_file(file).get_batch(part).column("name"))
        distinct = pyarrow.chunked_array(found, pyarrow.large_string()).unique()
        key = hashes(distinct, seed)
        order = np.argsort(key)
        key = key[order]
        _refuse_equal(key)
        keys.append(key)
        texts.append(distinct.take(pyarrow.array(order)))
    merged = pyarrow.concat_arrays(texts) if texts else pyarrow.array([], pyarrow.large_string())
    return np.concatenate(keys), merged


def text_order(texts: Any) -> Ints:
    """Return the permutation that sorts texts by code points."""
    from pyarrow import compute

    order: Ints = compute.sort_indices(texts).to_numpy().astype(np.int64)
    return order


def write_texts(folder: Path, name: str, texts: Any) -> FileInfo:
    """Write texts to a file of Arrow with one column."""
    pyarrow, _ = import_pyarrow()
    batch = pyarrow.RecordBatch.from_arrays([texts], names=["name"])
    with (
        Output(folder, name) as out,
        pyarrow.ipc.new_file(pyarrow.PythonFile(out, "w"), batch.schema) as writer,
    ):
        writer.write_batch(batch)
    return out.info


def distinct_numbers(parts: Iterable[Indices], low: int, high: int, *, most_slots: int) -> Ints:
    """Return the sorted distinct numbers of all parts, which are from ``low`` to ``high``.

    A range of at most ``most_slots`` numbers is marked in a table; else sorted runs are merged,
    always two of about one size, so that the work grows with the logarithm of their number.
    """
    if high - low < most_slots:
        seen = np.zeros(high - low + 1, np.bool_)
        for part in parts:
            seen[part.astype(np.int64, copy=False) - low] = True
        names = np.flatnonzero(seen)
        names += low
        return names
    runs: list[Ints] = []
    for part in parts:
        runs.append(_sorted_distinct(part))
        while len(runs) > 1 and 2 * runs[-1].size >= runs[-2].size:
            runs.append(_merged(runs.pop(), runs.pop()))
    while len(runs) > 1:
        runs.append(_merged(runs.pop(), runs.pop()))
    return runs[0]


def _sorted_distinct(part: Indices) -> Ints:
    values = np.sort(part, axis=None).astype(np.int64, copy=False)
    keep = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=keep[1:])
    return values[keep]


def _merged(a: Ints, b: Ints) -> Ints:
    merged = np.empty(a.size + b.size, np.int64)
    count = merge_sorted(a, b, merged)
    # In place: a copy of the part that is used would be held beside the whole.
    merged.resize(count, refcheck=False)
    return merged


class Lookup(NamedTuple):
    """Finds the numbers that belong to keys.

    ``known`` are the sorted keys, or None if ``values`` has a number for each key from ``low`` on.
    """

    values: Indices
    low: int
    known: Ints | None = None
    start: Ints | None = None
    shift: int = 0

    @classmethod
    def of(cls, known: Ints, values: Indices, *, most_slots: int) -> "Lookup":
        """Return the lookup of the values of sorted keys."""
        if not known.size:
            return cls(values, 0)
        low, high = int(known[0]), int(known[-1])
        if high - low < most_slots:
            table = np.zeros(high - low + 1, values.dtype)
            table[known - low] = values
            return cls(table, low)
        shift = max(0, (high - low).bit_length() - (known.size // _KEYS_PER_BUCKET).bit_length())
        buckets = (high >> shift) - (low >> shift) + 1
        bounds = (np.arange(buckets + 1) + (low >> shift)).astype(np.int64)
        start = np.empty(buckets + 1, np.int64)
        start[:-1] = np.searchsorted(known, bounds[:-1] << shift)
        start[-1] = known.size
        return cls(values, low >> shift, writable(known), start, shift)

    def __call__(self, keys: Indices) -> Indices:
        """Return the numbers of keys, all of which are known."""
        if self.known is None or self.start is None:
            found: Indices = self.values[keys.astype(np.int64, copy=False) - self.low]
            return found
        places = np.empty(keys.size, np.int64)
        find_keys(
            writable(keys.astype(np.int64, copy=False)),
            self.known, self.start, self.shift, self.low, places,
        )  # fmt: skip
        return self.values[places]


def positions_of_ranks(n: int) -> tuple[Indices, list[int]]:
    """Return the position of each rank, and where each color begins.

    The color of a rank is a hash of it; positions sort nodes by color, then by rank.
    """
    color = np.empty(n, np.uint8)
    for first in range(0, n, _RANKS_AT_ONCE):
        ranks = np.arange(first, min(first + _RANKS_AT_ONCE, n))
        color[ranks] = mixed_bits(ranks) % np.uint64(COLORS)
    position, bounds = np.empty(n, index_type(n)), [0]
    for c in range(COLORS):
        ranks = np.flatnonzero(color == c)
        position[ranks] = np.arange(bounds[-1], bounds[-1] + ranks.size)
        bounds.append(bounds[-1] + ranks.size)
    return position, bounds
