"""Adjacency matrices, sparse of any format, dense, or in AnnData objects, to ``Graph``."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._wording import argument, in_python, listed
from kgroups.adapters.edges import (
    ReadOptions,
    checked_weights,
    graph_of_edges,
    symmetrize_arguments,
)
from kgroups.errors import GraphError
from kgroups.graph import Graph, check_distinct

if TYPE_CHECKING:
    from scipy import sparse

_ANNDATA_KEY = "connectivities"


def from_dense(array: Any, options: ReadOptions, nodes: Sequence[Hashable] | None = None) -> Graph:
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
    return _from_csr(_tidied(sparse.csr_array(_as_numbers(dense))), options, nodes)


def from_sparse(
    matrix: Any, options: ReadOptions, nodes: Sequence[Hashable] | None = None
) -> Graph:
    """Convert a scipy.sparse matrix or array of any format; stored zeros are no edges.

    A CSR matrix with sorted rows, without repeated entries or stored zeros, is not copied: the
    graph shares its arrays. Others are copied.
    """
    from scipy import sparse

    _check_entries(matrix)
    # Small integers would overflow where repeated entries are added, so cast before that.
    kind = matrix.dtype if matrix.dtype.kind == "b" else np.float64
    if matrix.format != "csr":
        matrix = sparse.csr_array(matrix.astype(kind).tocsr())
    else:
        exact = len(matrix.data) == len(matrix.indices) == matrix.indptr[-1]
        if exact and _is_canonical(matrix) and np.all(matrix.data != 0):
            return _from_csr(matrix, options, nodes)
        parts = (matrix.data.astype(kind), matrix.indices.copy(), matrix.indptr.copy())
        matrix = sparse.csr_array(parts, shape=matrix.shape)
    return _from_csr(_tidied(matrix), options, nodes)


def from_anndata(adata: Any, options: ReadOptions) -> Graph:
    """Convert a matrix of ``adata.obsp``: connectivities, or the one that ``weight`` names."""
    key = _ANNDATA_KEY if options.weight in (None, "weight") else options.weight
    if key not in adata.obsp:
        hint = (
            "Compute it, for instance with scanpy: sc.pp.neighbors(adata)."
            if key == _ANNDATA_KEY
            else "Pass the key of a matrix of similarities."
        )
        msg = (
            f"the neighbor graph of an AnnData must be in adata.obsp[{key!r}], got the keys "
            f"{listed(adata.obsp)}.\n  {hint} {argument('weight')} names another key."
        )
        raise GraphError(msg)
    nodes = adata.obs_names.tolist()
    check_distinct(nodes, " in adata.obs_names; adata.obs_names_make_unique() renames them")
    # The key is not the name of an attribute.
    options = replace(options, weight=None if options.weight is None else "weight")
    matrix = adata.obsp[key]
    return (from_sparse if hasattr(matrix, "tocsr") else from_dense)(matrix, options, nodes)


def _check_entries(matrix: Any) -> None:
    _check_square(matrix.shape)
    if matrix.dtype.kind not in "biuf":
        raise GraphError(_not_numbers(matrix.dtype))
    if matrix.format in ("csr", "csc", "bsr"):
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            msg = f"the sparse matrix is broken: {error}.\n  Rebuild it from its entries."
            raise GraphError(msg) from error


def _is_canonical(matrix: Any) -> bool:
    """Return whether rows are sorted and without repeated entries.

    scipy caches its first answer, which is stale once the rows change in place, so a new matrix
    that shares the arrays is checked.
    """
    parts = (matrix.data, matrix.indices, matrix.indptr)
    return bool(type(matrix)(parts, shape=matrix.shape).has_canonical_format)


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) == 2 and shape[0] == shape[1]:
        return
    hint = "  Use an n x n matrix with one row and one column per node."
    if len(shape) == 2 and shape[0] in (2, 3) and shape[1] not in (2, 3):
        columns = ", ".join(f"edges[{i}]" for i in range(shape[0]))
        hint += in_python(f" If the columns are edges, pass ({columns}) instead.")
    elif len(shape) == 2 and shape[1] in (2, 3):
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
    """Add up repeated entries and remove zeros, in place."""
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _from_csr(
    matrix: "sparse.csr_array", options: ReadOptions, nodes: Sequence[Hashable] | None = None
) -> Graph:
    """Convert a matrix with sorted rows, without repeated entries or zeros; it is only read."""
    n = matrix.shape[0]
    names = range(n) if nodes is None else nodes
    indptr, indices = matrix.indptr, matrix.indices

    def edge(t: int) -> tuple[Hashable, Hashable]:
        row = int(np.searchsorted(indptr, t, side="right")) - 1
        return names[row], names[indices[t]]

    data = None
    if options.reads_weights and matrix.dtype.kind != "b":
        with np.errstate(over="ignore"):
            data = matrix.data.astype(np.float64, copy=False)
        if not np.all(np.isfinite(data) & (data >= 0)):
            data = checked_weights(matrix.data, edge)
        if np.all(data == 1):
            data = None
    values = np.ones(indices.size, np.int8) if data is None else data
    read = type(matrix)((values, indices, indptr), shape=matrix.shape)
    if _is_symmetric(read):
        return Graph(indptr, indices, data, nodes=names)
    if options.symmetrize is None:
        raise GraphError(_asymmetric(read.astype(np.float64), names))
    rows = np.repeat(np.arange(n, dtype=indices.dtype), np.diff(indptr))
    return graph_of_edges(rows, indices, data, names, options)


def _is_symmetric(matrix: "sparse.csr_array") -> bool:
    """Return whether a matrix with sorted rows is symmetric."""
    transposed = matrix.tocsc()
    return (
        np.array_equal(transposed.indptr, matrix.indptr)
        and np.array_equal(transposed.indices, matrix.indices)
        and np.array_equal(transposed.data, matrix.data)
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
        f"  If it is directed, pass {symmetrize_arguments()};\n"
        "  if it differs by rounding only, take (A + A.T) / 2 instead."
    )
