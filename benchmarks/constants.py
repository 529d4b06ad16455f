"""``python -m benchmarks.constants``: the experiments behind the constants of the many regime.

Each experiment runs the search on the same fresh graphs with one constant at values on both sides
of the chosen one, which is marked by a star. It prints, as means over the graphs of a line:

- NMI and AMI with the planted communities, and the error of k in percent, with its sign;
- the nats that the communities save, in percent of what the planted ones save. Above 100 the
  likelihood prefers what was found, and a better search would not help;
- entries of the matrix that the kernels read, for each edge.
"""

import argparse
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any
from unittest.mock import patch

import numpy as np

import kgroups as kg
from benchmarks.graphs import BenchmarkGraph, lfr, own_lfr, planted_partition
from kgroups import metrics
from kgroups._csr import restricted
from kgroups.hartigan import improve
from kgroups.refine import Hartigan, rates
from kgroups.refine.likelihood import likelihood_moves
from kgroups.regimes import many
from kgroups.regimes.problem import Part
from kgroups.seed.levels import Effort, Level, coarse_level, finest_level, multilevel, renumbered
from kgroups.spectrum import Moments, connected_components, moments

GRAPHS: dict[str, Callable[..., BenchmarkGraph]] = {
    "LFR d=20 mu=.4": partial(lfr, n=10_000, degree=20, mixing=0.4),
    "LFR d=20 mu=.65": partial(lfr, n=10_000, degree=20, mixing=0.65),
    "LFR d=10 mu=.4": partial(lfr, n=10_000, degree=10, mixing=0.4),
    "LFR d=10 mu=.5": partial(lfr, n=10_000, degree=10, mixing=0.5),
    "LFR d=10 mu=.6": partial(lfr, n=10_000, degree=10, mixing=0.6),
    "binomial LFR mu=.5": partial(own_lfr, n=20_000, degree=20, mixing=0.5),
    "SBM k=200 SNR 2": partial(planted_partition, n=20_000, k=200, degree=20.0, snr=2.0),
    "SBM k=40 SNR 1.5": partial(planted_partition, n=20_000, k=40, degree=20.0, snr=1.5),
}
CLEAR = ("LFR d=20 mu=.4", "LFR d=10 mu=.4", "binomial LFR mu=.5")
HARD = ("LFR d=20 mu=.65", "LFR d=10 mu=.5", "SBM k=40 SNR 1.5")
HARDEST = ("LFR d=10 mu=.5", "LFR d=10 mu=.6", "SBM k=40 SNR 1.5")
BOTH = ("LFR d=10 mu=.4", "LFR d=10 mu=.5", "binomial LFR mu=.5", "SBM k=40 SNR 1.5")


@dataclass(frozen=True, eq=False)
class Case:
    """The largest component of a drawn graph, and what each search of it starts from."""

    part: Part
    truth: np.ndarray
    moments: Moments
    level: Level
    seed: int

    @property
    def true_k(self) -> int:
        """Number of planted communities."""
        return int(self.truth.max()) + 1

    @property
    def resolution(self) -> float:
        """Resolution of the first moves."""
        return many.resolution_of(
            self.moments.k_low, self.moments.s, float(self.level.strength.mean())
        )

    def nats_of(self, z: np.ndarray) -> float:
        """Return the nats that labels save."""
        labels, k = renumbered(z.astype(np.int32))
        return rates.nats_saved(coarse_level(self.level, labels, k, Effort()))


@dataclass(frozen=True, eq=False)
class Found:
    """Labels, and the entries read to find them; nan where they are not counted."""

    z: np.ndarray
    entries: float


@lru_cache(maxsize=8)
def case_of(name: str, seed: int) -> Case:
    """Draw a graph and keep its largest component."""
    graph = GRAPHS[name](name, seed=seed)
    adjacency = kg.Graph.from_edges(graph.source, graph.target, n=graph.n).simple_adjacency()
    _, component = connected_components(adjacency)
    rows = np.flatnonzero(component == np.argmax(np.bincount(component)))
    bound = kg.BetheHessian().bind(adjacency, weighted=False).restrict(rows)
    A = restricted(adjacency, rows)
    part = Part(A, np.diff(A.indptr).astype(float), bound)
    truth = np.unique(graph.truth[rows], return_inverse=True)[1]
    return Case(part, truth, moments(bound), finest_level(A, weighted=False), seed)


def searched(case: Case, *, refine: Hartigan | None = Hartigan()) -> Found:
    """Run the whole search."""
    rng = np.random.default_rng(case.seed)
    found = many.many_communities(case.part, case.moments, refine, rng, weighted=False)
    return Found(found.z, found.visits)


