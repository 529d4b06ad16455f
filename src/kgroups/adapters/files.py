"""Graph files: ``read_graph``, the registry of formats, and what their readers share.

Files are not trusted: compressed content is limited, and sizes that a file claims are checked.
To add a format, write a function that takes a ``GraphFile`` and returns a ``Graph``, and add one
line to ``FORMATS``.
"""

import gzip
import io
import os
import re
import sys
import warnings
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from kgroups._output import check_regular, exists
from kgroups._types import Symmetrize
from kgroups._validation import check_choice
from kgroups._wording import argument, in_python, shown_name
from kgroups.adapters.edges import MAX_EXPANSION, ReadOptions
from kgroups.errors import FileFormatError, GraphError, InputError, KGroupsError
from kgroups.graph import Graph

STANDARD_INPUT = "-"
"""The path that stands for it."""

_READ_BYTES = 1 << 20  # Bytes that are decompressed at once.
_DEFLATE_RATIO = 1032  # No deflate stream expands further.
_NODES_ALWAYS_ALLOWED = 10_000_000  # Nodes that a file may claim, however few its entries are.
_NODES_PER_ENTRY = 1_000  # Nodes that a file may claim beyond that.
_LONGEST_PATH = 4096  # Characters of a path that a message shows as it is.
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Format(NamedTuple):
    """A file format: its suffixes, its reader as ``module:function``, whether it has columns.

    ``name`` is what ``read_graph`` takes as its format, ``title`` what the command line shows.
    """

    name: str
    title: str
    suffixes: str
    reader: str
    has_columns: bool = False


FORMATS = (
    Format(
        "edgelist",
        "edge list",
        ".csv .tsv .txt .edges .edgelist",
        "edge_lists:read_edge_list",
        has_columns=True,
    ),
    Format("gml", "GML", ".gml", "text_formats:read_gml"),
    Format("graphml", "GraphML", ".graphml", "text_formats:read_graphml"),
    Format("pajek", "Pajek", ".net .paj", "text_formats:read_pajek"),
    Format("matrixmarket", "Matrix Market", ".mtx", "text_formats:read_matrix_market"),
    Format("npz", ".npz", ".npz", "binary_formats:read_npz", has_columns=True),
    Format("parquet", "Parquet", ".parquet", "binary_formats:read_parquet", has_columns=True),
)


