"""A partition as tables, sentences and a networkx graph, and compared with another one."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import kgroups as kg
from kgroups._output import html_beside, html_facts, html_lines, html_table, html_text, text_table
from kgroups._types import Floats, Ints
from kgroups._validation import check_choice
from kgroups._wording import and_more, counted, counted_communities, install_hint, text_of
from kgroups.errors import InputError, MissingExtraError
from kgroups.graph import Graph
from kgroups.report import about_uninformed, spectrum_shows
from kgroups.scoring import community_links, conductance

if TYPE_CHECKING:
    from kgroups.partition.partition import Partition

_WITHOUT_GRAPH = ("node", "community")
_WITH_GRAPH = (*_WITHOUT_GRAPH, "degree", "inside")
_COLUMNS = (*_WITH_GRAPH, "confidence", "runner_up", "stability")
# Pairs of communities that a notebook shows.
_MOST_ROWS = 8
# Rows that a printed summary shows.
_MOST_SUMMARY_ROWS = 20
# Communities and nodes of each that are listed.
_MOST_NODE_ROWS, _MOST_NODES = 8, 3
# With more entries of the matrix, or communities, there is no picture, which would take more than a
# second or two; with more than the third number nothing reads the edges.
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


def community_rows(partition: "Partition", graph: Graph | None) -> list[dict[str, Any]]:
    """Return the rows of :meth:`Partition.summary`, with or without what its graph says."""
    rows: list[dict[str, Any]] = [
        {"community": a, "nodes": size} for a, size in enumerate(partition.sizes.tolist())
    ]
    if graph is None:
        return rows
    z, k = partition.labels, partition.k
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


class Summary(list[dict[str, Any]]):
    """A row per community as a dict, and what is known of all of them in sentences.

    It is a list, which ``pandas.DataFrame`` takes as it is; ``print(summary)`` shows the sentences
    and a table.

    Attributes
    ----------
    sentences : list of str
        How many communities there are, at which scales, how sure their number is, how stable they
        are, and what speaks against them.
    """

    def __init__(self, rows: list[dict[str, Any]], sentences: list[str]) -> None:
        super().__init__(rows)
        self.sentences = sentences

    def __reduce__(self) -> tuple[Any, ...]:
        return Summary, (list(self), self.sentences)

    def __str__(self) -> str:
        if not self:
            return "\n".join(self.sentences)
        shown = [[_shown(value) for value in row.values()] for row in self[:_MOST_SUMMARY_ROWS]]
        table = text_table([list(self[0]), *shown])
        more = [f"... {each}" for each in and_more(len(self), _MOST_SUMMARY_ROWS)]
        return "\n".join([*self.sentences, "", table, *more])

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the sentences, and the table."""
        rows = [list(row.values()) for row in self[:_MOST_SUMMARY_ROWS]]
        table = html_table(list(self[0]), rows) if self else ""
        more = html_lines(and_more(len(self), _MOST_SUMMARY_ROWS))
        return html_lines(self.sentences) + table + more


def summary_of(partition: "Partition") -> Summary:
    """Return the rows and the sentences of :meth:`Partition.summary`."""
    sentences = [*overview(partition), *(f"Warning: {each}" for each in _warnings(partition))]
    missing = not_computed(partition, ("levels()", "k_distribution()", "stability()"))
    if missing:
        sentences.append(f"Not computed: {', '.join(missing)}; summary(full=True) computes all.")
    return Summary(community_rows(partition, partition.graph), sentences)


def overview(
    partition: "Partition", *, levels: bool = True, spectrum: bool = True, uncertainty: bool = True
) -> list[str]:
    """Return sentences on a partition, except warnings, with or without some of what is known."""
    if not partition.k:
        return ["There are no nodes."]
    return [
        _how_many(partition, surely=uncertainty),
        *(_at_which_scales(partition) if levels else ()),
        *(_how_sure(partition) if uncertainty else ()),
        *(_what_the_spectrum_shows(partition) if spectrum else ()),
        *(_how_stable(partition) if uncertainty else ()),
        *_undecided(partition),
    ]


def not_computed(partition: "Partition", names: tuple[str, str, str]) -> list[str]:
    """Return the names of what is not known: levels, P(k) and stability."""
    if partition.graph is None or partition.graph.m == 0:
        return []
    known = (partition.known_levels, partition.known_k_distribution, partition.known_stability)
    return [name for name, one in zip(names, known, strict=True) if one is None]


def _how_many(partition: "Partition", *, surely: bool) -> str:
    sizes, report = partition.sizes, partition.report
    several = sizes[sizes > 1]
    if report is None:
        origin = ", by the labels given"
    elif report.labels_given:
        origin = ", as many as in the labels given"
    elif report.k_given is not None:
        origin = ", as many as were asked for"
    else:
        origin = ""
    if sizes.size == 1:
        numbers = partition.known_k_distribution if surely else None
        doubtful = origin or sizes[0] == 1 or (numbers is not None and numbers.k > 1)
        found = "" if doubtful else ": nothing was found that divides them"
        who = "The only node is" if sizes[0] == 1 else f"All {sizes[0]} nodes are"
        return f"{who} one community{origin}{found}."
    low, high = int(several.min(initial=sizes[0])), int(several.max(initial=1))
    of = f" of {low} to {high} nodes" if low < high else f" of {counted(low, 'node')}"
    total = f", {sizes.size} in all" if 0 < several.size < sizes.size else ""
    return f"{counted_communities(sizes.size, partition._single, of)}{total}{origin}."


