"""Read a known network: its files become a Graph with labels beside it."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from kgroups._doors import check_choice
from kgroups._types import Ints, Symmetrize
from kgroups.datasets.catalogue import DataFile, DatasetInfo, info
from kgroups.datasets.reading import Column, numbers_or_text, read_rows
from kgroups.graph import Graph

__all__ = ["Dataset", "load"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A network with what is known about it.

    Attributes
    ----------
    name, title : str
        Its short name, and what it is.
    graph : Graph
        Undirected; nodes that occur only in a label file are isolated nodes.
    labels : mapping of str to ndarray
        Every known labelling by its name, in node order; the number -1 marks a node without a
        label.
    communities : tuple of frozenset
        Known communities that overlap or leave nodes out; empty for most networks.
    directed : bool
        Whether the original has directions.
    citation, origin, licence, note : str
        Whom to cite, where the copy is from, its terms, and what to know before use.
    """

    name: str
    title: str
    graph: Graph
    labels: Mapping[str, Column]
    communities: tuple[frozenset[Hashable], ...]
    directed: bool
    citation: str
    origin: str
    licence: str
    note: str
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
        If a file is absent or its checksum is wrong; the message says which file, where it is
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
    entry = info(name)
    check_choice("symmetrize", symmetrize, (None, "union", "sum"))
    edges = _read_columns(entry, entry.edge_file)
    tables = {key: _read_columns(entry, file) for key, file in entry.label_files.items()}
    ends = [edges["source"], edges["target"]]
    nodes, row_of_name = np.unique(
        np.concatenate([*ends, *(table["node"] for table in tables.values())]), return_inverse=True
    )
    source, target = np.split(row_of_name[: 2 * ends[0].size], 2)
    plain = nodes.dtype.kind == "i" and np.array_equal(nodes, np.arange(nodes.size))
    graph = _undirected(
        source,
        target,
        edges.get("weight"),
        nodes=None if plain else nodes.tolist(),
        n=nodes.size,
        symmetrize=symmetrize or ("union" if entry.directed else None),
    )
    return Dataset(
        name=entry.name,
        title=entry.title,
        graph=graph,
        labels=MappingProxyType({key: _in_node_order(t) for key, t in tables.items()}),
        communities=_communities(entry),
        directed=entry.directed,
        citation=entry.citation,
        origin=entry.origin,
        licence=entry.licence,
        note=entry.note,
        truth_name=entry.truth,
    )


def _undirected(
    source: Ints,
    target: Ints,
    weight: Column | None,
    *,
    nodes: list[Hashable] | None,
    n: int,
    symmetrize: Symmetrize | None,
) -> Graph:
    if symmetrize == "union":
        pairs = np.unique(np.sort(np.column_stack([source, target]), axis=1), axis=0)
        return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, nodes=nodes)
    graph = Graph.from_edges(source, target, weight, n=n, nodes=nodes)
    # The two directions of a link are one edge, not two parallel ones.
    return Graph(graph.indptr, graph.indices, graph.weights, nodes=nodes)


def _read_columns(entry: DatasetInfo, data_file: DataFile) -> dict[str, Column]:
    header, rows = read_rows(entry, data_file)
    return {
        name: numbers_or_text(np.array(column))
        for name, column in zip(header, zip(*rows, strict=True), strict=True)
    }


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
