"""``python -m benchmarks.real``: kgroups and its peers on every real network at hand.

Each network is its largest component. What is printed, and written by ``--markdown``, is

- mean AMI with the labels by family of networks;
- three numbers of each method: agreement with the labels, reproducibility without labels (mean AMI
  between copies of a network that lack some edges), and description (``kgroups.search``, Phi,
  in percent of the largest that a method found); beside them time and memory;
- differences between kgroups and each peer, with intervals by a bootstrap over families;
- every network by itself.
"""

import argparse
import os
import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import kgroups as kg
from benchmarks import figure, resamples, table, unseen
from benchmarks.graphs import BenchmarkGraph, largest_component
from benchmarks.journal import Kept, Record
from benchmarks.measure import Contest, Outcome, Run, busy_processes
from benchmarks.peers import (
    BEST_LEVEL,
    BEST_RESOLUTION,
    CONVERGED,
    GRAPH_TOOL_PYTHON,
    PEERS,
    REFERENCE,
)
from benchmarks.scores import Scores
from benchmarks.suites import SUITES, Row
from benchmarks.table import Column
from kgroups import datasets
from kgroups._output import require_matplotlib
from kgroups.errors import KGroupsWarning

NAMES = tuple(row.name for row in SUITES["real"])
UNSEEN = tuple(row.name for row in unseen.ROWS)
FAMILY = {
    **{info.name: info.family for info in datasets.describe() if info.name in NAMES},
    **{row.name: row.family for row in unseen.ROWS},
}
FAMILIES = {
    family: tuple(name for name in NAMES if FAMILY[name] == family)
    for family in sorted({FAMILY[name] for name in NAMES})
}
SETS = {**FAMILIES, "unseen": UNSEEN}
"""Names of several networks: each family, and those on which no setting was chosen."""
DEFAULT = "kgroups"
TITLES = {
    DEFAULT: "kgroups",
    BEST_LEVEL: "kgroups, best level †",
    REFERENCE: "Leiden, 2 iterations",
    CONVERGED: "Leiden, converged",
    BEST_RESOLUTION: "Leiden, best of 12 resolutions †",
    "infomap": "Infomap",
    "infomap-10": "Infomap, 10 trials",
    "networkit-plm": "NetworKit PLM",
    "graph-tool-nested": "graph-tool, nested",
    "graph-tool-pp": "graph-tool, planted partition",
}
METHODS = tuple(TITLES)
COLUMNS = (
    Column("graph", 45),
    Column("n", 6),
    Column("m", 7),
    Column("true k", 7),
    Column("method", 29),
    Column("k", 6),
    Column("AMI", 7),
    Column("Phi", 10),
    Column("CPU ms", 10),
    Column("ms", 10),
    Column("note", 6),
)
BOOTSTRAPS, BOOTSTRAP_SEED, LEVEL = 10_000, 0, 0.95
# Families whose mean differs by no more than this are neither won nor lost.
_TIE = 0.005
# Calls of less time than this are repeated in a run.
_LEAST_SECONDS = 0.02
_CHOSEN = "† Chosen with the labels, so it says what could be had and not what the method finds."
_SEEN = "The settings of kgroups were chosen on these networks."
_UNSEEN = "Nothing was chosen on these networks."

Values = Mapping[str, float]
"""A number of each network, by name."""


# --- What methods did on a network ---------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """What each method did on a network, and how well it did so again on copies of it."""

    name: str
    outcomes: Mapping[str, Outcome]
    resampled: Mapping[str, Record] = field(default_factory=dict)

    def mean(self, method: str, score: str) -> float | None:
        """Return the mean score of a method."""
        values = self.outcomes[method].values(score)
        return statistics.fmean(values) if values else None

    def ratio(self, method: str, time: str) -> float | None:
        """Return a time of a method over that of the reference."""
        reference = self.outcomes.get(REFERENCE)
        return None if reference is None else self.outcomes[method].time_ratio(reference, time)

    def reproducibility(self, method: str) -> float | None:
        """Return the mean AMI between copies that lack some edges."""
        record = self.resampled.get(method)
        return None if record is None else record["agreement"]

    def percent_of_best(self, method: str) -> float | None:
        """Return the Phi of a method in percent of the largest; None where nothing is saved."""
        phis = {one: phi for one in self.outcomes if (phi := self.mean(one, "phi")) is not None}
        if method not in phis or max(phis.values()) <= 0.0:
            return None
        return 100.0 * phis[method] / max(phis.values())

    @property
    def is_labeled(self) -> bool:
        """Whether there are labels to agree with."""
        return any(run.true_k is not None for one in self.outcomes.values() for run in one.runs)


def known(networks: Sequence[Network], value: Callable[[Network], float | None]) -> Values:
    """Return a value of each network that has it."""
    values = {network.name: value(network) for network in networks}
    return {name: value for name, value in values.items() if value is not None}


