"""Kernels of label propagation: bare arrays in, labels changed in place."""

from typing import NamedTuple

import numpy as np
from numba import njit

from kgroups._types import CSR, Bools, Floats, Ints

__all__ = [
    "color_greedily",
    "has_frequent_labels",
    "spread_by_color",
    "spread_once",
    "spread_queue",
]


class Buffers(NamedTuple):
    """Work arrays of the kernels: a frequency and a mark per label, and a list of labels."""

    frequency: Floats
    seen: Bools
    found: Ints

    @classmethod
    def of_size(cls, n: int) -> "Buffers":
        """Return the arrays for ``n`` labels."""
        return cls(np.zeros(n), np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.int64))


@njit(cache=True, nogil=True)
def _most_frequent(A: CSR, i: int, z: Ints, work: Buffers) -> int:
    """Write the most frequent labels around node i to the front of ``found``; return how many."""
    frequency, seen, found = work
    count = 0
    for t in range(A.indptr[i], A.indptr[i + 1]):
        label = z[A.indices[t]]
        if not seen[label]:
            seen[label] = True
            frequency[label] = 0.0
            found[count] = label
            count += 1
        frequency[label] += A.data[t]
    best = 0
    for place in range(count):
        label = found[place]
        seen[label] = False
        if best > 0 and frequency[label] > frequency[found[0]]:
            best = 0
        if best == 0 or frequency[label] == frequency[found[0]]:
            found[best] = label
            best += 1
    return best


@njit(cache=True, nogil=True)
def _holds(found: Ints, count: int, label: int) -> bool:
    for place in range(count):  # noqa: SIM110  (numba compiles no generator)
        if found[place] == label:
            return True
    return False


@njit(cache=True, nogil=True)
def spread_once(A: CSR, order: Ints, chance: Floats, z: Ints, work: Buffers) -> int:
    """Visit each node once; return how many took a new label, drawn among the most frequent."""
    changed = 0
    for place in range(order.size):
        i = order[place]
        best = _most_frequent(A, i, z, work)
        if best > 0 and not _holds(work.found, best, z[i]):
            z[i] = work.found[int(chance[place] * best)]
            changed += 1
    return changed


@njit(cache=True, nogil=True)
def spread_queue(
    A: CSR,
    chance: Floats,
    start: int,
    length: int,
    queue: Ints,
    waiting: Bools,
    z: Ints,
    work: Buffers,
) -> tuple[int, int]:
    """Visit queued nodes until none is left or the draws are used up; return the queue's state.

    A node always draws among the most frequent labels; if its label changes, its neighbors with
    other labels go to the end of the queue.
    """
    n = z.size
    for used in range(chance.size):
        if length == 0:
            break
        i = queue[start]
        start = (start + 1) % n
        length -= 1
        waiting[i] = False
        best = _most_frequent(A, i, z, work)
        if best == 0:
            continue
        label = work.found[int(chance[used] * best)]
        if label == z[i]:
            continue
        z[i] = label
        for t in range(A.indptr[i], A.indptr[i + 1]):
            j = A.indices[t]
            if z[j] != label and not waiting[j]:
                queue[(start + length) % n] = j
                length += 1
                waiting[j] = True
    return start, length


@njit(cache=True, nogil=True)
def color_greedily(A: CSR, order: Ints, color: Ints, taken_by: Ints) -> None:
    """Give each node in turn the first color that no neighbor has; -1 is no color yet."""
    for i in order:
        for t in range(A.indptr[i], A.indptr[i + 1]):
            neighbor = color[A.indices[t]]
            if neighbor >= 0:
                taken_by[neighbor] = i
        first = 0
        while taken_by[first] == i:
            first += 1
        color[i] = first


@njit(cache=True, nogil=True)
def spread_by_color(A: CSR, order: Ints, z: Ints, work: Buffers) -> None:
    """Visit the nodes color by color; in a tie a node keeps its label or takes the largest."""
    for i in order:
        best = _most_frequent(A, i, z, work)
        if best == 0 or (best > 1 and _holds(work.found, best, z[i])):
            continue
        label = work.found[0]
        for place in range(1, best):
            label = max(label, work.found[place])
        z[i] = label


@njit(cache=True, nogil=True)
def has_frequent_labels(A: CSR, z: Ints, work: Buffers) -> bool:
    """Whether each node that has neighbors holds one of the most frequent labels around it."""
    for i in range(z.size):
        best = _most_frequent(A, i, z, work)
        if best > 0 and not _holds(work.found, best, z[i]):
            return False
    return True
