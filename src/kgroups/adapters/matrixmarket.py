"""Matrix Market files to ``Graph``.

``scipy.io.mmread`` ends the whole process on some malformed files, which files from elsewhere may
be, so that this reader parses them with numpy.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from kgroups.adapters.matrix import from_sparse
from kgroups.adapters.records import line_blocks, read_records
from kgroups.adapters.text import ReadOptions, check_claim, format_error, numbered_lines
from kgroups.errors import FileFormatError
from kgroups.graph import Graph

__all__ = ["read_matrix_market"]

_BANNER = re.compile(
    r"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+(real|double|integer|pattern)"
    r"\s+(general|symmetric|skew-symmetric)\s*",
    re.IGNORECASE,
)
_COMMENT_LINE = re.compile(rb"(?m)^[ \t]*%[^\n]*")
_SIZE = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class _Header:
    """What the first lines say: sizes, and the number of the line that gives them."""

    layout: str
    field: str
    symmetry: str
    sizes: tuple[int, ...]
    line: int


def read_matrix_market(file: BinaryIO, name: str, options: ReadOptions) -> Graph:
    """Read a square matrix of real numbers or of a pattern."""
    from scipy import sparse

    header = _read_header(file, name)
    n_rows, n_columns = header.sizes[:2]
    if header.layout == "array":
        rows, columns, values = _array_entries(file, name, header)
    else:
        check_claim(name, max(n_rows, n_columns), header.sizes[2])
        rows, columns, values = _coordinate_entries(file, name, header)
    if header.symmetry != "general":
        off = rows != columns
        sign = -1 if header.symmetry == "skew-symmetric" else 1
        rows, columns = np.r_[rows, columns[off]], np.r_[columns, rows[off]]
        values = np.r_[values, sign * values[off]]
    matrix = sparse.coo_array((values, (rows, columns)), shape=(n_rows, n_columns))
    return from_sparse(matrix, options.weight, options.symmetrize)


def _read_header(file: BinaryIO, name: str) -> _Header:
    lines = _lines(file, name)
    _, banner = next(lines, (1, ""))
    match = _BANNER.fullmatch(banner)
    if match is None:
        problem = f"the first line must announce a real Matrix Market matrix, got {banner[:60]!r}"
        hint = "Begin for instance with: %%MatrixMarket matrix coordinate real symmetric"
        raise format_error(name, 1, problem, hint)
    layout, field, symmetry = (part.lower() for part in match.groups())
    for number, line in lines:
        if not line.strip() or line.lstrip().startswith("%"):
            continue
        words = line.split()
        expected = 3 if layout == "coordinate" else 2
        if len(words) != expected or not all(map(_SIZE.fullmatch, words)):
            problem = (
                f"the line of sizes must hold {expected} whole numbers, got {line.strip()[:60]!r}"
            )
            raise format_error(name, number, problem, "Give rows, columns and entries.")
        return _Header(layout, field, symmetry, tuple(map(int, words)), number)
    raise format_error(name, None, "the line of sizes is missing", "Check that the file is whole.")


def _lines(file: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    """Yield numbered lines while the file stays at the end of the last one."""
    return numbered_lines(iter(file.readline, b""), name)


def _coordinate_entries(file: BinaryIO, name: str, header: _Header) -> tuple[Any, Any, Any]:
    kinds = [("row", np.int64), ("column", np.int64)]
    has_values = header.field != "pattern"
    record = np.dtype([*kinds, ("value", np.float64)] if has_values else kinds)
    entries = _records(file, name, header, record)
    _check_count(name, len(entries), header.sizes[2])
    for part, size in zip(("row", "column"), header.sizes, strict=False):
        bad = np.flatnonzero((entries[part] < 1) | (entries[part] > size))
        if bad.size:
            problem = f"{part}s are numbered from 1 to {size}, got {entries[part][bad[0]]}"
            place = f"entry {bad[0] + 1}: {problem}"
            raise format_error(name, None, place, "Correct this entry or the line of sizes.")
    values = entries["value"] if has_values else np.ones(len(entries))
    return entries["row"] - 1, entries["column"] - 1, values


def _array_entries(file: BinaryIO, name: str, header: _Header) -> tuple[Any, Any, Any]:
    entries = _records(file, name, header, np.dtype([("value", np.float64)]))
    n_rows, n_columns = header.sizes
    lowest = {"general": 0, "symmetric": 0, "skew-symmetric": 1}[header.symmetry]
    is_triangle = header.symmetry != "general"
    full = (n_rows * (n_rows + 1 - 2 * lowest)) // 2 if is_triangle else n_rows * n_columns
    _check_count(name, len(entries), full)
    if is_triangle and n_rows == n_columns:
        columns, rows = np.triu_indices(n_rows, lowest)
    else:
        columns, rows = np.divmod(np.arange(full), max(n_rows, 1))
    return rows, columns, entries["value"]


def _records(file: BinaryIO, name: str, header: _Header, record: "np.dtype[Any]") -> Any:
    blocks = (_COMMENT_LINE.sub(b"", block) for block in line_blocks(file))
    entries = read_records(blocks, record, None)
    if entries is None:
        file.seek(0)
        raise _first_bad_line(file, name, header, record)
    return entries


def _first_bad_line(
    file: BinaryIO, name: str, header: _Header, record: "np.dtype[Any]"
) -> FileFormatError:
    for number, line in numbered_lines(file, name):
        if number <= header.line or not line.strip() or line.lstrip().startswith("%"):
            continue
        if read_records([line.encode()], record, None) is None:
            problem = (
                f"an entry must be {len(record.names or ())} numbers, got {line.strip()[:60]!r}"
            )
            return format_error(name, number, problem, "Correct this line.")
    return format_error(name, None, "the entries are malformed", "Check that the file is whole.")


def _check_count(name: str, got: int, expected: int) -> None:
    if got != expected:
        problem = f"the sizes ask for {expected} entries, got {got}"
        raise format_error(name, None, problem, "Check that the file is whole.")
