"""The table of a study: a row per cell, trial and method; summary, files and figure."""

import csv
import io
import math
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kgroups._output import (
    check_regular,
    encode_table,
    html_beside,
    html_lines,
    html_table,
    html_text,
    require_matplotlib,
    write_atomically,
)
from kgroups._validation import check_choice
from kgroups._wording import and_more, function, install_hint
from kgroups.adapters.edges import MAX_EXPANSION, ReadOptions
from kgroups.adapters.files import GraphFile
from kgroups.errors import FileFormatError, InputError, MissingExtraError
from kgroups.metrics import METRIC_NAMES
from kgroups.partition.files import read_parquet
from kgroups.plotting import community_colors
from kgroups.plotting.style import (
    FAINT,
    INK,
    SMALL_SIZE,
    dress,
    has_matplotlib,
    inline_image,
    style,
)
from kgroups.studies.methods import METHODS
from kgroups.studies.plan import RESERVED, Task, trial_seed
from kgroups.studies.running import Results

_SUFFIXES = (".csv", ".csv.gz", ".parquet")
# Cells that a notebook lists.
_MOST_ROWS = 12
_WORDS = {"": None, "True": True, "False": False}
Row = Mapping[str, Any]
# Signal-to-noise ratio below which nothing can be detected.
_THRESHOLD = 1.0
_MARKERS = "osD^vP*X"
_PANELS_PER_ROW = 3
# Width of a legend beside the panels.
_LEGEND_INCHES = 2.4
_METRIC_LABELS = {name: name.replace("_", " ") for name in METRIC_NAMES} | {
    "nmi": "NMI",
    "ami": "AMI",
    "ari": "adjusted Rand index",
}
Line = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Study:
    """The results of a study.

    Attributes
    ----------
    parameters : tuple of str
        Parameters of the grid, which are the first columns.
    metrics : tuple of str
        Names of the scores.
    rows : tuple of dict
        One per cell, trial and method: the parameters, ``trial``, ``method``, ``k_given``
        (whether it was given the planted number of groups), the metrics, ``k_hat`` (number of
        communities found), ``seconds`` and ``seed``. Overlap and accuracy of a method that was
        not given k are NaN.

    Notes
    -----
    A trial can be drawn again from its seed: ``numpy.random.default_rng(seed).spawn(2)`` gives
    the stream of the generator and that of the methods.
    """

    parameters: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        first = (*self.parameters, "trial", "method", "k_given")
        return (*first, *self.metrics, "k_hat", "seconds", "seed")

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the order of the rows."""
        return tuple(dict.fromkeys(row["method"] for row in self.rows))

    @property
    def methods_given_k(self) -> tuple[str, ...]:
        """Names of the methods that were given the planted number of groups."""
        return tuple(dict.fromkeys(row["method"] for row in self.rows if row["k_given"]))

    @property
    def default_metric(self) -> str:
        """The metric by which the figure and the printed table compare the methods.

        The first metric if all methods were given k. Otherwise ``ami``, or where it was not
        recorded the first metric that every method has.
        """
        if self.methods_given_k == self.methods:
            return self.metrics[0]
        if "ami" in self.metrics:
            return "ami"
        lacking = {m for row in self.rows for m in self.metrics if math.isnan(row[m])}
        return next((m for m in self.metrics if m not in lacking), self.metrics[0])

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        cells = len({self._cell(row) for row in self.rows})
        return (
            f"Study({len(self.rows)} rows: {cells} cells over {', '.join(self.parameters)}; "
            f"methods {', '.join(self.methods)}; metrics {', '.join(self.metrics)})"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows: means of the default metric by cell, and a picture."""
        return study_html(self)

    def values(self, metric: str, *, method: str, **cell: Any) -> "np.ndarray[Any, Any]":
        """Return a column over the trials of a method, in the cells with these parameters.

        Examples
        --------
        >>> row = {"snr": 2.0, "trial": 0, "method": "kgroups", "overlap": 0.9}
        >>> Study(("snr",), ("overlap",), (row,)).values("overlap", method="kgroups", snr=2.0)
        array([0.9])
        """
        wanted = {"method": method, **cell}
        return np.array(
            [row[metric] for row in self.rows if all(row[c] == v for c, v in wanted.items())],
            dtype=float,
        )

    def summary(self) -> list[dict[str, Any]]:
        """Return mean, spread and interval of every metric, per cell and method.

        Returns
        -------
        list of dict
            The parameters, ``method``, ``metric``, ``trials``, ``mean``, ``sd``, ``se`` and the
            bounds ``low`` and ``high`` of the 95 % interval of the mean (Student's t), which
            are NaN with one trial. ``pandas.DataFrame`` takes the list as it is.
        """
        from scipy.special import stdtrit

        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows:
            groups.setdefault((*self._cell(row), row["method"]), []).append(row)
        summary = []
        for key, rows in groups.items():
            cell = dict(zip((*self.parameters, "method"), key, strict=True))
            size = len(rows)
            wide = float(stdtrit(size - 1, 0.975)) if size > 1 else math.nan
            for metric in self.metrics:
                values = np.array([row[metric] for row in rows], dtype=float)
                mean = float(values.mean())
                sd = float(values.std(ddof=1)) if size > 1 else math.nan
                se = sd / math.sqrt(size)
                bounds = {"low": mean - wide * se, "high": mean + wide * se}
                line = {"metric": metric, "trials": size, "mean": mean, "sd": sd, "se": se}
                summary.append({**cell, **line, **bounds})
        return summary

    def to_pandas(self) -> Any:
        """Return the rows as a DataFrame."""
        try:
            import pandas
        except ImportError as error:
            msg = f"to_pandas needs pandas. {install_hint('study')}"
            raise MissingExtraError(msg) from error
        return pandas.DataFrame(list(self.rows), columns=list(self.columns))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rows to a file, whole or not at all; .csv, .csv.gz or .parquet."""
        check_table_name(path)
        columns = {name: [row[name] for row in self.rows] for name in self.columns}
        write_atomically(path, encode_table(columns, path))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_expansion: float = MAX_EXPANSION) -> "Study":
        """Read a study that :meth:`save` wrote.

        A compressed file may expand to ``max_expansion`` times its size, as in
        :func:`kgroups.read_graph`.
        """
        columns, rows = _read_table(path, max_expansion)
        trial, k_given, k_hat = (columns.index(name) for name in ("trial", "k_given", "k_hat"))
        return cls(tuple(columns[:trial]), tuple(columns[k_given + 1 : k_hat]), tuple(rows))

    def plot(self, ax: Any = None, *, metric: str | None = None, x: str | None = None) -> Any:
        """Draw the means of a metric with their 95 % intervals, one panel per further parameter.

        Lines of methods that were given k are solid with filled markers, others dashed with open
        ones. Over the signal-to-noise ratio the region below 1, where nothing can be detected
        efficiently, is shaded and its threshold marked.

        Parameters
        ----------
        ax : matplotlib Axes or several, optional
            Where to draw, one for each panel; a new figure by default.
        metric : str, optional
            ``default_metric`` by default: AMI if a method was not given k, otherwise the
            first metric.
        x : str, optional
            Parameter of the horizontal axis; ``"snr"`` by default, or else the number that takes
            most values.

        Returns
        -------
        matplotlib Axes
            The axes drawn on; those of the first panel if there are several, which are all in
            its ``figure.axes``.
        """
        return plot_study(self, ax, metric=metric, x=x)

    def _cell(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.parameters)


def study_html(study: Study) -> str:
    """Return the HTML of a study: a row per cell, a column per method, and the figure."""
    head = f"<b>{html_text(f'Study of {len(study.rows):,} rows')}</b>"
    if not study.rows:
        return head
    rows = table_of_means(study, lambda line: (line["high"] - line["low"]) / 2.0)
    table = html_table([*study.parameters, *study.methods], rows[:_MOST_ROWS])
    table += html_lines(and_more(len(rows), _MOST_ROWS, " cells"))
    about = html_lines([f"{study.default_metric}: mean and 95 % interval over the trials"])
    return head + about + html_beside(table, _picture(study))


def table_of_means(study: Study, spread: Callable[[Line], float]) -> list[tuple[Any, ...]]:
    """Return a row per cell: its parameters, and mean ± spread of the default metric by method."""
    metric = study.default_metric
    cells: dict[tuple[Any, ...], dict[str, str]] = {}
    for line in study.summary():
        if line["metric"] == metric:
            wide = "" if math.isnan(spread(line)) else f" ± {spread(line):.3f}"
            cell = tuple(line[name] for name in study.parameters)
            cells.setdefault(cell, {})[line["method"]] = f"{line['mean']:.3f}{wide}"
    return [
        (*cell, *(found.get(method, "") for method in study.methods))
        for cell, found in cells.items()
    ]


def _picture(study: Study) -> str:
    """Return the figure of a study as an image, or nothing if it cannot be drawn."""
    if not has_matplotlib():
        return ""
    try:
        axes = plot_study(study, panel=(3.4, 2.6), pyplot=False)
    except InputError:
        # Studies over words, or of metrics without values, have no figure.
        return ""
    return inline_image(axes.figure, f"{study.default_metric} of the methods")


def study_of(plan: Mapping[str, Any], finished: Mapping[Task, Results]) -> Study:
    """Return the study of finished trials of a described plan."""
    rows = []
    for task in sorted(finished):
        cell = plan["cells"][task.cell]
        seed = trial_seed(plan["entropy"], cell, task.trial)
        for method, k_given in plan["k_given"].items():
            start = {**cell, "trial": task.trial, "method": method, "k_given": k_given}
            scores = dict.fromkeys(plan["metrics"], math.nan)
            rows.append({**start, **scores, **finished[task][method], "seed": seed})
    return Study(tuple(plan["cells"][0]), tuple(plan["metrics"]), tuple(rows))


def check_table_name(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a table, which determines its format, or raise."""
    name = Path(path).name.lower()
    for suffix in reversed(_SUFFIXES):
        if name.endswith(suffix):
            return suffix
    msg = f"the name of a table must end in {', '.join(_SUFFIXES)}; got {str(path)!r}."
    raise InputError(msg)