def read_graph(
    path: str | os.PathLike[str],
    *,
    weight: str | None = "weight",
    source: str | None = None,
    target: str | None = None,
    symmetrize: Symmetrize | None = None,
    format: str | None = None,
    max_expansion: float = MAX_EXPANSION,
) -> Graph:
    r"""Read a graph from a file.

    Parameters
    ----------
    path : str or path-like
        The file. Its suffix tells the format; a further ``.gz`` tells that it is compressed.
        ``"-"`` is standard input, an edge list unless ``format`` says otherwise. Pipes and devices
        are refused.
    weight : str or None
        Edge attribute or column that holds the weights, as in :func:`kgroups.as_graph`. The third
        column of an edge list without a header is the weight, whatever its name; the attribute
        ``about_weights`` of the graph says what was used.
    source, target : str, optional
        Columns that hold the ends of the edges: of an edge list with a header, of a Parquet file,
        or arrays of an ``.npz`` file. Columns with usual names are found without; see Notes.
    symmetrize : {"sum", "union"}, optional
        What to do with a directed graph, as in :func:`kgroups.as_graph`.
    format : str, optional
        ``"edgelist"`` (``.csv .tsv .txt .edges .edgelist``), ``"gml"``, ``"graphml"``,
        ``"pajek"`` (``.net .paj``), ``"matrixmarket"`` (``.mtx``), ``"npz"`` or ``"parquet"``,
        when the suffix does not tell.
    max_expansion : float
        Times its own size to which a compressed file may expand; content of at most 64 MiB is
        read in any case, and ``float("inf")`` sets no limit. It holds for ``.gz``, for the arrays
        of an ``.npz`` file and the columns of a Parquet file.

    Returns
    -------
    Graph
        Node names are integers if every name in the file is one, text otherwise; the rows of a
        matrix are numbered from 0.

    Raises
    ------
    FileFormatError
        If the file cannot be read; the message names the file and the line. Also if it holds no
        node, or expands beyond ``max_expansion``.
    MissingExtraError
        If a Parquet file is given and pyarrow is not installed.

    Notes
    -----
    Edge lists have one edge per line, two node names and perhaps a weight, separated by commas,
    tabs, semicolons or blanks. What follows ``#`` or ``%`` at the start of a line or after a
    blank is a comment. A first line with usual column names (in any case) is a header that
    chooses the columns: ``source, target``, ``from, to``, ``src, dst``, ``node1, node2``, ``u, v``,
    ``ego, alter``, ``id1, id2`` and the like. If one of them but ``source`` and ``target`` is also
    the name of a node, the file is refused until ``source`` and ``target`` are given. Columns of
    Parquet files, arrays of ``.npz`` files and columns of tables are found by the same names.
    The edges are undirected, unless a column ``type`` says ``directed``. A pair that is listed
    twice, in either direction, is a parallel edge and its weights are added; where a file lists
    each edge in both directions, ``symmetrize="union"`` makes each one edge of weight 1.

    An ``.npz`` file holds what ``scipy.sparse.save_npz`` writes, or arrays ``source, target[,
    weight]`` with an entry per edge, or ``row, col[, data]`` with the entries of a symmetric
    matrix. Nothing in a file is ever executed: no pickles, no XML entities.

    The nodes of Parquet files and of arrays of edges are whole numbers or text, not floats.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "friends.csv")
    ...     _ = path.write_text("source,target,weight\nann,bob,2\nbob,cy,1\n")
    ...     read_graph(path)
    Graph(3 nodes, 2 edges, weighted)
    """
    options = ReadOptions(weight, symmetrize, source, target, max_expansion)
    return read_file(path, options, format)


def read_file(
    path: str | os.PathLike[str], options: ReadOptions, format: str | None = None
) -> Graph:
    """Read a graph from a file as :func:`read_graph` does."""
    formats = {one.name: one for one in FORMATS}
    check_choice("format", format, (None, *formats))
    file_path = Path(path)
    is_standard_input = os.fspath(path) == STANDARD_INPUT
    if is_standard_input:
        chosen = formats[format or "edgelist"]
    elif not exists(path):
        network = in_python(" A known network is kgroups.datasets.load(name).graph.")
        hint = f"Check the path; it must be the path of a graph file.{network}"
        raise _error(_shown_path(path), "there is no such file", hint)
    else:
        check_regular(file_path, "Pass a file, or - and connect a pipe to standard input.")
        chosen = _format_of_suffix(file_path) if format is None else formats[format]
    if not chosen.has_columns:
        options.refuse_column_names(f"a file of the format {chosen.name}")
    module, _, function = chosen.reader.partition(":")
    read: Callable[[GraphFile], Graph] = getattr(
        import_module(f"kgroups.adapters.{module}"), function
    )
    name = file_path.name
    try:
        with GraphFile(None if is_standard_input else file_path, options) as file:
            name = file.name
            graph = read(file)
    except FileFormatError:
        raise
    except GraphError as error:
        message = str(error)
        raise (error if name in message else type(error)(f"{name}: {message}")) from None
    except MemoryError as error:
        hint = "Check the sizes that it claims."
        raise _error(name, "the graph does not fit in memory", hint) from error
    except (OSError, EOFError, zlib.error) as error:
        problem = f"the file could not be read: {error}"
        raise _error(name, problem, "Check that the file is complete.") from error
    if graph.n == 0:
        problem = "the file must hold at least one node, got none"
        raise _error(name, problem, "Check that it is the right file, and complete.")
    return graph.named(name)


