"""Graphs on which constants are tried, and the searches that are run on them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

import kgroups as kg
from benchmarks.graphs import (
    BenchmarkGraph,
    degree_corrected,
    lfr,
    own_lfr,
    planted_partition,
)
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
    "SBM k=2 SNR 1.3": partial(planted_partition, n=10_000, k=2, degree=5.0, snr=1.3),
    "SBM k=10 SNR 1.3": partial(planted_partition, n=10_000, k=10, degree=10.0, snr=1.3),
    "SBM k=10 SNR 1.6": partial(planted_partition, n=10_000, k=10, degree=10.0, snr=1.6),
    "SBM k=10 SNR 2": partial(planted_partition, n=10_000, k=10, degree=10.0, snr=2.0),
    "SBM k=50 SNR 1.5": partial(planted_partition, n=10_000, k=50, degree=15.0, snr=1.5),
    "DCSBM k=10 SNR 1.8": partial(degree_corrected, n=10_000, k=10, degree=15.0, snr=1.8),
    "SBM k=100 SNR 1.5": partial(planted_partition, n=10_000, k=100, degree=15.0, snr=1.5),
}
CLEAR = ("LFR d=20 mu=.4", "LFR d=10 mu=.4", "binomial LFR mu=.5")
HARD = ("LFR d=20 mu=.65", "LFR d=10 mu=.5", "SBM k=40 SNR 1.5")
HARDEST = ("LFR d=10 mu=.5", "LFR d=10 mu=.6", "SBM k=40 SNR 1.5")
AUTO = kg.Auto()
BORDER = (
    "SBM k=2 SNR 1.3",
    "SBM k=10 SNR 1.3",
    "SBM k=10 SNR 1.6",
    "SBM k=10 SNR 2",
    "SBM k=50 SNR 1.5",
    "SBM k=100 SNR 1.5",
)
BOTH = ("LFR d=10 mu=.4", "LFR d=10 mu=.5", "binomial LFR mu=.5", "SBM k=40 SNR 1.5")


@dataclass(frozen=True, eq=False)
class Case:
    """The largest component of a drawn graph, and what each search of it starts from."""

    graph: kg.Graph
    rows: np.ndarray
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
    drawn = GRAPHS[name](name, seed=seed)
    graph = kg.Graph.from_edges(drawn.source, drawn.target, n=drawn.n)
    adjacency = graph.simple_adjacency()
    _, component = connected_components(adjacency)
    rows = np.flatnonzero(component == np.argmax(np.bincount(component)))
    bound = kg.BetheHessian().bind(adjacency, weighted=False).restrict(rows)
    A = restricted(adjacency, rows)
    part = Part(A, np.diff(A.indptr).astype(float), bound)
    truth = np.unique(drawn.truth[rows], return_inverse=True)[1]
    level = finest_level(A, weighted=False)
    return Case(graph, rows, part, truth, moments(bound), level, seed)


def searched(case: Case, *, refine: Hartigan | None = Hartigan()) -> Found:
    """Run the whole search."""
    rng = np.random.default_rng(case.seed)
    found = many.many_communities(case.part, case.moments, refine, rng, weighted=False)
    return Found(found.z, found.visits)


def detected(case: Case, *, regime: kg.Auto | kg.FewGroups | kg.ManyGroups = AUTO) -> Found:
    """Run the whole pipeline."""
    partition = kg.detect_communities(case.graph, regime=regime, rng=case.seed)
    return Found(partition.labels[case.rows], partition.report.visits)


def polished(case: Case, *, start: str, by: str) -> Found:
    """Polish the planted labels, or those of the first moves and merges, in one way only."""
    rng, effort, level = np.random.default_rng(case.seed), Effort(), case.level
    if start == "truth":
        z = case.truth.astype(np.int32)
    else:
        penalty = np.full(level.n, case.resolution / (2.0 * level.edges))
        z, k = multilevel(level, penalty, rng, effort)
        groups = coarse_level(level, z, k, effort)
        z = rates.merged(groups, effort)[0][z]
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
