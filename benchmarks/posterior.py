"""``python -m benchmarks.posterior``: belief propagation beside an oracle, calibration and time.

Each row is a random graph model with k given: the mean overlap of labels from eigenvectors, of
the posterior with rates learned from the graph, and of an oracle that is told the true rates and
starts from the same labels; the mean and standard error of the difference to the oracle; how often
the most probable labels were taken; and the calibration error, which is the distance of confidence
and share of right labels in ten bins, pooled over graphs. ``--large`` measures one graph of a
million edges next to igraph's Leiden with two iterations, and ``--gibbs`` the confidence of many
communities.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import process_time

import numpy as np
from scipy.optimize import linear_sum_assignment

import kgroups as kg
from benchmarks.memory import peak_above, start_watching
from kgroups.generators import (
    Planted,
    PlantedAffinity,
    degree_corrected_sbm,
    girvan_newman_benchmark,
    lfr_benchmark,
    planted_partition,
)
from kgroups.inference.propagation import (
    Beliefs,
    Learning,
    Rates,
    Schedule,
    block_model,
    propagate,
)
from kgroups.multilevel import finest_level
from kgroups.operators import degrees_are_uneven

BINS = 10


@dataclass
class Cell:
    """A graph model, and what its graphs gave."""

    name: str
    k: int
    degree: float
    snr: float
    draw: Callable[..., Planted]
    overlaps: list[list[float]] = field(default_factory=list)
    accepted: list[bool] = field(default_factory=list)
    sure: list[np.ndarray] = field(default_factory=list)
    right: list[np.ndarray] = field(default_factory=list)

    def add(self, seed: int) -> None:
        graph, truth = self.draw(rng=seed)
        found = kg.posterior(graph, self.k)
        first = _first_labels(graph, self.k)
        labels = [first, found.labels, self.oracle(graph, first)]
        self.overlaps.append([kg.metrics.overlap(truth, z) for z in labels])
        self.accepted.append(found.accepted)
        self.sure.append(found.confidence)
        self.right.append(right_labels(truth, found.labels))

    def oracle(self, graph: kg.Graph, first: np.ndarray) -> np.ndarray:
        """Return the most probable labels at the true rates, from the labels given."""
        A, root = graph.simple_adjacency(), np.sqrt(self.degree)
        inside = (self.degree + self.snr * (self.k - 1) * root) / self.degree
        between = max((self.degree - self.snr * root) / self.degree, 1e-3)
        rates = Rates(np.full(self.k, inside), between, np.full(self.k, 1.0 / self.k))
        level = finest_level(A, weighted=False)
        model = block_model(level, degree_corrected=degrees_are_uneven(A))
        beliefs = Beliefs(model, first, self.k, 0.5)
        schedule = Schedule(0, 1, 300, 1e-3, 0.0)
        found = propagate(beliefs, rates, Learning("unchanged"), schedule)
        return np.argmax(found.marginals, axis=1)

    def print(self) -> None:
        table = np.array(self.overlaps)
        seed, found, oracle = table.mean(axis=0)
        difference = table[:, 1] - table[:, 2]
        error = difference.std(ddof=1) / np.sqrt(len(table)) if len(table) > 1 else np.nan
        calibration = calibration_error(np.concatenate(self.sure), np.concatenate(self.right))
        print(
            f"{self.name:<22}{self.k:>4}{self.snr:>6.1f}{seed:>9.3f}{found:>11.3f}{oracle:>9.3f}"
            f"{difference.mean():>+10.3f}{error:>8.3f}{100 * np.mean(self.accepted):>8.0f}"
            f"{calibration:>13.3f}",
            flush=True,
        )


def _first_labels(graph: kg.Graph, k: int) -> np.ndarray:
    uneven = degrees_are_uneven(graph.simple_adjacency())
    operator = kg.BetheHessian("nonbacktracking") if uneven else kg.BetheHessian()
    regime = kg.Exact() if uneven else kg.Auto()
    return kg.detect_communities(graph, k, operator=operator, regime=regime, refine=None).labels


def right_labels(truth: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Tell for each node if its community is the one that matches its true one best."""
    table = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(table, (labels, truth), 1)
    row, column = linear_sum_assignment(-table)
    match = np.full(labels.max() + 1, -1)
    match[row] = column
    return match[labels] == truth


