"""NumPy archives and Parquet files; nothing is ever unpickled."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kgroups._output import import_pyarrow
from kgroups.adapters.edges import ReadOptions
from kgroups.adapters.files import GraphFile
from kgroups.adapters.matrices import from_sparse
from kgroups.adapters.numbering import missing_name
from kgroups.adapters.tables import (
    as_column,
    edge_columns,
    from_edge_arrays,
    with_columns_described,
)
from kgroups.errors import GraphError
from kgroups.graph import Graph, bad_weight

_INDEX_ARRAYS = ("row", "col", "indices", "indptr", "offsets", "shape")
_MATRIX_ARRAYS = (*_INDEX_ARRAYS, "data", "format")
_BYTES_PER_VALUE = 8  # What a value of a Parquet column takes in memory.


def read_npz(file: GraphFile) -> Graph:
    """Read a scipy.sparse matrix, or arrays of edges or of matrix entries."""
    from scipy import sparse

    options = file.options
    with file.parsing("npz"), np.load(file.stream, allow_pickle=False) as archive:
        names = archive.files
        is_saved_matrix = "format" in names
        if options.source is not None or not (is_saved_matrix or {"row", "col"} <= set(names)):
            wanted = edge_columns(names, options)
            file.check_expansion(_expanded_size(archive, wanted))
            arrays = {key: archive[key] for key in wanted}
            for key in wanted[:2]:
                if arrays[key].dtype.kind in "fc":
                    raise unfit_names(arrays[key].dtype, key)
            return _graph_of_columns(arrays, names, options)
        file.check_expansion(_expanded_size(archive, _MATRIX_ARRAYS))
        _check_indices(archive, file)
        if is_saved_matrix:
            file.stream.seek(0)
            matrix = sparse.load_npz(file.stream)
        else:
            matrix = _matrix_of_entries(archive)
    file.check_node_count(matrix.shape[0], matrix.nnz)
    return from_sparse(matrix, options)


def _check_indices(archive: Any, file: GraphFile) -> None:
    """Refuse fractional row and column numbers, which scipy would truncate."""
    for key in filter(archive.files.__contains__, _INDEX_ARRAYS):
        values = archive[key].ravel()
        if values.size and values.dtype.kind not in "iu":
            is_float = values.dtype.kind == "f"
            first = int(np.argmax(values != np.trunc(values))) if is_float else 0
            problem = (
                f"row and column numbers must be whole numbers, got {values[first].item()!r} in "
                f"entry {first} of the array {key!r}"
            )
            hint = "Save this array with an integer type, for instance with array.astype(int)."
            raise file.error(None, problem, hint)


def _matrix_of_entries(arrays: Any) -> Any:
    from scipy import sparse

    row, col = arrays["row"], arrays["col"]
    data = arrays["data"] if "data" in arrays else np.ones(len(row))
    size = int(max(row.max(initial=-1), col.max(initial=-1))) + 1
    shape = tuple(arrays["shape"].tolist()) if "shape" in arrays else (size, size)
    return sparse.coo_array((data, (row, col)), shape=shape)


def _expanded_size(archive: Any, keys: Iterable[str]) -> int:
    """Return the bytes that some arrays announce; zipfile never reads more than that."""
    members = {info.filename: info.file_size for info in archive.zip.infolist()}
    return sum(members.get(key, members.get(f"{key}.npy", 0)) for key in keys)


def read_parquet(file: GraphFile) -> Graph:
    """Read the columns that hold the edges and the weights of a Parquet file."""
    pyarrow, parquet = import_pyarrow()
    with file.parsing("Parquet"):
        content = parquet.ParquetFile(file.stream)
        names = content.schema_arrow.names
        wanted = edge_columns(names, file.options)
        file.check_expansion(announced_size(content, wanted))
        for column in wanted[:2]:
            kind = content.schema_arrow.field(column).type
            kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
            if pyarrow.types.is_floating(kind) or pyarrow.types.is_decimal(kind):
                raise unfit_names(kind, column)
        columns = {column: content.read([column], use_threads=False)[column] for column in wanted}
        _refuse_nulls(columns)
    return _graph_of_columns(columns, names, file.options)


def announced_size(content: Any, wanted: list[str]) -> int:
    """Return the bytes that the columns announce, in the file and as values in memory."""
    announced = content.metadata.num_rows * len(wanted) * _BYTES_PER_VALUE
    for group in map(content.metadata.row_group, range(content.metadata.num_row_groups)):
        for column in map(group.column, range(group.num_columns)):
            path = column.path_in_schema
            # The path of a column of lists begins with its name.
            if path in wanted or path.partition(".")[0] in wanted:
                announced += column.total_uncompressed_size
    return int(announced)


def _refuse_nulls(columns: Mapping[str, Any]) -> None:
    source, target, *_ = columns.values()
    for position, (column, values) in enumerate(columns.items()):
        if not values.null_count:
            continue
        row = int(values.is_null().index(True).as_py())
        place = place_in_column(column, row)
        if position == 2:
            edge = source[row].as_py(), target[row].as_py()
            raise bad_weight(value="null", edge=edge, place=f", {place}")
        raise missing_name(shown="null", place=place)


def _graph_of_columns(columns: dict[str, Any], names: Sequence[str], options: ReadOptions) -> Graph:
    """Convert the columns of a file that has columns of these names."""
    wanted = list(columns)
    # Columns as the file has them are freed one by one.
    graph = from_edge_arrays(
        *(as_column(columns.pop(column)) for column in wanted),
        options=options,
        place=lambda row: f", {place_in_column(wanted[2], row)}",
    )
    return with_columns_described(graph, names, wanted, options)


def place_in_column(column: str, row: int) -> str:
    """Return in words where a value is stored."""
    return f"in column {column!r}, row {row} (the first is 0)"


def unfit_names(kind: object, column: str) -> GraphError:
    """Return the error for a column of node names that are no whole numbers and no text."""
    return GraphError(
        f"node names in a file must be whole numbers or text, got {kind} in column {column!r}.\n"
        "  Write the column with an integer type. Tables turn whole numbers into floats where some "
        "are missing:\n  drop these rows first. Beyond 2**53 digits are lost by then."
    )
