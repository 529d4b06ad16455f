"""Adjacency matrices, sparse of any format or dense, to ``Graph``."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._types import Symmetrize
from kgroups.adapters.direction import WAYS_ON, binary, graph_of_edges
from kgroups.adapters.weights import checked_weights
from kgroups.errors import GraphError
from kgroups.graph import Graph

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["from_dense", "from_sparse"]


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
    return _from_csr(sparse.csr_array(_as_numbers(dense)), weight, symmetrize, nodes)


def from_sparse(
    matrix: Any,
    weight: str | None,
    symmetrize: Symmetrize | None,
    nodes: Sequence[Hashable] | None = None,
) -> Graph:
    """Convert a scipy.sparse matrix or array of any format; stored zeros are no edges."""
    from scipy import sparse

    _check_square(matrix.shape)
    if matrix.dtype.kind not in "biuf":
        raise GraphError(_not_numbers(matrix.dtype))
    if matrix.format in ("csr", "csc", "bsr"):
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            msg = f"the sparse matrix is broken: {error}.\n  Build it anew from its entries."
            raise GraphError(msg) from error
    # Small integers would overflow where repeated entries are added, so cast before that.
    cast = matrix if matrix.dtype.kind == "b" else matrix.astype(np.float64)
    return _from_csr(sparse.csr_array(cast.tocsr(), copy=True), weight, symmetrize, nodes)


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) == 2 and shape[0] == shape[1]:
        return
    hint = "  Pass an n x n matrix with one row and one column per node."
    if len(shape) == 2 and shape[1] in (2, 3):
        columns = ", ".join(f"edges[:, {j}]" for j in range(shape[1]))
        hint = f"  If the rows are edges, pass ({columns}) instead."
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


def _from_csr(
    matrix: "sparse.csr_array",
    weight: str | None,
    symmetrize: Symmetrize | None,
    nodes: Sequence[Hashable] | None,
) -> Graph:
    """Convert a matrix that is ours to change."""
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    names = range(matrix.shape[0]) if nodes is None else nodes
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    if weight is None or symmetrize == "union":
        data = np.ones(matrix.nnz)
    else:
        data = checked_weights(matrix.data, lambda t: (names[rows[t]], names[matrix.indices[t]]))
    matrix = type(matrix)((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    flipped = matrix.T.tocsr()
    if not _same(matrix, flipped):
        if symmetrize is None:
            raise GraphError(_asymmetric(matrix, flipped, names))
        weights = None if weight is None else data
        return graph_of_edges(rows, matrix.indices, weights, names, symmetrize)
    weights = None if np.all(data == 1) else data
    graph = Graph(matrix.indptr, matrix.indices, weights, nodes=names)
    return binary(graph) if symmetrize == "union" else graph


def _same(one: "sparse.csr_array", other: "sparse.csr_array") -> bool:
    return (
        np.array_equal(one.indptr, other.indptr)
        and np.array_equal(one.indices, other.indices)
        and np.array_equal(one.data, other.data)
    )


def _asymmetric(
    matrix: "sparse.csr_array", flipped: "sparse.csr_array", names: Sequence[Hashable]
) -> str:
    difference = (matrix - flipped).tocoo()
    unequal = np.flatnonzero((difference.data != 0) & (difference.row < difference.col))
    first = unequal[np.lexsort((difference.col[unequal], difference.row[unequal]))[0]]
    i, j = int(difference.row[first]), int(difference.col[first])
    more = f" (and {unequal.size - 1} more pairs)" if unequal.size > 1 else ""
    return (
        f"an adjacency matrix must be symmetric, got {matrix[i, j]} from {names[i]!r} to "
        f"{names[j]!r} but {matrix[j, i]} from {names[j]!r} to {names[i]!r}{more}.\n"
        f"  If it is directed, pass {WAYS_ON};\n"
        "  if it differs by rounding only, pass (A + A.T) / 2."
    )
