"""``python -m benchmarks.scales``: at which scale communities are found, and whether bars are met.

Each graph has a line: what the default finds, what it finds with ``dispersion=1.0``, the levels,
and what converged Leiden finds at resolution 1 and at the best of twelve. AMI is that with the
labels; where the best of several partitions is shown, the labels have chosen it. Times are CPU
seconds. The figures below the lines stand beside their bars. The exit status is 1 if one is missed.

The parts are

- ``real``: real networks, the largest component of each;
- ``planted``: graphs with planted groups and without any, which have one scale;
- ``hierarchy``: 27 groups in 9 in 3;
- ``neighbors``: points that are linked to their nearest neighbors;
- ``again``: the number of communities that were found is given, and the same must be returned;
- ``large``: what levels of 100,000 nodes cost;
- ``given``: overlaps with k given, paired with those of another version of kgroups, the one that
  the interpreter of ``--against PYTHON`` imports.
"""

import argparse
import json
import math
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import kgroups as kg
from benchmarks import startup, table
from benchmarks.graphs import (
    BenchmarkGraph,
    Ints,
    blobs,
    degree_corrected,
    digits,
    erdos_renyi,
    hierarchy,
    largest_component,
    lfr,
    own_lfr,
    planted_partition,
    power_law_null,
    real,
    single_cells,
)
from benchmarks.journal import Kept, Record
from benchmarks.peers import CONVERGED, PEERS, RESOLUTIONS, find_igraph_leiden_converged
from benchmarks.suites import README_NETWORKS, SUITES, Row
from benchmarks.table import Column
from kgroups import generators, metrics
from kgroups.errors import KGroupsWarning

IN_FULL = kg.Auto(search=kg.Search(dispersion=1.0))
"""The default, but each edge counts in full."""
REAL = SUITES["real"]
PLANTED = (
    Row("SBM k=5", partial(planted_partition, n=2_000, k=5, degree=15.0, snr=2.0)),
    Row("SBM k=10", partial(planted_partition, n=2_000, k=10, degree=15.0, snr=2.5)),
    Row("SBM k=40", partial(planted_partition, n=4_000, k=40, degree=20.0, snr=2.5)),
    Row("LFR NetworKit mu=.3", partial(lfr, n=3_000, degree=20, mixing=0.3)),
    Row("LFR NetworKit mu=.6", partial(lfr, n=3_000, degree=20, mixing=0.6)),
    Row("LFR fixed", partial(own_lfr, n=3_000, degree=20, mixing=0.4, internal="fixed")),
    Row("LFR binomial", partial(own_lfr, n=3_000, degree=20, mixing=0.4)),
    Row("DCSBM k=10", partial(degree_corrected, n=3_000, k=10, degree=20.0, snr=2.5)),
    Row("Erdos-Renyi", partial(erdos_renyi, n=2_000, degree=10)),
    Row("power law", partial(power_law_null, n=2_000, degree=10, exponent=2.5)),
)
HIERARCHY = tuple(Row(f"27/9/3 d={d}", partial(hierarchy, degree=float(d))) for d in (20, 10))
BLOBS = tuple(Row(f"blobs std={std}", partial(blobs, spread=float(std))) for std in (2, 3, 4))
DIGITS = Row("digits", digits)
CELLS_OF_SCANPY = Row("single cells (PBMC)", single_cells)
NEIGHBORS = (*BLOBS, DIGITS, CELLS_OF_SCANPY)
SCANPY = "scanpy-leiden"
LARGE = Row("LFR 100k", partial(own_lfr, n=100_000, degree=20, mixing=0.3))
AGAIN = ("les_miserables", "cora", "email-Eu-core", "dolphins", "karate", "football")
EMAIL = "email-Eu-core"
# Calls of less time than this are repeated, and the fastest counts.
_LEAST_SECONDS = 0.02

