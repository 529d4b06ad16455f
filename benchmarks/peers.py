"""kgroups and its peers behind one interface: build the native graph, then find communities.

Only the second step is timed. kgroups is given an igraph graph, so its conversion is timed too.
"""

import os
import random
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.graphs import BenchmarkGraph, Ints

REFERENCE = "igraph-leiden"
CONVERGED = "igraph-leiden-converged"
CPM = "igraph-leiden-cpm"
GRAPH_TOOL_PYTHON = "GRAPH_TOOL_PYTHON"
"""Environment variable that names a Python interpreter that has graph-tool."""

_GRAPH_TOOL_SCRIPT = Path(__file__).with_name("graph_tool_script.py")

CPM_SIZES = tuple(round(16_000 / 2 ** (step / 2)) for step in range(12))
"""The grid of CPM: its resolution is the mean degree divided by each of these numbers of nodes."""
# Runs beyond the best resolution take up to thirty times as long as the best one on 100,000 nodes.
# The grid ends after two that agree with the truth less than the best does, by this much.
_CPM_FALLS, _CPM_LESS = 2, 0.01


@dataclass(frozen=True)
class Found:
    """Labels, with what kgroups says about them: matrix entries read, and which candidate won.

    ``seconds`` is the time of a method that runs in another interpreter and measures itself.
    """

    labels: Ints
    visits: int | None = None
    note: str = ""
    seconds: float | None = None


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Peer:
    """A method: the package it needs, how its graph is built and how its labels are found.

    ``settings`` says in captions what is run. ``warm`` is called once in a new process, before any
    graph comes. ``trials`` is how many runs ``find`` may make to return the best: the patience is
    with each. Some methods run on LFR graphs alone.
    """

    name: str
    module: str
    distribution: str
    settings: str
    build: Callable[[BenchmarkGraph], Any]
    find: Callable[[Any, int], Found]
    warm: Callable[[], None] = _nothing
    trials: int = 1
    only_lfr: bool = False

    def runs_on(self, graph: BenchmarkGraph) -> bool:
        """Whether the method is for such graphs."""
        return graph.is_lfr or not self.only_lfr

    @property
    def installed_version(self) -> str | None:
        """Version of the package, or None when it is not installed."""
        return version(self.distribution) if find_spec(self.module) else None


class _GraphToolPeer(Peer):
    """A method of graph-tool, which pip cannot install: it runs in an interpreter that has it."""

    @property
    def installed_version(self) -> str | None:
        """Version that the interpreter named in the environment has, or None."""
        interpreter = os.environ.get(GRAPH_TOOL_PYTHON)
        if not interpreter:
            return None
        command = [interpreter, "-c", "import graph_tool; print(graph_tool.__version__)"]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return answer.stdout.split()[0]


def _igraph(graph: BenchmarkGraph) -> Any:
    import igraph

    return igraph.Graph(n=graph.n, edges=np.column_stack([graph.source, graph.target]))


def _igraph_and_truth(graph: BenchmarkGraph) -> Any:
    return _igraph(graph), graph.truth


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


def _itself(graph: BenchmarkGraph) -> BenchmarkGraph:
    return graph


def _labels_of_sets(communities: Iterable[Iterable[int]], n: int) -> Ints:
    labels = np.empty(n, dtype=np.int64)
    for label, members in enumerate(communities):
        labels[list(members)] = label
    return labels


def _warm_kgroups() -> None:
    import kgroups

    kgroups.warm(progress=False)


def _find_kgroups(graph: Any, seed: int) -> Found:
    import kgroups

    partition = kgroups.detect_communities(graph, rng=seed)
    return _with_report(partition)


def _find_kgroups_in_full(graph: Any, seed: int) -> Found:
    import kgroups

    method = kgroups.Auto(search=kgroups.Search(dispersion=1.0))
    return _with_report(kgroups.detect_communities(graph, method=method, rng=seed))


def _find_kgroups_search(graph: Any, seed: int) -> Found:
    import kgroups

    method = kgroups.Search(dispersion=1.0)
    return _with_report(kgroups.detect_communities(graph, method=method, rng=seed))


def _with_report(partition: Any) -> Found:
    report = partition.report
    winner = report.components[0].winner if report.components else ""
    return Found(partition.labels, report.visits, winner)


def _find_igraph_leiden(graph: Any, seed: int) -> Found:
    random.seed(seed)
    found = graph.community_leiden(objective_function="modularity", n_iterations=2)
    return Found(np.array(found.membership))


def find_igraph_leiden_converged(graph: Any, seed: int, resolution: float = 1.0) -> Found:
    """Iterate Leiden on modularity until nothing changes."""
    random.seed(seed)
    found = graph.community_leiden(
        objective_function="modularity", resolution=resolution, n_iterations=-1
    )
    return Found(np.array(found.membership))


