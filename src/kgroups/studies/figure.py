"""The figure of a study: means with intervals, and the region where nothing can be detected."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kgroups.errors import InputError
from kgroups.plotting.axes import FAINT, INK, community_colors, require_matplotlib
from kgroups.studies.methods import method_label

if TYPE_CHECKING:
    from kgroups.studies.table import Study

__all__ = ["plot_study", "study_figure"]

_THRESHOLD = 1.0
_MARKERS = "osD^vP*X"
_PANEL = (4.2, 3.4)
_PANELS_PER_ROW = 3
_METRIC_LABELS = {
    "nmi": "NMI",
    "ami": "AMI",
    "ari": "adjusted Rand index",
    "variation_of_information": "variation of information",
}
_LEGEND_WIDTH = 2.4
_WHO_IS_GIVEN_K = "solid, filled: k given\ndashed, open: k chosen by the method"

Line = Mapping[str, Any]


class _Drawing(NamedTuple):
    """What is drawn: a metric over a parameter.

    Attributes
    ----------
    metric, x : str
        Their names.
    panels : mapping
        From the title of each panel to its lines of the summary.
    methods : frozenset of str
        Those that have the metric; methods that choose k have no overlap and no accuracy.
    given : frozenset of str
        Those among them that were given k.
    """

    metric: str
    x: str
    panels: Mapping[str, Sequence[Line]]
    methods: frozenset[str]
    given: frozenset[str]

    @property
    def is_mixed(self) -> bool:
        """Whether some of the methods were given k and others were not."""
        return bool(self.given) and self.given != self.methods


def plot_study(study: "Study", *, ax: Any, metric: str | None, x: str | None) -> Any:
    """Draw a metric over a parameter, a line per method, a panel per value of the others.

    Parameters
    ----------
    study : Study
        What is drawn.
    ax : matplotlib Axes, several of them, or None
        One for each panel; ``None`` makes a pyplot figure.
    metric, x : str or None
        As for :meth:`Study.plot`.

    Returns
    -------
    matplotlib Axes
        Those of the first panel.
    """
    drawing = _drawing(study, metric, x)
    require_matplotlib()
    if ax is not None:
        axes = _one_for_each_panel(ax, drawing)
        _draw(study, drawing, axes)
        axes[0].legend(**_legend_options(drawing))
        return axes[0]
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=_size(drawing, _PANEL), layout="constrained")
    return _draw_on(figure, study, drawing)[0]


def study_figure(
    study: "Study",
    *,
    metric: str | None = None,
    x: str | None = None,
    panel: tuple[float, float] = _PANEL,
) -> Any:
    """Return the same drawing as a figure that pyplot does not know, to be written to a file.

    Parameters
    ----------
    study : Study
        What is drawn.
    metric, x : str, optional
        As for :meth:`Study.plot`.
    panel : (float, float)
        Width and height of a panel in inches.

    Returns
    -------
    matplotlib Figure
    """
    drawing = _drawing(study, metric, x)
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=_size(drawing, panel), layout="constrained")
    _draw_on(figure, study, drawing)
    return figure


def _drawing(study: "Study", metric: str | None, x: str | None) -> _Drawing:
    if not study.rows:
        msg = "a study without rows cannot be drawn.\n  Its shard may hold no trial."
        raise InputError(msg)
    metric = _chosen("metric", metric or study.default_metric, study.metrics)
    x = _chosen("x", x or _horizontal(study), study.parameters)
    summary = study.summary()
    known = {line["metric"] for line in summary if not math.isnan(line["mean"])}
    if metric not in known:
        raise _no_values(study, metric, [name for name in study.metrics if name in known])
    lines = [line for line in summary if line["metric"] == metric]
    others = [p for p in study.parameters if p != x and len({line[p] for line in lines}) > 1]
    panels: dict[str, list[Line]] = {}
    for line in lines:
        panels.setdefault(", ".join(f"{p} = {line[p]}" for p in others), []).append(line)
    drawn = frozenset(line["method"] for line in lines if not math.isnan(line["mean"]))
    return _Drawing(metric, x, panels, drawn, drawn.intersection(study.methods_given_k))


def _no_values(study: "Study", metric: str, known: Sequence[str]) -> InputError:
    why = (
        "in every cell it is NaN for a trial or more"
        if study.methods_given_k
        else "overlap and accuracy are reported only for methods that are given k, and all methods "
        "of this study choose it"
    )
    hint = f"Draw one of {', '.join(known)}." if known else "And no metric of the study has values."
    return InputError(f"a metric must have values, and no method has {metric!r}: {why}.\n  {hint}")


def _size(drawing: _Drawing, panel: tuple[float, float]) -> tuple[float, float]:
    count = len(drawing.panels)
    width = panel[0] * min(count, _PANELS_PER_ROW) + (_LEGEND_WIDTH if drawing.is_mixed else 0.0)
    return width, panel[1] * math.ceil(count / _PANELS_PER_ROW)


def _draw_on(figure: Any, study: "Study", drawing: _Drawing) -> list[Any]:
    """Draw on an empty figure; a legend that says who was given k is beside the panels."""
    axes = _subplots(figure, len(drawing.panels))
    _draw(study, drawing, axes)
    if drawing.is_mixed:
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper", **_legend_options(drawing))
    else:
        axes[0].legend(**_legend_options(drawing))
    return axes


def _legend_options(drawing: _Drawing) -> dict[str, Any]:
    title = _WHO_IS_GIVEN_K if drawing.is_mixed else None
    return {"frameon": False, "fontsize": 8, "title": title, "title_fontsize": 8}


def _subplots(figure: Any, count: int) -> list[Any]:
    across = min(count, _PANELS_PER_ROW)
    down = math.ceil(count / _PANELS_PER_ROW)
    axes = figure.subplots(down, across, sharey=True, squeeze=False).ravel().tolist()
    for unused in axes[count:]:
        unused.remove()
    return list(axes[:count])


def _one_for_each_panel(ax: Any, drawing: _Drawing) -> list[Any]:
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
            mine = [line for line in lines if line["method"] == method]
            suffix = " (k given)" if given and drawing.is_mixed else ""
            style = {
                "color": colors[number],
                "marker": _MARKERS[number % len(_MARKERS)],
                "label": method_label(method) + suffix,
                "ls": "-" if given else "--",
                "mfc": colors[number] if given else "white",
            }
            _draw_method(panel, sorted(mine, key=lambda line: line[drawing.x]), drawing.x, style)
        if title:
            panel.set_title(title, color=INK, fontsize=11, loc="left")
        panel.set_xlabel("signal-to-noise ratio" if drawing.x == "snr" else drawing.x, color=INK)
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(colors=INK)
    label = _METRIC_LABELS.get(drawing.metric, drawing.metric)
    if not drawing.is_mixed:
        label += " (k given)" if drawing.given else " (k chosen by the methods)"
    axes[0].set_ylabel(label, color=INK)


def _mark_threshold(panel: Any, ratios: Sequence[float]) -> None:
    panel.axvspan(0.0, _THRESHOLD, color=FAINT, alpha=0.18, lw=0, label="undetectable")
    panel.axvline(_THRESHOLD, color=INK, lw=1.0, ls=(0, (4, 3)))
    margin = 0.04 * (max(ratios) - min(ratios) or 1.0)
    panel.set_xlim(min(ratios) - margin, max(ratios) + margin)


def _draw_method(panel: Any, lines: Sequence[Line], x: str, style: Mapping[str, Any]) -> None:
    """Draw the means of a method with their intervals."""
    places = [line[x] for line in lines]
    panel.fill_between(
        places,
        [line["low"] for line in lines],
        [line["high"] for line in lines],
        color=style["color"],
        alpha=0.2,
        lw=0,
    )
    panel.plot(places, [line["mean"] for line in lines], ms=4, lw=1.4, **style)


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