def _at_which_scales(partition: "Partition") -> list[str]:
    levels = partition.known_levels
    if levels is None:
        return []
    others = [
        level.k - level._single or level.k
        for place, level in enumerate(levels)
        if place != levels.returned
    ]
    if not others:
        return ["No other scale stands out."]
    *most, last = map(str, others)
    shown = f"{', '.join(most)} and {last}" if most else last
    scales = "Other scales have" if most else "Another scale has"
    return [f"{scales} {shown} {'community' if others == [1] else 'communities'}."]


def _how_sure(partition: "Partition") -> list[str]:
    numbers = partition.known_k_distribution
    return [] if numbers is None else [numbers.about(partition.k)]


def _what_the_spectrum_shows(partition: "Partition") -> list[str]:
    spectrum = partition.known_spectrum
    if spectrum is None:
        return []
    single, exact = partition._single, spectrum.is_exact
    shown = spectrum_shows(partition.k, spectrum.k, single=single, exact=exact)
    return [f"T{shown[1:]}."]


def _how_stable(partition: "Partition") -> list[str]:
    stability = partition.known_stability
    return [] if stability is None else [stability.sentence]


def _undecided(partition: "Partition") -> list[str]:
    report, sentences = partition.report, []
    if report is not None:
        nodes = sum(each.n for each in report.components)
        unsure = sum(each.n * (each.undecided or 0.0) for each in report.components)
        if round(unsure):
            where = "" if nodes == report.n else " in the largest components"
            share = f"{100.0 * unsure / nodes:.1f} %"
            sentences.append(
                f"For {share} of the nodes{where}, another community is nearly as good."
            )
    return sentences + about_uninformed(len(partition.uninformed))


def _warnings(partition: "Partition") -> list[Warning]:
    """Return the warnings of detection, of the spectrum, and of stability."""
    return [*partition._known_warnings(), *partition._instability()]


def _shown(value: object) -> str:
    return f"{value:,.3f}" if isinstance(value, float) else text_of(value)


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
        return kg.plotting.plot_alluvial(self.partition, self.other, ax=ax, names=names, **options)

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
        shared += html_lines(and_more(len(flows), _MOST_ROWS, " pairs"))
        picture = notebook_picture(self.plot, f"Alluvial view: {self._headline()}")
        heading = html_lines([self._headline()])
        return heading + html_beside(html_facts(self._scores()), shared, picture)


def compared(partition: "Partition", other: "Partition") -> Comparison:
    """Return the comparison of two partitions whose nodes are in the same order."""
    pair = (partition.labels, other.labels)
    return Comparison(
        partition,
        other,
        ami=kg.metrics.ami(*pair),
        nmi=kg.metrics.nmi(*pair),
        ari=kg.metrics.ari(*pair),
        variation_of_information=kg.metrics.variation_of_information(*pair),
        matched=kg.metrics.accuracy(*pair),
    )


def notebook_picture(draw: Callable[[Any], Any], description: str) -> str:
    """Return what a function draws on axes as an HTML image, or nothing without matplotlib."""
    from kgroups.plotting.style import has_matplotlib, inline_image, small_figure

    if not has_matplotlib():
        return ""
    axes = small_figure()
    draw(axes)
    return inline_image(axes.figure, description)


def partition_html(partition: "Partition", remarks: list[str]) -> str:
    """Return the HTML of a partition with some sentences about it."""
    head = partition._headline()
    table = _communities(partition) + html_lines(and_more(partition.k, _MOST_NODE_ROWS))
    picture = _picture(partition, head)
    return f"<b>{html_text(head)}</b>{html_lines(remarks)}{html_beside(table, picture)}"


def _communities(partition: "Partition") -> str:
    graph = partition.graph
    if graph is not None and len(graph.indices) > _MAX_ENTRIES:
        graph = None
    weight: Any = np.zeros(partition.labels.size)
    header = ["community", "nodes"]
    if graph is not None:
        weight = inside_degrees(graph, partition.labels)
        unit = "weight" if graph.is_weighted else "edges"
        header += [f"{unit} inside", f"{unit} outside", "conductance"]
    rows = community_rows(partition, graph)[:_MOST_NODE_ROWS]
    header.append("some nodes" if graph is None else "most linked nodes")
    order = np.lexsort((-weight, partition.labels))
    starts = np.cumsum(partition.sizes) - partition.sizes
    table = []
    for a, row in enumerate(rows):
        shown = order[starts[a] :][: min(_MOST_NODES, row["nodes"])].tolist()
        # Each name is cut by itself, so that a long one does not hide the others.
        names = ", ".join(_short(partition.nodes[i]) for i in shown)
        fields = (row.get(name) for name in ("inside", "outside", "conductance"))
        numbers = [value for value in fields if value is not None]
        if graph is not None and not graph.is_weighted:
            numbers[:2] = [round(value) for value in numbers[:2]]
        table.append([a, row["nodes"], *numbers, names])
    return html_table(header, table)


def _short(name: object) -> str:
    text = text_of(name)
    return text if len(text) <= 18 else text[:17] + "…"


def _picture(partition: "Partition", head: str) -> str:
    graph = partition.graph
    if graph is None or not graph.n:
        return ""
    if len(graph.indices) > _MAX_PICTURE_ENTRIES or partition.k > _MAX_PICTURE_COMMUNITIES:
        return ""
    is_small = graph.n <= _MAX_NODES_DRAWN
    draw = kg.plotting.plot_graph if is_small else kg.plotting.plot_communities
    return notebook_picture(lambda axes: draw(partition, ax=axes, names=()), head)
