"""``python -m benchmarks.certainty``: whether all that is said of the number of communities agrees.

Each graph has a line: how many communities the default finds, the most probable number, the
probability of the one found, the eigenvalue count, and what P(k) costs: CPU seconds, and those
seconds over the ones of detection. Where the most probable number is not the one found, the
sentence that explains it follows.

The parts are

- ``real``: real networks whose number of communities has been discussed, karate and les Misérables
  with and without weights;
- ``planted``: six graphs each of ten kinds, clear and faint, one scale and several, and random;
- ``large``: networks and graphs on which P(k) takes longest.

The figures below the lines stand beside their bars. The exit status is 1 if one is missed.
"""

import argparse
import statistics
import sys
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import kgroups as kg
from benchmarks import table
from benchmarks.graphs import (
    BenchmarkGraph,
    blobs,
    degree_corrected,
    erdos_renyi,
    hierarchy,
    lfr,
    nearest_neighbors,
    own_lfr,
    planted_partition,
)
from benchmarks.scales import FIGURES, Figure, Record, at_least, at_most, fastest
from benchmarks.suites import Row
from benchmarks.table import Column
from kgroups.errors import KGroupsWarning

REAL = (
    ("karate", True),
    ("karate", False),
    ("les_miserables", True),
    ("les_miserables", False),
    ("football", False),
    ("dolphins", False),
    ("polbooks", False),
    ("email-Eu-core", False),
)
PLANTED = (
    Row("SBM k=2 faint", partial(planted_partition, n=500, k=2, degree=6.0, snr=1.5)),
    Row("SBM k=3 fainter", partial(planted_partition, n=999, k=3, degree=5.0, snr=1.05)),
    Row("SBM k=4 faint", partial(planted_partition, n=1_000, k=4, degree=10.0, snr=1.3)),
    Row("SBM k=8", partial(planted_partition, n=1_000, k=8, degree=12.0, snr=2.0)),
    Row("SBM k=20", partial(planted_partition, n=2_000, k=20, degree=20.0, snr=2.5)),
    Row("LFR mu=.3", partial(lfr, n=1_000, degree=15, mixing=0.3)),
    Row("LFR mu=.6", partial(lfr, n=1_000, degree=20, mixing=0.6)),
    Row("DCSBM k=5", partial(degree_corrected, n=1_000, k=5, degree=12.0, snr=2.0)),
    Row("27/9/3 d=20", partial(hierarchy, degree=20.0)),
    Row("Erdos-Renyi", partial(erdos_renyi, n=500, degree=8)),
)
GRAPHS = 6
LARGE = (
    Row("points around 12 centers", partial(nearest_neighbors, n=1_500, degree=15, dimension=2)),
    Row("blobs", partial(blobs, spread=2.0)),
    Row("LFR 10k", partial(own_lfr, n=10_000, degree=20, mixing=0.4)),
    Row("SBM 50k k=20", partial(planted_partition, n=50_000, k=20, degree=15.0, snr=2.0)),
)
LARGE_REAL = ("cora", "citeseer")
PARTS = ("real", "planted", "large")

COLUMNS = (
    Column("graph", 28),
    Column("n", 6),
    Column("k", 5),
    Column("mode", 5),
    Column("P(k)", 6),
    Column("spectrum", 8),
    Column("numbers", 7),
    Column("s", 7),
    Column("times", 6),
)


def measured(graph: kg.Graph) -> Record:
    """Return what is said of the number of communities, and what that costs."""
    partition, seconds = fastest(lambda _: kg.detect_communities(graph))
    found, seconds_of_p = fastest(lambda _: kg.k_distribution(graph))
    k = len(partition)
    return {
        "n": graph.n,
        "k": k,
        "mode": found.k,
        "p": found.probability(k),
        "spectrum": kg.estimate_k(graph).k,
        "numbers": found.k_values.size,
        "limited": found.limited,
        "explanation": found.explanation,
        "seconds": seconds_of_p,
        "times": seconds_of_p / seconds,
        "agrees": found.k_found == k and (found.k == k) == (not found.explanation),
    }


def line(name: str, record: Record) -> list[str]:
    """Return the line of a graph."""
    return [
        name,
        *(str(record[what]) for what in ("n", "k", "mode")),
        f"{record['p']:.3f}",
        *(str(record[what]) for what in ("spectrum", "numbers")),
        f"{record['seconds']:.3f}",
        f"{record['times']:.1f}",
    ]


def figures(part: str, records: Sequence[Record]) -> Iterator[Figure]:
    """Yield the share of the graphs where all agrees or is explained, and the cost."""
    about = f"{part}, {len(records)} graphs"
    agree = statistics.fmean(record["agrees"] for record in records)
    yield Figure(f"{about}: agree, or the difference is explained", agree, at_least(1.0))
    same = statistics.fmean(record["mode"] == record["k"] for record in records)
    yield Figure("  the number found is the most probable", same)
    times = [record["times"] for record in records]
    yield Figure("  time of P(k) over that of detection, median", statistics.median(times))
    longest = max(records, key=lambda record: record["seconds"])
    bar = at_most(20.0) if part == "large" else None
    yield Figure("  where P(k) takes longest", longest["times"], bar)


def graphs_of(part: str, seed: int) -> Iterator[tuple[str, kg.Graph]]:
    """Yield the graphs of a part with their names; networks that are not here are left out."""
    if part == "planted":
        for row in PLANTED:
            for one in range(seed, seed + GRAPHS):
                yield row.name, _graph(row.graph(one))
        return
    names: Sequence[tuple[str, bool]] = REAL
    if part == "large":
        names = [(name, False) for name in LARGE_REAL]
        for row in LARGE:
            yield row.name, _graph(row.graph(seed))
    here = {entry.name for entry in kg.datasets.describe() if entry.present}
    for name, weighted in names:
        if name not in here:
            print(f"{name} left out: its files are not here")
            continue
        given: Any = kg.datasets.load(name).graph
        if not weighted:
            given = kg.Graph(given.indptr, given.indices, nodes=given.nodes)
        yield f"{name}{', weighted' if given.is_weighted else ''}", given


def _graph(drawn: BenchmarkGraph) -> kg.Graph:
    return kg.Graph.from_edges(drawn.source, drawn.target, n=drawn.n)


def main(arguments: Sequence[str] | None = None) -> bool:
    """Print the lines of all graphs, then the figures; return whether all bars are met."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.certainty",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seed", type=int, default=7000, help="of the first graph of each kind")
    options = parser.parse_args(arguments)
    print(f"{table.setting()}; seeds from {options.seed} on")
    kg.warm(progress=False)
    found: list[Figure] = []
    table.print_line(table.header(COLUMNS), COLUMNS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KGroupsWarning)
        for part in options.only:
            records = []
            for name, graph in graphs_of(part, options.seed):
                records.append(measured(graph))
                table.print_line(line(name, records[-1]), COLUMNS)
                if records[-1]["explanation"]:
                    print(f"    {records[-1]['explanation']}")
            found += figures(part, records) if records else ()
    print()
    for cells in (table.header(FIGURES), *(figure.cells() for figure in found)):
        table.print_line(cells, FIGURES)
    judged = [figure for figure in found if figure.bar is not None]
    print(f"\n{sum(figure.met for figure in judged)} of {len(judged)} bars met")
    return all(figure.met for figure in judged)


if __name__ == "__main__":
    sys.exit(not main())