def calibration_error(sure: np.ndarray, right: np.ndarray) -> float:
    """Return the distance of confidence and share of right labels, in bins of confidence."""
    which = np.minimum((sure * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(which, sure - right, BINS)).sum() / sure.size)


def cells() -> list[Cell]:
    """Return the graph models of the table."""
    found = []
    for k in (2, 5, 15):
        for snr in (1.1, 1.2, 1.3, 1.4, 1.6):
            draw = partial(planted_partition, 1_000, k, 3.0, snr)
            found.append(Cell("SBM n=1000 d=3", k, 3.0, snr, draw))
    for k in (3, 10):
        for snr in (1.2, 1.4, 1.6):
            affinity = PlantedAffinity(5.0, snr)
            draw = partial(degree_corrected_sbm, [1_000 // k] * k, affinity)
            found.append(Cell("DCSBM n=1000 d=5", k, 5.0, snr, draw))
    for snr in (1.1, 1.3, 1.5, 1.8):
        found.append(Cell("Girvan-Newman", 4, 16.0, snr, partial(girvan_newman_benchmark, snr)))
    return found


def large(rounds: int, seed: int) -> None:
    """Print time and memory at n = 100 000, a million edges, k = 10."""
    graph, truth = planted_partition(100_000, 10, 20.0, 1.5, rng=seed)
    kg.posterior(planted_partition(3_000, 3, 8.0, 1.5, rng=seed).graph, 3)
    other = graph.to_igraph()
    for _ in range(rounds):
        leiden = _seconds(lambda: other.community_leiden("modularity", n_iterations=2))[1]
        before = start_watching()
        found, seconds = _seconds(lambda: kg.posterior(graph, 10))
        peak = peak_above(before)
        print(
            f"n=100k m=1M k=10: {seconds:.2f} s, Leiden {leiden:.2f} s, ratio "
            f"{seconds / leiden:.2f}, {found.sweeps} sweeps, overlap "
            f"{kg.metrics.overlap(truth, found.labels):.3f}, peak "
            f"{'unknown' if peak is None else f'{peak / 1e6:.0f} MB'} above the graph"
        )


def gibbs(seed: int) -> None:
    """Print time and calibration of the Gibbs chain on an LFR graph of a million edges."""
    small = lfr_benchmark(1_000, degree=20, mixing=0.3, rng=seed)
    kg.Partition(small.labels, graph=small.graph).confidence()
    for mixing in (0.6, 0.75):
        graph, truth = lfr_benchmark(100_000, degree=20, mixing=mixing, rng=seed)
        partition = kg.detect_communities(graph)
        sure, seconds = _seconds(partition.confidence)
        right = right_labels(truth, partition.labels)
        print(
            f"LFR n=100k d=20 mixing {mixing}: {partition.k} communities, confidence in "
            f"{seconds:.1f} s, mean {sure.mean():.3f}, right {right.mean():.3f}, calibration error "
            f"{calibration_error(sure, right):.3f}"
        )


def _seconds(work: Callable):
    start = process_time()
    result = work()
    return result, process_time() - start


def main() -> None:
    """Print the table, or the times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.posterior", description=__doc__)
    parser.add_argument("--graphs", type=int, default=20, help="per row")
    parser.add_argument("--seed", type=int, default=0, help="of the first graph")
    parser.add_argument("--large", action="store_true", help="time next to Leiden's instead")
    parser.add_argument("--gibbs", action="store_true", help="the Gibbs chain instead")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.large or options.gibbs:
        if options.large:
            large(options.rounds, options.seed)
        if options.gibbs:
            gibbs(options.seed)
        return
    print(
        f"{'model':<22}{'k':>4}{'λ':>6}{'seed':>9}{'posterior':>11}{'oracle':>9}{'paired':>10}"
        f"{'s.e.':>8}{'taken %':>8}{'calibration':>13}"
    )
    for cell in cells():
        for graph in range(options.graphs):
            cell.add(options.seed + graph)
        cell.print()


if __name__ == "__main__":
    main()
