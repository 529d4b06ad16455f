"""Kernels on levels: coarsening, blocks, intersections of partitions."""

from typing import Any

import numpy as np
from numba import njit

from kgroups._types import CSR, Floats, Indices, Ints
from kgroups.multilevel._moving_nb import weight_mask
from kgroups.multilevel.levels import Level


@njit(cache=True, nogil=True, error_model="numpy")
def renumbered(z: Indices, bound: int) -> tuple[Indices, int]:
    """Return labels 0, 1, ... in the order of first appearance, and how many there are.

    The given labels lie below ``bound``.
    """
    new = np.full(bound, -1, np.int32)
    labels = np.empty(z.size, np.int32)
    k = 0
    for i in range(z.size):
        if new[z[i]] < 0:
            new[z[i]] = k
            k += 1
        labels[i] = new[z[i]]
    return labels, k


@njit(cache=True, nogil=True, error_model="numpy")
def members_of(z: Indices, k: int) -> tuple[Ints, Indices]:
    """Return where the members of each group start, and all members in that order."""
    start = np.zeros(k + 1, np.int64)
    for a in z:
        start[a + 1] += 1
    start = np.cumsum(start)
    place = start[:-1].copy()
    members = np.empty(z.size, np.int32)
    for i in range(z.size):
        members[place[z[i]]] = i
        place[z[i]] += 1
    return start, members


@njit(cache=True, nogil=True, error_model="numpy")
def coarsened(level: Level, z: Indices, k: int, tally: Ints) -> Level:
    """Return the level whose units are the ``k`` groups of labels.

    A third number of the tally other than 0 ends the work early; then the given level is returned.
    """
    if tally[2] != 0:
        return level
    A, mask = level.A, weight_mask(level.A)
    start, members = members_of(z, k)
    indptr = np.zeros(k + 1, A.indptr.dtype)
    indices = np.empty(A.indices.size, A.indices.dtype)
    data: Any = np.empty(A.indices.size, np.float32)
    link, touched = np.zeros(k), np.empty(k + 1, np.int32)
    strength, inner, nodes = np.zeros(k), np.zeros(k), np.zeros(k, np.int64)
    filled = 0
    for a in range(k):
        count = 0
        for i in members[start[a] : start[a + 1]]:
            if tally[2] != 0:
                return level
            strength[a] += level.strength[i]
            inner[a] += level.inner[i]
            nodes[a] += level.nodes[i]
            for t in range(A.indptr[i], A.indptr[i + 1]):
                # Without branches, as in ``move``.
                b, weight = z[A.indices[t]], A.data[t & mask]
                inner[a] += 0.5 * weight if b == a else 0.0
                touched[count] = b
                count += 1 if link[b] == 0.0 and b != a else 0
                link[b] += weight if b != a else 0.0
        for position in range(count):
            b = touched[position]
            indices[filled] = b
            data[filled] = link[b]
            link[b] = 0.0
            filled += 1
        indptr[a + 1] = filled
    # What is not filled of a large array is not in memory: it is copied only if that frees much.
    if 2 * filled >= indices.size:
        return Level(CSR(indptr, indices[:filled], data[:filled]), strength, inner, nodes)
    A = CSR(indptr, indices[:filled].copy(), data[:filled].copy())
    return Level(A, strength, inner, nodes)


@njit(cache=True, nogil=True, error_model="numpy")
def block_pattern(A: CSR, first: int, last: int) -> tuple[Indices, Indices]:
    """Return bounds and columns of a block of rows that are linked to no others."""
    low, high = A.indptr[first], A.indptr[last]
    indptr, indices = A.indptr[first : last + 1].copy(), A.indices[low:high].copy()
    for i in range(indptr.size):
        indptr[i] -= low
    for t in range(indices.size):
        indices[t] -= first
    return indptr, indices


@njit(cache=True, nogil=True, error_model="numpy")
def block_arrays(
    level: Level, first: int, last: int
) -> tuple[Indices, Indices, Any, Floats, Floats, Ints]:
    """Return the arrays of :func:`block_level`, for a caller in Python."""
    A = level.A
    if first == 0 and last == level.nodes.size:
        return A.indptr, A.indices, A.data, level.strength, level.inner, level.nodes
    indptr, indices = block_pattern(A, first, last)
    low, high = A.indptr[first], A.indptr[last]
    data = A.data.copy() if weight_mask(A) == 0 else A.data[low:high].copy()
    return (
        indptr,
        indices,
        data,
        level.strength[first:last].copy(),
        level.inner[first:last].copy(),
        level.nodes[first:last].copy(),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def block_level(level: Level, first: int, last: int) -> Level:
    """Return the level of the units from ``first`` to before ``last``, linked to no others."""
    indptr, indices, data, strength, inner, nodes = block_arrays(level, first, last)
    return Level(CSR(indptr, indices, data), strength, inner, nodes)


@njit(cache=True, nogil=True, error_model="numpy")
def intersection(z: Indices, y: Indices, k: int) -> tuple[Indices, int]:
    """Return the groups that two partitions both keep together, and their number.

    ``k`` is the number of groups of ``z``; labels of ``y`` lie below the number of units.
    """
    start, members = members_of(z, k)
    cells = np.empty(z.size, np.int32)
    owner, cell_of = np.full(z.size, -1, np.int32), np.empty(z.size, np.int32)
    count = 0
    for a in range(k):
        for i in members[start[a] : start[a + 1]]:
            b = y[i]
            if owner[b] != a:
                owner[b] = a
                cell_of[b] = count
                count += 1
            cells[i] = cell_of[b]
    return cells, count