def polished(case: Case, *, start: str, by: str) -> Found:
    """Polish the planted labels, or those of the first moves and merges, in one way only."""
    rng, effort, level = np.random.default_rng(case.seed), Effort(), case.level
    if start == "truth":
        z = case.truth.astype(np.int32)
    else:
        penalty = np.full(level.n, case.resolution / (2.0 * level.edges))
        z, k = multilevel(level, penalty, rng, effort)
        groups = coarse_level(level, z, k, effort)
        z = rates.merged(groups, effort, least=float(np.log(level.n)))[0][z]
    k = int(z.max()) + 1
    if by == "own densities":
        groups = coarse_level(level, z, k, effort)
        z = rates.Warmth(level, effort, rng).moved(z, groups, (0.0,) * 20)[0]
    if by == "one density":
        z = likelihood_moves(case.part.A, case.part.d, z.astype(np.int64), k=k)
        return Found(z, float("nan"))
    if by.startswith("Hartigan"):
        M, diagonal, w = Hartigan().objective(case.part.bound, case.part.d)
        margin = float(by.removeprefix("Hartigan, margin "))
        outcome = improve(M, diagonal, w, z.astype(np.int64), k=k, margin=margin)
        effort.read(outcome.visits)
        z = outcome.z
    return Found(z, effort.entries)


@dataclass(frozen=True)
class Setting:
    """One line: names that are given other values while ``run`` works."""

    label: str
    changes: tuple[tuple[Any, str, Any], ...] = ()
    run: Callable[[Case], Found] = searched

    def found(self, case: Case) -> Found:
        """Run with the changes in force."""
        with ExitStack() as stack:
            for owner, attribute, value in self.changes:
                stack.enter_context(patch.object(owner, attribute, value))
            return self.run(case)


@dataclass(frozen=True)
class Experiment:
    """Settings that are compared on some graphs."""

    question: str
    graphs: tuple[str, ...]
    settings: tuple[Setting, ...]


def varied(
    question: str, owner: Any, attribute: str, others: tuple[float, ...], graphs: tuple[str, ...]
) -> Experiment:
    """Return an experiment on one number: the chosen value, and others around it."""
    chosen = getattr(owner, attribute)
    values = sorted({chosen, *others})
    settings = (
        Setting(f"{value:g}*")
        if value == chosen
        else Setting(f"{value:g}", ((owner, attribute, value),))
        for value in values
    )
    return Experiment(question, graphs, tuple(settings))


def _times(factor: float) -> Setting:
    def scaled(k: float, s: float, degree: float) -> float:
        return factor * resolution_of(k, s, degree)

    resolution_of = many.resolution_of
    return Setting(f"{factor:g}", ((many, "resolution_of", scaled),))


def _least_saving(label: str, nats: Callable[[int], float]) -> Setting:
    class Search(many._Search):
        def __init__(self, level: Level, *others: Any) -> None:
            super().__init__(level, *others)
            self.least = nats(level.n)

    return Setting(label, ((many, "_Search", Search),))


def _cold(temperatures: tuple[float, ...]) -> tuple[float, ...]:
    return (0.0,) * len(temperatures)


def _temperatures() -> tuple[Setting, ...]:
    mild, reheat, step = many._MILD, many._REHEAT, many._STEP
    return (
        Setting(
            "all cold",
            (
                (many, "_MILD", _cold(mild)),
                (many, "_REHEAT", _cold(reheat)),
                (many, "_STEP", _cold(step)),
            ),
        ),
        Setting("mild ones cold", ((many, "_MILD", _cold(mild)),)),
        Setting("no reheating", ((many, "_REHEATS", 0),)),
        Setting("descent cold", ((many, "_STEP", _cold(step)),)),
        Setting("chosen*"),
        Setting("descent at 1", ((many, "_STEP", (1.0,) * len(step)),)),
        Setting("reheat at 1.5", ((many, "_REHEAT", (1.5, *reheat)),)),
    )


_POLISHES = (
    "nothing",
    "Hartigan, margin 0",
    "Hartigan, margin 0.25",
    "one density",
    "own densities",
)

