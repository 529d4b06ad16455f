"""GML, GraphML, Pajek and Matrix Market files.

networkx parses GML and GraphML once the files are known to be harmless. Its Pajek parser skips
lines that it does not understand, and ``scipy.io.mmread`` ends the whole process on some malformed
files, so these two formats are parsed here, with errors that name the line.
"""

import re
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat

import numpy as np

from kgroups.adapters.edges import (
    checked_weights,
    graph_of_edges,
    no_such_attribute,
    refuse_directed,
)
from kgroups.adapters.files import GraphFile, plain_number, read_records
from kgroups.adapters.matrices import from_dense, from_sparse
from kgroups.adapters.networkx import from_networkx
from kgroups.errors import FileFormatError
from kgroups.graph import Graph

_PAJEK_WORD = re.compile(r'"([^"]*)"|(\S+)')
_BANNER = re.compile(
    r"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+(real|double|integer|pattern)"
    r"\s+(general|symmetric|skew-symmetric)\s*",
    re.IGNORECASE,
)
_COMMENT_LINE = re.compile(rb"(?m)^[ \t]*%[^\n]*")
# Elements of GraphML in one another: a group of groups takes two a level, a drawing about ten.
_MOST_NESTED = 100
_SIZE = re.compile(r"[0-9]{1,18}")


def read_gml(file: GraphFile) -> Graph:
    """Read a GML file; nodes are named by ``label`` where it is unique, else by ``id``."""
    lines = [line for _, line in file.lines()]
    with file.parsing("GML"):
        parsed = _parse_gml(lines)
    labels = [data.get("label") for _, data in parsed.nodes(data=True)]
    if None in labels or len(set(map(str, labels))) < len(labels):
        labels = list(parsed)
    return from_networkx(parsed, file.options)._with(nodes=file.node_names(labels))


def _parse_gml(lines: list[str]) -> Any:
    import networkx as nx

    try:
        return nx.parse_gml(lines, label="id")
    except nx.NetworkXError as error:
        if "is duplicated" not in str(error) or "edge" not in str(error):
            raise
    # Many files list parallel edges without the flag that networkx requires.
    text = re.sub(r"(?m)^(\s*graph\s*\[)", r"\1 multigraph 1 ", "\n".join(lines), count=1)
    return nx.parse_gml(text.split("\n"), label="id")


def read_graphml(file: GraphFile) -> Graph:
    """Read the first graph of a GraphML file; a default weight that it declares is used."""
    import networkx as nx

    weight = file.options.weight
    with file.parsing("XML"):
        _check_markup(file)
    file.stream.seek(0)
    with file.parsing("GraphML"):
        parsed = nx.read_graphml(file.stream)
    default = parsed.graph.get("edge_default", {}).get(weight)
    if default is not None:
        for _, _, data in parsed.edges(data=True):
            data.setdefault(weight, default)
    return from_networkx(parsed, file.options)._with(nodes=file.node_names(list(parsed)))


