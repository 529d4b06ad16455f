"""``python -m benchmarks.stability``: whether communities are found again without some edges.

The parts are

- ``cores``: LFR graphs of 2,000 nodes, mean degree 15 and mixing 0.6: with degrees up to 50 and
  communities up to 100 nodes, as in the LFR paper, and without these bounds, where communities of
  some hundred nodes are too faint for the search and are found as one. The cores are the nodes
  that stay with their community in at least 0.9 of ten copies. A node is right if it is in the
  planted community that holds most of its community;
- ``starts``: copies that are searched from scratch, as ``Partition.stability`` does, and the same
  copies searched from the labels of the partition, which shows agreement that the others lack.

The figures below the lines stand beside their bars. The exit status is 1 if one is missed.
"""

import argparse
import math
import statistics
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

import kgroups as kg
from benchmarks import table
from benchmarks.graphs import (
    BenchmarkGraph,
    Ints,
    cloud,
    grid,
    own_lfr,
    planted_partition,
    real,
)
from benchmarks.journal import Kept, Record
from benchmarks.scales import (
    FIGURES,
    Figure,
    Measured,
    Part,
    at_least,
    measure_part,
    on_graph,
)
from benchmarks.suites import Row
from benchmarks.table import Column
from kgroups import metrics
from kgroups.errors import KGroupsWarning

THRESHOLD = 0.9
BOUNDS = {"": {"max_degree": 50, "max_community": 100}, ", unbounded": {}}
LFR = tuple(
    Row(
        f"LFR {internal}{which}",
        partial(own_lfr, n=2_000, degree=15, mixing=0.6, internal=internal, **largest),
    )
    for which, largest in BOUNDS.items()
    for internal in ("binomial", "fixed")
)
STARTS = (
    *(
        Row(name, real)
        for name in ("karate", "football", "email-Eu-core", "cora", "fb100-Caltech36")
    ),
    *LFR,
    Row("SBM k=10", partial(planted_partition, n=2_000, k=10, degree=15.0, snr=1.3)),
    Row("cloud", cloud),
    Row("grid", grid),
)

CORE_COLUMNS = (
    Column("graph", 24),
    Column("true k", 7),
    Column("k", 5),
    Column("AMI", 6),
    Column("between", 7),
    Column("in cores", 8),
    Column("right", 6),
    Column("outside", 7),
    Column("sure", 6),
    Column("right", 6),
)
START_COLUMNS = (
    Column("graph", 24),
    Column("k", 5),
    Column("scratch", 7),
    Column("labels", 7),
    Column("stay", 6),
    Column("stay", 6),
    Column("s", 6),
    Column("s", 6),
)


# --- What is measured on a graph -----------------------------------------------------------------


def measured_cores(graph: BenchmarkGraph, seed: int) -> Record:
    """Return how large the cores are and how often they are right; the same of sure nodes."""
    given = kg.Graph.from_edges(graph.source, graph.target, n=graph.n)
    partition = kg.detect_communities(given)
    found = partition.stability(rng=seed)
    right = are_right(graph.truth, partition.labels)
    inside = found.nodes >= THRESHOLD
    sure = partition.confidence() >= THRESHOLD
    return {
        "true_k": graph.true_k,
        "k": len(partition),
        "ami": metrics.ami(graph.truth, partition.labels),
        "agreement": found.agreement,
        "inside": float(inside.mean()),
        "right": share(right[inside]),
        "right_outside": share(right[~inside]),
        "sure": float(sure.mean()),
        "right_sure": share(right[sure]),
    }


def measured_starts(graph: BenchmarkGraph, seed: int) -> Record:
    """Return agreement, mean share of nodes and seconds, from scratch and from the labels."""
    given = kg.Graph.from_edges(graph.source, graph.target, n=graph.n)
    partition = kg.detect_communities(given)
    record = {"k": len(partition)}
    for which, init in (("scratch", kg.KMeansInit()), ("labels", kg.WarmStart(partition.labels))):
        again = kg.Partition(partition.labels, graph=given)
        vars(again)["_found_with"] = {"init": init}
        start = process_time()
        found = again.stability(rng=seed)
        record[which] = {
            "agreement": found.agreement,
            "stay": float(np.nanmean(found.nodes)),
            "seconds": process_time() - start,
        }
    return record


def are_right(truth: Ints, labels: Ints) -> np.ndarray:
    """Return which nodes are in the class that holds most of their community."""
    table = metrics.confusion(truth, labels).counts
    classes, groups = (np.unique(z, return_inverse=True)[1] for z in (truth, labels))
    return table.argmax(axis=0)[groups] == classes