def ami(networks: Sequence[Network], method: str) -> Values:
    """Return the agreement of a method with the labels."""
    return known(networks, lambda network: network.mean(method, "ami"))


def reproducibility(networks: Sequence[Network], method: str) -> Values:
    """Return how well the communities of a method are found again."""
    return known(networks, lambda network: network.reproducibility(method))


def reproducibility_of_several(networks: Sequence[Network], method: str) -> Values:
    """Return the same without networks that are found as one community, which is no feat."""
    several = [one for one in networks if min(one.outcomes[method].values("k"), default=1) > 1]
    return reproducibility(several, method)


# --- Means and intervals -------------------------------------------------------------------------


def by_family(values: Values) -> dict[str, float]:
    """Return the mean of each family."""
    members: dict[str, list[float]] = {}
    for name, value in values.items():
        members.setdefault(FAMILY[name], []).append(value)
    return {family: statistics.fmean(members[family]) for family in sorted(members)}


def over_families(values: Values) -> float | None:
    """Return the mean over families of their means."""
    means = by_family(values).values()
    return statistics.fmean(means) if means else None


@dataclass(frozen=True)
class Difference:
    """By how much one method is above another, by network; both have run on these."""

    values: Values

    @property
    def mean(self) -> float:
        """The mean over families of their means."""
        return statistics.fmean(by_family(self.values).values())

    @property
    def interval(self) -> tuple[float, float] | None:
        """Bounds by a bootstrap over families, whose networks are no independent cases.

        A single family has none.
        """
        means = np.array(list(by_family(self.values).values()))
        if means.size == 1:
            return None
        rng = np.random.default_rng(BOOTSTRAP_SEED)
        drawn = means[rng.integers(means.size, size=(BOOTSTRAPS, means.size))].mean(axis=1)
        low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)

    def cells(self) -> list[str]:
        """Return the difference with its interval, the verdict, and who won how often."""
        interval = self.interval
        if interval is None:
            shown, verdict = "", "a single family"
        else:
            low, high = interval
            shown = f" [{low:+.3f}, {high:+.3f}]"
            verdict = "better" if low > 0.0 else "worse" if high < 0.0 else "not distinguishable"
        counts = (tally(values) for values in (by_family(self.values), self.values))
        return [f"{self.mean:+.3f}{shown}", verdict, *counts]


def tally(differences: Values) -> str:
    """Count where the first method is above, below, and within a tie."""
    won = sum(value > _TIE for value in differences.values())
    lost = sum(value < -_TIE for value in differences.values())
    return f"{won} / {lost} / {len(differences) - won - lost}"


def difference(first: Values, second: Values) -> Difference | None:
    """Subtract the second method where both have a value; None if that is nowhere."""
    values = {name: first[name] - second[name] for name in first if name in second}
    return Difference(values) if values else None


# --- Tables --------------------------------------------------------------------------------------


def title(method: str) -> str:
    """Return what a method is called in tables."""
    return TITLES.get(method, method)


def family_lines(networks: Sequence[Network], methods: Sequence[str]) -> list[list[str]]:
    """Return mean AMI by family, over families and over networks.

    In parentheses is the number of networks on which a method ended, where these are not all.
    """
    labeled = [network.name for network in networks if network.is_labeled]
    groups: dict[str, set[str]] = {}
    for name in labeled:
        groups.setdefault(FAMILY[name], set()).add(name)
    amis = {method: ami(networks, method) for method in methods}
    lines = [["family", "labeled networks", *map(title, methods)]]
    for family, names in sorted(groups.items()):
        chosen = ([amis[method][one] for one in names & amis[method].keys()] for method in amis)
        cells = (_mean_and_count(values, len(names)) for values in chosen)
        lines.append([family, str(len(names)), *cells])
    means = (table.number(over_families(amis[method]), 3) for method in methods)
    lines.append(["mean over families", str(len(lines) - 1), *means])
    means = (_mean_and_count(list(amis[method].values()), len(labeled)) for method in methods)
    return [*lines, ["mean over networks", str(len(labeled)), *means]]


def _mean_and_count(values: Sequence[float], members: int) -> str:
    count = f" ({len(values)})" if 0 < len(values) < members else ""
    return table.mean(values, 3) + count


