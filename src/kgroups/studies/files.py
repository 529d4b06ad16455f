"""Tables of studies as files: CSV and Parquet, written whole or not at all."""

import csv
import gzip
import io
import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgroups._extras import install_hint
from kgroups._partition_io import write_atomically
from kgroups._wording import function
from kgroups.errors import FileFormatError, InputError, MissingExtraError

__all__ = ["check_table_name", "read_table", "write_table"]

_SUFFIXES = (".csv", ".csv.gz", ".parquet")
_ALWAYS = ("trial", "method", "k_given", "k_hat", "seconds", "seed")
_WORDS = {"": None, "True": True, "False": False}

Row = Mapping[str, Any]


def check_table_name(path: str | os.PathLike[str]) -> str:
    """Return the suffix that says how a table is written, or raise."""
    name = Path(path).name.lower()
    for suffix in reversed(_SUFFIXES):
        if name.endswith(suffix):
            return suffix
    msg = f"the name of a table must end in {', '.join(_SUFFIXES)}; got {str(path)!r}."
    raise InputError(msg)


def write_table(path: str | os.PathLike[str], columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Write rows in the format that the suffix names."""
    suffix = check_table_name(path)
    if suffix == ".parquet":
        pyarrow, parquet = _pyarrow()
        table = pyarrow.table({name: [row[name] for row in rows] for name in columns})
        sink = io.BytesIO()
        parquet.write_table(table, sink)
        write_atomically(path, sink.getvalue())
        return
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    content = text.getvalue().encode()
    write_atomically(path, gzip.compress(content, mtime=0) if suffix == ".csv.gz" else content)


def read_table(path: str | os.PathLike[str]) -> tuple[list[str], list[Row]]:
    """Return the columns and rows of a table that :func:`write_table` wrote."""
    suffix = check_table_name(path)
    content = Path(path).read_bytes()
    columns, rows = _from_parquet(content) if suffix == ".parquet" else _from_csv(content, path)
    missing = [name for name in _ALWAYS if name not in columns]
    if missing:
        msg = (
            f"{path} does not hold a study: it has no column {missing[0]!r}.\n"
            f"  {function('Study.save()')} writes such files."
        )
        raise FileFormatError(msg)
    return columns, rows


def _from_parquet(content: bytes) -> tuple[list[str], list[Row]]:
    pyarrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(io.BytesIO(content))
    except (pyarrow.ArrowException, OSError) as error:
        msg = (
            f"the file is not a Parquet table: {error}.\n"
            f"  {function('Study.save()')} writes such files."
        )
        raise FileFormatError(msg) from error
    return table.column_names, table.to_pylist()


def _from_csv(content: bytes, path: object) -> tuple[list[str], list[Row]]:
    try:
        plain = gzip.decompress(content) if str(path).lower().endswith(".gz") else content
        reader = csv.reader(io.StringIO(plain.decode("utf-8-sig"), newline=""), strict=True)
        columns = next(reader, [])
        rows: list[Row] = []
        for cells in reader:
            values = map(_value, columns, cells)
            rows.append(dict(zip(columns, values, strict=True)))
    except (OSError, EOFError, zlib.error, ValueError, csv.Error) as error:
        msg = (
            f"{path} does not hold a study: {error}.\n"
            f"  {function('Study.save()')} writes such files."
        )
        raise FileFormatError(msg) from error
    return columns, rows


def _value(column: str, text: str) -> Any:
    if column == "method":
        return text
    if text in _WORDS:
        return _WORDS[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        msg = f"Parquet files need pyarrow. {install_hint('parquet')}"
        raise MissingExtraError(msg) from error
    return pyarrow, parquet
