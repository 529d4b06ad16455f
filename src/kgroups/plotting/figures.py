"""Draw a graph with its communities in colors, and the eigenvalues around the threshold."""

import colorsys
from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups._wording import install_hint
from kgroups.errors import InputError, MissingExtraError
from kgroups.graph import Graph
from kgroups.plotting.layout import positions

if TYPE_CHECKING:
    from kgroups.spectrum import Spectrum

# Colors of text and axes, and of what stays in the background.
INK, FAINT = "#26323d", "#9aa5b1"
# Okabe and Ito's colors that stand out on white; they differ for every type of color vision.
_BASE = ["0072b2", "e69f00", "009e73", "cc79a7", "d55e00", "56b4e9", "8c6d1f", "4b4b9e"]
# Factors on the lightness, so that twenty-four communities get different colors.
_SHADES = (1.0, 0.68, 1.38)
# Larger drawings are rasterized, because vector files with more shapes are slow to open.
_MAX_VECTOR_SHAPES = 5000


def require_matplotlib() -> None:
    """Raise an error that names the extra unless matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        msg = f"drawing needs matplotlib. {install_hint('plot')}"
        raise MissingExtraError(msg) from error


def community_colors(k: int) -> Floats:
    """Return an RGB row for each of ``k`` communities, the largest first.

    After eight colors the same hues come darker, then lighter; after twenty-four they repeat.
    """
    colors = []
    for shade in _SHADES:
        for code in _BASE:
            red, green, blue = (channel / 255 for channel in bytes.fromhex(code))
            hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
            colors.append(colorsys.hls_to_rgb(hue, min(lightness * shade, 0.82), saturation))
    return np.array(colors)[np.arange(k) % len(colors)].reshape(k, 3)


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
    light gray. Self-loops are not drawn. Colors differ for every type of color vision; after
    twenty-four communities they repeat.
    """
    z = np.asarray(labels)
    if z.shape != (graph.n,):
        msg = f"labels must be one number for each of the {graph.n} nodes, got shape {z.shape}."
        raise InputError(msg)
    axes = _axes(ax, (7.0, 5.4))
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


def plot_spectrum(spectrum: "Spectrum", *, ax: Any = None) -> Any:
    """Draw the eigenvalues of N_r around 1; those above it are the communities.

    Parameters
    ----------
    spectrum : Spectrum
        From ``partition.spectrum`` or ``kgroups.estimate_k(G)``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.
    """
    axes = _axes(ax, (5.0, 3.6))
    values = np.sort(np.asarray(spectrum.eigenvalues, float))[::-1]
    above = np.arange(values.size) < spectrum.shown_above
    informative = community_colors(1)[0]
    # Eigenvalues far above the threshold may be left out, so that the count starts before 1.
    rank = np.arange(1, values.size + 1) + max(spectrum.k - int(above.sum()), 0)
    if above.any() and not above.all():
        axes.axhspan(values[~above][0], values[above][-1], color=informative, alpha=0.10, lw=0)
    axes.axhline(1.0, color=INK, lw=1.0, ls=(0, (4, 3)), zorder=1)
    for mask, color in ((above, informative), (~above, FAINT)):
        axes.vlines(rank[mask], 1.0, values[mask], color=color, lw=1.2, alpha=0.6, zorder=2)
        axes.scatter(rank[mask], values[mask], s=44, color=color, edgecolors="white", zorder=3)
    axes.set_xlabel("rank", color=INK)
    axes.set_ylabel("eigenvalue of $N_r$", color=INK)
    number = f"k = {spectrum.k}"
    if not spectrum.is_exact:
        number = f"k about {spectrum.k} ({spectrum.k_low} to {spectrum.k_high})"
    axes.set_title(f"{number} above the threshold", color=INK, fontsize=12, loc="left")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.margins(x=0.12, y=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    return axes


def _axes(ax: Any, figsize: tuple[float, float]) -> Any:
    """Return the axes given, or those of a new pyplot figure."""
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=figsize, layout="constrained")[1]


def _draw_edges(axes: Any, graph: Graph, z: Ints, xy: Floats, colors: Floats) -> None:
    from matplotlib.collections import LineCollection

    rows, cols, _ = graph.edges()
    off = rows != cols
    rows, cols = rows[off], cols[off]
    # Many edges are drawn thinner and fainter, so that the nodes stay visible.
    crowd = np.clip(rows.size / 400.0, 1.0, 60.0) ** -0.45
    inside = z[rows] == z[cols]
    lines = np.stack([xy[rows], xy[cols]], axis=1)
    inner = (inside, colors[z[rows[inside]]], 0.75, 1.5)
    for chosen, color, alpha, width in ((~inside, FAINT, 0.55, 1.0), inner):
        axes.add_collection(
            LineCollection(
                lines[chosen],
                colors=color,
                alpha=alpha * crowd,
                linewidths=width * crowd,
                capstyle="round",
                rasterized=rows.size > _MAX_VECTOR_SHAPES,
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
        *xy[order].T,
        s=sizes[order],
        c=colors[z[order]],
        edgecolors="white",
        linewidths=float(np.clip(np.sqrt(area) / 10.0, 0.2, 1.0)),
        zorder=3,
        rasterized=graph.n > _MAX_VECTOR_SHAPES,
    )


def _write_names(axes: Any, graph: Graph, xy: Floats, names: Collection[Hashable]) -> None:
    if not names:
        return
    from matplotlib import patheffects

    row_of = {name: i for i, name in enumerate(graph.nodes)}
    halo = [patheffects.withStroke(linewidth=2.5, foreground="white")]
    style = {"ha": "center", "va": "center", "fontsize": 8, "color": INK, "zorder": 4}
    for name in names:
        if name not in row_of:
            msg = f"names must be nodes of the graph, got {name!r}."
            raise InputError(msg)
        axes.annotate(str(name), xy[row_of[name]], path_effects=halo, **style)