def share(values: np.ndarray) -> float | None:
    """Return the mean of truth values, None if there are none."""
    return float(values.mean()) if values.size else None


# --- Parts ---------------------------------------------------------------------------------------


def core_line(name: str, records: dict[str, Record]) -> list[str]:
    """Return the line of an LFR graph."""
    ours = records["kgroups"]
    shares = ("ami", "agreement", "inside", "right", "right_outside", "sure", "right_sure")
    return [
        name,
        *(str(ours[what]) for what in ("true_k", "k")),
        *(table.number(ours[what], 3) for what in shares),
    ]


def core_figures(measured: Measured) -> Iterator[Figure]:
    """Yield how large and how right the cores are, and the same of sure nodes."""
    for kind in dict.fromkeys(name for name, _ in measured):
        ours = [records["kgroups"] for name, records in measured if name == kind]

        def mean(what: str, ours: Sequence[Record] = ours) -> float:
            known = [one[what] for one in ours if one[what] is not None]
            return statistics.fmean(known) if known else math.nan

        about = f"{len(ours)} of {kind}"
        yield Figure(f"{about}: share of the nodes in cores", mean("inside"), at_least(0.25))
        yield Figure("  right in cores", mean("right"), at_least(0.97))
        yield Figure("  right outside", mean("right_outside"))
        yield Figure("  share with a confidence of 0.9", mean("sure"))
        yield Figure("  right among these", mean("right_sure"))


def start_line(name: str, records: dict[str, Record]) -> list[str]:
    """Return the line of a graph."""
    ours = records["kgroups"]
    both = [ours[which] for which in ("scratch", "labels")]
    digits = {"agreement": 3, "stay": 3, "seconds": 2}
    cells = [f"{one[what]:.{places}f}" for what, places in digits.items() for one in both]
    return [name, str(ours["k"]), *cells]


def start_figures(measured: Measured) -> Iterator[Figure]:
    """Yield by how much more copies agree that start from the labels, and what that costs."""
    ours = [records["kgroups"] for _, records in measured]
    more = [one["labels"]["agreement"] - one["scratch"]["agreement"] for one in ours]
    about = f"AMI between copies, from the labels minus from scratch, {len(ours)} graphs"
    yield Figure(f"{about}: mean", statistics.fmean(more))
    yield Figure("  largest", max(more))
    seconds = (sum(one[which]["seconds"] for one in ours) for which in ("labels", "scratch"))
    yield Figure("  time from the labels over time from scratch", next(seconds) / next(seconds))


PARTS: Mapping[str, Part] = {
    "cores": Part(
        LFR, 10, {"kgroups": on_graph(measured_cores)}, CORE_COLUMNS, core_line, core_figures
    ),
    "starts": Part(
        STARTS, 1, {"kgroups": on_graph(measured_starts)}, START_COLUMNS, start_line, start_figures
    ),
}


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.stability",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", choices=tuple(PARTS), default=tuple(PARTS))
    parser.add_argument("--seed", type=int, default=2000, help="of the first generated graph")
    parser.add_argument("--graphs", type=int, help="drawn of each kind of LFR; by default 10")
    parser.add_argument(
        "--journal", type=Path, help="append what is measured to this file, and resume from it"
    )
    parser.add_argument(
        "--fresh",
        nargs="+",
        choices=("kgroups",),
        default=(),
        help="measure these again, whatever the journal has",
    )
    table.add_markdown_option(parser)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> bool:
    """Print the lines of all graphs, then the figures; return whether all bars are met."""
    options = _arguments(arguments)
    print(f"{table.setting()}; generated graphs from seed {options.seed} on")
    kg.warm(progress=False)
    kept, figures = Kept(options.journal, options.fresh), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KGroupsWarning)
        for name in options.only:
            part = PARTS[name]
            graphs = 1 if part.graphs == 1 else options.graphs or part.graphs
            seeds = range(options.seed, options.seed + graphs)
            measured = measure_part(name, part, kept, seeds)
            figures += part.figures(measured) if measured else ()
    print()
    lines = [table.header(FIGURES), *(figure.cells() for figure in figures)]
    for line in lines:
        table.print_line(line, FIGURES)
    judged = [figure for figure in figures if figure.bar is not None]
    print(f"\n{sum(figure.met for figure in judged)} of {len(judged)} bars met")
    if options.markdown:
        blocks = [table.markdown(lines), f"CPU seconds. {table.setting()}."]
        table.write_markdown(options.markdown, blocks, [])
    return all(figure.met for figure in judged)


if __name__ == "__main__":
    sys.exit(not main())
