"""Small operations on bare CSR arrays."""

from collections.abc import Iterator

import numpy as np

from kgroups._types import CSR, Bools, Floats, Ints

__all__ = [
    "block",
    "blocks",
    "diagonal_of",
    "masked",
    "readonly",
    "restricted",
    "rows_of",
    "without_diagonal",
]


def rows_of(csr: CSR) -> Ints:
    """Return the row index of every entry."""
    return np.repeat(np.arange(len(csr.indptr) - 1), np.diff(csr.indptr))


def diagonal_of(csr: CSR) -> Floats:
    """Return the diagonal."""
    rows = rows_of(csr)
    loops = rows == csr.indices
    n = len(csr.indptr) - 1
    return np.asarray(np.bincount(rows[loops], weights=csr.data[loops], minlength=n), dtype=float)


def masked(csr: CSR, keep: Bools) -> CSR:
    """Return the matrix with only the entries marked in ``keep``."""
    indptr = np.concatenate([[0], np.cumsum(keep)])[csr.indptr].astype(csr.indptr.dtype)
    return CSR(indptr, csr.indices[keep], csr.data[keep])


def without_diagonal(csr: CSR) -> CSR:
    """Return the matrix without its diagonal entries."""
    keep = rows_of(csr) != csr.indices
    return csr if keep.all() else masked(csr, keep)


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
    part = CSR(starts, place[indices[slots]], data[slots])
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


def blocks(csr: CSR, z: Ints, k: int) -> Iterator[tuple[Ints, CSR]]:
    """Yield the rows of each of ``k`` groups and the principal part on them, in one pass."""
    order = np.argsort(z, kind="stable")
    ends = np.cumsum(np.bincount(z, minlength=k)).tolist()
    sorted_rows = restricted(csr, order)
    for start, stop in zip([0, *ends[:-1]], ends, strict=True):
        yield order[start:stop], block(sorted_rows, start, stop)


def readonly(csr: CSR) -> CSR:
    """Return views that cannot be written to: numba compiles a kernel once for each kind."""
    views = [np.ascontiguousarray(array).view() for array in csr]
    for view in views:
        view.flags.writeable = False
    return CSR(*views)
