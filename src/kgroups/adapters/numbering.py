"""Node names to row numbers, and the canonical order of names.

Names that come in batches are numbered by hash tables, in order of appearance and without
a Python object per edge. Libraries were measured: ten million integers with wide gaps take 0.26 s,
2.7 s with ``np.unique`` and 0.6 s with pyarrow; four million texts take 2.9 s, 6.9 s with
``np.unique`` and 1.1 s with pyarrow, which is optional and needs whole columns in memory.
"""

import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Literal

import numpy as np

from kgroups._csr import index_type
from kgroups._types import Indices, Ints
from kgroups.adapters._numbering_nb import (
    hash_texts,
    number_integers,
    number_texts,
    place_integers,
    place_texts,
)
from kgroups.graph import Graph

_LOOKUP_SLOTS_PER_VALUE = 4  # Up to this size a lookup table is faster than sorting.
_BYTES_PER_NAME = 16  # Bytes per name that a table of texts holds before it first grows.
_NAMES_DECODED_AT_ONCE = 1 << 14  # A list of all bounds would be as large as the names.


def unique_integers(values: Any) -> tuple[list[int], Ints]:
    """Return the sorted distinct integers, and the index among them of each value.

    For integers from a dense range, a lookup table is 30 times as fast as ``np.unique``: two
    million values take 0.013 s instead of 0.36 s.
    """
    low, high = int(values.min()), int(values.max())
    if high - low > _LOOKUP_SLOTS_PER_VALUE * values.size + 1024:
        names, codes = np.unique(values, return_inverse=True)
        return names.tolist(), codes.astype(np.int64)
    offset = values.astype(np.int64) - low if high < 2**63 else (values - low).astype(np.int64)
    seen = np.zeros(high - low + 1, bool)
    seen[offset] = True
    return [low + i for i in np.flatnonzero(seen).tolist()], (np.cumsum(seen) - 1)[offset]