def number_lines(networks: Sequence[Network], methods: Sequence[str]) -> list[list[str]]:
    """Return three numbers of each method, and what they cost."""
    lines = [
        [
            "method",
            "AMI with the labels",
            "reproducibility",
            "Φ, % of the best",
            f"CPU time / {title(REFERENCE)}",
            f"time / {title(REFERENCE)}",
            "peak MB",
            "networks",
        ]
    ]
    for method in methods:
        outcomes = [network.outcomes[method] for network in networks]
        peaks = [one.peak_bytes for one in outcomes if one.peak_bytes is not None]
        percents = known(networks, lambda network, method=method: network.percent_of_best(method))
        lines.append(
            [
                title(method),
                table.number(over_families(ami(networks, method)), 3),
                table.number(over_families(reproducibility(networks, method)), 3),
                table.number(_median(percents), 1),
                *(table.number(time_ratio(networks, method, time), 2) for time in _TIMES),
                table.number(max(peaks) / 1e6 if peaks else None, 1),
                str(sum(bool(one.runs) for one in outcomes)),
            ]
        )
    return lines


_TIMES = ("cpu_seconds", "seconds")


def time_ratio(networks: Sequence[Network], method: str, time: str) -> float | None:
    """Return the median over networks of a time relative to the reference."""
    return _median(known(networks, lambda network: network.ratio(method, time)))


def _median(values: Values) -> float | None:
    return statistics.median(values.values()) if values else None


def difference_lines(networks: Sequence[Network], methods: Sequence[str]) -> list[list[str]]:
    """Return kgroups minus each peer, in AMI and in reproducibility, whoever is ahead."""
    lines = [
        [
            "what",
            "method",
            "minus",
            f"difference [{LEVEL:.0%} interval]",
            "verdict",
            "families won / lost / tied",
            "networks won / lost / tied",
        ]
    ]
    peers = [method for method in methods if method not in (DEFAULT, BEST_LEVEL)]
    pairs = [(DEFAULT, peer) for peer in peers] + [(BEST_LEVEL, BEST_RESOLUTION)]
    for what, values in (
        ("AMI", ami),
        ("reproducibility", reproducibility),
        ("the same, several communities", reproducibility_of_several),
    ):
        for pair in pairs:
            if set(pair) <= set(methods):
                apart = difference(*(values(networks, method) for method in pair))
                if apart is not None:
                    lines.append([what, *map(title, pair), *apart.cells()])
    return lines


def network_lines(networks: Sequence[Network], methods: Sequence[str]) -> list[list[str]]:
    """Return a line for each network."""
    measured = [(one.name, [one.outcomes[method] for method in methods]) for one in networks]
    heading, *lines = table.by_graph(measured, methods)
    return [[*heading[: -len(methods)], *map(title, methods)], *lines]


@dataclass(frozen=True)
class Section:
    """A table with its heading and its caption."""

    heading: str
    lines: list[list[str]]
    caption: str

    def blocks(self) -> list[str]:
        """Return it as Markdown."""
        return [f"### {self.heading}", table.markdown(self.lines), self.caption]


def sections(networks: Sequence[Network], methods: Sequence[str]) -> list[Section]:
    """Return all tables."""
    seen = any(network.name in NAMES for network in networks)
    return [
        Section(
            "Families",
            family_lines(networks, methods),
            "Mean AMI with the labels. In parentheses: on how many networks the method ended, "
            f"where that is not on all. {_CHOSEN} {_SEEN if seen else _UNSEEN}",
        ),
        Section(
            "Methods",
            number_lines(networks, methods),
            "AMI and reproducibility are means over families. Reproducibility needs no labels: the "
            f"mean AMI between {resamples.RESAMPLES} copies of a network that lack "
            f"{resamples.DROP:.0%} of its edges, 1 if all are found as one community. Φ, the nats "
            "that communities save in a description of the network, is the objective of the search "
            "of kgroups: median over networks of the percentage of the largest that any method "
            "found. Times: median over networks. Memory: largest of all networks. The last column "
            "is the number of networks on which the method ended.",
        ),
        Section(
            "Differences",
            difference_lines(networks, methods),
            "Positive where the first method is ahead. Means over families of the networks on "
            "which both ended; intervals by a paired bootstrap over families (percentiles, "
            f"{BOOTSTRAPS:,} resamples, seed {BOOTSTRAP_SEED}). Not distinguishable: the interval "
            f"contains zero. Tied: within {_TIE:g}. Several communities: only networks on which "
            f"both methods find more than one. {_CHOSEN}",
        ),
        Section("Networks", network_lines(networks, methods), f"{table.CELLS} {table.setting()}."),
    ]


# --- The command ---------------------------------------------------------------------------------


def shown(names: Sequence[str]) -> Iterator[tuple[Row, BenchmarkGraph]]:
    """Yield each network that is at hand, with its largest component."""
    rows = (*SUITES["real"], *unseen.ROWS)
    for row in table.present(row for row in rows if row.name in names):
        yield row, largest_component(row.graph(0))


def runs(
    contest: Contest, method: str, repeat: int, graph: BenchmarkGraph, row: Row, seed: int
) -> Record:
    """Run a method on a network."""
    (outcome,) = contest.measure([graph], repeat=repeat, seed=seed, peers=[method])
    return asdict(outcome)


