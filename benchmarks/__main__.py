"""``python -m benchmarks``: time and quality of kgroups and of every installed peer."""

import argparse
import csv
import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks import graphs
from benchmarks.measure import Outcome, measure
from benchmarks.peers import PEERS, REFERENCE

COLUMNS = ("graph", "n", "m", "true k", "method", "k", "NMI", "AMI", "modularity", "seconds")
RATIO = f"time / {REFERENCE}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--graphs", nargs="+", choices=graphs.NAMES, default=graphs.DEFAULT)
    parser.add_argument("--peers", nargs="+", choices=tuple(PEERS), default=tuple(PEERS))
    parser.add_argument("--repeat", type=int, default=3, help="counted runs of each method")
    parser.add_argument("--seed", type=int, default=0, help="of the drawn graphs and first run")
    parser.add_argument("--max-seconds", type=float, default=60, help="patience with one run")
    parser.add_argument("--csv", type=Path, help="write the table to this file, too")
    return parser.parse_args()


def _mean(values: Sequence[float], digits: int) -> str:
    return f"{statistics.fmean(values):.{digits}f}" if values else "-"


def _rows(outcomes: Iterable[Outcome]) -> list[list[str]]:
    outcomes = list(outcomes)
    reference = next((o.median_seconds for o in outcomes if o.peer == REFERENCE), None)
    rows = []
    for outcome in outcomes:
        graph, median = outcome.graph, outcome.median_seconds
        rows.append(
            [
                graph.name,
                str(graph.n),
                str(graph.m),
                "-" if graph.true_k is None else str(graph.true_k),
                outcome.peer,
                str(statistics.median_low(outcome.ks)) if outcome.ks else "-",
                _mean(outcome.nmis, 3),
                _mean(outcome.amis, 3),
                _mean(outcome.modularities, 3),
                outcome.trouble if median is None else f"{median:.4f}",
                "-" if median is None or reference is None else f"{median / reference:.2f}",
            ]
        )
    return rows


def _print_table(rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells))
    print(flush=True)


def main() -> None:
    """Print a table per graph."""
    options = _arguments()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; ", end="")
    print(f"medians of {options.repeat} interleaved runs, one more before them not counted")
    peers = []
    for name in options.peers:
        installed = PEERS[name].installed_version
        print(f"  {name}: {installed or 'not installed, left out'}")
        if installed:
            peers.append(name)
    header = [*COLUMNS, RATIO]
    everything = [header]
    for name in options.graphs:
        absent = graphs.why_absent(name)
        if absent:
            print(f"\n{name} left out: {absent}")
            continue
        outcomes = measure(
            graphs.make(name, seed=options.seed),
            peers,
            repeat=options.repeat,
            seed=options.seed,
            max_seconds=options.max_seconds,
        )
        rows = _rows(outcomes)
        everything += rows
        print()
        _print_table([header, *rows])
    if options.csv:
        with options.csv.open("w", newline="") as file:
            csv.writer(file).writerows(everything)
    if len(everything) == 1:
        sys.exit("no graph could be had")


if __name__ == "__main__":
    main()