def _check_markup(file: GraphFile) -> None:
    """Parse the XML with handlers only, so that no entity is ever expanded.

    Elements in one another take a hundred times the memory of their text, so their depth is
    limited.
    """
    parser = expat.ParserCreate()
    depth = 0

    def refuse(*_: object) -> None:
        problem = "a GraphML file must not declare a document type or entities"
        hint = "Remove the <!DOCTYPE ...> declaration."
        raise file.error(parser.CurrentLineNumber, problem, hint)

    def start(tag: str, _: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _MOST_NESTED:
            problem = f"elements must be nested at most {_MOST_NESTED} deep, got <{tag}> deeper"
            hint = "Check that the elements are closed."
            raise file.error(parser.CurrentLineNumber, problem, hint)

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.ParseFile(file.stream)


def read_pajek(file: GraphFile) -> Graph:
    """Read the first network of a Pajek file.

    An edge counts as one arc each way where the file also has arcs.
    """
    network = _PajekNetwork(file)
    for number, line in file.lines():
        words = [quoted or bare for quoted, bare in _PAJEK_WORD.findall(line)]
        if not words or words[0].startswith("%"):
            continue
        if words[0].lower() in ("*partition", "*vector", "*cluster", "*permutation"):
            break
        network.read_line(number, words)
    return network.graph()


class _PajekNetwork:
    """What was read of a Pajek network so far."""

    def __init__(self, file: GraphFile) -> None:
        self.file = file
        self.section = ""
        self.line = 0
        self.n: int | None = None
        self.labels: dict[int, str] = {}
        self.edges: list[tuple[int, int, float]] = []
        self.arcs: list[tuple[int, int, float]] = []
        self.rows: list[list[float]] = []

    def _error(self, line: int | None, problem: str) -> FileFormatError:
        hint = "See the Pajek manual for the form of a network file."
        return self.file.error(line, problem, hint)

    def read_line(self, line: int, words: list[str]) -> None:
        """Read a line that is neither empty nor a comment."""
        self.line = line
        if words[0].startswith("*"):
            self._start_section(words)
        elif self.section == "*vertices":
            self._read_vertex(words)
        elif self.section == "*matrix":
            self._read_matrix_row(words)
        elif self.section:
            self._read_edges(words)
        else:
            problem = f"a section such as *Vertices must come first, got {words[0]!r}"
            raise self._error(line, problem)

    def _start_section(self, words: list[str]) -> None:
        title = words[0].lower()
        if title == "*vertices":
            if self.n is not None:
                raise self._error(self.line, "a file must hold one network, got a second *Vertices")
            self.n = self._integer(words[1] if len(words) > 1 else "")
        elif title != "*network":
            if self.n is None:
                raise self._error(self.line, f"*Vertices must come before {words[0]}")
            if title not in ("*edges", "*arcs", "*edgeslist", "*arcslist", "*matrix"):
                raise self._error(self.line, f"{words[0]} is not a section of a network")
        self.section = "" if title == "*network" else title

    def _integer(self, word: str) -> int:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise self._error(self.line, f"a whole number is needed, got {word!r}")
        return int(word)

    def _number(self, word: str) -> float:
        try:
            return plain_number(word)
        except ValueError:
            raise self._error(self.line, f"a number is needed, got {word!r}") from None

    def _vertex(self, word: str) -> int:
        number = self._integer(word)
        if not 1 <= number <= (self.n or 0):
            problem = f"vertices are numbered from 1 to {self.n}, got {number}"
            raise self._error(self.line, problem)
        return number - 1

    def _read_vertex(self, words: list[str]) -> None:
        vertex = self._vertex(words[0])
        if vertex in self.labels:
            raise self._error(self.line, f"vertex {vertex + 1} is named twice")
        self.labels[vertex] = words[1] if len(words) > 1 else words[0]

    def _read_edges(self, words: list[str]) -> None:
        """Read an edge with a weight, or in the sections of lists the neighbors of a vertex."""
        found = self.edges if self.section.startswith("*edges") else self.arcs
        if self.section.endswith("list"):
            center, *others = map(self._vertex, words)
            found.extend((center, other, 1.0) for other in others)
            return
        if len(words) < 2:
            raise self._error(self.line, "an edge needs two vertices, got one")
        u, v = map(self._vertex, words[:2])
        found.append((u, v, self._number(words[2]) if len(words) > 2 else 1.0))

    def _read_matrix_row(self, words: list[str]) -> None:
        if len(words) != self.n or len(self.rows) == self.n:
            raise self._error(self.line, f"*Matrix needs {self.n} rows of {self.n} numbers")
        self.rows.append([self._number(word) for word in words])

    def graph(self) -> Graph:
        """Build the graph once all lines were read."""
        options = self.file.options
        if self.n is None:
            raise self._error(None, "a Pajek network must have a *Vertices section")
        if options.weight not in (None, "weight"):
            raise no_such_attribute(options.weight, ["weight"], kind="attribute")
        self.file.check_node_count(self.n, len(self.labels) + len(self.edges) + len(self.arcs))
        labels = [self.labels.get(vertex, str(vertex + 1)) for vertex in range(self.n)]
        if len(set(labels)) < self.n:
            labels = [str(vertex + 1) for vertex in range(self.n)]
        nodes = tuple(self.file.node_names(labels))
        if self.rows:
            if len(self.rows) != self.n or self.edges or self.arcs:
                raise self._error(None, f"*Matrix needs {self.n} rows, and no other edges")
            return from_dense(np.array(self.rows), options, nodes)
        edges = self.edges
        if self.arcs:
            refuse_directed(f"{self.file.name} with *Arcs", options)
            edges = [*edges, *((v, u, w) for u, v, w in edges if u != v), *self.arcs]
        u, v = (np.fromiter((edge[end] for edge in edges), np.int64, len(edges)) for end in (0, 1))
        weights = None
        if options.reads_weights:
            weights = checked_weights(
                np.array([edge[2] for edge in edges]), lambda t: (nodes[u[t]], nodes[v[t]])
            )
        return graph_of_edges(u, v, weights, nodes, options)


@dataclass(frozen=True)
class _MatrixHeader:
    """The first lines of a Matrix Market file: sizes, and the number of the line of sizes."""

    layout: str
    field: str
    symmetry: str
    sizes: tuple[int, ...]
    line: int


def read_matrix_market(file: GraphFile) -> Graph:
    """Read a square matrix of real numbers or a pattern from a Matrix Market file."""
    from scipy import sparse

    header = _read_matrix_header(file)
    n_rows, n_columns = header.sizes[:2]
    if header.layout == "array":
        rows, columns, values = _array_entries(file, header)
    else:
        file.check_node_count(max(n_rows, n_columns), header.sizes[2])
        rows, columns, values = _coordinate_entries(file, header)
    if header.symmetry != "general":
        off = rows != columns
        sign = -1 if header.symmetry == "skew-symmetric" else 1
        rows, columns = np.r_[rows, columns[off]], np.r_[columns, rows[off]]
        values = np.r_[values, sign * values[off]]
    matrix = sparse.coo_array((values, (rows, columns)), shape=(n_rows, n_columns))
    return from_sparse(matrix, file.options)


def _read_matrix_header(file: GraphFile) -> _MatrixHeader:
    lines = file.lines()
    _, banner = next(lines, (1, ""))
    match = _BANNER.fullmatch(banner)
    if match is None:
        problem = f"the first line must announce a real Matrix Market matrix, got {banner[:60]!r}"
        hint = "Begin for instance with: %%MatrixMarket matrix coordinate real symmetric"
        raise file.error(1, problem, hint)
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
            raise file.error(number, problem, "Give rows, columns and entries.")
        return _MatrixHeader(layout, field, symmetry, tuple(map(int, words)), number)
    raise file.error(None, "the line of sizes is missing", "Check that the file is complete.")


def _coordinate_entries(file: GraphFile, header: _MatrixHeader) -> tuple[Any, Any, Any]:
    kinds = [("row", np.int64), ("column", np.int64)]
    has_values = header.field != "pattern"
    record = np.dtype([*kinds, ("value", np.float64)] if has_values else kinds)
    entries = _matrix_entries(file, header, record, header.sizes[2])
    for part, size in zip(("row", "column"), header.sizes, strict=False):
        bad = np.flatnonzero((entries[part] < 1) | (entries[part] > size))
        if bad.size:
            problem = (
                f"entry {bad[0] + 1}: {part}s are numbered from 1 to {size}, got "
                f"{entries[part][bad[0]]}"
            )
            raise file.error(None, problem, "Correct this entry or the line of sizes.")
    values = entries["value"] if has_values else np.ones(len(entries))
    return entries["row"] - 1, entries["column"] - 1, values


def _array_entries(file: GraphFile, header: _MatrixHeader) -> tuple[Any, Any, Any]:
    n_rows, n_columns = header.sizes
    first_diagonal = 1 if header.symmetry == "skew-symmetric" else 0
    is_triangle = header.symmetry != "general"
    full = n_rows * (n_rows + 1 - 2 * first_diagonal) // 2 if is_triangle else n_rows * n_columns
    entries = _matrix_entries(file, header, np.dtype([("value", np.float64)]), full)
    if is_triangle and n_rows == n_columns:
        columns, rows = np.triu_indices(n_rows, first_diagonal)
    else:
        columns, rows = np.divmod(np.arange(full), max(n_rows, 1))
    return rows, columns, entries["value"]


def _matrix_entries(
    file: GraphFile, header: _MatrixHeader, record: "np.dtype[Any]", expected: int
) -> Any:
    """Read the entries after the header, as many as the sizes ask for."""
    entries = read_records((_COMMENT_LINE.sub(b"", block) for block in file.blocks()), record, None)
    if entries is None:
        raise _first_bad_line(file, header, record)
    if len(entries) != expected:
        problem = f"the sizes ask for {expected} entries, got {len(entries)}"
        raise file.error(None, problem, "Check that the file is complete.")
    return entries


def _first_bad_line(
    file: GraphFile, header: _MatrixHeader, record: "np.dtype[Any]"
) -> FileFormatError:
    for number, line in file.lines():
        if number <= header.line or not line.strip() or line.lstrip().startswith("%"):
            continue
        if read_records([line.encode()], record, None) is None:
            problem = (
                f"an entry must be {len(record.names or ())} numbers, got {line.strip()[:60]!r}"
            )
            return file.error(number, problem, "Correct this line.")
    return file.error(None, "the entries are malformed", "Check that the file is complete.")
