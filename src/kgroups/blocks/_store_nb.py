"""Loops that turn lists of edges into the blocks of a store."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kgroups._kernel import kernel
from kgroups._types import Indices, Ints

Bytes: TypeAlias = npt.NDArray[np.int8]
"""The bytes of texts as signed numbers: numba turns sums of signed and unsigned ones to floats."""


@kernel(seconds=0.09)
def hash_texts(offsets: Ints, data: Bytes, base: int, other_base: int, keys: Ints) -> None:
    """Write a number of 62 bits for each text: two polynomials of its bytes, modulo two primes."""
    for i in range(len(keys)):
        a, b = 1, 1
        for t in range(offsets[i], offsets[i + 1]):
            c = data[t] + 129
            a = (a * base + c) % 2147483647
            b = (b * other_base + c) % 2147483629
        keys[i] = a * 2147483648 + b


@kernel(seconds=0.12)
def parse_integers(offsets: Ints, data: Bytes, numbers: Ints) -> int:
    """Write the whole number that each text is, in plain notation.

    Returns 0; 1 if some number has more than 64 bits; 2 as soon as some text is no number.
    """
    found = 0
    for i in range(len(numbers)):
        t, stop = offsets[i], offsets[i + 1]
        negative = t < stop and data[t] == 45
        if negative:
            t += 1
        if t >= stop or (data[t] == 48 and (negative or stop - t > 1)):
            return 2
        # Negative numbers have one more than positive ones.
        value, beyond = 0, False
        for s in range(t, stop):
            digit = data[s] - 48
            if digit < 0 or digit > 9:
                return 2
            if value < -922337203685477580 or (value == -922337203685477580 and digit > 8):
                beyond = True
            else:
                value = 10 * value - digit
        if beyond or (not negative and value < -9223372036854775807):
            found = 1
        elif negative:
            numbers[i] = value
        else:
            numbers[i] = -value
    return found


@kernel(seconds=0.08)
def merge_sorted(a: Ints, b: Ints, merged: Ints) -> int:
    """Merge two sorted arrays without repeats into one, and return how many numbers it has."""
    i, j, count = 0, 0, 0
    while i < len(a) or j < len(b):
        if j >= len(b) or (i < len(a) and a[i] <= b[j]):
            value = a[i]
            if j < len(b) and b[j] == value:
                j += 1
            i += 1
        else:
            value = b[j]
            j += 1
        merged[count] = value
        count += 1
    return count


@kernel(seconds=0.08)
def find_keys(
    keys: Ints, known: Ints, start: Ints, shift: int, lowest: int, places: Ints
) -> None:
    """Write the place of each key among the sorted ones, all of which are known.

    Those whose bits above ``shift`` are ``lowest + b`` begin at ``start[b]``.
    """
    for t in range(len(keys)):
        key = keys[t]
        b = (key >> shift) - lowest
        low, high = start[b], start[b + 1]
        while high - low > 1:
            middle = (low + high) >> 1
            if known[middle] <= key:
                low = middle
            else:
                high = middle
        places[t] = low


@kernel(seconds=0.25)
def deal_edges(
    u: Ints, v: Ints, units: Ints, block_of: Indices, first: Ints, place: Ints, shift: int,
    keys: Ints, dealt: Ints,
) -> None:
    """Write both directions of each edge behind those of the same block, and leave out loops.

    A key has the row, counted from the ``first`` of its block, above ``shift`` bits that hold the
    column. ``place`` holds the first free slot of each block and is updated.
    """
    weighted = len(units) > 0
    for e in range(len(u)):
        i, j = u[e], v[e]
        if i == j:
            continue
        for _ in range(2):
            b = block_of[i]
            t = place[b]
            place[b] = t + 1
            keys[t] = ((i - first[b]) << shift) | j
            if weighted:
                dealt[t] = units[e]
            i, j = j, i


@kernel(seconds=0.11)
def merge_entries(
    keys: Ints, units: Ints, shift: int, lengths: Ints, indices: Indices, sums: Ints,
) -> int:
    """Write one entry for each distinct key, in their order, and return how many there are.

    ``lengths`` must be 0 for each row in the beginning. ``sums`` gets the sum of the units of equal
    keys, or their number where there are no units; it may be empty.
    """
    weighted, summed = len(units) > 0, len(sums) > 0
    column = (1 << shift) - 1
    last, count = -1, 0
    for t in range(len(keys)):
        key = keys[t]
        if key != last:
            last = key
            indices[count] = key & column
            lengths[key >> shift] += 1
            if summed:
                sums[count] = 0
            count += 1
        if summed:
            if weighted:
                sums[count - 1] += units[t]
            else:
                sums[count - 1] += 1
    return count
