"""Symmetric CSR matrices: building them from edges, merging parallel edges, permuting rows."""

from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import ENTRIES_AT_ONCE, index_type, row_ranges, writable
from kgroups._progress import begin_stage, tell_share
from kgroups._symmetric_csr_nb import (
    count_columns,
    count_entries,
    fill_columns,
    fill_lower,
    fill_permuted,
    fill_upper,
    has_symmetric_entries,
)
from kgroups._types import Floats, Indices, Ints

FEW_EDGES = 1 << 15
"""Up to this many edges are sorted, in 2 ms on most graphs; more are counted by kernels."""

_NO_VALUES = np.empty(0)
_NO_COUNTS = np.empty(0, np.int64)
# The stage, and the shares of its time after edges are counted and after they are grouped.
_BUILDING = "building the matrix"
_COUNTED, _GROUPED = 0.1, 0.4


class Rows(NamedTuple):
    """Sorted rows of a symmetric matrix; the values are ``None`` where all of them are 1."""

    indptr: Indices
    indices: Indices
    weights: Floats | None
    multiplicity: Ints | None


class Columns(NamedTuple):
    """Edges grouped by their larger end: one triangle, with parallel edges not merged yet.

    The smaller ends of column b are ``low[start[b] : start[b + 1]]``; ``weight`` holds their
    weights, or is ``None`` where all of them are 1.
    """

    start: Indices
    low: Indices
    weight: Floats | None


def rows_of_edges(
    u: Indices, v: Indices, w: Floats | None, n: int, *, few_edges: int = FEW_EDGES
) -> Rows:
    """Build the matrix of ``n`` rows from edges between valid row indices.

    Parallel edges are added in input order, whether edges are many or few.
    """
    if u.size > few_edges:
        return rows_of_columns(columns_of_edges(u, v, w, n))
    return _rows_by_sorting(u, v, w, n)


def columns_of_edges(
    u: Indices, v: Indices, w: Floats | None, n: int, *, at_once: int = ENTRIES_AT_ONCE
) -> Columns:
    """Group edges by their larger end in two passes; the edges can be freed afterwards."""
    kind = index_type(n, 2 * u.size)
    weighted = w is not None and not np.all(w == 1)
    start = np.zeros(n + 1, kind)
    parts = [slice(begin, begin + at_once) for begin in range(0, u.size, at_once)]
    if len(parts) > 1:
        begin_stage(_BUILDING)
    for part in parts:
        count_columns(_integers(u[part]), _integers(v[part]), start)
        tell_share(_COUNTED * part.start, u.size)
    np.cumsum(start, out=start, dtype=kind)
    low = np.empty(u.size, kind)
    weight = np.empty(u.size if weighted else 0)
    values, place = w if w is not None and weighted else _NO_VALUES, start[:-1].copy()
    for part in parts:
        given = writable(values[part])
        fill_columns(_integers(u[part]), _integers(v[part]), given, place, low, weight)
        tell_share(_COUNTED * u.size + (_GROUPED - _COUNTED) * part.start, u.size)
    return Columns(start, low, weight if weighted else None)


def rows_of_columns(
    columns: Columns, *, binary: bool = False, at_once: int = ENTRIES_AT_ONCE
) -> Rows:
    """Merge parallel edges, adding them in input order, and fill both triangles.

    If ``binary``, every entry is one edge of weight 1.
    """
    start, low, weight = columns
    n, kind = start.size - 1, start.dtype
    below, above = np.zeros((2, n), kind)
    last = np.full(n, -1, kind)
    parts = row_ranges(start, at_once)
    # Each of the three passes below takes about as long.
    share = (1.0 - _GROUPED) / (3.0 * max(n, 1))
    for first, stop in parts:
        count_entries(first, stop, start, low, last, below, above)
        tell_share(_GROUPED + share * stop, 1.0)
    parallel = int(above.sum(dtype=np.int64)) < low.size
    indptr = np.zeros(n + 1, kind)
    np.cumsum(below + above, out=indptr[1:], dtype=kind)
    first_above = indptr[:-1] + below
    weighted, counted = weight is not None and not binary, parallel and not binary
    indices = np.empty(indptr[-1], kind)
    sums = np.empty(indices.size if weighted else 0)
    counts = np.empty(indices.size if counted else 0, np.int64)
    last = np.full(n if parallel else 0, -1, kind)
    given, place = _NO_VALUES if weight is None else weight, first_above.copy()
    for first, stop in parts:
        fill_upper(first, stop, start, low, given, place, last, indices, sums, counts)
        tell_share(_GROUPED + share * (n + stop), 1.0)
    place = indptr[:-1].copy()
    for first, stop in row_ranges(indptr, at_once):
        fill_lower(first, stop, indptr, first_above, place, indices, sums, counts)
        tell_share(_GROUPED + share * (2 * n + stop), 1.0)
    return _with_values(indptr, indices, sums if weighted else None, counts if counted else None)


