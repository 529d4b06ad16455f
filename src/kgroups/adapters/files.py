"""Graph files of every supported format to ``Graph``; files are never trusted."""

import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from kgroups._doors import check_choice
from kgroups._types import Symmetrize
from kgroups._wording import in_python
from kgroups.adapters.columns import check_column_names, refuse_column_names
from kgroups.adapters.compression import MAX_EXPANSION, expansion_limit, open_file
from kgroups.adapters.edgelist import read_edge_list
from kgroups.adapters.markup import read_gml, read_graphml
from kgroups.adapters.matrixmarket import read_matrix_market
from kgroups.adapters.npz import read_npz
from kgroups.adapters.pajek import read_pajek
from kgroups.adapters.parquet import read_parquet
from kgroups.adapters.text import ReadOptions, format_error
from kgroups.adapters.weights import check_weight_name
from kgroups.errors import FileFormatError, GraphError
from kgroups.graph import Graph

__all__ = ["read_graph"]

FileFormat: TypeAlias = Literal[
    "edgelist", "gml", "graphml", "pajek", "matrixmarket", "npz", "parquet"
]
Reader: TypeAlias = Callable[[BinaryIO, str, ReadOptions], Graph]

_READERS: dict[str, Reader] = {
    "edgelist": read_edge_list,
    "gml": read_gml,
    "graphml": read_graphml,
    "pajek": read_pajek,
    "matrixmarket": read_matrix_market,
    "npz": read_npz,
    "parquet": read_parquet,
}
_TABLES = ("edgelist", "npz", "parquet")
_FORMAT_OF_SUFFIX = {
    ".csv": "edgelist",
    ".tsv": "edgelist",
    ".txt": "edgelist",
    ".edges": "edgelist",
    ".edgelist": "edgelist",
    ".gml": "gml",
    ".graphml": "graphml",
    ".net": "pajek",
    ".paj": "pajek",
    ".mtx": "matrixmarket",
    ".npz": "npz",
    ".parquet": "parquet",
}


def read_graph(
    path: str | os.PathLike[str],
    *,
    weight: str | None = "weight",
    source: str | None = None,
    target: str | None = None,
    symmetrize: Symmetrize | None = None,
    format: FileFormat | None = None,
    max_expansion: float = MAX_EXPANSION,
) -> Graph:
    r"""Read a graph from a file.

    Parameters
    ----------
    path : str or path-like
        The file. Its suffix tells the format; a further ``.gz`` tells that it is compressed.
    weight : str or None
        Edge attribute or column that holds the weights, as in :func:`kgroups.as_graph`. The third
        column of an edge list without a header is the weight, whatever its name.
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
    blank is a comment. A first line with usual column names (in capitals or not) is a header that
    chooses the columns: ``source, target``, ``from, to``, ``src, dst``, ``node1, node2``, ``u, v``,
    ``ego, alter``, ``id1, id2`` and the like. If one of them but ``source`` and ``target`` is also
    the name of a node, the file is refused until ``source`` and ``target`` are given. Columns of
    Parquet files, arrays of ``.npz`` files and columns of tables are found by the same names.
    The edges are undirected, unless a column ``type`` says ``directed``. A pair that stands there
    twice, in whichever direction, is a parallel edge and its weights are added; where a file lists
    each edge in both directions, ``symmetrize="union"`` makes each one edge of weight 1.

    An ``.npz`` file holds what ``scipy.sparse.save_npz`` writes, or arrays ``source, target[,
    weight]`` with an entry per edge, or ``row, col[, data]`` with the entries of a symmetric
    matrix. Nothing in a file is ever executed: no pickles, no XML entities.

    Parquet files and arrays of edges come in batches: at ten million edges reading takes less than
    three times the memory of the graph. Their nodes are whole numbers or text, not floats.

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
    check_choice("symmetrize", symmetrize, (None, "sum", "union"))
    check_choice("format", format, (None, *_READERS))
    check_weight_name(weight)
    check_column_names(source, target)
    file_path = Path(path)
    if not file_path.exists():
        hint = "Check the path; it must be the path of a graph file."
        raise format_error(str(path), None, "there is no such file", hint)
    chosen = _format_of(file_path) if format is None else format
    if chosen not in _TABLES:
        refuse_column_names(f"a file of the format {chosen}", source)
    name = file_path.name
    limit = expansion_limit(file_path, max_expansion)
    options = ReadOptions(weight, symmetrize, source, target, limit)
    try:
        with open_file(file_path, limit) as file:
            graph = _READERS[chosen](file, name, options)
    except FileFormatError:
        raise
    except GraphError as error:
        message = str(error)
        raise (error if name in message else type(error)(f"{name}: {message}")) from None
    except MemoryError as error:
        hint = "Check the sizes that it claims."
        raise format_error(name, None, "the graph does not fit in memory", hint) from error
    except (OSError, EOFError, zlib.error) as error:
        problem = f"the file could not be read: {error}"
        raise format_error(name, None, problem, "Check that the file is whole.") from error
    if graph.n == 0:
        problem = "the file must hold at least one node, got none"
        raise format_error(name, None, problem, "Check that it is the right file, and whole.")
    return graph


def _format_of(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in _FORMAT_OF_SUFFIX:
        problem = f"the suffix must tell the format, got {suffix!r}"
        option = in_python(", or pass format=")
        hint = f"Use one of {' '.join(_FORMAT_OF_SUFFIX)} (perhaps with .gz){option}."
        raise format_error(str(path), None, problem, hint)
    return _FORMAT_OF_SUFFIX[suffix]
