"""Partitions as files: JSON, CSV and Parquet, written whole or not at all."""

import csv
import gzip
import io
import json
import math
import os
import re
import secrets
import stat
import zlib
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._extras import install_hint
from kgroups._wording import function, in_python
from kgroups.errors import FileFormatError, InputError, MissingExtraError, PartitionError

if TYPE_CHECKING:
    from kgroups.partition import Partition

__all__ = [
    "SUFFIXES",
    "check_names",
    "check_suffix",
    "decode",
    "encode",
    "not_a_partition",
    "write_atomically",
]

SUFFIXES = (".json", ".json.gz", ".csv", ".csv.gz", ".parquet")
_COLUMNS = ["node", "community"]
_FORMAT = "kgroups partition"
_WHOLE_NUMBER = re.compile(r"\s*-?[0-9]{1,18}\s*")
_PLAIN_TYPES = (int, str, float, bool, type(None))
# What csv.reader accepts unless a limit for the whole process is raised.
_LONGEST_CSV_NAME = 131_072
# What makes spreadsheets take a cell for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix that says how a partition is written, or raise if it cannot be."""
    name = Path(path).name.lower()
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            if suffix == ".parquet":
                _pyarrow()
            return suffix
    msg = f"the name of a partition file must end in {', '.join(SUFFIXES)}; got {str(path)!r}."
    raise InputError(msg)


def check_names(path: str | os.PathLike[str], nodes: Sequence[Hashable]) -> None:
    """Raise if a file cannot hold these names, before there is a partition to lose."""
    suffix = check_suffix(path)
    if suffix == ".parquet":
        _parquet_names(nodes)
    elif suffix.startswith(".csv"):
        _csv_names(nodes)
    elif not isinstance(nodes, range):
        for node in nodes:
            _as_json(node)


