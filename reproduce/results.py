"""Results of an experiment: a table, the verdicts on its claims, files and figures."""

import csv
import io
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kgroups._output import write_atomically
from kgroups._progress import Progress, counted_progress
from kgroups._types import Floats
from kgroups.plotting import community_colors
from kgroups.plotting.style import INK
from kgroups.studies import Study, plot_study
from reproduce.published import Known, Values

LEGEND = (
    "Columns: kgroups like the paper and by default; Bethe Hessian alone with raw and with "
    "normalized rows; spectral clustering of A; the paper's own values beside them."
)


class Measured(NamedTuple):
    """A mean and its standard error; a single value has none."""

    mean: float
    se: float

    def __str__(self) -> str:
        return f"{self.mean:.3f}" + ("" if math.isnan(self.se) else f" ± {self.se:.3f}")


def counted(number: int, what: str) -> str:
    """Return a number and its noun, in the singular or the plural."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def measured(values: Any) -> Measured:
    """Return the mean of several values and its standard error."""
    values = np.asarray(values, dtype=float)
    spread = float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else math.nan
    return Measured(float(values.mean()), spread)


class Claim(NamedTuple):
    """A claim, whether it holds, and the numbers that show it."""

    sentence: str
    holds: bool
    seen: str

    def __str__(self) -> str:
        return f"{'yes' if self.holds else 'NO'}: {self.sentence} ({self.seen})"


@dataclass(frozen=True, eq=False)
class Finding:
    """The results of one experiment.

    Attributes
    ----------
    name, title : str
        Name and description of the experiment.
    settings : str
        How it was run.
    columns : tuple of str
        Names of the columns; the last one is the verdict on a line.
    lines : tuple of tuples
        Numbers, means with their standard errors, and text.
    claims : tuple of Claim
        Claims about the experiment as a whole.
    study : Study or None
        All trials, if there are any.
    figures : mapping
        From the name of a figure to a function that draws it on a new matplotlib figure.
    parts : tuple of Finding
        Further tables of the same experiment, with claims of their own.
    """

    name: str
    title: str
    settings: str
    columns: tuple[str, ...]
    lines: tuple[tuple[Any, ...], ...]
    claims: tuple[Claim, ...]
    study: Study | None = None
    figures: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    parts: "tuple[Finding, ...]" = ()

    @property
    def holds(self) -> bool:
        """Whether every claim holds."""
        return all(claim.holds for claim in self.claims) and all(part.holds for part in self.parts)

    def cells(self) -> list[list[str]]:
        """Return the lines as text."""
        return [[_text(value) for value in line] for line in self.lines]

    def to_markdown(self, *, figures: bool = True) -> str:
        """Return the finding as a section of a Markdown report, with or without its figures."""
        rows = [
            f"| {' | '.join(self.columns)} |",
            f"|{'---|' * len(self.columns)}",
            *(f"| {' | '.join(cells)} |" for cells in self.cells()),
        ]
        claims = [f"- {claim}" for claim in self.claims]
        drawn = [f"![{name}]({name}.png)" for name in self.figures] if figures else []
        parts = [f"## {self.name}: {self.title}", self.settings, "\n".join(rows)]
        parts += ["\n".join(claims)] if claims else []
        sections = [part.to_markdown(figures=figures) for part in self.parts]
        return "\n".join(["\n\n".join([*parts, *drawn]) + "\n", *sections])

    def save(self, folder: str | os.PathLike[str], *, figures: bool = True) -> list[Path]:
        """Write the table, all trials and the figures to a folder; return the paths.

        The figures need matplotlib.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / f"{self.name}.csv"]
        write_atomically(written[0], _csv(self.columns, self.lines))
        if self.study is not None:
            written.append(folder / f"{self.name}-trials.csv")
            self.study.save(written[-1])
        for name, draw in self.figures.items() if figures else ():
            content = io.BytesIO()
            draw().savefig(content, format="png", dpi=150)
            written.append(folder / f"{name}.png")
            write_atomically(written[-1], content.getvalue())
        for part in self.parts:
            written += part.save(folder, figures=figures)
        return written


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _csv(columns: Sequence[str], lines: Sequence[Sequence[Any]]) -> bytes:
    """Return a table in which a measured value has a column for its standard error beside it."""
    wide = [
        any(isinstance(line[place], Measured) for line in lines) for place in range(len(columns))
    ]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [
            name
            for column, pair in zip(columns, wide, strict=True)
            for name in ([column, f"{column} s.e."] if pair else [column])
        ]
    )
    for line in lines:
        cells: list[Any] = []
        for value, pair in zip(line, wide, strict=True):
            if not pair:
                cells.append(value)
            elif isinstance(value, Measured):
                cells += [value.mean, "" if math.isnan(value.se) else value.se]
            else:
                cells += [value, ""]
        writer.writerow(cells)
    return text.getvalue().encode()


_AGREES = "reproduced"
# The verdict on this method comes first and without its name.
_MAIN = "k-groups"
_UNKNOWN = "no value to compare with"
# Probability that a normal variable is more than two standard deviations from its mean.
_BEYOND_TWO_SIGMA = 0.0455
# A claim fails if this many disagreements would arise by chance with a smaller probability.
_SIGNIFICANCE = 0.01


def verdict(found: Floats, known: Known) -> str:
    """Compare accuracies with a known mean.

    They agree if their mean differs by at most two standard errors of the difference from the
    printed value or from that of the check. Where the standard deviation of single runs there is
    not known, it is taken to be ours.
    """
    if found.size < 2:
        return "one run has no standard error"
    sd = float(found.std(ddof=1))
    apart = []
    for value, runs in (
        (known.printed, known.printed_runs or known.runs),
        (known.checked, known.runs),
    ):
        if value is not None:
            difference = float(found.mean()) - value
            theirs = sd if known.sd is None else known.sd
            allowed = 2.0 * math.hypot(sd / math.sqrt(found.size), theirs / math.sqrt(runs))
            # Known values have three digits.
            if abs(difference) <= allowed + 0.0005:
                return _AGREES
            apart.append(difference)
    return "above" if min(apart, key=abs) > 0.0 else "below"


