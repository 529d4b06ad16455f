"""Labels that cover neither each other nor, where there is room, the circles of a picture."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kgroups._types import Floats
from kgroups.plotting.style import INK

# Names longer than this are cut: they would fit nowhere.
_LONGEST_NAME = 28
# Directions tried around a circle or a cloud, nearest to the wanted direction first.
_DIRECTIONS = 24
# Points between a circle and its label.
_PADDING = 2.0
# Lengths of the lines to labels that find no place beside their circles, in points.
_LINE_LENGTHS = (10.0, 18.0, 28.0, 40.0, 55.0, 75.0)


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
            from kgroups.plotting.colors import luminance

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
