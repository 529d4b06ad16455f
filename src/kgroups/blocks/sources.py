"""Files with edges, read in batches of bounded size: Parquet, text, NumPy arrays and archives.

What a file may contain, and which of its columns are read, are as in :func:`kgroups.read_graph`.
"""

import bz2
import glob
import gzip
import io
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from kgroups._csr import writable
from kgroups._output import check_regular, exists, import_pyarrow
from kgroups._types import Floats, Ints
from kgroups._wording import listed, setting
from kgroups.adapters.binary_formats import place_in_column, unfit_names
from kgroups.adapters.edge_lists import (
    COMMENT_BYTES,
    Layout,
    doubtful_header,
    find_layout,
    kind_of_name,
    parsed_lines,
    unknown_header,
    without_comments,
)
from kgroups.adapters.edges import ReadOptions
from kgroups.adapters.files import GraphFile
from kgroups.adapters.numbering import missing_name
from kgroups.adapters.tables import check_lengths, edge_columns
from kgroups.blocks._store_nb import parse_integers
from kgroups.errors import (
    DirectedGraphError,
    FileFormatError,
    GraphError,
    InputError,
    KGroupsError,
    WeightError,
)
from kgroups.graph import bad_weight, check_weights

Names: TypeAlias = Literal["whole", "text", "either"]
"""Node names are whole numbers, text, or whole numbers if all of them in all files are."""

_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
_TEXT = (".csv", ".tsv", ".txt", ".edges", ".edgelist")
_MATRIX_FORMATS = ("csr", "csc", "coo")
_BYTES_PER_LINE = 16
# Blanks that the fast way of reading text does not take for blanks, and Python does.
_OTHER_BLANKS = b"\x0b\x0c\x1c\x1d\x1e\x1f"
_PLAIN, _BEYOND, _OTHER = range(3)


class Batch(NamedTuple):
    """Some edges of a file.

    The ends are whole numbers, or text in Arrow; ``rows`` of the file are read with this batch,
    and about this ``share`` of it. ``plain`` is False if some name is no whole number. ``balance``
    is 0 if the entries of a matrix, those of all batches together, are symmetric.
    """

    u: Any
    v: Any
    weights: Floats | None
    rows: int
    share: float
    plain: bool = True
    balance: int = 0


class Source(Protocol):
    """A file with edges."""

    path: Path
    names: Names
    weighted: bool
    column: str | None
    """Where weights were found, in words."""
    unused: Sequence[object]
    """The names of the columns that are not used."""

    def batches(self, rows: int, skipped: int, *, text: bool) -> Iterator[Batch]:
        """Yield batches of about this many rows, after those to be skipped."""
        ...


class NotWholeNumbersError(Exception):
    """A name is no whole number, though all names before it were."""


def source_files(edges: Any) -> list[Path]:
    """Return the files that a path, a pattern or a list of paths names."""
    given = [edges] if isinstance(edges, str | os.PathLike) else edges
    must = (
        "edges must be the path of a file, a pattern such as 'edges/*.parquet', or a list of paths"
    )
    if not isinstance(given, Sequence) or not all(
        isinstance(one, str | os.PathLike) for one in given
    ):
        msg = (
            f"{must}, got {type(edges).__name__}.\n"
            "  Pass a graph that is in memory to detect_communities itself."
        )
        raise InputError(msg)
    found: list[Path] = []
    for one in given:
        pattern = os.fspath(one)
        matches = [pattern] if exists(one) else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
        if not matches:
            msg = f"{must}; there is no such file: {pattern!r}.\n  Check the path."
            raise FileFormatError(msg)
        found.extend(map(Path, matches))
    for path in found:
        if path.is_dir():
            msg = f"{must}, got the folder {str(path)!r}.\n  Pass a pattern: {str(path / '*')!r}."
            raise FileFormatError(msg)
        check_regular(path)
    repeated = sorted({str(path) for path in found if found.count(path) > 1})
    if repeated:
        msg = f"each file must be given once, got {listed(repeated, 3)} more than once."
        raise InputError(msg)
    return found


