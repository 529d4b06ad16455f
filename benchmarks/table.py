"""The table: a line per graph and method, printed as soon as it is measured."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.measure import Outcome
from benchmarks.peers import REFERENCE


@dataclass(frozen=True)
class Column:
    """A heading and the width of what stands below it."""

    heading: str
    width: int


COLUMNS = (
    Column("graph", 28),
    Column("n", 8),
    Column("m", 9),
    Column("true k", 7),
    Column("method", 17),
    Column("k", 7),
    Column("k error %", 10),
    Column("NMI", 7),
    Column("AMI", 7),
    Column("overlap", 8),
    Column("modularity", 11),
    Column("whole", 6),
    Column("seconds", 9),
    Column(f"/ {REFERENCE}", 16),
    Column("peak MB", 8),
    Column("note", 6),
)


def header() -> list[str]:
    """Return the headings."""
    return [column.heading for column in COLUMNS]


def cells(name: str, outcomes: Sequence[Outcome]) -> list[list[str]]:
    """Return a line for each method on the graphs of one name."""
    reference = next((outcome for outcome in outcomes if outcome.peer == REFERENCE), None)
    return [_line(name, outcome, reference) for outcome in outcomes]


def _line(name: str, outcome: Outcome, reference: Outcome | None) -> list[str]:
    runs = outcome.runs
    true_ks = [run.true_k for run in runs if run.true_k is not None]
    peak = outcome.peak_bytes
    ratio = None if reference is None else outcome.time_ratio(reference)
    notes = {run.note for run in runs if run.note} | ({outcome.trouble} - {""})
    return [
        name,
        _middle([run.n for run in runs]),
        _middle([run.m for run in runs]),
        _middle(true_ks),
        outcome.peer,
        _middle([run.scores.k for run in runs]),
        _mean(outcome.values("k_error"), 1),
        _mean(outcome.values("nmi"), 4),
        _mean(outcome.values("ami"), 4),
        _mean(outcome.values("overlap"), 4),
        _mean(outcome.values("modularity"), 4),
        _mean(outcome.values("whole"), 2),
        _number(outcome.median_seconds, 4),
        _number(ratio, 2),
        _number(None if peak is None else peak / 1e6, 1),
        "; ".join(sorted(notes)),
    ]


def _middle(values: Sequence[int]) -> str:
    return str(statistics.median_low(values)) if values else "-"


def _mean(values: Sequence[float], digits: int) -> str:
    return _number(statistics.fmean(values) if values else None, digits)


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def print_line(line: Sequence[str]) -> None:
    """Print a line; the graph, the method and the note start left."""
    left = ("graph", "method", "note")
    parts = (
        cell.ljust(column.width) if column.heading in left else cell.rjust(column.width)
        for column, cell in zip(COLUMNS, line, strict=True)
    )
    print(" ".join(parts).rstrip(), flush=True)
