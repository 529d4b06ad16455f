"""The table of a study: a row per cell, trial and method; summary, files and figure."""

import csv
import gzip
import io
import math
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgroups._files import check_regular, write_atomically
from kgroups._html import html_beside, html_lines, html_table, html_text
from kgroups._wording import function, install_hint
from kgroups.adapters.edges import MAX_EXPANSION, ReadOptions
from kgroups.adapters.files import GraphFile
from kgroups.errors import FileFormatError, InputError, MissingExtraError
from kgroups.partition.files import import_pyarrow, read_parquet
from kgroups.studies.journal import Results
from kgroups.studies.plan import RESERVED, Task, trial_seed

_SUFFIXES = (".csv", ".csv.gz", ".parquet")
# Cells that a notebook lists.
_MOST_ROWS = 12
_WORDS = {"": None, "True": True, "False": False}

Row = Mapping[str, Any]


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
        _write_table(path, self.columns, self.rows)

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
        from kgroups.studies.figure import plot_study

        return plot_study(self, ax, metric=metric, x=x)

    def _cell(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self.parameters)


def study_html(study: Study) -> str:
    """Return the HTML of a study: a row per cell, a column per method, and the figure."""
    head = f"<b>{html_text(f'Study of {len(study.rows):,} rows')}</b>"
    if not study.rows:
        return head
    metric = study.default_metric
    cells: dict[tuple[Any, ...], dict[str, str]] = {}
    for line in study.summary():
        if line["metric"] == metric:
            wide = (line["high"] - line["low"]) / 2.0
            shown = f"{line['mean']:.3f}" + ("" if math.isnan(wide) else f" ± {wide:.3f}")
            cell = tuple(line[name] for name in study.parameters)
            cells.setdefault(cell, {})[line["method"]] = shown
    rows = [
        (*cell, *(of.get(method, "") for method in study.methods)) for cell, of in cells.items()
    ]
    table = html_table([*study.parameters, *study.methods], rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        table += html_lines([f"and {len(rows) - _MOST_ROWS} more cells"])
    about = html_lines([f"{metric}: mean and 95 % interval over the trials"])
    return head + about + html_beside(table, _picture(study))


def _picture(study: Study) -> str:
    """Return the figure of a study as an image, or nothing if it cannot be drawn."""
    from kgroups.plotting.style import has_matplotlib, inline_image
    from kgroups.studies.figure import plot_study

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


def _write_table(path: str | os.PathLike[str], columns: Sequence[str], rows: Sequence[Row]) -> None:
    suffix = check_table_name(path)
    if suffix == ".parquet":
        pyarrow, parquet = import_pyarrow()
        table = pyarrow.table({name: [row[name] for row in rows] for name in columns})
        sink = io.BytesIO()
        parquet.write_table(table, sink)
        write_atomically(path, sink.getvalue())
        return
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    content = text.getvalue().encode()
    write_atomically(path, gzip.compress(content, mtime=0) if suffix == ".csv.gz" else content)


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
