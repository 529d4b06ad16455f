"""Draw a graph with its communities in colors."""

from collections.abc import Collection, Hashable
from typing import Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.errors import InputError
from kgroups.graph import Graph
from kgroups.plotting.axes import FAINT, INK, community_colors, new_axes
from kgroups.plotting.layout import positions

__all__ = ["plot_partition"]


def plot_partition(
    graph: Graph,
    labels: Ints,
    *,
    ax: Any = None,
    layout: Any = None,
    names: Collection[Hashable] = (),
    title: str | None = None,
) -> Any:
    """Draw a graph: nodes in the colors of their communities, larger with their degree.

    Parameters
    ----------
    graph : Graph
        The graph to draw.
    labels : ndarray of int, shape (n,)
        Community of each node, numbered from 0, the largest first.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    layout : array of shape (n, 2) or mapping of node to (x, y), optional
        Positions; computed when not given, the same at each call.
    names : collection of hashable
        Nodes whose names are written.
    title : str, optional
        Written above the picture.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    InputError
        If the labels, the layout or the names do not fit the graph.

    Notes
    -----
    Edges inside a community have its color; edges between communities are drawn below them, in
    light gray. Self-loops are not drawn. Colors can be told apart with any color vision; after
    twenty-four communities they repeat.
    """
    z = np.asarray(labels)
    if z.shape != (graph.n,):
        msg = f"labels must be one number for each of the {graph.n} nodes, got shape {z.shape}."
        raise InputError(msg)
    axes = new_axes(ax, (7.0, 5.4))
    xy = positions(graph, z, layout)
    colors = community_colors(int(z.max()) + 1 if z.size else 0)
    _draw_edges(axes, graph, z, xy, colors)
    _draw_nodes(axes, graph, z, xy, colors)
    _write_names(axes, graph, xy, names)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.set_axis_off()
    if title is not None:
        axes.set_title(title, color=INK, fontsize=12, loc="left")
    return axes


def _draw_edges(axes: Any, graph: Graph, z: Ints, xy: Floats, colors: Floats) -> None:
    from matplotlib.collections import LineCollection

    rows, cols, _ = graph.edges()
    off = rows != cols
    rows, cols = rows[off], cols[off]
    crowd = np.clip(rows.size / 400.0, 1.0, 60.0) ** -0.45
    inside = z[rows] == z[cols]
    lines = np.stack([xy[rows], xy[cols]], axis=1)
    common: dict[str, Any] = {"capstyle": "round", "rasterized": rows.size > 5000}
    axes.add_collection(
        LineCollection(
            lines[~inside], colors=FAINT, alpha=0.55 * crowd, linewidths=1.0 * crowd, **common
        )
    )
    axes.add_collection(
        LineCollection(
            lines[inside],
            colors=colors[z[rows[inside]]],
            alpha=0.75 * crowd,
            linewidths=1.5 * crowd,
            **common,
        )
    )


def _draw_nodes(axes: Any, graph: Graph, z: Ints, xy: Floats, colors: Floats) -> None:
    if not graph.n:
        return
    links = np.diff(graph.indptr)
    typical = max(float(links.mean()), 1.0)
    area = np.clip(9000.0 / graph.n, 5.0, 130.0)
    sizes = area * (0.35 + np.minimum(links / typical, 4.0) * 0.65)
    order = np.argsort(-sizes, kind="stable")
    axes.scatter(
        xy[order, 0],
        xy[order, 1],
        s=sizes[order],
        c=colors[z[order]],
        edgecolors="white",
        linewidths=float(np.clip(np.sqrt(area) / 10.0, 0.2, 1.0)),
        zorder=3,
        rasterized=graph.n > 5000,
    )


def _write_names(axes: Any, graph: Graph, xy: Floats, names: Collection[Hashable]) -> None:
    if not names:
        return
    from matplotlib import patheffects

    row_of = {name: i for i, name in enumerate(graph.nodes)}
    halo = [patheffects.withStroke(linewidth=2.5, foreground="white")]
    for name in names:
        if name not in row_of:
            msg = f"names must be nodes of the graph, got {name!r}."
            raise InputError(msg)
        axes.annotate(
            str(name),
            xy[row_of[name]],
            ha="center",
            va="center",
            fontsize=8,
            color=INK,
            path_effects=halo,
            zorder=4,
        )
