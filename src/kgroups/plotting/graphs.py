"""Draw a graph with its communities in colors, or the graph of communities itself."""

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups._validation import name_text
from kgroups._wording import counted_communities, shown_name
from kgroups.errors import InputError
from kgroups.graph import Graph
from kgroups.plotting.layout import community_centers, in_node_order, positions, separate
from kgroups.plotting.style import (
    FAINT,
    INK,
    MAX_VECTOR_SHAPES,
    SMALL_SIZE,
    axes_for,
    colors_by_neighbors,
    luminance,
    palette_of,
    rgb_of,
    write_title,
)
from kgroups.scoring import community_links

if TYPE_CHECKING:
    from kgroups.partition import Partition

# Names longer than this are cut: they would fit nowhere.
_LONGEST_NAME = 28
# Directions tried around a circle or a cloud, nearest to the wanted direction first.
_DIRECTIONS = 24
# Points between a circle and its label.
_PADDING = 2.0
# Lengths of the lines to labels that find no place beside their circles, in points.
_LINE_LENGTHS = (10.0, 18.0, 28.0, 40.0, 55.0, 75.0)
_FIGSIZE = (7.0, 5.4)
# Radius of an average node: a share of the space per node, and its largest value in points.
_RADIUS, _MAX_RADIUS_POINTS = 0.42, 6.0
# Space between circles, as a share of the radius of an average one.
_GAP = 0.5
# Circles that cover more of the picture than this make the picture larger.
_MAX_COVERED = 0.3
# Points around the circles, for labels outside.
_MARGIN_POINTS = 14.0
# Up to this many communities their labels are words, beyond it numbers.
_MAX_WORDS = 12
# Neighbors of a community whose colors must differ: the nearest and the most linked.
_NEAREST, _MOST_LINKED = 6, 4
# Of this many names, those without room beside their nodes stand at the ends of lines.
_MAX_LINES_TO_NAMES = 40
# Largest number of communities whose numbers are written, the largest ones.
_MAX_NUMBERS = 60
# Pairs of communities that are drawn as lines, those with most edges: in all, or per community.
_MAX_LINES, _LINES_PER_COMMUNITY = 200, 2
# Lines are thinner in pictures of less than this height, in points.
_FULL_HEIGHT_POINTS = 250.0
# Width of the caption in one line, in points.
_CAPTION_POINTS = 340.0
# Smallest radius of a community in the graph of communities, in points.
_MIN_RADIUS_POINTS = 1.0


class Frame(NamedTuple):
    """The visible part of the plane, and how many points a unit of the layout is wide."""

    low: Floats
    high: Floats
    scale: float


def frame_of(axes: Any, xy: Floats, radii: Floats, margin: float) -> Frame:
    """Return the frame that shows all circles in the axes, with a margin in points."""
    box = axes.get_window_extent()
    size = np.array([box.width, box.height]) * 72.0 / axes.figure.dpi
    if not len(xy):
        return Frame(np.zeros(2), np.ones(2), float(size.min()))
    low, high = (xy - radii[:, None]).min(axis=0), (xy + radii[:, None]).max(axis=0)
    room = np.maximum(size - 2.0 * margin, size / 2.0)
    scale = float(np.min(room / np.maximum(high - low, 1e-9)))
    middle, half = (low + high) / 2.0, size / (2.0 * scale)
    return Frame(middle - half, middle + half, scale)