def encode(partition: "Partition", path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file for ``partition`` in the format that the suffix names."""
    suffix = check_suffix(path)
    if suffix == ".parquet":
        return _to_parquet(partition)
    content = _to_json(partition) if suffix.startswith(".json") else _to_csv(partition)
    return gzip.compress(content, mtime=0) if suffix.endswith(".gz") else content


def decode(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the arguments of the Partition that a file holds."""
    suffix = check_suffix(path)
    content = Path(path).read_bytes()
    if suffix == ".parquet":
        return _from_parquet(content, path)
    try:
        plain = gzip.decompress(content) if suffix.endswith(".gz") else content
        text = plain.decode("utf-8-sig", "surrogatepass")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise not_a_partition(path, f"it cannot be read as text: {error}") from error
    return _from_json(text, path) if suffix.startswith(".json") else _from_csv(text, path)


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write beside the target and move into place, so that no reader sees half a file.

    A file that is replaced keeps its permissions, and nobody else can read the new content before.
    """
    target = Path(path).resolve()
    passing = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    try:
        passing.touch(0o666 if mode is None else 0o600, exist_ok=False)
        passing.write_bytes(content)
        if mode is not None:
            passing.chmod(mode)
        passing.replace(target)
    finally:
        passing.unlink(missing_ok=True)


def _to_json(partition: "Partition") -> bytes:
    n = partition.labels.size
    spectrum = partition.known_spectrum
    document = {
        "format": _FORMAT,
        "version": 1,
        "n": n,
        "k": partition.k,
        "nodes": None if partition.nodes == range(n) else [_as_json(v) for v in partition.nodes],
        "labels": partition.labels.tolist(),
        "uninformed": [_as_json(node) for node in partition.uninformed],
        "spectrum": None if spectrum is None else spectrum.to_dict(),
    }
    return (json.dumps(document, allow_nan=False) + "\n").encode()


def _from_json(text: str, path: object) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise not_a_partition(path, f"it is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise not_a_partition(path, f'it lacks "format": "{_FORMAT}"')
    if document.get("version") != 1:
        raise not_a_partition(path, f"its version is {document.get('version')!r}, not 1")
    try:
        nodes, labels = document["nodes"], document["labels"]
        if not all(type(label) is int for label in labels):
            raise not_a_partition(path, '"labels" must hold whole numbers only')
        saved = document["spectrum"]
        return {
            "labels": np.array(labels, np.int64),
            "nodes": None if nodes is None else [_from_json_name(node) for node in nodes],
            "uninformed": [_from_json_name(node) for node in document["uninformed"]],
            "spectrum": None if saved is None else _spectrum(saved),
        }
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise not_a_partition(path, f"{type(error).__name__}: {error}") from error


def _spectrum(saved: dict[str, Any]) -> Any:
    from kgroups.spectrum import Spectrum

    return Spectrum.from_dict(saved)


def _as_json(name: Hashable) -> Any:
    if isinstance(name, np.generic):
        name = name.item()
    if type(name) is tuple:
        return {"tuple": [_as_json(part) for part in name]}
    if type(name) is float and not math.isfinite(name):
        return {"float": str(name)}
    if type(name) in _PLAIN_TYPES:
        return name
    msg = (
        "node names in a JSON file must be of type int, str, float, bool, None or tuple, got "
        f"{name!r} of type {type(name).__name__}.\n"
        f"  Rename the nodes first{in_python(', or keep the partition with pickle')}."
    )
    raise PartitionError(msg)


def _from_json_name(value: Any) -> Hashable:
    match value:
        case {"tuple": list(parts)}:
            return tuple(_from_json_name(part) for part in parts)
        case {"float": str(text)}:
            return float(text)
        case int() | str() | float() | None:
            return value
    msg = f"{value!r} is not the name of a node"
    raise ValueError(msg)


def _to_csv(partition: "Partition") -> bytes:
    names = _csv_names(partition.nodes)
    stream = io.StringIO(newline="")
    stream.write(",".join(_COLUMNS) + "\n")
    # Quotes change nothing for readers of CSV. The writer does not see that a bare carriage return
    # ends a line for them, and some spreadsheets can be told to take what is quoted for text.
    if any(isinstance(v, str) and (v.startswith(_FORMULA_STARTS) or "\r" in v) for v in names):
        writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    else:
        writer = csv.writer(stream, lineterminator="\n")
    writer.writerows(zip(names, partition.labels.tolist(), strict=True))
    return stream.getvalue().encode("utf-8", "surrogatepass")


def _csv_names(nodes: Sequence[Hashable]) -> Sequence[int | str]:
    if isinstance(nodes, range):
        return nodes
    names = _names_of_a_table(nodes)
    for name in names:
        if isinstance(name, str) and len(name) > _LONGEST_CSV_NAME:
            msg = (
                f"node names in a .csv file must have at most {_LONGEST_CSV_NAME:,} characters, "
                f"got one of {len(name):,} that begins with {name[:20]!r}.\n  Save as .json."
            )
            raise PartitionError(msg)
    return names


def _from_csv(text: str, path: object) -> dict[str, Any]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    names: list[str] = []
    labels: list[int] = []
    try:
        header = next(reader, None)
        if header != _COLUMNS:
            raise not_a_partition(path, f"line 1 must be {','.join(_COLUMNS)}, got {header!r}")
        for row in reader:
            if len(row) != len(_COLUMNS):
                reason = f"line {reader.line_num} must have a node and a community, got {row!r}"
                raise not_a_partition(path, reason)
            names.append(row[0])
            labels.append(_whole_number(row[1], path, reader.line_num))
    except csv.Error as error:
        raise not_a_partition(path, f"line {reader.line_num}: {error}") from error
    return {"labels": np.array(labels, np.int64), "nodes": _numbers_or_text(names)}


def _whole_number(text: str, path: object, line: int) -> int:
    if _WHOLE_NUMBER.fullmatch(text) is None:
        reason = f"line {line} must name its community by a whole number, got {text!r}"
        raise not_a_partition(path, reason)
    return int(text)


def _numbers_or_text(names: list[str]) -> list[int] | list[str]:
    try:
        numbers = [int(name) for name in names]
    except ValueError:
        return names
    return numbers if [str(number) for number in numbers] == names else names


def _to_parquet(partition: "Partition") -> bytes:
    pyarrow, parquet = _pyarrow()
    columns = [_parquet_names(partition.nodes), pyarrow.array(partition.labels)]
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(columns, names=_COLUMNS), sink)
    return sink.getvalue()


def _parquet_names(nodes: Sequence[Hashable]) -> Any:
    pyarrow, _ = _pyarrow()
    if isinstance(nodes, range):
        # An array of numbers needs no object per node.
        return pyarrow.array(np.arange(nodes.start, nodes.stop, nodes.step))
    names = _names_of_a_table(nodes)
    try:
        return pyarrow.array(names)
    except (pyarrow.ArrowException, OverflowError, UnicodeEncodeError) as error:
        msg = f"a .parquet file cannot hold these node names: {error}.\n  Save as .json."
        raise PartitionError(msg) from error


def _from_parquet(content: bytes, path: object) -> dict[str, Any]:
    pyarrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(io.BytesIO(content))
        nodes, labels = (table.column(name) for name in _COLUMNS)
    except (pyarrow.ArrowException, OSError, KeyError) as error:
        raise not_a_partition(path, str(error)) from error
    if labels.null_count or not pyarrow.types.is_integer(labels.type):
        raise not_a_partition(path, "the column community must hold whole numbers only")
    return {"labels": labels.to_numpy(), "nodes": nodes.to_pylist()}


def _names_of_a_table(nodes: Sequence[Hashable]) -> list[int | str]:
    names = [name.item() if isinstance(name, np.generic) else name for name in nodes]
    for name in names:
        if type(name) not in (int, str):
            msg = (
                "node names in a table must be of type int or str, got "
                f"{name!r} of type {type(name).__name__}.\n"
                "  Save as .json, which also keeps float, bool, None and tuple."
            )
            raise PartitionError(msg)
    other = next((name for name in names if type(name) is not type(names[0])), None)
    if other is not None:
        msg = (
            "node names in a table must be all int or all str, got "
            f"{names[0]!r} and {other!r}.\n"
            "  Save as .json, which keeps types."
        )
        raise PartitionError(msg)
    return names  # type: ignore[return-value]


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        msg = f"Parquet files need pyarrow. {install_hint('parquet')}"
        raise MissingExtraError(msg) from error
    return pyarrow, parquet


def not_a_partition(path: object, reason: str) -> FileFormatError:
    """Return the error for a file that does not hold a partition."""
    return FileFormatError(
        f"{path} does not hold a partition: {reason.rstrip('.')}.\n"
        f"  {function('Partition.save()')} writes such files; a table needs the columns node and "
        "community."
    )
