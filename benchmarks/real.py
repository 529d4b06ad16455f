"""``python -m benchmarks.real``: kgroups and its peers on every real network at hand.

Phi is the objective of the search (``kgroups.description``), of anybody's labels, summed over
components; the default divides it by a dispersion, so that methods with each edge in full stand
beside it. Each network is its largest component, with ``--whole`` all of it; ``amazon-sub``, which
has hundreds of components, is always shown whole too. A table of single networks is followed by one
with a line per family and by a summary. The largest Phi of long searches is kept in
``best_known.csv``, with its number of communities.
"""

import argparse
import csv
import os
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks import figure, table
from benchmarks.graphs import BenchmarkGraph, largest_component
from benchmarks.journal import Journal
from benchmarks.measure import Contest, Outcome, busy_processes
from benchmarks.peers import CONVERGED, GRAPH_TOOL_PYTHON, PEERS, REFERENCE
from benchmarks.scores import Phi
from benchmarks.suites import README_NETWORKS, SUITES
from benchmarks.table import Column
from kgroups import datasets
from kgroups._output import require_matplotlib

BEST_KNOWN = Path(__file__).with_name("best_known.csv")
NAMES = tuple(row.name for row in SUITES["real"])
FAMILY = {info.name: info.family for info in datasets.describe() if info.name in NAMES}
FAMILY_NAMES = tuple(sorted(set(FAMILY.values())))
SETS = {
    "table": README_NETWORKS,
    "npz": tuple(name for name in NAMES if name not in README_NETWORKS),
    **{family: tuple(name for name in NAMES if FAMILY[name] == family) for family in FAMILY_NAMES},
}
"""Names of several networks: those of the README's table, those of npz files, each family."""
DEFAULT = "kgroups"
IN_FULL = ("kgroups-in-full", "kgroups-search")
"""kgroups with each edge in full, whose objective is Phi; the default has a dispersion."""
METHODS = (
    DEFAULT,
    *IN_FULL,
    REFERENCE,
    CONVERGED,
    "infomap",
    "networkit-plm",
    "graph-tool",
)
COMPARED = (DEFAULT, *IN_FULL, CONVERGED, "infomap")
"""The methods of the table of families."""
NAMED = ("karate", "dolphins", "football", "email-Eu-core", "polbooks", "polblogs", "as")
"""Networks whose communities are shown in the summary."""
COLUMNS = (
    Column("graph", 45),
    Column("n", 6),
    Column("m", 7),
    Column("true k", 7),
    Column("method", 23),
    Column("k", 6),
    Column("Phi", 10),
    Column("% of best", 10),
    Column("AMI", 7),
    Column("modularity", 11),
    Column("visits/m", 9),
    Column("CPU ms", 10),
    Column("ms", 10),
    Column(f"/ {REFERENCE}", 16),
    Column("note", 6),
)
SUMMARY = (
    Column("method", 23),
    Column("mean AMI", 9),
    Column("median % of best", 17),
    Column("Phi >= n", 9),
    Column("median time ratio", 18),
    Column("largest", 8),
)
FAMILIES = (
    Column("family", 14),
    Column("graphs", 7),
    Column("labeled", 8),
    *(Column(f"AMI {method}", 5 + len(method)) for method in COMPARED),
    *(Column(f"{method} behind", 8 + len(method)) for method in IN_FULL),
    *(Column(f"visits/m {method}", 10 + len(method)) for method in IN_FULL),
)
_ALWAYS_WHOLE = "amazon-sub"
_WHOLE = " (whole)"
# Calls of less time than this are repeated in a run.
_LEAST_SECONDS = 0.02
# A Phi this much larger, as a part of it, is no rounding.
_ROUNDING = 1e-6
# A method is behind another if its Phi is lower by more than this part of it and this many nats.
_BEHIND, _BEHIND_NATS = 0.001, 1.0


@dataclass(frozen=True)
class Best:
    """The largest Phi known of a largest component, and its number of communities."""

    phi: float
    k: int


