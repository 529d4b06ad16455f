"""Alluvial pictures: how communities are spread over those of another partition, or of a level."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.adapters.labels import positions_of
from kgroups.errors import InputError
from kgroups.plotting.graphs import partition_colors
from kgroups.plotting.style import INK, SMALL_SIZE, TEXT_SIZE, axes_for, write_title

if TYPE_CHECKING:
    from kgroups.partition import Levels, Partition

# Communities with a block of their own on each side; the nodes of the others share one.
_MAX_BLOCKS = 16
# The same for a level of several, which has the whole height of the picture for itself.
_MAX_LEVEL_BLOCKS = 48
# Width of the blocks, largest height of a gap and of all gaps, as shares of the picture.
_BLOCK_WIDTH, _MAX_GAP, _MAX_GAPS = 0.04, 0.03, 0.2
_OTHERS = np.array([0.78, 0.81, 0.84])
# Opacity of ribbons; of those between levels by the share of the nodes that they carry.
_OPACITY, _FAINTEST, _STRONGEST = 0.45, 0.12, 0.6


class _Side(NamedTuple):
    """Blocks of one partition: names, numbers of nodes, heights of the lower ends, and colors."""

    names: list[str]
    sizes: Ints
    low: Floats
    colors: Floats


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
    n_left, n_right = (_shown(p.k, _MAX_BLOCKS) for p in (before, after))
    flows = _flows(left, right, (before.k, after.k), (n_left, n_right))
    colors = np.vstack([partition_colors(before, palette)[:n_left], _OTHERS])[: len(flows)]
    order = _order_of_right(flows, n_right)
    flows = flows[:, order]
    gaps = min(_MAX_GAP * (max(*flows.shape, 1) - 1), _MAX_GAPS)
    unit = _unit(flows, gaps)
    sides = (
        _side(_names(before.k, n_left, range(len(flows))), flows.sum(axis=1), colors, gaps),
        _side(_names(after.k, n_right, order), flows.sum(axis=0), colors[_largest(flows)], gaps),
    )
    colors = np.column_stack([sides[0].colors, np.full(len(flows), _OPACITY)])
    colors = np.broadcast_to(colors[:, None], (*flows.shape, 4))
    _draw_ribbons(axes, (_BLOCK_WIDTH, 1.0 - _BLOCK_WIDTH), flows, unit, sides, colors)
    for x, side, align in ((0.0, sides[0], "right"), (1.0 - _BLOCK_WIDTH, sides[1], "left")):
        _draw_blocks(axes, x, side, align, unit)
    for x, name, align in zip((0.0, 1.0), pair, ("left", "right"), strict=True):
        if name:
            _write_above(axes, x, name, align)
    _finish(axes, title, room=any(pair))
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
    parts = levels[::-1]
    shown = [_shown(part.k, _MAX_LEVEL_BLOCKS) for part in parts]
    orders = [np.arange(shown[0] + (parts[0].k > shown[0]))]
    flows: list[Ints] = []
    for at in range(len(parts) - 1):
        left, right = parts[at], parts[at + 1]
        between = _flows(left.labels, right.labels, (left.k, right.k), (shown[at], shown[at + 1]))
        between = between[orders[at]]
        orders.append(_order_of_right(between, shown[at + 1]))
        flows.append(between[:, orders[at + 1]])
    sizes = [
        np.bincount(np.minimum(part.labels, most), minlength=order.size)[order]
        for part, most, order in zip(parts, shown, orders, strict=True)
    ]
    colors = _level_colors(levels, flows, orders, palette)
    gaps = min(_MAX_GAP * (max(map(len, sizes)) - 1), _MAX_GAPS)
    unit = _unit(sizes[0], gaps)
    sides = []
    for at, part in enumerate(parts):
        names = _names(part.k, shown[at], orders[at])
        if at:
            names = _with_shares(names, flows[at - 1], orders[at] < shown[at])
        sides.append(_side(names, sizes[at], colors[at], gaps))
    places = np.linspace(0.0, 1.0 - _BLOCK_WIDTH, len(parts)) if len(parts) > 1 else np.zeros(1)
    for at, between in enumerate(flows):
        share = between / np.maximum(between.sum(axis=0), 1)
        opacity = _FAINTEST + (_STRONGEST - _FAINTEST) * share
        finer = np.broadcast_to(sides[at + 1].colors, (*between.shape, 3))
        ribbons = np.concatenate([finer, opacity[:, :, None]], axis=2)
        ends = (places[at] + _BLOCK_WIDTH, places[at + 1])
        _draw_ribbons(axes, ends, between, unit, (sides[at], sides[at + 1]), ribbons)
    for at, (x, side) in enumerate(zip(places, sides, strict=True)):
        _draw_blocks(axes, x, side, "left" if at else "right", unit)
    for at, (x, part) in enumerate(zip(places, parts, strict=True)):
        bold = at == len(parts) - 1 - levels.returned
        _write_above(axes, x + _BLOCK_WIDTH / 2, str(part.k), "center", bold=bold)
    _finish(axes, title, room=True)
    # Names at the right have shares beside them.
    axes.set_xlim(-0.08, 1.14)
    return axes


def _level_colors(
    levels: "Levels", flows: list[Ints], orders: list[Ints], palette: Any
) -> list[Floats]:
    """Return the colors of the blocks of all levels, from those of the level returned."""
    start = len(levels) - 1 - levels.returned
    own = partition_colors(levels[levels.returned], palette)
    # The block of the others comes after those that are shown, if there is one.
    known = np.vstack([own[: _shown(len(own), _MAX_LEVEL_BLOCKS)], _OTHERS])
    colors = [np.zeros((0, 3))] * len(levels)
    colors[start] = known[orders[start]]
    for at in range(start, len(levels) - 1):
        colors[at + 1] = colors[at][_largest(flows[at])]
    for at in range(start, 0, -1):
        colors[at - 1] = colors[at][_largest(flows[at - 1].T)]
    return colors


def _largest(flows: Ints) -> Ints:
    """Return the row that each column has most nodes of."""
    return np.argmax(flows, axis=0) if flows.size else np.zeros(0, np.int64)


def _with_shares(names: list[str], flows: Ints, single: Any) -> list[str]:
    """Add the share of the largest part to the names of blocks that are not whole."""
    share = flows.max(axis=0, initial=0) / np.maximum(flows.sum(axis=0), 1)
    return [
        f"{name}, {100.0 * part:.0f} %" if own and part < 1.0 else name
        for name, part, own in zip(names, share.tolist(), single.tolist(), strict=True)
    ]


def _write_above(axes: Any, x: float, text: str, align: str, *, bold: bool = False) -> None:
    weight = "bold" if bold else "normal"
    font = {"color": INK, "fontsize": TEXT_SIZE, "fontweight": weight, "parse_math": False}
    axes.text(x, 1.02, text, ha=align, va="bottom", **font)


def _finish(axes: Any, title: str | None, *, room: bool) -> None:
    axes.set_xlim(-0.08, 1.08)
    axes.set_ylim(-0.02, 1.08 if room else 1.02)
    axes.set_axis_off()
    write_title(axes, title)


def _shown(k: int, most: int) -> int:
    """Return how many of k communities get a block; nothing is gained by hiding a single one."""
    return min(k, most + (k == most + 1))


def _flows(left: Ints, right: Ints, k: tuple[int, int], shown: tuple[int, int]) -> Ints:
    """Return the nodes that each two blocks have in common."""
    counts = [most + (number > most) for number, most in zip(k, shown, strict=True)]
    flows = np.zeros(counts, np.int64)
    np.add.at(flows, (np.minimum(left, shown[0]), np.minimum(right, shown[1])), 1)
    return flows


def _names(k: int, shown: int, numbers: Any) -> list[str]:
    return [str(a) if a < shown else f"{k - shown} more" for a in numbers]


def _order_of_right(flows: Ints, shown: int) -> Ints:
    """Return the right blocks in the order of the left ones that their nodes come from."""
    middle = np.cumsum(flows.sum(axis=1)) - flows.sum(axis=1) / 2.0
    mean = (middle @ flows) / np.maximum(flows.sum(axis=0), 1)
    # The block of all others stays last.
    mean[shown:] = np.inf
    return np.argsort(mean, kind="stable")


def _side(names: list[str], sizes: Ints, colors: Floats, gaps: float) -> _Side:
    """Stack blocks from the top, with gaps of a given total height between them."""
    gap = gaps / max(len(sizes) - 1, 1)
    low = 1.0 - np.cumsum(sizes) * _unit(sizes, gaps) - gap * np.arange(len(sizes))
    return _Side(names, sizes, low, colors)


def _unit(sizes: Ints, gaps: float) -> float:
    """Return the height of a node."""
    return (1.0 - gaps) / max(int(sizes.sum()), 1)


def _draw_ribbons(
    axes: Any,
    ends: tuple[float, float],
    flows: Ints,
    unit: float,
    sides: tuple[_Side, _Side],
    colors: Floats,
) -> None:
    """Draw the nodes that the blocks of two sides have in common, in RGBA colors of each pair."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    # Ribbons fill the blocks from the top; these are their lower ends on both sides.
    tops = [side.low + side.sizes * unit for side in sides]
    ends_left = tops[0][:, None] - np.cumsum(flows, axis=1) * unit
    ends_right = tops[1][None, :] - np.cumsum(flows, axis=0) * unit
    x0, x1 = ends
    bend = (x0 + x1) / 2.0
    curve = [Path.CURVE4] * 3
    codes = [Path.MOVETO, *curve, Path.LINETO, *curve, Path.CLOSEPOLY]
    patches = []
    pairs = np.nonzero(flows)
    for a, b in zip(*pairs, strict=True):
        low0, low1 = ends_left[a, b], ends_right[a, b]
        top0, top1 = low0 + flows[a, b] * unit, low1 + flows[a, b] * unit
        outline = [(x0, top0), (bend, top0), (bend, top1), (x1, top1)]
        outline += [(x1, low1), (bend, low1), (bend, low0), (x0, low0), (x0, top0)]
        patches.append(PathPatch(Path(outline, codes)))
    filled = colors[pairs] if patches else "none"
    axes.add_collection(
        PatchCollection(patches, facecolors=filled, edgecolors="none"), autolim=False
    )


def _draw_blocks(axes: Any, x: float, side: _Side, align: str, unit: float) -> None:
    """Draw the blocks of a side, and their names where these do not overlap."""
    box = axes.get_window_extent()
    line = 1.15 * SMALL_SIZE * axes.figure.dpi / 72.0 / max(box.height, 1.0)
    last = np.inf
    for name, size, low, color in zip(*side, strict=True):
        axes.bar(x, size * unit, width=_BLOCK_WIDTH, bottom=low, align="edge", color=[color], lw=0)
        middle = low + size * unit / 2.0
        if last - middle >= line:
            at = x - 0.01 if align == "right" else x + _BLOCK_WIDTH + 0.01
            axes.text(at, middle, name, ha=align, va="center", fontsize=SMALL_SIZE, color=INK)
            last = middle
