"""The table: a line per graph and method, printed as soon as it is measured."""

import os
import platform
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.measure import Outcome
from benchmarks.peers import PEERS, REFERENCE
from benchmarks.suites import Row

_THREAD_SETTINGS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


def setting() -> str:
    """Describe the interpreter, the cores and the threads that libraries may start."""
    threads = (f"{name}={os.environ[name]}" for name in _THREAD_SETTINGS if name in os.environ)
    return ", ".join([f"Python {platform.python_version()}", f"{os.cpu_count()} cores", *threads])


def installed(peers: Iterable[str]) -> list[str]:
    """Print the version of each peer; return those that are installed."""
    versions = {name: PEERS[name].installed_version for name in peers}
    for name, version in versions.items():
        print(f"  {name}: {version or 'not installed, left out'}")
    return [name for name, version in versions.items() if version]


def present(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows whose graph can be had, and say why the others are left out."""
    for row in rows:
        if row.why_absent:
            print(f"{row.name} left out: {row.why_absent}")
        else:
            yield row


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
    Column("method", 23),
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


def header(columns: Sequence[Column] = COLUMNS) -> list[str]:
    """Return the headings."""
    return [column.heading for column in columns]


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
        middle([run.n for run in runs]),
        middle([run.m for run in runs]),
        middle(true_ks),
        outcome.peer,
        middle([run.scores.k for run in runs]),
        mean(outcome.values("k_error"), 1),
        mean(outcome.values("nmi"), 4),
        mean(outcome.values("ami"), 4),
        mean(outcome.values("overlap"), 4),
        mean(outcome.values("modularity"), 4),
        mean(outcome.values("whole"), 2),
        number(outcome.median_seconds, 4),
        number(ratio, 2),
        number(None if peak is None else peak / 1e6, 1),
        "; ".join(sorted(notes)),
    ]


def middle(values: Sequence[int]) -> str:
    """Write the lower median, or a dash."""
    return str(statistics.median_low(values)) if values else "-"


def mean(values: Sequence[float], digits: int) -> str:
    """Write the mean, or a dash."""
    return number(statistics.fmean(values) if values else None, digits)


def number(value: float | None, digits: int) -> str:
    """Write a number, or a dash."""
    return "-" if value is None else f"{value:.{digits}f}"


def print_line(line: Sequence[str], columns: Sequence[Column] = COLUMNS) -> None:
    """Print a line; the graph, the method and the note start left."""
    left = ("graph", "method", "note")
    parts = (
        cell.ljust(column.width) if column.heading in left else cell.rjust(column.width)
        for column, cell in zip(columns, line, strict=True)
    )
    print(" ".join(parts).rstrip(), flush=True)
