"""Time the count of eigenvalues above the threshold, against igraph's Leiden on the same graph.

Run ``python benchmarks/counting.py``. Networks that do not ship are looked for in the folder named
by KGROUPS_DATA. *count* is the number at one r, as ``method=Spectral("exact")`` needs it;
*estimate* is ``estimate_k``: three choices of r, the eigenvalues around the threshold and those
below -1. Up to 2,500 nodes the number is compared with that of the dense matrix. Leiden runs two
iterations.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from kgroups import BetheHessian, Graph, datasets, estimate_k
from kgroups._csr import connected_components
from kgroups.errors import KGroupsError
from kgroups.generators import lfr_benchmark, planted_partition
from kgroups.spectrum import count_components

NETWORKS = ("karate", "football", "email-Eu-core", "ca-GrQc", "cora", "musae-facebook")
LARGEST_DENSE_NODES = 2_500


def grid(side: int) -> Graph:
    node = np.arange(side * side).reshape(side, side)
    source = np.concatenate([node[:-1].ravel(), node[:, :-1].ravel()])
    target = np.concatenate([node[1:].ravel(), node[:, 1:].ravel()])
    return Graph.from_edges(source, target)


def graphs(seed: int) -> Iterator[tuple[str, Graph]]:
    for name in NETWORKS:
        try:
            yield name, datasets.load(name).graph
        except KGroupsError as error:
            print(f"{name} is left out: {str(error).splitlines()[0]}")
    yield "grid 30x30", grid(30)
    yield "grid 300x300", grid(300)
    for n, k, degree, snr in (
        (1_000, 5, 3, 1.5),
        (3_100, 8, 13, 1.1),
        (5_000, 10, 30, 1.15),
        (20_000, 20, 10, 1.2),
        (100_000, 20, 10, 1.2),
    ):
        name = f"planted n={n} k={k} d={degree} snr={snr}"
        yield name, planted_partition(n, k, degree, snr, rng=seed).graph
    for mixing in (0.4, 0.6):
        drawn = lfr_benchmark(20_000, degree=20, mixing=mixing, max_community=500, rng=seed)
        yield f"LFR n=20000 d=20 mu={mixing}", drawn.graph
    drawn = lfr_benchmark(100_000, degree=20, mixing=0.4, max_community=500, rng=seed)
    yield "LFR n=100000 d=20 mu=0.4", drawn.graph


def seconds(work: Callable[[], object], repeat: int) -> float:
    """Return the median time of some calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def row(name: str, graph: Graph, repeat: int) -> str:
    adjacency = graph.simple_adjacency()
    hessian = BetheHessian().bind(adjacency, weighted=False)
    _, labels = connected_components(adjacency)
    counts = count_components(hessian, labels)
    native = graph.to_igraph()
    count_time = seconds(lambda: count_components(hessian, labels), repeat)
    all_time = seconds(lambda: estimate_k(graph, weight=None), repeat)
    leiden = seconds(lambda: native.community_leiden("modularity", n_iterations=2), repeat)
    found = f"{counts.total}"
    if not counts.is_exact:
        found = f"{counts.total} ({counts.k_low.sum()}-{counts.k_high.sum()})"
    dense = "-"
    if hessian.n <= LARGEST_DENSE_NODES:
        values = np.linalg.eigvalsh(hessian.normalized_matrix().toarray())
        dense = str(np.count_nonzero(values > 1.0 + 1e-9))
    used = Counter(counts.method)
    methods = ", ".join(f"{method} {used[method]}" for method in sorted(used))
    return (
        f"{name:34s}{found:>16s}{dense:>7s}{count_time:10.4f}{all_time:12.4f}{leiden:10.4f}"
        f"{count_time / leiden:8.1f}{all_time / leiden:8.1f}  {methods}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="timed calls of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the drawn graphs")
    parser.add_argument("--graphs", default="", help="only those whose names contain this")
    options = parser.parse_args()
    print("Leiden: igraph, modularity, 2 iterations; its communities are not compared here")
    print(
        f"{'graph':34s}{'k':>16s}{'dense':>7s}{'count s':>10s}{'estimate s':>12s}{'Leiden s':>10s}"
        f"{'ratio':>8s}{'ratio':>8s}  methods"
    )
    for name, graph in graphs(options.seed):
        if options.graphs in name:
            print(row(name, graph, options.repeat), flush=True)


if __name__ == "__main__":
    main()