def _format_of_suffix(path: Path) -> Format:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    for one in FORMATS:
        if suffix in one.suffixes.split():
            return one
    known = " ".join(one.suffixes for one in FORMATS)
    option = in_python(", or pass format=")
    hint = f"Use one of {known} (perhaps with .gz){option}."
    raise _error(str(path), f"the suffix must tell the format, got {suffix!r}", hint)


def _error(place: str, problem: str, hint: str) -> FileFormatError:
    return FileFormatError(f"{place}: {problem}.\n  {hint}")


def _shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path as it was given, unless it is no path but text of a file."""
    text = str(path)
    return text if text.isprintable() and 0 < len(text) <= _LONGEST_PATH else shown_name(text)


def _standard_input() -> bytes:
    buffer = getattr(sys.stdin, "buffer", None)
    if buffer is None:
        msg = (
            "standard input must be a stream of bytes, got a sys.stdin without a buffer, of type "
            f"{type(sys.stdin).__name__}.\n  Write its content to a file, and pass that."
        )
        raise InputError(msg)
    return bytes(buffer.read())


class GraphFile:
    """An open file, its name and size, and the options of the caller.

    A file that ends with ``.gz`` is decompressed while it is read. One that expands too far is
    refused when it is opened, before a reader has used any of its content. ``opener`` is the
    function that takes ``max_expansion``. Without a path it is standard input.
    """

    def __init__(
        self, path: Path | None, options: ReadOptions, opener: str = "kgroups.read_graph"
    ) -> None:
        self.options = options
        self._opener = opener
        if path is None:
            self.name = "standard input"
            # Readers go back to the start, which a pipe cannot.
            content_read = _standard_input()
            self.stream: BinaryIO = io.BytesIO(content_read)
            self._size = len(content_read)
            return
        self.name = path.name
        self._size = path.stat().st_size
        if path.suffix.lower() != ".gz":
            self.stream = path.open("rb")
            return
        content = gzip.open(path, "rb")  # noqa: SIM115 (closed with this object)
        self.stream = cast("BinaryIO", io.BufferedReader(cast(Any, content)))
        # A smaller file cannot expand beyond what is always allowed.
        if self._size * _DEFLATE_RATIO > options.always_allowed:
            try:
                while content.read(_READ_BYTES):
                    self.check_expansion(content.tell())
                content.seek(0)
            except BaseException:
                self.stream.close()
                raise

    def __enter__(self) -> "GraphFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def error(self, line: int | None, problem: str, hint: str) -> FileFormatError:
        """Return the error for this file, with the line if there is one."""
        return _error(self.name if line is None else f"{self.name}, line {line}", problem, hint)

    def check_expansion(self, expanded: int) -> None:
        """Raise if the content has, or announces, more bytes than are allowed."""
        options = self.options
        if expanded <= max(options.always_allowed, options.max_expansion * self._size):
            return
        problem = (
            f"a compressed file must not expand to more than {options.max_expansion:g} times its "
            f"size and more than 64 MiB, got {self._size} bytes that expand to at least {expanded}"
        )
        where = in_python(f" to {self._opener}")
        hint = f"If you trust this file, pass a larger {argument('max_expansion')}{where}."
        raise self.error(None, problem, hint)

    def check_node_count(self, n: int, entries: int) -> None:
        """Refuse a small file that claims more nodes than fit in memory."""
        if n > _NODES_ALWAYS_ALLOWED and n > _NODES_PER_ENTRY * (entries + 1):
            problem = f"the file claims {n} nodes but has {entries} entries"
            raise self.error(None, problem, "Number the nodes without such gaps.")

    def rewind(self) -> None:
        """Go back to the start."""
        self.stream.seek(0)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line from the start with its number; every kind of line end is accepted.

        The stream stays at the end of the last line that was yielded.
        """
        self.rewind()
        number = 0
        for raw in iter(self.stream.readline, b""):
            for line in raw.splitlines():
                number += 1
                part = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
                try:
                    yield number, part.decode("utf-8")
                except UnicodeDecodeError as error:
                    problem = f"text must be UTF-8, {error.reason}"
                    raise self.error(number, problem, "Save the file as UTF-8.") from None

    def blocks(self) -> Iterator[bytes]:
        """Yield the rest of the file in blocks of complete lines, all line ends as newlines."""
        rest = b""
        while chunk := self.stream.read(self.options.block_bytes):
            text, end, rest = (rest + chunk).rpartition(b"\n")
            yield (text + end).replace(b"\r", b"\n")
        yield rest.replace(b"\r", b"\n")

    def node_names(self, labels: Sequence[object]) -> Sequence[Hashable]:
        """Return integers if every label is one in plain notation, else the labels as text.

        Python reads integers of a limited number of digits; one with more is an error.
        """
        texts = [label if isinstance(label, str) else str(label) for label in labels]
        if not all_integers(texts):
            return texts
        try:
            return [int(text) for text in texts]
        except ValueError:
            most, longest = sys.get_int_max_str_digits(), len(max(texts, key=len).lstrip("-"))
            problem = f"a whole number must have at most {most} digits, got {longest}"
            hint = "Shorten this name, or let all names begin with a letter, so that they are text."
            raise self.error(None, problem, hint) from None

    @contextmanager
    def parsing(self, kind: str) -> Iterator[None]:
        """Turn whatever a parser raises on a malformed file into a FileFormatError."""
        try:
            yield
        except (KGroupsError, OSError, EOFError):
            raise
        except MemoryError as error:
            hint = "Check the sizes that its header claims."
            raise self.error(None, f"the {kind} file does not fit in memory", hint) from error
        except RecursionError as error:
            problem = f"the {kind} file has parts that are nested too deep"
            raise self.error(None, problem, "Check that all parts are closed.") from error
        except Exception as error:
            where = re.search(r"\((\d+), \d+\)|[Ll]ine (\d+)", str(error))
            line = int(where[1] or where[2]) if where else None
            detail = str(error).rstrip(".") or type(error).__name__
            problem = f"the file must be valid {kind}, but: {detail}"
            raise self.error(line, problem, "Check that the file is complete.") from error


