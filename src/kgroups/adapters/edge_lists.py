"""Edge lists as text: vectorized where all names are integers, line by line otherwise."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from kgroups._types import Floats, Ints
from kgroups._wording import in_python, listed, setting
from kgroups.adapters.edges import (
    ReadOptions,
    column_arguments,
    no_such_attribute,
    refuse_directed,
    with_weights_described,
)
from kgroups.adapters.files import GraphFile, all_integers, plain_number, read_records
from kgroups.adapters.tables import (
    as_column,
    end_columns,
    from_edge_arrays,
    is_adjacency_header,
    weight_column,
)
from kgroups.errors import FileFormatError, GraphError
from kgroups.graph import Graph

_NUMBER = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")
# What networkx.write_edgelist puts at the end of a line.
_ATTRIBUTES = re.compile(r"[\s,;]\{(?:'.*)?\}\s*$")
_COMMENT = re.compile(r"(?:^|\s)[#%].*")
COMMENT_BYTES = re.compile(rb"(?m)(?:^|[ \t])[#%][^\r\n]*")
_UNUSUAL_INTEGER = re.compile(rb"(?<![0-9A-Za-z.+-])[+-]?0[0-9]|(?<![0-9A-Za-z.])(?:\+[0-9]|-0)")


@dataclass(frozen=True)
class Layout:
    """Position of each column in a line; ``is_guess`` if the header was inferred from its words."""

    delimiter: str | None
    fields: tuple[str, ...]
    source: int
    target: int
    weight: int | None
    direction: int | None = None
    header_line: int | None = None
    is_guess: bool = False

    @property
    def weight_place(self) -> str | None:
        """Which column holds the weights, in words."""
        if self.weight is None:
            return None
        if self.header_line is None:
            return "the third column (no header)"
        return f"column {self.fields[self.weight]!r}"

    def unused(self, options: ReadOptions) -> tuple[str, ...]:
        """Return the names of the columns that are not used."""
        if self.header_line is None:
            return ()
        weight = self.weight if options.reads_weights else None
        used = (self.source, self.target, weight, self.direction)
        return tuple(name for i, name in enumerate(self.fields) if i not in used)

    @property
    def kinds_of_words(self) -> set[str]:
        """What the words above the ends have in common with names of the same kind."""
        return {kind_of_name(self.fields[end]) for end in (self.source, self.target)}

    @property
    def is_bare(self) -> bool:
        """Whether a line holds only source, target and perhaps weight, in this order."""
        n = len(self.fields)
        return (
            (self.source, self.target) == (0, 1)
            and self.direction is None
            and (n == 2 or (n == 3 and self.weight in (None, 2)))
        )


def read_edge_list(file: GraphFile) -> Graph:
    """Read one edge per line; see :func:`kgroups.read_graph` for the form."""
    layout = find_layout(file)
    if layout is None:
        return Graph(np.zeros(1, np.int32), np.zeros(0, np.int32))
    columns = _integer_columns(file, layout) if layout.is_bare else None
    if columns is None:
        graph = _line_by_line(file, layout)
    else:
        graph = from_edge_arrays(*columns, options=file.options)
    return with_weights_described(
        graph, layout.weight_place, layout.unused(file.options), file.options
    )


def find_layout(file: GraphFile) -> Layout | None:
    """Inspect the first line that is not a comment; ``None`` when there is no such line."""
    options = file.options
    number, line = next(_data_lines(file), (0, ""))
    if not number:
        return None
    tries = (",", "\t", ";") if ".csv" in file.name.lower() else ("\t", ",", ";")
    delimiter = next((mark for mark in tries if mark in line), None)
    fields = tuple(_split(line, delimiter, file, number))
    titles = [field.lower() for field in fields]
    if _ATTRIBUTES.search(line):
        problem = "a line must hold two node names and perhaps a weight, got a dict of attributes"
        ways = "networkx.write_weighted_edgelist, or networkx.write_edgelist with data=False"
        raise file.error(number, problem, f"Write the file with {ways}.")
    if options.source is None and not any(map(_NUMBER.fullmatch, fields if fields[0] else ())):
        _refuse_adjacency(file, fields, delimiter)
    try:
        ends = end_columns(fields, options.source, options.target)
    except GraphError as error:
        msg = f"{file.name}, line {number}: {error}"
        raise FileFormatError(msg) from None
    if ends is not None:
        named = options.source is not None or {titles[end] for end in ends} == {"source", "target"}
        # An edge of two nodes a and b is common in small files.
        is_bare_pair = titles[:2] == ["a", "b"] and not any(titles[2:])
        may_be_edge = is_bare_pair or any(map(_NUMBER.fullmatch, fields))
        if named or not may_be_edge:
            column = weight_column(fields, options.weight, ends)
            direction = titles.index("type") if "type" in titles else None
            if direction in (column, *ends):
                direction = None
            # As an edge, the line would have two fields, or a third one that need not be a number.
            as_edge = len(fields) == 2 or (len(fields) == 3 and options.weight is None)
            is_guess = as_edge and not named
            return Layout(delimiter, fields, *ends, column, direction, number, is_guess)
    if len(fields) not in (2, 3):
        problem = f"a line must hold two node names and perhaps a weight, got {len(fields)} fields"
        hint = f"Begin with a header and {header_hint()}, or drop the others."
        raise file.error(number, problem, hint)
    if options.weight not in (None, "weight") and len(fields) == 2:
        raise no_such_attribute(options.weight, (), kind="column")
    third = 2 if options.weight is not None and len(fields) == 3 else None
    return Layout(delimiter, fields, 0, 1, third)


def _refuse_adjacency(file: GraphFile, fields: Sequence[str], delimiter: str | None) -> None:
    """Refuse a table whose rows are named as its columns, as pandas writes a matrix."""
    rows = islice(_data_lines(file), 1, len(fields) + 1)
    first_fields = [_split(line, delimiter, file, number)[0] for number, line in rows]
    if is_adjacency_header(fields, first_fields):
        table = "pandas.read_csv(path, index_col=0)"
        advice = in_python(f"Read it with {table} and pass the table")
        raise file.error(
            None,
            "the file must be a list of edges, but it looks like an adjacency matrix: its rows "
            f"have the names of its columns, {listed(fields[1:], 3)}",
            (advice or f"In Python, pass the table {table}")
            + f". If it holds edges, pass {column_arguments()}.",
        )


def _data_lines(file: GraphFile) -> Iterator[tuple[int, str]]:
    return without_comments(file.lines())


def without_comments(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield numbered lines without comments, and none that is empty then."""
    for number, line in lines:
        text = line
        if "#" in line or "%" in line:
            if line.lstrip().startswith(("#", "%")):
                continue
            text = line if '"' in line else _COMMENT.sub("", line)
        if text and not text.isspace():
            yield number, text


