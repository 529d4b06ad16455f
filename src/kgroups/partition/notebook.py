"""What a notebook shows for a partition: a table of its communities and a small picture."""

from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._html import html_beside, html_lines, html_table, html_text
from kgroups._wording import text_of
from kgroups.partition.tables import community_rows, inside_degrees

if TYPE_CHECKING:
    from kgroups.partition.partition import Partition

# Communities and nodes of each that are listed.
_MOST_ROWS, _MOST_NODES = 8, 3
# Beyond so many entries of the matrix, or communities, there is no picture, which would take more
# than a second or two; beyond the third number nothing reads the edges.
_MAX_PICTURE_ENTRIES, _MAX_PICTURE_COMMUNITIES, _MAX_ENTRIES = 2_000_000, 1000, 20_000_000
# Larger graphs are shown as the graph of their communities, which is small in every sense.
_MAX_NODES_DRAWN = 1000


def partition_html(partition: "Partition", remarks: list[str]) -> str:
    """Return the HTML of a partition with some sentences about it."""
    head = partition._headline()
    table = _communities(partition)
    if partition.k > _MOST_ROWS:
        table += html_lines([f"and {partition.k - _MOST_ROWS:,} more"])
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
        rows = community_rows(partition)[:_MOST_ROWS]
    else:
        sizes = partition.sizes[:_MOST_ROWS].tolist()
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
