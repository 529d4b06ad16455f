"""NumPy archives and Parquet files; edges come in batches, and nothing is ever unpickled."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.lib import format as npy

from kgroups._wording import install_hint
from kgroups.adapters.edges import Batch, EdgeStream, graph_of_integers, graph_of_texts
from kgroups.adapters.files import GraphFile
from kgroups.adapters.matrices import from_sparse
from kgroups.adapters.numbering import Texts
from kgroups.adapters.tables import (
    as_column,
    check_lengths,
    edge_columns,
    from_edge_arrays,
    from_stream,
    with_columns_described,
)
from kgroups.errors import GraphError, MissingExtraError
from kgroups.graph import Graph, bad_weight, check_weights

_INDEX_ARRAYS = ("row", "col", "indices", "indptr", "offsets", "shape")
_MATRIX_ARRAYS = (*_INDEX_ARRAYS, "data", "format")
_UTF_32 = f"utf-32-{sys.byteorder[0]}e"
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_ARROW_KINDS = {
    **dict.fromkeys(("int", "uint"), "i"),
    **dict.fromkeys(("halffloat", "float", "double"), "f"),
    **dict.fromkeys(("string", "large_string", "string_view"), "U"),
    **dict.fromkeys(("binary", "large_binary", "binary_view"), "S"),
    "decimal": "c",  # As unfit for names as complex numbers.
    "bool": "b",
}
_PARQUET_BUFFER = 1 << 20  # Bytes read ahead: Parquet pages come one by one, not by row group.
_BYTES_PER_VALUE = 8  # What a value of a Parquet column takes in memory.


def read_npz(file: GraphFile) -> Graph:
    """Read a scipy.sparse matrix, or arrays of edges or of matrix entries."""
    from scipy import sparse

    options = file.options
    with file.parsing("npz"), np.load(file.stream, allow_pickle=False) as archive:
        is_saved_matrix = "format" in archive.files
        if options.source is not None or not (
            is_saved_matrix or {"row", "col"} <= set(archive.files)
        ):
            wanted = edge_columns(archive.files, options)
            graph = _graph_of_arrays(archive, wanted, file)
            return with_columns_described(graph, archive.files, wanted, options)
        file.check_expansion(_expanded_size(archive, _MATRIX_ARRAYS))
        _check_indices(archive, file)
        is_csr = is_saved_matrix and archive["format"].item() in ("csr", b"csr")
        if is_csr:
            matrix = _csr_matrix(archive, options.batch)
        elif is_saved_matrix:
            file.stream.seek(0)
            matrix = sparse.load_npz(file.stream)
        else:
            matrix = _matrix_of_entries(archive)
    file.check_node_count(matrix.shape[0], matrix.nnz)
    return from_sparse(matrix, options, own=is_csr)


def _check_indices(archive: Any, file: GraphFile) -> None:
    """Refuse fractional row and column numbers, which scipy would truncate."""
    for key in filter(archive.files.__contains__, _INDEX_ARRAYS):
        member = _npz_member(archive, key)
        if member is not None and member.dtype.kind in "iu":
            continue
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


def _csr_matrix(archive: Any, batch: int) -> Any:
    """Read the arrays that scipy saves, but not the data where it is all ones."""
    from scipy import sparse

    member = _npz_member(archive, "data")
    if member is not None and all(np.all(piece == 1) for piece in member.pieces(archive, batch)):
        data = np.ones(member.length, dtype=bool)
    else:
        data = archive["data"]
    parts = (data, archive["indices"], archive["indptr"])
    return sparse.csr_array(parts, shape=archive["shape"])


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


def _graph_of_arrays(archive: Any, wanted: list[str], file: GraphFile) -> Graph:
    options = file.options
    file.check_expansion(_expanded_size(archive, wanted))
    members = [_npz_member(archive, key) for key in wanted]
    columns = [member for member in members if member is not None]
    if len(columns) == len(wanted):
        check_lengths([column.length for column in columns])
        dtypes = [column.dtype for column in columns]
        build = _builder(wanted, dtypes, [dtype.kind for dtype in dtypes])
        if build is not None:
            batches = partial(_npz_batches, archive, columns, options.batch)
            return from_stream(_stream(columns[0].length, wanted, batches), build, options)
    return from_edge_arrays(*(as_column(archive[key]) for key in wanted), options=options)


def _stream(edges: int, columns: list[str], batches: Callable[[], Iterator[Batch]]) -> EdgeStream:
    """Return the edges of a file, whose weights are validated batch by batch."""

    def validated() -> Iterator[Batch]:
        row = 0
        for batch in batches():
            yield batch if batch.weight is None else _with_weights(batch, columns[2], row)
            row += len(batch.source)

    return EdgeStream(edges, len(columns) > 2, validated)


def _with_weights(batch: Batch, column: str, row: int) -> Batch:
    with np.errstate(over="ignore"):
        weight = np.asarray(batch.weight, np.float64)
    check_weights(
        weight,
        lambda t: (batch.source[t], batch.target[t]),
        lambda t: f", {_place(column, row + t)}",
    )
    return batch._replace(weight=weight)


def _builder(columns: list[str], types: list[Any], kinds: list[str]) -> Any:
    """Choose by the numpy kinds how names are numbered; ``None`` if that needs Python objects."""
    for column, kind, shown in zip(columns[:2], kinds, types, strict=False):
        if kind in "fc":
            msg = (
                f"node names in a file must be whole numbers or text, got {shown} in column "
                f"{column!r}.\n  Write the column with an integer type. Tables turn whole numbers "
                "into floats where some are missing:\n  drop these rows first. Beyond 2**53 digits "
                "are lost by then."
            )
            raise GraphError(msg)
    if any(kind not in "biuf" for kind in kinds[2:]):
        return None
    if set(kinds[:2]) <= set("iu"):
        return graph_of_integers
    return graph_of_texts if set(kinds[:2]) in ({"U"}, {"S"}) else None


@dataclass(frozen=True)
class _NpzMember:
    """The header of a one-dimensional array in an archive."""

    key: str
    length: int
    dtype: np.dtype[Any]
    begin: int

    def pieces(self, archive: Any, batch: int) -> Iterator[Any]:
        """Yield the array in parts of ``batch`` entries."""
        with _opened(archive, self.key) as stream:
            stream.read(self.begin)
            for begin in range(0, self.length, batch):
                count = min(batch, self.length - begin)
                raw = stream.read(count * self.dtype.itemsize)
                # numpy raises if a truncated file leaves fewer bytes than it needs.
                piece = np.frombuffer(raw, self.dtype, count)
                yield piece.astype(self.dtype.newbyteorder("="), copy=False)


def _npz_member(archive: Any, key: str) -> _NpzMember | None:
    """Read the header of an array; ``None`` if the array cannot be read in parts."""
    with _opened(archive, key) as stream:
        version = npy.read_magic(stream)
        if version not in _HEADERS:
            return None
        shape, _, dtype = _HEADERS[version](stream)
        begin = stream.tell()
    if len(shape) != 1 or dtype.hasobject or dtype.itemsize == 0:
        return None
    return _NpzMember(key, shape[0], dtype, begin)


def _opened(archive: Any, key: str) -> Any:
    return archive.zip.open(key if key in set(archive.zip.namelist()) else f"{key}.npy")


def _npz_batches(archive: Any, columns: list[_NpzMember], batch: int) -> Iterator[Batch]:
    ends = np.promote_types(columns[0].dtype, columns[1].dtype).newbyteorder("=")
    for parts in zip(*(column.pieces(archive, batch) for column in columns), strict=True):
        source, target, weight = (*parts, None)[:3]
        if ends.kind in "US":
            # Text is compared byte by byte, so both columns need the width of the wider one.
            source, target = (_padded_texts(end.astype(ends)) for end in (source, target))
        yield Batch(source, target, weight)


def _padded_texts(column: Any) -> Texts:
    width = column.dtype.itemsize
    decode = _from_utf_32 if column.dtype.kind == "U" else _from_padded_bytes
    return Texts(np.arange(0, (len(column) + 1) * width, width), column.view(np.uint8), decode)


def _from_utf_32(raw: bytes) -> str:
    return raw.decode(_UTF_32, "surrogatepass").rstrip("\0")


def _from_padded_bytes(raw: bytes) -> bytes:
    return raw.rstrip(b"\0")


def read_parquet(file: GraphFile) -> Graph:
    """Read the columns that hold the edges and the weights of a Parquet file."""
    options = file.options
    try:
        from pyarrow import parquet
        from pyarrow.types import is_dictionary
    except ImportError as error:
        msg = f"reading Parquet needs pyarrow, which is not installed.\n  {install_hint('parquet')}"
        raise MissingExtraError(msg) from error
    with file.parsing("Parquet"):
        content = parquet.ParquetFile(file.stream, buffer_size=_PARQUET_BUFFER, pre_buffer=False)
        names = content.schema_arrow.names
        wanted = edge_columns(names, options)
        file.check_expansion(announced_size(content, wanted))
        types = [content.schema_arrow.field(column).type for column in wanted]
        types = [kind.value_type if is_dictionary(kind) else kind for kind in types]
        build = _builder(wanted, types, list(map(_arrow_kind, types)))
        if build is not None:
            batches = partial(_parquet_batches, content, wanted, options.batch)
            stream = _stream(content.metadata.num_rows, wanted, batches)
            graph = from_stream(stream, build, options)
            return with_columns_described(graph, names, wanted, options)
        table = content.read(columns=wanted, use_threads=False)
    graph = from_edge_arrays(*(as_column(table[column]) for column in wanted), options=options)
    return with_columns_described(graph, names, wanted, options)


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


def _arrow_kind(kind: Any) -> str:
    """Return the kind that numpy has for an arrow type."""
    return _ARROW_KINDS.get(re.split(r"[0-9(\[]", str(kind))[0], "O")


def _parquet_batches(content: Any, columns: list[str], batch: int) -> Iterator[Batch]:
    from pyarrow import default_memory_pool

    row = 0
    for part in content.iter_batches(
        batch, columns=columns, use_threads=False, use_pandas_metadata=False
    ):
        source, target = (_arrow_names(part.column(name), name, row) for name in columns[:2])
        weight = None
        if len(columns) > 2:
            values = part.column(columns[2])
            if values.null_count:
                t = _first_null(values)
                edge, place = (source[t], target[t]), f", {_place(columns[2], row + t)}"
                raise bad_weight(value="null", edge=edge, place=place)
            weight = values.to_numpy(zero_copy_only=False)
        yield Batch(source, target, weight)
        row += part.num_rows
    # Free what arrow keeps for the next batch before the matrix is built.
    default_memory_pool().release_unused()


def _arrow_names(values: Any, column: str, row: int) -> Any:
    import pyarrow

    if isinstance(values, pyarrow.DictionaryArray):
        values = values.dictionary_decode()
    if values.null_count:
        place = _place(column, row + _first_null(values))
        msg = (
            f"node names must not be missing, got null {place}.\n"
            "  Drop these rows, or name the node."
        )
        raise GraphError(msg)
    kind = _arrow_kind(values.type)
    if kind == "i":
        return values.to_numpy()
    wide = values.cast(pyarrow.large_string() if kind == "U" else pyarrow.large_binary())
    _, raw_bounds, raw = wide.buffers()
    bounds = np.frombuffer(raw_bounds, np.int64)[wide.offset : wide.offset + len(wide) + 1]
    data = np.frombuffer(raw or b"", np.uint8)[bounds[0] : bounds[-1]]
    return Texts(bounds - bounds[0], data, bytes.decode if kind == "U" else bytes)


def _place(column: str, row: int) -> str:
    return f"in column {column!r}, row {row} (the first is 0)"


def _first_null(values: Any) -> int:
    return int(values.is_null().index(True).as_py())
