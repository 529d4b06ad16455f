"""kgroups and its peers behind one interface: build the native graph, then find communities.

Only the second step is timed. kgroups is given an igraph graph, so its conversion is timed too.
"""

import os
import random
import subprocess
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.graphs import BenchmarkGraph, Ints

REFERENCE = "igraph-leiden"
CONVERGED = "igraph-leiden-converged"
BEST_RESOLUTION = "igraph-leiden-best-resolution"
CPM = "igraph-leiden-cpm"
BEST_LEVEL = "kgroups-best-level"
GRAPH_TOOL_PYTHON = "GRAPH_TOOL_PYTHON"
"""Environment variable that names a Python interpreter that has graph-tool."""

_GRAPH_TOOL_SCRIPT = Path(__file__).with_name("graph_tool_script.py")

RESOLUTIONS = tuple(2.0 ** (step / 2) for step in range(-6, 6))
"""At which Leiden runs; the best is chosen with the labels."""
CPM_SIZES = tuple(round(16_000 / 2 ** (step / 2)) for step in range(12))
"""The grid of CPM: its resolution is the mean degree divided by each of these numbers of nodes."""
# Runs beyond the best resolution take up to thirty times as long as the best one on 100,000 nodes.
# The grid ends after two that agree with the truth less than the best does, by this much.
_CPM_FALLS, _CPM_LESS = 2, 0.01
_GRAPH_TOOL_EDGES = 100_000


@dataclass(frozen=True)
class Found:
    """Labels, with what kgroups says about them: matrix entries read, and which candidate won.

    The cost is given by a method that measures itself: one that runs in another interpreter, or
    whose labels are the best of several runs.
    """

    labels: Ints
    visits: int | None = None
    note: str = ""
    seconds: float | None = None
    cpu_seconds: float | None = None
    peak_bytes: int | None = None


def _nothing() -> None:
    pass


def _on_all(graph: BenchmarkGraph) -> bool:
    return True


def _on_lfr(graph: BenchmarkGraph) -> bool:
    return graph.is_lfr


def _on_labeled(graph: BenchmarkGraph) -> bool:
    return graph.truth is not None


def _on_graph_tool(graph: BenchmarkGraph) -> bool:
    return graph.m <= _GRAPH_TOOL_EDGES


@dataclass(frozen=True)
class Peer:
    """A method: the package it needs, how its graph is built and how its labels are found.

    ``settings`` says in captions what is run. ``warm`` is called once in a new process, before any
    graph comes. ``trials`` is how many runs ``find`` may make to return the best: the patience is
    with each. ``runs_on`` says for which graphs the method is.
    """

    name: str
    module: str
    distribution: str
    settings: str
    build: Callable[[BenchmarkGraph], Any]
    find: Callable[[Any, int], Found]
    warm: Callable[[], None] = _nothing
    trials: int = 1
    runs_on: Callable[[BenchmarkGraph], bool] = _on_all

    @property
    def fills_caches(self) -> bool:
        """Whether a first run, which is not counted, makes those after it faster."""
        return self.trials == 1

    @property
    def installed_version(self) -> str | None:
        """Version of the package, or None when it is not installed."""
        return version(self.distribution) if find_spec(self.module) else None


class _GraphToolPeer(Peer):
    """A method of graph-tool, which pip cannot install: it runs in an interpreter that has it."""

    @property
    def fills_caches(self) -> bool:
        """Each run is in a new process."""
        return False

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

    built = igraph.Graph(n=graph.n, edges=np.column_stack([graph.source, graph.target]))
    if graph.weight is not None:
        built.es["weight"] = graph.weight
    return built


def _igraph_and_agreement(graph: BenchmarkGraph) -> Any:
    from kgroups import metrics

    known = slice(None) if graph.known is None else graph.known

    def agreement(labels: Ints) -> float:
        return metrics.ami(graph.truth[known], labels[known])

    return _igraph(graph), agreement


def _warm_igraph() -> None:
    """Have igraph and metrics import what their first calls need."""
    import igraph

    from kgroups import metrics

    igraph.Graph.Full(3).community_leiden(objective_function="modularity")
    metrics.ami([0, 0, 1, 1], [0, 1, 0, 1])


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
    weight = np.ones(graph.m) if graph.weight is None else graph.weight
    values = np.concatenate([weight, weight])
    return sparse.csr_matrix((values, (rows, columns)), shape=(graph.n, graph.n))


def _networkit(graph: BenchmarkGraph) -> Any:
    import networkit

    ones = np.ones(graph.m)
    return networkit.GraphFromCoo((ones, (graph.source, graph.target)), n=graph.n)


def _infomap(graph: BenchmarkGraph, trials: int = 1) -> Any:
    from infomap import Infomap

    built = Infomap(silent=True, two_level=True, num_trials=trials)
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


def _find_kgroups_best_level(graph_and_agreement: Any, seed: int) -> Found:
    import kgroups

    graph, agreement = graph_and_agreement
    levels, cost = _measured(lambda: kgroups.detect_communities(graph, rng=seed).levels())
    best = max(levels, key=lambda level: agreement(level.labels))
    return Found(best.labels, note=f"one of {len(levels)} levels", **cost)


