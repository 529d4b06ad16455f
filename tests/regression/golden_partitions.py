"""Partitions that detection gave when they were recorded, for changes to be seen.

Run ``python tests/regression/golden_partitions.py`` to record all of them again; it prints the
cases that have changed. Those of the paper's settings must not.
"""

import json
import sys
from pathlib import Path

import networkx as nx
import numpy as np

import kgroups as kg

FILE = Path(__file__).with_name("golden_partitions.json")

PAPER = {
    "init": kg.KMeansInit(rows="raw"),
    "refine": kg.Hartigan(weights="uniform", candidates="all", margin=0.0, guard=None),
    "weight": None,
    "method": kg.Spectral("exact"),
}
METHODS = {
    "auto": kg.Auto(),
    "exact": kg.Spectral("exact"),
    "filtered": kg.Spectral("filtered"),
    "search": kg.Search(),
}


def planted(n, k, degree, snr, seed):
    return kg.generators.planted_partition(n, k, degree, snr, rng=seed).graph


def with_weights(graph, seed):
    """Return the graph with weights that differ by a factor of up to 3."""
    source, target, _ = graph.edges()
    weights = np.random.default_rng(seed).uniform(1.0, 3.0, source.size)
    return kg.Graph.from_edges(source, target, weights, n=graph.n)


def in_components():
    """Return cliques, trees, planted communities and isolated nodes in one graph."""
    clear = nx.planted_partition_graph(3, 60, 0.3, 0.02, seed=1)
    parts = [clear, nx.ring_of_cliques(6, 5), nx.balanced_tree(2, 4), nx.empty_graph(3)]
    return nx.disjoint_union_all(parts)


def bridged_triangles():
    return nx.Graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])


GRAPHS = {
    "karate": lambda: nx.karate_club_graph(),
    "les_miserables": lambda: kg.datasets.load("les_miserables").graph,
    "planted-300": lambda: planted(300, 4, 12.0, 2.0, 0),
    "planted-1500": lambda: planted(1_500, 5, 15.0, 2.2, 0),
    "lfr-2000": lambda: kg.generators.lfr_benchmark(2_000, degree=15, mixing=0.3, rng=0).graph,
    "weighted-300": lambda: with_weights(planted(300, 4, 12.0, 2.0, 0), 1),
    "weighted-1500": lambda: with_weights(planted(1_500, 5, 15.0, 2.2, 0), 1),
    "components": in_components,
    "bridged triangles": bridged_triangles,
    "ring of triangles": lambda: nx.ring_of_cliques(30, 3),
    "ring of cliques": lambda: nx.ring_of_cliques(20, 5),
    "caveman": lambda: nx.connected_caveman_graph(12, 8),
    "barbell": lambda: nx.barbell_graph(10, 3),
    "windmill": lambda: nx.windmill_graph(6, 5),
    "random": lambda: nx.gnm_random_graph(400, 1_600, seed=0),
}
SMALL = ("bridged triangles", "barbell", "windmill")


def cases():
    """Yield the name of each case, its graph and the arguments of detection."""
    for graph, build in GRAPHS.items():
        for method, value in METHODS.items():
            yield f"{graph} / {method}", build, {"method": value}
            if graph not in SMALL:
                yield f"{graph} / {method} / k=4", build, {"method": value, "k": 4}
        start = kg.WarmStart(dict.fromkeys(_nodes(build()), 0))
        yield f"{graph} / warm start", build, {"init": start}
    for graph, k in (("karate", 2), ("les_miserables", 6), ("planted-300", 4), ("caveman", 12)):
        yield f"{graph} / paper", GRAPHS[graph], {**PAPER, "k": k}
    for side in ("left", "right"):
        name = f"drosophila_{side}"
        yield f"{name} / paper", _drosophila(name), {**PAPER, "k": 2}


def _drosophila(name):
    return lambda: kg.datasets.load(name, symmetrize="union").graph


def _nodes(graph):
    return kg.as_graph(graph).nodes


def found(build, options):
    """Return the communities of a case, as the label of each node in node order."""
    return kg.detect_communities(build(), **options).labels.tolist()


def read():
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def main():
    known, labels = read(), {}
    for name, build, options in cases():
        labels[name] = found(build, options)
        if labels[name] != known.get(name):
            was = len(set(known[name])) if name in known else "-"
            sys.stdout.write(f"{name}: {was} communities, now {len(set(labels[name]))}\n")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(z)}" for name, z in labels.items())
    FILE.write_text("{\n" + lines.replace(", ", ",") + "\n}\n")


if __name__ == "__main__":
    main()