def open_sources(files: Sequence[Path], options: ReadOptions) -> list[Source]:
    """Open files, all of one format, and check that they go together."""
    kinds = {path: _format_of(path) for path in files}
    if len(set(kinds.values())) > 1:
        other = next(path for path in files if kinds[path] != kinds[files[0]])
        msg = (
            f"all files must have one format, got {files[0].name} and {other.name}.\n"
            "  Make a store of each format, or convert the files."
        )
        raise FileFormatError(msg)
    sources: list[Source] = []
    for path in files:
        with errors_named(path.name):
            sources.append(_OPENERS[kinds[path]](path, options))
    for what, values in (
        ("whole numbers as node names, or all have text", [one.names for one in sources]),
        ("weights, or none", [one.weighted for one in sources]),
        ("edges, or there must be one matrix", [isinstance(one, _Matrix) for one in sources]),
    ):
        unlike = next((i for i, value in enumerate(values) if value != values[0]), None)
        if unlike is not None:
            msg = (
                f"all files must have {what}; {files[0].name} and {files[unlike].name} differ.\n"
                f"  Convert one of them. {setting('weight', None)} ignores weights."
            )
            raise FileFormatError(msg)
    if len(sources) > 1 and isinstance(sources[0], _Matrix):
        msg = f"a matrix must be in one file, got {len(sources)} files.\n  Pass one of them."
        raise FileFormatError(msg)
    return sources


