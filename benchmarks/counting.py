"""Time the count of negative eigenvalues of H_r, against eigsh on the low end of H_r.

Run ``python benchmarks/counting.py``. Networks that do not ship are looked for in the folder
named by KGROUPS_DATA. The rival asks eigsh for the k + 1 lowest eigenvalues of H_r: it is told k,
which the count has to find, and it is left out where it would take too long.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from kgroups import BetheHessian, Graph, datasets
from kgroups._types import CSR
from kgroups.errors import KGroupsError
from kgroups.operators import BoundBetheHessian
from kgroups.spectrum import connected_components, count_components, spectrum_of

NETWORKS = ("karate", "football", "email-Eu-core", "ca-GrQc", "cora")
LARGEST_RIVAL_NODES = 20_000
LARGEST_RIVAL_K = 200


def grid(side: int) -> Graph:
    node = np.arange(side * side).reshape(side, side)
    source = np.concatenate([node[:-1].ravel(), node[:, :-1].ravel()])
    target = np.concatenate([node[1:].ravel(), node[:, 1:].ravel()])
    return Graph.from_edges(source, target)


def planted(n: int, k: int, degree: float, snr: float, seed: int) -> Graph:
    """Draw a planted partition by its numbers of edges; repeated pairs and loops are dropped."""
    rng = np.random.default_rng(seed)
    inside = (degree + snr * (k - 1) * degree**0.5) / k
    m_in, m_out = rng.poisson(n / 2.0 * np.array([inside, degree - inside]))
    u = rng.integers(0, n, m_in + m_out)
    v = rng.integers(0, n, m_in + m_out)
    v[:m_in] = u[:m_in] % k + k * rng.integers(0, n // k, m_in)
    # Shifting the end by 1 to k - 1 groups puts it into another group.
    v[m_in:] = (u[m_in:] % k + rng.integers(1, k, m_out)) % k + k * rng.integers(0, n // k, m_out)
    pairs = np.unique(np.sort(np.stack([u, v], axis=1), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n)


def graphs(*, large: bool) -> Iterator[tuple[str, Graph]]:
    for name in NETWORKS:
        try:
            yield name, datasets.load(name).graph
        except KGroupsError as error:
            print(f"{name} is left out: {str(error).splitlines()[0]}")
    yield "grid 30x30", grid(30)
    yield "grid 300x300", grid(300)
    yield "planted n=1k d=3 k=5", planted(1_000, 5, 3.0, 1.5, seed=0)
    yield "planted n=10k d=10 k=10", planted(10_000, 10, 10.0, 2.0, seed=0)
    if large:
        yield "planted n=100k d=10 k=10", planted(100_000, 10, 10.0, 2.0, seed=0)


def seconds(work: Callable[[], object], repeat: int) -> float:
    """Return the median time of some calls, after one that is not counted."""
    work()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def low_end(bound: BoundBetheHessian, k: int) -> int:
    from scipy.sparse.linalg import eigsh

    values = eigsh(bound.matrix(), k=k + 1, which="SA", return_eigenvectors=False)
    return int(np.count_nonzero(values < 0.0))


def row(name: str, adjacency: CSR, repeat: int) -> str:
    bound = BetheHessian().bind(adjacency, weighted=False)
    _, labels = connected_components(adjacency)
    counts = count_components(bound, labels)
    k = counts.total
    count_time = seconds(lambda: count_components(bound, labels), repeat)
    all_time = seconds(lambda: spectrum_of(bound, adjacency, weighted=False), repeat)
    rival = "left out"
    if bound.n <= LARGEST_RIVAL_NODES and k <= min(LARGEST_RIVAL_K, bound.n // 3):
        rival_time = seconds(lambda: low_end(bound, k), repeat)
        rival = f"{rival_time:.4f} s (k={low_end(bound, k)}), {rival_time / count_time:.1f}x"
    used = Counter(counts.method)
    methods = ", ".join(f"{method} {used[method]}" for method in sorted(used))
    return f"{name:26s}{k:6d} {count_time:10.4f} s {all_time:10.4f} s  {rival:34s}{methods}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="timed calls of each kind")
    parser.add_argument("--large", action="store_true", help="also a graph of 500 000 edges")
    options = parser.parse_args()
    print(f"{'graph':26s}{'k':>6s} {'count':>12s} {'estimate':>12s}  {'eigsh on H_r':34s}methods")
    for name, graph in graphs(large=options.large):
        print(row(name, graph.simple_adjacency(), options.repeat), flush=True)


if __name__ == "__main__":
    main()
