"""Kernels of label propagation: bare arrays in, labels changed in place."""

from numba import njit

from kgroups._types import CSR, Bools, Floats, Ints

__all__ = [
    "color_greedily",
    "has_frequent_labels",
    "spread_by_color",
    "spread_once",
    "spread_queue",
]


@njit(cache=True, nogil=True)
def _most_frequent(A: CSR, i: int, z: Ints, frequency: Floats, seen: Bools, found: Ints) -> int:
    """Write the most frequent labels around node i to the front of ``found``; return how many."""
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
def spread_once(
    A: CSR,
    order: Ints,
    chance: Floats,
    z: Ints,
    frequency: Floats,
    seen: Bools,
    found: Ints,
) -> int:
    """Visit each node once; return how many took a new label, drawn among the most frequent."""
    changed = 0
    for place in range(order.size):
        i = order[place]
        best = _most_frequent(A, i, z, frequency, seen, found)
        if best > 0 and not _holds(found, best, z[i]):
            z[i] = found[int(chance[place] * best)]
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
    frequency: Floats,
    seen: Bools,
    found: Ints,
) -> tuple[int, int]:
    """Visit queued nodes until none is left or the draws are used up; return the queue's state.

    A node always draws anew among the most frequent labels, and a new label sends its neighbours
    of other labels to the end of the queue.
    """
    n = z.size
    for used in range(chance.size):
        if length == 0:
            break
        i = queue[start]
        start = (start + 1) % n
        length -= 1
        waiting[i] = False
        best = _most_frequent(A, i, z, frequency, seen, found)
        if best == 0:
            continue
        label = found[int(chance[used] * best)]
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
    """Give each node in turn the first color that no neighbour has; -1 is no color yet."""
    for i in order:
        for t in range(A.indptr[i], A.indptr[i + 1]):
            neighbour = color[A.indices[t]]
            if neighbour >= 0:
                taken_by[neighbour] = i
        first = 0
        while taken_by[first] == i:
            first += 1
        color[i] = first


@njit(cache=True, nogil=True)
def spread_by_color(
    A: CSR, order: Ints, z: Ints, frequency: Floats, seen: Bools, found: Ints
) -> None:
    """Visit the nodes color by color; in a tie a node keeps its label or takes the largest."""
    for i in order:
        best = _most_frequent(A, i, z, frequency, seen, found)
        if best == 0 or (best > 1 and _holds(found, best, z[i])):
            continue
        label = found[0]
        for place in range(1, best):
            label = max(label, found[place])
        z[i] = label


@njit(cache=True, nogil=True)
def has_frequent_labels(A: CSR, z: Ints, frequency: Floats, seen: Bools, found: Ints) -> bool:
    """Whether each node that has neighbours holds one of the most frequent labels around it."""
    for i in range(z.size):
        best = _most_frequent(A, i, z, frequency, seen, found)
        if best > 0 and not _holds(found, best, z[i]):
            return False
    return True