def _format_of(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in _COMPRESSED
    suffix = "".join(suffixes[-2:-1] if compressed else suffixes[-1:])
    if suffix in _TEXT:
        return "text"
    if suffix in (".parquet", ".npz", ".npy") and not compressed:
        return suffix[1:]
    msg = (
        f"{path}: the suffix must tell the format, got {''.join(path.suffixes[-2:])!r}.\n"
        f"  Use .parquet, .npz, .npy or one of {' '.join(_TEXT)} (perhaps with "
        f"{', '.join(_COMPRESSED)})."
    )
    raise FileFormatError(msg)


@contextmanager
def errors_named(name: str) -> Iterator[None]:
    """Name the file in whatever goes wrong while it is read."""
    try:
        yield
    except FileFormatError:
        raise
    except GraphError as error:
        message = str(error)
        raise (error if name in message else type(error)(f"{name}: {message}")) from None
    except KGroupsError:
        raise
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        msg = (
            f"{name}: the file could not be read: {str(error).rstrip('.')}.\n"
            "  Check that the file is complete."
        )
        raise FileFormatError(msg) from error


def _weights_checked(
    weights: Any, u: Any, v: Any, place: Callable[[int], str] | None = None
) -> Floats:
    """Return weights as floats, or raise if one is not finite or negative."""
    with np.errstate(over="ignore"):
        values: Floats = np.asarray(weights).astype(np.float64)

    def edge(t: int) -> tuple[object, object]:
        return tuple(end[t].as_py() if hasattr(end[t], "as_py") else end[t] for end in (u, v))

    check_weights(values, edge, place)
    return values


def too_long(shown: object = "a longer one", place: str = "") -> GraphError:
    """Return the error for a whole number that has more than 64 bits."""
    return GraphError(
        "whole numbers as node names must be from -2**63 to 2**63 - 1, got "
        f"{shown}{place}.\n  Let these names begin with a letter, so that they are text."
    )


def _whole_numbers(values: Any, column: str, first: int) -> Ints:
    """Return names as numbers of 64 bits; ``first`` is the row of the first one."""
    if values.dtype.kind == "u" and values.size and int(values.max()) >= 2**63:
        row = int(values.argmax())
        raise too_long(int(values[row]), f" {place_in_column(column, first + row)}")
    return values.astype(np.int64)  # type: ignore[no-any-return]


# --- Parquet


def _described(names: Sequence[str], used: Sequence[str]) -> tuple[str | None, Sequence[object]]:
    """Return where weights are, in words, and the names of the columns that are not used."""
    column = f"column {used[2]!r}" if len(used) == 3 else None
    return column, [name for name in names if name not in used]


class _Parquet:
    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        pyarrow, _ = import_pyarrow()
        with self._opened() as content:
            schema = content.schema_arrow
            self._columns: list[str] = edge_columns(schema.names, options)
            self.column, self.unused = _described(schema.names, self._columns)
        kinds = [self._kind(pyarrow, schema.field(column).type) for column in self._columns]
        for column, kind in zip(self._columns[:2], kinds, strict=False):
            if kind not in ("whole", "text"):
                raise unfit_names(schema.field(column).type, column)
        if kinds[0] != kinds[1]:
            shown = " and ".join(str(schema.field(column).type) for column in self._columns[:2])
            msg = (
                f"both ends must be whole numbers, or both text, got {shown}.\n"
                "  Write both columns with the same type."
            )
            raise GraphError(msg)
        if len(kinds) == 3 and kinds[2] not in ("whole", "number"):
            column = self._columns[2]
            msg = (
                f"edge weights must be numbers, got {schema.field(column).type} in column "
                f"{column!r}.\n  Write the column with another type, or pass "
                f"{setting('weight', None)} to ignore all weights."
            )
            raise WeightError(msg)
        self.names: Names = "text" if kinds[0] == "text" else "whole"
        self.weighted = len(self._columns) == 3

    @staticmethod
    def _kind(pyarrow: Any, kind: Any) -> str:
        types = pyarrow.types
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if types.is_integer(kind):
            return "whole"
        if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
            return "text"
        if types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
            return "number"
        return "other"

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        _, parquet = import_pyarrow()
        # Without a buffer of its own a column of a row group would be read at once.
        with parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=1 << 20) as content:
            yield content

    def batches(self, rows: int, skipped: int, *, text: bool) -> Iterator[Batch]:
        pyarrow, _ = import_pyarrow()
        with errors_named(self.path.name), self._opened() as content:
            metadata = content.metadata
            first = group = 0
            while (
                group < metadata.num_row_groups
                and first + metadata.row_group(group).num_rows <= skipped
            ):
                first += metadata.row_group(group).num_rows
                group += 1
            groups = list(range(group, metadata.num_row_groups))
            parts = content.iter_batches(
                rows, row_groups=groups, columns=self._columns, use_threads=False
            )
            for part in parts:
                if first + part.num_rows <= skipped:
                    first += part.num_rows
                    continue
                kept = part.slice(max(0, skipped - first))
                first = max(first, skipped)
                columns = [self._plain(pyarrow, kept.column(name)) for name in self._columns]
                self._refuse_nulls(columns, first)
                u, v = (
                    column.cast(pyarrow.large_string())
                    if text
                    else _whole_numbers(column.to_numpy(zero_copy_only=False), name, first)
                    for column, name in zip(columns[:2], self._columns, strict=False)
                )
                weights = self._weights(pyarrow, columns, u, v, first) if self.weighted else None
                first += kept.num_rows
                yield Batch(u, v, weights, first, first / metadata.num_rows)

    @staticmethod
    def _plain(pyarrow: Any, column: Any) -> Any:
        return column.dictionary_decode() if pyarrow.types.is_dictionary(column.type) else column

    def _weights(self, pyarrow: Any, columns: list[Any], u: Any, v: Any, first: int) -> Floats:
        values = columns[2]
        if pyarrow.types.is_decimal(values.type):
            values = values.cast(pyarrow.float64())
        name = self._columns[2]
        return _weights_checked(
            values.to_numpy(zero_copy_only=False),
            u,
            v,
            lambda row: f", {place_in_column(name, first + row)}",
        )

    def _refuse_nulls(self, columns: list[Any], first: int) -> None:
        for position, (name, values) in enumerate(zip(self._columns, columns, strict=True)):
            if not values.null_count:
                continue
            row = int(values.is_null().index(True).as_py())
            place = place_in_column(name, first + row)
            if position == 2:
                edge = columns[0][row].as_py(), columns[1][row].as_py()
                raise bad_weight(value="null", edge=edge, place=f", {place}")
            raise missing_name(shown="null", place=place)


# --- Text


