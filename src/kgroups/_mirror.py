"""Both triangles of a symmetric matrix from edges, parallel ones merged."""

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kgroups._types import Floats, Indices, Ints, index_type

if TYPE_CHECKING:
    from scipy import sparse

__all__ = [
    "Columns",
    "Rows",
    "are_few",
    "columns_of_edges",
    "diagonal_slots",
    "pattern_of_columns",
    "permuted_rows",
    "rows_of_columns",
    "rows_of_edges",
]

_FEW_EDGES = 1 << 15
_NONE = np.empty(0)
_NO_COUNTS = np.empty(0, np.int64)


def diagonal_slots(indptr: Indices, indices: Indices) -> Ints:
    """Return the positions of the diagonal entries of sorted rows."""
    n = indptr.size - 1
    if are_few(indices.size):
        return np.flatnonzero(indices == np.repeat(np.arange(n), np.diff(indptr)))
    from kgroups._mirror_nb import find_diagonal

    slots = np.empty(n, np.int64)
    find_diagonal(_readonly(indptr), _readonly(indices), slots)
    return slots[slots >= 0]


class Rows(NamedTuple):
    """Sorted rows of a symmetric matrix; the values are ``None`` where all of them are 1."""

    indptr: Indices
    indices: Indices
    weights: Floats | None
    multiplicity: Ints | None


class Columns(NamedTuple):
    """Edges gathered by their larger end: half of a matrix, parallel edges not merged yet.

    ``low`` has the smaller ends, those of column b from ``start[b]`` to ``start[b + 1]``, and
    ``weight`` the weights beside them, or ``None`` where all of them are 1.
    """

    start: Indices
    low: Indices
    weight: Floats | None


def are_few(edges: int, *, weighted: bool = True) -> bool:
    """Whether scipy makes rows of so many edges sooner than compiled kernels are loaded.

    Kernels are the faster way once numba is there. With weights scipy serves small graphs always,
    so that sums of parallel edges do not depend on what was loaded before.
    """
    return edges <= _FEW_EDGES and (weighted or "numba" not in sys.modules)


def rows_of_edges(u: Indices, v: Indices, w: Floats | None, n: int) -> Rows:
    """Build the matrix of ``n`` rows of edges between row indices that were checked before."""
    if are_few(u.size, weighted=w is not None):
        return _rows_of_few(u, v, w, n)
    return rows_of_columns(columns_of_edges(u, v, w, n))


def columns_of_edges(u: Indices, v: Indices, w: Floats | None, n: int) -> Columns:
    """Gather edges by their larger end in two passes; afterwards the edges are not needed."""
    from kgroups._mirror_nb import count_columns, fill_columns

    kind = index_type(n, 2 * u.size)
    ends = _readonly(u), _readonly(v)
    weighted = w is not None and not np.all(w == 1)
    start = np.zeros(n + 1, kind)
    count_columns(*ends, start)
    np.cumsum(start, out=start, dtype=kind)
    low = np.empty(u.size, kind)
    weight = np.empty(u.size if weighted else 0)
    fill_columns(*ends, _readonly(w if weighted else _NONE), start[:-1].copy(), low, weight)
    return Columns(start, low, weight if weighted else None)


def rows_of_columns(columns: Columns) -> Rows:
    """Merge parallel edges, adding them in input order, and mirror the triangle."""
    space = _Space(columns)
    weighted, merged = columns.weight is not None, space.entries < columns.low.size
    sums = np.empty(space.indices.size if weighted else 0)
    counts = np.empty(space.indices.size if merged else 0, np.int64)
    space.fill(columns, sums, counts)
    return _with_values(
        space.indptr, space.indices, sums if weighted else None, counts if merged else None
    )


def pattern_of_columns(columns: Columns) -> Rows:
    """Mirror the triangle without values: every entry is one edge of weight 1."""
    space = _Space(columns)
    space.fill(columns, _NONE, _NO_COUNTS)
    return Rows(space.indptr, space.indices, None, None)


class _Space:
    """Where the entries of a matrix go: rows of the right length, not filled yet."""

    def __init__(self, columns: Columns) -> None:
        from kgroups._mirror_nb import count_entries

        start, low, _ = columns
        n = start.size - 1
        below, above = np.zeros((2, n), start.dtype)
        count_entries(start, low, np.full(n, -1, start.dtype), below, above)
        self.entries = int(above.sum(dtype=np.int64))
        self.indptr = np.zeros(n + 1, start.dtype)
        np.cumsum(below + above, out=self.indptr[1:], dtype=start.dtype)
        self.indices = np.empty(self.indptr[-1], start.dtype)
        self._first = self.indptr[:-1] + below

    def fill(self, columns: Columns, sums: Floats, counts: Ints) -> None:
        """Write the columns of the entries, and values where the arrays for them have room."""
        from kgroups._mirror_nb import fill_lower, fill_upper

        start, low, weight = columns
        n, merged = start.size - 1, self.entries < low.size
        last = np.full(n if merged else 0, -1, start.dtype)
        given = _NONE if weight is None else weight
        fill_upper(start, low, given, self._first.copy(), last, self.indices, sums, counts)
        place = self.indptr[:-1].copy()
        fill_lower(self.indptr, self._first, place, self.indices, sums, counts)