class Labels:
    """Writes labels on axes, each at the first of several places where it is free to stand."""

    def __init__(self, axes: Any, frame: Frame, xy: Floats, radii: Floats) -> None:
        from scipy.spatial import cKDTree

        self._axes, self._frame = axes, frame
        self._xy, self._radii = xy, radii
        self._largest = float(radii.max(initial=0.0))
        self._tree = cKDTree(xy)
        self._boxes = np.zeros((0, 4))

    def beside_circle(self, text: str, i: int, fill: Floats, **font: Any) -> bool:
        """Write a label in circle ``i`` if it fits, in a color to be read on it, or beside it."""
        text = shortened(text)
        width, height = self._measured(text, **font)
        xy, r = self._xy[i], self._radii[i]
        # Letters are lower than their line.
        if np.hypot(width, 0.7 * height) < 1.9 * r:
            color = "white" if luminance(fill) < 0.4 else INK
            half = np.array([width, height]) / 2.0
            box = np.concatenate([xy - half, xy + half])
            if not self._overlaps_label(box):
                self._write(text, xy, ("center", "center"), box, color=color, halo=False, **font)
                return True
        reach = r + _PADDING / self._frame.scale
        # Right and left first, where a line of text is nearest to what it names.
        angles = np.pi * np.array([0, 1, 0.5, 1.5, 0.25, 0.75, 1.75, 1.25])
        return (
            self._at_first_free(text, [(xy, angle, reach) for angle in angles], **font) is not None
        )

    def at_a_line(self, text: str, i: int, **font: Any) -> bool:
        """Write a label at the nearest free place around circle ``i``, at the end of a line."""
        xy, r = self._xy[i], self._radii[i]
        angles = 2.0 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
        places = [
            (xy, angle, r + away / self._frame.scale) for away in _LINE_LENGTHS for angle in angles
        ]
        end = self._at_first_free(shortened(text), places, **font)
        if end is None:
            return False
        start = xy + (end - xy) * r / np.hypot(*(end - xy))
        self._axes.plot(*np.transpose([start, end]), color=INK, lw=0.6, alpha=0.8, zorder=3.5)
        return True

    def beside_cloud(self, texts: Iterable[str], members: Any, **font: Any) -> bool:
        """Write the first of several texts that fits outside the circles of some members.

        Places away from the middle of the picture come first.
        """
        xy, r = self._xy[members], self._radii[members]
        center = xy.mean(axis=0)
        middle = (self._frame.low + self._frame.high) / 2.0
        outward = np.arctan2(*(center - middle)[::-1]) if len(xy) < len(self._xy) else np.pi / 2
        step = 2.0 * np.pi / _DIRECTIONS
        turns = step * np.array([(-1) ** i * ((i + 1) // 2) for i in range(_DIRECTIONS)])
        places = []
        for angle in outward + turns:
            along = (xy - center) @ [np.cos(angle), np.sin(angle)] + r
            places.append((center, angle, float(along.max()) + _PADDING / self._frame.scale))
        return any(self._at_first_free(text, places, **font) is not None for text in texts)

    def _at_first_free(
        self, text: str, places: Sequence[tuple[Floats, float, float]], **font: Any
    ) -> Floats | None:
        """Write a label at the first free place, and return the point that it stands at."""
        size = self._measured(text, **font)
        for center, angle, reach in places:
            toward = np.array([np.cos(angle), np.sin(angle)])
            anchor = center + reach * toward
            side = np.where(np.abs(toward) < 0.38, 0, np.sign(toward)).astype(int)
            low = anchor + size * np.array([(-0.5, 0.0, -1.0)[s] for s in side])
            box = np.concatenate([low, low + size])
            inside = (box[:2] >= self._frame.low).all() and (box[2:] <= self._frame.high).all()
            if inside and not self._overlaps_label(box) and not self._covers_circle(box):
                align = (
                    ("center", "left", "right")[side[0]],
                    ("center", "bottom", "top")[side[1]],
                )
                self._write(text, anchor, align, box, **font)
                return np.asarray(anchor)
        return None

    def _measured(self, text: str, *, fontsize: float, fontweight: str = "normal", **_: Any) -> Any:
        """Return width and height of a text in units of the layout."""
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path

        font = FontProperties(size=fontsize, weight=fontweight)
        width, _height, _descent = text_to_path.get_text_width_height_descent(
            text, font, ismath=False
        )
        # Lines of one height, so that labels in a row do not depend on their letters.
        return np.array([width, 1.15 * fontsize]) / self._frame.scale

    def _overlaps_label(self, box: Floats) -> bool:
        b = self._boxes
        return bool(
            (
                (b[:, 0] < box[2]) & (box[0] < b[:, 2]) & (b[:, 1] < box[3]) & (box[1] < b[:, 3])
            ).any()
        )

    def _covers_circle(self, box: Floats) -> bool:
        center, half = (box[:2] + box[2:]) / 2.0, (box[2:] - box[:2]) / 2.0
        near = self._tree.query_ball_point(center, float(np.hypot(*half)) + self._largest)
        away = np.maximum(np.abs(self._xy[near] - center) - half, 0.0)
        return bool((np.hypot(*away.T) < self._radii[near]).any())

    def _write(
        self,
        text: str,
        place: Floats,
        align: tuple[str, str],
        box: Floats,
        *,
        color: Any = INK,
        halo: bool = True,
        **font: Any,
    ) -> None:
        from matplotlib import patheffects

        effects = [patheffects.withStroke(linewidth=2.0, foreground="white")] if halo else []
        self._axes.text(
            *place,
            text,
            ha=align[0],
            va=align[1],
            color=color,
            path_effects=effects,
            parse_math=False,
            zorder=4,
            **font,
        )
        self._boxes = np.vstack([self._boxes, box])


def shortened(name: object) -> str:
    """Return a name in one line of a length that can be drawn."""
    text = " ".join(str(name).split())
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def plot_graph(
    partition: "Partition",
    *,
    ax: Any = None,
    layout: Any = None,
    names: Collection[Hashable] | None = None,
    node_size: Any = 1.0,
    palette: Any = None,
    title: str | None = None,
) -> Any:
    """Draw a graph: nodes in the colors of their communities, larger with their degree.

    Parameters
    ----------
    partition : Partition
        With its graph.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    layout : array of shape (n, 2) or mapping of node to (x, y), optional
        Positions; by default they are computed, the same at each call and for each order of the
        nodes, communities apart and nodes not over one another.
    names : collection of hashable, optional
        Nodes whose names are written; by default all of a graph of up to 40 nodes that are valid
        text, of larger ones none. Those of nodes of highest degree come first. They stand inside or
        beside the node, or where there is no room, of the first 40, at the end of a line. Names
        that would cover nodes or each other are left out.
    node_size : float, array of shape (n,) or mapping of node to float
        Factor on the areas of the nodes, which grow with their degrees; or one area per node,
        relative to each other.
    palette : str or collection of colors, optional
        Name of a matplotlib colormap, or colors. They go to the communities in order; if there
        are more communities than colors, so that neighbors differ clearly. By default twelve
        colors that readers with color blindness can tell apart, and gray for communities of one
        node.
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
    PartitionError
        If the partition has no graph.
    InputError
        If the layout, the names, the sizes or the palette do not fit.

    Notes
    -----
    Edges inside a community have its color; edges between communities are drawn below them, in
    light gray. Edges of weighted graphs are wider with their weights. Self-loops are not drawn.
    Beside each community stands its number, if there is room.

    Examples
    --------
    >>> import kgroups as kg
    >>> partition = kg.detect_communities(kg.datasets.load("karate").graph)
    >>> axes = plot_graph(partition, names=[0, 33])
    >>> [text.get_text() for text in axes.texts]
    ['community 0', 'community 1', '33', '0']
    """
    graph, z = partition._graph_for("a picture"), partition.labels
    if names is None:
        few = graph.nodes if graph.n <= _MAX_LINES_TO_NAMES else ()
        names = [name for name in few if _can_be_drawn(name)]
    named = _rows_of(graph, names)
    areas = _areas(graph, node_size)
    axes = axes_for(ax, _FIGSIZE)
    colors = partition_colors(partition, palette)
    xy = positions(graph, z, layout)
    xy, radii = _sized(axes, xy, areas, fixed=layout is not None)
    frame = frame_of(axes, xy, radii, _MARGIN_POINTS)
    _draw_edges(axes, graph, z, xy, colors, _thinner(frame))
    _draw_circles(axes, xy, radii, colors[z], frame.scale)
    labels = Labels(axes, frame, xy, radii)
    _number_communities(labels, partition, colors)
    # Nodes of many neighbors come first, whose names are missed most and find least room; those
    # of equal degree by their places, so that the order of the nodes does not matter.
    rank = np.lexsort((*xy.T, -graph.degrees)).argsort()
    by_degree = sorted(named.items(), key=lambda item: rank[item[1]])
    crowded = [
        (name, i)
        for name, i in by_degree
        if not labels.beside_circle(str(name), i, colors[z[i]], fontsize=SMALL_SIZE)
    ]
    foremost = dict(by_degree[:_MAX_LINES_TO_NAMES])
    for name, i in crowded:
        if name in foremost:
            labels.at_a_line(str(name), i, fontsize=SMALL_SIZE)
    _finish(axes, frame, title)
    return axes


def plot_communities(
    partition: "Partition",
    *,
    ax: Any = None,
    names: Collection[Hashable] | None = None,
    node_size: Any = 1.0,
    palette: Any = None,
    title: str | None = None,
) -> Any:
    """Draw the graph of communities: areas are numbers of nodes, widths are numbers of edges.

    Parameters
    ----------
    partition : Partition
        With its graph.
    ax, palette, title
        As in :func:`plot_graph`.
    names : collection of hashable, optional
        Nodes whose names are written beside their communities; by default none.
    node_size : float, array of shape (n,) or mapping of node to float
        Factor on the areas; or one number per node, whose sum is the area of the community.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Notes
    -----
    In weighted graphs the widths are sums of weights. Of more than 200 lines the widest are drawn,
    twice as many as there are communities. Communities too small to be seen are drawn larger.

    Examples
    --------
    >>> import kgroups as kg
    >>> partition = kg.detect_communities(kg.datasets.load("les_miserables").graph)
    >>> plot_communities(partition).texts[-1].get_text()
    '77 nodes: 3 communities; area: number of nodes, width: weight of the edges'
    """
    graph, z, k = partition._graph_for("a picture"), partition.labels, partition.k
    named = _rows_of(graph, () if names is None else names)
    per_node = _areas(graph, node_size, by_degree=False)
    axes = axes_for(ax, _FIGSIZE)
    xy = community_centers(graph, z)
    colors = partition_colors(partition, palette, xy)
    links = community_links(graph, z).between()
    # Discs that take up half of their space leave room for the lines between them.
    radii = np.sqrt(0.5 * np.bincount(z, weights=per_node, minlength=k))
    frame = frame_of(axes, xy, radii, _MARGIN_POINTS)
    radii = np.maximum(radii, _MIN_RADIUS_POINTS / frame.scale)
    xy = separate(xy, radii)
    frame = frame_of(axes, xy, radii, _MARGIN_POINTS)
    _draw_links(axes, xy, links.ends, links.weight, _thinner(frame))
    _draw_circles(axes, xy, radii, colors, frame.scale)
    labels = Labels(axes, frame, xy, radii)
    names_of: dict[int, list[str]] = {}
    for name, i in named.items():
        names_of.setdefault(int(z[i]), []).append(str(name))
    for a, texts in names_of.items():
        labels.beside_circle(", ".join(texts), a, colors[a], fontsize=SMALL_SIZE)
    for a in _numbered(partition):
        if a not in names_of:
            labels.beside_circle(str(a), a, colors[a], fontsize=SMALL_SIZE)
    width = "weight of the edges" if graph.is_weighted else "number of edges"
    _finish(axes, frame, title)
    size = f"{graph.n:,} {'node' if graph.n == 1 else 'nodes'}"
    caption = [
        f"{size}: {counted_communities(k, partition._single)}",
        f"area: number of nodes, width: {width}",
    ]
    wide = frame.scale * float(frame.high[0] - frame.low[0])
    axes.text(
        0.0,
        0.0,
        ("; " if wide > _CAPTION_POINTS else "\n").join(caption),
        transform=axes.transAxes,
        fontsize=SMALL_SIZE,
        color=FAINT,
        va="top",
    )
    return axes


def partition_colors(
    partition: "Partition", palette: Any = None, centers: Floats | None = None
) -> Floats:
    """Return the RGB row of each community, the same in all pictures of a partition.

    Communities that are linked or near one another in the picture get colors that differ clearly,
    also where there are more communities than colors. ``centers`` are those of
    :func:`community_centers`, if they are known.
    """
    k = partition.k
    if palette is None and k > 1:
        k = int(np.count_nonzero(partition.sizes > 1))
    chosen = palette_of(palette, k)
    ends, weight = _neighbors(partition, centers, k, len(chosen))
    colors = np.empty((partition.k, 3))
    colors[k:] = rgb_of(FAINT)
    colors[:k] = chosen[colors_by_neighbors(chosen, ends, weight, k)]
    return colors


def _neighbors(
    partition: "Partition", centers: Floats | None, k: int, n_colors: int
) -> tuple[Ints, Floats]:
    """Return pairs of the first k communities whose colors must differ, and how much it matters."""
    consecutive = np.column_stack([np.arange(k - 1), np.arange(1, k)])
    pairs, weights = [consecutive.reshape(-1, 2)], [np.full(max(k - 1, 0), 0.3)]
    if k > n_colors and partition.graph is not None:
        from scipy.spatial import cKDTree

        ends, links, *_ = community_links(partition.graph, partition.labels).between()
        if centers is None:
            centers = community_centers(partition.graph, partition.labels)
        near = cKDTree(centers[:k]).query(centers[:k], min(_NEAREST + 1, k))[1][:, 1:]
        pairs.append(np.column_stack([np.repeat(np.arange(k), near.shape[1]), near.ravel()]))
        # Both directions of each link, the strongest of each community first.
        here, there = np.concatenate([ends, ends[:, ::-1]]).T
        order = np.lexsort((there, -np.concatenate([links, links]), here))
        here, there = here[order], there[order]
        strong = np.arange(here.size) - np.searchsorted(here, here) < _MOST_LINKED
        strong &= np.maximum(here, there) < k
        pairs.append(np.column_stack([here[strong], there[strong]]))
        weights += [np.ones(len(pairs[1])), np.ones(len(pairs[2]))]
    return np.concatenate(pairs), np.concatenate(weights)


def _rows_of(graph: Graph, names: Collection[Hashable]) -> dict[Hashable, int]:
    """Return the row of each node that is to be named."""
    # The letters of a string are not meant.
    if isinstance(names, str) or not isinstance(names, Iterable):
        msg = f"names must be a collection of nodes, such as [node], got {names!r}."
        raise InputError(msg)
    wanted = list(names)
    if not wanted:
        return {}
    row_of = {name: i for i, name in enumerate(graph.nodes)}
    found: dict[Hashable, int] = {}
    for name in wanted:
        try:
            found[name] = row_of[name]
        except (KeyError, TypeError):
            msg = f"names must be nodes of the graph, got {shown_name(name)}."
            raise InputError(msg) from None
        _check_drawn(name)
    return found


def _check_drawn(name: Hashable) -> None:
    if any("\ud800" <= character <= "\udfff" for character in name_text(name, "a figure")):
        msg = (
            f"node names in a figure must be valid Unicode, got {shown_name(name)}.\n"
            "  Rename this node first, or leave it out of names."
        )
        raise InputError(msg)


def _can_be_drawn(name: Hashable) -> bool:
    try:
        _check_drawn(name)
    except InputError:
        return False
    return True


def _areas(graph: Graph, node_size: Any, *, by_degree: bool = True) -> Floats:
    """Return the areas of the nodes, 1 on average unless the caller gave a factor."""
    node_size = in_node_order(graph, node_size, "node_size", "a number")
    given = np.asarray(node_size)
    if (
        given.dtype.kind not in "iuf"
        or given.shape not in ((), (graph.n,))
        or not (np.isfinite(given).all() and (given >= 0).all() and (given > 0).any())
    ):
        msg = (
            "node_size must be a positive number, or a number >= 0 for each of the "
            f"{graph.n} nodes, got {node_size!r}."
        )
        if graph.n or given.shape == ():
            raise InputError(msg)
    if given.shape == (graph.n,):
        return np.asarray(given / max(float(given.mean()), 1e-300) if graph.n else given, float)
    areas: Floats = np.ones(graph.n)
    if by_degree and graph.n:
        links = np.diff(graph.indptr)
        areas = 0.35 + np.minimum(links / max(float(links.mean()), 1.0), 4.0) * 0.65
    return areas * float(given)


def _sized(axes: Any, xy: Floats, areas: Floats, *, fixed: bool) -> tuple[Floats, Floats]:
    """Return positions and radii of circles that do not overlap; fixed positions stay."""
    n = len(xy)
    if not n:
        return xy, np.zeros(0)
    scale = frame_of(axes, xy, np.zeros(n), _MARGIN_POINTS).scale
    base = min(_RADIUS * (_spacing(xy) if fixed else 1.0), _MAX_RADIUS_POINTS / scale)
    radii = base * np.sqrt(areas)
    if fixed:
        return xy, radii
    covered = np.pi * float(np.sum(radii**2)) / (np.pi * n)
    xy = xy * max(np.sqrt(covered / _MAX_COVERED), 1.0)
    return separate(xy, radii + _GAP * base / 2.0), radii


def _spacing(xy: Floats) -> float:
    """Return the median distance of nodes to their nearest neighbor, 1 if there is none."""
    from scipy.spatial import cKDTree

    if len(xy) < 2:
        return 1.0
    away = np.median(cKDTree(xy).query(xy, 2)[0][:, 1])
    return float(away) or float(np.ptp(xy, axis=0).max() / np.sqrt(len(xy))) or 1.0


def _thinner(frame: Frame) -> float:
    """Return a factor on the widths of lines in small pictures."""
    height = frame.scale * float(frame.high[1] - frame.low[1])
    return float(np.clip(height / _FULL_HEIGHT_POINTS, 0.3, 1.0))


def _draw_edges(
    axes: Any, graph: Graph, z: Ints, xy: Floats, colors: Floats, thinner: float
) -> None:
    rows, cols, weights = graph.edges()
    off = rows != cols
    rows, cols, weights = rows[off], cols[off], weights[off]
    # Many edges are drawn thinner and fainter, so that the nodes stay visible.
    crowd = np.clip(rows.size / (400.0 * thinner), 1.0, 60.0) ** -0.45
    widths = _widths(weights)
    inside = z[rows] == z[cols]
    lines = np.stack([xy[rows], xy[cols]], axis=1)
    inner = (inside, colors[z[rows[inside]]], 0.75, 1.5)
    for chosen, color, alpha, width in ((~inside, FAINT, 0.55, 1.0), inner):
        thick = width * crowd * thinner * widths[chosen]
        _draw_lines(axes, lines[chosen], thick, color, alpha * crowd)


def _widths(weights: Floats) -> Floats:
    """Return widths of lines for weights: the square root, 1 on average, within bounds."""
    typical = float(np.median(weights[weights > 0])) if (weights > 0).any() else 1.0
    # Weights may differ by more than the largest number: their roots cannot, nor be subnormal.
    root = math.sqrt(typical)
    return np.clip(np.minimum(np.sqrt(weights), 3.0 * root) / root, 0.4, 3.0)


def _draw_links(axes: Any, xy: Floats, ends: Ints, edges: Floats, thinner: float) -> None:
    """Draw the lines between communities, the widest above the others."""
    count = max(_MAX_LINES, _LINES_PER_COMMUNITY * len(xy))
    shown = np.argsort(edges, kind="stable")[-count:]
    share = edges[shown] / (edges.max(initial=0.0) or 1.0)
    crowd = np.clip(shown.size / 50.0, 1.0, 50.0) ** -0.3
    widths = thinner * np.maximum(7.0 * share * crowd, 0.3)
    _draw_lines(axes, xy[ends[shown]], widths, FAINT, 0.6 * crowd)


def _draw_lines(axes: Any, lines: Any, widths: Floats, colors: Any, alpha: Any) -> None:
    from matplotlib.collections import LineCollection

    axes.add_collection(
        LineCollection(
            lines,
            colors=colors,
            alpha=alpha,
            linewidths=widths,
            capstyle="round",
            rasterized=len(lines) > MAX_VECTOR_SHAPES,
        ),
        autolim=False,
    )


def _draw_circles(axes: Any, xy: Floats, radii: Floats, colors: Floats, scale: float) -> None:
    """Draw circles with a thin white outline; ``scale`` is the number of points per unit."""
    from matplotlib.collections import EllipseCollection

    if not len(xy):
        return
    order = np.argsort(-radii, kind="stable")
    axes.add_collection(
        EllipseCollection(
            *(2.0 * radii[order],) * 2,
            np.zeros(len(xy)),
            units="xy",
            offsets=xy[order],
            offset_transform=axes.transData,
            facecolors=colors[order],
            edgecolors="white",
            linewidths=np.clip(scale * radii[order] / 6.0, 0.1, 1.0),
            zorder=3,
            rasterized=len(xy) > MAX_VECTOR_SHAPES,
        ),
        autolim=False,
    )


def _number_communities(labels: Labels, partition: "Partition", colors: Floats) -> None:
    """Write the numbers of communities beside them; nothing if there is only one."""
    members = np.split(np.argsort(partition.labels, kind="stable"), np.cumsum(partition.sizes)[:-1])
    for a in _numbered(partition):
        words = [f"community {a}"] if partition.k <= _MAX_WORDS else []
        labels.beside_cloud(
            [*words, str(a)],
            members[a],
            color=_readable(colors[a]),
            fontsize=SMALL_SIZE,
            fontweight="bold",
        )


def _numbered(partition: "Partition") -> range:
    """Return the communities whose numbers are written: none, or the largest."""
    if partition.k < 2:
        return range(0)
    if partition.k <= _MAX_WORDS:
        return range(partition.k)
    return range(min(int(np.count_nonzero(partition.sizes > 1)), _MAX_NUMBERS))


def _readable(color: Floats) -> Floats:
    """Return a color dark enough for text on white."""
    light = float(luminance(color))
    return color if light < 0.25 else color * (0.25 / light) ** (1 / 2.2)


def _finish(axes: Any, frame: Frame, title: str | None) -> None:
    axes.set_xlim(frame.low[0], frame.high[0], auto=True)
    axes.set_ylim(frame.low[1], frame.high[1], auto=True)
    # In axes that get another shape later, the limits may grow and do not shrink.
    axes.update_datalim([frame.low, frame.high])
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()
    write_title(axes, title)