class _TextFile(GraphFile):
    """A text file, perhaps compressed, of any size."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.name, self.options = path.name, options
        self._path = path
        self._raw = path.open("rb")
        self.stream = self._decompressed()

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self._raw.close()

    def __enter__(self) -> "_TextFile":
        return self

    def rewind(self) -> None:
        self.stream.close()
        self._raw.close()
        self._raw = self._path.open("rb")
        self.stream = self._decompressed()

    def share(self) -> float:
        """Return which share of the file has been read."""
        return self._raw.tell() / max(1, self._path.stat().st_size)

    def _decompressed(self) -> BinaryIO:
        suffix = self._path.suffix.lower()
        opened: Any = self._raw
        if suffix == ".gz":
            opened = gzip.GzipFile(fileobj=self._raw)
        elif suffix == ".bz2":
            opened = bz2.BZ2File(self._raw)
        elif suffix == ".xz":
            opened = lzma.LZMAFile(self._raw)  # noqa: SIM115 (closed with the file)
        elif suffix == ".zst":
            pyarrow, _ = import_pyarrow("Files that end with .zst")
            content = pyarrow.CompressedInputStream(pyarrow.PythonFile(self._raw, "r"), "zstd")
            opened = io.BufferedReader(content)
        return cast("BinaryIO", opened)

    def numbered_blocks(self, size: int) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of complete lines with the number of their first line.

        Line ends are newlines.
        """
        self.rewind()
        number, rest = 1, b""
        while chunk := self.stream.read(size):
            text = rest + chunk
            # A carriage return at the end may belong to a newline that follows.
            stop = 1 + max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1))
            lines, rest = text[:stop], text[stop:]
            lines = lines.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            yield number, lines
            number += lines.count(b"\n")
        yield number, rest.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