def permuted_rows(rows: Rows, order: Ints) -> Rows:
    """Return the symmetric matrix with row ``order[i]`` in place ``i``."""
    if are_few(rows.indices.size):
        return _permuted_few(rows, order)
    from kgroups._mirror_nb import permute

    indptr, indices, weights, counts = rows
    number = np.empty(order.size, indices.dtype)
    number[order] = np.arange(order.size, dtype=indices.dtype)
    moved = np.zeros_like(indptr)
    np.cumsum(np.diff(indptr)[order], out=moved[1:], dtype=moved.dtype)
    columns = np.empty_like(indices)
    moved_weights = None if weights is None else np.empty_like(weights)
    moved_counts = None if counts is None else np.empty_like(counts)
    permute(
        _readonly(indptr),
        _readonly(indices),
        _readonly(_NONE if weights is None else weights),
        _readonly(_NO_COUNTS if counts is None else counts),
        _readonly(order),
        number,
        moved[:-1].copy(),
        columns,
        _NONE if moved_weights is None else moved_weights,
        _NO_COUNTS if moved_counts is None else moved_counts,
    )
    return Rows(moved, columns, moved_weights, moved_counts)


def _permuted_few(rows: Rows, order: Ints) -> Rows:
    from scipy import sparse

    n = rows.indptr.size - 1
    slots = np.arange(1, rows.indices.size + 1)
    matrix = sparse.csr_array((slots, rows.indices, rows.indptr), shape=(n, n))
    moved = matrix[order][:, order].tocsr()
    moved.sort_indices()
    slot = moved.data - 1
    return Rows(
        moved.indptr,
        moved.indices,
        None if rows.weights is None else rows.weights[slot],
        None if rows.multiplicity is None else rows.multiplicity[slot],
    )


def _with_values(
    indptr: Indices, indices: Indices, sums: Floats | None, counts: Ints | None
) -> Rows:
    if sums is None and counts is not None:
        sums = counts.astype(float)
    return Rows(indptr, indices, sums, counts)


def _readonly(array: Any) -> Any:
    """Return what numba compiles once: contiguous, of a type that indices have, read-only."""
    if array.dtype not in (np.int32, np.int64, np.float64):
        array = array.astype(np.int64)
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _rows_of_few(u: Indices, v: Indices, w: Floats | None, n: int) -> Rows:
    from scipy import sparse

    kind = index_type(n, 2 * u.size)
    # One triangle only, so that both directions of parallel edges hold the very same sum.
    ends = (np.minimum(u, v).astype(kind), np.maximum(u, v).astype(kind))

    def upper(values: Any) -> Any:
        return sparse.coo_array((values, ends), shape=(n, n)).tocsr()

    weighted = w is not None and not np.all(w == 1)
    triangle = upper(w if weighted else np.ones(u.size, np.int32))
    mirror = _Mirror(triangle)
    counts = None
    if triangle.nnz < u.size:
        single = upper(np.ones(u.size, np.int32)) if weighted else triangle
        counts = mirror.values(single.data.astype(np.int64))
    sums = mirror.values(triangle.data) if weighted else None
    return _with_values(mirror.indptr, mirror.indices, sums, counts)


class _Mirror:
    """Both triangles of a symmetric matrix from its upper one, values in the same order."""

    def __init__(self, upper: "sparse.csr_array") -> None:
        n = upper.shape[0]
        slots = np.arange(upper.nnz, dtype=upper.indices.dtype)
        columns = type(upper)((slots, upper.indices, upper.indptr), shape=upper.shape).tocsc()
        below = columns.indices != np.repeat(np.arange(n), np.diff(columns.indptr))
        kept = np.concatenate([[0], np.cumsum(below)])
        lower_indptr = kept[columns.indptr]
        self.indptr = upper.indptr + lower_indptr
        upper_slots = slots + np.repeat(lower_indptr[1:], np.diff(upper.indptr))
        lower = np.arange(kept[-1]) + np.repeat(upper.indptr[:-1], np.diff(lower_indptr))
        self._source = np.empty(self.indptr[-1], dtype=upper.indices.dtype)
        self._source[upper_slots] = slots
        self._source[lower] = columns.data[below]
        self.indices = np.empty(self.indptr[-1], dtype=upper.indices.dtype)
        self.indices[upper_slots] = upper.indices
        self.indices[lower] = columns.indices[below]

    def values(self, of_upper: Any) -> Any:
        """Spread one value per entry of the upper triangle over both."""
        return of_upper[self._source]
