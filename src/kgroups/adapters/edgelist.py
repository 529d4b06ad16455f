"""Edge lists as text: vectorised where all names are integers, line by line otherwise."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np

from kgroups._types import Floats, Ints, Symmetrize
from kgroups._wording import setting
from kgroups.adapters.arrays import from_edge_arrays
from kgroups.adapters.columns import end_columns, ends_argument, weight_column
from kgroups.adapters.direction import refuse_directed
from kgroups.adapters.records import line_blocks, read_records
from kgroups.adapters.text import (
    ReadOptions,
    all_integers,
    format_error,
    named_as_in_file,
    numbered_lines,
    plain_number,
)
from kgroups.adapters.weights import no_such_attribute
from kgroups.errors import FileFormatError, GraphError
from kgroups.graph import Graph

__all__ = ["read_edge_list"]

_NUMBER = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")
_COMMENT = re.compile(r"(?:^|\s)[#%].*")
_COMMENT_BYTES = re.compile(rb"(?m)(?:^|[ \t])[#%][^\r\n]*")
_UNUSUAL_INTEGER = re.compile(rb"(?<![0-9A-Za-z.+-])[+-]?0[0-9]|(?<![0-9A-Za-z.])(?:\+[0-9]|-0)")


@dataclass(frozen=True)
class _Layout:
    """Which field of a line is what."""

    delimiter: str | None
    n_fields: int
    source: int
    target: int
    weight: int | None
    direction: int | None
    header_line: int | None
    fields: tuple[str, ...]
    is_guess: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether a line holds nothing but source, target and perhaps weight, in this order."""
        return (
            (self.source, self.target) == (0, 1)
            and self.direction is None
            and (self.n_fields == 2 or (self.n_fields == 3 and self.weight in (None, 2)))
        )


def read_edge_list(file: BinaryIO, name: str, options: ReadOptions) -> Graph:
    """Read one edge per line; see :func:`kgroups.read_graph` for the form."""
    layout = _find_layout(file, name, options)
    if layout is None:
        return Graph(np.zeros(1, np.int32), np.zeros(0, np.int32))
    file.seek(0)
    columns = _integer_columns(file, layout) if layout.is_bare else None
    if columns is not None:
        source, target, weights = columns
        return from_edge_arrays(source, target, weights, options.symmetrize)
    file.seek(0)
    return _line_by_line(file, name, layout, options.symmetrize)


def _find_layout(file: BinaryIO, name: str, options: ReadOptions) -> _Layout | None:
    """Look at the first line that is not a comment; ``None`` when there is no such line."""
    weight = options.weight
    for number, line in _data_lines(file, name):
        tries = (",", "\t", ";") if ".csv" in name.lower() else ("\t", ",", ";")
        delimiter = next((mark for mark in tries if mark in line), None)
        fields = tuple(_split(line, delimiter, name, number))
        ends = _ends_in_header(fields, name, number, options)
        if ends is not None:
            layout = _layout_of_header(fields, ends, delimiter, number, weight)
            return replace(layout, is_guess=not _is_surely_header(fields, ends, options))
        if len(fields) not in (2, 3):
            problem = (
                f"a line must hold two node names and perhaps a weight, got {len(fields)} fields"
            )
            hint = f"Begin with a header and {_header_hint()}, or drop the others."
            raise format_error(name, number, problem, hint)
        if weight not in (None, "weight") and len(fields) == 2:
            raise no_such_attribute(str(weight), (), kind="column")
        third = 2 if weight is not None and len(fields) == 3 else None
        return _Layout(delimiter, len(fields), 0, 1, third, None, None, fields)
    return None


def _ends_in_header(
    fields: tuple[str, ...], name: str, number: int, options: ReadOptions
) -> tuple[int, int] | None:
    """Return the columns of both ends if the line names columns, and does not hold an edge."""
    try:
        ends = end_columns(fields, options.source, options.target)
    except GraphError as error:
        msg = f"{name}, line {number}: {error}"
        raise FileFormatError(msg) from None
    if ends is None or _is_surely_header(fields, ends, options):
        return ends
    return None if any(map(_NUMBER.fullmatch, fields)) else ends


def _is_surely_header(fields: tuple[str, ...], ends: tuple[int, int], options: ReadOptions) -> bool:
    """Whether the caller named the columns, or the line says source and target."""
    titles = {fields[end].lower() for end in ends}
    return options.source is not None or titles == {"source", "target"}


def _layout_of_header(
    fields: tuple[str, ...],
    ends: tuple[int, int],
    delimiter: str | None,
    number: int,
    weight: str | None,
) -> _Layout:
    column = weight_column(fields, weight, ends)
    titles = [field.lower() for field in fields]
    direction = titles.index("type") if "type" in titles else None
    if direction in (column, *ends):
        direction = None
    return _Layout(delimiter, len(fields), *ends, column, direction, number, fields)