class _Text:
    def __init__(self, path: Path, options: ReadOptions) -> None:
        import_pyarrow("Stores of text files")
        self.path, self._options = path, options
        with _TextFile(path, options) as file:
            self._layout = find_layout(file)
        self.names: Names = "either"
        self.weighted = self._layout is not None and self._layout.weight is not None
        self.column: str | None = None
        self.unused: Sequence[object] = ()
        if self._layout is not None:
            self.column, self.unused = self._layout.weight_place, self._layout.unused(options)

    def batches(self, rows: int, skipped: int, *, text: bool) -> Iterator[Batch]:
        layout = self._layout
        if layout is None:
            return
        with errors_named(self.path.name), _TextFile(self.path, self._options) as file:
            done, first_line, later_plain = 0, None, True
            for number, block in file.numbered_blocks(_BYTES_PER_LINE * rows):
                columns = self._fast(layout, number, block)
                if columns is None:
                    columns = self._slow(file, layout, number, block)
                u, v, weights = columns
                if not len(u):
                    continue
                states = [_parsed(end)[0] for end in (u, v)]
                plain = _OTHER not in states
                if layout.header_line is None:
                    # A first line of words above integers may be a header.
                    if first_line is None:
                        first_line = (u[0].as_py(), v[0].as_py())
                        has_words = max(_parsed(u[:1])[0], _parsed(v[:1])[0]) == _OTHER
                        rest = [_parsed(end[1:])[0] for end in (u, v)]
                        later_plain = has_words and _OTHER not in rest
                    else:
                        later_plain = later_plain and plain
                if layout.is_guess:
                    self._refuse_alike(file, layout, u, v)
                begin = max(0, skipped - done)
                done += len(u)
                if begin >= len(u):
                    continue
                u, v = u[begin:], v[begin:]
                if not text:
                    if states != [_PLAIN, _PLAIN]:
                        raise NotWholeNumbersError
                    u, v = (_parsed(end)[1] for end in (u, v))
                checked = None if weights is None else _weights_checked(weights[begin:], u, v)
                yield Batch(u, v, checked, done, file.share(), plain)
            if first_line is not None and later_plain and done > 1:
                line = next(number for number, _ in without_comments(file.lines()))
                raise unknown_header(file, line, *first_line)

    def _fast(self, layout: Layout, number: int, block: bytes) -> Any:
        """Return the columns, or None if the block has something unusual."""
        pyarrow, _ = import_pyarrow()
        from pyarrow import compute, csv

        has_comments = b"#" in block or b"%" in block
        if b'"' in block or ((has_comments or layout.delimiter is None) and not block.isascii()):
            return None
        if (has_comments or layout.delimiter is None) and len(
            block.translate(None, _OTHER_BLANKS)
        ) < len(block):
            return None
        if number == 1:
            block = block.removeprefix(b"\xef\xbb\xbf")
        if layout.header_line is not None and number <= layout.header_line:
            lines = block.split(b"\n", layout.header_line - number + 1)
            block = lines[-1] if len(lines) == layout.header_line - number + 2 else b""
        if has_comments:
            block = COMMENT_BYTES.sub(b"", block)
        if layout.delimiter is None:
            block = re.sub(rb"[ \t]+", b" ", block)
            block = re.sub(rb"(?m)^ | $", b"", block)
        if not block.strip():
            none = pyarrow.array([], pyarrow.large_string())
            return none, none, None if layout.weight is None else np.empty(0)
        names = [str(i) for i in range(len(layout.fields))]
        used = [layout.source, layout.target]
        used += [one for one in (layout.weight, layout.direction) if one is not None]
        text = pyarrow.large_string()
        try:
            table = csv.read_csv(
                pyarrow.py_buffer(block),
                csv.ReadOptions(column_names=names, use_threads=False, block_size=len(block) + 1),
                csv.ParseOptions(delimiter=layout.delimiter or " ", quote_char=False),
                csv.ConvertOptions(
                    include_columns=[names[i] for i in used],
                    column_types=dict.fromkeys(names, text),
                    strings_can_be_null=False,
                ),
            )
            columns = {
                i: compute.utf8_trim_whitespace(table[names[i]]).combine_chunks() for i in used
            }
            columns = {
                i: one.chunk(0) if isinstance(one, pyarrow.ChunkedArray) else one
                for i, one in columns.items()
            }
            u, v = columns[layout.source], columns[layout.target]
            weights = None
            if layout.weight is not None:
                weights = columns[layout.weight].cast(pyarrow.float64()).to_numpy()
        except pyarrow.ArrowException:
            return None
        for end in (u, v):
            if len(end) and compute.min(compute.binary_length(end)).as_py() == 0:
                return None
        if layout.direction is not None:
            said = compute.utf8_lower(columns[layout.direction])
            if compute.any(compute.equal(said, "directed")).as_py():
                return None
        return u, v, weights

    def _slow(self, file: GraphFile, layout: Layout, number: int, block: bytes) -> Any:
        """Read a block line by line, and raise for the first line that does not fit."""
        pyarrow, _ = import_pyarrow()
        lines = without_comments(_decoded(file, number, block))
        ends: tuple[list[str], list[str]] = [], []
        weights: list[float] = []
        try:
            for _, u, v, weight in parsed_lines(file, layout, lines):
                ends[0].append(u)
                ends[1].append(v)
                if weight is not None:
                    weights.append(weight)
        except DirectedGraphError as error:
            what = str(error).partition("\n")[0]
            msg = f"{what}\n  If directions mean nothing, remove the column 'type'."
            raise DirectedGraphError(msg) from None
        arrays = (pyarrow.array(end, pyarrow.large_string()) for end in ends)
        return *arrays, None if layout.weight is None else np.array(weights)

    def _refuse_alike(self, file: GraphFile, layout: Layout, u: Any, v: Any) -> None:
        """Raise if a node is named like the words of a header that was inferred from them."""
        pyarrow, _ = import_pyarrow()
        from pyarrow import compute

        kinds = layout.kinds_of_words
        for end in (u, v):
            stems = compute.utf8_rtrim(compute.utf8_lower(end), characters="0123456789")
            letters = compute.equal(compute.utf8_length(end), 1)
            maybe = compute.or_(
                compute.is_in(stems, pyarrow.array(sorted(kinds), stems.type)), letters
            )
            for name in compute.unique(end.filter(maybe)).to_pylist():
                if kind_of_name(name) in kinds:
                    raise doubtful_header(file, layout, name)


def _decoded(file: GraphFile, number: int, block: bytes) -> Iterator[tuple[int, str]]:
    for i, raw in enumerate(block.split(b"\n"), number):
        part = raw.removeprefix(b"\xef\xbb\xbf") if i == 1 else raw
        try:
            yield i, part.decode("utf-8")
        except UnicodeDecodeError as error:
            problem = f"text must be UTF-8, {error.reason}"
            raise file.error(i, problem, "Save the file as UTF-8.") from None


