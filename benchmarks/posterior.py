"""``python -m benchmarks.posterior``: time and memory of the posterior on large graphs.

On a planted partition of a million edges and 10 communities: CPU time of ``posterior`` and of
igraph's Leiden with two iterations, and the peak of memory above the graph. ``--gibbs`` instead
measures the confidence of the many communities of LFR graphs, which is sampled. How close the
posterior comes to an oracle, and how well it is calibrated, is printed by
``python -m reproduce optimal``.
"""

import argparse
from collections.abc import Callable
from time import process_time

import kgroups as kg
from benchmarks.memory import peak_above, start_watching
from kgroups.generators import lfr_benchmark, planted_partition
from reproduce.inference_trials import calibration_bins, calibration_error, right_labels


def large(n: int, rounds: int, seed: int) -> None:
    """Print time and memory on a graph of 10 n edges and 10 communities."""
    graph, truth = planted_partition(n, 10, 20.0, 1.5, rng=seed)
    kg.posterior(planted_partition(3_000, 3, 8.0, 1.5, rng=seed).graph, 3)
    other = graph.to_igraph()
    for _ in range(rounds):
        leiden = _seconds(lambda: other.community_leiden("modularity", n_iterations=2))[1]
        before = start_watching()
        found, seconds = _seconds(lambda: kg.posterior(graph, 10))
        peak = peak_above(before)
        print(
            f"n={n} m={graph.m} k=10: {seconds:.2f} s, Leiden {leiden:.2f} s, ratio "
            f"{seconds / leiden:.2f}, {found.sweeps} sweeps, overlap "
            f"{kg.metrics.overlap(truth, found.labels):.3f}, peak "
            f"{'unknown' if peak is None else f'{peak / 1e6:.0f} MB'} above the graph"
        )


def gibbs(n: int, seed: int) -> None:
    """Print time and calibration of confidence on LFR graphs of 10 n edges."""
    small = lfr_benchmark(1_000, degree=20, mixing=0.3, rng=seed)
    kg.Partition(small.labels, graph=small.graph).confidence()
    for mixing in (0.6, 0.75):
        graph, truth = lfr_benchmark(n, degree=20, mixing=mixing, rng=seed)
        partition = kg.detect_communities(graph)
        sure, seconds = _seconds(partition.confidence)
        right = right_labels(truth, partition.labels)
        print(
            f"LFR n={n} d=20 mixing {mixing}: {partition.k} communities, confidence in "
            f"{seconds:.1f} s, mean {sure.mean():.3f}, right {right.mean():.3f}, calibration error "
            f"{calibration_error([calibration_bins(sure, right)]):.3f}"
        )


def _seconds(work: Callable):
    start = process_time()
    result = work()
    return result, process_time() - start


def main() -> None:
    """Print times and memory."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.posterior", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the graph")
    parser.add_argument("--gibbs", action="store_true", help="the Gibbs chain instead")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=100_000)
    options = parser.parse_args()
    if options.gibbs:
        gibbs(options.nodes, options.seed)
    else:
        large(options.nodes, options.rounds, options.seed)


if __name__ == "__main__":
    main()
