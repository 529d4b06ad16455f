"""Kernels on matrices in compressed sparse rows: components, cores, labels and building."""

from kgroups._kernel import kernel
from kgroups._progress import LEFT, STOP, TOTAL
from kgroups._types import Bools, Floats, Indices, Ints

__all__ = [
    "count_entries", "fill_columns", "fill_lower", "fill_upper", "label_components", "peel",
    "spread",
]

# Nodes between two checks of the stop flag, less 1; a power of two less 1.
_STEP = 4_095


@kernel(seconds=0.13)
def peel(indptr: Indices, indices: Indices, degree: Ints, alive: Bools, stack: Ints) -> None:
    """Remove nodes of degree at most 1 until none is left; `degree` and `alive` change."""
    top = 0
    for i in range(len(alive)):
        if degree[i] <= 1:
            alive[i] = False
            stack[top] = i
            top += 1
    while top > 0:
        top -= 1
        i = stack[top]
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            if alive[j]:
                degree[j] -= 1
                if degree[j] <= 1:
                    alive[j] = False
                    stack[top] = j
                    top += 1


@kernel(seconds=0.22)
def label_components(
    indptr: Indices, indices: Indices, offsets: Ints, which: Ints, group: Indices, label: Indices,
    counts: Ints, stack: Indices, control: Ints,
) -> None:
    """Label the connected parts of groups in the order of their first nodes, and count them.

    Edges between groups do not connect. Labels start from 0 in each of the blocks ``which``, which
    are not linked and start at ``offsets``. A flag in ``control[STOP]`` ends the work early;
    ``control[LEFT]`` counts the nodes without a label.
    """
    for position in range(len(which)):
        c = which[position]
        first = offsets[c]
        last = offsets[c + 1]
        for i in range(first, last):
            label[i] = -1
        count = 0
        done = 0
        for root in range(first, last):
            if label[root] >= 0:
                continue
            label[root] = count
            stack[0] = root
            top = 1
            while top > 0:
                top -= 1
                i = stack[top]
                done += 1
                if done & _STEP == 0:
                    if control[STOP] != 0:
                        return
                    control[LEFT] = last - first - done
                    control[TOTAL] = last - first
                for t in range(indptr[i], indptr[i + 1]):
                    j = indices[t]
                    if label[j] < 0 and group[j] == group[root]:
                        label[j] = count
                        stack[top] = j
                        top += 1
            count += 1
        counts[c] = count


@kernel(seconds=0.13)
def spread(indptr: Indices, indices: Indices, z: Ints, queue: Ints) -> None:
    """Give each node with label -1 the label of the nearest labeled node, breadth first, in place.

    Ties go to the labeled node that comes first. Nodes that no labeled node reaches keep -1.
    """
    head = 0
    tail = 0
    for i in range(len(z)):
        if z[i] < 0:
            continue
        for t in range(indptr[i], indptr[i + 1]):
            if z[indices[t]] < 0:
                queue[tail] = i
                tail += 1
                break
    while head < tail:
        i = queue[head]
        head += 1
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            if z[j] < 0:
                z[j] = z[i]
                queue[tail] = j
                tail += 1


@kernel(seconds=0.2)
def fill_columns(u: Ints, v: Ints, w: Floats, place: Indices, low: Indices, weight: Floats) -> None:
    """Write the smaller end of each edge into the column of its larger one, in input order.

    ``place`` holds the first free slot of each column and is updated.
    """
    weighted = len(w) > 0
    for e in range(len(u)):
        b = max(u[e], v[e])
        t = place[b]
        place[b] = t + 1
        low[t] = min(u[e], v[e])
        if weighted:
            weight[t] = w[e]


@kernel(seconds=0.1)
def count_entries(
    first: int, stop: int, start: Indices, low: Indices, last: Indices, below: Indices,
    above: Indices,
) -> None:
    """Count the entries of each row left of its diagonal, and from the diagonal on.

    This is done for the columns from ``first`` to before ``stop``; all kernels here that have these
    arguments are called for consecutive ranges. Parallel edges are one entry. ``last`` must hold -1
    for each row in the beginning.
    """
    for b in range(first, stop):
        for t in range(start[b], start[b + 1]):
            a = low[t]
            if last[a] != b:
                last[a] = b
                above[a] += 1
                if a != b:
                    below[b] += 1


@kernel(seconds=0.25)
def fill_upper(
    first: int, stop: int, start: Indices, low: Indices, weight: Floats, place: Indices,
    last: Indices, indices: Indices, sums: Floats, counts: Ints,
) -> None:
    """Write the entries from the diagonal on; columns come in ascending order, so rows are sorted.

    ``place`` holds where these entries begin in each row and is updated. ``last`` must hold -1
    for each row, or be empty where there are no parallel edges.
    """
    weighted, counted, merging = len(sums) > 0, len(counts) > 0, len(last) > 0
    for b in range(first, stop):
        for t in range(start[b], start[b + 1]):
            a = low[t]
            slot = place[a]
            if merging:
                if last[a] == b:
                    if counted:
                        counts[slot - 1] += 1
                    if weighted:
                        sums[slot - 1] += weight[t]
                    continue
                last[a] = b
            place[a] = slot + 1
            indices[slot] = b
            if counted:
                counts[slot] = 1
            if weighted:
                sums[slot] = weight[t]


@kernel(seconds=0.17)
def fill_lower(
    first: int, stop: int, indptr: Indices, diagonal: Indices, place: Indices, indices: Indices,
    sums: Floats, counts: Ints,
) -> None:
    """Copy each entry right of the diagonal to the lower triangle, row by row.

    ``diagonal`` holds where the entries from the diagonal on begin in each row, ``place`` where the
    row begins; the latter is updated.
    """
    weighted, counted = len(sums) > 0, len(counts) > 0
    for a in range(first, stop):
        for t in range(diagonal[a], indptr[a + 1]):
            b = indices[t]
            if b == a:
                continue
            slot = place[b]
            place[b] = slot + 1
            indices[slot] = a
            if weighted:
                sums[slot] = sums[t]
            if counted:
                counts[slot] = counts[t]
