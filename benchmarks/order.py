"""``python -m benchmarks.order``: what the same answer in any node order and on any threads costs.

An LFR-like graph comes as an igraph graph without names, with names in sorted order, with names in
a random order, and on one thread. *reading* is the conversion, *ordering* the sort of the names
and the graph put into that order. The last column compares the communities with those of the
sorted names. Times are medians of rounds in which all take turns.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import igraph
import numpy as np

import kgroups as kg
from benchmarks.graphs import own_lfr
from kgroups._parallel import available_cores
from kgroups.graph import canonical_order


@dataclass
class Entrant:
    """A way to hand the graph over, and what its rounds took."""

    name: str
    graph: igraph.Graph
    node_of_row: np.ndarray
    threads: int
    reading: list[float] = field(default_factory=list)
    ordering: list[float] = field(default_factory=list)
    detecting: list[float] = field(default_factory=list)
    labels: np.ndarray | None = None

    def take_turn(self) -> None:
        """Time one round, and keep the label of each node in the order of the sorted names."""
        os.environ["NUMBA_NUM_THREADS"] = str(self.threads)
        converted = _timed(lambda: kg.as_graph(self.graph), self.reading)
        _timed(lambda: _ordered(converted), self.ordering)
        partition = _timed(lambda: kg.detect_communities(self.graph), self.detecting)
        self.labels = np.empty(converted.n, dtype=np.int64)
        self.labels[self.node_of_row] = partition.labels

    def print(self, reference: "Entrant") -> None:
        """Print the medians as a line."""
        distance = kg.metrics.variation_of_information(reference.labels, self.labels)
        answer = "the same" if distance == 0.0 else f"other, {distance:.2g} nats away"
        whole = median(self.detecting)
        share = median(self.ordering) / whole
        print(
            f"{self.name:<22}{whole:>10.4f}{median(self.reading):>10.4f}"
            f"{median(self.ordering):>10.4f}{100 * share:>16.1f}  {answer}"
        )


def _timed(work: Callable[[], Any], times: list[float]) -> Any:
    start = perf_counter()
    result = work()
    times.append(perf_counter() - start)
    return result


def _ordered(graph: kg.Graph) -> kg.Graph:
    order, _ = canonical_order(graph)
    return graph if order is None else graph.permuted(order)


def entrants(n: int, mixing: float, seed: int) -> list[Entrant]:
    """Return one graph handed over in four ways."""
    drawn = own_lfr("lfr", n=n, degree=20, mixing=mixing, seed=seed)
    width = len(str(n - 1))
    same = np.arange(n)
    shuffled = np.random.default_rng(seed).permutation(n)
    row_of_node = np.argsort(shuffled)

    def built(row_of: np.ndarray, names: list[str] | None) -> igraph.Graph:
        ends = np.column_stack([row_of[drawn.source], row_of[drawn.target]])
        graph = igraph.Graph(n=n, edges=ends)
        if names is not None:
            graph.vs["name"] = names
        return graph

    plain = built(same, None)
    sorted_names = [f"node {i:0{width}}" for i in range(n)]
    shuffled_names = [sorted_names[i] for i in shuffled.tolist()]
    threads = available_cores()
    return [
        Entrant("sorted names", built(same, sorted_names), same, threads),
        Entrant("no names", plain, same, threads),
        Entrant("names in random order", built(row_of_node, shuffled_names), shuffled, threads),
        Entrant("one thread", plain, same, 1),
    ]


def main() -> None:
    """Print a line for each way to hand the graph over."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.order", description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--mixing", type=float, default=0.4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="of the graph and the order")
    options = parser.parse_args()
    kg.warm(progress=False)
    competing = entrants(options.nodes, options.mixing, options.seed)
    kg.detect_communities(competing[0].graph)
    for _ in range(options.rounds):
        for entrant in competing:
            entrant.take_turn()
    print(f"{options.nodes} nodes, {competing[0].graph.ecount()} edges, {options.rounds} rounds")
    print(f"{'':<22}{'seconds':>10}{'reading':>10}{'ordering':>10}{'ordering, %':>16}  communities")
    for entrant in competing:
        entrant.print(competing[0])


if __name__ == "__main__":
    main()