def plain_number(text: str) -> float:
    """Return a number in plain notation; ``float`` alone would read ``1_0`` as ten."""
    if "_" in text or not text.isascii():
        msg = f"not a number: {text!r}"
        raise ValueError(msg)
    return float(text)


def all_integers(texts: Iterable[str]) -> bool:
    """Return whether each text is an integer in plain notation, so that ``007`` stays a name."""
    return all(map(_INTEGER.fullmatch, texts))


def read_records(
    blocks: Iterable[bytes],
    record: "np.dtype[Any]",
    delimiter: str | None,
    *,
    refuse: Callable[[bytes], bool] | None = None,
) -> Any:
    """Parse lines that all hold the fields of ``record``, separated by ``delimiter`` or blanks.

    Return one record per non-empty line, or ``None`` if a line does not fit or ``refuse`` tells
    that a block holds what numpy would misread.
    """
    parts = [np.empty(0, record)]
    with warnings.catch_warnings():
        # numpy warns where it would read the integer 2 from the text 2.5.
        warnings.simplefilter("error")
        for block in blocks:
            if not block.strip():
                continue
            if refuse is not None and refuse(block):
                return None
            try:
                part = np.loadtxt(
                    io.BytesIO(block),
                    record,
                    comments=None,
                    delimiter=delimiter,
                    ndmin=1,
                    encoding="utf-8",
                )
            except (ValueError, TypeError, OverflowError, Warning):
                return None
            parts.append(part)
    return np.concatenate(parts)