def text_buffers(texts: Any) -> tuple[Ints, Any]:
    """Return the offsets and the bytes of texts in Arrow, as kernels take them."""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = np.empty(0, np.int8) if data is None else np.frombuffer(data, np.int8)
    first, stop = (int(bounds[0]), int(bounds[-1])) if len(texts) else (0, 0)
    return writable(bounds - first), content[first:stop].copy()


def _parsed(texts: Any) -> tuple[int, Ints]:
    """Return whether texts are whole numbers of 64 bits, and these numbers."""
    numbers = np.empty(len(texts), np.int64)
    return parse_integers(*text_buffers(texts), numbers), numbers


# --- Arrays


class _Stored:
    """An array in the format of NumPy, which is read in parts."""

    def __init__(self, stream: Any) -> None:
        form = np.lib.format
        version = form.read_magic(stream)
        read = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}.get(version)
        if read is None:
            msg = f"the version {version} of the array is unknown"
            raise ValueError(msg)
        self.shape, self.fortran, self.dtype = read(stream)
        if self.dtype.hasobject:
            msg = "the array holds Python objects, which are never unpickled"
            raise ValueError(msg)
        self._stream = stream

    def read(self, count: int) -> Any:
        """Return the next items, in the order in which they are stored."""
        size = count * self.dtype.itemsize
        content = self._stream.read(size)
        if len(content) < size:
            msg = f"an array ends after {len(content)} of {size} bytes"
            raise EOFError(msg)
        return np.frombuffer(content, self.dtype)

    def rest(self) -> Any:
        return self.read(int(np.prod(self.shape)))


@contextmanager
def _members(path: Path, names: Iterable[str]) -> Iterator[list[_Stored]]:
    """Yield arrays of an archive."""
    streams: list[Any] = []
    with zipfile.ZipFile(path) as archive:
        try:
            for name in names:
                streams.append(archive.open(f"{name}.npy"))
            yield [_Stored(stream) for stream in streams]
        finally:
            for stream in streams:
                stream.close()


class _Columns:
    """Arrays with an entry per edge."""

    def __init__(self, path: Path, present: Sequence[str], options: ReadOptions) -> None:
        columns: Sequence[str] = edge_columns(present, options)
        self.path, self._columns = path, columns
        self.column, self.unused = _described(present, columns)
        self.weighted = len(columns) == 3
        with self._opened() as arrays:
            for column, array in zip(columns, arrays, strict=True):
                if len(array.shape) != 1:
                    msg = (
                        f"arrays of edges must have one dimension, got shape {array.shape} for "
                        f"{column!r}.\n  Save one array for each end."
                    )
                    raise GraphError(msg)
            check_lengths([array.shape[0] for array in arrays])
            kinds = [array.dtype.kind for array in arrays]
        for column, kind, array in zip(columns[:2], kinds, arrays, strict=False):
            if kind not in "iuU" or (kind == "U") != (kinds[0] == "U"):
                raise unfit_names(array.dtype, column)
        if self.weighted and kinds[2] not in "biuf":
            msg = (
                f"edge weights must be numbers, got {arrays[2].dtype} in the array "
                f"{columns[2]!r}.\n  Save it with another type, or pass {setting('weight', None)}."
            )
            raise WeightError(msg)
        self.names: Names = "text" if kinds[0] == "U" else "whole"

    @contextmanager
    def _opened(self) -> Iterator[list[_Stored]]:
        with _members(self.path, self._columns) as arrays:
            yield arrays

    def batches(self, rows: int, skipped: int, *, text: bool) -> Iterator[Batch]:
        with errors_named(self.path.name), self._opened() as arrays:
            total = arrays[0].shape[0]
            for first in range(0, total, rows):
                stop = min(first + rows, total)
                parts = [array.read(stop - first) for array in arrays]
                if stop <= skipped:
                    continue
                start = max(first, skipped)
                ends = [part[start - first :] for part in parts]
                u, v = (
                    _texts(end) if text else _whole_numbers(end, name, start)
                    for end, name in zip(ends[:2], self._columns, strict=False)
                )
                weights = None
                if self.weighted:
                    weights = _weights_checked(ends[2], u, v, self._place(start))
                yield Batch(u, v, weights, stop, stop / total)

    def _place(self, start: int) -> Callable[[int], str]:
        return lambda row: f", {place_in_column(self._columns[2], start + row)}"