def _split(line: str, delimiter: str | None, file: GraphFile, number: int) -> list[str]:
    if '"' not in line:
        return [field.strip() for field in line.split(delimiter)]
    try:
        reader = csv.reader(
            [line.strip()], delimiter=delimiter or " ", skipinitialspace=True, strict=True
        )
        return [field.strip() for field in next(reader)]
    except csv.Error as error:
        raise file.error(number, f"{error}", "Check the quotes in this line.") from None


def _integer_columns(file: GraphFile, layout: Layout) -> tuple[Ints, Ints, Floats | None] | None:
    """Read all lines at once, or return ``None`` if some name is not a plain integer.

    A million lines take 0.5 s, and 4.5 s line by line.
    """
    kinds = [("source", np.int64), ("target", np.int64)]
    record = np.dtype([*kinds, ("weight", np.float64)] if len(layout.fields) == 3 else kinds)
    edges = read_records(
        _blocks(file, layout), record, layout.delimiter, refuse=_has_unusual_integers
    )
    if edges is None:
        return None
    weights = edges["weight"].copy() if layout.weight is not None else None
    return edges["source"].copy(), edges["target"].copy(), weights


def _has_unusual_integers(block: bytes) -> bool:
    """Return whether some integer is written as 007, +7 or -0, which are different names."""
    characters = np.frombuffer(b"\n" + block, np.uint8)
    is_digit = characters - ord("0") < 10
    starts_with_zero = (
        (characters[1:-1] == ord("0"))
        & is_digit[2:]
        & ~is_digit[:-2]
        & (characters[:-2] != ord("."))
    )
    # The exact pattern is slow: search only blocks that may hold a match.
    suspicious = b"+" in block or b"-0" in block or bool(starts_with_zero.any())
    return suspicious and _UNUSUAL_INTEGER.search(block) is not None