def is_symmetric(
    indptr: Indices, indices: Indices, data: Floats | None, *, few_edges: int = FEW_EDGES
) -> bool:
    """Tell whether sorted rows form a symmetric matrix; without data all entries are equal."""
    n = indptr.size - 1
    if indices.size > few_edges:
        rows, place = (writable(indptr), writable(indices)), indptr[:-1].copy()
        values = _NO_VALUES if data is None else writable(data)
        for first, stop in row_ranges(indptr, ENTRIES_AT_ONCE):
            if not has_symmetric_entries(first, stop, *rows, values, place):
                return False
            tell_share(stop, n)
        return True
    row, column = _short(np.repeat(np.arange(n), np.diff(indptr)), n), _short(indices, n)
    order = np.argsort(column, kind="stable")
    return (
        np.array_equal(column[order], row)
        and np.array_equal(row[order], column)
        and (data is None or np.array_equal(data[order], data))
    )


def permuted_rows(rows: Rows, order: Ints) -> Rows:
    """Return the symmetric matrix with row ``order[i]`` in place ``i``."""
    indptr, indices, weights, counts = rows
    n, kind = order.size, indices.dtype
    number = np.empty(n, kind)
    number[order] = np.arange(n, dtype=kind)
    starts = np.zeros(n + 1, kind)
    np.cumsum(np.diff(indptr)[order], out=starts[1:], dtype=kind)
    place, moved = starts[:-1].copy(), np.empty_like(indices)
    given = (
        _NO_VALUES if weights is None else writable(weights),
        _NO_COUNTS if counts is None else writable(counts),
    )
    values = np.empty_like(given[0]), np.empty_like(given[1])
    matrix = _integers(order), number, writable(indptr), writable(indices), *given
    for first, stop in row_ranges(starts, ENTRIES_AT_ONCE):
        fill_permuted(first, stop, *matrix, place, moved, *values)
    return Rows(
        starts,
        moved,
        None if weights is None else values[0],
        None if counts is None else values[1],
    )


def _integers(array: Indices) -> Ints:
    """Return the numbers in the one type that kernels take the ends of edges in."""
    return writable(array.astype(np.int64, copy=False))  # type: ignore[no-any-return]


def _short(array: Indices, n: int) -> Any:
    """Return numbers below ``n`` in 16 bits if they fit, which numpy sorts in linear time."""
    return array.astype(np.uint16 if n <= 1 << 16 else np.int64)


def _with_values(
    indptr: Indices, indices: Indices, sums: Floats | None, counts: Ints | None
) -> Rows:
    if sums is None and counts is not None:
        sums = counts.astype(float)
    return Rows(indptr, indices, sums, counts)


def _rows_by_sorting(u: Indices, v: Indices, w: Floats | None, n: int) -> Rows:
    kind = index_type(n, 2 * u.size)
    low, high = _short(np.minimum(u, v), n), _short(np.maximum(u, v), n)
    no_loop = np.flatnonzero(low != high)
    # One triangle after the other, so that both hold the same sums of parallel edges.
    row, column = np.concatenate([low, high[no_loop]]), np.concatenate([high, low[no_loop]])
    order = np.lexsort((column, row))
    row, column = row[order], column[order]
    sums = None
    if w is not None and not np.all(w == 1):
        sums = np.concatenate([w, w[no_loop]])[order]
    first = np.ones(row.size, np.bool_)
    first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    counts = None
    if not first.all():
        entry = np.cumsum(first) - 1
        row, column, counts = row[first], column[first], np.bincount(entry)
        sums = None if sums is None else np.bincount(entry, weights=sums)
    indptr = np.zeros(n + 1, kind)
    np.cumsum(np.bincount(row, minlength=n), out=indptr[1:], dtype=kind)
    return _with_values(indptr, column.astype(kind), sums, counts)