def _texts(values: Any) -> Any:
    pyarrow, _ = import_pyarrow("Stores with text as node names")
    return pyarrow.array(values.tolist(), pyarrow.large_string())


class _Rows(_Columns):
    """Edges in the rows of an array of two columns."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        options.refuse_column_names("a file of the format npy")
        self.path, self._columns, self.weighted = path, ("0", "1"), False
        self.column, self.unused = None, ()
        self.names: Names = "whole"
        with path.open("rb") as stream:
            array = _Stored(stream)
        if len(array.shape) != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
            msg = (
                "an array of edges must have two columns of whole numbers, got "
                f"{array.dtype} of shape {array.shape}.\n  Save one row per edge."
            )
            raise GraphError(msg)

    def batches(self, rows: int, skipped: int, *, text: bool) -> Iterator[Batch]:
        with (
            errors_named(self.path.name),
            self.path.open("rb") as stream,
            self.path.open("rb") as other,
        ):
            array, second = _Stored(stream), _Stored(other)
            total = array.shape[0]
            if array.fortran:
                other.seek(total * array.dtype.itemsize, os.SEEK_CUR)
            for first in range(0, total, rows):
                stop = min(first + rows, total)
                if array.fortran:
                    u, v = array.read(stop - first), second.read(stop - first)
                else:
                    u, v = array.read(2 * (stop - first)).reshape(-1, 2).T
                if stop <= skipped:
                    continue
                begin = max(0, skipped - first)
                u, v = (
                    _whole_numbers(end[begin:], name, first + begin)
                    for end, name in zip((u, v), self._columns, strict=True)
                )
                yield Batch(u, v, None, stop, stop / total)


class _Matrix:
    """A symmetric matrix; its entries above the diagonal are the edges."""

    names: Names = "whole"
    column: str | None = None
    unused: Sequence[object] = ()

    def __init__(self, path: Path, present: Sequence[str], options: ReadOptions) -> None:
        self.path = path
        self.format = "coo"
        if "format" in present:
            with _members(path, ["format"]) as (array,):
                said = array.rest().tobytes()
                self.format = said.replace(b"\0", b"").decode("ascii", "replace")
        if self.format not in _MATRIX_FORMATS:
            msg = (
                f"a saved matrix must have the format csr, csc or coo, got {self.format}.\n"
                "  Save matrix.tocsr()."
            )
            raise GraphError(msg)
        index = ("row", "col") if self.format == "coo" else ("indptr", "indices")
        self._arrays = [*index, *(["data"] if "data" in present else [])]
        with _members(path, self._arrays) as arrays:
            for name, array in zip(index, arrays, strict=False):
                if array.dtype.kind not in "iu" or len(array.shape) != 1:
                    msg = (
                        f"row and column numbers must be whole numbers, got {array.dtype} of shape "
                        f"{array.shape} in the array {name!r}.\n  Save it with an integer type."
                    )
                    raise GraphError(msg)
            kind = arrays[-1].dtype.kind
            if kind not in "biuf":
                msg = (
                    f"an adjacency matrix must hold real numbers, got dtype {arrays[-1].dtype}.\n"
                    "  Convert it first, for instance with matrix.astype(float)."
                )
                raise GraphError(msg)
            self._entries = int(arrays[-1].shape[0])
            if self.format == "coo":
                check_lengths([array.shape[0] for array in arrays])
            else:
                check_lengths([array.shape[0] for array in arrays[1:]])
        self.weighted = options.reads_weights and "data" in present and kind != "b"
        self.n = self._size(present)

    def _size(self, present: Sequence[str]) -> int:
        if "shape" in present:
            with _members(self.path, ["shape"]) as (array,):
                shape = tuple(map(int, array.rest()))
            if len(shape) != 2 or shape[0] != shape[1]:
                msg = (
                    f"an adjacency matrix must be square, got shape {shape}.\n"
                    "  Use an n x n matrix with one row and one column per node."
                )
                raise GraphError(msg)
            return shape[0]
        largest = -1
        with _members(self.path, self._arrays[:2]) as arrays:
            for array in arrays:
                for first in range(0, self._entries, 1 << 20):
                    part = array.read(min(1 << 20, self._entries - first))
                    largest = max(largest, int(part.max()))
        return largest + 1

    def batches(self, rows: int, skipped: int, *, text: bool) -> Iterator[Batch]:
        with errors_named(self.path.name), _members(self.path, self._arrays) as arrays:
            starts = None
            if self.format != "coo":
                starts = arrays.pop(0).rest().astype(np.int64)
                if (
                    starts.size != self.n + 1
                    or starts[0] != 0
                    or starts[-1] != self._entries
                    or np.any(np.diff(starts) < 0)
                ):
                    raise self._broken()
            for first in range(0, self._entries, rows):
                stop = min(first + rows, self._entries)
                parts = [array.read(stop - first) for array in arrays]
                if stop <= skipped:
                    continue
                if starts is None:
                    row, column = (part.astype(np.int64) for part in parts[:2])
                else:
                    row = np.searchsorted(starts, np.arange(first, stop), side="right") - 1
                    column = parts[0].astype(np.int64)
                data = parts[-1] if "data" in self._arrays else np.ones(stop - first)
                begin = max(0, skipped - first)
                yield self._batch(row[begin:], column[begin:], data[begin:], stop)

    def _broken(self) -> GraphError:
        return GraphError(
            f"the sparse matrix is broken: indptr must rise from 0 to {self._entries}, and row and "
            f"column numbers must lie in range({self.n}).\n  Rebuild it from its entries."
        )

    def _batch(self, row: Ints, column: Ints, data: Any, stop: int) -> Batch:
        for numbers in (row, column):
            if numbers.size and (int(numbers.min()) < 0 or int(numbers.max()) >= self.n):
                raise self._broken()
        weights = _weights_checked(data, row, column) if self.weighted else np.ones(row.size)
        keep = data != 0
        row, column, weights = row[keep], column[keep], weights[keep]
        above, below = row < column, row > column
        balance = _digest(row[above], column[above], weights[above])
        balance -= _digest(column[below], row[below], weights[below])
        kept = ~below
        return Batch(
            row[kept],
            column[kept],
            weights[kept] if self.weighted else None,
            stop,
            stop / self._entries,
            balance=balance,
        )


def _digest(low: Ints, high: Ints, weights: Floats) -> int:
    """Return a number for a set of weighted pairs; those of two disjoint sets are added."""
    with np.errstate(over="ignore"):
        mixed = mixed_bits(low)
        mixed = mixed_bits(mixed ^ high.astype(np.uint64))
        mixed = mixed_bits(mixed ^ weights.view(np.uint64))
        return int(mixed.sum(dtype=np.uint64))


def mixed_bits(values: Any) -> Any:
    """Return a hash of 64 bits of each number: the last steps of the generator splitmix64."""
    x = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def asymmetric() -> GraphError:
    """Return the error for a matrix that is not symmetric."""
    return GraphError(
        "an adjacency matrix must be symmetric, got entries that differ from those on the other "
        "side of the diagonal.\n  If it is directed, add its transpose: A + A.T. If it differs by "
        "rounding only, take (A + A.T) / 2 instead. Repeated entries must be summed."
    )


def _npz(path: Path, options: ReadOptions) -> Source:
    with zipfile.ZipFile(path) as archive:
        present = [name.removesuffix(".npy") for name in archive.namelist()]
    if options.source is None and ("format" in present or {"row", "col"} <= set(present)):
        return _Matrix(path, present, options)
    return _Columns(path, present, options)


_OPENERS: dict[str, Callable[[Path, ReadOptions], Source]] = {
    "parquet": _Parquet,
    "text": _Text,
    "npz": _npz,
    "npy": _Rows,
}


def matrix_size(sources: Sequence[Source]) -> int | None:
    """Return the number of nodes if that is given: by the shape of a matrix."""
    return sources[0].n if sources and isinstance(sources[0], _Matrix) else None
