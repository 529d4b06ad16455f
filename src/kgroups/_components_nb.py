"""Kernels for connected components, the 2-core, and labels that spread along edges."""

from kgroups._kernel import kernel
from kgroups._types import Bools, Indices, Ints

__all__ = ["label_components", "peel", "spread"]

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
    counts: Ints, stack: Indices, tally: Ints,
) -> None:
    """Label the connected parts of groups in the order of their first nodes, and count them.

    Edges between groups do not connect. Labels start from 0 in each of the blocks ``which``, which
    are not linked and start at ``offsets``. A flag in ``tally[2]`` ends the work early; the last
    two numbers count the nodes without a label.
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
                    if tally[2] != 0:
                        return
                    tally[3] = last - first - done
                    tally[4] = last - first
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
