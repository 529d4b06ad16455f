"""Matrices in compressed sparse rows: their parts, their components, and how they are built."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr_nb import (
    count_entries,
    fill_columns,
    fill_lower,
    fill_upper,
    label_components,
    peel,
)
from kgroups._progress import begin_stage, new_control, run_kernel, tell_share
from kgroups._types import CSR, Bools, Floats, Indices, Ints

# Indices are int32 while all counts are below this: half the memory of int64.
INT32_BOUND = np.iinfo(np.int32).max
ENTRIES_AT_ONCE = 1 << 22
"""Edges or entries between two chances for Ctrl-C to have an effect, about a tenth of a second."""
FEW_EDGES = 1 << 15
"""Up to this many edges are sorted, in 2 ms on most graphs; more are counted by kernels."""
_NO_VALUES = np.empty(0)


def index_type(*counts: int) -> type[np.signedinteger[Any]]:
    """Return the type of numbers that count nodes or entries: int32 while all of them fit.

    Examples
    --------
    >>> index_type(10, 2**31 - 2), index_type(10, 2**31)
    (<class 'numpy.int32'>, <class 'numpy.int64'>)
    """
    return np.int32 if max(counts) < INT32_BOUND else np.int64


def constant(value: float, size: int) -> Floats:
    """Return an array of equal numbers that takes the memory of one; it cannot be written to."""
    # np.broadcast_to does the same and takes five times as long.
    return np.ndarray(size, np.float64, np.float64(value), strides=(0,))


def row_lengths(csr: CSR) -> Indices:
    """Return the number of entries in each row."""
    # On small graphs np.diff takes three times as long.
    lengths: Indices = csr.indptr[1:] - csr.indptr[:-1]
    return lengths


def rows_of(csr: CSR) -> Indices:
    """Return the row index of every entry, in the type of the column indices."""
    rows = np.arange(len(csr.indptr) - 1, dtype=csr.indices.dtype)
    return rows.repeat(row_lengths(csr))


def row_sums(rows: Ints, values: Floats, n: int) -> Floats:
    """Return the sum of the values in each of ``n`` rows, 0 for a row without entries."""
    return np.bincount(rows, weights=values, minlength=n).astype(np.float64, copy=False)


def row_ranges(bounds: Indices, entries: int) -> list[tuple[int, int]]:
    """Return consecutive ranges of rows, each with about this number of entries."""
    n = bounds.size - 1
    if bounds[-1] <= entries:
        return [(0, n)]
    steps = np.arange(entries, int(bounds[-1]), entries)
    inner = np.unique(np.searchsorted(bounds, steps)).tolist()
    return list(pairwise([0, *(stop for stop in inner if 0 < stop < n), n]))


def diagonal_slots(csr: CSR) -> Ints:
    """Return the positions of the diagonal among the entries, in order."""
    return np.flatnonzero(rows_of(csr) == csr.indices)


def diagonal_of(csr: CSR) -> Floats:
    """Return the diagonal."""
    slots, n = diagonal_slots(csr), len(csr.indptr) - 1
    loops = np.bincount(csr.indices[slots], weights=csr.data[slots], minlength=n)
    return np.asarray(loops, dtype=float)


def masked(csr: CSR, keep: Bools) -> CSR:
    """Return the matrix with only the entries marked in ``keep``."""
    indptr = np.concatenate([[0], np.cumsum(keep)])[csr.indptr].astype(csr.indptr.dtype)
    return CSR(indptr, csr.indices[keep], _taken(csr.data, keep))


def without_diagonal(csr: CSR) -> CSR:
    """Return the matrix without its diagonal entries."""
    slots = diagonal_slots(csr)
    if not slots.size:
        return csr
    keep = np.ones(len(csr.indices), dtype=np.bool_)
    keep[slots] = False
    return masked(csr, keep)


def restricted(csr: CSR, rows: Ints) -> CSR:
    """Return the principal part on ``rows``, in that order."""
    indptr, indices, data = csr
    place = np.full(len(indptr) - 1, -1, dtype=indices.dtype)
    place[rows] = np.arange(len(rows), dtype=indices.dtype)
    lengths = np.diff(indptr)[rows]
    ends = np.cumsum(lengths)
    slots = np.arange(ends[-1] if len(rows) else 0) + np.repeat(
        indptr[:-1][rows] - ends + lengths, lengths
    )
    starts = np.concatenate([[0], ends]).astype(indptr.dtype)
    part = CSR(starts, place[indices[slots]], _taken(data, slots))
    inside = part.indices >= 0
    return part if inside.all() else masked(part, inside)


def block(csr: CSR, start: int, stop: int) -> CSR:
    """Return the principal part on the consecutive rows from ``start`` to before ``stop``."""
    first, last = csr.indptr[start], csr.indptr[stop]
    part = CSR(
        csr.indptr[start : stop + 1] - first,
        csr.indices[first:last] - csr.indices.dtype.type(start),
        csr.data[first:last],
    )
    inside = (part.indices >= 0) & (part.indices < stop - start)
    return part if inside.all() else masked(part, inside)


def writable(array: Any) -> Any:
    """Return the array contiguous and writable, as kernels take it, copied only if necessary.

    A read-only view of a whole array gives that array: kernels write only to what they must fill.
    """
    base = array.base
    if (
        not array.flags.writeable
        and isinstance(base, np.ndarray)
        and (base.shape, base.strides, base.dtype) == (array.shape, array.strides, array.dtype)
    ):
        array = base
    return np.require(array, None, ["C", "W"])


def readonly_view(array: Any) -> Any:
    """Return a contiguous read-only view; the caller's own array stays writable."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def connected_components(csr: CSR, group: Ints | None = None) -> tuple[int, Ints]:
    """Return the number of components and the component of each node, numbered by first node.

    With a group for each node, edges between different groups do not connect.
    """
    # scipy.sparse.csgraph takes 60 us instead of 7 us on 34 nodes, 22 ms instead of 6 ms on
    # 100,000 nodes with 500,000 edges, and 1.2 s instead of 0.6 s on ten times as many.
    n = len(csr.indptr) - 1
    labels, counts = np.empty(n, dtype=np.int32), np.zeros(1, dtype=np.int64)
    groups = np.zeros(n, np.int32) if group is None else group.astype(np.int32, copy=False)
    whole, one, stack = np.array([0, n]), np.zeros(1, dtype=np.int64), np.empty(n, dtype=np.int32)
    arguments = *map(writable, csr[:2]), whole, one, groups, labels, counts, stack, new_control()
    run_kernel(label_components, len(csr.indices), *arguments)
    return int(counts[0]), labels.astype(np.int64)


