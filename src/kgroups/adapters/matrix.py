"""Adjacency matrices, sparse of any format or dense, to ``Graph``."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._mirror import are_few
from kgroups._types import Floats, Indices, Symmetrize
from kgroups._wording import in_python
from kgroups.adapters.direction import graph_of_edges, ways_on
from kgroups.adapters.weights import checked_weights
from kgroups.errors import GraphError
from kgroups.graph import Graph

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["from_dense", "from_own_csr", "from_sparse"]


def from_dense(
    array: Any,
    weight: str | None,
    symmetrize: Symmetrize | None,
    nodes: Sequence[Hashable] | None = None,
) -> Graph:
    """Convert a two-dimensional numpy array whose nonzero entries are edge weights."""
    from scipy import sparse

    if isinstance(array, np.ma.MaskedArray):
        msg = (
            "an adjacency matrix must not be a masked array.\n"
            "  Say what masked entries mean, for instance with matrix.filled(0)."
        )
        raise GraphError(msg)
    dense = np.asarray(array)
    _check_square(dense.shape)
    return _from_csr(_tidied(sparse.csr_array(_as_numbers(dense))), weight, symmetrize, nodes)


def from_sparse(
    matrix: Any,
    weight: str | None,
    symmetrize: Symmetrize | None,
    nodes: Sequence[Hashable] | None = None,
) -> Graph:
    """Convert a scipy.sparse matrix or array of any format; stored zeros are no edges.

    A CSR matrix with sorted rows, without repeated entries or stored zeros, is not copied: the
    graph shares its arrays, and reads them only.
    """
    from scipy import sparse

    _check_entries(matrix)
    # Small integers would overflow where repeated entries are added, so cast before that.
    kind = matrix.dtype if matrix.dtype.kind == "b" else np.float64
    if matrix.format == "csr":
        exact = len(matrix.data) == len(matrix.indices) == matrix.indptr[-1]
        if exact and _is_canonical(matrix) and np.all(matrix.data != 0):
            return _from_csr(matrix, weight, symmetrize, nodes)
        parts = (matrix.data.astype(kind), matrix.indices.copy(), matrix.indptr.copy())
        own = sparse.csr_array(parts, shape=matrix.shape)
    else:
        own = sparse.csr_array(matrix.astype(kind).tocsr())
    return _from_csr(_tidied(own), weight, symmetrize, nodes)


def from_own_csr(
    matrix: "sparse.csr_array", weight: str | None, symmetrize: Symmetrize | None
) -> Graph:
    """Convert a matrix that nobody else holds: its arrays are changed, and become the graph's."""
    _check_entries(matrix)
    if matrix.dtype.kind != "b":
        matrix.data = matrix.data.astype(np.float64, copy=False)
    return _from_csr(_tidied(matrix), weight, symmetrize, None)


def _check_entries(matrix: Any) -> None:
    _check_square(matrix.shape)
    if matrix.dtype.kind not in "biuf":
        raise GraphError(_not_numbers(matrix.dtype))
    if matrix.format in ("csr", "csc", "bsr"):
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            msg = f"the sparse matrix is broken: {error}.\n  Build it anew from its entries."
            raise GraphError(msg) from error


def _is_canonical(matrix: Any) -> bool:
    """Whether rows are sorted and without repeated entries, whatever scipy remembers of them.

    scipy keeps the answer of its first look, which is stale once the rows change in place, so the
    question is put to a new matrix that shares the arrays.
    """
    parts = (matrix.data, matrix.indices, matrix.indptr)
    return bool(type(matrix)(parts, shape=matrix.shape).has_canonical_format)


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) == 2 and shape[0] == shape[1]:
        return
    hint = "  Use an n x n matrix with one row and one column per node."
    if len(shape) == 2 and shape[1] in (2, 3):
        columns = ", ".join(f"edges[:, {j}]" for j in range(shape[1]))
        hint += in_python(f" If the rows are edges, pass ({columns}) instead.")
    msg = f"an adjacency matrix must be square, got shape {shape}.\n{hint}"
    raise GraphError(msg)