def _read_table(path: str | os.PathLike[str], max_expansion: float) -> tuple[list[str], list[Row]]:
    suffix = check_table_name(path)
    options = ReadOptions(max_expansion=max_expansion)
    check_regular(path)
    try:
        with GraphFile(Path(path), options, "Study.load") as file:
            if suffix == ".parquet":
                table = read_parquet(file)
                columns, rows = table.column_names, table.to_pylist()
            else:
                columns, rows = _from_csv(file.stream.read())
        missing = [name for name in RESERVED if name not in columns]
        if missing:
            msg = f"it has no column {missing[0]!r}"
            raise ValueError(msg)
    except FileFormatError:
        raise
    except (OSError, EOFError, zlib.error, ValueError, NotImplementedError, csv.Error) as error:
        msg = (
            f"{path} does not hold a study: {error}.\n"
            f"  {function('Study.save()')} writes such files."
        )
        raise FileFormatError(msg) from error
    return columns, rows


def _from_csv(content: bytes) -> tuple[list[str], list[Row]]:
    reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
    columns = next(reader, [])
    return columns, [
        dict(zip(columns, map(_value, columns, cells), strict=True)) for cells in reader
    ]


def _value(column: str, text: str) -> Any:
    if column == "method":
        return text
    if text in _WORDS:
        return _WORDS[text]
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


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
        # Opaque, so that the threshold does not cross the text.
        "framealpha": 1.0,
        "edgecolor": "none",
        "fontsize": SMALL_SIZE,
        "title_fontsize": SMALL_SIZE,
        "labelcolor": INK,
    }
    if drawing.is_mixed:
        legend["title"] = "solid, filled: k given\ndashed, open: k chosen by the method"
    if drawing.is_mixed and ax is None:
        handles, labels = axes[0].get_legend_handles_labels()
        axes[0].figure.legend(handles, labels, loc="outside right upper", **legend)
    else:
        axes[0].legend(**legend)
    return axes[0]


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
