"""Known networks and tables: a few ship with kgroups, the others are read from local folders."""

import csv
import difflib
import gzip
import hashlib
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from kgroups._output import exists
from kgroups._types import Floats, Symmetrize
from kgroups._validation import check_choice
from kgroups._wording import argument, function, in_python, listed, setting, shown_name
from kgroups.adapters import as_graph
from kgroups.adapters.files import STANDARD_INPUT
from kgroups.errors import FileFormatError, InputError
from kgroups.graph import Graph

__all__ = [
    "Dataset",
    "DatasetInfo",
    "Table",
    "TableInfo",
    "data_folders",
    "describe",
    "describe_tables",
    "load",
    "load_table",
    "names",
    "table_names",
]

_PACKAGE = Path(__file__).resolve().parent
Column = npt.NDArray[Any]


@dataclass(frozen=True)
class DataFile:
    """A file and the checksum it must have."""

    file: str
    sha256: str


@dataclass(frozen=True, eq=False, kw_only=True)
class _Source:
    """What a network or a table is, and where it is from."""

    name: str
    title: str
    citation: str
    origin: str
    license: str
    note: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Entry(_Source):
    """Fields of the catalog that networks and tables share."""

    bundled: bool
    archive: str

    kind: ClassVar[str]
    loader: ClassVar[str]
    describer: ClassVar[str]

    @property
    def files(self) -> tuple[DataFile, ...]:
        """Every file that loading reads, once."""
        values = (getattr(self, field.name) for field in fields(self))
        listed = (value.values() if isinstance(value, Mapping) else [value] for value in values)
        files = (file for file in chain.from_iterable(listed) if isinstance(file, DataFile))
        return tuple(dict.fromkeys(files))

    @property
    def present(self) -> bool:
        """Whether every file is present; checksums are compared on loading."""
        return len(self.paths) == len(self.files)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Paths of the files that were found."""
        return tuple(path for file in self.files if (path := _find(self, file)) is not None)


_Kind = TypeVar("_Kind", bound=Entry)


@dataclass(frozen=True, eq=False, kw_only=True)
class DatasetInfo(Entry):
    """What is known about a network without reading it.

    Attributes
    ----------
    name, title : str
        The name that :func:`kgroups.datasets.load` takes, and what the network is.
    family : str
        The kind of network, for example "citation", "colleges" or "biological".
    nodes, edges : int
        Size as loaded by default; self-loops are counted.
    directed, weighted : bool
        Whether the edge file has directions, and weights.
    bundled : bool
        Whether the files come with kgroups.
    citation, archive, origin, license, note : str
        Publication to cite, archive of the creators' own files (empty for what ships with
        kgroups), source of the copy, its terms, and what to know before use.
    edge_file, label_files, truth
        The files, and which of the label files is the usual ground truth. Edges and labels may
        be in one file.
    """

    family: str
    nodes: int
    edges: int
    directed: bool
    weighted: bool
    edge_file: DataFile
    label_files: Mapping[str, DataFile]
    truth: str | None

    kind = "network"
    loader = "kgroups.datasets.load"
    describer = "kgroups.datasets.describe"


@dataclass(frozen=True, eq=False, kw_only=True)
class TableInfo(Entry):
    """What is known about a table without reading it.

    Attributes
    ----------
    name, title : str
        The name that :func:`kgroups.datasets.load_table` takes, and what the table is.
    rows, columns, classes : int
        How many cases there are, how many numbers each has, and how many labels are in use.
    missing : int
        How many cells are empty.
    bundled : bool
        Whether the file comes with kgroups; no table does.
    citation, archive, origin, license, note : str
        Publication to cite, archive of the creators' own files (empty for what ships with
        kgroups), source of the copy, its terms, and what to know before use.
    data_file
        The file.
    """

    rows: int
    columns: int
    classes: int
    missing: int
    data_file: DataFile

    kind = "table"
    loader = "kgroups.datasets.load_table"
    describer = "kgroups.datasets.describe_tables"


def names() -> tuple[str, ...]:
    """Return the names of all known networks, those that ship with kgroups first.

    Examples
    --------
    >>> from kgroups import datasets
    >>> datasets.names()[:3]
    ('karate', 'les_miserables', 'florentine_families')
    """
    return tuple(_known(DatasetInfo))


def describe() -> tuple[DatasetInfo, ...]:
    """Return what is known about each network, in the order of :func:`names`.

    Examples
    --------
    >>> from kgroups import datasets
    >>> karate = datasets.describe()[0]
    >>> karate.title, karate.nodes, karate.edges, karate.present
    ('Friendships in a karate club that split in two', 34, 78, True)
    """
    return tuple(_known(DatasetInfo).values())


def table_names() -> tuple[str, ...]:
    """Return the names of all known tables.

    Examples
    --------
    >>> from kgroups import datasets
    >>> datasets.table_names()[:3]
    ('dermatology', 'libras', 'vehicle')
    """
    return tuple(_known(TableInfo))


def describe_tables() -> tuple[TableInfo, ...]:
    """Return what is known about each table, in the order of :func:`table_names`.

    Examples
    --------
    >>> from kgroups import datasets
    >>> dermatology = datasets.describe_tables()[0]
    >>> dermatology.rows, dermatology.columns, dermatology.classes, dermatology.missing
    (366, 34, 6, 8)
    """
    return tuple(_known(TableInfo).values())


def data_folders() -> tuple[Path, ...]:
    """Return the folders that are searched for files that do not ship with kgroups.

    The folder named by the environment variable ``KGROUPS_DATA`` comes first when it is set,
    then ``kgroups`` in the user's own data folder.
    """
    home = Path.home()
    if sys.platform == "win32":
        users = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        users = home / "Library" / "Application Support"
    else:
        users = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    named = os.environ.get("KGROUPS_DATA")
    return (*([Path(named)] if named else []), users / "kgroups")


def read_checked(entry: Entry, data_file: DataFile) -> bytes:
    """Return the content of a file after comparing its checksum."""
    path = _find(entry, data_file)
    if path is None:
        raise FileFormatError(_absent_message(entry, data_file))
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != data_file.sha256:
        reader = function("kgroups.read_graph()") if entry.kind == "network" else "pandas"
        msg = (
            f"{path} must have the sha256 {data_file.sha256} of the {entry.kind} {entry.name!r}, "
            f"got {found}.\n"
            f"  Replace it with the original ({entry.origin}), or read your own file with {reader}."
        )
        raise FileFormatError(msg)
    return content


def _known(kind: type[_Kind]) -> dict[str, _Kind]:
    return {name: entry for name, entry in _index().items() if isinstance(entry, kind)}


def find_entry(name: str, wanted: type[_Kind]) -> _Kind:
    """Return the entry of this name, or raise an error that lists the names."""
    entry = _index().get(name) if isinstance(name, str) else None
    if isinstance(entry, wanted):
        return entry
    if entry is not None:
        msg = (
            f"{wanted.loader} must be given the name of a {wanted.kind}; got {name!r}, which is "
            f"the name of a {entry.kind}.\n  Load it with {entry.loader}({name!r})."
        )
        raise InputError(msg)
    known = _known(wanted)
    close = difflib.get_close_matches(str(name), known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    msg = (
        f"the name of a {wanted.kind} must be one of {listed(known)}; got {name!r}.{guess}\n"
        f"  {wanted.describer}() describes each of them."
    )
    raise InputError(msg)


def _absent_message(entry: Entry, data_file: DataFile) -> str:
    if entry.bundled:
        return (
            f"the {entry.kind} {entry.name!r} needs the file {data_file.file}, which must be "
            "installed with kgroups and is missing.\n  Install kgroups again."
        )
    folders = data_folders()
    return (
        f"the {entry.kind} {entry.name!r} needs the file {data_file.file}, which is not in "
        f"{' or '.join(str(folder) for folder in folders)}.\n"
        f"  It does not ship with kgroups. Its creators: {entry.citation}.\n"
        f"  Their archive: {entry.archive}.\n"
        f"  The copy with this checksum: {entry.origin}.\n"
        f"  Its sha256: {data_file.sha256}.\n"
        f"  Put it into {folders[0]}, or name its folder in the environment variable KGROUPS_DATA."
    )


def _bundled_folders() -> tuple[Path, ...]:
    """Return the folders of the files in a wheel and in the source tree."""
    return (_PACKAGE / "_datasets", _PACKAGE.parents[1] / "datasets")


def _find(entry: Entry, data_file: DataFile) -> Path | None:
    return _first_file(data_file.file, _bundled_folders() if entry.bundled else data_folders())


def _first_file(name: str, folders: tuple[Path, ...]) -> Path | None:
    return next((path for folder in folders if (path := folder / name).is_file()), None)


@cache
def _index() -> Mapping[str, Entry]:
    path = _first_file("index.json", _bundled_folders())
    if path is None:
        msg = (
            "the list of networks and tables, index.json, must be installed with kgroups and is "
            "missing.\n  Install kgroups again."
        )
        raise FileFormatError(msg)
    listed = json.loads(path.read_text(encoding="utf-8"), object_hook=_frozen)
    entries: list[Entry] = [
        *(DatasetInfo(**record) for record in listed["networks"]),
        *(TableInfo(**record) for record in listed["tables"]),
    ]
    return MappingProxyType({entry.name: entry for entry in entries})


def _frozen(record: dict[str, Any]) -> DataFile | Mapping[str, Any]:
    return DataFile(**record) if "sha256" in record else MappingProxyType(record)


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset(_Source):
    """A network with its labels and its source.

    Attributes
    ----------
    name, title : str
        Its short name, and what it is.
    graph : Graph
        Undirected; nodes that occur in no edge are isolated nodes.
    labels : mapping of str to ndarray
        Every known labeling by its name, in node order; the number -1 marks a node without a
        label.
    directed : bool
        Whether the original has directions.
    citation, origin, license, note : str
        Publication to cite, source of the copy, its terms, and what to know before use.
    """

    graph: Graph
    labels: Mapping[str, Column]
    directed: bool
    truth_name: str | None

    @property
    def truth(self) -> Column | None:
        """The labels usually taken as the ground truth, or None where there are none."""
        return None if self.truth_name is None else self.labels[self.truth_name]

    def __repr__(self) -> str:
        known = f", labels {', '.join(map(repr, self.labels))}" if self.labels else ""
        return f"Dataset({self.name!r}, {self.graph!r}{known})"


def load(name: str, *, symmetrize: Symmetrize | None = None) -> Dataset:
    """Load a network by its name.

    Parameters
    ----------
    name : str
        One of :func:`kgroups.datasets.names`.
    symmetrize : {"union", "sum"}, optional
        How directions are removed: ``"union"`` keeps one edge of weight 1 for each pair that is
        linked either way, ``"sum"`` adds the weights of both ways. By default directed networks
        are loaded with ``"union"``, and undirected ones as they are. ``"union"`` removes the
        weights of undirected networks too.

    Returns
    -------
    Dataset
        The graph, its labels, and where they are from.

    Raises
    ------
    InputError
        If no network has this name; tables have :func:`kgroups.datasets.load_table`.
    FileFormatError
        If a file is missing or its checksum is wrong; the message says which file, where it is
        from and where to put it.

    Examples
    --------
    >>> from kgroups import datasets
    >>> karate = datasets.load("karate")
    >>> karate
    Dataset('karate', Graph(34 nodes, 78 edges, weighted), labels 'club', 'faction')
    >>> import numpy as np
    >>> np.flatnonzero(karate.labels["club"] != karate.labels["faction"])
    array([8])
    >>> datasets.load("drosophila_left").graph
    Graph(209 nodes, 5559 edges)
    """
    entry = find_entry(name, DatasetInfo)
    check_choice("symmetrize", symmetrize, (None, "union", "sum"))
    edges = _read_columns(entry, entry.edge_file)
    tables = {key: _read_columns(entry, file) for key, file in entry.label_files.items()}
    ends = [edges["source"], edges["target"]]
    listed = [table["node"] for table in (edges, *tables.values()) if "node" in table]
    nodes, row_of_name = np.unique(np.concatenate([*ends, *listed]), return_inverse=True)
    source, target = np.split(row_of_name[: 2 * ends[0].size], 2)
    graph = Graph.from_edges(source, target, edges.get("weight"), n=nodes.size)
    union = symmetrize == "union" or (symmetrize is None and entry.directed)
    plain = nodes.dtype.kind == "i" and np.array_equal(nodes, np.arange(nodes.size))
    # Without their multiplicity, the two directions of a link are one edge, not two parallel ones.
    graph = Graph(
        graph.indptr,
        graph.indices,
        None if union else graph.weights,
        nodes=None if plain else nodes.tolist(),
        name=name,
    )
    return Dataset(
        graph=graph,
        labels=MappingProxyType({key: _in_node_order(t) for key, t in tables.items()}),
        directed=entry.directed,
        truth_name=entry.truth,
        **_source_of(entry),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(_Source):
    """A table with its labels and its source.

    Attributes
    ----------
    name, title : str
        Its short name, and what it is.
    X : ndarray of float, shape (rows, columns)
        The numbers; NaN marks a missing cell.
    columns : tuple of str
        The names of the columns of ``X``.
    labels : ndarray
        The class of each row: integers where the file has integers, else text.
    citation, origin, license, note : str
        Publication to cite, source of the copy, its terms, and what to know before use.
    """

    X: Floats
    columns: tuple[str, ...]
    labels: Column

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        classes = np.unique(self.labels).size
        return f"Table({self.name!r}, {rows} rows x {columns} columns, {classes} classes)"


def load_table(name: str) -> Table:
    """Load a table by its name.

    No table ships with kgroups: the folders of :func:`kgroups.datasets.data_folders` are searched
    for its file.

    Parameters
    ----------
    name : str
        One of :func:`kgroups.datasets.table_names`.

    Returns
    -------
    Table
        The numbers, the class of each row, and where they are from; the arrays are read-only.

    Raises
    ------
    InputError
        If no table has this name; networks have :func:`kgroups.datasets.load`.
    FileFormatError
        If the file is missing or its checksum is wrong; the message says which file, where it is
        from and where to put it.

    Examples
    --------
    Load every small table whose file is on this machine.

    >>> from kgroups import datasets
    >>> small = [entry for entry in datasets.describe_tables() if entry.rows < 1000]
    >>> tables = [datasets.load_table(entry.name) for entry in small if entry.present]
    >>> all(table.X.shape == (len(table.labels), len(table.columns)) for table in tables)
    True
    """
    entry = find_entry(name, TableInfo)
    header, rows = _read_rows(entry, entry.data_file)
    numbers = np.array([[float(cell or "nan") for cell in row[:-1]] for row in rows])
    labels = _numbers_or_text([row[-1] for row in rows])
    for column in (numbers, labels):
        column.flags.writeable = False
    return Table(X=numbers, columns=tuple(header[:-1]), labels=labels, **_source_of(entry))


def _source_of(entry: Entry) -> dict[str, str]:
    return {field.name: getattr(entry, field.name) for field in fields(_Source)}


def _read_rows(entry: Entry, data_file: DataFile) -> tuple[list[str], list[list[str]]]:
    """Return the header and the other rows of a file whose checksum is right."""
    content = read_checked(entry, data_file)
    if data_file.file.endswith(".gz"):
        content = gzip.decompress(content)
    header, *rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    return header, rows


def _read_columns(entry: DatasetInfo, data_file: DataFile) -> dict[str, Column]:
    if data_file.file.endswith(".npz"):
        with np.load(io.BytesIO(read_checked(entry, data_file))) as arrays:
            nodes = np.arange(arrays["n"])
            ends = {"source": arrays["u"], "target": arrays["v"]}
            return {**ends, "node": nodes, "label": arrays["truth"]}
    header, rows = _read_rows(entry, data_file)
    columns = map(_numbers_or_text, zip(*rows, strict=True))
    return dict(zip(header, columns, strict=True))


def _numbers_or_text(cells: Sequence[str]) -> Column:
    """Return the cells as integers if all of them are, else as text."""
    column = np.array(cells)
    try:
        return column.astype(np.int64)
    except ValueError:
        return column


def _in_node_order(table: dict[str, Column]) -> Column:
    ordered = table["label"][np.argsort(table["node"])]
    ordered.flags.writeable = False
    return ordered


def is_known_network(name: str) -> bool:
    """Return whether a text is the name of a known network; if not, it must be that of a file.

    ``./karate`` is always a file, and ``-`` is standard input.

    Raises
    ------
    FileFormatError
        If there is no such file either.
    """
    if name in names():
        return True
    if name != STANDARD_INPUT and not exists(name):
        raise FileFormatError(_unknown_message(name))
    return False


def named_graph(
    name: str,
    *,
    weight: str | None,
    source: str | None,
    target: str | None,
    symmetrize: Symmetrize | None,
) -> tuple[Graph, Dataset]:
    """Return the graph of a known network, converted as the options say, and the network."""
    if weight not in (None, "weight"):
        msg = (
            f"the weights of a known network are called 'weight', got {setting('weight', weight)}."
            f"\n  Leave {argument('weight')} out, or pass {setting('weight', None)}."
        )
        raise InputError(msg)
    if (source, target) != (None, None):
        msg = (
            f"{argument('source')} and {argument('target')} name the columns of a file, got the "
            f"known network {name}.\n  Leave them out."
        )
        raise InputError(msg)
    dataset = load(name, symmetrize=symmetrize)
    return as_graph(dataset.graph, weight=weight), dataset


def _unknown_message(name: str) -> str:
    if name in table_names():
        hand_over = "write it to a file and pass the file"
        return (
            f"the graph must be a file or a known network, got {name!r}, which is a known table.\n"
            f"  A table has no edges: build a graph from kgroups.datasets.load_table({name!r})"
            f"{in_python(', such as nearest neighbors, and pass that') or f', {hand_over}'}."
        )
    close = difflib.get_close_matches(name, names(), n=3)
    guess = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    return (
        f"the graph must be a file or a known network, got {shown_name(name)}, which is neither."
        f"{guess}\n"
        f"  {function('kgroups.datasets.names()')} lists the known networks."
    )
