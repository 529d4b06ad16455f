"""``python -m benchmarks.quality``: what each refinement makes of the same first labels.

This matrix chose the default. With k given, every column starts from row-normalised k-means of
the exact eigenvectors:

- *seed*: the first labels themselves
- *uniform*, *gram*: the paper's two conventions, margin 0, no guard
- *association*: M = -H_r with weights Delta_r, margin 0, no guard
- *margin*: the same with a margin of a quarter of an edge
- *likelihood*: moves on the planted-partition likelihood alone
- *default*: margin and guard

Entries are mean overlaps (modularity where a network has no labels). The last two columns say how
the default compares with its seed, and what part of the likelihood that its own moves reach the
margin's labels have: the guard rejects them below 0.8.
"""

import argparse
from collections.abc import Iterator

import numpy as np

import kgroups as kg
from benchmarks.graphs import BenchmarkGraph, lfr, planted_partition
from benchmarks.suites import ROWS
from kgroups._csr import connected_components
from kgroups.hartigan import planted_fit
from kgroups.search import finest_level
from kgroups.search.problem import likelihood_moves

METHODS = {
    "seed": None,
    "uniform": kg.Hartigan(weights="uniform", candidates="all", margin=0.0, guard=None),
    "gram": kg.Hartigan(weights="gram", candidates="all", margin=0.0, guard=None),
    "association": kg.Hartigan(margin=0.0, guard=None),
    "margin": kg.Hartigan(guard=None),
    "default": kg.Hartigan(),
}
COLUMNS = (*METHODS, "likelihood", "against seed", "part of likelihood")


def cases(repeat: int, seed: int) -> Iterator[tuple[str, list[BenchmarkGraph]]]:
    """Yield a name and the graphs over which its row is averaged."""
    for name in ("karate", "dolphins", "football", "polbooks", "email-Eu-core", "ca-GrQc", "cora"):
        if ROWS[name].why_absent is None:
            yield name, [ROWS[name].graph(seed)]
    seeds = range(seed, seed + repeat)
    for snr in (1.1, 1.5, 2.0):
        yield (
            f"gn snr={snr}",
            [planted_partition("gn", n=128, k=4, degree=16.0, snr=snr, seed=s) for s in seeds],
        )
    for k in (2, 5, 15):
        for snr in (1.2, 1.4, 1.6):
            n = 1_000 if 1_000 % k == 0 else 1_005
            yield (
                f"sbm k={k} snr={snr}",
                [planted_partition("sbm", n=n, k=k, degree=3.0, snr=snr, seed=s) for s in seeds],
            )
    if ROWS["lfr-10k"].why_absent is None:
        for mixing in (0.4, 0.6):
            few = list(seeds)[: max(1, repeat // 5)]
            graphs = [lfr("lfr", n=3_000, degree=15, mixing=mixing, seed=s) for s in few]
            yield f"lfr 3k mu={mixing}", graphs


def row(graph: BenchmarkGraph) -> list[float]:
    """Return the entries of one graph, in the order of the columns."""
    entire = kg.Graph.from_edges(graph.source, graph.target, n=graph.n)
    _, component = connected_components(entire.simple_adjacency())
    largest = np.flatnonzero(component == np.argmax(np.bincount(component)))
    # One connected graph: every method then starts from the same labels on the same nodes.
    connected = kg.as_graph(entire.to_scipy()[largest][:, largest])
    truth = None if graph.truth is None else np.asarray(graph.truth)[largest]
    k = 144 if truth is None else np.unique(truth).size
    labels = {
        name: kg.detect_communities(connected, k, method=kg.Spectral("exact"), refine=method).labels
        for name, method in METHODS.items()
    }
    A, d = connected.simple_adjacency(), connected.degrees
    level, whole = finest_level(A, weighted=False), np.zeros(1, dtype=np.int64)
    labels["likelihood"] = likelihood_moves(level, labels["seed"], np.array([k]), whole)
    value = {
        name: kg.scoring.modularity(connected, z) if truth is None else kg.metrics.overlap(truth, z)
        for name, z in labels.items()
    }
    gain = {name: planted_fit(A, d, labels[name], k=k).gain for name in ("margin", "likelihood")}
    value["against seed"] = value["default"] - value["seed"]
    value["part of likelihood"] = gain["margin"] / gain["likelihood"]
    return [value[name] for name in COLUMNS]


def main() -> None:
    """Print the matrix."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=20, help="graphs per drawn row")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first graph")
    options = parser.parse_args()
    print(f"{'graph':<18}" + "".join(f"{name:>{max(9, len(name) + 2)}}" for name in COLUMNS))
    for name, graphs in cases(options.repeat, options.seed):
        means = np.mean([row(graph) for graph in graphs], axis=0)
        entries = (
            f"{mean:>{max(9, len(column) + 2)}.3f}"
            for column, mean in zip(COLUMNS, means, strict=True)
        )
        print(f"{name:<18}" + "".join(entries), flush=True)


if __name__ == "__main__":
    main()
