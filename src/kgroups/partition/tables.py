"""A partition as tables and as a networkx graph: nodes, communities, and links between them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._output import html_beside, html_facts, html_lines, html_table, html_text
from kgroups._types import Floats, Ints
from kgroups._validation import check_choice
from kgroups._wording import counted, counted_communities, install_hint, text_of
from kgroups.errors import InputError, MissingExtraError
from kgroups.graph import Graph
from kgroups.metrics import accuracy, ami, ari, nmi, variation_of_information
from kgroups.scoring import community_links, conductance

if TYPE_CHECKING:
    from kgroups.partition.partition import Partition

_WITHOUT_GRAPH = ("node", "community")
_WITH_GRAPH = (*_WITHOUT_GRAPH, "degree", "inside")
_COLUMNS = (*_WITH_GRAPH, "confidence", "runner_up", "stability")
# Pairs of communities that a notebook shows.
_MOST_ROWS = 8
# Communities and nodes of each that are listed.
_MOST_NODE_ROWS, _MOST_NODES = 8, 3
# Beyond so many entries of the matrix, or communities, there is no picture, which would take more
# than a second or two; beyond the third number nothing reads the edges.
_MAX_PICTURE_ENTRIES, _MAX_PICTURE_COMMUNITIES, _MAX_ENTRIES = 2_000_000, 1000, 20_000_000
# Larger graphs are shown as the graph of their communities, which is small in every sense.
_MAX_NODES_DRAWN = 1000


def node_table(partition: "Partition", columns: Sequence[str] | None) -> Any:
    """Return the DataFrame of :meth:`Partition.to_dataframe`."""
    if columns is None:
        columns = _WITHOUT_GRAPH if partition.graph is None else _WITH_GRAPH
    elif isinstance(columns, str):
        msg = f"columns must be several names of columns, got the text {columns!r}."
        raise InputError(msg)
    for name in columns:
        check_choice("columns", name, _COLUMNS)
    pandas = import_pandas()
    found = {name: _column(partition, name) for name in columns}
    if "node" in found:
        found["node"] = name_series(pandas, found["node"])
    return pandas.DataFrame(found, columns=list(columns))


def name_series(pandas: Any, names: Sequence[Hashable]) -> Any:
    """Return a pandas Series that keeps names as they are, tuples and mixed types, too."""
    kinds = set(map(type, names))
    try:
        return pandas.Series(names, dtype=None if len(kinds) == 1 else object)
    except (OverflowError, TypeError, UnicodeEncodeError):
        # Numbers without bound, and text that is not valid Unicode.
        return pandas.Series(names, dtype=object)


def import_pandas() -> Any:
    """Return the module ``pandas``, or raise and name the extra."""
    try:
        import pandas
    except ImportError as error:
        msg = f"to_dataframe needs pandas. {install_hint('study')}"
        raise MissingExtraError(msg) from error
    return pandas


def _column(partition: "Partition", name: str) -> Any:
    if name == "node":
        return list(partition.nodes)
    if name == "community":
        return partition.labels
    if name == "confidence":
        return partition.confidence()
    if name == "runner_up":
        return partition.runner_up()
    if name == "stability":
        return (partition.known_stability or partition.stability()).nodes
    graph = partition._graph_for(f"the column {name!r}")
    return graph.degrees if name == "degree" else inside_degrees(graph, partition.labels)


def inside_degrees(graph: Graph, labels: Ints) -> Floats:
    """Return the weight of the edges from each node to its own community."""
    inside = labels[graph.row_of_slot] == labels[graph.indices]
    weights = graph.csr.data[inside]
    return np.bincount(graph.row_of_slot[inside], weights=weights, minlength=graph.n).astype(float)


def community_rows(partition: "Partition") -> list[dict[str, Any]]:
    """Return the rows of :meth:`Partition.summary`."""
    rows: list[dict[str, Any]] = [
        {"community": a, "nodes": size} for a, size in enumerate(partition.sizes.tolist())
    ]
    if partition.graph is None:
        return rows
    graph, z, k = partition.graph, partition.labels, partition.k
    links = community_links(graph, z)
    first, second = links.ends.T
    own = first == second
    inside, linked = np.zeros((2, k))
    inside[first[own]], linked[first[own]] = links.weight[own], links.adjacent[own]
    across = links.between()
    outside = np.bincount(across.ends.ravel(), np.repeat(across.weight, 2), minlength=k)
    pairs = partition.sizes * (partition.sizes - 1) // 2
    cut = conductance(graph, z)
    # The node with most weight inside its community; the first of several.
    by_weight = np.lexsort((np.arange(graph.n), -inside_degrees(graph, z), z))
    hubs = by_weight[np.cumsum(partition.sizes) - partition.sizes]
    for a, row in enumerate(rows):
        row["inside"] = float(inside[a])
        row["outside"] = float(outside[a])
        row["density"] = float(linked[a] / pairs[a]) if pairs[a] else 0.0
        row["conductance"] = float(cut[a])
        row["hub"] = partition.nodes[int(hubs[a])]
    return rows


def quotient(partition: "Partition", graph: Graph) -> Any:
    """Return the graph of :meth:`Partition.quotient_graph`."""
    import networkx as nx

    Q = nx.Graph()
    for a, size in enumerate(partition.sizes.tolist()):
        Q.add_node(a, size=size, inside=0.0, edges=0)
    links = community_links(graph, partition.labels)
    columns = (links.ends.tolist(), links.weight.tolist(), links.edges.tolist())
    for (a, b), weight, edges in zip(*columns, strict=True):
        if a == b:
            Q.add_node(a, inside=weight, edges=edges)
        else:
            Q.add_edge(a, b, weight=weight, edges=edges)
    return Q


@dataclass(frozen=True, eq=False)
class Comparison:
    """Agreement of two partitions, from :meth:`kgroups.Partition.compare`.

    Attributes
    ----------
    partition, other : Partition
        What was compared; the nodes of ``other`` are in the order of ``partition``.
    ami, nmi, ari : float
        Adjusted mutual information, normalized mutual information and adjusted Rand index: 1 for
        equal partitions; 0 is what chance gives for the adjusted ones.
    variation_of_information : float
        In nats; 0 for equal partitions.
    matched : float
        Share of the nodes in pairs of communities, one from each side, that are matched best.
    """

    partition: "Partition"
    other: "Partition"
    ami: float
    nmi: float
    ari: float
    variation_of_information: float
    matched: float

    def flows(self) -> list[dict[str, int]]:
        """Return how many nodes each pair of communities has in common.

        Returns
        -------
        list of dict
            ``community``, ``other`` and ``nodes`` of each pair that shares nodes, the largest
            first. ``pandas.DataFrame`` takes the list as it is.
        """
        k = max(self.other.k, 1)
        codes, nodes = np.unique(self.partition.labels * k + self.other.labels, return_counts=True)
        first, second = np.divmod(codes, k)
        order = np.lexsort((second, first, -nodes))
        columns = (first[order].tolist(), second[order].tolist(), nodes[order].tolist())
        return [
            {"community": a, "other": b, "nodes": count}
            for a, b, count in zip(*columns, strict=True)
        ]

    def plot(self, ax: Any = None, *, names: tuple[str, str] = ("", ""), **options: Any) -> Any:
        """Draw the nodes flowing from the communities of one partition to those of the other.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        names : tuple of two str
            Written above the two sides.
        **options
            ``palette`` and ``title`` of :func:`kgroups.plotting.plot_alluvial`.

        Returns
        -------
        matplotlib Axes
            The axes drawn on.
        """
        from kgroups.plotting import plot_alluvial

        return plot_alluvial(self.partition, self.other, ax=ax, names=names, **options)

    def _scores(self) -> list[tuple[str, float]]:
        return [
            ("AMI", self.ami),
            ("NMI", self.nmi),
            ("adjusted Rand index", self.ari),
            ("variation of information", self.variation_of_information),
            ("matched nodes", self.matched),
        ]

    def _headline(self) -> str:
        sides = " against ".join(
            counted_communities(each.k, each._single) for each in (self.partition, self.other)
        )
        return f"{sides} of {counted(self.partition.labels.size, 'node')}"

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {value:.3f}" for name, value in self._scores())
        return f"Comparison({self._headline()}: {scores})"

    def _repr_html_(self) -> str:
        flows = self.flows()
        rows = [tuple(flow.values()) for flow in flows[:_MOST_ROWS]]
        shared = html_table(["community", "other", "nodes"], rows)
        if len(flows) > _MOST_ROWS:
            shared += html_lines([f"and {len(flows) - _MOST_ROWS} more pairs"])
        picture = ""
        from kgroups.plotting.style import has_matplotlib, inline_image, small_figure

        if has_matplotlib():
            axes = small_figure()
            self.plot(axes)
            picture = inline_image(axes.figure, f"Alluvial view: {self._headline()}")
        heading = html_lines([self._headline()])
        return heading + html_beside(html_facts(self._scores()), shared, picture)


def compared(partition: "Partition", other: "Partition") -> Comparison:
    """Return the comparison of two partitions whose nodes are in the same order."""
    pair = (partition.labels, other.labels)
    return Comparison(
        partition,
        other,
        ami=ami(*pair),
        nmi=nmi(*pair),
        ari=ari(*pair),
        variation_of_information=variation_of_information(*pair),
        matched=accuracy(*pair),
    )


def partition_html(partition: "Partition", remarks: list[str]) -> str:
    """Return the HTML of a partition with some sentences about it."""
    head = partition._headline()
    table = _communities(partition)
    if partition.k > _MOST_NODE_ROWS:
        table += html_lines([f"and {partition.k - _MOST_NODE_ROWS:,} more"])
    picture = _picture(partition, head)
    return f"<b>{html_text(head)}</b>{html_lines(remarks)}{html_beside(table, picture)}"


def _communities(partition: "Partition") -> str:
    graph = partition.graph
    reads_edges = graph is not None and len(graph.indices) <= _MAX_ENTRIES
    weight: Any = np.zeros(partition.labels.size)
    header = ["community", "nodes"]
    if graph is not None and reads_edges:
        weight = inside_degrees(graph, partition.labels)
        unit = "weight" if graph.is_weighted else "edges"
        header += [f"{unit} inside", f"{unit} outside", "conductance"]
        rows = community_rows(partition)[:_MOST_NODE_ROWS]
    else:
        sizes = partition.sizes[:_MOST_NODE_ROWS].tolist()
        rows = [{"community": a, "nodes": size} for a, size in enumerate(sizes)]
    header.append("most linked nodes" if reads_edges else "some nodes")
    order = np.lexsort((-weight, partition.labels))
    starts = np.cumsum(partition.sizes) - partition.sizes
    table = []
    for a, row in enumerate(rows):
        shown = order[starts[a] :][: min(_MOST_NODES, row["nodes"])].tolist()
        # Each name is cut by itself, so that a long one does not hide the others.
        names = ", ".join(_short(partition.nodes[i]) for i in shown)
        fields = (row.get(name) for name in ("inside", "outside", "conductance"))
        numbers = [value for value in fields if value is not None]
        if graph is not None and reads_edges and not graph.is_weighted:
            numbers[:2] = [round(value) for value in numbers[:2]]
        table.append([a, row["nodes"], *numbers, names])
    return html_table(header, table)


def _short(name: object) -> str:
    text = text_of(name)
    return text if len(text) <= 18 else text[:17] + "…"


def _picture(partition: "Partition", head: str) -> str:
    from kgroups.plotting import plot_communities, plot_graph
    from kgroups.plotting.style import has_matplotlib, inline_image, small_figure

    graph = partition.graph
    if graph is None or not graph.n or not has_matplotlib():
        return ""
    if len(graph.indices) > _MAX_PICTURE_ENTRIES or partition.k > _MAX_PICTURE_COMMUNITIES:
        return ""
    axes = small_figure()
    draw = plot_graph if partition.labels.size <= _MAX_NODES_DRAWN else plot_communities
    draw(partition, ax=axes, names=())
    return inline_image(axes.figure, head)