def two_core(csr: CSR) -> Bools:
    """Return which nodes remain after nodes with at most one edge are removed repeatedly.

    A self-loop counts as a cycle: its node remains.
    """
    n, rows = len(csr.indptr) - 1, rows_of(csr)
    degree = np.diff(csr.indptr) + np.bincount(rows[rows == csr.indices], minlength=n)
    alive = np.ones(n, dtype=np.bool_)
    stack, indptr, indices = np.empty(n, dtype=np.int64), *map(writable, csr[:2])
    peel(indptr, indices, degree.astype(np.int64, copy=False), alive, stack)
    return alive


def _taken(data: Floats, which: Ints | Bools) -> Floats:
    """Return some entries of an array; of one that is constant, without writing them."""
    if data.strides != (0,):
        return data[which]
    size = np.count_nonzero(which) if which.dtype == np.bool_ else which.size
    return constant(float(data[0]) if data.size else 0.0, int(size))


def inner_weights(A: CSR, z: Ints, k: int, *, at_once: int = ENTRIES_AT_ONCE) -> Floats:
    """Return the sum of the weights inside each of ``k`` groups, those of loops halved.

    Ctrl-C has an effect each time that ``at_once`` entries have been read.
    """
    inner = np.zeros(k)
    for first, stop in row_ranges(A.indptr, at_once):
        slots = slice(int(A.indptr[first]), int(A.indptr[stop]))
        own = np.repeat(z[first:stop], np.diff(A.indptr[first : stop + 1]))
        inside = own == z[A.indices[slots]]
        inner += np.bincount(own[inside], A.data[slots][inside], minlength=k)
    return 0.5 * inner


