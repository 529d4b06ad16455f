"""The figure of a study: means with intervals, and the region where nothing can be detected."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kgroups._validation import check_choice
from kgroups.errors import InputError
from kgroups.metrics import METRIC_NAMES
from kgroups.plotting import community_colors
from kgroups.plotting.style import FAINT, INK, SMALL_SIZE, dress, require_matplotlib, style
from kgroups.studies.methods import METHODS

if TYPE_CHECKING:
    from kgroups.studies.table import Study

# Signal-to-noise ratio below which nothing can be detected.
_THRESHOLD = 1.0
_MARKERS = "osD^vP*X"
_PANELS_PER_ROW = 3
# Space around a legend inside a panel, as a share of its width.
_LEGEND_PADDING = 0.1
# Width of a legend beside the panels.
_LEGEND_INCHES = 2.4
_METRIC_LABELS = {name: name.replace("_", " ") for name in METRIC_NAMES} | {
    "nmi": "NMI",
    "ami": "AMI",
    "ari": "adjusted Rand index",
}

Line = Mapping[str, Any]


class _Drawing(NamedTuple):
    """Lines of the summary by panel; methods that have the metric, and those given k."""

    metric: str
    x: str
    panels: Mapping[str, Sequence[Line]]
    methods: frozenset[str]
    given: frozenset[str]

    @property
    def is_mixed(self) -> bool:
        """Whether some of the methods were given k and others were not."""
        return bool(self.given) and self.given != self.methods


def plot_study(
    study: "Study",
    ax: Any = None,
    *,
    metric: str | None = None,
    x: str | None = None,
    panel: tuple[float, float] = (4.2, 3.4),
    pyplot: bool = True,
) -> Any:
    """Draw a study as :meth:`Study.plot` does, and return the Axes of the first panel.

    ``panel`` is the size of a panel in inches. Without ``pyplot``, a new figure is not managed by
    pyplot, as for writing to a file.
    """
    drawing = _drawing(study, metric, x)
    require_matplotlib()
    axes = _given_axes(ax, drawing) if ax is not None else _new_axes(drawing, panel, pyplot=pyplot)
    _draw(study, drawing, axes)
    legend: dict[str, Any] = {
        "frameon": False,
        "fontsize": SMALL_SIZE,
        "title_fontsize": SMALL_SIZE,
    }
    legend["labelcolor"] = INK
    if drawing.is_mixed:
        legend["title"] = "solid, filled: k given\ndashed, open: k chosen by the method"
    if drawing.is_mixed and ax is None:
        handles, labels = axes[0].get_legend_handles_labels()
        axes[0].figure.legend(handles, labels, loc="outside right upper", **legend)
    else:
        _write_legend(axes[0], legend, has_threshold=drawing.x == "snr")
    return axes[0]


def _write_legend(panel: Any, options: Mapping[str, Any], *, has_threshold: bool) -> None:
    """Write the legend inside a panel, at one side of the threshold if there is room."""
    legend = panel.legend(**options)
    if not has_threshold:
        return
    panel.figure.figure.draw_without_rendering()
    place, _ = panel.transAxes.inverted().transform(panel.transData.transform((_THRESHOLD, 0.0)))
    width = (1.0 + _LEGEND_PADDING) * legend.get_window_extent().width / panel.bbox.width
    if 0.0 < place < 1.0:
        low, high = (place, 1.0) if width <= 1.0 - place else (0.0, place)
        if width <= high - low:
            panel.legend(**options, loc="best", bbox_to_anchor=(low, 0.0, high - low, 1.0))
        else:
            covering = {"frameon": True, "framealpha": 1.0, "edgecolor": "none"}
            panel.legend(**{**options, **covering})


def _drawing(study: "Study", metric: str | None, x: str | None) -> _Drawing:
    if not study.rows:
        msg = "a study without rows cannot be drawn.\n  Its shard may hold no trial."
        raise InputError(msg)
    metric, x = metric or study.default_metric, x or _default_x(study)
    check_choice("metric", metric, study.metrics)
    check_choice("x", x, study.parameters)
    summary = study.summary()
    known = {line["metric"] for line in summary if not math.isnan(line["mean"])}
    if metric not in known:
        why = (
            "in every cell it is NaN for at least one trial"
            if study.methods_given_k
            else "overlap and accuracy are reported only for methods that are given k, and all "
            "methods of this study choose it"
        )
        names = ", ".join(name for name in study.metrics if name in known)
        hint = f"Draw one of {names}." if names else "No metric of the study has values."
        msg = f"a metric must have values, and no method has {metric!r}: {why}.\n  {hint}"
        raise InputError(msg)
    lines = [line for line in summary if line["metric"] == metric]
    others = [p for p in study.parameters if p != x and len({line[p] for line in lines}) > 1]
    panels: dict[str, list[Line]] = {}
    for line in lines:
        panels.setdefault(", ".join(f"{p} = {line[p]}" for p in others), []).append(line)
    drawn = frozenset(line["method"] for line in lines if not math.isnan(line["mean"]))
    return _Drawing(metric, x, panels, drawn, drawn.intersection(study.methods_given_k))


def _default_x(study: "Study") -> str:
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


def _new_axes(drawing: _Drawing, panel: tuple[float, float], *, pyplot: bool) -> list[Any]:
    count = len(drawing.panels)
    across, down = min(count, _PANELS_PER_ROW), math.ceil(count / _PANELS_PER_ROW)
    width = panel[0] * across + (_LEGEND_INCHES if drawing.is_mixed else 0.0)
    options: Any = {"figsize": (width, panel[1] * down), "layout": "constrained"}
    with style():
        if pyplot:
            from matplotlib import pyplot as plt

            figure = plt.figure(**options)
        else:
            from matplotlib.figure import Figure

            figure = Figure(**options)
        axes = figure.subplots(down, across, sharey=True, squeeze=False).ravel().tolist()
    for unused in axes[count:]:
        unused.remove()
    return list(axes[:count])


def _given_axes(ax: Any, drawing: _Drawing) -> list[Any]:
    from matplotlib.axes import Axes

    axes = list(np.asarray(ax, dtype=object).ravel())
    others = [each for each in axes if not isinstance(each, Axes)]
    if others:
        msg = (
            f"ax must be a matplotlib Axes or several, got {type(others[0]).__name__}.\n"
            "  Pass for instance figure.subplots(), or none for a new figure."
        )
        raise InputError(msg)
    if len(axes) != len(drawing.panels):
        names = "; ".join(filter(None, drawing.panels))
        msg = (
            f"ax must hold one Axes for each panel, {len(drawing.panels)}"
            f"{names and f' ({names})'}, got {len(axes)}.\n"
            "  Pass as many, or none for a new figure."
        )
        raise InputError(msg)
    return axes


def _draw(study: "Study", drawing: _Drawing, axes: Sequence[Any]) -> None:
    colors = community_colors(len(study.methods))
    for panel, (title, lines) in zip(axes, drawing.panels.items(), strict=True):
        if drawing.x == "snr":
            _mark_threshold(panel, [line["snr"] for line in lines])
        for number, method in enumerate(study.methods):
            if method not in drawing.methods:
                continue
            given = method in drawing.given
            label = (METHODS[method].label if method in METHODS else "") or method
            mine = [line for line in lines if line["method"] == method]
            mine.sort(key=lambda line: line[drawing.x])
            places, mean, low, high = (
                [line[name] for line in mine] for name in (drawing.x, "mean", "low", "high")
            )
            panel.fill_between(places, low, high, color=colors[number], alpha=0.2, lw=0)
            panel.plot(
                places,
                mean,
                ms=4,
                lw=1.4,
                color=colors[number],
                marker=_MARKERS[number % len(_MARKERS)],
                label=label + (" (k given)" if given and drawing.is_mixed else ""),
                ls="-" if given else "--",
                mfc=colors[number] if given else "white",
            )
        panel.set_xlabel("signal-to-noise ratio" if drawing.x == "snr" else drawing.x)
        dress(panel, title or None)
    label = _METRIC_LABELS.get(drawing.metric, drawing.metric)
    if not drawing.is_mixed:
        label += " (k given)" if drawing.given else " (k chosen by the methods)"
    axes[0].set_ylabel(label, color=INK)


def _mark_threshold(panel: Any, ratios: Sequence[float]) -> None:
    panel.axvspan(0.0, _THRESHOLD, color=FAINT, alpha=0.18, lw=0, label="undetectable")
    panel.axvline(_THRESHOLD, color=INK, lw=1.0, ls=(0, (4, 3)))
    margin = 0.04 * (max(ratios) - min(ratios) or 1.0)
    panel.set_xlim(min(ratios) - margin, max(ratios) + margin)
