"""Kernels that build and check symmetric CSR matrices in linear time."""

from typing import Any

import numpy as np
from numba import njit

__all__ = [
    "count_columns",
    "count_entries",
    "fill_columns",
    "fill_lower",
    "fill_permuted",
    "fill_upper",
    "has_symmetric_entries",
    "rows_of_few",
]


@njit(cache=True, nogil=True)
def count_columns(u: Any, v: Any, count: Any) -> None:
    """Add to ``count[b + 1]`` the edges whose larger end is b."""
    for e in range(u.size):
        count[max(u[e], v[e]) + 1] += 1


@njit(cache=True, nogil=True)
def fill_columns(u: Any, v: Any, w: Any, place: Any, low: Any, weight: Any) -> None:
    """Write the smaller end of each edge into the column of its larger one, in input order.

    ``place`` holds the first free slot of each column and is updated.
    """
    weighted = w.size > 0
    for e in range(u.size):
        b = max(u[e], v[e])
        t = place[b]
        place[b] = t + 1
        low[t] = min(u[e], v[e])
        if weighted:
            weight[t] = w[e]


@njit(cache=True, nogil=True)
def count_entries(
    first: int, stop: int, start: Any, low: Any, last: Any, below: Any, above: Any
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


@njit(cache=True, nogil=True)
def fill_upper(
    first: int,
    stop: int,
    start: Any,
    low: Any,
    weight: Any,
    place: Any,
    last: Any,
    indices: Any,
    sums: Any,
    counts: Any,
) -> None:
    """Write the entries from the diagonal on; columns come in ascending order, so rows are sorted.

    ``place`` holds where these entries begin in each row and is updated. ``last`` must hold -1
    for each row, or be empty where there are no parallel edges.
    """
    weighted, counted, merging = sums.size > 0, counts.size > 0, last.size > 0
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


@njit(cache=True, nogil=True)
def fill_lower(
    first: int,
    stop: int,
    indptr: Any,
    diagonal: Any,
    place: Any,
    indices: Any,
    sums: Any,
    counts: Any,
) -> None:
    """Copy each entry right of the diagonal to the lower triangle, row by row.

    ``diagonal`` holds where the entries from the diagonal on begin in each row, ``place`` where the
    row begins; the latter is updated.
    """
    weighted, counted = sums.size > 0, counts.size > 0
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


@njit(cache=True, nogil=True)
def rows_of_few(u: Any, v: Any, start: Any) -> Any:
    """Return bounds, columns and counts of the rows of a matrix whose edges each weigh 1.

    This runs the kernels above one after the other. ``start`` must hold a 0 for each row and one
    more. There are no counts if no edges are parallel.
    """
    n, kind, no_weights = start.size - 1, start.dtype, np.empty(0)
    count_columns(u, v, start)
    for b in range(n):
        start[b + 1] += start[b]
    low = np.empty(u.size, kind)
    fill_columns(u, v, no_weights, start[:-1].copy(), low, no_weights)
    below, above = np.zeros(n, kind), np.zeros(n, kind)
    count_entries(0, n, start, low, np.full(n, -1, kind), below, above)
    indptr, first_above, entries = np.zeros(n + 1, kind), np.empty(n, kind), 0
    for a in range(n):
        first_above[a] = indptr[a] + below[a]
        indptr[a + 1] = first_above[a] + above[a]
        entries += above[a]
    parallel = entries < u.size
    indices = np.empty(indptr[n], kind)
    counts = np.empty(indices.size if parallel else 0, np.int64)
    last = np.full(n if parallel else 0, -1, kind)
    place = first_above.copy()
    fill_upper(0, n, start, low, no_weights, place, last, indices, no_weights, counts)
    fill_lower(0, n, indptr, first_above, indptr[:-1].copy(), indices, no_weights, counts)
    return indptr, indices, counts


@njit(cache=True, nogil=True)
def fill_permuted(
    first: int,
    stop: int,
    order: Any,
    number: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    counts: Any,
    place: Any,
    moved: Any,
    moved_weights: Any,
    moved_counts: Any,
) -> None:
    """Write the entries of a symmetric matrix whose row ``order[i]`` comes to place i, transposed.

    Rows come in ascending order, so that the rows that are written are sorted. ``number`` is the
    inverse of ``order``. ``place`` holds where each new row begins and is updated.
    """
    weighted, counted = weights.size > 0, counts.size > 0
    for i in range(first, stop):
        row = order[i]
        for t in range(indptr[row], indptr[row + 1]):
            c = number[indices[t]]
            slot = place[c]
            place[c] = slot + 1
            moved[slot] = i
            if weighted:
                moved_weights[slot] = weights[t]
            if counted:
                moved_counts[slot] = counts[t]


@njit(cache=True, nogil=True)
def has_symmetric_entries(
    first: int, stop: int, indptr: Any, indices: Any, data: Any, place: Any
) -> bool:
    """Tell whether sorted rows without repeats are those of a symmetric matrix.

    Rows come in ascending order, so the transposed entries in row j come in the order of that row.
    ``place`` holds where each row begins and is updated; an empty ``data`` means equal values.
    """
    valued = data.size > 0
    for i in range(first, stop):
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            mirrored = place[j]
            if mirrored >= indptr[j + 1] or indices[mirrored] != i:
                return False
            if valued and data[mirrored] != data[t]:
                return False
            place[j] = mirrored + 1
    return True
