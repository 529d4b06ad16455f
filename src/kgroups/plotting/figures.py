"""Pictures beside the graph itself: spectrum, matrix, sizes, confidence, stability, flows."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from kgroups._progress import Progress
from kgroups._types import Floats, Ints
from kgroups.adapters import positions_of
from kgroups.errors import InputError
from kgroups.plotting.graphs import partition_colors
from kgroups.plotting.style import (
    FAINT,
    INK,
    SMALL_SIZE,
    TEXT_SIZE,
    axes_for,
    community_colors,
    dress,
    rgb_of,
    write_title,
)

if TYPE_CHECKING:
    from kgroups.partition import Levels, Partition
    from kgroups.spectrum import Spectrum

# Largest number of cells of the image of a matrix along each side.
_MAX_CELLS = 400
# The darkest cells are those at this quantile of the cells that are not empty.
_DARKEST = 0.9
# Numbers of communities on an axis have at least this distance, as a share of its length, and
# communities that take up less than the second share have none.
_TICK_DISTANCE, _SMALLEST_TICK = 0.035, 0.005
# More communities than the first are points instead of bars; up to the second, sizes are written.
_MAX_BARS, _MAX_WRITTEN = 40, 20
# Communities with a separate row in the pictures of confidence and stability.
_MAX_ROWS = 20
# Bounds between classes of confidence or stability, and how strong their colors are, from the
# highest class to the lowest.
_CLASS_BOUNDS = (0.5, 0.9, 0.99)
_CLASS_NAMES = ("0.99 to 1", "0.9 to 0.99", "0.5 to 0.9", "below 0.5")
_CLASS_STRENGTH = (1.0, 0.62, 0.3, 0.08)
# Communities with a separate block on each side; the nodes of the others share one.
_MAX_BLOCKS = 16
# The same for a level of several, which has the whole height of the picture for itself.
_MAX_LEVEL_BLOCKS = 48
# Width of the blocks, largest height of a gap and of all gaps, as shares of the picture.
_BLOCK_WIDTH, _MAX_GAP, _MAX_GAPS = 0.04, 0.03, 0.2
_OTHERS = np.array([0.78, 0.81, 0.84])
# Opacity of ribbons; of those between levels by the share of the nodes that they carry.
_OPACITY, _FAINTEST, _STRONGEST = 0.45, 0.12, 0.6


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

    Notes
    -----
    Where k is an estimate, which happens beyond 5,000 nodes, there are no eigenvalues to show: the
    picture has k under each rule for r instead, with the range that k should lie in.

    Examples
    --------
    >>> import kgroups as kg
    >>> axes = plot_spectrum(kg.estimate_k(kg.datasets.load("karate").graph))
    >>> axes.get_title(loc="left")
    'k = 2 above the threshold'
    """
    axes = axes_for(ax, (5.0, 3.6))
    if not spectrum.is_exact:
        return _plot_estimates(spectrum, axes)
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
    axes.set_xlabel("rank")
    axes.set_ylabel("eigenvalue of $N_r$")
    _count_along_x(axes)
    axes.margins(x=0.12, y=0.15)
    dress(axes, f"k = {spectrum.k} above the threshold")
    return axes


def _plot_estimates(spectrum: "Spectrum", axes: Any) -> Any:
    """Draw k under each rule for r, with the range of the rule that was chosen."""
    color = community_colors(1)[0]
    rules = list(spectrum.k_at)
    for place, rule in enumerate(rules):
        chosen = rule == spectrum.r_choice
        k = spectrum.k_at[rule]
        if chosen:
            axes.plot([spectrum.k_low, spectrum.k_high], [place, place], color=color, lw=3.0)
        axes.scatter([k], [place], s=44, color=color if chosen else FAINT, zorder=3)
        _write_beside(axes, spectrum.shown_k_at[rule], (k, place), (0, 8), ha="center")
    axes.set_yticks(range(len(rules)), rules)
    axes.set_ylim(-0.6, len(rules) - 0.2)
    axes.set_xlabel("eigenvalues above the threshold")
    axes.set_ylabel("rule for r")
    axes.margins(x=0.25)
    _count_along_x(axes, nbins=5)
    dress(axes, f"k about {spectrum.k} ({spectrum.k_low} to {spectrum.k_high})")
    return axes