def _not_numbers(dtype: object) -> str:
    return (
        f"an adjacency matrix must hold real numbers, got dtype {dtype}.\n"
        "  Convert it first, for instance with matrix.astype(float)."
    )


def _as_numbers(dense: Any) -> Any:
    if dense.dtype.kind in "biuf":
        return dense
    if dense.dtype.kind != "O":
        raise GraphError(_not_numbers(dense.dtype))
    try:
        if any(isinstance(value, str | bytes) for value in dense.flat):
            raise TypeError
        return dense.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise GraphError(_not_numbers(dense.dtype)) from None


def _tidied(matrix: "sparse.csr_array") -> "sparse.csr_array":
    """Return a matrix that is ours to change, repeated entries added up and zeros taken out."""
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _from_csr(
    matrix: "sparse.csr_array",
    weight: str | None,
    symmetrize: Symmetrize | None,
    nodes: Sequence[Hashable] | None,
) -> Graph:
    """Convert a matrix with sorted rows, without repeated entries or zeros; it is only read."""
    n = matrix.shape[0]
    names = range(n) if nodes is None else nodes
    indptr, indices = matrix.indptr, matrix.indices
    data = None
    if weight is not None and symmetrize != "union" and matrix.dtype.kind != "b":
        with np.errstate(over="ignore"):
            data = matrix.data.astype(np.float64, copy=False)
        if not np.all(np.isfinite(data) & (data >= 0)):
            data = checked_weights(matrix.data, lambda t: _ends_of_entry(matrix, t, names))
        if np.all(data == 1):
            data = None
    if _is_symmetric(indptr, indices, data):
        return Graph(indptr, indices, data, nodes=names)
    if symmetrize is None:
        values = np.ones(indices.size) if data is None else data
        shown = type(matrix)((values, indices, indptr), shape=matrix.shape)
        raise GraphError(_asymmetric(shown, names))
    rows = np.repeat(np.arange(n, dtype=indices.dtype), np.diff(indptr))
    return graph_of_edges(rows, indices, data, names, symmetrize)


def _ends_of_entry(
    matrix: "sparse.csr_array", t: int, names: Sequence[Hashable]
) -> tuple[Hashable, Hashable]:
    row = int(np.searchsorted(matrix.indptr, t, side="right")) - 1
    return names[row], names[matrix.indices[t]]


def _is_symmetric(indptr: Indices, indices: Indices, data: Floats | None) -> bool:
    """Whether sorted rows are those of a symmetric matrix; without data all entries are equal."""
    if are_few(indices.size):
        from scipy import sparse

        n = indptr.size - 1
        values = np.ones(indices.size) if data is None else data
        matrix = sparse.csr_array((values, indices, indptr), shape=(n, n))
        return _same(matrix, matrix.T.tocsr())
    from kgroups.adapters._matrix_nb import is_symmetric

    return bool(
        is_symmetric(indptr, indices, np.empty(0) if data is None else data, indptr[:-1].copy())
    )


def _same(one: "sparse.csr_array", other: "sparse.csr_array") -> bool:
    return (
        np.array_equal(one.indptr, other.indptr)
        and np.array_equal(one.indices, other.indices)
        and np.array_equal(one.data, other.data)
    )


def _asymmetric(matrix: "sparse.csr_array", names: Sequence[Hashable]) -> str:
    difference = (matrix - matrix.T.tocsr()).tocoo()
    unequal = np.flatnonzero((difference.data != 0) & (difference.row < difference.col))
    first = unequal[np.lexsort((difference.col[unequal], difference.row[unequal]))[0]]
    i, j = int(difference.row[first]), int(difference.col[first])
    more = f" (and {unequal.size - 1} more pairs)" if unequal.size > 1 else ""
    return (
        f"an adjacency matrix must be symmetric, got {matrix[i, j]} from {names[i]!r} to "
        f"{names[j]!r} but {matrix[j, i]} from {names[j]!r} to {names[i]!r}{more}.\n"
        f"  If it is directed, pass {ways_on()};\n"
        "  if it differs by rounding only, take (A + A.T) / 2 instead."
    )
