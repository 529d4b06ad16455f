"""Kernels that number node names by hashing with open addressing.

A table holds the numbers of names, or -1 in free slots, and its length is a power of two. A table
of texts holds their hashes in the lower 32 bits as well. Kernels that number names return how many
they have done and how many distinct names are known; they stop where the arrays become too small.
"""

from typing import Any

import numpy as np
from numba import njit

__all__ = ["hash_texts", "number_integers", "number_texts", "place_integers", "place_texts"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FNV_START = np.uint64(0xCBF29CE484222325)
_FNV_PRIME = np.uint64(0x100000001B3)
_HALF = np.uint64(32)
_LOWER_HALF = 0xFFFFFFFF


@njit(cache=True, nogil=True)
def _slot_of(name: Any, mask: int) -> Any:
    return np.int64((np.uint64(name) * _GOLDEN) >> _HALF) & mask


@njit(cache=True, nogil=True)
def number_integers(
    given: Any, begin: int, table: Any, names: Any, known: int, numbers: Any
) -> tuple[int, int]:
    """Write the number of each given name from ``begin`` on."""
    mask = table.size - 1
    for e in range(begin, given.size):
        if known == min(names.size, table.size // 2):
            return e, known
        slot = _slot_of(given[e], mask)
        while table[slot] >= 0 and names[table[slot]] != given[e]:
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = known
            names[known] = given[e]
            known += 1
        numbers[e] = table[slot]
    return given.size, known


@njit(cache=True, nogil=True)
def place_integers(names: Any, known: int, table: Any) -> None:
    """Insert the known names into a larger table."""
    mask = table.size - 1
    for number in range(known):
        slot = _slot_of(names[number], mask)
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = number


@njit(cache=True, nogil=True)
def hash_texts(starts: Any, stops: Any, data: Any, hashes: Any) -> None:
    """Write a 32-bit hash of each text."""
    for e in range(hashes.size):
        mixed = _FNV_START
        for t in range(starts[e], stops[e]):
            mixed = (mixed ^ np.uint64(data[t])) * _FNV_PRIME
        hashes[e] = (mixed * _GOLDEN) >> _HALF


@njit(cache=True, nogil=True)
def _equal(data: Any, begin: int, letters: Any, first: int, length: int) -> bool:
    t = 0
    while t < length and letters[first + t] == data[begin + t]:
        t += 1
    return t == length


@njit(cache=True, nogil=True)
def number_texts(
    starts: Any,
    stops: Any,
    data: Any,
    hashes: Any,
    begin: int,
    table: Any,
    bounds: Any,
    letters: Any,
    known: int,
    numbers: Any,
) -> tuple[int, int]:
    """Write the number of each text from ``begin`` on.

    The known texts are ``letters[bounds[i] : bounds[i + 1]]``.
    """
    mask = table.size - 1
    for e in range(begin, starts.size):
        length = stops[e] - starts[e]
        full = known == min(bounds.size - 1, table.size // 2)
        if full or bounds[known] + length > letters.size:
            return e, known
        slot = hashes[e] & mask
        number = -1
        while table[slot] >= 0 and number < 0:
            # Letters are far away in memory: compare them only when the hashes agree.
            if table[slot] & _LOWER_HALF == hashes[e]:
                other = table[slot] >> 32
                first = bounds[other]
                same_length = bounds[other + 1] - first == length
                if same_length and _equal(data, starts[e], letters, first, length):
                    number = other
            slot = (slot + 1) & mask
        if number < 0:
            number = known
            table[slot] = (known << 32) | hashes[e]
            first = bounds[known]
            letters[first : first + length] = data[starts[e] : stops[e]]
            bounds[known + 1] = first + length
            known += 1
        numbers[e] = number
    return starts.size, known


@njit(cache=True, nogil=True)
def place_texts(smaller: Any, table: Any) -> None:
    """Insert the entries of a table into a larger one."""
    mask = table.size - 1
    for entry in smaller:
        if entry < 0:
            continue
        slot = entry & _LOWER_HALF & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = entry