def _blocks(file: GraphFile, layout: Layout) -> Iterator[bytes]:
    """Yield blocks of complete lines without the comments and the header."""
    file.stream.seek(0)
    start = True
    for block in file.blocks():
        has_comments = b"#" in block or b"%" in block
        text = COMMENT_BYTES.sub(b"", block) if has_comments else block
        if start and text.strip():
            text = text.removeprefix(b"\xef\xbb\xbf").lstrip()
            if layout.header_line is not None:
                text = text.partition(b"\n")[2]
            start = False
        yield text


def _line_by_line(file: GraphFile, layout: Layout) -> Graph:
    source: list[str] = []
    target: list[str] = []
    weights: list[float] = []
    first: int | None = None
    for number, u, v, weight in parsed_lines(file, layout, _data_lines(file)):
        if weight is not None:
            weights.append(weight)
        source.append(u)
        target.append(v)
        first = number if first is None else first
    _refuse_unknown_header(file, layout, first, source, target)
    if layout.is_guess:
        names = {*source, *target}
        kinds = layout.kinds_of_words
        alike = next((end for end in sorted(names) if kind_of_name(end) in kinds), None)
        if alike is not None:
            raise doubtful_header(file, layout, alike)
    m = len(source)
    names_read = as_column(file.node_names([*source, *target]))
    weight_read = np.array(weights) if layout.weight is not None else None
    return from_edge_arrays(names_read[:m], names_read[m:], weight_read, options=file.options)


def parsed_lines(
    file: GraphFile, layout: Layout, lines: Iterable[tuple[int, str]]
) -> Iterator[tuple[int, str, str, float | None]]:
    """Yield the number, the ends and the weight of each numbered line that is not the header."""
    for number, line in lines:
        if number == layout.header_line:
            continue
        fields = _split(line, layout.delimiter, file, number)
        if len(fields) != len(layout.fields):
            problem = (
                f"every line must have {len(layout.fields)} fields as the first one has, got "
                f"{len(fields)}"
            )
            raise file.error(number, problem, "Correct this line, or put # before it.")
        u, v = fields[layout.source], fields[layout.target]
        if not u or not v:
            raise file.error(number, "a node name is empty", "Name both ends of the edge.")
        if layout.direction is not None and fields[layout.direction].lower() == "directed":
            refuse_directed(
                f"{file.name}, where line {number} says {fields[layout.direction]}", file.options
            )
        weight = None
        if layout.weight is not None:
            text = fields[layout.weight]
            try:
                weight = plain_number(text)
            except ValueError:
                problem = f"a weight must be a number, got {text!r}"
                hint = (
                    f"Correct this line, or pass {setting('weight', None)}. If it is a header: "
                    f"{header_hint()}."
                )
                raise file.error(number, problem, hint) from None
        yield number, u, v, weight


def _refuse_unknown_header(
    file: GraphFile, layout: Layout, first: int | None, source: list[str], target: list[str]
) -> None:
    """Refuse a first line of words above lines of integers: it is a header and not an edge."""
    if layout.header_line is not None or len(source) < 2 or all_integers((source[0], target[0])):
        return
    if all_integers(source[1:]) and all_integers(target[1:]):
        raise unknown_header(file, first, source[0], target[0])


def unknown_header(file: GraphFile, line: int | None, u: str, v: str) -> FileFormatError:
    """Return the error for a first line of words above integers."""
    problem = f"{u!r} and {v!r} look like column names above integer node names"
    hint = f"If it is a header, {header_hint()}, or put # before this line."
    return file.error(line, problem, hint)


def doubtful_header(file: GraphFile, layout: Layout, alike: str) -> FileFormatError:
    """Return the error for a header that was inferred from its words, if a node is named alike."""
    words = [layout.fields[end] for end in (layout.source, layout.target)]
    problem = (
        f"{words[0]!r} and {words[1]!r} may be column names or an edge, because there is a "
        f"node {alike!r}"
    )
    hint = (
        f"If they are column names, pass {setting('source', words[0])} and "
        f"{setting('target', words[1])};\n"
        "  if they are an edge, put a header with source and target before it."
    )
    return file.error(layout.header_line, problem, hint)


def header_hint() -> str:
    """Return how to say which columns hold the ends of the edges."""
    return f"call two columns source and target, or pass their names as {column_arguments()}"


def kind_of_name(name: str) -> str:
    """Return what node1 and Node27, or u and B, have in common."""
    return "a letter" if len(name) == 1 and name.isalpha() else name.lower().rstrip("0123456789")
