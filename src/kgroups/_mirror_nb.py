"""Kernels that sort edges into the rows of a symmetric matrix by counting, with bare arrays."""

from typing import Any

from numba import njit

__all__ = [
    "count_columns",
    "count_entries",
    "fill_columns",
    "fill_lower",
    "fill_upper",
    "find_diagonal",
    "permute",
]


@njit(cache=True, nogil=True)
def count_columns(u: Any, v: Any, count: Any) -> None:
    """Add to ``count[b + 1]`` the edges whose larger end is b."""
    for e in range(u.size):
        count[max(u[e], v[e]) + 1] += 1


@njit(cache=True, nogil=True)
def fill_columns(u: Any, v: Any, w: Any, place: Any, low: Any, weight: Any) -> None:
    """Write the smaller end of each edge into the column of its larger one, in input order.

    ``place`` holds the first free slot of each column and is moved on.
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
def count_entries(start: Any, low: Any, last: Any, below: Any, above: Any) -> None:
    """Count the entries of each row left of its diagonal, and from the diagonal on.

    Parallel edges are one entry. ``last`` must hold -1 for each row.
    """
    for b in range(start.size - 1):
        for t in range(start[b], start[b + 1]):
            a = low[t]
            if last[a] != b:
                last[a] = b
                above[a] += 1
                if a != b:
                    below[b] += 1


@njit(cache=True, nogil=True)
def fill_upper(
    start: Any, low: Any, weight: Any, place: Any, last: Any, indices: Any, sums: Any, counts: Any
) -> None:
    """Write the entries from the diagonal on; columns come in rising order, so rows are sorted.

    ``place`` holds where these entries begin in each row and is moved on. ``last`` must hold -1
    for each row, or be empty where there are no parallel edges.
    """
    weighted, counted, merging = sums.size > 0, counts.size > 0, last.size > 0
    for b in range(start.size - 1):
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
def fill_lower(indptr: Any, first: Any, place: Any, indices: Any, sums: Any, counts: Any) -> None:
    """Copy each entry right of the diagonal to its twin; rows come in rising order.

    ``first`` holds where the entries from the diagonal on begin in each row, ``place`` where the
    row begins; the latter is moved on.
    """
    weighted, counted = sums.size > 0, counts.size > 0
    for a in range(indptr.size - 1):
        for t in range(first[a], indptr[a + 1]):
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
def find_diagonal(indptr: Any, indices: Any, slots: Any) -> None:
    """Write where each row holds its diagonal entry, or -1, by bisection."""
    for i in range(slots.size):
        low, high = indptr[i], indptr[i + 1]
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < i:
                low = middle + 1
            else:
                high = middle
        slots[i] = low if low < indptr[i + 1] and indices[low] == i else -1


@njit(cache=True, nogil=True)
def permute(
    indptr: Any,
    indices: Any,
    weights: Any,
    counts: Any,
    order: Any,
    number: Any,
    place: Any,
    moved: Any,
    moved_weights: Any,
    moved_counts: Any,
) -> None:
    """Write each entry of a symmetric matrix where its twin goes when row ``order[i]`` becomes i.

    Rows come in their new order, so that new rows are sorted. ``number`` is the inverse of
    ``order``; ``place`` holds where each new row begins and is moved on.
    """
    weighted, counted = weights.size > 0, counts.size > 0
    for i in range(order.size):
        for t in range(indptr[order[i]], indptr[order[i] + 1]):
            j = number[indices[t]]
            slot = place[j]
            place[j] = slot + 1
            moved[slot] = i
            if weighted:
                moved_weights[slot] = weights[t]
            if counted:
                moved_counts[slot] = counts[t]
