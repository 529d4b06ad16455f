"""Draw what methods reach against what they cost: a panel per score, a marker per method."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kgroups.plotting import community_colors
from kgroups.plotting.style import FAINT, INK

# Shapes tell the methods apart where colors do not; the first stands for kgroups.
_MARKERS = ("o", "s", "D", "^", "v", "P", "X", "p", "<", ">", "h")
# Least difference of scores between the bottom and the top of a panel.
_LEAST_HEIGHT = 0.2
# Size of a letter and of a line of a label, as parts of a panel.
_LETTER, _LINE = 0.0145, 0.05


@dataclass(frozen=True)
class Point:
    """A method: its name, its time as a multiple of the reference, and its scores if known."""

    name: str
    time: float
    scores: Sequence[float | None]


def against_time(points: Sequence[Point], titles: Sequence[str], time: str) -> Any:
    """Return a matplotlib figure with a panel for each score."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(5.4 * len(titles), 4.6), layout="constrained", facecolor="white")
    for place, title in enumerate(titles):
        axes = picture.add_subplot(1, len(titles), place + 1)
        shown = [(point, point.scores[place]) for point in points]
        _draw(axes, [(mark(i), *one) for i, one in enumerate(shown) if one[1] is not None])
        axes.set_title(title, color=INK, fontsize=12, loc="left")
        axes.set_xlabel(time, color=INK)
    return picture


def mark(place: int) -> dict[str, Any]:
    """Return the color and shape of the marker of one method."""
    return {
        "color": [community_colors(place + 1)[place]],
        "marker": _MARKERS[place % len(_MARKERS)],
        "s": 80 if place == 0 else 55,
        "edgecolors": "white",
        "linewidths": 0.7,
        "zorder": 4 if place == 0 else 3,
    }


def _draw(axes: Any, shown: Sequence[tuple[dict[str, Any], Point, float]]) -> None:
    for style, point, score in shown:
        axes.scatter([point.time], [score], label=point.name, **style)
    axes.set_xscale("log")
    axes.margins(0.12)
    # Labels stand to the right of the markers.
    left, right = axes.get_xlim()
    axes.set_xlim(left, right * (right / left) ** 0.55)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    # Small differences are not to look large.
    low, high = axes.get_ylim()
    room = max(0.0, _LEAST_HEIGHT - (high - low)) / 2
    axes.set_ylim(low - room, high + room)
    axes.grid(color=FAINT, alpha=0.4, lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    to_panel = axes.transData + axes.transAxes.inverted()
    markers = [tuple(to_panel.transform((point.time, score))) for _, point, score in shown]
    names = [point.name for _, point, _ in shown]
    for name, marker, place in zip(names, markers, label_places(names, markers), strict=True):
        axes.annotate(
            name,
            marker,
            place,
            "axes fraction",
            "axes fraction",
            arrowprops={"arrowstyle": "-", "color": FAINT, "lw": 0.6, "relpos": (0.0, 0.5)},
            color=INK,
            fontsize=9,
            va="center",
        )


def label_places(
    names: Sequence[str], markers: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return where labels start, in parts of the panel: each as near its marker as others leave."""
    places: dict[int, tuple[float, float]] = {}
    steps = [sign * step * _LINE / 2 for step in range(40) for sign in (1, -1)]
    for i in sorted(range(len(names)), key=lambda i: markers[i][1]):
        x, y = markers[i][0] + 0.025, markers[i][1]
        boxes = [(*place, len(names[j])) for j, place in places.items()]
        boxes += [(a - 0.02, b, 2) for j, (a, b) in enumerate(markers) if j != i]
        near = (y + step for step in steps)
        free = (one for one in near if not _overlaps((x, one, len(names[i])), boxes))
        places[i] = (x, next(free, y))
    return [places[i] for i in range(len(names))]


def _overlaps(box: tuple[float, float, int], others: Iterable[tuple[float, float, int]]) -> bool:
    x, y, letters = box
    return any(
        x < a + _LETTER * count and a < x + _LETTER * letters and abs(y - b) < _LINE * 0.99
        for a, b, count in others
    )
