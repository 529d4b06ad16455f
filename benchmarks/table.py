"""Tables: a line per graph and method, printed as soon as it is measured, or Markdown."""

import argparse
import os
import platform
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Outcome
from benchmarks.peers import PEERS, REFERENCE
from benchmarks.suites import Row

_THREAD_SETTINGS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


def setting() -> str:
    """Describe the interpreter, the cores and the threads that libraries may start."""
    threads = (f"{name}={os.environ[name]}" for name in _THREAD_SETTINGS if name in os.environ)
    return ", ".join([f"Python {platform.python_version()}", f"{os.cpu_count()} cores", *threads])


def installed(peers: Iterable[str]) -> list[str]:
    """Print the settings and version of each peer; return those that are installed."""
    described = {name: description(name) for name in peers}
    for name, text in described.items():
        print(f"  {name}: {text or 'not installed, left out'}")
    return [name for name, text in described.items() if text]


def description(name: str) -> str | None:
    """Return the settings of a peer and the version of its package; None if not installed."""
    peer = PEERS[name]
    version = peer.installed_version
    return None if version is None else f"{peer.settings}; {peer.distribution} {version}"


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


CELLS = (
    "Each cell: number of communities, AMI with the true labels (on graphs without groups the "
    "share of graphs left whole), median time."
)
"""Caption of the tables of :func:`by_graph`."""

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
    return [_line(name, outcome, reference) for outcome in outcomes if outcome.took_part]


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


def duration(seconds: float | None) -> str:
    """Write a time in ms or s with two digits, or a dash."""
    if seconds is None:
        return "-"
    unit, value = ("ms", 1e3 * seconds) if seconds < 0.995 else ("s", seconds)
    # Two significant digits, but those before the point are never rounded away.
    digits = next((places for places in (0, 1) if value >= 9.95 / 10**places), 2)
    return f"{value:.{digits}f} {unit}"


def by_graph(
    measured: Sequence[tuple[str, Sequence[Outcome]]], methods: Sequence[str]
) -> list[list[str]]:
    """Return the headings, a line per graph with a cell per method, and a line of means.

    The last line says the mean AMI over all graphs with true labels and the median time ratio over
    all graphs; a method that has no figure on one of them has a dash.
    """
    lines = [["graph", "n", "m", "true k", *methods]]
    amis: dict[str, list[float | None]] = {method: [] for method in methods}
    ratios: dict[str, list[float | None]] = {method: [] for method in methods}
    for name, outcomes in measured:
        by_method = {outcome.peer: outcome for outcome in outcomes}
        reference = by_method.get(REFERENCE)
        runs = [run for outcome in outcomes for run in outcome.runs]
        has_truth = any(run.true_k is not None for run in runs)
        for method in methods:
            outcome = by_method[method]
            scores = outcome.values("ami")
            if has_truth:
                amis[method].append(statistics.fmean(scores) if scores else None)
            ratios[method].append(None if reference is None else outcome.time_ratio(reference))
        lines.append(
            [
                name,
                middle([run.n for run in runs]),
                middle([run.m for run in runs]),
                middle([run.true_k for run in runs if run.true_k is not None]),
                *(_cell(by_method[method]) for method in methods),
            ]
        )
    means = (
        f"{_over_all(statistics.fmean, amis[method], 3)}, "
        f"{_over_all(statistics.median, ratios[method], 2)}"
        for method in methods
    )
    return [*lines, [f"mean AMI, median time / {REFERENCE}", "", "", "", *means]]


def _cell(outcome: Outcome) -> str:
    if not outcome.took_part:
        return "-"
    if not outcome.runs:
        return outcome.trouble
    whole = outcome.values("whole")
    quality = f"{mean(whole, 2)} whole" if whole else mean(outcome.values("ami"), 3)
    cell = f"{middle([run.scores.k for run in outcome.runs])}, {quality}, "
    cell += duration(outcome.median_seconds)
    return f"{cell} ({outcome.trouble})" if outcome.trouble else cell


def _over_all(
    summary: Callable[[list[float]], float], values: list[float | None], digits: int
) -> str:
    known = [value for value in values if value is not None]
    return number(summary(known) if known and len(known) == len(values) else None, digits)


def add_markdown_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the file of a Markdown table."""
    parser.add_argument("--markdown", type=Path, help="write the table as Markdown to this file")


Lines = Sequence[Sequence[str]]
"""The headings of a table and its lines."""


def write_markdown(path: Path, blocks: Iterable[str], methods: Sequence[str]) -> None:
    """Write tables and paragraphs, and the settings of each method below them."""
    settings = "\n".join(f"- `{method}`: {description(method)}" for method in methods)
    text = "\n\n".join([*blocks, *([settings] if settings else [])])
    path.write_text(f"{text}\n", encoding="utf-8")


def markdown(lines: Lines) -> str:
    """Return a table in Markdown."""
    heading, *rest = map(_markdown_line, lines)
    return "\n".join([heading, "|" + "---|" * len(lines[0]), *rest])


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def print_line(line: Sequence[str], columns: Sequence[Column] = COLUMNS) -> None:
    """Print a line; names and notes start left."""
    left = ("graph", "family", "method", "note", "target", "what")
    parts = (
        cell.ljust(column.width) if column.heading in left else cell.rjust(column.width)
        for column, cell in zip(columns, line, strict=True)
    )
    print(" ".join(parts).rstrip(), flush=True)


def print_table(lines: Lines) -> None:
    """Print a table with columns as wide as their cells."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())
