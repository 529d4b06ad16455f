"""kgroups and its peers behind one interface: build the native graph, then find communities.

Only the second step is timed. kgroups is given an igraph graph, so its conversion is timed too.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.graphs import BenchmarkGraph, Ints

REFERENCE = "igraph-leiden"


@dataclass(frozen=True)
class Found:
    """Labels, with what kgroups says about its way: entries of the matrix read, and the regime."""

    labels: Ints
    visits: int | None = None
    note: str = ""


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Peer:
    """A method: the package it needs, how its graph is built and how its labels are found.

    ``warm`` is called once in a new process, before any graph comes.
    """

    name: str
    module: str
    distribution: str
    build: Callable[[BenchmarkGraph], Any]
    find: Callable[[Any, int], Found]
    warm: Callable[[], None] = _nothing

    @property
    def installed_version(self) -> str | None:
        """Version of the package, or None when it is not installed."""
        return version(self.distribution) if find_spec(self.module) else None


def _igraph(graph: BenchmarkGraph) -> Any:
    import igraph

    return igraph.Graph(n=graph.n, edges=np.column_stack([graph.source, graph.target]))


def _networkx(graph: BenchmarkGraph) -> Any:
    import networkx

    built = networkx.empty_graph(graph.n)
    built.add_edges_from(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
    return built


def as_matrix(graph: BenchmarkGraph) -> Any:
    """Return the symmetric adjacency matrix."""
    from scipy import sparse

    rows = np.concatenate([graph.source, graph.target])
    columns = np.concatenate([graph.target, graph.source])
    return sparse.csr_matrix((np.ones(rows.size), (rows, columns)), shape=(graph.n, graph.n))


def _networkit(graph: BenchmarkGraph) -> Any:
    import networkit

    ones = np.ones(graph.m)
    return networkit.GraphFromCoo((ones, (graph.source, graph.target)), n=graph.n)


def _infomap(graph: BenchmarkGraph) -> Any:
    from infomap import Infomap

    built = Infomap(silent=True, two_level=True, num_trials=1)
    built.add_nodes(range(graph.n))
    built.add_links(list(zip(graph.source.tolist(), graph.target.tolist(), strict=True)))
    return built


def _labels_of_sets(communities: Iterable[Iterable[int]], n: int) -> Ints:
    labels = np.empty(n, dtype=np.int64)
    for label, members in enumerate(communities):
        labels[list(members)] = label
    return labels


def _warm_kgroups() -> None:
    from kgroups.detect import warm

    warm()


def _find_kgroups(graph: Any, seed: int) -> Found:
    import kgroups

    partition = kgroups.detect_communities(graph, rng=seed)
    report = partition.report
    return Found(partition.labels, report.visits, report.regime)


def _find_igraph_leiden(graph: Any, seed: int) -> Found:
    random.seed(seed)
    found = graph.community_leiden(objective_function="modularity", n_iterations=2)
    return Found(np.array(found.membership))


def _find_igraph_louvain(graph: Any, seed: int) -> Found:
    random.seed(seed)
    return Found(np.array(graph.community_multilevel().membership))


def _find_leidenalg(graph: Any, seed: int) -> Found:
    import leidenalg

    kind = leidenalg.ModularityVertexPartition
    return Found(
        np.array(leidenalg.find_partition(graph, kind, n_iterations=2, seed=seed).membership)
    )


def _find_networkit_plm(graph: Any, seed: int) -> Found:
    import networkit

    networkit.setSeed(seed, True)
    return Found(
        np.array(networkit.community.PLM(graph, refine=True).run().getPartition().getVector())
    )


def _find_networkit_leiden(graph: Any, seed: int) -> Found:
    import networkit

    networkit.setSeed(seed, True)
    return Found(
        np.array(networkit.community.ParallelLeiden(graph).run().getPartition().getVector())
    )


def _find_infomap(graph: Any, seed: int) -> Found:
    modules = graph.run(seed=seed + 1).modules()
    return Found(np.array([modules[node] for node in range(len(modules))]))


def _find_scikit_network(matrix: Any, seed: int) -> Found:
    from sknetwork.clustering import Louvain

    return Found(Louvain(shuffle_nodes=True, random_state=seed).fit_predict(matrix))


def _find_networkx_louvain(graph: Any, seed: int) -> Found:
    import networkx

    return Found(
        _labels_of_sets(networkx.community.louvain_communities(graph, seed=seed), len(graph))
    )


def _find_networkx_greedy(graph: Any, seed: int) -> Found:
    import networkx

    return Found(
        _labels_of_sets(networkx.community.greedy_modularity_communities(graph), len(graph))
    )


PEERS = {
    peer.name: peer
    for peer in (
        Peer("kgroups", "kgroups", "kgroups", _igraph, _find_kgroups, _warm_kgroups),
        Peer(REFERENCE, "igraph", "igraph", _igraph, _find_igraph_leiden),
        Peer("igraph-louvain", "igraph", "igraph", _igraph, _find_igraph_louvain),
        Peer("leidenalg", "leidenalg", "leidenalg", _igraph, _find_leidenalg),
        Peer("networkit-plm", "networkit", "networkit", _networkit, _find_networkit_plm),
        Peer("networkit-leiden", "networkit", "networkit", _networkit, _find_networkit_leiden),
        Peer("infomap", "infomap", "infomap", _infomap, _find_infomap),
        Peer("scikit-network", "sknetwork", "scikit-network", as_matrix, _find_scikit_network),
        Peer("networkx-louvain", "networkx", "networkx", _networkx, _find_networkx_louvain),
        Peer("networkx-greedy", "networkx", "networkx", _networkx, _find_networkx_greedy),
    )
}
LARGE_GRAPH_PEERS = tuple(
    name for name in PEERS if name != "leidenalg" and not name.startswith("networkx")
)