class Rows(NamedTuple):
    """Sorted rows of a symmetric matrix; the values are ``None`` where all of them are 1."""

    indptr: Indices
    indices: Indices
    weights: Floats | None
    multiplicity: Ints | None


def rows_of_edges(
    u: Indices, v: Indices, w: Floats | None, n: int, *, few_edges: int = FEW_EDGES
) -> Rows:
    """Build the matrix of ``n`` rows from edges between valid row indices.

    Parallel edges are added in input order, whether edges are many or few.
    """
    build = _rows_by_counting if u.size > few_edges else _rows_by_sorting
    return build(u, v, None if w is None or np.all(w == 1) else w, n)


def permuted_rows(rows: Rows, order: Ints) -> Rows:
    """Return the symmetric matrix with row ``order[i]`` in place ``i``."""
    from scipy import sparse

    indptr, indices, weights, counts = rows
    n, kind = order.size, indices.dtype
    number = np.empty(n, kind)
    number[order] = np.arange(n, dtype=kind)
    slots = np.arange(indices.size, dtype=kind)
    moved = sparse.csr_array((slots, indices, indptr), shape=(n, n))[order]
    moved.indices = number[moved.indices]
    # Columns of a symmetric matrix are its rows, and the transposition sorts them on the way.
    transposed = moved.tocsc()
    slots = transposed.data
    return Rows(
        transposed.indptr,
        transposed.indices,
        None if weights is None else weights[slots],
        None if counts is None else counts[slots],
    )


def _rows_by_counting(
    u: Indices, v: Indices, w: Floats | None, n: int, *, at_once: int = ENTRIES_AT_ONCE
) -> Rows:
    """Build rows by kernels, in less time and memory than sorting takes.

    Edges are grouped by their larger end; then parallel edges are merged, and both triangles are
    filled. Ctrl-C has an effect between two parts.
    """
    kind = index_type(n, 2 * u.size)
    weights = _NO_VALUES if w is None else w
    start = np.zeros(n + 1, kind)
    parts = [slice(begin, begin + at_once) for begin in range(0, u.size, at_once)]
    if len(parts) > 1:
        begin_stage("building the matrix")
    for part in parts:
        start[1:] += np.bincount(np.maximum(u[part], v[part]), minlength=n)
    np.cumsum(start, out=start, dtype=kind)
    low, weight, place = np.empty(u.size, kind), np.empty(weights.size), start[:-1].copy()
    for part in parts:
        given = writable(weights[part])
        fill_columns(_integers(u[part]), _integers(v[part]), given, place, low, weight)
        tell_share(0.5 * part.start, u.size)
    below, above = np.zeros((2, n), kind)
    last = np.full(n, -1, kind)
    columns = row_ranges(start, at_once)
    for first, stop in columns:
        count_entries(first, stop, start, low, last, below, above)
        tell_share(n + 0.5 * first, 2 * n)
    indptr = np.zeros(n + 1, kind)
    np.cumsum(below + above, out=indptr[1:], dtype=kind)
    first_above = indptr[:-1] + below
    parallel = int(above.sum(dtype=np.int64)) < low.size
    indices = np.empty(indptr[-1], kind)
    sums = np.empty(0 if w is None else indices.size)
    counts = np.empty(indices.size if parallel else 0, np.int64)
    last, place = np.full(n if parallel else 0, -1, kind), first_above.copy()
    for first, stop in columns:
        fill_upper(first, stop, start, low, weight, place, last, indices, sums, counts)
    place = indptr[:-1].copy()
    for first, stop in row_ranges(indptr, at_once):
        fill_lower(first, stop, indptr, first_above, place, indices, sums, counts)
    return _with_values(indptr, indices, None if w is None else sums, counts if parallel else None)


def _rows_by_sorting(u: Indices, v: Indices, w: Floats | None, n: int) -> Rows:
    kind = index_type(n, 2 * u.size)
    low, high = _short(np.minimum(u, v), n), _short(np.maximum(u, v), n)
    no_loop = np.flatnonzero(low != high)
    # One triangle after the other, so that both hold the same sums of parallel edges.
    row, column = np.concatenate([low, high[no_loop]]), np.concatenate([high, low[no_loop]])
    order = np.lexsort((column, row))
    row, column = row[order], column[order]
    sums = None
    if w is not None:
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
