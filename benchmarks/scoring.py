"""How fast scores and metrics are: kgroups against networkx and scikit-learn.

Run ``python benchmarks/scoring.py``. The two sides of each line take turns and their values stand
beside the times, each the best of its rounds, since another process can only add to it. The graph
is converted before, but each round gets a new copy, with nothing cached.
"""

import argparse
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from sklearn import metrics as reference

from kgroups import metrics, scoring
from kgroups.adapters import as_graph
from kgroups.graph import Graph


class Line(NamedTuple):
    """One comparison: what, on what, and the two calls."""

    score: str
    on: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    start = perf_counter()
    value = call()
    return perf_counter() - start, float(value)


def report(line: Line, rounds: int) -> float:
    """Print one line and return how many times faster kgroups is."""
    pairs = [(timed(line.ours), timed(line.theirs)) for _ in range(rounds)]
    ours = min(pair[0][0] for pair in pairs)
    theirs = min(pair[1][0] for pair in pairs)
    value, expected = pairs[0][0][1], pairs[0][1][1]
    print(
        f"{line.score:<12} {line.on:<37} {value:>12.6f} {expected:>12.6f} "
        f"{abs(value - expected):>8.0e} {1e3 * ours:>9.2f} {1e3 * theirs:>10.2f} "
        f"{theirs / ours:>7.1f}x"
    )
    return theirs / ours


def drawn_graph(n: int, m: int, *, weighted: bool) -> nx.Graph:
    graph = nx.gnm_random_graph(n, m, seed=1)
    if weighted:
        weights = np.random.default_rng(1).random(m).tolist()
        for (u, v), weight in zip(graph.edges, weights, strict=True):
            graph[u][v]["weight"] = weight
    return graph


def score_lines(n: int, m: int, k: int, *, weighted: bool) -> Iterator[Line]:
    graph = drawn_graph(n, m, weighted=weighted)
    converted = as_graph(graph)
    labels = np.random.default_rng(2).integers(0, k, n)
    blocks = [set(np.flatnonzero(labels == a).tolist()) for a in range(k)]

    def fresh() -> Graph:
        return Graph(converted.indptr, converted.indices, converted.weights)

    for form, partition in (("sets", blocks), ("labels", labels)):
        on = f"n={n} m={m} k={k} {'weighted ' if weighted else ''}{form}"
        yield Line(
            "modularity",
            on,
            lambda p=partition: scoring.modularity(fresh(), p),
            lambda: nx.community.modularity(graph, blocks),
        )
        yield Line(
            "coverage",
            on,
            lambda p=partition: scoring.coverage(fresh(), p),
            lambda: nx.community.partition_quality(graph, blocks)[0],
        )
        yield Line(
            "performance",
            on,
            lambda p=partition: scoring.performance(fresh(), p),
            lambda: nx.community.partition_quality(graph, blocks)[1],
        )
        if n > 1_000:  # networkx takes a pass over all nodes for each community
            continue
        yield Line(
            "conductance",
            on,
            lambda p=partition: scoring.conductance(fresh(), p).max(),
            lambda: max(nx.conductance(graph, block, weight="weight") for block in blocks),
        )


def metric_lines(n: int, k: int) -> Iterator[Line]:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, k, n)
    labels = np.where(rng.random(n) < 0.5, truth, rng.integers(0, k, n))
    for name, ours, theirs in (
        ("nmi", metrics.nmi, reference.normalized_mutual_info_score),
        ("ami", metrics.ami, reference.adjusted_mutual_info_score),
        ("ari", metrics.ari, reference.adjusted_rand_score),
    ):
        yield Line(
            name,
            f"n={n} k={k}",
            lambda f=ours: f(truth, labels),
            lambda f=theirs: f(truth, labels),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each side")
    rounds = parser.parse_args().rounds
    print(
        f"{'score':<12} {'on':<37} {'kgroups':>12} {'other':>12} {'apart':>8} "
        f"{'ms':>9} {'other ms':>10} {'faster':>8}"
    )
    least = min(
        report(line, rounds)
        for n, m, k, weighted in (
            (1_000, 10_000, 20, False),
            (10_000, 100_000, 100, False),
            (10_000, 100_000, 100, True),
            (100_000, 500_000, 500, False),
        )
        for line in score_lines(n, m, k, weighted=weighted)
    )
    for n, k in ((1_000, 10), (100_000, 1_000)):
        for line in metric_lines(n, k):
            report(line, rounds)
    print(f"Scores against networkx: at least {least:.1f} times as fast.")


if __name__ == "__main__":
    main()