EXPERIMENTS: dict[str, Experiment] = {
    "resolution": Experiment(
        "resolution of the first moves, as a multiple of the derived one",
        ("LFR d=20 mu=.65", *BOTH),
        (_times(0.6), _times(0.8), Setting("1*"), _times(1.5), _times(2.0)),
    ),
    "least-saving": Experiment(
        "nats that a merge or split must save",
        (*CLEAR, *HARDEST),
        (
            _least_saving("0", lambda n: 0.0),
            _least_saving("3", lambda n: 3.0),
            Setting("ln n*"),
            _least_saving("2 ln n", lambda n: 2.0 * float(np.log(n))),
            _least_saving("40", lambda n: 40.0),
        ),
    ),
    "share": varied(
        "part of the groups that is merged before nodes move again",
        many,
        "_SHARE",
        (0.05, 0.5, 1.0),
        BOTH,
    ),
    "temperatures": Experiment("temperatures of the warm moves", HARDEST, _temperatures()),
    "doubt": varied("nats by which a node is decided", rates, "_DOUBT", (1.0, 3.0, 12.0), HARDEST),
    "step-down": varied(
        "groups before a step of the descent, for one after it",
        many,
        "_STEP_DOWN",
        (1.1, 1.5, 2.0),
        ("LFR d=10 mu=.6", "SBM k=40 SNR 1.5"),
    ),
    "finer": varied(
        "resolution at which a descent begins, as a multiple",
        many,
        "_FINER",
        (1.0, 2.0, 8.0),
        ("LFR d=10 mu=.6", "SBM k=40 SNR 1.5"),
    ),
    "finest-share": varied(
        "most groups that a descent begins with, for each node",
        many,
        "_FINEST_SHARE",
        (0.03, 0.3),
        ("LFR d=10 mu=.6", "SBM k=40 SNR 1.5"),
    ),
    "steps-past-best": varied(
        "steps of the descent after the best one", many, "_STEPS_PAST_BEST", (2, 4), HARDEST
    ),
    "faint": varied(
        "SNR below which the search begins with the descent (1: never, 9: always)",
        many,
        "_FAINT",
        (1.0, 9.0),
        ("LFR d=20 mu=.65", "LFR d=10 mu=.4", *HARDEST),
    ),
    "hard": varied(
        "part that reheating must add to the nats for a descent to follow",
        many,
        "_HARD",
        (0.0, 0.01, 0.1),
        HARDEST,
    ),
    "decided": varied(
        "share of undecided nodes from which on labels are reheated",
        many,
        "_DECIDED",
        (0.0, 0.05, 0.2),
        (*CLEAR, "LFR d=10 mu=.5"),
    ),
    "worth-reheating": varied(
        "part that reheating must add to the nats to be repeated",
        many,
        "_WORTH_REHEATING",
        (0.0, 0.02, 1.0),
        HARD,
    ),
    "sampled": varied(
        "share of the nodes in communities that are tried for splits first",
        many,
        "_SAMPLED",
        (0.05, 1.0),
        BOTH,
    ),
    "hartigan": Experiment(
        "the polish by Hartigan moves, kept where it saves nats",
        HARDEST,
        (Setting("left out", run=partial(searched, refine=None)), Setting("guarded*")),
    ),
    "densities": Experiment(
        "one polish only, after the first moves and merges",
        ("LFR d=20 mu=.65", *BOTH),
        tuple(Setting(by, run=partial(polished, start="moves", by=by)) for by in _POLISHES),
    ),
    "bias": Experiment(
        "one polish only, from the planted labels",
        ("LFR d=20 mu=.65", *BOTH),
        tuple(Setting(by, run=partial(polished, start="truth", by=by)) for by in _POLISHES),
    ),
}

_WIDTHS = (20, 23, 7, 7, 9, 8, 9)
_HEADINGS = ("graph", "value", "NMI", "AMI", "k error %", "nats %", "entries/m")


def _line(cells: tuple[str, ...]) -> str:
    texts, numbers = cells[:2], cells[2:]
    left = (text.ljust(width) for text, width in zip(texts, _WIDTHS, strict=False))
    right = (number.rjust(width) for number, width in zip(numbers, _WIDTHS[2:], strict=True))
    return "  ".join([*left, *right])


def measured(case: Case, setting: Setting) -> tuple[float, ...]:
    """Return NMI, AMI, error of k in percent, nats in percent, and entries read per edge."""
    found = setting.found(case)
    k = np.unique(found.z).size
    return (
        metrics.nmi(case.truth, found.z),
        metrics.ami(case.truth, found.z),
        100.0 * (k / case.true_k - 1.0),
        100.0 * case.nats_of(found.z) / case.nats_of(case.truth),
        found.entries / case.level.edges,
    )


def lines_of(experiment: Experiment, seeds: range) -> Iterator[str]:
    """Yield the lines of an experiment, as they are measured."""
    for graph in experiment.graphs:
        for setting in experiment.settings:
            rows = [measured(case_of(graph, seed), setting) for seed in seeds]
            nmi, ami, k_error, nats, entries = np.mean(rows, axis=0)
            yield _line(
                (
                    graph,
                    setting.label,
                    f"{nmi:.4f}",
                    f"{ami:.4f}",
                    f"{k_error:+.1f}",
                    f"{nats:.2f}",
                    "-" if np.isnan(entries) else f"{entries:.0f}",
                )
            )


def main() -> None:
    """Print the experiments that the command line names, all without a name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constants", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=tuple(EXPERIMENTS), metavar="NAME")
    parser.add_argument("--list", action="store_true", help="name the experiments")
    parser.add_argument("--seed", type=int, default=0, help="of the first graph of each line")
    parser.add_argument("--graphs", type=int, default=3, help="drawn for each line")
    options = parser.parse_args()
    for name in options.only or EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        print(f"{name}: {experiment.question}")
        if options.list:
            continue
        print(_line(_HEADINGS))
        for line in lines_of(experiment, range(options.seed, options.seed + options.graphs)):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
