"""The alluvial picture: how the communities of one partition are spread over those of another."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups.adapters.labels import positions_of
from kgroups.errors import InputError
from kgroups.plotting.graphs import partition_colors
from kgroups.plotting.style import INK, SMALL_SIZE, TEXT_SIZE, axes_for, write_title

if TYPE_CHECKING:
    from kgroups.partition import Partition

# Communities with a block of their own on each side; the nodes of the others share one.
_MAX_BLOCKS = 16
# Width of the blocks, largest height of a gap and of all gaps, as shares of the picture.
_BLOCK_WIDTH, _MAX_GAP, _MAX_GAPS = 0.04, 0.03, 0.2
_OTHERS = np.array([0.78, 0.81, 0.84])


class _Side(NamedTuple):
    """Blocks on one side: names, numbers of nodes, heights of the lower ends, and colors."""

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
    right = after.labels[positions_of(before.nodes, after.nodes, "the partition")]
    axes = axes_for(ax, (6.0, 4.2))
    n_left, n_right = (min(p.k, _MAX_BLOCKS + (p.k == _MAX_BLOCKS + 1)) for p in (before, after))
    rows, columns = np.minimum(left, n_left), np.minimum(right, n_right)
    flows = np.zeros((n_left + (before.k > n_left), n_right + (after.k > n_right)), np.int64)
    np.add.at(flows, (rows, columns), 1)
    colors = np.vstack([partition_colors(before, palette)[:n_left], _OTHERS])[: len(flows)]
    order = _order_of_right(flows, n_right)
    flows = flows[:, order]
    largest = np.argmax(flows, axis=0) if flows.size else np.zeros(0, int)
    gaps = min(_MAX_GAP * (max(*flows.shape, 1) - 1), _MAX_GAPS)
    unit = _unit(flows, gaps)
    sides = (
        _side(_names(before.k, n_left, range(len(flows))), flows.sum(axis=1), colors, gaps),
        _side(_names(after.k, n_right, order), flows.sum(axis=0), colors[largest], gaps),
    )
    _draw_ribbons(axes, flows, unit, *sides)
    for x, side, align in ((0.0, sides[0], "right"), (1.0 - _BLOCK_WIDTH, sides[1], "left")):
        _draw_blocks(axes, x, side, align, unit)
    for x, name in zip((0.0, 1.0), pair, strict=True):
        if name:
            axes.text(
                x,
                1.02,
                name,
                ha="left" if x == 0.0 else "right",
                va="bottom",
                color=INK,
                fontsize=TEXT_SIZE,
                parse_math=False,
            )
    axes.set_xlim(-0.08, 1.08)
    axes.set_ylim(-0.02, 1.08 if any(pair) else 1.02)
    axes.set_axis_off()
    write_title(axes, title)
    return axes


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


def _draw_ribbons(axes: Any, flows: Ints, unit: float, left: _Side, right: _Side) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    # Ribbons fill the blocks from the top; these are their lower ends on both sides.
    tops = [side.low + side.sizes * unit for side in (left, right)]
    ends_left = tops[0][:, None] - np.cumsum(flows, axis=1) * unit
    ends_right = tops[1][None, :] - np.cumsum(flows, axis=0) * unit
    x0, x1 = _BLOCK_WIDTH, 1.0 - _BLOCK_WIDTH
    bend = (x0 + x1) / 2.0
    curve = [Path.CURVE4] * 3
    codes = [Path.MOVETO, *curve, Path.LINETO, *curve, Path.CLOSEPOLY]
    patches, colors = [], []
    for a, b in zip(*np.nonzero(flows), strict=True):
        low0, low1 = ends_left[a, b], ends_right[a, b]
        top0, top1 = low0 + flows[a, b] * unit, low1 + flows[a, b] * unit
        outline = [(x0, top0), (bend, top0), (bend, top1), (x1, top1)]
        outline += [(x1, low1), (bend, low1), (bend, low0), (x0, low0), (x0, top0)]
        patches.append(PathPatch(Path(outline, codes)))
        colors.append(left.colors[a])
    axes.add_collection(
        PatchCollection(patches, facecolors=colors or "none", alpha=0.45, edgecolors="none"),
        autolim=False,
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
