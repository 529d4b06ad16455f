"""Kernels that number node names by hashing: open addressing, bare arrays, no Python objects.

A table holds the numbers of names, -1 where it is free, and its length is a power of two. That of
texts holds their fingerprints in the lower 32 bits as well. Each kernel stops before an edge that
the names or the table might not have room for.
"""

from typing import Any

import numpy as np
from numba import njit

__all__ = ["mark_texts", "number_integers", "number_texts", "place_integers", "place_texts"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FNV_START = np.uint64(0xCBF29CE484222325)
_FNV_PRIME = np.uint64(0x100000001B3)
_HALF = np.uint64(32)
_MARK = 0xFFFFFFFF


@njit(cache=True, nogil=True)
def _slot_of(code: Any, mask: int) -> Any:
    mixed = np.uint64(code) * _GOLDEN
    return np.int64(mixed >> _HALF) & mask


@njit(cache=True, nogil=True)
def _number_of_integer(name: int, table: Any, names: Any, known: int) -> int:
    """Return the number of a name; the one after the last if it is new."""
    mask = table.size - 1
    slot = _slot_of(name, mask)
    while table[slot] >= 0:
        if names[table[slot]] == name:
            return int(table[slot])
        slot = (slot + 1) & mask
    table[slot] = known
    names[known] = name
    return known


@njit(cache=True, nogil=True)
def number_integers(
    source: Any, target: Any, begin: int, table: Any, names: Any, known: int, u: Any, v: Any
) -> tuple[int, int]:
    """Write a number for both ends of each edge from ``begin`` on.

    Return the edge that it stopped before, and how many names are known.
    """
    limit = min(names.size, table.size // 2) - 2
    for e in range(begin, source.size):
        if known > limit:
            return e, known
        number = _number_of_integer(source[e], table, names, known)
        u[e] = number
        known = max(known, number + 1)
        number = _number_of_integer(target[e], table, names, known)
        v[e] = number
        known = max(known, number + 1)
    return source.size, known


@njit(cache=True, nogil=True)
def place_integers(names: Any, known: int, table: Any) -> None:
    """Put the known names into a larger table."""
    mask = table.size - 1
    for number in range(known):
        slot = _slot_of(names[number], mask)
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = number


@njit(cache=True, nogil=True)
def mark_texts(bounds: Any, data: Any, marks: Any) -> None:
    """Write 32 bits for each text that differ for most texts that differ."""
    for e in range(marks.size):
        mixed = _FNV_START
        for t in range(bounds[e], bounds[e + 1]):
            mixed = (mixed ^ np.uint64(data[t])) * _FNV_PRIME
        marks[e] = (mixed * _GOLDEN) >> _HALF


@njit(cache=True, nogil=True)
def _equal(data: Any, begin: int, letters: Any, first: int, length: int) -> bool:
    t = 0
    while t < length and letters[first + t] == data[begin + t]:
        t += 1
    return t == length


@njit(cache=True, nogil=True)
def _number_of_text(
    mark: int, data: Any, begin: int, end: int, table: Any, bounds: Any, letters: Any, known: int
) -> int:
    mask = table.size - 1
    length = end - begin
    slot = mark & mask
    while table[slot] >= 0:
        # Letters lie far away in memory: they are looked at only when the fingerprints agree.
        if table[slot] & _MARK == mark:
            number = table[slot] >> 32
            first = bounds[number]
            if bounds[number + 1] - first == length and _equal(data, begin, letters, first, length):
                return int(number)
        slot = (slot + 1) & mask
    table[slot] = (known << 32) | mark
    first = bounds[known]
    for t in range(length):
        letters[first + t] = data[begin + t]
    bounds[known + 1] = first + length
    return known


@njit(cache=True, nogil=True)
def number_texts(
    source_marks: Any,
    source_bounds: Any,
    source_data: Any,
    target_marks: Any,
    target_bounds: Any,
    target_data: Any,
    begin: int,
    table: Any,
    bounds: Any,
    letters: Any,
    known: int,
    u: Any,
    v: Any,
) -> tuple[int, int]:
    """Write a number for both ends of each edge from ``begin`` on.

    Return the edge that it stopped before, and how many names are known.
    """
    limit = min(bounds.size - 1, table.size // 2) - 2
    for e in range(begin, u.size):
        s, s_end = source_bounds[e], source_bounds[e + 1]
        t, t_end = target_bounds[e], target_bounds[e + 1]
        if known > limit or bounds[known] + (s_end - s) + (t_end - t) > letters.size:
            return e, known
        number = _number_of_text(
            source_marks[e], source_data, s, s_end, table, bounds, letters, known
        )
        u[e] = number
        known = max(known, number + 1)
        number = _number_of_text(
            target_marks[e], target_data, t, t_end, table, bounds, letters, known
        )
        v[e] = number
        known = max(known, number + 1)
    return u.size, known


@njit(cache=True, nogil=True)
def place_texts(smaller: Any, table: Any) -> None:
    """Move what a table holds into a larger one."""
    mask = table.size - 1
    for entry in smaller:
        if entry < 0:
            continue
        slot = entry & _MARK & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = entry
