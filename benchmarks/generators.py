"""How fast graphs are drawn, beside networkx, igraph and NetworKit, and whether they are right.

Run ``python -m benchmarks.generators``. Times are medians of runs that take turns, each with a seed
of its own; the processor's seconds do not count what other programs took. The last column compares
what was drawn with what should be: edges over their expected number for block models, the share of
edges between communities for LFR. NetworKit is left out where it is not installed.
"""

import argparse
import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

from kgroups import generators
from kgroups.generators.blocks import Blocks, _planted_pairs

MILLION = 1_000_000


@dataclass(frozen=True)
class Case:
    """A way to draw a graph; ``check`` says how right a drawn graph is."""

    name: str
    draw: Callable[[int], Any]
    edges: Callable[[Any], int]
    check: Callable[[Any], str]


def taking_turns(cases: list[Case], repeat: int) -> None:
    """Print the median time of each case, and how many times as long the last one takes."""
    seconds: dict[str, list[float]] = {case.name: [] for case in cases}
    processor: dict[str, list[float]] = {case.name: [] for case in cases}
    edges, checks = {}, {}
    for case in cases:
        case.draw(0)
    for seed in range(1, repeat + 1):
        for case in cases:
            start, busy = perf_counter(), process_time()
            drawn = case.draw(seed)
            processor[case.name].append(process_time() - busy)
            seconds[case.name].append(perf_counter() - start)
            edges[case.name], checks[case.name] = case.edges(drawn), case.check(drawn)
    last = median(seconds[cases[-1].name])
    print(f"  {'':<34}{'seconds':>9}{'processor':>11}{'M edges/s':>11}{'last/this':>11}  quality")
    for case in cases:
        taken = median(seconds[case.name])
        speed = edges[case.name] / taken / MILLION
        print(
            f"  {case.name:<34}{taken:>9.4f}{median(processor[case.name]):>11.4f}"
            f"{speed:>11.2f}{last / taken:>10.1f}x  {checks[case.name]}"
        )


