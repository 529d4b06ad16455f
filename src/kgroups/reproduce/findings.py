"""What an experiment found: a table, the verdicts on its claims, and files of both."""

import csv
import io
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kgroups._partition_io import write_atomically
from kgroups.studies import Study

__all__ = ["LEGEND", "Claim", "Finding", "Measured", "counted", "measured"]


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
    """Return a number with its word, one or many."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def measured(values: Any) -> Measured:
    """Return the mean of several values and its standard error."""
    values = np.asarray(values, dtype=float)
    spread = float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else math.nan
    return Measured(float(values.mean()), spread)


class Claim(NamedTuple):
    """A sentence that must hold, whether it does, and what was seen."""

    sentence: str
    holds: bool
    seen: str

    def __str__(self) -> str:
        return f"{'yes' if self.holds else 'NO'}: {self.sentence} ({self.seen})"


@dataclass(frozen=True, eq=False)
class Finding:
    """The outcome of one experiment.

    Attributes
    ----------
    name, title : str
        The name of the experiment and what it is.
    settings : str
        How it was run.
    columns : tuple of str
        Names of the columns; the last one is the verdict on a line.
    lines : tuple of tuples
        Numbers, means with their standard errors, and text.
    claims : tuple of Claim
        What must hold for the whole.
    study : Study or None
        All trials, where there are trials.
    figures : mapping
        From the name of a picture to what draws it on a new matplotlib figure.
    """

    name: str
    title: str
    settings: str
    columns: tuple[str, ...]
    lines: tuple[tuple[Any, ...], ...]
    claims: tuple[Claim, ...]
    study: Study | None = None
    figures: Mapping[str, Callable[[], Any]] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether every claim holds."""
        return all(claim.holds for claim in self.claims)

    def cells(self) -> list[list[str]]:
        """Return the lines as text."""
        return [[_text(value) for value in line] for line in self.lines]

    def to_markdown(self, *, pictures: bool = True) -> str:
        """Return the finding as a section of a Markdown report, with or without its figures."""
        rows = [
            f"| {' | '.join(self.columns)} |",
            f"|{'---|' * len(self.columns)}",
            *(f"| {' | '.join(cells)} |" for cells in self.cells()),
        ]
        claims = [f"- {claim}" for claim in self.claims]
        drawn = [f"![{name}]({name}.png)" for name in self.figures] if pictures else []
        parts = [f"## {self.name}: {self.title}", self.settings, "\n".join(rows)]
        parts += ["\n".join(claims)] if claims else []
        return "\n\n".join([*parts, *drawn]) + "\n"

    def save(self, folder: str | os.PathLike[str], *, pictures: bool = True) -> list[Path]:
        """Write the table, all trials and the figures into a folder; return what was written.

        The figures need matplotlib and are left out without ``pictures``.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / f"{self.name}.csv"]
        write_atomically(written[0], _csv(self.columns, self.lines))
        if self.study is not None:
            written.append(folder / f"{self.name}-trials.csv")
            self.study.save(written[-1])
        for name, draw in self.figures.items() if pictures else ():
            content = io.BytesIO()
            draw().savefig(content, format="png", dpi=150)
            written.append(folder / f"{name}.png")
            write_atomically(written[-1], content.getvalue())
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