def _find_igraph_leiden_cpm(graph_and_truth: Any, seed: int) -> Found:
    """Return the run whose labels agree best with the truth, and the time of that run alone.

    AMI decides: where little can be found, NMI is highest for single nodes.
    """
    from kgroups import metrics

    graph, truth = graph_and_truth
    mean_degree = 2 * graph.ecount() / graph.vcount()
    best, highest, falls = None, -1.0, 0
    for size in CPM_SIZES:
        random.seed(seed)
        start = perf_counter()
        found = graph.community_leiden(
            objective_function="CPM", resolution=mean_degree / size, n_iterations=-1
        )
        labels = np.array(found.membership)
        seconds = perf_counter() - start
        agreement = metrics.ami(truth, labels)
        if agreement > highest:
            best = Found(labels, note=f"resolution d/{size}", seconds=seconds)
            highest, falls = agreement, 0
        elif agreement < highest - _CPM_LESS:
            falls += 1
        if falls == _CPM_FALLS:
            break
    return best


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
    leiden = networkit.community.ParallelLeiden(graph, iterations=3)
    return Found(np.array(leiden.run().getPartition().getVector()))


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


def _find_graph_tool(graph: BenchmarkGraph, seed: int) -> Found:
    interpreter = os.environ[GRAPH_TOOL_PYTHON]
    head = np.array([graph.n, graph.m, seed], dtype=np.int64)
    sent = b"".join(part.astype(np.int64).tobytes() for part in (head, graph.source, graph.target))
    command = [interpreter, str(_GRAPH_TOOL_SCRIPT)]
    answer = subprocess.run(command, input=sent, stdout=subprocess.PIPE, check=True).stdout
    seconds, labels = np.frombuffer(answer[:8])[0], np.frombuffer(answer[8:], dtype=np.int64)
    return Found(labels, seconds=float(seconds))


_PEERS = (
    Peer(
        "kgroups",
        "kgroups",
        "kgroups",
        "kgroups, default settings",
        _igraph,
        _find_kgroups,
        _warm_kgroups,
    ),
    Peer(
        "kgroups-in-full",
        "kgroups",
        "kgroups",
        "kgroups, each edge in full (Auto(search=Search(dispersion=1.0)))",
        _igraph,
        _find_kgroups_in_full,
        _warm_kgroups,
    ),
    Peer(
        "kgroups-search",
        "kgroups",
        "kgroups",
        "kgroups, the search alone, each edge in full (Search(dispersion=1.0))",
        _igraph,
        _find_kgroups_search,
        _warm_kgroups,
    ),
    Peer(
        REFERENCE,
        "igraph",
        "igraph",
        "igraph Leiden, modularity, 2 iterations",
        _igraph,
        _find_igraph_leiden,
    ),
    Peer(
        CONVERGED,
        "igraph",
        "igraph",
        "igraph Leiden, modularity, until nothing changes",
        _igraph,
        find_igraph_leiden_converged,
    ),
    Peer(
        CPM,
        "igraph",
        "igraph",
        "igraph Leiden, CPM, until nothing changes, on LFR graphs only, at the resolution of a "
        "grid that gives the highest AMI, so chosen with the truth in hand; the time is that of "
        f"the one best run (grid: d/s, d the mean degree, {len(CPM_SIZES)} values of s from "
        f"{CPM_SIZES[0]} to {CPM_SIZES[-1]} by factors of the square root of 2, up to where AMI "
        "has fallen twice)",
        _igraph_and_truth,
        _find_igraph_leiden_cpm,
        trials=len(CPM_SIZES),
        only_lfr=True,
    ),
    Peer(
        "igraph-louvain",
        "igraph",
        "igraph",
        "igraph Louvain (multilevel), modularity",
        _igraph,
        _find_igraph_louvain,
    ),
    Peer(
        "leidenalg",
        "leidenalg",
        "leidenalg",
        "leidenalg, modularity, 2 iterations",
        _igraph,
        _find_leidenalg,
    ),
    Peer(
        "networkit-plm",
        "networkit",
        "networkit",
        "NetworKit PLM with refinement",
        _networkit,
        _find_networkit_plm,
    ),
    Peer(
        "networkit-leiden",
        "networkit",
        "networkit",
        "NetworKit ParallelLeiden, at most 3 iterations",
        _networkit,
        _find_networkit_leiden,
    ),
    Peer("infomap", "infomap", "infomap", "Infomap, one two-level trial", _infomap, _find_infomap),
    Peer(
        "scikit-network",
        "sknetwork",
        "scikit-network",
        "scikit-network Louvain, nodes shuffled",
        as_matrix,
        _find_scikit_network,
    ),
    Peer(
        "networkx-louvain",
        "networkx",
        "networkx",
        "networkx Louvain, default settings",
        _networkx,
        _find_networkx_louvain,
    ),
    Peer(
        "networkx-greedy",
        "networkx",
        "networkx",
        "networkx greedy modularity, default settings",
        _networkx,
        _find_networkx_greedy,
    ),
    _GraphToolPeer(
        "graph-tool",
        "graph_tool",
        "graph-tool",
        "graph-tool, description length of the planted partition model, one minimization",
        _itself,
        _find_graph_tool,
    ),
)
PEERS = {peer.name: peer for peer in _PEERS}
_SLOW = ("leidenalg", "graph-tool")
LARGE_GRAPH_PEERS = tuple(
    name for name in PEERS if name not in _SLOW and not name.startswith("networkx")
)
