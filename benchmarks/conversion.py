"""How fast graphs come in: kgroups against the converters of networkx and igraph.

Run ``python benchmarks/conversion.py``. The two sides of each line take turns, so that a busy
machine slows both; the medians and their ratio are printed. Both results are compared first.
"""

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import igraph
import networkx as nx
import numpy as np

from kgroups.adapters import as_graph

N_NODES, N_EDGES = 10_000, 100_000


def interleaved(
    first: Callable[[], Any], second: Callable[[], Any], *, rounds: int
) -> tuple[float, float]:
    """Median seconds of two calls that take turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for call, taken in zip((first, second), times, strict=True):
            start = perf_counter()
            call()
            taken.append(perf_counter() - start)
    return median(times[0]), median(times[1])


def random_graph(*, weighted: bool = False) -> nx.Graph:
    graph = nx.gnm_random_graph(N_NODES, N_EDGES, seed=1)
    if weighted:
        rng = np.random.default_rng(1)
        for (u, v), value in zip(graph.edges, rng.random(N_EDGES).tolist(), strict=True):
            graph[u][v]["weight"] = value
    return graph


def permuted_graph() -> nx.Graph:
    shuffled = np.random.default_rng(2).permutation(N_NODES).tolist()
    return nx.relabel_nodes(random_graph(), dict(enumerate(shuffled)))


def named_graph() -> nx.Graph:
    plain = random_graph()
    return nx.relabel_nodes(plain, {i: f"node {i}" for i in plain})


# One graph exists at a time: a heap full of other graphs slows the garbage collector, and with
# it whichever side makes more objects.
NETWORKX_CASES: list[tuple[str, Callable[[], nx.Graph], str | None, float]] = [
    ("weight=None, integer labels", random_graph, None, 10.0),
    ("weight=None, permuted integers", permuted_graph, None, 10.0),
    ("default, unweighted, integer labels", random_graph, "weight", 4.0),
    ("default, weighted, integer labels", lambda: random_graph(weighted=True), "weight", 2.5),
    ("default, unweighted, string labels", named_graph, "weight", 1.5),
    ("weight=None, string labels", named_graph, None, 1.5),
]


def line(case: str, theirs: float, ours: float, bar: float | None) -> str:
    wanted = "" if bar is None else f"(bar {bar:g}x)"
    return f"{case:<46}{theirs * 1e3:>10.2f}{ours * 1e3:>10.2f}{theirs / ours:>8.1f}x  {wanted}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"{N_NODES} nodes, {N_EDGES} edges; median of {rounds} interleaved rounds\n")
    print(f"{'networkx':<46}{'nx ms':>10}{'kg ms':>10}{'ratio':>9}")
    for case, make, weight, bar in NETWORKX_CASES:
        networkx_lines(case, make(), weight, bar, rounds)
    igraph_lines(rounds)


def networkx_lines(case: str, graph: nx.Graph, weight: str | None, bar: float, rounds: int) -> None:
    def theirs() -> Any:
        return nx.to_scipy_sparse_array(graph, weight=weight)

    def ours() -> Any:
        return as_graph(graph, weight=weight)

    if (ours().to_scipy() != theirs()).nnz:
        raise SystemExit(f"{case}: the matrices differ")
    print(line(case, *interleaved(theirs, ours, rounds=rounds), bar))


def igraph_lines(rounds: int) -> None:
    plain = igraph.Graph.Erdos_Renyi(n=N_NODES, m=N_EDGES)
    if (as_graph(plain).to_scipy() != plain.get_adjacency_sparse()).nnz:
        raise SystemExit("igraph: the matrices differ")
    print(f"\n{'igraph ' + igraph.__version__:<46}{'igraph ms':>10}{'kg ms':>10}{'ratio':>9}")
    for name in ("get_adjacency_sparse", "get_edgelist"):
        times = interleaved(getattr(plain, name), lambda: as_graph(plain), rounds=rounds)
        print(line(f"{name} / as_graph", *times, None))


if __name__ == "__main__":
    main()