COLUMNS = (
    Column("graph", 45),
    Column("n", 6),
    Column("m", 7),
    Column("true k", 7),
    Column("dispersion", 11),
    Column("k", 6),
    Column("AMI", 6),
    Column("k in full", 10),
    Column("AMI", 6),
    Column("levels", 20),
    Column("best", 6),
    Column("Leiden", 7),
    Column("best", 6),
    Column("s", 8),
    Column("s in full", 10),
    Column("s levels", 9),
)
AGAIN_COLUMNS = (Column("graph", 45), Column("k", 6), Column("AMI", 6))
GIVEN_COLUMNS = (
    Column("graph", 24),
    Column("overlap before", 15),
    Column("now", 7),
    Column("difference", 11),
    Column("in s.e.", 8),
    Column("time ratio", 11),
)
NEIGHBOR_HEADINGS = (
    "graph",
    "graphs",
    "n",
    "true k",
    "kgroups",
    "kgroups, best level †",
    "Leiden, converged",
    "Leiden, scanpy's default",
    f"Leiden, best of {len(RESOLUTIONS)} resolutions †",
)
FIGURES = (Column("what", 70), Column("figure", 8), Column("bar", 10), Column("met", 7))


# --- What is measured on a graph -----------------------------------------------------------------


def truths_of(graph: BenchmarkGraph) -> list[Ints]:
    """Return the labels that communities are compared with: none, one, or three of a hierarchy."""
    if graph.truth is None:
        return []
    if graph.name in {row.name for row in HIERARCHY}:
        return [graph.truth // width for width in (1, 3, 9)]
    return [graph.truth]


def agreement(graph: BenchmarkGraph, labels: Ints) -> list[float]:
    """Return the AMI of communities with each labeling of the graph."""
    known = slice(None) if graph.known is None else graph.known
    return [metrics.ami(truth[known], labels[known]) for truth in truths_of(graph)]


def measured_kgroups(graph: BenchmarkGraph, seed: int) -> Record:
    """Return the default, what it finds if edges count in full, and its levels."""
    given = kg.Graph.from_edges(graph.source, graph.target, graph.weight, n=graph.n)

    def default() -> Any:
        return kg.detect_communities(given, rng=seed)

    found, seconds = fastest(lambda _: default())
    full, seconds_full = fastest(lambda _: kg.detect_communities(given, method=IN_FULL, rng=seed))
    # A partition keeps its levels, so that each call needs a new one.
    levels, seconds_levels = fastest(lambda partition: partition.levels(), default)
    return {
        "n": graph.n,
        "m": graph.m,
        "true_k": graph.true_k,
        "dispersion": found.report.dispersion,
        "k": len(found),
        "k_full": len(full),
        "same": metrics.variation_of_information(found.labels, full.labels) == 0.0,
        "ami": agreement(graph, found.labels),
        "ami_full": agreement(graph, full.labels),
        "ks": [len(level) for level in levels],
        "ami_levels": [agreement(graph, level.labels) for level in levels],
        "seconds": seconds,
        "seconds_full": seconds_full,
        "seconds_levels": seconds_levels,
    }


def measured_leiden(graph: BenchmarkGraph, seed: int) -> Record:
    """Return how converged Leiden agrees with the labels, at each resolution."""
    built = PEERS[CONVERGED].build(graph)
    if not truths_of(graph):
        return {"ami": [], "amis": []}
    amis = [
        agreement(graph, find_igraph_leiden_converged(built, seed, resolution).labels)
        for resolution in RESOLUTIONS
    ]
    return {"ami": amis[RESOLUTIONS.index(1.0)], "amis": amis}


def measured_scanpy(graph: BenchmarkGraph, seed: int) -> Record:
    """Return how Leiden as scanpy runs it by default agrees with the labels."""
    peer = PEERS[SCANPY]
    return {"ami": agreement(graph, peer.find(peer.build(graph), seed).labels)}


def measured_again(row: Row, seed: int) -> Record:
    """Return how what is found with k given agrees with what was found without; weights count."""
    given = kg.datasets.load(row.name).graph
    found = kg.detect_communities(given, rng=seed)
    again = kg.detect_communities(given, k=len(found), rng=seed)
    return {"k": len(found), "ami": metrics.ami(found.labels, again.labels)}


def fastest(
    call: Callable[[Any], Any], prepared: Callable[[], Any] = lambda: None
) -> tuple[Any, float]:
    """Call until some time has passed, and return the fewest CPU seconds of the call alone."""
    least, begin = math.inf, process_time()
    while True:
        argument = prepared()
        start = process_time()
        result = call(argument)
        end = process_time()
        least = min(least, end - start)
        if end - begin >= _LEAST_SECONDS:
            return result, least


# --- Parts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bar:
    """What a figure must reach."""

    sign: str
    bound: float

    def holds(self, value: float) -> bool:
        """Whether a value will do."""
        return value >= self.bound if self.sign == ">=" else value <= self.bound

    def __str__(self) -> str:
        return f"{self.sign} {self.bound:g}"


def at_least(bound: float) -> Bar:
    """Demand no less."""
    return Bar(">=", bound)


def at_most(bound: float) -> Bar:
    """Demand no more."""
    return Bar("<=", bound)


@dataclass(frozen=True)
class Figure:
    """A number, and its bar if it has one."""

    what: str
    value: float
    bar: Bar | None = None

    @property
    def met(self) -> bool:
        """Whether it reaches its bar."""
        return self.bar is None or self.bar.holds(self.value)

    def cells(self) -> list[str]:
        """Return its line of the table."""
        verdict = "" if self.bar is None else "met" if self.met else "MISSED"
        return [self.what, f"{self.value:.4f}", str(self.bar or ""), verdict]


Measured = list[tuple[str, dict[str, Record]]]
"""The names of graphs, and what each method did on them."""


@dataclass(frozen=True)
class Part:
    """Graphs, how each is measured, the line that shows it, and the figures of all of them.

    ``methods`` are measured one by one, and kept one by one in the journal. ``graphs`` is how many
    are drawn of each row.
    """

    rows: tuple[Row, ...]
    graphs: int
    methods: Mapping[str, Callable[[Row, int], Record]]
    columns: Sequence[Column]
    line: Callable[[str, dict[str, Record]], list[str]]
    figures: Callable[[Measured], Iterator[Figure]]


def on_graph(measure: Callable[[BenchmarkGraph, int], Record]) -> Callable[[Row, int], Record]:
    """Return the measurement of the graph of a row; of a real network, of its largest component."""

    def measured(row: Row, seed: int) -> Record:
        graph = row.graph(seed)
        return measure(largest_component(graph) if row.draw is real else graph, seed)

    return measured


COMPARED = {"kgroups": on_graph(measured_kgroups), "leiden": on_graph(measured_leiden)}
ALONE = {"kgroups": on_graph(measured_kgroups)}
BESIDE_SCANPY = COMPARED | ({SCANPY: on_graph(measured_scanpy)} if find_spec("scanpy") else {})


def compared_line(name: str, records: dict[str, Record]) -> list[str]:
    """Return the line of a graph; of a hierarchy, AMI is that with the 27 groups."""
    ours, leiden = records["kgroups"], records.get("leiden", {"ami": [], "amis": []})
    seconds = (ours[field] for field in ("seconds", "seconds_full", "seconds_levels"))
    return [
        name,
        str(ours["n"]),
        str(ours["m"]),
        str(ours["true_k"] or "-"),
        f"{ours['dispersion']:.3f}",
        str(ours["k"]),
        _first(ours["ami"]),
        str(ours["k_full"]),
        _first(ours["ami_full"]),
        " ".join(map(str, ours["ks"])),
        _first(best(ours["ami_levels"])),
        _first(leiden["ami"]),
        _first(best(leiden["amis"])),
        *(f"{second:.3f}" for second in seconds),
    ]


def _first(amis: Sequence[float]) -> str:
    return table.number(amis[0] if amis else None, 3)


def best(amis: Sequence[Sequence[float]]) -> list[float]:
    """Return the highest agreement of several partitions with each labeling."""
    return [max(values) for values in zip(*amis, strict=True)]


def real_figures(measured: Measured) -> Iterator[Figure]:
    """Yield mean AMI over the labeled networks, of email-Eu-core, and the cost."""
    labeled = [one for one in measured if one[1]["kgroups"]["ami"]]
    bars = {"npz files": (0.505, 0.545), "README's table": (0.495, None)}
    for which, (of_default, of_levels) in bars.items():
        chosen = [
            records
            for name, records in labeled
            if (name in README_NETWORKS) == (which == "README's table")
        ]
        if chosen:
            about = f"{len(chosen)} labeled networks of the {which}"
            yield from _mean_figures(about, chosen, at_least(of_default), of_levels)
    for _, records in (one for one in measured if one[0] == EMAIL):
        ours = records["kgroups"]
        yield Figure(f"AMI, {EMAIL}: default", ours["ami"][0], at_least(0.62))
        yield Figure(f"AMI, {EMAIL}: best level", best(ours["ami_levels"])[0], at_least(0.67))
    costs = [records["kgroups"] for _, records in measured]
    for what, above, below, bar in (
        ("default over dispersion=1.0", "seconds", "seconds_full", 2.0),
        ("levels over the default", "seconds_levels", "seconds", 3.0),
    ):
        ratio = statistics.median(one[above] / one[below] for one in costs)
        yield Figure(f"time, median of {len(costs)}: {what}", ratio, at_most(bar))


def _mean_figures(
    about: str, chosen: Sequence[dict[str, Record]], of_default: Bar, of_levels: float | None
) -> Iterator[Figure]:
    def mean(value: Callable[[dict[str, Record]], Sequence[float]]) -> float:
        return statistics.fmean(value(records)[0] for records in chosen)

    yield Figure(f"mean AMI, {about}: default", mean(lambda one: one["kgroups"]["ami"]), of_default)
    yield Figure("  dispersion=1.0", mean(lambda one: one["kgroups"]["ami_full"]))
    yield Figure("  converged Leiden", mean(lambda one: one["leiden"]["ami"]))
    yield Figure(
        "  best level, chosen with the labels",
        mean(lambda one: best(one["kgroups"]["ami_levels"])),
        None if of_levels is None else at_least(of_levels),
    )
    yield Figure(
        f"  Leiden at the best of {len(RESOLUTIONS)} resolutions, chosen with the labels",
        mean(lambda one: best(one["leiden"]["amis"])),
    )


def planted_figures(measured: Measured) -> Iterator[Figure]:
    """Yield what dispersion changes where edges are independent, and where there is one level."""
    ours = [records["kgroups"] for _, records in measured]
    about = f"{len(ours)} planted graphs"
    same = statistics.fmean(one["same"] for one in ours)
    yield Figure(f"{about}: share identical to dispersion=1.0", same, at_least(0.98))
    dispersions = [one["dispersion"] for one in ours]
    yield Figure(f"{about}: smallest dispersion", min(dispersions), at_least(0.9))
    yield Figure(f"{about}: largest dispersion", max(dispersions), at_most(1.1))
    for kind, records in _by_name(measured).items():
        share = statistics.fmean(len(one["kgroups"]["ks"]) == 1 for one in records)
        yield Figure(f"{len(records)} of {kind}: share with one level", share, at_least(0.95))


def hierarchy_figures(measured: Measured) -> Iterator[Figure]:
    """Yield how often the levels are those that were planted, and how well they agree."""
    for kind, records in _by_name(measured).items():
        ours = [one["kgroups"] for one in records]
        three = [one for one in ours if len(one["ks"]) == 3]
        strict = kind == HIERARCHY[0].name
        exact = statistics.fmean(one["ks"] == [27, 9, 3] for one in ours)
        about = f"{len(ours)} of {kind}"
        yield Figure(
            f"{about}: share with levels 27, 9, 3", exact, at_least(0.9) if strict else None
        )
        # The partition that was returned is a level, also where it mixes scales.
        planted = {27, 9, 3}
        beside = statistics.fmean(planted <= {*one["ks"]} <= {*planted, one["k"]} for one in ours)
        yield Figure(f"{about}: the same, or beside the one returned", beside)
        share = len(three) / len(ours)
        yield Figure(f"{about}: share with three levels", share, None if strict else at_least(0.8))
        for place, k in enumerate((27, 9, 3)):
            # Levels and labelings are both in the order from the finest.
            amis = [one["ami_levels"][place][place] for one in three]
            if amis:
                yield Figure(
                    f"{about}: mean AMI with the {k} groups, if three levels",
                    statistics.fmean(amis),
                    at_least(0.98) if strict else None,
                )


def neighbor_lines(measured: Measured) -> list[list[str]]:
    """Return the headings, and a line of mean AMI for each kind of neighbor graphs."""
    lines = [list(NEIGHBOR_HEADINGS)]
    for kind, records in _by_name(measured).items():
        ours, leiden = ([one[method] for one in records] for method in ("kgroups", "leiden"))
        scanpy = [one[SCANPY]["ami"][0] for one in records if SCANPY in one]
        lines.append(
            [
                kind,
                str(len(records)),
                str(ours[0]["n"]),
                str(ours[0]["true_k"]),
                table.mean([one["ami"][0] for one in ours], 3),
                table.mean([best(one["ami_levels"])[0] for one in ours], 3),
                table.mean([one["ami"][0] for one in leiden], 3),
                table.mean(scanpy, 3),
                table.mean([best(one["amis"])[0] for one in leiden], 3),
            ]
        )
    return lines


def neighbor_figures(measured: Measured) -> Iterator[Figure]:
    """Yield mean AMI on the neighbor graphs that have a bar."""
    for kind, records in _by_name(measured).items():
        ours = statistics.fmean(one["kgroups"]["ami"][0] for one in records)
        about = f"mean AMI, {len(records)} of {kind}"
        if kind == DIGITS.name:
            level = statistics.fmean(best(one["kgroups"]["ami_levels"])[0] for one in records)
            yield Figure(f"{about}: default", ours, at_least(0.87))
            yield Figure("  best level, chosen with the labels", level, at_least(0.9))
        elif kind in {row.name for row in BLOBS}:
            leiden = statistics.fmean(one["leiden"]["ami"][0] for one in records)
            yield Figure(f"{about}: default minus Leiden", ours - leiden, at_least(-0.02))


def large_figures(measured: Measured) -> Iterator[Figure]:
    """Yield what levels of a large graph cost."""
    for name, records in measured:
        ours = records["kgroups"]
        ratio = ours["seconds_levels"] / ours["seconds"]
        yield Figure(
            f"time, {name}, {ours['k']} communities: levels over the default", ratio, at_most(1.0)
        )


def again_line(name: str, records: dict[str, Record]) -> list[str]:
    """Return the line of a network whose number of communities is given."""
    return [name, str(records["kgroups"]["k"]), f"{records['kgroups']['ami']:.3f}"]


def again_figures(measured: Measured) -> Iterator[Figure]:
    """Yield the lowest agreement between what is found without k and with it."""
    lowest = min(records["kgroups"]["ami"] for _, records in measured)
    what = f"lowest AMI of {len(measured)}: what was found, with its own k given"
    # AMI of equal partitions can be less than 1 by rounding.
    yield Figure(what, round(lowest, 9), at_least(1.0))


def _by_name(measured: Measured) -> dict[str, list[dict[str, Record]]]:
    grouped: dict[str, list[dict[str, Record]]] = {}
    for name, records in measured:
        grouped.setdefault(name, []).append(records)
    return grouped


# --- k given, beside another version --------------------------------------------------------------

GIVEN = """
import json, sys, warnings
from time import process_time
import numpy as np
import kgroups as kg
from kgroups.errors import KGroupsWarning
warnings.simplefilter("ignore", KGroupsWarning)
drawn = np.load(sys.argv[1])
k = int(sys.argv[2])
overlaps, seconds = [], []
for i, truth in enumerate(drawn["truth"]):
    graph = kg.Graph.from_edges(*drawn[f"edges {i}"], n=truth.size)
    if i == 0:
        kg.detect_communities(graph, k)
    start = process_time()
    found = kg.detect_communities(graph, k)
    seconds.append(process_time() - start)
    overlaps.append(kg.metrics.overlap(truth, found.labels))
print(json.dumps([overlaps, seconds]))
"""
ROUNDS = 3


@dataclass(frozen=True)
class Cell:
    """Graphs of one kind whose number of communities is given."""

    name: str
    n: int
    k: int
    degree: float
    snr: float

    def draw(self, path: Path, graphs: int, seed: int) -> None:
        """Write so many graphs, with every node in a random group."""
        drawn = [
            generators.planted_partition(
                self.n, self.k, self.degree, self.snr, sizes="multinomial", beyond="clip", rng=rng
            )
            for rng in np.random.default_rng(seed).spawn(graphs)
        ]
        edges = {f"edges {i}": np.stack(one.graph.edges()[:2]) for i, one in enumerate(drawn)}
        np.savez(path, truth=np.stack([one.labels for one in drawn]), **edges)


CELLS = (
    *(Cell(f"Girvan-Newman SNR {snr:g}", 128, 4, 16.0, snr) for snr in (1.1, 1.5, 1.8, 2.0, 2.5)),
    *(
        Cell(f"SBM k={k} SNR {snr:g}", 1_000, k, 3.0, snr)
        for k in (2, 5, 15)
        for snr in (1.24, 1.45, 1.76)
    ),
)


def paired(cell: Cell, before: str, folder: Path, graphs: int, seed: int) -> Record:
    """Return overlaps and fewest CPU seconds of both versions on the same graphs, in turns."""
    path = folder / "graphs.npz"
    cell.draw(path, graphs, seed)
    pythons = {"before": before, "now": sys.executable}
    overlaps, seconds = {}, {}
    for turn in range(ROUNDS):
        for which, python in pythons.items():
            cache = str(folder / which)
            said = startup.run(GIVEN, cache, str(path), str(cell.k), mode="always", python=python)
            overlaps[which], taken = json.loads(said.stdout)
            fewest = np.array(taken) if turn == 0 else np.minimum(seconds[which], taken)
            seconds[which] = fewest.tolist()
    return {"overlaps": overlaps, "seconds": seconds}


def difference(record: Record) -> tuple[float, float]:
    """Return the mean difference of overlaps, now minus before, and that in standard errors."""
    apart = np.subtract(record["overlaps"]["now"], record["overlaps"]["before"])
    return float(apart.mean()), in_standard_errors(apart)


def in_standard_errors(values: Sequence[float] | np.ndarray) -> float:
    """Return a mean in units of its standard error; 0 if all values are 0."""
    values = np.asarray(values)
    if not values.any():
        return 0.0
    error = values.std(ddof=1) / math.sqrt(values.size) if values.size > 1 else 0.0
    return float(values.mean() / error) if error > 0.0 else math.copysign(math.inf, values.mean())


def time_ratio(record: Record) -> float:
    """Return the time now over the time before, of all graphs of a cell."""
    return sum(record["seconds"]["now"]) / sum(record["seconds"]["before"])


def given_line(name: str, records: dict[str, Record]) -> list[str]:
    """Return the line of a cell."""
    record = records["paired"]
    mean, errors = difference(record)
    overlaps = (statistics.fmean(record["overlaps"][which]) for which in ("before", "now"))
    return [
        name,
        *(f"{overlap:.3f}" for overlap in overlaps),
        f"{mean:+.4f}",
        f"{errors:+.2f}",
        f"{time_ratio(record):.2f}",
    ]


def given_figures(measured: Measured) -> Iterator[Figure]:
    """Yield by how much overlaps differ from those before, over all cells and in the worst."""
    cells = [records["paired"] for _, records in measured]
    about = f"overlap with k given, now minus before, {len(cells)} cells"
    means, errors = zip(*map(difference, cells), strict=True)
    yield Figure(f"{about}: mean", statistics.fmean(means))
    yield Figure("  the same in s.e. over cells", in_standard_errors(means), at_least(-2.0))
    yield Figure("  lowest cell, in its own s.e.", min(errors), at_least(-3.0))
    ratio = statistics.geometric_mean(map(time_ratio, cells))
    yield Figure("time with k given, over that before: geometric mean", ratio, at_most(1.5))


# --- The command ---------------------------------------------------------------------------------

PARTS = {
    "real": Part(REAL, 1, COMPARED, COLUMNS, compared_line, real_figures),
    "planted": Part(PLANTED, 20, ALONE, COLUMNS, compared_line, planted_figures),
    "hierarchy": Part(HIERARCHY, 20, ALONE, COLUMNS, compared_line, hierarchy_figures),
    "neighbors": Part(NEIGHBORS, 5, BESIDE_SCANPY, COLUMNS, compared_line, neighbor_figures),
    "again": Part(
        tuple(Row(name, real) for name in AGAIN),
        1,
        {"kgroups": measured_again},
        AGAIN_COLUMNS,
        again_line,
        again_figures,
    ),
    "large": Part((LARGE,), 1, ALONE, COLUMNS, compared_line, large_figures),
}
GIVEN_GRAPHS = 20


def given_part(before: str, folder: Path, graphs: int) -> Part:
    """Return the part that compares with the version that another interpreter imports."""
    cells = {cell.name: cell for cell in CELLS}

    def measure(row: Row, seed: int) -> Record:
        return paired(cells[row.name], before, folder, graphs, seed)

    # A row is a cell, whose graphs are drawn together.
    rows = tuple(Row(name, cell.draw) for name, cell in cells.items())
    return Part(rows, 1, {"paired": measure}, GIVEN_COLUMNS, given_line, given_figures)


def measure_part(name: str, part: Part, kept: Kept, seeds: range) -> Measured:
    """Print the line of each graph as it is measured, and return all."""
    print(f"\n{name}")
    table.print_line(table.header(part.columns), part.columns)
    measured = []
    for row in table.present(part.rows):
        for seed in seeds:
            records = {
                method: kept.record(measure, row, part=name, seed=seed, method=method)
                for method, measure in part.methods.items()
            }
            measured.append((row.name, records))
            table.print_line(part.line(row.name, records), part.columns)
    return measured


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scales",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=(*PARTS, "given"),
        help="parts; by default all, but given with --against only",
    )
    parser.add_argument(
        "--networks",
        nargs="+",
        choices=[row.name for row in REAL],
        metavar="NAME",
        help="real networks; by default all that are here",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the first graph of each line")
    parser.add_argument(
        "--graphs",
        type=int,
        help="drawn of each kind but the large one; by default 20, of points 5",
    )
    parser.add_argument("--against", metavar="PYTHON", help="interpreter with the version before")
    parser.add_argument(
        "--journal", type=Path, help="append what is measured to this file, and resume from it"
    )
    parser.add_argument(
        "--fresh",
        nargs="+",
        choices=("kgroups", "leiden", SCANPY, "paired"),
        default=(),
        help="measure these again, whatever the journal has",
    )
    table.add_markdown_option(parser)
    options = parser.parse_args(arguments)
    if options.only is None:
        options.only = [*PARTS, *(["given"] if options.against else [])]
    if "given" in options.only and not options.against:
        parser.error("the part given needs --against PYTHON, an interpreter with another version")
    return options


def _chosen(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Part, range]]:
    for name in options.only:
        if name == "given":
            part = given_part(options.against, folder, options.graphs or GIVEN_GRAPHS)
            yield name, part, range(options.seed, options.seed + 1)
            continue
        part = PARTS[name]
        if name == "real" and options.networks:
            rows = tuple(row for row in REAL if row.name in options.networks)
            part = replace(part, rows=rows)
        graphs = options.graphs if options.graphs and part.graphs > 1 else part.graphs
        yield name, part, range(options.seed, options.seed + graphs)


