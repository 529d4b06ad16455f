"""``python -m benchmarks.targets``: what large graphs must show, and whether they do.

Quality is the worst over the graphs of a line, the time ratio their median, each against igraph's
Leiden with two iterations on the same graph in the same run. Other peers stand beside them and are
not judged. On nulls, quality is the share of graphs in which every component is one community. Rows
that start with ``search`` judge the search alone (``Search()``), the others the default.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import growth, table
from benchmarks.measure import Contest, Outcome
from benchmarks.peers import CONVERGED, CPM, PEERS, REFERENCE
from benchmarks.suites import Row, drawn, lfr_row, null_rows, own_lfr_row, sbm_row
from benchmarks.table import Column

OURS = "kgroups"
BESIDE = (REFERENCE, CONVERGED, CPM)
CAPTION = (
    "Quality is the worst of the graphs of a line, time the median. In lines on time, each peer "
    "shows its seconds and, in brackets, the time of kgroups as a multiple of them."
)
RATIO = f"time / {REFERENCE}"


@dataclass(frozen=True)
class AtLeast:
    """A score whose worst value must reach a bound."""

    what: str
    score: str
    bound: float
    summary: Callable[[Sequence[float]], float] = min
    sign: str = ">="

    def holds(self, value: float) -> bool:
        """Whether a value will do."""
        return value >= self.bound


@dataclass(frozen=True)
class AtMost:
    """A score whose worst value must not pass a bound."""

    what: str
    score: str
    bound: float
    summary: Callable[[Sequence[float]], float] = max
    sign: str = "<="

    def holds(self, value: float) -> bool:
        """Whether a value will do."""
        return value <= self.bound


Demand = AtLeast | AtMost


def nmi(bound: float) -> Demand:
    """Demand a normalized mutual information."""
    return AtLeast("NMI", "nmi", bound)


def k_within(percent: float) -> Demand:
    """Demand the number of communities."""
    return AtMost("k error %", "k_error", percent)


@dataclass(frozen=True)
class Case:
    """A line of a target: the graphs of its rows are taken together."""

    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Target:
    """A row of the table of targets: its graphs, their quality, and the time they may take.

    ``ratio`` is None where the time is not judged. ``method`` is the peer that is judged.
    """

    name: str
    cases: tuple[Case, ...]
    quality: tuple[Demand, ...]
    ratio: float | None
    method: str = OURS


def _each(*rows: Row) -> tuple[Case, ...]:
    return tuple(Case(row.name, (row,)) for row in rows)


SEARCH = "kgroups-search"
SEARCH_TARGETS = (
    Target(
        "search-lfr-100k-d20",
        _each(*(lfr_row(100_000, 20, mixing) for mixing in (0.4, 0.5, 0.6))),
        (nmi(0.9995),),
        0.45,
        SEARCH,
    ),
    Target("search-lfr-100k-d10", _each(lfr_row(100_000, 10, 0.5)), (nmi(0.997),), 0.7, SEARCH),
    Target("search-lfr-10k-d20", _each(lfr_row(10_000, 20, 0.6)), (nmi(0.999),), 1.2, SEARCH),
    Target("search-lfr-10k-d10", _each(lfr_row(10_000, 10, 0.5)), (nmi(0.985),), 2.5, SEARCH),
    Target(
        "search-lfr-10k-d10-hard",
        _each(lfr_row(10_000, 10, 0.6)),
        (AtLeast("AMI", "ami", 0.5),),
        None,
        SEARCH,
    ),
    Target("search-binomial-2k", _each(own_lfr_row(2_000, 15, 0.5)), (nmi(0.87),), None, SEARCH),
    Target(
        "search-binomial-100k", _each(own_lfr_row(100_000, 20, 0.5)), (nmi(0.996),), None, SEARCH
    ),
    # One community of 200 may be missing or too many.
    Target(
        "search-sbm-100k-k200",
        _each(sbm_row(100_000, 200, 20, 1.5)),
        (nmi(0.98), k_within(0.5)),
        0.45,
        SEARCH,
    ),
)
TARGETS = (
    Target(
        "lfr-100k-d20",
        _each(*(lfr_row(100_000, 20, mixing) for mixing in (0.3, 0.4, 0.5, 0.6))),
        (nmi(0.999), k_within(0.5)),
        0.7,
    ),
    Target(
        "lfr-100k-hard",
        _each(lfr_row(100_000, 20, 0.65), lfr_row(100_000, 10, 0.4), lfr_row(100_000, 10, 0.5)),
        (nmi(0.995), k_within(1)),
        1.0,
    ),
    Target(
        "lfr-10k-d20",
        _each(*(lfr_row(10_000, 20, mixing) for mixing in (0.3, 0.4, 0.5, 0.6))),
        (nmi(0.998),),
        1.3,
    ),
    Target(
        "binomial-100k",
        _each(*(own_lfr_row(100_000, 20, mixing) for mixing in (0.3, 0.4, 0.5))),
        (nmi(0.99),),
        1.0,
    ),
    Target("lfr-10k-d10", _each(lfr_row(10_000, 10, 0.5)), (nmi(0.96), k_within(4)), 2.0),
    Target(
        "lfr-10k-d10-hard",
        _each(lfr_row(10_000, 10, 0.6)),
        (AtLeast("AMI", "ami", 0.4), k_within(30)),
        3.0,
    ),
    Target("sbm-100k-k200", _each(sbm_row(100_000, 200, 20, 1.5)), (nmi(0.98), k_within(0)), 0.5),
    Target(
        "sbm-100k-k10",
        _each(sbm_row(100_000, 10, 10, 1.3)),
        (AtLeast("overlap", "overlap", 0.75),),
        0.7,
    ),
    Target(
        "sbm-100k-k2",
        _each(sbm_row(100_000, 2, 5, 1.3)),
        (AtLeast("overlap", "overlap", 0.62),),
        0.7,
    ),
    Target(
        "nulls",
        tuple(Case(f"nulls of {n} nodes", null_rows(n)) for n in (1_000, 10_000, 100_000)),
        (AtLeast("share left whole", "whole", 0.99, summary=statistics.fmean),),
        0.2,
    ),
    Target("lfr-1M", _each(own_lfr_row(1_000_000, 18.6, 0.4)), (nmi(0.985), k_within(1)), 0.6),
    Target("sbm-1M", _each(sbm_row(1_000_000, 200, 20, 2.0)), (nmi(0.995),), 0.5),
    *SEARCH_TARGETS,
)
GROWTH = "growth"
GROWTH_DEMANDS = (
    AtMost("exponent of visits", "visits_exponent", 1.1),
    AtMost("rise of the time ratio", "ratio_rise", 1.2),
    AtMost("bytes per edge", "bytes_per_edge", 250),
)


@dataclass(frozen=True)
class Effort:
    """How many graphs, from which seed on, how many runs on each, and the patience with one."""

    graphs_per_row: int = 3
    repeat: int = 1
    seed: int = 0
    max_seconds: float = 300

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Effort":
        """Take the options of that name."""
        return cls(options.graphs_per_row, options.repeat, options.seed, options.max_seconds)


@dataclass(frozen=True)
class Verdict:
    """One demand on one line: what was wanted, what kgroups and each peer reached."""

    target: str
    case: str
    what: str
    wanted: str
    measured: str
    beside: tuple[str, ...]
    met: bool

    def cells(self) -> list[str]:
        """Return its line of the table."""
        return [
            self.target,
            self.case,
            self.what,
            self.wanted,
            self.measured,
            *self.beside,
            "yes" if self.met else "NO",
        ]


def columns(peers: Sequence[str]) -> list[Column]:
    """Return the columns of the table."""
    return [
        Column("target", 23),
        Column("graph", 27),
        Column("what", 24),
        Column("wanted", 9),
        Column(OURS, 16),
        *(Column(peer, max(len(peer), 16)) for peer in peers),
        Column("met", 4),
    ]


def _verdicts(target: Target, case: Case, contest: Contest, effort: Effort) -> Iterator[Verdict]:
    graphs = drawn(case.rows, effort.seed, effort.graphs_per_row)
    ours, *peers = contest.measure(graphs, repeat=effort.repeat, seed=effort.seed)
    for demand in target.quality:
        reached = _reached(demand, ours)
        yield Verdict(
            target.name,
            case.name,
            demand.what,
            f"{demand.sign} {demand.bound:g}",
            ours.trouble or _written(reached),
            tuple(peer.trouble or _written(_reached(demand, peer)) for peer in peers),
            not ours.trouble and reached is not None and demand.holds(reached),
        )
    if target.ratio is None:
        return
    reference = next(peer for peer in peers if peer.peer == REFERENCE)
    ratio = None if ours.trouble else ours.time_ratio(reference)
    yield Verdict(
        target.name,
        case.name,
        RATIO,
        f"<= {target.ratio:g}",
        ours.trouble or _written(ratio),
        tuple(peer.trouble or _time_beside(ours, peer) for peer in peers),
        ratio is not None and ratio <= target.ratio,
    )


def _reached(demand: Demand, outcome: Outcome) -> float | None:
    values = outcome.values(demand.score)
    return demand.summary(values) if values else None


def _written(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _time_beside(ours: Outcome, peer: Outcome) -> str:
    if not peer.runs:
        return "-"
    ratio = "" if ours.trouble else f" ({_written(ours.time_ratio(peer))})"
    return f"{peer.median_seconds:.3f} s{ratio}"


def _growth_verdicts(effort: Effort, peers: Sequence[str]) -> Iterator[Verdict]:
    for family in growth.JUDGED:
        measured = growth.sizes(
            family,
            peers=[REFERENCE],
            largest=max(growth.EDGES),
            graphs=1,
            seed=effort.seed,
            max_seconds=effort.max_seconds,
        )
        reached = growth.growth_of(list(measured))
        for demand in GROWTH_DEMANDS:
            value = getattr(reached, demand.score)
            yield Verdict(
                GROWTH,
                family,
                demand.what,
                f"{demand.sign} {demand.bound:g}",
                _written(value),
                ("",) * len(peers),
                value is not None and demand.holds(value),
            )


def judge(
    names: Sequence[str],
    effort: Effort,
    *,
    peers: Sequence[str] = BESIDE,
    markdown: Path | None = None,
) -> bool:
    """Print the verdicts on the targets of these names; return whether all are met."""
    judged = [target.method for target in TARGETS if target.name in names]
    judged += [OURS] if GROWTH in names else []
    described = table.installed(dict.fromkeys([*judged, *peers]))
    beside = [peer for peer in peers if peer in described]
    shown = columns(beside)
    print(f"{CAPTION}\n")
    table.print_line(table.header(shown), shown)
    met: dict[str, bool] = {}
    lines = [table.header(shown)]
    for verdict in _all_verdicts(names, effort, beside):
        lines.append(verdict.cells())
        table.print_line(lines[-1], shown)
        met[verdict.target] = met.get(verdict.target, True) and verdict.met
    missed = [name for name, is_met in met.items() if not is_met]
    print(f"\n{len(met) - len(missed)} of {len(met)} targets met", end="")
    print(f"; missed: {', '.join(missed)}" if missed else "")
    if markdown:
        blocks = [table.markdown(lines), f"{CAPTION} {table.setting()}."]
        table.write_markdown(markdown, blocks, described)
    return not missed


def _all_verdicts(names: Sequence[str], effort: Effort, peers: Sequence[str]) -> Iterator[Verdict]:
    chosen = [target for target in TARGETS if target.name in names]
    for method in dict.fromkeys(target.method for target in chosen):
        with Contest([method, *peers], max_seconds=effort.max_seconds) as contest:
            for target in chosen:
                if target.method == method:
                    for case in target.cases:
                        yield from _verdicts(target, case, contest, effort)
    if GROWTH in names:
        yield from _growth_verdicts(effort, peers)


NAMES = (*(target.name for target in TARGETS), GROWTH)


def main() -> None:
    """Print the verdicts; the exit status is 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.targets", description=__doc__)
    parser.add_argument("--rows", nargs="+", choices=NAMES, default=NAMES, metavar="ROW")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    parser.add_argument("--graphs-per-row", type=int, default=Effort.graphs_per_row)
    parser.add_argument("--repeat", type=int, default=Effort.repeat, help="runs on each graph")
    parser.add_argument("--seed", type=int, default=Effort.seed, help="of the first graph")
    parser.add_argument("--max-seconds", type=float, default=Effort.max_seconds)
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=[name for name in PEERS if name not in (OURS, SEARCH)],
        default=BESIDE,
        help=f"shown beside; {REFERENCE} always is, since time is judged against it",
    )
    table.add_markdown_option(parser)
    options = parser.parse_args()
    if options.list:
        print(*NAMES, sep="\n")
        return
    peers = dict.fromkeys([REFERENCE, *options.peers])
    effort = Effort.of(options)
    sys.exit(not judge(options.rows, effort, peers=list(peers), markdown=options.markdown))


if __name__ == "__main__":
    main()