@dataclass(frozen=True)
class Comparison:
    """A study compared with known values.

    Attributes
    ----------
    study : Study
        With the metric ``accuracy``.
    values : mapping
        Known values by the parameters of a cell and the name of a method.
    """

    study: Study
    values: Values

    @property
    def cells(self) -> list[tuple[Any, ...]]:
        """The values of each cell."""
        parameters = self.study.parameters
        return list(dict.fromkeys(tuple(row[p] for p in parameters) for row in self.study.rows))

    @property
    def columns(self) -> tuple[str, ...]:
        """The parameters, each method after the paper's values in brackets, and the verdict."""
        names = list(self.study.parameters)
        for method in self.study.methods:
            names += [f"[{method}]", method] if self._is_printed(method) else [method]
        return (*names, "verdict")

    def lines(self) -> tuple[tuple[Any, ...], ...]:
        """Return a line per cell."""
        lines = []
        for cell in self.cells:
            known = self.values.get(cell, {})
            entries: list[Any] = []
            for method in self.study.methods:
                mean = measured(self._found(cell, method))
                if self._is_printed(method):
                    entries.append(known[method].printed if method in known else None)
                entries.append(None if math.isnan(mean.mean) else mean)
            lines.append((*cell, *entries, self._line_verdict(cell)))
        return tuple(lines)

    def claim(self, sentence: str, *, methods: Callable[[str], bool]) -> Claim:
        """Claim that means of some methods agree with known ones up to chance."""
        judged = {
            (cell, method): word
            for cell in self.cells
            for method, word in self._words(cell).items()
            if methods(method)
        }
        beyond = [key for key, word in judged.items() if word != _AGREES]
        names = "; ".join(
            f"{method} {judged[cell, method]} at {', '.join(map(str, cell))}"
            for cell, method in beyond
        )
        seen = f"{len(judged) - len(beyond)} of {len(judged)}" + (f"; {names}" if names else "")
        return Claim(sentence, _by_chance(len(beyond), len(judged)) > _SIGNIFICANCE, seen)

    def _is_printed(self, method: str) -> bool:
        return any(
            method in known and known[method].printed is not None for known in self.values.values()
        )

    def _found(self, cell: tuple[Any, ...], method: str) -> Floats:
        where = dict(zip(self.study.parameters, cell, strict=True))
        return self.study.values("accuracy", method=method, **where)

    def _words(self, cell: tuple[Any, ...]) -> dict[str, str]:
        return {
            method: verdict(self._found(cell, method), known)
            for method, known in self.values.get(cell, {}).items()
        }

    def _line_verdict(self, cell: tuple[Any, ...]) -> str:
        words = self._words(cell)
        if not words:
            return _UNKNOWN
        others = [
            f"{method} {word}"
            for method, word in words.items()
            if method != _MAIN and word != _AGREES
        ]
        first = [words[_MAIN]] if _MAIN in words else []
        return "; ".join([*first, *others] or [_AGREES])


def _by_chance(beyond: int, total: int) -> float:
    """Return the probability that as many comparisons or more lie beyond two standard errors."""
    from scipy.special import bdtrc

    return 1.0 if beyond == 0 else float(bdtrc(beyond - 1, total, _BEYOND_TWO_SIGMA))


def curves(
    comparison: Comparison,
    methods: Sequence[str],
    *,
    x: str,
    bayes: Mapping[tuple[Any, ...], float] | None = None,
) -> Any:
    """Return a figure of mean accuracies with crosses for the paper's.

    Parameters
    ----------
    comparison : Comparison
        The study and the paper's values.
    methods : sequence of str
        The methods to draw.
    x : str
        Parameter of the horizontal axis; the other one, if any, has a panel for each value.
    bayes : mapping, optional
        From the parameters of a panel to its Bayes accuracy.
    """
    study, values = comparison.study, comparison.values
    rows = tuple(row for row in study.rows if row["method"] in methods)
    at = study.parameters.index(x)
    panels = list(dict.fromkeys((*cell[:at], *cell[at + 1 :]) for cell in comparison.cells))
    drawn = Study(study.parameters, study.metrics, rows)
    first = plot_study(drawn, metric="accuracy", x=x, panel=(5.2, 4.2), pyplot=False)
    figure = first.figure
    colors = community_colors(len(drawn.methods))
    for axes, panel in zip(figure.axes, panels, strict=True):
        for color, method in zip(colors, drawn.methods, strict=True):
            marks: list[Any] = [
                (cell[at], known[method].printed)
                for cell, known in values.items()
                if (*cell[:at], *cell[at + 1 :]) == panel and method in known
                if known[method].printed is not None
            ]
            if marks:
                axes.plot(*np.transpose(marks), "x", color=color, ms=8, mew=1.8)
        if bayes:
            axes.axhline(bayes[panel], color=INK, lw=1.0, ls="--")
    figure.axes[0].plot([], [], "x", color=INK, label="paper")
    figure.axes[0].legend(frameon=False, fontsize=8)
    return figure


Item = TypeVar("Item")


def with_progress(items: Sequence[Item], progress: Progress) -> Iterator[Item]:
    """Yield items and show how many are done."""
    with counted_progress(len(items), "trial", progress=progress) as show:
        for done, item in enumerate(items):
            show(done)
            yield item
        show(len(items))
