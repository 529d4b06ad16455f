"""Row numbers for node names that come in batches, without a Python object per edge."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kgroups._types import Indices, Ints, index_type

__all__ = ["IntegerNames", "TextNames", "Texts"]

_NAMES_AT_FIRST = 1 << 10
_LETTERS_AT_FIRST = 1 << 14
_NAMES_AT_ONCE = 1 << 14


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
        # A list of all bounds would be as large as the names.
        for begin in range(0, len(self), _NAMES_AT_ONCE):
            bounds = self.bounds[begin : begin + _NAMES_AT_ONCE + 1]
            part = self.data[bounds[0] : bounds[-1]].tobytes()
            for first, last in pairwise((bounds - bounds[0]).tolist()):
                yield self.decode(part[first:last])

    def __getitem__(self, t: int) -> Hashable:
        return self.decode(self.data[self.bounds[t] : self.bounds[t + 1]].tobytes())


class IntegerNames:
    """Numbers for integers of 64 bits, as they first appear: source, target, edge by edge."""

    def __init__(self, kind: type[np.integer[Any]]) -> None:
        self._kind = kind
        self._names = np.empty(_NAMES_AT_FIRST, np.uint64)
        self._table = _empty_table(_NAMES_AT_FIRST, np.int32)
        self.count = 0

    def number(self, source: Any, target: Any, u: Indices, v: Indices) -> None:
        """Write the numbers of both ends of each edge into ``u`` and ``v``."""
        from kgroups.adapters._numbering_nb import number_integers, place_integers

        # The same bits whatever the sign, so that one compiled kernel does for both.
        first, second = (
            _readonly(np.asarray(end, self._kind).view(np.uint64)) for end in (source, target)
        )
        done = 0
        with _hashes_wrap_around():
            while True:
                done, self.count = number_integers(
                    first, second, done, self._table, self._names, self.count, u, v
                )
                if done == u.size:
                    return
                self._names = _enlarged(self._names, 2 * self._names.size)
                self._table = _empty_table(self._names.size, index_type(self._names.size))
                place_integers(self._names, self.count, self._table)

    def take_names(self) -> Any:
        """Return the names in the order of their numbers, and give up the table."""
        self._table = _empty_table(0, np.int32)
        return self._names[: self.count].view(self._kind)


class TextNames:
    """Numbers for text, as it first appears: source, target, edge by edge."""

    def __init__(self) -> None:
        self._bounds = np.zeros(_NAMES_AT_FIRST + 1, np.int64)
        self._letters = np.empty(_LETTERS_AT_FIRST, np.uint8)
        self._table = _empty_table(_NAMES_AT_FIRST, np.int64)
        self._decode: Callable[[bytes], Hashable] = bytes
        self.count = 0

    def number(self, source: Texts, target: Texts, u: Indices, v: Indices) -> None:
        """Write the numbers of both ends of each edge into ``u`` and ``v``."""
        from kgroups.adapters._numbering_nb import mark_texts, number_texts

        self._decode = source.decode
        source_bounds, source_data = _readonly(source.bounds), _readonly(source.data)
        target_bounds, target_data = _readonly(target.bounds), _readonly(target.data)
        # Marks come first, for then the processor looks up several names at a time.
        source_marks, target_marks = (
            np.empty(len(source), np.int64),
            np.empty(len(target), np.int64),
        )
        with _hashes_wrap_around():
            mark_texts(source_bounds, source_data, source_marks)
            mark_texts(target_bounds, target_data, target_marks)
        longest = sum(int(np.diff(texts.bounds).max(initial=0)) for texts in (source, target))
        done = 0
        while True:
            done, self.count = number_texts(
                source_marks,
                source_bounds,
                source_data,
                target_marks,
                target_bounds,
                target_data,
                done,
                self._table,
                self._bounds,
                self._letters,
                self.count,
                u,
                v,
            )
            if done == u.size:
                return
            self._grow(longest)

    def _grow(self, longest: int) -> None:
        from kgroups.adapters._numbering_nb import place_texts

        if self._letters.size - self._bounds[self.count] < longest:
            self._letters = _enlarged(self._letters, 2 * self._letters.size + longest)
        room = self._bounds.size - 1
        if self.count > room - 3:
            self._bounds = _enlarged(self._bounds, 2 * room + 1)
            smaller, self._table = self._table, _empty_table(2 * room, np.int64)
            place_texts(smaller, self._table)

    def take_names(self) -> Sequence[Hashable]:
        """Return the names in the order of their numbers, and give up everything else."""
        self._table = _empty_table(0, np.int64)
        names = Texts(self._bounds[: self.count + 1], self._letters, self._decode)
        return tuple(names)


def _hashes_wrap_around() -> np.errstate:
    """Return a context in which NumPy accepts the overflow of hashes in kernels without JIT."""
    return np.errstate(over="ignore")


def _empty_table(names: int, kind: type[np.signedinteger[Any]]) -> Any:
    """Return a table that so many names fill by half."""
    return np.full(1 << max(2 * names - 1, 1).bit_length(), -1, kind)


def _enlarged(array: Any, size: int) -> Any:
    larger = np.empty(size, array.dtype)
    larger[: array.size] = array
    return larger


def _readonly(column: Any) -> Any:
    """Return what numba compiles once: contiguous and read-only."""
    view = np.ascontiguousarray(column).view()
    view.flags.writeable = False
    return view