def _data_lines(file: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    for number, line in numbered_lines(file, name):
        text = line
        if "#" in line or "%" in line:
            if line.lstrip().startswith(("#", "%")):
                continue
            text = line if '"' in line else _COMMENT.sub("", line)
        if text and not text.isspace():
            yield number, text


def _split(line: str, delimiter: str | None, name: str, number: int) -> list[str]:
    if '"' not in line:
        return [field.strip() for field in line.split(delimiter)]
    try:
        fields = next(
            csv.reader(
                [line.strip()], delimiter=delimiter or " ", skipinitialspace=True, strict=True
            )
        )
    except csv.Error as error:
        raise format_error(name, number, f"{error}", "Check the quotes in this line.") from None
    return [field.strip() for field in fields]


def _integer_columns(file: BinaryIO, layout: _Layout) -> tuple[Ints, Ints, Floats | None] | None:
    """Read all lines at once, or return ``None`` if some name is not a plain integer."""
    kinds = [("source", np.int64), ("target", np.int64)]
    record = np.dtype([*kinds, ("weight", np.float64)] if layout.n_fields == 3 else kinds)
    blocks = _blocks(file, layout)
    edges = read_records(blocks, record, layout.delimiter, refuse=_has_unusual_integers)
    if edges is None:
        return None
    weights = edges["weight"].copy() if layout.weight is not None else None
    return edges["source"].copy(), edges["target"].copy(), weights


def _has_unusual_integers(block: bytes) -> bool:
    """Whether some integer is written as 007, +7 or -0, which are names of their own."""
    characters = np.frombuffer(b"\n" + block, np.uint8)
    is_digit = characters - ord("0") < 10
    starts_with_zero = (
        (characters[1:-1] == ord("0"))
        & is_digit[2:]
        & ~is_digit[:-2]
        & (characters[:-2] != ord("."))
    )
    # The exact pattern is slow, so that only blocks that may hold one are searched for it.
    suspicious = b"+" in block or b"-0" in block or bool(starts_with_zero.any())
    return suspicious and _UNUSUAL_INTEGER.search(block) is not None


def _blocks(file: BinaryIO, layout: _Layout) -> Iterator[bytes]:
    """Yield blocks of whole lines without the comments and the header."""
    start = True
    for block in line_blocks(file):
        has_comments = b"#" in block or b"%" in block
        text = _COMMENT_BYTES.sub(b"", block) if has_comments else block
        if start and text.strip():
            text = text.removeprefix(b"\xef\xbb\xbf").lstrip()
            if layout.header_line is not None:
                text = text.partition(b"\n")[2]
            start = False
        yield text


def _line_by_line(
    file: BinaryIO, name: str, layout: _Layout, symmetrize: Symmetrize | None
) -> Graph:
    source: list[str] = []
    target: list[str] = []
    weights: list[float] = []
    first: int | None = None
    for number, line in _data_lines(file, name):
        if number == layout.header_line:
            continue
        fields = _split(line, layout.delimiter, name, number)
        if len(fields) != layout.n_fields:
            raise _wrong_length(name, number, len(fields), layout.n_fields)
        u, v = fields[layout.source], fields[layout.target]
        if not u or not v:
            raise format_error(name, number, "a node name is empty", "Name both ends of the edge.")
        if layout.direction is not None and fields[layout.direction].lower() == "directed":
            refuse_directed(
                f"{name}, where line {number} says {fields[layout.direction]}", symmetrize
            )
        if layout.weight is not None:
            weights.append(_weight(fields[layout.weight], name, number))
        source.append(u)
        target.append(v)
        first = number if first is None else first
    _refuse_unknown_header(name, layout, first, source, target)
    if layout.is_guess:
        _refuse_doubtful_header(name, layout, {*source, *target})
    names = np.empty(2 * len(source), dtype=object)
    names[:] = named_as_in_file([*source, *target], file, name)
    if len(source) and isinstance(names[0], int) and max(map(abs, names)) < 2**63:
        names = names.astype(np.int64)
    ends = names[: len(source)], names[len(source) :]
    return from_edge_arrays(
        *ends, np.array(weights) if layout.weight is not None else None, symmetrize
    )


def _wrong_length(name: str, number: int, got: int, expected: int) -> FileFormatError:
    problem = f"every line must have {expected} fields as the first one has, got {got}"
    return format_error(name, number, problem, "Correct this line, or put # before it.")


def _weight(text: str, name: str, number: int) -> float:
    try:
        return plain_number(text)
    except ValueError:
        problem = f"a weight must be a number, got {text!r}"
        hint = f"Correct this line. If it is a header: {_header_hint()}."
        raise format_error(name, number, problem, hint) from None


def _refuse_unknown_header(
    name: str, layout: _Layout, first: int | None, source: list[str], target: list[str]
) -> None:
    """Refuse a first line of words above lines of integers: it is no edge but a header."""
    if layout.header_line is not None or len(source) < 2 or all_integers((source[0], target[0])):
        return
    if all_integers(source[1:]) and all_integers(target[1:]):
        problem = f"{source[0]!r} and {target[0]!r} look like column names above integer node names"
        hint = f"If it is a header, {_header_hint()}, or put # before this line."
        raise format_error(name, first, problem, hint)


def _refuse_doubtful_header(name: str, layout: _Layout, names: set[str]) -> None:
    """Refuse a header that only its words gave away if there are nodes of such names."""
    words = [layout.fields[end] for end in (layout.source, layout.target)]
    kinds = set(map(_kind_of_name, words))
    alike = next((end for end in sorted(names) if _kind_of_name(end) in kinds), None)
    if alike is not None:
        problem = (
            f"{words[0]!r} and {words[1]!r} may be column names or an edge, because there is a "
            f"node {alike!r}"
        )
        hint = (
            f"If they are column names, pass {setting('source', words[0])} and "
            f"{setting('target', words[1])};\n"
            "  if they are an edge, put a header with source and target before it."
        )
        raise format_error(name, layout.header_line, problem, hint)


def _header_hint() -> str:
    return f"call two columns source and target, or pass their names as {ends_argument()}"


def _kind_of_name(name: str) -> str:
    """Return what is alike in node1 and Node27, or in u and B."""
    return "a letter" if len(name) == 1 and name.isalpha() else name.lower().rstrip("0123456789")