def outcome_of(record: Record) -> Outcome:
    """Return what a line of the journal says."""
    known_runs = [Run(**{**run, "scores": Scores(**run["scores"])}) for run in record["runs"]]
    return Outcome(record["peer"], known_runs, record["trouble"])


def runs_on_copies(method: str, graph: BenchmarkGraph, row: Row, seed: int) -> Record:
    """Run a method on copies of a network."""
    return resamples.MEASURES[method](graph, seed)


def compare(options: argparse.Namespace, methods: Sequence[str]) -> list[Network]:
    """Run all methods on all networks, and print a line for each as soon as it is known."""
    fresh = [method for method in methods if PEERS[method].distribution in options.fresh]
    kept, networks = Kept(options.journal, fresh), []
    table.print_line(table.header(COLUMNS), COLUMNS)
    with Contest(methods, max_seconds=options.max_seconds, least_seconds=_LEAST_SECONDS) as contest:
        for row, graph in shown(options.graphs):
            outcomes, resampled = {}, {}
            for method in methods:
                which = {"seed": options.seed, "method": method}
                measure = partial(runs, contest, method, options.repeat, graph)
                record = kept.record(measure, row, part=f"{options.repeat} runs", **which)
                outcomes[method] = outcome_of(record)
                if outcomes[method].took_part:
                    table.print_line(progress_line(row.name, outcomes[method]), COLUMNS)
                if method in resamples.MEASURES:
                    measure = partial(runs_on_copies, method, graph)
                    resampled[method] = kept.record(measure, row, part="resamples", **which)
            networks.append(Network(row.name, outcomes, resampled))
    return networks


def progress_line(name: str, outcome: Outcome) -> list[str]:
    """Return what one method did on one network."""
    known_runs = outcome.runs
    notes = {run.note for run in known_runs if run.note} | ({outcome.trouble} - {""})
    return [
        name,
        table.middle([run.n for run in known_runs]),
        table.middle([run.m for run in known_runs]),
        table.middle([run.true_k for run in known_runs if run.true_k is not None]),
        outcome.peer,
        table.middle([run.scores.k for run in known_runs]),
        table.mean(outcome.values("ami"), 4),
        table.mean(outcome.values("phi"), 1),
        *(
            table.number(None if seconds is None else 1e3 * seconds, 3)
            for seconds in (outcome.median_cpu_seconds, outcome.median_seconds)
        ),
        "; ".join(sorted(notes)),
    ]


def picture(networks: Sequence[Network], methods: Sequence[str]) -> Any:
    """Return the figure of AMI and reproducibility against time."""
    points = []
    for method in methods:
        time = time_ratio(networks, method, "seconds")
        if time is not None:
            scores = (over_families(values(networks, method)) for values in (ami, reproducibility))
            points.append(figure.Point(title(method), time, tuple(scores)))
    titles = ("Agreement with the labels (AMI)", "Reproducibility without labels (AMI)")
    return figure.against_time(points, titles, f"median time / {title(REFERENCE)}")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--graphs",
        nargs="+",
        choices=(*NAMES, *UNSEEN, *SETS),
        default=NAMES,
        metavar="NAME",
        help=f"networks, or several by one name: {', '.join(SETS)}; by default all but unseen",
    )
    parser.add_argument("--peers", nargs="+", choices=tuple(PEERS), default=METHODS)
    parser.add_argument("--repeat", type=int, default=3, help="counted runs on each network")
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
    table.add_markdown_option(parser)
    parser.add_argument(
        "--figure", type=Path, help="draw AMI and reproducibility against time to this file"
    )
    options = parser.parse_args(arguments)
    options.graphs = {name for one in options.graphs for name in SETS.get(one, (one,))}
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the journal lacks, and print the tables."""
    options = _arguments(arguments)
    if options.graph_tool:
        os.environ[GRAPH_TOOL_PYTHON] = options.graph_tool
    if options.figure:
        require_matplotlib()
    beside = f" beside {options.busy} processes that compute" if options.busy else ""
    print(f"{table.setting()}; {options.repeat} counted runs of each method{beside}")
    methods = table.installed(options.peers)
    print()
    kg.warm(progress=False)
    with busy_processes(options.busy), warnings.catch_warnings():
        warnings.simplefilter("ignore", KGroupsWarning)
        networks = compare(options, methods)
    tables = sections(networks, methods)
    for section in tables:
        print("", section.heading, "", sep="\n")
        table.print_table(section.lines)
    if options.markdown:
        blocks = [block for section in tables for block in section.blocks()]
        table.write_markdown(options.markdown, blocks, methods)
    if options.figure:
        picture(networks, methods).savefig(options.figure, dpi=150)


if __name__ == "__main__":
    main()