def _measured(call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    start, busy = perf_counter(), process_time()
    result = call()
    return result, {"seconds": perf_counter() - start, "cpu_seconds": process_time() - busy}


def _with_report(partition: Any) -> Found:
    report = partition.report
    winner = report.components[0].winner if report.components else ""
    return Found(partition.labels, report.visits, winner)


def _find_igraph_leiden(graph: Any, seed: int) -> Found:
    random.seed(seed)
    found = graph.community_leiden(objective_function="modularity", n_iterations=2)
    return Found(np.array(found.membership))


def find_igraph_leiden_converged(graph: Any, seed: int, resolution: float = 1.0) -> Found:
    """Iterate Leiden on modularity until nothing changes; weights of edges count."""
    random.seed(seed)
    found = graph.community_leiden(
        objective_function="modularity",
        weights="weight" if "weight" in graph.edge_attributes() else None,
        resolution=resolution,
        n_iterations=-1,
    )
    return Found(np.array(found.membership))


def _find_igraph_leiden_best_resolution(graph_and_agreement: Any, seed: int) -> Found:
    """Return the run whose labels agree best with the truth, and the time of that run alone."""
    graph, agreement = graph_and_agreement
    runs = []
    for resolution in RESOLUTIONS:
        run = partial(find_igraph_leiden_converged, graph, seed, resolution)
        found, cost = _measured(run)
        runs.append(Found(found.labels, note=f"resolution {resolution:.3g}", **cost))
    return max(runs, key=lambda found: agreement(found.labels))


def _find_igraph_leiden_cpm(graph_and_agreement: Any, seed: int) -> Found:
    """Return the run whose labels agree best with the truth, and the time of that run alone.

    AMI decides: where little can be found, NMI is highest for single nodes.
    """
    graph, agreement = graph_and_agreement
    mean_degree = 2 * graph.ecount() / graph.vcount()
    best, highest, falls = None, -1.0, 0
    for size in CPM_SIZES:
        random.seed(seed)
        run = partial(
            graph.community_leiden,
            objective_function="CPM",
            resolution=mean_degree / size,
            n_iterations=-1,
        )
        found, cost = _measured(run)
        labels = np.array(found.membership)
        agrees = agreement(labels)
        if agrees > highest:
            best = Found(labels, note=f"resolution d/{size}", **cost)
            highest, falls = agrees, 0
        elif agrees < highest - _CPM_LESS:
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


def _find_graph_tool(graph: BenchmarkGraph, seed: int, model: str) -> Found:
    interpreter = os.environ[GRAPH_TOOL_PYTHON]
    head = np.array([graph.n, graph.m, seed], dtype=np.int64)
    sent = b"".join(part.astype(np.int64).tobytes() for part in (head, graph.source, graph.target))
    command = [interpreter, str(_GRAPH_TOOL_SCRIPT), model]
    answer = subprocess.run(command, input=sent, stdout=subprocess.PIPE, check=True).stdout
    numbers = np.frombuffer(answer, dtype=np.int64)
    seconds, cpu_seconds = numbers[:2].view(np.float64).tolist()
    peak = int(numbers[2])
    return Found(
        numbers[3:],
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        peak_bytes=peak if peak >= 0 else None,
    )


def _find_scanpy_leiden(matrix: Any, seed: int) -> Found:
    from anndata import AnnData
    from scanpy.tools import leiden

    cells = AnnData(shape=matrix.shape)
    with warnings.catch_warnings():
        # The default will be another one in a later version.
        warnings.simplefilter("ignore", FutureWarning)
        leiden(cells, adjacency=matrix, random_state=seed)
    return Found(cells.obs["leiden"].to_numpy().astype(np.int64))


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
        BEST_LEVEL,
        "kgroups",
        "kgroups",
        "kgroups, of partition.levels() the one with the highest AMI, so chosen with the labels in "
        "hand; the time is that of the detection and all levels",
        _igraph_and_agreement,
        _find_kgroups_best_level,
        _warm_kgroups,
        runs_on=_on_labeled,
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
        BEST_RESOLUTION,
        "igraph",
        "igraph",
        "igraph Leiden, modularity, until nothing changes, at the one of "
        f"{len(RESOLUTIONS)} resolutions ({RESOLUTIONS[0]:g} to {RESOLUTIONS[-1]:.2g} by factors "
        "of the square root of 2) with the highest AMI, so chosen with the labels in hand; the "
        "time is that of the one best run",
        _igraph_and_agreement,
        _find_igraph_leiden_best_resolution,
        _warm_igraph,
        trials=len(RESOLUTIONS),
        runs_on=_on_labeled,
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
        _igraph_and_agreement,
        _find_igraph_leiden_cpm,
        _warm_igraph,
        trials=len(CPM_SIZES),
        runs_on=_on_lfr,
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
        "infomap-10",
        "infomap",
        "infomap",
        "Infomap, the best of ten two-level trials",
        partial(_infomap, trials=10),
        _find_infomap,
        trials=10,
    ),
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
    Peer(
        "scanpy-leiden",
        "scanpy",
        "scanpy",
        "scanpy.tl.leiden, default settings (leidenalg, resolution 1, until nothing changes)",
        as_matrix,
        _find_scanpy_leiden,
    ),
    *(
        _GraphToolPeer(
            f"graph-tool-{model}",
            "graph_tool",
            "graph-tool",
            f"graph-tool, description length of the {described}, one minimization, up to "
            f"{_GRAPH_TOOL_EDGES:,} edges",
            _itself,
            partial(_find_graph_tool, model=model),
            runs_on=_on_graph_tool,
        )
        for model, described in (
            ("nested", "nested degree-corrected block model (its finest level)"),
            ("pp", "planted partition model"),
        )
    ),
)
PEERS = {peer.name: peer for peer in _PEERS}
_SLOW = ("leidenalg", "scanpy-leiden", "graph-tool-nested", "graph-tool-pp", "infomap-10")
LARGE_GRAPH_PEERS = tuple(
    name
    for name in PEERS
    if name not in (*_SLOW, BEST_LEVEL, BEST_RESOLUTION) and not name.startswith("networkx")
)
