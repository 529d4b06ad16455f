"""Symmetric CSR matrices: building them from edges, merging parallel edges, permuting rows."""

import sys
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import ENTRIES_AT_ONCE, index_type, readonly_view, row_ranges
from kgroups._progress import begin_stage, tell_share
from kgroups._types import Floats, Indices, Ints

FEW_EDGES = 1 << 15
"""Up to this many edges scipy does the work: it is done before compiled kernels are loaded."""

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
    """Build the matrix of ``n`` rows from edges between valid row indices."""
    if u.size > few_edges:
        return rows_of_columns(columns_of_edges(u, v, w, n))
    # Kernels are faster once numba is loaded. Few weighted edges always go through scipy, so that
    # sums of parallel edges do not depend on what was loaded before.
    if w is not None or "numba" not in sys.modules:
        return _rows_by_scipy(u, v, w, n)
    from kgroups._symmetric_csr_nb import rows_of_few

    first, second = (readonly_view(end.astype(np.int64, copy=False)) for end in (u, v))
    start = np.zeros(n + 1, index_type(n, 2 * u.size))
    indptr, indices, counts = rows_of_few(first, second, start)
    return _with_values(indptr, indices, None, counts if counts.size else None)


def columns_of_edges(
    u: Indices, v: Indices, w: Floats | None, n: int, *, at_once: int = ENTRIES_AT_ONCE
) -> Columns:
    """Group edges by their larger end in two passes; the edges can be freed afterwards."""
    from kgroups._symmetric_csr_nb import count_columns, fill_columns

    kind = index_type(n, 2 * u.size)
    ends = _kernel_view(u), _kernel_view(v)
    weighted = w is not None and not np.all(w == 1)
    start = np.zeros(n + 1, kind)
    parts = [slice(begin, begin + at_once) for begin in range(0, u.size, at_once)]
    if len(parts) > 1:
        begin_stage(_BUILDING)
    for part in parts:
        count_columns(ends[0][part], ends[1][part], start)
        tell_share(_COUNTED * part.start, u.size)
    np.cumsum(start, out=start, dtype=kind)
    low = np.empty(u.size, kind)
    weight = np.empty(u.size if weighted else 0)
    values, place = _kernel_view(w if weighted else _NO_VALUES), start[:-1].copy()
    for part in parts:
        fill_columns(ends[0][part], ends[1][part], values[part], place, low, weight)
        tell_share(_COUNTED * u.size + (_GROUPED - _COUNTED) * part.start, u.size)
    return Columns(start, low, weight if weighted else None)


def rows_of_columns(
    columns: Columns, *, binary: bool = False, at_once: int = ENTRIES_AT_ONCE
) -> Rows:
    """Merge parallel edges, adding them in input order, and fill both triangles.

    If ``binary``, every entry is one edge of weight 1.
    """
    from kgroups._symmetric_csr_nb import count_entries, fill_lower, fill_upper

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
    if indices.size > few_edges:
        from kgroups._symmetric_csr_nb import has_symmetric_entries

        values, place = _NO_VALUES if data is None else data, indptr[:-1].copy()
        for first, stop in row_ranges(indptr, ENTRIES_AT_ONCE):
            if not has_symmetric_entries(first, stop, indptr, indices, values, place):
                return False
            tell_share(stop, indptr.size - 1)
        return True
    from scipy import sparse

    n = indptr.size - 1
    values = np.ones(indices.size) if data is None else data
    turned = sparse.csr_array((values, indices, indptr), shape=(n, n)).T.tocsr()
    return (
        np.array_equal(indptr, turned.indptr)
        and np.array_equal(indices, turned.indices)
        and np.array_equal(values, turned.data)
    )


def permuted_rows(rows: Rows, order: Ints) -> Rows:
    """Return the symmetric matrix with row ``order[i]`` in place ``i``."""
    from kgroups._symmetric_csr_nb import fill_permuted

    indptr, indices, weights, counts = rows
    n, kind = order.size, indices.dtype
    number = np.empty(n, kind)
    number[order] = np.arange(n, dtype=kind)
    starts = np.zeros(n + 1, kind)
    np.cumsum(np.diff(indptr)[order], out=starts[1:], dtype=kind)
    place, moved = starts[:-1].copy(), np.empty_like(indices)
    given = (
        _kernel_view(_NO_VALUES if weights is None else weights),
        _kernel_view(_NO_COUNTS if counts is None else counts),
    )
    values = np.empty_like(given[0]), np.empty_like(given[1])
    matrix = _kernel_view(order), number, _kernel_view(indptr), _kernel_view(indices), *given
    for first, stop in row_ranges(starts, ENTRIES_AT_ONCE):
        fill_permuted(first, stop, *matrix, place, moved, *values)
    return Rows(
        starts,
        moved,
        None if weights is None else values[0],
        None if counts is None else values[1],
    )


def _kernel_view(array: Any) -> Any:
    """Return a read-only view of one of the few types that kernels are compiled for."""
    if array.dtype not in (np.int32, np.int64, np.float64):
        array = array.astype(np.int64)
    return readonly_view(array)


def _with_values(
    indptr: Indices, indices: Indices, sums: Floats | None, counts: Ints | None
) -> Rows:
    if sums is None and counts is not None:
        sums = counts.astype(float)
    return Rows(indptr, indices, sums, counts)


def _rows_by_scipy(u: Indices, v: Indices, w: Floats | None, n: int) -> Rows:
    from scipy import sparse

    kind = index_type(n, 2 * u.size)
    # One triangle only, so that both directions of parallel edges hold the same sum.
    ends = (np.minimum(u, v).astype(kind), np.maximum(u, v).astype(kind))

    def upper(values: Any) -> Any:
        return sparse.coo_array((values, ends), shape=(n, n)).tocsr()

    weighted = w is not None and not np.all(w == 1)
    triangle = upper(w if weighted else np.ones(u.size, np.int32))
    # Positions from 1 on, because scipy drops zeros where it combines two matrices.
    positions = np.arange(1, triangle.nnz + 1)
    numbered = sparse.csr_array((positions, triangle.indices, triangle.indptr), shape=(n, n))
    both = numbered.maximum(numbered.T.tocsr())
    source = both.data - 1
    counts = None
    if triangle.nnz < u.size:
        single = upper(np.ones(u.size, np.int32)) if weighted else triangle
        counts = single.data.astype(np.int64)[source]
    return _with_values(
        both.indptr, both.indices, triangle.data[source] if weighted else None, counts
    )
