"""NumPy and Parquet files to ``Graph``."""

from typing import Any, BinaryIO

import numpy as np

from kgroups._types import Symmetrize
from kgroups.adapters.arrays import as_column, edge_columns, from_edge_arrays
from kgroups.adapters.matrix import from_sparse
from kgroups.adapters.text import check_claim, parsing
from kgroups.errors import MissingExtraError
from kgroups.graph import Graph

__all__ = ["read_npz", "read_parquet"]


def read_npz(file: BinaryIO, name: str, weight: str | None, symmetrize: Symmetrize | None) -> Graph:
    """Read a scipy.sparse matrix, or arrays of edges or of matrix entries."""
    from scipy import sparse

    with parsing(name, "npz"), np.load(file, allow_pickle=False) as archive:
        if "format" in archive.files:
            file.seek(0)
            matrix = sparse.load_npz(file)
        elif {"row", "col"} <= set(archive.files):
            matrix = _matrix_of_entries(archive)
        else:
            matrix = None
            columns = [archive[key] for key in edge_columns(archive.files, weight)]
    if matrix is not None:
        check_claim(name, matrix.shape[0], matrix.nnz)
        return from_sparse(matrix, weight, symmetrize)
    source, target, *rest = map(as_column, columns)
    return from_edge_arrays(source, target, rest[0] if rest else None, symmetrize)


def _matrix_of_entries(arrays: Any) -> Any:
    from scipy import sparse

    row, col = arrays["row"], arrays["col"]
    data = arrays["data"] if "data" in arrays else np.ones(len(row))
    size = int(max(row.max(initial=-1), col.max(initial=-1))) + 1
    shape = tuple(arrays["shape"].tolist()) if "shape" in arrays else (size, size)
    return sparse.coo_array((data, (row, col)), shape=shape)


def read_parquet(
    file: BinaryIO, name: str, weight: str | None, symmetrize: Symmetrize | None
) -> Graph:
    """Read the columns ``source``, ``target`` and the weights of a Parquet file."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        msg = (
            "reading Parquet needs pyarrow, which is not installed.\n"
            '  Install it with: pip install "kgroups[parquet]"'
        )
        raise MissingExtraError(msg) from error
    with parsing(name, "Parquet"):
        content = parquet.ParquetFile(file)
        wanted = edge_columns(content.schema_arrow.names, weight)
        table = content.read(columns=wanted)
    source, target, *rest = (as_column(table[column]) for column in wanted)
    return from_edge_arrays(source, target, rest[0] if rest else None, symmetrize)
