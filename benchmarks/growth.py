"""``python -m benchmarks.growth``: how work, time and memory grow from 1e5 to 1e7 edges.

LFR-like graphs (binomial internal degrees, mixing 0.4) and planted partitions (200 groups,
signal-to-noise ratio 2), both of mean degree 20. *visits* are the entries of the matrix that the
kernels read, all together, and the exponent is the slope of their logarithm over that of m.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.measure import Contest, Outcome
from benchmarks.peers import REFERENCE
from benchmarks.suites import Row, drawn, own_lfr_row, sbm_row

EDGES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
_DEGREE = 20
FAMILIES: dict[str, Callable[[int], Row]] = {
    "binomial": lambda n: own_lfr_row(n, _DEGREE, 0.4),
    "sbm": lambda n: sbm_row(n, 200, _DEGREE, 2.0),
}


@dataclass(frozen=True)
class Size:
    """What kgroups needed at one size; None where it, or the reference, did not end."""

    name: str
    m: int
    visits: float | None
    seconds: float | None
    reference_seconds: float | None
    ratio: float | None
    bytes_per_edge: float | None
    nmi: float | None
    trouble: str


@dataclass(frozen=True)
class Growth:
    """The three figures that are judged; None where a size is missing."""

    visits_exponent: float | None
    ratio_rise: float | None
    bytes_per_edge: float | None


def sizes(
    family: str, *, largest: float, graphs: int, seed: int, max_seconds: float
) -> Iterator[Size]:
    """Measure one family, size by size."""
    with Contest(["kgroups", REFERENCE], max_seconds=max_seconds) as contest:
        for m in EDGES:
            if m > largest:
                return
            row = FAMILIES[family](2 * m // _DEGREE)
            outcomes = contest.measure(drawn([row], seed, graphs), repeat=1, seed=seed)
            yield _size(row.name, *outcomes)


def _size(name: str, ours: Outcome, reference: Outcome) -> Size:
    runs = ours.runs
    visits = [run.visits for run in runs if run.visits is not None]
    per_edge = [run.peak_bytes / run.m for run in runs if run.peak_bytes is not None]
    known = runs or reference.runs
    return Size(
        name=name,
        m=statistics.median_low([run.m for run in known]) if known else 0,
        visits=statistics.median(visits) if visits else None,
        seconds=ours.median_seconds,
        reference_seconds=reference.median_seconds,
        ratio=ours.time_ratio(reference),
        bytes_per_edge=max(per_edge, default=None),
        nmi=min(ours.values("nmi"), default=None),
        trouble="; ".join(
            f"{outcome.peer}: {outcome.trouble}" for outcome in (ours, reference) if outcome.trouble
        ),
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


def _cell(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def print_sizes(measured: Iterator[Size]) -> list[Size]:
    """Print a line per size as it comes, and return all sizes."""
    print(
        f"{'graph':<28}{'m':>10}{'visits / m':>12}{'seconds':>10}{REFERENCE:>15}{'ratio':>8}"
        f"{'bytes / edge':>14}{'NMI':>8}"
    )
    kept = []
    for size in measured:
        kept.append(size)
        per_edge = None if size.visits is None else size.visits / size.m
        print(
            f"{size.name:<28}{size.m:>10}{_cell(per_edge, 1):>12}{_cell(size.seconds, 3):>10}"
            f"{_cell(size.reference_seconds, 3):>15}{_cell(size.ratio, 2):>8}"
            f"{_cell(size.bytes_per_edge, 0):>14}{_cell(size.nmi, 4):>8}  {size.trouble}".rstrip(),
            flush=True,
        )
    return kept


def main() -> None:
    """Print the sizes of each family and how they grow."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--families", nargs="+", choices=tuple(FAMILIES), default=tuple(FAMILIES))
    parser.add_argument("--largest", type=float, default=1e7, help="edges of the largest graph")
    parser.add_argument("--graphs-per-size", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the first graph of each size")
    parser.add_argument("--max-seconds", type=float, default=600, help="patience with one run")
    options = parser.parse_args()
    for family in options.families:
        measured = print_sizes(
            sizes(
                family,
                largest=options.largest,
                graphs=options.graphs_per_size,
                seed=options.seed,
                max_seconds=options.max_seconds,
            )
        )
        if not measured:
            sys.exit(f"--largest must be at least {EDGES[0]}")
        growth = growth_of(measured)
        print(
            f"{family}: visits grow as m^{_cell(growth.visits_exponent, 3)}, the ratio rises by "
            f"{_cell(growth.ratio_rise, 2)}, at most {_cell(growth.bytes_per_edge, 0)} bytes per "
            "edge above the input\n",
            flush=True,
        )


if __name__ == "__main__":
    main()
