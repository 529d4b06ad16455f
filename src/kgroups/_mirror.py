"""Both triangles of a symmetric matrix from edges, parallel ones merged."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kgroups._types import Floats, Indices, Ints

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Columns", "Rows", "columns_of_edges", "rows_of_columns", "rows_of_edges"]

_FEW_EDGES = 1 << 15
"""Up to here scipy takes about a millisecond, and compiled kernels take longer to load."""

_NONE = np.empty(0)


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


def rows_of_edges(u: Indices, v: Indices, w: Floats | None, n: int) -> Rows:
    """Build the matrix of ``n`` rows of edges between row indices that were checked before."""
    if u.size > _FEW_EDGES:
        return rows_of_columns(columns_of_edges(u, v, w, n))
    return _rows_of_few(u, v, w, n)


def columns_of_edges(u: Indices, v: Indices, w: Floats | None, n: int) -> Columns:
    """Gather edges by their larger end in two passes; afterwards the edges are not needed."""
    from kgroups._mirror_nb import count_columns, fill_columns

    index_type = _index_type(n, u.size)
    ends = _readonly(u), _readonly(v)
    weighted = w is not None and not np.all(w == 1)
    start = np.zeros(n + 1, index_type)
    count_columns(*ends, start)
    np.cumsum(start, out=start, dtype=index_type)
    low = np.empty(u.size, index_type)
    weight = np.empty(u.size if weighted else 0)
    fill_columns(*ends, _readonly(w if weighted else _NONE), start[:-1].copy(), low, weight)
    return Columns(start, low, weight if weighted else None)


def rows_of_columns(columns: Columns) -> Rows:
    """Merge parallel edges, in input order, and mirror the triangle; nothing else is allocated."""
    from kgroups._mirror_nb import count_entries, fill_lower, fill_upper

    start, low, weight = columns
    n = start.size - 1
    last = np.full(n, -1, start.dtype)
    below, above = np.zeros((2, n), start.dtype)
    count_entries(start, low, last, below, above)
    indptr = np.zeros(n + 1, start.dtype)
    np.cumsum(below + above, out=indptr[1:], dtype=start.dtype)
    first = indptr[:-1] + below
    merged = int(above.sum(dtype=np.int64)) < low.size
    entries = int(indptr[-1])
    indices = np.empty(entries, start.dtype)
    sums = np.empty(0 if weight is None else entries)
    counts = np.empty(entries if merged else 0, np.int64)
    last.fill(-1)
    given = _NONE if weight is None else weight
    fill_upper(start, low, given, first.copy(), last, indices, sums, counts)
    fill_lower(indptr, first, indptr[:-1].copy(), indices, sums, counts)
    return _with_values(
        indptr, indices, None if weight is None else sums, counts if merged else None
    )


def _with_values(
    indptr: Indices, indices: Indices, sums: Floats | None, counts: Ints | None
) -> Rows:
    if sums is None and counts is not None:
        sums = counts.astype(float)
    return Rows(indptr, indices, sums, counts)


def _index_type(n: int, edges: int) -> type[np.signedinteger[Any]]:
    return np.int32 if max(n, 2 * edges) < np.iinfo(np.int32).max else np.int64


def _readonly(array: Any) -> Any:
    """Return what numba compiles once: contiguous, of a type that indices have, read-only."""
    if array.dtype not in (np.int32, np.int64, np.float64):
        array = array.astype(np.int64)
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _rows_of_few(u: Indices, v: Indices, w: Floats | None, n: int) -> Rows:
    from scipy import sparse

    index_type = _index_type(n, u.size)
    # One triangle only, so that both directions of parallel edges hold the very same sum.
    ends = (np.minimum(u, v).astype(index_type), np.maximum(u, v).astype(index_type))

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