def main(arguments: Sequence[str] | None = None) -> bool:
    """Print the lines of all graphs, then the figures; return whether all bars are met."""
    options = _arguments(arguments)
    print(f"{table.setting()}; seeds from {options.seed} on")
    methods = table.installed([CONVERGED, SCANPY])
    kg.warm(progress=False)
    kept, figures, neighbors = Kept(options.journal, options.fresh), [], []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", KGroupsWarning)
        for name, part, seeds in _chosen(options, Path(folder)):
            measured = measure_part(name, part, kept, seeds)
            figures += part.figures(measured) if measured else ()
            if name == "neighbors" and measured:
                neighbors = neighbor_lines(measured)
                print()
                table.print_table(neighbors)
    print()
    lines = [table.header(FIGURES), *(figure.cells() for figure in figures)]
    for line in lines:
        table.print_line(line, FIGURES)
    judged = [figure for figure in figures if figure.bar is not None]
    print(f"\n{sum(figure.met for figure in judged)} of {len(judged)} bars met")
    if options.markdown:
        caption = f"AMI with the labels; CPU seconds. † Chosen with the labels. {table.setting()}."
        tables = [table.markdown(one) for one in (neighbors, lines) if one]
        table.write_markdown(options.markdown, [*tables, caption], methods)
    return all(figure.met for figure in judged)


if __name__ == "__main__":
    sys.exit(not main())
