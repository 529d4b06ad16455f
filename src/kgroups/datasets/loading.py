"""Load a network or a table of the catalog from its files."""

import csv
import gzip
import io
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from kgroups._types import Floats, Symmetrize
from kgroups._validation import check_choice
from kgroups.datasets.catalog import (
    DataFile,
    DatasetInfo,
    Entry,
    TableInfo,
    find_entry,
    read_checked,
)
from kgroups.graph import Graph

Column = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Sourced:
    """Name and source of a loaded network or table."""

    name: str
    title: str
    citation: str
    origin: str
    license: str
    note: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset(_Sourced):
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
    communities : tuple of frozenset
        Known communities that overlap or leave nodes out; empty for most networks.
    directed : bool
        Whether the original has directions.
    citation, origin, license, note : str
        Publication to cite, source of the copy, its terms, and what to know before use.
    """

    graph: Graph
    labels: Mapping[str, Column]
    communities: tuple[frozenset[Hashable], ...]
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
        communities=_communities(entry),
        directed=entry.directed,
        truth_name=entry.truth,
        **_source_of(entry),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(_Sourced):
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
    return {field.name: getattr(entry, field.name) for field in fields(_Sourced)}


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


def _communities(entry: DatasetInfo) -> tuple[frozenset[Hashable], ...]:
    if entry.community_file is None:
        return ()
    table = _read_columns(entry, entry.community_file)
    order = np.argsort(table["community"], kind="stable")
    ends = np.flatnonzero(np.diff(table["community"][order])) + 1
    return tuple(frozenset(part.tolist()) for part in np.split(table["node"][order], ends))
