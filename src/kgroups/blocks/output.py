"""Tables with a row for each node of a stored graph, written in batches."""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kgroups._output import FORMULA_STARTS, check_writable, import_pyarrow, replacing
from kgroups._types import Ints
from kgroups._wording import in_python
from kgroups.errors import InputError, PartitionError
from kgroups.partition.files import LONGEST_CSV_NAME

SUFFIXES = (".csv", ".csv.gz", ".parquet")

# Rows that are written at once; a row group of a Parquet file.
_ROWS = 1 << 18


def check_table(path: str | os.PathLike[str]) -> str:
    """Return the suffix that names the format of a table, or raise if it cannot be written."""
    name = Path(path).name.lower()
    found = next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)
    if found is None:
        advice = in_python(
            "\n  partition.to_partition().save(path) writes others, if the graph fits in memory."
        )
        msg = (
            "the name of a file with the communities of a stored graph must end in "
            f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, got {str(path)!r}.{advice}"
        )
        raise InputError(msg)
    if found == ".parquet":
        import_pyarrow()
    check_writable(path)
    return found


def write_table(path: str | os.PathLike[str], names: Any, labels: Ints) -> None:
    """Write names and communities of nodes, whole or not at all.

    The content is that of :meth:`kgroups.Partition.save`, and no object of Python is made for a
    node.

    Parameters
    ----------
    path : path
        Its suffix is one of ``SUFFIXES``.
    names : ndarray of int, or Arrow array of text
        The names of the nodes.
    labels : ndarray of int
        The community of each node.
    """
    suffix = check_table(path)
    if suffix == ".parquet":
        with replacing(path) as temporary:
            _write_parquet(temporary, names, labels)
        return
    is_text = not isinstance(names, np.ndarray)
    quoted = is_text and _must_quote(names)
    with replacing(path) as temporary, _opened(temporary, suffix) as file:
        file.write(b"node,community\n")
        for some in _chunks(len(labels)):
            part = names[some]
            if is_text:
                file.write(_text_rows(_text_fields(part, quoted=quoted), labels[some]))
            else:
                file.write(_rows(part, labels[some]))


def _chunks(n: int) -> Iterator[slice]:
    return (slice(first, min(first + _ROWS, n)) for first in range(0, n, _ROWS))


def _write_parquet(path: Path, names: Any, labels: Ints) -> None:
    pyarrow, parquet = import_pyarrow()
    is_text = not isinstance(names, np.ndarray)
    node = pyarrow.string() if is_text else pyarrow.int64()
    schema = pyarrow.schema({"node": node, "community": pyarrow.int64()})
    with parquet.ParquetWriter(path, schema) as writer:
        for some in _chunks(len(labels)):
            part = names[some].cast(node) if is_text else pyarrow.array(names[some])
            community = pyarrow.array(labels[some].astype(np.int64))
            writer.write_batch(pyarrow.record_batch([part, community], schema=schema))


@contextmanager
def _opened(path: Path, suffix: str) -> Iterator[BinaryIO]:
    with path.open("wb") as file:
        if suffix == ".csv":
            yield file
            return
        # The same content gives the same file on any day.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]


def _rows(names: Ints, labels: Ints) -> bytes:
    """Return the lines of a table whose names are whole numbers."""
    n = labels.size
    cells = [names.astype(np.bytes_), np.full(n, b","), labels.astype(np.bytes_), np.full(n, b"\n")]
    table = np.hstack([one.view(np.uint8).reshape(n, -1) for one in cells])
    # Shorter numbers are padded by zero bytes.
    return bytes(table[table != 0])


def _must_quote(names: Any) -> bool:
    """Return whether a spreadsheet could read some name as a formula, or a line's end in it.

    Raises if some name is too long.
    """
    from pyarrow import compute

    found = False
    starts = "".join(f"\\x{ord(start):02x}" for start in FORMULA_STARTS)
    for some in _chunks(len(names)):
        part = names[some]
        longest = compute.max(compute.utf8_length(part)).as_py()
        if longest > LONGEST_CSV_NAME:
            msg = (
                f"node names in a .csv file must have at most {LONGEST_CSV_NAME:,} characters, got "
                f"one of {longest:,}.\n  Save as .parquet."
            )
            raise PartitionError(msg)
        found = (
            found or compute.any(compute.match_substring_regex(part, f"^[{starts}]|\\r")).as_py()
        )
    return found


def _joined(*parts: Any) -> Any:
    """Return the texts of arrays joined, with texts between them that are the same for all."""
    import pyarrow
    from pyarrow import compute

    kind = pyarrow.large_string()
    given = [pyarrow.scalar(one, kind) if isinstance(one, str) else one for one in (*parts, "")]
    return compute.binary_join_element_wise(*given)


def _text_fields(names: Any, *, quoted: bool) -> Any:
    """Return names as fields of a CSV file, in quotes where these are needed or for all."""
    from pyarrow import compute

    in_quotes = _joined('"', compute.replace_substring(names, '"', '""'), '"')
    if quoted:
        return in_quotes
    return compute.if_else(compute.match_substring_regex(names, '[,"\n]'), in_quotes, names)


def _text_rows(fields: Any, labels: Ints) -> bytes:
    """Return the lines of a table whose names are text."""
    import pyarrow

    communities = pyarrow.array(labels).cast(pyarrow.large_string())
    lines = _joined(fields, ",", communities, "\n")
    _, offsets, content = lines.buffers()
    bounds = np.frombuffer(offsets, np.int64)[lines.offset : lines.offset + len(lines) + 1]
    return bytes(memoryview(content)[int(bounds[0]) : int(bounds[-1])])
