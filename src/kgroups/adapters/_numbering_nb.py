"""Kernels that number node names by hashing with open addressing.

A table holds the numbers of names, or -1 in free slots, and its length is a power of two. A table
of texts holds their hashes in the lower 32 bits as well. Kernels that number names keep in
``state`` how many they have done and how many distinct names are known; they stop where the arrays
become too small.
"""

from typing import Any

from kgroups._kernel import kernel
from kgroups._types import Indices, Ints

__all__ = ["hash_texts", "number_integers", "number_texts", "place_integers", "place_texts"]

# Numbers of at least 2 ** 63 are unsigned when compiled, and products keep their lower 64 bits.
_GOLDEN = 0x9E3779B97F4A7C15
_FIRST_HASH = 0xCBF29CE484222325
_ALL_BITS = 0xFFFFFFFFFFFFFFFF
_LOWER_HALF = 0xFFFFFFFF


@kernel(seconds=0.13)
def number_integers(given: Any, table: Indices, names: Any, numbers: Ints, state: Ints) -> None:
    """Write the number of each given name that is not done yet."""
    mask = len(table) - 1
    most = min(len(names), len(table) // 2)
    known = state[1]
    for e in range(state[0], len(given)):
        if known == most:
            state[0] = e
            state[1] = known
            return
        name = given[e]
        slot = ((name * _GOLDEN & _ALL_BITS) >> 32) & mask
        while table[slot] >= 0 and names[table[slot]] != name:
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = known
            names[known] = name
            known += 1
        numbers[e] = table[slot]
    state[0] = len(given)
    state[1] = known


@kernel(seconds=0.076)
def place_integers(names: Any, known: int, table: Indices) -> None:
    """Insert the known names into a larger table."""
    mask = len(table) - 1
    for number in range(known):
        slot = ((names[number] * _GOLDEN & _ALL_BITS) >> 32) & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = number


@kernel(seconds=0.083)
def hash_texts(starts: Ints, stops: Ints, data: Any, hashes: Ints) -> None:
    """Write a 32-bit hash of each text."""
    for e in range(len(hashes)):
        mixed = _FIRST_HASH
        for t in range(starts[e], stops[e]):
            mixed = (mixed ^ data[t]) * _GOLDEN & _ALL_BITS
        hashes[e] = mixed >> 32


@kernel(seconds=0.36)
def number_texts(
    starts: Ints, stops: Ints, data: Any, hashes: Ints, table: Ints, bounds: Ints, letters: Any,
    numbers: Ints, state: Ints,
) -> None:
    """Write the number of each text that is not done yet.

    The known texts are ``letters[bounds[i] : bounds[i + 1]]``.
    """
    mask = len(table) - 1
    most = min(len(bounds) - 1, len(table) // 2)
    known = state[1]
    for e in range(state[0], len(starts)):
        begin = starts[e]
        length = stops[e] - begin
        if known == most or bounds[known] + length > len(letters):
            state[0] = e
            state[1] = known
            return
        slot = hashes[e] & mask
        number = -1
        while table[slot] >= 0 and number < 0:
            # Letters are far away in memory: compare them only when the hashes agree.
            if table[slot] & _LOWER_HALF == hashes[e]:
                other = table[slot] >> 32
                first = bounds[other]
                if bounds[other + 1] - first == length:
                    t = 0
                    while t < length and letters[first + t] == data[begin + t]:
                        t += 1
                    if t == length:
                        number = other
            slot = (slot + 1) & mask
        if number < 0:
            number = known
            table[slot] = (known << 32) | hashes[e]
            first = bounds[known]
            for t in range(length):
                letters[first + t] = data[begin + t]
            bounds[known + 1] = first + length
            known += 1
        numbers[e] = number
    state[0] = len(starts)
    state[1] = known


@kernel(seconds=0.077)
def place_texts(smaller: Ints, table: Ints) -> None:
    """Insert the entries of a table into a larger one."""
    mask = len(table) - 1
    for e in range(len(smaller)):
        if smaller[e] < 0:
            continue
        slot = smaller[e] & _LOWER_HALF & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = smaller[e]
