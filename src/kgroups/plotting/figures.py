"""Pictures beside the graph itself: spectrum, sorted matrix, sizes, confidence and stability."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kgroups._progress import Progress
from kgroups._types import Floats, Ints
from kgroups.plotting.graphs import partition_colors
from kgroups.plotting.style import FAINT, INK, SMALL_SIZE, axes_for, community_colors, dress, rgb_of

if TYPE_CHECKING:
    from kgroups.partition import Partition
    from kgroups.spectrum import Spectrum

# Cells of the image of a matrix along each side, at most.
_MAX_CELLS = 400
# The darkest cells are those at this quantile of the cells that are not empty.
_DARKEST = 0.9
# Numbers of communities on an axis have at least this distance, as a share of its length, and
# communities that take up less than the second share have none.
_TICK_DISTANCE, _SMALLEST_TICK = 0.035, 0.005
# More communities than the first are points instead of bars; up to the second, sizes are written.
_MAX_BARS, _MAX_WRITTEN = 40, 20
# Communities with a row of their own in the pictures of confidence and stability.
_MAX_ROWS = 20
# Bounds between classes of confidence or stability, and how strong their colors are, from the
# highest class to the lowest.
_CLASS_BOUNDS = (0.5, 0.9, 0.99)
_CLASS_NAMES = ("0.99 to 1", "0.9 to 0.99", "0.5 to 0.9", "below 0.5")
_CLASS_STRENGTH = (1.0, 0.62, 0.3, 0.08)


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
        axes.annotate(
            spectrum.shown_k_at[rule],
            (k, place),
            xytext=(0, 8),
            textcoords="offset points",
            ha="center",
            fontsize=SMALL_SIZE,
            color=INK,
        )
    axes.set_yticks(range(len(rules)), rules)
    axes.set_ylim(-0.6, len(rules) - 0.2)
    axes.set_xlabel("eigenvalues above the threshold")
    axes.set_ylabel("rule for r")
    axes.margins(x=0.25)
    _count_along_x(axes, nbins=5)
    dress(axes, f"k about {spectrum.k} ({spectrum.k_low} to {spectrum.k_high})")
    return axes


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

    The 20 largest communities have bars of their own, the nodes of all others share one. Beside
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
        axes.annotate(
            text,
            (1.0, place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL_SIZE,
            color=INK,
            annotation_clip=False,
        )
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
