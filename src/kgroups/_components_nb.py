"""Kernels for connected components, connected groups and the 2-core."""

from typing import Any

import numpy as np
from numba import njit

__all__ = ["connect_groups", "label_components", "peel", "spread"]

# Nodes between two looks at the tally, less 1; a power of two less 1.
_STEP = 4_095


@njit(cache=True, nogil=True)
def peel(indptr: Any, indices: Any, degree: Any, alive: Any) -> None:
    """Remove nodes of degree at most 1 until none is left; `degree` and `alive` change."""
    n = alive.size
    stack = np.empty(n, dtype=np.int64)
    top = 0
    for i in range(n):
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


@njit(cache=True, nogil=True)
def label_components(indptr: Any, indices: Any, group: Any, label: Any, tally: Any) -> int:
    """Label the connected parts of groups in the order of their first nodes.

    Edges between groups do not connect. ``label`` must be filled with -1. A third number of the
    ``tally`` other than 0 ends the work early; the last two count the nodes without a label.
    """
    n = label.size
    stack = np.empty(n, dtype=np.int64)
    count, done = 0, 0
    for root in range(n):
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
                    return count
                if tally.size > 4:
                    tally[3], tally[4] = n - done, n
            for t in range(indptr[i], indptr[i + 1]):
                j = indices[t]
                if label[j] < 0 and group[j] == group[root]:
                    label[j] = count
                    stack[top] = j
                    top += 1
        count += 1
    return count


@njit(cache=True, nogil=True)
def connect_groups(indptr: Any, indices: Any, data: Any, z: Any, n_groups: int, tally: Any) -> None:
    """Make every group connected: its largest piece stays, the others join neighboring groups.

    A piece joins the group to which its edges weigh most, larger pieces first, the lowest group in
    a tie. Pieces that no path leads from to the largest piece of a group stay. Labels are changed
    in place; they have no gaps. One number in ``data`` stands for all weights. A third number of
    the ``tally`` other than 0 ends the work early.
    """
    n, mask = z.size, 0 if data.size == 1 else -1
    piece = np.full(n, -1, dtype=np.int64)
    count = label_components(indptr, indices, z, piece, tally)
    if count == n_groups or tally[2] != 0:
        return
    size, group = np.zeros(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    for i in range(n):
        size[piece[i]] += 1
        group[piece[i]] = z[i]
    by_size = np.argsort(-size, kind="mergesort")
    joined, has_main = np.full(count, -1), np.zeros(n_groups, dtype=np.bool_)
    for c in by_size:
        if not has_main[group[c]]:
            has_main[group[c]] = True
            joined[c] = group[c]
    start = np.zeros(count + 1, dtype=np.int64)
    start[1:] = np.cumsum(size)
    place, members = start[:-1].copy(), np.empty(n, dtype=np.int64)
    for i in range(n):
        members[place[piece[i]]] = i
        place[piece[i]] += 1
    link, touched, found = np.zeros(n_groups), np.empty(n_groups, dtype=np.int64), True
    while found:
        found = False
        for c in by_size:
            if tally[2] != 0:
                return
            if joined[c] >= 0:
                continue
            near = 0
            for i in members[start[c] : start[c + 1]]:
                for t in range(indptr[i], indptr[i + 1]):
                    a = joined[piece[indices[t]]]
                    if a >= 0:
                        if link[a] == 0.0:
                            touched[near] = a
                            near += 1
                        link[a] += data[t & mask]
            best, most = -1, 0.0
            for a in touched[:near]:
                if link[a] > most or (link[a] == most and a < best):
                    best, most = a, link[a]
                link[a] = 0.0
            if best >= 0:
                joined[c], found = best, True
    for i in range(n):
        if joined[piece[i]] >= 0:
            z[i] = joined[piece[i]]


@njit(cache=True, nogil=True)
def spread(indptr: Any, indices: Any, z: Any) -> None:
    """Give each node with label -1 the label of the nearest labeled node, breadth first, in place.

    Ties go to the labeled node that comes first. Nodes that no labeled node reaches keep -1.
    """
    queue, head, tail = np.empty(z.size, dtype=np.int64), 0, 0
    for i in range(z.size):
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
