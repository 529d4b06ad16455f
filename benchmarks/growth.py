"""``python -m benchmarks.growth``: how work, time and memory grow from 1e5 to 1e7 edges.

LFR-like graphs (binomial internal degrees, mixing 0.4) and planted partitions (200 groups at
signal-to-noise ratio 2, 20 groups at 3, and 20 faint ones at 1.5), all of mean degree 20. *visits*
are the entries of the matrix that the kernels read, all together, and the exponent is the slope of
their logarithm over that of m. *CPU s* are seconds of the processor, of all threads together, which
depend less on what else runs than *seconds* do; *bytes / edge* is the peak of memory above the
input. Beside each peer stand its time, the time of kgroups as a multiple of it, and the same three
figures.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import table
from benchmarks.measure import Contest, Outcome
from benchmarks.peers import CONVERGED, PEERS, REFERENCE
from benchmarks.suites import Row, drawn, own_lfr_row, sbm_row
from benchmarks.table import Column

OURS = "kgroups"
BESIDE = (REFERENCE, CONVERGED)
EDGES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
_DEGREE = 20
FAMILIES: dict[str, Callable[[int], Row]] = {
    "binomial": lambda n: own_lfr_row(n, _DEGREE, 0.4),
    "sbm": lambda n: sbm_row(n, 200, _DEGREE, 2.0),
    "sbm-k20": lambda n: sbm_row(n, 20, _DEGREE, 3.0),
    "sbm-faint": lambda n: sbm_row(n, 20, _DEGREE, 1.5),
}
# Families with a target; faint communities take much longer.
JUDGED = ("binomial", "sbm", "sbm-k20")


@dataclass(frozen=True)
class Beside:
    """A peer at one size: its time, the ratio of our time to it, the worst NMI, what it took."""

    peer: str
    seconds: float | None
    ratio: float | None
    nmi: float | None
    cpu_seconds: float | None = None
    bytes_per_edge: float | None = None


@dataclass(frozen=True)
class Size:
    """What kgroups needed at one size, and its peers; None where a method did not end."""

    name: str
    m: int
    visits: float | None
    seconds: float | None
    bytes_per_edge: float | None
    nmi: float | None
    beside: tuple[Beside, ...]
    trouble: str
    cpu_seconds: float | None = None

    @property
    def ratio(self) -> float | None:
        """Time ratio to the reference."""
        return next((peer.ratio for peer in self.beside if peer.peer == REFERENCE), None)


@dataclass(frozen=True)
class Growth:
    """The three figures that are judged; None where a size is missing."""

    visits_exponent: float | None
    ratio_rise: float | None
    bytes_per_edge: float | None


def sizes(
    family: str,
    *,
    peers: Sequence[str],
    largest: float,
    graphs: int,
    seed: int,
    max_seconds: float,
) -> Iterator[Size]:
    """Measure one family, size by size."""
    with Contest([OURS, *peers], max_seconds=max_seconds) as contest:
        for m in EDGES:
            if m > largest:
                return
            row = FAMILIES[family](2 * m // _DEGREE)
            outcomes = contest.measure(drawn([row], seed, graphs), repeat=1, seed=seed)
            yield _size(row.name, *outcomes)


def _size(name: str, ours: Outcome, *peers: Outcome) -> Size:
    runs = ours.runs
    visits = [run.visits for run in runs if run.visits is not None]
    known = [run for outcome in (ours, *peers) for run in outcome.runs]
    return Size(
        name=name,
        m=statistics.median_low([run.m for run in known]) if known else 0,
        visits=statistics.median(visits) if visits else None,
        seconds=ours.median_seconds,
        bytes_per_edge=ours.bytes_per_edge,
        nmi=min(ours.values("nmi"), default=None),
        beside=tuple(
            Beside(
                peer.peer,
                peer.median_seconds,
                ours.time_ratio(peer),
                min(peer.values("nmi"), default=None),
                peer.median_cpu_seconds,
                peer.bytes_per_edge,
            )
            for peer in peers
        ),
        trouble="; ".join(
            f"{outcome.peer}: {outcome.trouble}" for outcome in (ours, *peers) if outcome.trouble
        ),
        cpu_seconds=ours.median_cpu_seconds,
    )


def growth_of(measured: list[Size]) -> Growth:
    """Return the fitted exponent, the largest rise of the time ratio and the largest memory."""
    visits = [size.visits for size in measured]
    ratios = [size.ratio for size in measured]
    memory = [size.bytes_per_edge for size in measured]
    exponent = rise = per_edge = None
    if len(measured) > 1 and None not in visits:
        edges = [size.m for size in measured]
        exponent = float(np.polyfit(np.log(edges), np.log(np.array(visits, float)), 1)[0])
    if len(measured) > 1 and None not in ratios:
        rise = max(ratios[1:]) / ratios[0]
    if measured and None not in memory:
        per_edge = max(memory)
    return Growth(exponent, rise, per_edge)


def columns(peers: Sequence[str]) -> list[Column]:
    """Return the columns: ours, then five for each peer."""
    ours = [
        Column("graph", 27),
        Column("m", 9),
        Column("visits / m", 11),
        Column("bytes / edge", 13),
        Column("CPU s", 9),
        Column("seconds", 9),
        Column("NMI", 8),
    ]
    for peer in peers:
        ours += [
            Column(peer, max(len(peer), 9)),
            Column("ratio", 7),
            Column("CPU s", 9),
            Column("bytes / edge", 13),
            Column("NMI", 8),
        ]
    return [*ours, Column("note", 6)]


def cells(size: Size) -> list[str]:
    """Return the line of one size."""
    line = [
        size.name,
        str(size.m),
        table.number(None if size.visits is None else size.visits / size.m, 1),
        table.number(size.bytes_per_edge, 0),
        table.number(size.cpu_seconds, 3),
        table.number(size.seconds, 3),
        table.number(size.nmi, 5),
    ]
    for peer in size.beside:
        line += [
            table.number(peer.seconds, 3),
            table.number(peer.ratio, 2),
            table.number(peer.cpu_seconds, 3),
            table.number(peer.bytes_per_edge, 0),
            table.number(peer.nmi, 5),
        ]
    return [*line, size.trouble]


def print_sizes(measured: Iterator[Size], peers: Sequence[str]) -> list[Size]:
    """Print a line per size as it comes, and return all sizes."""
    shown = columns(peers)
    table.print_line(table.header(shown), shown)
    kept = []
    for size in measured:
        kept.append(size)
        table.print_line(cells(size), shown)
    return kept


def main() -> None:
    """Print the sizes of each family and how they grow."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--families", nargs="+", choices=tuple(FAMILIES), default=tuple(FAMILIES))
    parser.add_argument("--peers", nargs="+", choices=tuple(PEERS), default=BESIDE)
    parser.add_argument("--largest", type=float, default=1e7, help="edges of the largest graph")
    parser.add_argument("--graphs-per-size", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the first graph of each size")
    parser.add_argument("--max-seconds", type=float, default=600, help="patience with one run")
    options = parser.parse_args()
    print(table.setting())
    _, *peers = table.installed([OURS, *options.peers])
    print()
    for family in options.families:
        measured = print_sizes(
            sizes(
                family,
                peers=peers,
                largest=options.largest,
                graphs=options.graphs_per_size,
                seed=options.seed,
                max_seconds=options.max_seconds,
            ),
            peers,
        )
        if not measured:
            sys.exit(f"--largest must be at least {EDGES[0]}")
        growth = growth_of(measured)
        print(
            f"{family}: visits grow as m^{table.number(growth.visits_exponent, 3)}, the ratio to "
            f"{REFERENCE} rises by {table.number(growth.ratio_rise, 2)}, at most "
            f"{table.number(growth.bytes_per_edge, 0)} bytes per edge above the input\n",
            flush=True,
        )


if __name__ == "__main__":
    main()