def _write_beside(
    axes: Any, text: str, at: tuple[float, float], away: tuple[int, int], **align: Any
) -> None:
    """Write a small text some points away from a place."""
    font = {"fontsize": SMALL_SIZE, "color": INK}
    axes.annotate(text, at, xytext=away, textcoords="offset points", **font, **align)


def _count_along_x(axes: Any, nbins: int | Literal["auto"] = "auto") -> None:
    """Put whole numbers along the x axis, whatever ticks the axes had."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    steps = [1, 2, 2.5, 5, 10]
    axes.xaxis.set_major_locator(MaxNLocator(nbins=nbins, steps=steps, integer=True))
    axes.xaxis.set_major_formatter(ScalarFormatter())


def plot_adjacency(
    partition: "Partition", *, ax: Any = None, palette: Any = None, title: str | None = None
) -> Any:
    """Draw the adjacency matrix with the nodes sorted by community, and by degree within.

    Parameters
    ----------
    partition : Partition
        With its graph.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    palette : str or collection of colors, optional
        As in :func:`plot_graph`.
    title : str, optional
        Written above the picture.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Notes
    -----
    Entries within a community have its color. The matrix of more than 400 nodes is shown by the
    density of its entries (of their weights in weighted graphs).

    Examples
    --------
    >>> import kgroups as kg
    >>> partition = kg.detect_communities(kg.datasets.load("karate").graph)
    >>> plot_adjacency(partition).images[0].get_array().shape
    (34, 34, 4)
    """
    graph, z = partition._graph_for("a picture"), partition.labels
    axes = axes_for(ax, (5.0, 5.0))
    colors = partition_colors(partition, palette)
    n = graph.n
    links = np.diff(graph.indptr)
    place = np.empty(n, np.int64)
    place[np.lexsort((np.arange(n), -links, z))] = np.arange(n)
    cells = max(min(n, _MAX_CELLS), 1)
    image = _matrix_image(graph.row_of_slot, graph.indices, graph.csr.data, place, z, cells, colors)
    axes.imshow(image, extent=(0, max(n, 1), max(n, 1), 0), interpolation="antialiased")
    ends = np.cumsum(partition.sizes)
    starts = ends - partition.sizes
    _draw_blocks(axes, starts, partition.sizes, colors)
    ticks: dict[int, float] = {}
    for a in np.flatnonzero(partition.sizes >= _SMALLEST_TICK * n).tolist():
        middle = (starts[a] + ends[a]) / 2.0
        if not ticks or middle - max(ticks.values()) >= _TICK_DISTANCE * n:
            ticks[a] = middle
    axes.set_xticks(list(ticks.values()), list(ticks))
    axes.set_yticks(list(ticks.values()), list(ticks))
    axes.set_xlabel("community")
    axes.set_ylabel("community")
    dress(axes, title)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return axes


def _matrix_image(
    rows: Ints, cols: Ints, weights: Floats, place: Ints, z: Ints, cells: int, colors: Floats
) -> Floats:
    """Return the RGBA image of a matrix whose rows are moved to their places."""
    n = max(place.size, 1)
    cell = place[rows] * cells // n * cells + place[cols] * cells // n
    inside = z[rows] == z[cols]
    area = cells * cells
    total = np.bincount(cell, weights=weights, minlength=area)
    own = np.bincount(cell[inside], weights=weights[inside], minlength=area)
    image = np.empty((area, 4))
    # The community of a cell on the diagonal blocks is that of the first entry in it.
    community = np.zeros(area, np.int64)
    community[cell[inside][::-1]] = z[rows[inside]][::-1]
    mostly_own = own > total / 2.0
    image[:, :3] = rgb_of(INK)
    if colors.size:
        image[mostly_own, :3] = colors[community[mostly_own]]
    filled = total > 0
    darkest = float(np.quantile(total[filled], _DARKEST)) if filled.any() else 1.0
    strength = np.sqrt(np.minimum(total, darkest) / darkest)
    image[:, 3] = np.where(filled, 0.12 + 0.88 * strength, 0.0)
    return image.reshape(cells, cells, 4)


def _draw_blocks(axes: Any, starts: Ints, sizes: Ints, colors: Floats) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    blocks = [
        Rectangle((start, start), size, size)
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
        if size > 1
    ]
    edges = colors[: len(blocks)]
    axes.add_collection(PatchCollection(blocks, facecolor="none", edgecolor=edges, lw=0.8))


def plot_sizes(
    partition: "Partition", *, ax: Any = None, palette: Any = None, title: str | None = None
) -> Any:
    """Draw the sizes of the communities: bars, or from 41 communities on points by rank.

    Parameters
    ----------
    partition : Partition
        With or without its graph.
    ax, palette, title
        As in :func:`plot_adjacency`.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Examples
    --------
    >>> import kgroups as kg
    >>> axes = plot_sizes(kg.Partition([0, 0, 0, 1, 1]))
    >>> [int(bar.get_height()) for bar in axes.patches]
    [3, 2]
    """
    axes = axes_for(ax, (5.0, 3.6))
    colors = partition_colors(partition, palette)
    sizes, k = partition.sizes, partition.k
    if k <= _MAX_BARS:
        bars = axes.bar(range(k), sizes.tolist(), color=colors, width=0.8)
        if k <= _MAX_WRITTEN:
            axes.bar_label(bars, padding=2, fontsize=SMALL_SIZE, color=INK)
        axes.set_xlabel("community")
        _count_along_x(axes)
        if k <= _MAX_WRITTEN:
            axes.set_xticks(range(k))
    else:
        axes.scatter(np.arange(1, k + 1), sizes, c=colors, s=16, lw=0)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter("")
        axes.set_xlabel("rank of the community")
    axes.set_ylabel("nodes")
    dress(axes, title)
    return axes


def plot_confidence(
    partition: "Partition",
    *,
    ax: Any = None,
    palette: Any = None,
    title: str | None = None,
    progress: Progress = False,
) -> Any:
    """Draw which share of each community is how probable, a bar per community.

    The 20 largest communities have a bar each, the nodes of all others share one. Beside
    each bar stands how many of its nodes have a confidence below 0.9.

    Parameters
    ----------
    partition : Partition
        With its graph; :meth:`kgroups.Partition.confidence` is computed if it was not.
    ax, palette, title
        As in :func:`plot_adjacency`.
    progress : bool or callable
        As in :meth:`kgroups.Partition.confidence`.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Examples
    --------
    >>> import kgroups as kg
    >>> partition = kg.detect_communities(kg.datasets.load("karate").graph)
    >>> axes = plot_confidence(partition)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['0', '1']
    """
    return _plot_classes(
        partition, partition.confidence(progress=progress), ax=ax, palette=palette, title=title
    )


def plot_stability(
    partition: "Partition",
    *,
    ax: Any = None,
    palette: Any = None,
    title: str | None = None,
    progress: Progress = False,
) -> Any:
    """Draw which share of each community stays how often, a bar per community.

    As :func:`plot_confidence` does, with the share of the resamples in which each node stays with
    its community in the place of its confidence. Nodes that count in no resample are left out.

    Parameters
    ----------
    partition : Partition
        With its graph; :meth:`kgroups.Partition.stability` is computed if it was not.
    ax, palette, title
        As in :func:`plot_adjacency`.
    progress : bool or callable
        As in :meth:`kgroups.Partition.stability`.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Examples
    --------
    >>> import kgroups as kg
    >>> partition = kg.detect_communities(kg.datasets.load("karate").graph)
    >>> axes = plot_stability(partition)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['0', '1']
    """
    found = partition.known_stability or partition.stability(progress=progress)
    return _plot_classes(partition, found.nodes, ax=ax, palette=palette, title=title)


def _plot_classes(
    partition: "Partition", values: Floats, *, ax: Any, palette: Any, title: str | None
) -> Any:
    """Draw the classes of a probability or share of each node; nan is left out."""
    axes = axes_for(ax, (5.6, 1.4 + 0.24 * min(partition.k, _MAX_ROWS + 1)))
    k = partition.k
    rows = min(k, _MAX_ROWS)
    colors = partition_colors(partition, palette)[:rows]
    names = [str(a) for a in range(rows)]
    row_of = partition.labels
    if k > rows:
        others = f"{k - rows} more"
        names, row_of = [*names, others], np.minimum(row_of, rows)
        colors = np.vstack([colors, rgb_of(FAINT)])
    kind = len(_CLASS_BOUNDS) - np.searchsorted(_CLASS_BOUNDS, values, side="right")
    counts = np.zeros((len(names), len(_CLASS_NAMES)), np.int64)
    known = ~np.isnan(values)
    np.add.at(counts, (row_of[known], kind[known]), 1)
    of_row = counts.sum(axis=1)
    total = np.maximum(of_row, 1)
    left = np.zeros(len(names))
    for c, strength in enumerate(_CLASS_STRENGTH):
        share = counts[:, c] / total
        mixed = 1.0 - strength * (1.0 - colors)
        axes.barh(names, share, left=left, color=mixed, edgecolor=colors, lw=0.5, height=0.8)
        left += share
    for place in range(len(names)):
        unsure = int(counts[place, 2:].sum())
        text = f"{unsure:,} of {of_row[place]:,} below 0.9"
        _write_beside(axes, text, (1.0, place), (6, 0), va="center", annotation_clip=False)
    _explain_classes(axes)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel("share of the nodes")
    axes.set_ylabel("community")
    dress(axes, title, above=2.0 * SMALL_SIZE)
    return axes


def _explain_classes(axes: Any) -> None:
    """Write the classes above the bars."""
    from matplotlib.patches import Patch

    gray = rgb_of(INK)
    handles = [
        Patch(facecolor=tuple(1.0 - strength * (1.0 - gray[0])), edgecolor=INK, lw=0.5, label=name)
        for strength, name in zip(_CLASS_STRENGTH, _CLASS_NAMES, strict=True)
    ]
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=len(handles),
        frameon=False,
        fontsize=SMALL_SIZE,
        labelcolor=INK,
        handlelength=1.2,
        columnspacing=1.2,
        borderaxespad=0.2,
    )


class _Columns(NamedTuple):
    """Blocks of partitions: names, numbers of nodes and colors of each, and the nodes in common."""

    names: list[list[str]]
    sizes: list[Ints]
    colors: list[Floats]
    flows: list[Ints]


def plot_alluvial(
    before: "Partition",
    after: "Partition",
    *,
    ax: Any = None,
    names: tuple[str, str] = ("", ""),
    palette: Any = None,
    title: str | None = None,
) -> Any:
    """Draw how the nodes of each community are spread over the communities of another partition.

    Parameters
    ----------
    before, after : Partition
        Two partitions of the same nodes, in any order.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    names : tuple of two str
        Written above the two sides.
    palette : str or collection of colors, optional
        As in :func:`plot_graph`, for the communities of ``before``.
    title : str, optional
        Written above the picture.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Raises
    ------
    PartitionError
        If the partitions have different nodes.

    Notes
    -----
    Heights are numbers of nodes. A block on the right has the color of the community that most of
    its nodes come from. Each side shows its 16 largest communities; the others share one block.

    Examples
    --------
    >>> import kgroups as kg
    >>> axes = plot_alluvial(kg.Partition([0, 0, 1, 1]), kg.Partition([0, 0, 0, 1]))
    >>> [text.get_text() for text in axes.texts]
    ['0', '1', '0', '1']
    """
    pair = [] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
        msg = f"names must be two strings, for the left and the right side, got {names!r}."
        raise InputError(msg)
    left = before.labels
    right = after.labels[
        positions_of(before.nodes, after.nodes, "the one that it is compared with")
    ]
    axes = axes_for(ax, (6.0, 4.2))
    own = partition_colors(before, palette)
    columns = _columns([left, right], [before.k, after.k], _MAX_BLOCKS, own)
    from_left = np.broadcast_to(columns.colors[0][:, None], (*columns.flows[0].shape, 3))
    opacity = np.full((*from_left.shape[:2], 1), _OPACITY)
    _draw_columns(axes, columns, [np.concatenate([from_left, opacity], axis=2)])
    for x, name, align in zip((0.0, 1.0), pair, ("left", "right"), strict=True):
        if name:
            _write_above(axes, x, name, align)
    _finish_columns(axes, title, room=any(pair))
    return axes


def plot_levels(
    levels: "Levels", *, ax: Any = None, palette: Any = None, title: str | None = None
) -> Any:
    """Draw levels as a tree of bands: where the communities of each level are one level up.

    Parameters
    ----------
    levels : Levels
        As :meth:`kgroups.Partition.levels` returns them.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    palette : str or collection of colors, optional
        As in :func:`plot_graph`, for the communities of the level that was returned.
    title : str, optional
        Written above the picture.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Notes
    -----
    The coarsest level is at the left, and the number of the one that was returned is bold. Heights
    are numbers of nodes. A band is the stronger, the larger the share of the finer community that
    it carries; a community that is not in its parent as a whole has the share of the parent beside
    its number. Finer communities have the color of their parent among those returned, coarser ones
    that of their largest part. A level shows its 48 largest communities; the others share a block.

    Examples
    --------
    >>> import kgroups as kg
    >>> fine, coarse = kg.Partition([0, 0, 1, 1, 2]), kg.Partition([0, 0, 0, 1, 1])
    >>> axes = plot_levels(kg.Levels([fine, coarse], [1.0, 0.5]))
    >>> [text.get_text() for text in axes.texts]
    ['0', '1', '0', '1, 50 %', '2', '2', '3']
    """
    axes = axes_for(ax, (7.0, 4.6))
    # From the left: the coarsest level first.
    parts, start = levels[::-1], len(levels) - 1 - levels.returned
    own = partition_colors(levels[levels.returned], palette)
    labels, ks = [part.labels for part in parts], [part.k for part in parts]
    columns = _columns(labels, ks, _MAX_LEVEL_BLOCKS, own, start)
    ribbons = []
    for at, flows in enumerate(columns.flows):
        columns.names[at + 1] = _with_shares(columns.names[at + 1], flows)
        share = flows / np.maximum(flows.sum(axis=0), 1)
        opacity = _FAINTEST + (_STRONGEST - _FAINTEST) * share
        finer = np.broadcast_to(columns.colors[at + 1], (*flows.shape, 3))
        ribbons.append(np.concatenate([finer, opacity[:, :, None]], axis=2))
    places = _draw_columns(axes, columns, ribbons)
    for at, (x, k) in enumerate(zip(places, ks, strict=True)):
        _write_above(axes, x + _BLOCK_WIDTH / 2, str(k), "center", bold=at == start)
    _finish_columns(axes, title, room=True)
    # Names at the right have shares beside them.
    axes.set_xlim(-0.08, 1.14)
    return axes


def _columns(labels: list[Ints], ks: list[int], most: int, own: Floats, start: int = 0) -> _Columns:
    """Return the columns of partitions, with the colors of the communities of one of them."""
    # Nothing is gained by hiding a single one.
    shown = [min(k, most + (k == most + 1)) for k in ks]
    capped = [np.minimum(z, end) for z, end in zip(labels, shown, strict=True)]
    counts = [end + (k > end) for k, end in zip(ks, shown, strict=True)]
    orders, flows = [np.arange(counts[0])], []
    for at in range(len(ks) - 1):
        between = np.zeros((counts[at], counts[at + 1]), np.int64)
        np.add.at(between, (capped[at], capped[at + 1]), 1)
        between = between[orders[at]]
        orders.append(_order_of_right(between, shown[at + 1]))
        flows.append(between[:, orders[at + 1]])
    # The block of the others comes after those that are shown, if there is one.
    colors = [np.vstack([own[: shown[start]], _OTHERS])[orders[start]]] * len(ks)
    for at in range(start, len(ks) - 1):
        colors[at + 1] = colors[at][_largest(flows[at])]
    for at in range(start, 0, -1):
        colors[at - 1] = colors[at][_largest(flows[at - 1].T)]
    return _Columns(
        [
            [str(a) if a < end else f"{k - end} more" for a in order.tolist()]
            for k, end, order in zip(ks, shown, orders, strict=True)
        ],
        [
            np.bincount(z, minlength=order.size)[order]
            for z, order in zip(capped, orders, strict=True)
        ],
        colors,
        flows,
    )


def _draw_columns(axes: Any, columns: _Columns, ribbons: list[Floats]) -> Floats:
    """Draw blocks, and ribbons in RGBA colors of each pair; return the left ends of the columns."""
    sizes = columns.sizes
    places = np.linspace(0.0, 1.0 - _BLOCK_WIDTH, len(sizes)) if len(sizes) > 1 else np.zeros(1)
    gaps = min(_MAX_GAP * (max(1, *map(len, sizes)) - 1), _MAX_GAPS)
    # The height of a node.
    unit = (1.0 - gaps) / max(int(sizes[0].sum()), 1)
    # The lower ends of the blocks, from the top, with gaps of the same total height between them.
    low = [
        1.0 - np.cumsum(of) * unit - gaps / max(len(of) - 1, 1) * np.arange(len(of)) for of in sizes
    ]
    tops = [ends + of * unit for ends, of in zip(low, sizes, strict=True)]
    for at, flows in enumerate(columns.flows):
        ends = (places[at] + _BLOCK_WIDTH, places[at + 1])
        _draw_ribbons(axes, ends, unit * flows.astype(float), (tops[at], tops[at + 1]), ribbons[at])
    for at, x in enumerate(places):
        side = (columns.names[at], sizes[at] * unit, low[at], columns.colors[at])
        _draw_bars(axes, x, side, "left" if at else "right")
    return places


def _largest(flows: Ints) -> Ints:
    """Return the row that each column has most nodes of."""
    return np.argmax(flows, axis=0) if flows.size else np.zeros(0, np.int64)


def _with_shares(names: list[str], flows: Ints) -> list[str]:
    """Add the share of the largest part to the names of communities that are not whole."""
    share = flows.max(axis=0, initial=0) / np.maximum(flows.sum(axis=0), 1)
    return [
        f"{name}, {100.0 * part:.0f} %" if name.isdecimal() and part < 1.0 else name
        for name, part in zip(names, share.tolist(), strict=True)
    ]


def _write_above(axes: Any, x: float, text: str, align: str, *, bold: bool = False) -> None:
    weight = "bold" if bold else "normal"
    font = {"color": INK, "fontsize": TEXT_SIZE, "fontweight": weight, "parse_math": False}
    axes.text(x, 1.02, text, ha=align, va="bottom", **font)


def _finish_columns(axes: Any, title: str | None, *, room: bool) -> None:
    axes.set_xlim(-0.08, 1.08)
    axes.set_ylim(-0.02, 1.08 if room else 1.02)
    axes.set_axis_off()
    write_title(axes, title)


def _order_of_right(flows: Ints, shown: int) -> Ints:
    """Return the right blocks in the order of the left ones that their nodes come from."""
    middle = np.cumsum(flows.sum(axis=1)) - flows.sum(axis=1) / 2.0
    mean = (middle @ flows) / np.maximum(flows.sum(axis=0), 1)
    # The block of all others stays last.
    mean[shown:] = np.inf
    return np.argsort(mean, kind="stable")


def _draw_ribbons(
    axes: Any,
    ends: tuple[float, float],
    heights: Floats,
    tops: tuple[Floats, Floats],
    colors: Floats,
) -> None:
    """Draw the nodes that the blocks of two columns have in common."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    # Ribbons fill the blocks from the top; these are their lower ends on both sides.
    ends_left = tops[0][:, None] - np.cumsum(heights, axis=1)
    ends_right = tops[1][None, :] - np.cumsum(heights, axis=0)
    x0, x1 = ends
    bend = (x0 + x1) / 2.0
    curve = [Path.CURVE4] * 3
    codes = [Path.MOVETO, *curve, Path.LINETO, *curve, Path.CLOSEPOLY]
    patches = []
    pairs = np.nonzero(heights)
    for a, b in zip(*pairs, strict=True):
        low0, low1 = ends_left[a, b], ends_right[a, b]
        top0, top1 = low0 + heights[a, b], low1 + heights[a, b]
        outline = [(x0, top0), (bend, top0), (bend, top1), (x1, top1)]
        outline += [(x1, low1), (bend, low1), (bend, low0), (x0, low0), (x0, top0)]
        patches.append(PathPatch(Path(outline, codes)))
    filled = colors[pairs] if patches else "none"
    axes.add_collection(
        PatchCollection(patches, facecolors=filled, edgecolors="none"), autolim=False
    )


def _draw_bars(axes: Any, x: float, side: tuple[Any, ...], align: str) -> None:
    """Draw the blocks of a column, and their names where these do not overlap."""
    box = axes.get_window_extent()
    line = 1.15 * SMALL_SIZE * axes.figure.dpi / 72.0 / max(box.height, 1.0)
    last = np.inf
    for name, height, low, color in zip(*side, strict=True):
        axes.bar(x, height, width=_BLOCK_WIDTH, bottom=low, align="edge", color=[color], lw=0)
        middle = low + height / 2.0
        if last - middle >= line:
            at = x - 0.01 if align == "right" else x + _BLOCK_WIDTH + 0.01
            axes.text(at, middle, name, ha=align, va="center", fontsize=SMALL_SIZE, color=INK)
            last = middle