def is_missing(value: Any) -> bool:
    """Tell whether a value differs from itself, as NaN, NaT and pandas.NA do."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


@dataclass(frozen=True)
class Texts:
    """A column of names of any length, as bytes one after another.

    Name ``t`` is ``data[bounds[t] : bounds[t + 1]]``; ``decode`` makes a Python object of it.
    """

    bounds: Ints
    data: Any
    decode: Callable[[bytes], Hashable]

    def __len__(self) -> int:
        return self.bounds.size - 1

    def __iter__(self) -> Iterator[Hashable]:
        for begin in range(0, len(self), _NAMES_DECODED_AT_ONCE):
            bounds = self.bounds[begin : begin + _NAMES_DECODED_AT_ONCE + 1]
            part = self.data[bounds[0] : bounds[-1]].tobytes()
            for first, last in pairwise((bounds - bounds[0]).tolist()):
                yield self.decode(part[first:last])

    def __getitem__(self, t: int) -> Hashable:
        return self.decode(self.data[self.bounds[t] : self.bounds[t + 1]].tobytes())


class IntegerNames:
    """Numbers for 64-bit integers in order of appearance: source, target, edge by edge."""

    def __init__(self, kind: type[np.integer[Any]], first_names: int) -> None:
        self._kind = kind
        self._names = np.empty(first_names, np.uint64)
        self._table = _empty_table(first_names, np.int32)
        self.count = 0

    def number(self, source: Any, target: Any, u: Indices, v: Indices) -> None:
        """Write the numbers of both ends of each edge into ``u`` and ``v``."""
        # The same bits whatever the sign, so that one compiled kernel does for both.
        names = _interleaved(np.asarray(source, self._kind), np.asarray(target, self._kind))
        names, numbers = names.view(np.uint64), np.empty(names.size, np.int64)
        state = np.array([0, self.count])
        while True:
            number_integers(names, self._table, self._names, numbers, state)
            if state[0] == names.size:
                break
            self._names = _enlarged(self._names, 2 * self._names.size)
            self._table = _empty_table(self._names.size, index_type(self._names.size))
            place_integers(self._names, int(state[1]), self._table)
        self.count = int(state[1])
        u[:], v[:] = numbers[::2], numbers[1::2]

    def take_names(self) -> Any:
        """Return the names in the order of their numbers, and free the table."""
        self._table = _empty_table(0, np.int32)
        return self._names[: self.count].view(self._kind)


class TextNames:
    """Numbers for texts in order of appearance: source, target, edge by edge."""

    def __init__(self, first_names: int) -> None:
        self._bounds = np.zeros(first_names + 1, np.int64)
        self._letters = np.empty(_BYTES_PER_NAME * first_names, np.uint8)
        self._table = _empty_table(first_names, np.int64)
        self._decode: Callable[[bytes], Hashable] = bytes
        self.count = 0

    def number(self, source: Texts, target: Texts, u: Indices, v: Indices) -> None:
        """Write the numbers of both ends of each edge into ``u`` and ``v``."""
        self._decode = source.decode
        data = np.concatenate([source.data, target.data])
        second = target.bounds + len(source.data)
        starts = _interleaved(source.bounds[:-1], second[:-1])
        stops = _interleaved(source.bounds[1:], second[1:])
        hashes, numbers = np.empty((2, starts.size), np.int64)
        # All hashes come before the first lookup, so that the processor has several under way.
        hash_texts(starts, stops, data, hashes)
        state = np.array([0, self.count])
        while True:
            known = self._table, self._bounds, self._letters
            number_texts(starts, stops, data, hashes, *known, numbers, state)
            done, self.count = state.tolist()
            if done == starts.size:
                break
            length, capacity = int(stops[done] - starts[done]), self._bounds.size - 1
            if self._letters.size - self._bounds[self.count] < length:
                self._letters = _enlarged(self._letters, 2 * self._letters.size + length)
            if self.count == capacity:
                self._bounds = _enlarged(self._bounds, 2 * capacity + 1)
                smaller, self._table = self._table, _empty_table(2 * capacity, np.int64)
                place_texts(smaller, self._table)
        u[:], v[:] = numbers[::2], numbers[1::2]

    def take_names(self) -> Sequence[Hashable]:
        """Return the names in the order of their numbers, and free the table."""
        self._table = _empty_table(0, np.int64)
        return tuple(Texts(self._bounds[: self.count + 1], self._letters, self._decode))


def _interleaved(first: Any, second: Any) -> Any:
    return np.column_stack([first, second]).ravel()


def _empty_table(names: int, kind: type[np.signedinteger[Any]]) -> Any:
    """Return a table that this many names fill to one half."""
    return np.full(1 << max(2 * names - 1, 1).bit_length(), -1, kind)


def _enlarged(array: Any, size: int) -> Any:
    larger = np.empty(size, array.dtype)
    larger[: array.size] = array
    return larger


def canonical_order(
    graph: Graph,
) -> tuple[Ints | None, Literal["index", "sorted names", "input order"]]:
    """Return the permutation that sorts the node names, and how it was found.

    Parameters
    ----------
    graph : Graph
        The graph whose nodes are to be put in order.

    Returns
    -------
    order : ndarray of int or None
        Row indices in the order of the sorted names, for :meth:`Graph.permuted`; ``None`` when
        the rows are in that order already.
    method : {"index", "sorted names", "input order"}
        ``"index"`` for nodes without names of their own, ``"input order"`` for names that have no
        unique order: of mixed types, sets, or not equal to themselves as NaN.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2], nodes=["c", "a", "b"])
    >>> canonical_order(graph)
    (array([1, 2, 0]), 'sorted names')
    >>> canonical_order(Graph.from_edges([0], [1], nodes=["a", 1]))
    (None, 'input order')
    """
    names = graph.nodes
    if isinstance(names, range):
        return None, "index"
    try:
        if _is_ascending(names):
            return None, "sorted names"
        order = _sorting_permutation(names)
        # Sets and NaN sort without an error; only strictly ascending names have a unique order.
        if _is_ascending([names[i] for i in order.tolist()]):
            return order, "sorted names"
    except (TypeError, ValueError):
        pass
    return None, "input order"


def _is_ascending(names: Sequence[Any]) -> bool:
    return all(map(operator.lt, names, islice(names, 1, None)))


def _sorting_permutation(names: Sequence[Hashable]) -> Ints:
    if set(map(type, names)) == {int}:
        try:
            return np.argsort(np.array(names, dtype=np.int64), kind="stable")
        except OverflowError:
            pass
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)  # type: ignore[arg-type]
