"""The figure of a study: means with intervals, and the region where nothing can be detected."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kgroups.errors import InputError
from kgroups.plotting.axes import FAINT, INK, community_colours, require_matplotlib

if TYPE_CHECKING:
    from kgroups.studies.table import Study

__all__ = ["draw_study"]

_THRESHOLD = 1.0
_MARKERS = "osD^vP*X"
_PANEL = (4.2, 3.4)
_PANELS_PER_ROW = 3


def draw_study(study: "Study", *, metric: str | None, x: str | None, figure: Any) -> Any:
    """Draw a metric over a parameter, a line per method, a panel per value of the others."""
    if not study.rows:
        msg = "a study without rows cannot be drawn.\n  Its shard may hold no trial."
        raise InputError(msg)
    metric = _chosen("metric", metric or study.metrics[0], study.metrics)
    x = _chosen("x", x or _horizontal(study), study.parameters)
    lines = [line for line in study.summary() if line["metric"] == metric]
    others = [p for p in study.parameters if p != x and len({line[p] for line in lines}) > 1]
    panels = list(dict.fromkeys(tuple(line[p] for p in others) for line in lines))
    axes = _panels(len(panels), figure)
    for panel, values in zip(axes, panels, strict=True):
        inside = [line for line in lines if tuple(line[p] for p in others) == values]
        _draw_panel(panel, inside, study.methods, x)
        title = ", ".join(f"{p} = {v}" for p, v in zip(others, values, strict=True))
        panel.set_title(title, color=INK, fontsize=11, loc="left")
    for panel in axes:
        panel.set_xlabel("signal-to-noise ratio" if x == "snr" else x, color=INK)
    axes[0].set_ylabel(metric, color=INK)
    axes[0].legend(frameon=False, fontsize=8)
    return axes[0].figure


def _draw_panel(
    panel: Any, lines: Sequence[Mapping[str, Any]], methods: Sequence[str], x: str
) -> None:
    if x == "snr":
        panel.axvspan(0.0, _THRESHOLD, color=FAINT, alpha=0.18, lw=0, label="undetectable")
        panel.axvline(_THRESHOLD, color=INK, lw=1.0, ls=(0, (4, 3)))
    colours = community_colours(len(methods))
    for number, method in enumerate(methods):
        mine = sorted(
            (line for line in lines if line["method"] == method), key=lambda line: line[x]
        )
        places = [line[x] for line in mine]
        panel.fill_between(
            places,
            [line["low"] for line in mine],
            [line["high"] for line in mine],
            color=colours[number],
            alpha=0.2,
            lw=0,
        )
        panel.plot(
            places,
            [line["mean"] for line in mine],
            color=colours[number],
            marker=_MARKERS[number % len(_MARKERS)],
            ms=4,
            lw=1.4,
            label=method,
        )
    if x == "snr":
        places = [line[x] for line in lines]
        room = 0.04 * (max(places) - min(places) or 1.0)
        panel.set_xlim(min(places) - room, max(places) + room)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(colors=INK)


def _panels(count: int, figure: Any) -> list[Any]:
    require_matplotlib()
    across = min(count, _PANELS_PER_ROW)
    down = math.ceil(count / _PANELS_PER_ROW)
    if figure is None:
        from matplotlib import pyplot

        size = (_PANEL[0] * across, _PANEL[1] * down)
        figure = pyplot.figure(figsize=size, layout="constrained")
    axes = figure.subplots(down, across, sharey=True, squeeze=False).ravel().tolist()
    for unused in axes[count:]:
        unused.remove()
    return list(axes[:count])


def _horizontal(study: "Study") -> str:
    if "snr" in study.parameters:
        return "snr"
    values = {p: {row[p] for row in study.rows} for p in study.parameters}
    numbers = [p for p in values if all(isinstance(v, int | float) for v in values[p])]
    if not numbers:
        msg = (
            "a study is drawn over a parameter that is a number, and none of "
            f"{', '.join(study.parameters)} is."
        )
        raise InputError(msg)
    return max(numbers, key=lambda p: len(values[p]))


def _chosen(name: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        msg = f"{name} must be one of {', '.join(choices)}, got {value!r}."
        raise InputError(msg)
    return value
