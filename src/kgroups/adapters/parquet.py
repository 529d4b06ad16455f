"""Parquet files to ``Graph``, batch by batch."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from kgroups._extras import install_hint
from kgroups.adapters.arrays import as_column, from_edge_arrays, from_stream
from kgroups.adapters.columns import edge_columns
from kgroups.adapters.numbering import Texts
from kgroups.adapters.streams import BATCH, Batch, graph_of_integers, graph_of_texts
from kgroups.adapters.text import ReadOptions, parsing
from kgroups.adapters.weights import (
    bad_weight_of_row,
    fractional_names,
    missing_name,
    weights_of_rows,
)
from kgroups.errors import MissingExtraError
from kgroups.graph import Graph

__all__ = ["read_parquet"]

_READ_AHEAD = 1 << 20
_BYTES_PER_VALUE = 8


def read_parquet(file: BinaryIO, name: str, options: ReadOptions) -> Graph:
    """Read the columns that hold the edges and the weights of a Parquet file."""
    symmetrize = options.symmetrize
    try:
        from pyarrow import parquet
    except ImportError as error:
        msg = f"reading Parquet needs pyarrow, which is not installed.\n  {install_hint('parquet')}"
        raise MissingExtraError(msg) from error
    with parsing(name, "Parquet"):
        # With a buffer, pages are read one by one; else a row group is read as a whole.
        content = parquet.ParquetFile(file, buffer_size=_READ_AHEAD, pre_buffer=False)
        names = content.schema_arrow.names
        wanted = edge_columns(names, options.weight, options.source, options.target)
        if symmetrize == "union":
            del wanted[2:]
        _check_expansion(content, wanted, options)
        stream = _ParquetEdges(content, wanted)
        build = _builder([content.schema_arrow.field(column).type for column in wanted], wanted)
        if build is not None:
            return from_stream(stream, build, symmetrize)
        table = content.read(columns=wanted)
    source, target, *rest = (as_column(table[column]) for column in wanted)
    return from_edge_arrays(source, target, rest[0] if rest else None, symmetrize)


def _check_expansion(content: Any, wanted: list[str], options: ReadOptions) -> None:
    """Check what the columns announce: bytes in the file, and numbers or texts in memory."""
    announced = content.metadata.num_rows * len(wanted) * _BYTES_PER_VALUE
    for group in range(content.metadata.num_row_groups):
        row_group = content.metadata.row_group(group)
        columns = map(row_group.column, range(row_group.num_columns))
        announced += sum(
            column.total_uncompressed_size for column in columns if column.path_in_schema in wanted
        )
    options.limit.check(announced)


def _builder(kinds: list[Any], columns: list[str]) -> Any:
    """Choose how names are numbered; ``None`` for types that need Python objects."""
    from pyarrow import types

    plain = [kind.value_type if types.is_dictionary(kind) else kind for kind in kinds]
    for kind, column in zip(plain[:2], columns, strict=False):
        if types.is_floating(kind) or types.is_decimal(kind):
            raise fractional_names(column, str(kind))
    for kind in plain[2:]:
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            return None
    if all(map(types.is_integer, plain[:2])):
        return graph_of_integers
    if all(map(_is_text, plain[:2])) or all(map(_is_bytes, plain[:2])):
        return graph_of_texts
    return None


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _is_bytes(kind: Any) -> bool:
    return str(kind) in ("binary", "large_binary", "binary_view")


class _ParquetEdges:
    """The edges of a Parquet file."""

    def __init__(self, content: Any, columns: list[str]) -> None:
        self._content = content
        self._columns = columns
        self.edges: int = content.metadata.num_rows
        self.weighted = len(columns) > 2

    def batches(self) -> Iterator[Batch]:
        """Read the file from the start."""
        from pyarrow import default_memory_pool

        row = 0
        for batch in self._content.iter_batches(
            BATCH, columns=self._columns, use_threads=False, use_pandas_metadata=False
        ):
            source, target = (
                _names(batch.column(column), column, row) for column in self._columns[:2]
            )
            weight = None
            if self.weighted:
                column = self._columns[2]
                values = batch.column(column)
                if values.null_count:
                    t = _first_null(values)
                    raise bad_weight_of_row(source[t], target[t], "null", column, row + t)
                weight = weights_of_rows(
                    values.to_numpy(zero_copy_only=False),
                    source,
                    target,
                    column=column,
                    first_row=row,
                )
            yield Batch(source, target, weight)
            row += batch.num_rows
        # What arrow keeps for the next batch would lie beside the matrix.
        default_memory_pool().release_unused()


def _names(values: Any, column: str, row: int) -> Any:
    from pyarrow import types

    if types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.null_count:
        raise missing_name(column, row + _first_null(values))
    if types.is_integer(values.type):
        return values.to_numpy()
    return _texts(values)


def _first_null(values: Any) -> int:
    return int(values.is_null().index(True).as_py())


def _texts(values: Any) -> Texts:
    import pyarrow

    is_text = _is_text(values.type)
    wide = values.cast(pyarrow.large_string() if is_text else pyarrow.large_binary())
    _, bounds, data = wide.buffers()
    return Texts(
        np.frombuffer(bounds, np.int64)[wide.offset : wide.offset + len(wide) + 1],
        np.frombuffer(data or b"", np.uint8),
        bytes.decode if is_text else bytes,
    )