def read_best(path: Path = BEST_KNOWN) -> dict[str, Best]:
    """Read what is known; nothing if there is no file."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {
            row["graph"]: Best(float(row["phi"]), int(row["k"])) for row in csv.DictReader(file)
        }


def write_best(best: dict[str, Best], path: Path = BEST_KNOWN) -> None:
    """Write what is known, in the order of the suite."""
    with path.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["graph", "phi", "k"])
        lines.writerows(
            [name, f"{best[name].phi:.4f}", best[name].k] for name in NAMES if name in best
        )


def better(*known: Best | None) -> Best | None:
    """Return the one with the largest Phi."""
    return max((one for one in known if one is not None), key=lambda one: one.phi, default=None)


def found_best(outcomes: Iterable[Outcome]) -> Best | None:
    """Return the best of all runs."""
    runs = [run.scores for outcome in outcomes for run in outcome.runs]
    return better(*(Best(scores.phi, scores.k) for scores in runs if scores.phi is not None))


def long_search(graph: BenchmarkGraph, searches: int) -> Best:
    """Search long, each time with the nodes in another order, and return the best.

    The first has the nodes in their own order. Every other search starts from the intersection of
    the best communities with the last ones, and every fourth is annealed as if the graph were
    locally a tree.
    """
    import kgroups as kg

    phi = Phi(kg.Graph.from_edges(graph.source, graph.target, n=graph.n))
    best, best_labels = Best(0.0, 1), np.zeros(graph.n, dtype=np.int64)
    last = best_labels
    for seed in range(searches):
        rng = np.random.default_rng(seed)
        place = rng.permutation(graph.n) if seed else np.arange(graph.n)
        shuffled = kg.Graph.from_edges(place[graph.source], place[graph.target], n=graph.n)
        options = {}
        if seed % 2:
            cells = np.unique(best_labels * graph.n + last, return_inverse=True)[1]
            options["init"] = kg.WarmStart(cells[np.argsort(place)])
        treelike = 1.0 if seed % 4 == 2 else kg.Search().treelike
        method = kg.Search(
            starts=64, patience=64, least_gain=0.0, treelike=treelike, dispersion=1.0
        )
        found = kg.detect_communities(shuffled, method=method, rng=rng, **options)
        last = found.labels[place]
        reached = Best(phi(last), len(found))
        if reached.phi > best.phi:
            best, best_labels = reached, last
    return best


@dataclass(frozen=True)
class Compared:
    """What all methods did on one graph; ``best`` is None where none is kept."""

    name: str
    n: int
    outcomes: tuple[Outcome, ...]
    best: Best | None

    @property
    def network(self) -> str:
        """The name in ``kgroups.datasets``."""
        return self.name.removesuffix(_WHOLE)

    def lines(self) -> list[list[str]]:
        """Return a line of the table for each method."""
        reference = self.outcome(REFERENCE)
        return [_line(self, outcome, reference) for outcome in self.outcomes]

    def outcome(self, method: str) -> Outcome | None:
        """Return what one method did."""
        return next((outcome for outcome in self.outcomes if outcome.peer == method), None)

    def mean(self, method: str, score: str) -> float | None:
        """Return the mean score of a method."""
        outcome = self.outcome(method)
        values = [] if outcome is None else outcome.values(score)
        return statistics.fmean(values) if values else None

    def ratio(self, method: str) -> float | None:
        """Return the time of a method over that of the reference."""
        outcome, reference = self.outcome(method), self.outcome(REFERENCE)
        return None if outcome is None or reference is None else outcome.time_ratio(reference)

    def percent_of_best(self, method: str) -> float | None:
        """Return the Phi of a method in percent of the best one known."""
        phi = self.mean(method, "phi")
        if phi is None or self.best is None or self.best.phi <= 0.0:
            return None
        return 100.0 * phi / self.best.phi

    def visits(self, method: str) -> float | None:
        """Return the matrix entries that a method reads, per edge."""
        outcome = self.outcome(method)
        runs = [] if outcome is None else outcome.runs
        counted = [run.visits / run.m for run in runs if run.visits is not None]
        return statistics.fmean(counted) if counted else None

    def ahead_of(self, method: str) -> list[str]:
        """Return the peers that the method is behind of in Phi."""
        own = self.mean(method, "phi")
        if own is None:
            return []
        rivals = {peer.peer: self.mean(peer.peer, "phi") for peer in self.outcomes}
        return [
            name
            for name, phi in rivals.items()
            if name not in (DEFAULT, *IN_FULL) and phi is not None and _is_behind(own, phi)
        ]


def _is_behind(own: float, other: float) -> bool:
    return other - own > max(_BEHIND * abs(other), _BEHIND_NATS)


def _line(compared: Compared, outcome: Outcome, reference: Outcome | None) -> list[str]:
    runs, method = outcome.runs, outcome.peer
    notes = {run.note for run in runs if run.note} | ({outcome.trouble} - {""})
    return [
        compared.name,
        table.middle([run.n for run in runs]),
        table.middle([run.m for run in runs]),
        table.middle([run.true_k for run in runs if run.true_k is not None]),
        method,
        table.middle([run.scores.k for run in runs]),
        table.mean(outcome.values("phi"), 1),
        table.number(compared.percent_of_best(method), 2),
        table.mean(outcome.values("ami"), 4),
        table.mean(outcome.values("modularity"), 4),
        table.number(compared.visits(method), 1),
        *(
            table.number(None if seconds is None else 1e3 * seconds, 3)
            for seconds in (outcome.median_cpu_seconds, outcome.median_seconds)
        ),
        table.number(None if reference is None else outcome.time_ratio(reference), 2),
        "; ".join(sorted(notes)),
    ]


def shown(names: Sequence[str], *, whole: bool) -> Iterator[tuple[BenchmarkGraph, str | None]]:
    """Yield each graph that is at hand, with the name its best Phi is kept under, if it is."""
    for row in table.present(row for row in SUITES["real"] if row.name in names):
        graph = row.graph(0)
        if whole:
            yield replace(graph, name=f"{graph.name}{_WHOLE}"), None
            continue
        yield largest_component(graph), row.name
        if row.name == _ALWAYS_WHOLE:
            yield replace(graph, name=f"{graph.name}{_WHOLE}"), None


def summary_lines(compared: Sequence[Compared], methods: Sequence[str]) -> list[list[str]]:
    """Return a line for each method, over the graphs on which it ended."""
    lines = []
    for method in methods:
        amis = [one.mean(method, "ami") for one in compared]
        found = (one.percent_of_best(method) for one in compared)
        percents = [percent for percent in found if percent is not None]
        phis = [(one.mean(method, "phi"), one.n) for one in compared]
        ratios = [ratio for one in compared if (ratio := one.ratio(method)) is not None]
        large = [phi >= n for phi, n in phis if phi is not None]
        lines.append(
            [
                method,
                table.mean([ami for ami in amis if ami is not None], 4),
                table.number(statistics.median(percents) if percents else None, 2),
                f"{sum(large)} of {len(large)}",
                table.number(statistics.median(ratios) if ratios else None, 2),
                table.number(max(ratios, default=None), 2),
            ]
        )
    return lines


def print_summary(compared: Sequence[Compared], methods: Sequence[str]) -> None:
    """Print the line of each method, and where peers have a higher Phi than kgroups."""
    labeled = sum(
        any(one.mean(method, "ami") is not None for method in methods) for one in compared
    )
    print(f"\n{len(compared)} graphs, {labeled} of them with labels")
    table.print_line(table.header(SUMMARY), SUMMARY)
    for line in summary_lines(compared, methods):
        table.print_line(line, SUMMARY)
    for method in IN_FULL:
        if method not in methods:
            continue
        behind = {one.name: ahead for one in compared if (ahead := one.ahead_of(method))}
        print(f"{method}: behind a peer in Phi on {len(behind)} of {len(compared)} graphs")
        for name, ahead in behind.items():
            print(f"  {name}: {', '.join(ahead)}")


def _once(compared: Iterable[Compared]) -> list[Compared]:
    """Return each network once, its largest component where that was measured too."""
    first: dict[str, Compared] = {}
    for one in compared:
        first.setdefault(one.network, one)
    return list(first.values())


def _mean_ami(compared: Sequence[Compared], method: str) -> str:
    amis = [one.mean(method, "ami") for one in compared]
    return table.mean([ami for ami in amis if ami is not None], 3)


def _is_labeled(one: Compared) -> bool:
    return any(run.true_k is not None for outcome in one.outcomes for run in outcome.runs)


def _mean_visits(compared: Sequence[Compared], method: str) -> float | None:
    counts = [visits for one in compared if (visits := one.visits(method))]
    return statistics.geometric_mean(counts) if counts else None


def family_lines(compared: Sequence[Compared]) -> list[list[str]]:
    """Return a line for each family, and one for all of them."""
    networks = _once(compared)
    families = {
        family: [one for one in networks if FAMILY[one.network] == family]
        for family in FAMILY_NAMES
    }
    return [
        [
            family,
            str(len(members)),
            str(sum(map(_is_labeled, members))),
            *(_mean_ami(members, method) for method in COMPARED),
            *(str(sum(bool(one.ahead_of(method)) for one in members)) for method in IN_FULL),
            *(table.number(_mean_visits(members, method), 1) for method in IN_FULL),
        ]
        for family, members in {**families, "all": networks}.items()
        if members
    ]


def summary(compared: Sequence[Compared]) -> list[str]:
    """Return sentences on AMI, on Phi beside the best known, and on some networks."""
    in_full, search = IN_FULL
    networks = _once(compared)
    said = []
    for what, names in (("the README's table", SETS["table"]), ("npz files", SETS["npz"])):
        labeled = [one for one in networks if one.network in names and _is_labeled(one)]
        if labeled:
            means = ", ".join(f"{method} {_mean_ami(labeled, method)}" for method in COMPARED)
            said.append(f"mean AMI on {len(labeled)} labeled networks of {what}: {means}")
    percents = {one.name: one.percent_of_best(search) for one in networks}
    beside = {name: percent - 100 for name, percent in percents.items() if percent is not None}
    if beside:
        worst = min(beside, key=beside.__getitem__)
        said.append(
            f"Phi of {search} beside the best known, {len(beside)} networks: mean "
            f"{statistics.fmean(beside.values()):+.2f} % (gains counted as 0: "
            f"{statistics.fmean(min(percent, 0.0) for percent in beside.values()):+.2f} %), worst "
            f"{beside[worst]:+.2f} % ({worst})"
        )
    for method in (DEFAULT, *IN_FULL):
        visits = _mean_visits(networks, method)
        if visits is not None:
            said.append(
                f"visits of {method}, geometric mean: {visits:.1f} per edge, {visits / 2:.1f} per "
                "entry of the matrix, which has each edge twice"
            )
    for one in networks:
        own, searched = one.mean(in_full, "phi"), one.mean(search, "phi")
        if own is None or searched is None or searched < one.n:
            continue
        if abs(own - searched) > _ROUNDING * searched:
            said.append(
                f"{one.name}: Phi of {in_full} {own:.1f}, of {search} {searched:.1f} >= n = {one.n}"
            )
    for one, method in product(networks, (DEFAULT, in_full)):
        outcome = one.outcome(method)
        if one.network in NAMED and outcome is not None and outcome.runs:
            k = table.middle([run.scores.k for run in outcome.runs])
            said.append(f"{method} on {one.name}: k {k}, AMI {_mean_ami([one], method)}")
    return said


def compare(options: argparse.Namespace, methods: Sequence[str]) -> list[Compared]:
    """Run all methods on all graphs, and print the table as it grows."""
    best, compared = read_best(), []
    journal = Journal(options.journal, repeat=options.repeat, seed=options.seed)
    fresh = [method for method in methods if PEERS[method].distribution in options.fresh]
    table.print_line(table.header(COLUMNS), COLUMNS)
    with Contest(methods, max_seconds=options.max_seconds, least_seconds=_LEAST_SECONDS) as contest:
        for graph, kept_as in shown(options.graphs, whole=options.whole):
            known = {method: journal.get(graph.name, method) for method in methods}
            wanted = [method for method in methods if known[method] is None or method in fresh]
            for outcome in contest.measure(
                [graph], repeat=options.repeat, seed=options.seed, peers=wanted
            ):
                journal.append(graph.name, outcome)
                known[outcome.peer] = outcome
            outcomes = [known[method] for method in methods]
            best_known = None
            if kept_as is not None:
                best_known = best.get(kept_as)
                if options.update_best:
                    searched = long_search(graph, options.searches)
                    best_known = better(best_known, found_best(outcomes), searched)
                    best[kept_as] = best_known or searched
                    write_best(best)
            compared.append(Compared(graph.name, graph.n, tuple(outcomes), best_known))
            for line in compared[-1].lines():
                table.print_line(line, COLUMNS)
    return compared


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    parser.add_argument(
        "--graphs",
        nargs="+",
        choices=(*NAMES, *SETS),
        default=NAMES,
        metavar="NAME",
        help=f"networks, or several by one name: {', '.join(SETS)}",
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=[name for name, peer in PEERS.items() if not peer.only_lfr],
        default=METHODS,
    )
    parser.add_argument("--whole", action="store_true", help="all components of each graph")
    parser.add_argument("--repeat", type=int, default=3, help="counted runs on each graph")
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--max-seconds", type=float, default=120, help="patience with one run")
    parser.add_argument(
        "--busy", type=int, default=0, metavar="N", help="keep N other processes computing"
    )
    parser.add_argument("--graph-tool", metavar="PYTHON", help="interpreter that has graph-tool")
    parser.add_argument(
        "--journal", type=Path, help="append what is measured to this file, and resume from it"
    )
    parser.add_argument(
        "--fresh",
        nargs="+",
        choices=sorted({peer.distribution for peer in PEERS.values()}),
        default=(),
        metavar="PACKAGE",
        help="measure methods of these packages again, whatever the journal has",
    )
    parser.add_argument("--csv", type=Path, help="write the table to this file, too")
    table.add_markdown_option(parser)
    parser.add_argument(
        "--figure", type=Path, help="draw AMI and time on the labeled networks to this file"
    )
    parser.add_argument(
        "--update-best", action="store_true", help="search long, and keep the best Phi found"
    )
    parser.add_argument("--searches", type=int, default=20, help="long searches of each graph")
    options = parser.parse_args(arguments)
    options.graphs = {name for one in options.graphs for name in SETS.get(one, (one,))}
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table and the summary."""
    options = _arguments(arguments)
    if options.graph_tool:
        os.environ[GRAPH_TOOL_PYTHON] = options.graph_tool
    if options.figure:
        require_matplotlib()
    beside = f" beside {options.busy} processes that compute" if options.busy else ""
    print(f"{table.setting()}; {options.repeat} counted runs of each method in turns{beside}")
    methods = table.installed(options.peers)
    print()
    with busy_processes(options.busy):
        compared = compare(options, methods)
    print_summary(compared, methods)
    print()
    for line in (table.header(FAMILIES), *family_lines(compared)):
        table.print_line(line, FAMILIES)
    print("", *summary(compared), sep="\n")
    if options.csv:
        with options.csv.open("w", newline="") as file:
            lines = [line for one in compared for line in one.lines()]
            csv.writer(file).writerows([table.header(COLUMNS), *lines])
    measured = [(one.name, one.outcomes) for one in compared]
    if options.markdown:
        which = "All of each network" if options.whole else "The largest component of each network"
        caption = f"{which}. {table.CELLS} {table.setting()}."
        lines = table.by_graph(measured, methods)
        table.write_markdown(options.markdown, lines, methods, caption)
    if options.figure:
        figure.side_by_side(measured, methods).savefig(options.figure, dpi=150)


if __name__ == "__main__":
    main()