def big_block_model(n: int, k: int, degree: float, snr: float, repeat: int) -> None:
    """Time drawing and finishing a planted partition of many edges."""
    print(f"\nplanted partition, {n:,} nodes, {k:,} groups, about {n * degree / 2:,.0f} edges")
    inside, between = generators.PlantedAffinity(degree, snr).probabilities(n, k)
    blocks = Blocks(np.full(k, n // k))
    pairs_inside = k * (n // k) * (n // k - 1) // 2
    expected = pairs_inside * inside + (n * (n - 1) // 2 - pairs_inside) * between

    def ratio(count: int) -> str:
        return f"edges / expected {count / expected:.4f}"

    taking_turns(
        [
            Case(
                "kgroups, pairs drawn",
                lambda seed: _planted_pairs(blocks, inside, between, np.random.default_rng(seed)),
                lambda ends: ends[0].size,
                lambda ends: "repeated pairs not yet joined",
            ),
            Case(
                "kgroups, finished Graph",
                lambda seed: generators.planted_partition(n, k, degree, snr, rng=seed),
                lambda planted: planted.graph.m,
                lambda planted: ratio(planted.graph.m),
            ),
        ],
        repeat,
    )


def peers_of_block_models(repeat: int) -> None:
    """Time the same block model in kgroups, igraph and networkx."""
    import igraph
    import networkx as nx

    sizes, n, degree = [2_500] * 4, 10_000, 20.0
    P = generators.PlantedAffinity(degree, 2.0).matrix(n, 4)
    pairs = np.multiply.outer(sizes, sizes) / 2 - np.diag(sizes) / 2
    expected = float((P * pairs).sum())
    print(f"\nblock model, {n:,} nodes, 4 blocks, about {expected:,.0f} edges")

    # igraph 1.0 no longer takes the number of nodes.
    wanted = {"n": n} if igraph.__version__.startswith("0.") else {}

    def with_igraph(seed: int) -> igraph.Graph:
        igraph.set_random_number_generator(random.Random(seed))
        return igraph.Graph.SBM(**wanted, pref_matrix=P.tolist(), block_sizes=sizes)

    def ratio(count: int) -> str:
        return f"edges / expected {count / expected:.4f}"

    taking_turns(
        [
            Case(
                "kgroups",
                lambda seed: generators.stochastic_block_model(sizes, P, rng=seed).graph,
                lambda graph: graph.m,
                lambda graph: ratio(graph.m),
            ),
            Case(
                "igraph",
                with_igraph,
                lambda graph: graph.ecount(),
                lambda graph: ratio(graph.ecount()),
            ),
            Case(
                "networkx",
                lambda seed: nx.stochastic_block_model(sizes, P.tolist(), seed=seed, sparse=True),
                lambda graph: graph.number_of_edges(),
                lambda graph: ratio(graph.number_of_edges()),
            ),
        ],
        repeat,
    )


def peers_of_lfr(n: int, mixing: float, repeat: int) -> None:
    """Time LFR in kgroups and, where it is installed, NetworKit."""
    print(f"\nLFR, {n:,} nodes, mean degree 20, mixing {mixing}")

    def share_between(u: Any, v: Any, labels: Any) -> str:
        return f"mixing {np.mean(labels[u] != labels[v]):.4f}, {np.unique(labels).size} communities"

    cases = [
        Case(
            "kgroups",
            lambda seed: generators.lfr_benchmark(n, degree=20, mixing=mixing, rng=seed),
            lambda planted: planted.graph.m,
            lambda planted: (
                share_between(*planted.graph.edges()[:2], planted.labels)
                + f", {planted.unplaced_edges} unplaced"
            ),
        )
    ]
    if find_spec("networkit") is not None:
        cases.append(_networkit_case(n, mixing))
    taking_turns(cases, repeat)


def _networkit_case(n: int, mixing: float) -> Case:
    import networkit

    def draw(seed: int) -> Any:
        networkit.setSeed(seed, True)
        generator = networkit.generators.LFRGenerator(n)
        generator.generatePowerlawDegreeSequence(20, 100, -2.5)
        generator.generatePowerlawCommunitySizeSequence(20, 500, -1.5)
        generator.setMu(mixing)
        return generator.generate(), generator.getPartition()

    def quality(drawn: Any) -> str:
        graph, partition = drawn
        inside = networkit.community.Coverage().getQuality(partition, graph)
        return f"mixing {1 - inside:.4f}, {partition.numberOfSubsets()} communities"

    return Case("NetworKit", draw, lambda drawn: drawn[0].numberOfEdges(), quality)


def other_models(n: int, repeat: int) -> None:
    """Time what has no fast peer."""
    print(f"\nothers, about {10 * n:,} edges")
    graph = generators.planted_partition(n, 10, 20.0, 2.0, rng=0).graph
    taking_turns(
        [
            Case(
                "degree_corrected_sbm",
                lambda seed: generators.degree_corrected_sbm(
                    [n // 4] * 4, generators.PlantedAffinity(20.0, 2.0), rng=seed
                ),
                lambda planted: planted.graph.m,
                lambda planted: f"mean degree {planted.graph.degrees.mean():.3f} of 20",
            ),
            Case(
                "configuration_model, 10 swaps",
                lambda seed: generators.configuration_model(graph, rng=seed),
                lambda null: null.m,
                lambda null: f"degrees kept: {np.array_equal(null.degrees, graph.degrees)}",
            ),
        ],
        repeat,
    )


def main() -> None:
    """Print a table per model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="counted runs of each")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the large sizes")
    options = parser.parse_args()
    large = int(MILLION * options.scale)
    for k in (2, 200, large // 200):
        big_block_model(large // k * k, k, 20.0, 1.5, options.repeat)
    peers_of_block_models(options.repeat)
    for mixing in (0.1, 0.4):
        peers_of_lfr(large // 10, mixing, options.repeat)
    other_models(large // 10, options.repeat)


if __name__ == "__main__":
    main()
