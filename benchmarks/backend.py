"""``python benchmarks/backend.py``: networkx with the kgroups backend against networkx alone.

Both sides of each line take turns on the same graph, and each time is the best of its rounds, since
another process can only add to it. *Cold* includes the conversion of the graph, *warm* uses the one
that networkx kept, *automatic* leaves the choice to networkx with ``kgroups`` as its priority. The
last table is of processes of their own that do nothing but ``import networkx``.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import networkx as nx
from networkx.algorithms.community import quality

from kgroups.backends.networkx.interface import can_run, should_run

Call = Callable[..., Any]
BLOCKS = [[0.0145 if i == j else 0.00062 for j in range(10)] for i in range(10)]


class Work(NamedTuple):
    """A function of networkx with its arguments after the graph, and the bar for warm calls."""

    name: str
    function: Call
    arguments: Callable[[nx.Graph], tuple[Any, ...]]
    bar: float | None = None
    seeded: bool = False

    def call(self, graph: nx.Graph, **options: Any) -> Any:
        """Call the function and use up what it yields."""
        if self.seeded:
            options["seed"] = 1
        result = self.function(graph, *self.arguments(graph), **options)
        return list(result) if hasattr(result, "__next__") else result


def blocks(graph: nx.Graph) -> tuple[list[set[Any]]]:
    nodes = list(graph)
    size = -(-len(nodes) // 10)
    return ([set(nodes[start : start + size]) for start in range(0, len(nodes), size)],)


def nothing(graph: nx.Graph) -> tuple[()]:
    return ()


COMMUNITY = nx.community
QUICK = (
    Work("to_scipy_sparse_array", nx.to_scipy_sparse_array, nothing, 20.0),
    Work("modularity", COMMUNITY.modularity, blocks, 8.0),
    Work("partition_quality", COMMUNITY.partition_quality, blocks, 5.0),
    Work("intra_community_edges", quality.intra_community_edges, blocks),
    Work("bethe_hessian_matrix", nx.bethe_hessian_matrix, nothing),
)
SLOW = (Work("louvain_communities", COMMUNITY.louvain_communities, nothing, 10.0, seeded=True),)


def timed(call: Callable[[], Any]) -> float:
    start = perf_counter()
    result = call()
    seconds = perf_counter() - start
    # Taking a result apart again is no part of the call.
    del result
    return seconds


def forget(graph: nx.Graph) -> None:
    if graph.__networkx_cache__ is not None:
        graph.__networkx_cache__.clear()


def planted(seed: int) -> nx.Graph:
    return nx.stochastic_block_model([1_000] * 10, BLOCKS, seed=seed)


def verdict(ratio: float, bar: float | None) -> str:
    if bar is None:
        return ""
    return f"  bar {bar:g}x {'met' if ratio >= bar else 'MISSED'}"


def compare(work: Work, graph: nx.Graph, rounds: int) -> None:
    """Print native, cold and warm times of one function."""
    native, cold, warm = [], [], []
    work.call(graph, backend="kgroups")
    for _ in range(rounds):
        forget(graph)
        cold.append(timed(lambda: work.call(graph, backend="kgroups")))
        warm.append(timed(lambda: work.call(graph, backend="kgroups")))
        native.append(timed(lambda: work.call(graph, backend="networkx")))
    base, ratio = min(native), min(native) / min(warm)
    print(
        f"{work.name:<26}{1e3 * base:>11.2f}{1e3 * min(cold):>10.2f}{1e3 * min(warm):>10.2f}"
        f"{base / min(cold):>9.1f}x{ratio:>9.1f}x{verdict(ratio, work.bar)}"
    )


def compare_large(rounds: int) -> None:
    graph = planted(1)
    print(f"\n{graph.number_of_nodes()} nodes, {graph.number_of_edges()} edges")
    print(
        f"{'function':<26}{'networkx ms':>11}{'cold ms':>10}{'warm ms':>10}{'cold':>10}{'warm':>10}"
    )
    for work in QUICK:
        compare(work, graph, rounds)
    for work in SLOW:
        compare(work, graph, (rounds + 1) // 2)


def compare_spectrum(rounds: int) -> None:
    graph = planted(2)
    times = []
    for _ in range(rounds):
        forget(graph)
        times.append(timed(lambda: nx.bethe_hessian_spectrum(graph, k=20, backend="kgroups")))
    cold = min(times)
    bar = "met" if cold < 1 else "MISSED"
    print(f"20 lowest of bethe_hessian_spectrum, conversion included: {cold:.2f} s  bar 1 s {bar}")


def slowest_edges_between_blocks() -> None:
    graph = nx.planted_partition_graph(10, 100, 0.15, 0.006, seed=1)
    arguments = blocks(graph)
    for function in (quality.inter_community_edges, quality.inter_community_non_edges):
        native = timed(lambda f=function: f(graph, *arguments, backend="networkx"))
        forget(graph)
        cold = timed(lambda f=function: f(graph, *arguments, backend="kgroups"))
        print(f"{function.__name__}, 1000 nodes: {1e3 * native:.0f} ms, {1e3 * cold:.2f} ms cold")


def automatic_graphs() -> list[tuple[str, nx.Graph]]:
    drawn = random.Random(1)
    graphs = []
    for n, degree in ((10, 3), (50, 6), (200, 10), (1_000, 20), (10_000, 20)):
        numbers = nx.gnm_random_graph(n, n * degree // 2, seed=1)
        names = nx.relabel_nodes(numbers, {v: f"node {v}" for v in numbers})
        for *_, data in names.edges(data=True):
            data["weight"] = drawn.random()
        graphs += [
            (f"{n} numbers", numbers),
            (f"{n} names, weights", names),
            (f"{n} view", names.subgraph(list(names)[: n * 3 // 4])),
            (f"{n} multigraph", nx.MultiGraph(names)),
        ]
    return graphs


def compare_automatic(rounds: int) -> None:
    """Print how cold calls fare when networkx chooses, and what asking costs where it declines."""
    print("\nCold calls dispatched automatically")
    print(f"{'graph':<22}{'taken':>6}{'asked in us':>13}  slowest of those taken, against networkx")
    for name, graph in automatic_graphs():
        taken, asked = [], []
        for work in QUICK if len(graph) > 500 else QUICK + SLOW:
            if work.function is nx.bethe_hessian_matrix and graph.is_multigraph():
                continue
            arguments = (graph, *work.arguments(graph))
            forget(graph)
            if not takes(work, arguments):
                asked.append(min(timed(lambda w=work, a=arguments: takes(w, a)) for _ in range(9)))
                continue
            ours, native = [], []
            for _ in range(rounds if len(graph) > 500 else 5 * rounds):
                for priority, seconds in ((["kgroups"], ours), ([], native)):
                    forget(graph)
                    nx.config.backend_priority.algos = priority
                    seconds.append(timed(lambda w=work, g=graph: w.call(g)))
            nx.config.backend_priority.algos = []
            taken.append((min(native) / min(ours), work.name))
        shown = f"{min(taken)[0]:.2f}x {min(taken)[1]}" if taken else ""
        print(f"{name:<22}{len(taken):>6}{1e6 * max(asked, default=0.0):>13.1f}  {shown}")


def takes(work: Work, arguments: tuple[Any, ...]) -> bool:
    """Ask as networkx does before a call."""
    name = work.function.__name__
    return can_run(name, arguments, {}) is True and should_run(name, arguments, {}) is True


IMPORT = """
import importlib.metadata as metadata
found = metadata.entry_points
if {hidden}:
    metadata.entry_points = lambda **group: metadata.EntryPoints(
        point for point in found(**group) if point.name != "kgroups"
    )
from time import perf_counter
start = perf_counter()
import networkx
print(perf_counter() - start)
"""


def compare_imports(rounds: int) -> None:
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(rounds):
        for hidden, seconds in times.items():
            code = IMPORT.format(hidden=hidden)
            finished = subprocess.run(
                [sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True
            )
            seconds.append(float(finished.stdout))
    print(f"\nimport networkx, {rounds} processes each{'best ms':>12}{'median ms':>12}")
    for hidden, what in ((True, "kgroups hidden"), (False, "kgroups installed")):
        best, middle = min(times[hidden]), statistics.median(times[hidden])
        print(f"{what:<36}{1e3 * best:>12.1f}{1e3 * middle:>12.1f}")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7, help="timed calls of each side")
    rounds = parser.parse_args().rounds
    nx.config.warnings_to_ignore.add("cache")
    print(f"networkx {nx.__version__}, load {os.getloadavg()[0]:.1f}")
    compare_large(rounds)
    compare_spectrum(rounds)
    slowest_edges_between_blocks()
    compare_automatic(rounds)
    compare_imports(5 * rounds)


if __name__ == "__main__":
    main()
