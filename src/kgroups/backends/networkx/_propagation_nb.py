"""Kernels of label propagation: bare arrays in, labels changed in place.

``frequency`` and ``found`` are work arrays with a number for each label, and ``seen`` with a mark
for each, which is false before and after.
"""

from kgroups._kernel import kernel
from kgroups._types import Bools, Floats, Indices, Ints

__all__ = [
    "color_greedily",
    "has_frequent_labels",
    "spread_by_color",
    "spread_once",
    "spread_queue",
]


def _most_frequent(
    indptr: Indices, indices: Indices, data: Floats, i: int, z: Ints, frequency: Floats,
    seen: Bools, found: Ints,
) -> int:
    """Write the most frequent labels around node i to the front of ``found``; return how many."""
    count = 0
    for t in range(indptr[i], indptr[i + 1]):
        label = z[indices[t]]
        if not seen[label]:
            seen[label] = True
            frequency[label] = 0.0
            found[count] = label
            count += 1
        frequency[label] += data[t]
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


def _holds(found: Ints, count: int, label: int) -> bool:
    for place in range(count):  # noqa: SIM110  (numba compiles no generator)
        if found[place] == label:
            return True
    return False


@kernel(seconds=0.36)
def spread_once(
    indptr: Indices, indices: Indices, data: Floats, order: Ints, chance: Floats, z: Ints,
    frequency: Floats, seen: Bools, found: Ints,
) -> int:
    """Visit each node once; return how many took a new label, drawn among the most frequent."""
    changed = 0
    for place in range(len(order)):
        i = order[place]
        best = _most_frequent(indptr, indices, data, i, z, frequency, seen, found)
        if best > 0 and not _holds(found, best, z[i]):
            z[i] = found[int(chance[place] * best)]
            changed += 1
    return changed


@kernel(seconds=0.51)
def spread_queue(
    indptr: Indices, indices: Indices, data: Floats, chance: Floats, state: Ints, queue: Ints,
    waiting: Bools, z: Ints, frequency: Floats, seen: Bools, found: Ints,
) -> None:
    """Visit queued nodes until none is left or the draws are used up.

    ``state`` holds where the queue starts and how many wait in it. A node always draws among the
    most frequent labels; if its label changes, its neighbors with other labels go to the end of
    the queue.
    """
    n = len(z)
    start = state[0]
    length = state[1]
    for used in range(len(chance)):
        if length == 0:
            break
        i = queue[start]
        start = (start + 1) % n
        length -= 1
        waiting[i] = False
        best = _most_frequent(indptr, indices, data, i, z, frequency, seen, found)
        if best == 0:
            continue
        label = found[int(chance[used] * best)]
        if label == z[i]:
            continue
        z[i] = label
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            if z[j] != label and not waiting[j]:
                queue[(start + length) % n] = j
                length += 1
                waiting[j] = True
    state[0] = start
    state[1] = length


@kernel(seconds=0.1)
def color_greedily(
    indptr: Indices, indices: Indices, order: Ints, color: Ints, taken_by: Ints
) -> None:
    """Give each node in turn the first color that no neighbor has; -1 is no color yet."""
    for place in range(len(order)):
        i = order[place]
        for t in range(indptr[i], indptr[i + 1]):
            neighbor = color[indices[t]]
            if neighbor >= 0:
                taken_by[neighbor] = i
        first = 0
        while taken_by[first] == i:
            first += 1
        color[i] = first


@kernel(seconds=0.34)
def spread_by_color(
    indptr: Indices, indices: Indices, data: Floats, order: Ints, z: Ints, frequency: Floats,
    seen: Bools, found: Ints,
) -> None:
    """Visit the nodes color by color; in a tie a node keeps its label or takes the largest."""
    for visit in range(len(order)):
        i = order[visit]
        best = _most_frequent(indptr, indices, data, i, z, frequency, seen, found)
        if best == 0 or (best > 1 and _holds(found, best, z[i])):
            continue
        label = found[0]
        for place in range(1, best):
            label = max(label, found[place])
        z[i] = label


@kernel(seconds=0.35)
def has_frequent_labels(
    indptr: Indices, indices: Indices, data: Floats, z: Ints, frequency: Floats, seen: Bools,
    found: Ints,
) -> bool:
    """Whether each node that has neighbors holds one of the most frequent labels around it."""
    for i in range(len(z)):
        best = _most_frequent(indptr, indices, data, i, z, frequency, seen, found)
        if best > 0 and not _holds(found, best, z[i]):
            return False
    return True
