"""Graphs beyond memory: ingest, and communities out of core, in memory, on Dask and by peers.

Run ``python -m benchmarks.large --edges 1e7``. Each line is measured in a process of its own that
has handled a small graph before, so that neither imports nor compilation count. *passes* are
readings of all blocks, *read* is what that makes in bytes per edge, *ns* the time of the processor
for each edge and pass, and *peak* the largest resident memory, as Linux reports it, above what the
process held before the call; for an ingest that is all it needs. The bar of the peak is 120 bytes
per node and three blocks, and at most ``--memory``. The search out of core never falls back on the
search in memory here, though the graph may fit. *labels* is a checksum: lines of one graph with the
same checksum have found the same communities. ``--blocks 8 24`` repeats the search with at least so
many blocks, ``--workers 1 2 4`` on a Dask cluster of this machine; its memory is that of the
client, and that of the largest worker follows. ``--store`` keeps the graphs and stores in a folder,
and uses what is there.
"""

import argparse
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks import memory, table
from benchmarks.graphs import BenchmarkGraph
from benchmarks.large_input import in_a_process
from benchmarks.peers import PEERS, REFERENCE

FAMILIES = {
    "SBM k=20 SNR 3": ("sbm", 20, 3.0),
    "SBM k=200 SNR 2": ("sbm", 200, 2.0),
    "SBM k=20 SNR 1.5": ("sbm", 20, 1.5),
    "LFR mu=.4": ("lfr", 0, 0.4),
}
SHORT = dict(zip(("clear", "many", "faint", "lfr"), FAMILIES, strict=True))
CLEAR = ("SBM k=20 SNR 3", "LFR mu=.4")
BESIDE = (REFERENCE, "networkit-plm")
DEGREE = 20.0
WARM_EDGES = 100_000
MOST_PASSES, MOST_PASSES_UNCLEAR = 30, 60
BYTES_PER_NODE, BLOCKS_HELD = 120, 3
MOST_CPU, MOST_NMI_LOST = 1.5, 0.005


def write_graph(family: str, edges: int, folder: Path) -> None:
    """Write a graph as Parquet, and the communities of its nodes."""
    import pyarrow
    from pyarrow import parquet

    from kgroups.generators import lfr_benchmark, planted_partition

    kind, k, parameter = FAMILIES[family]
    n = int(2 * edges / DEGREE)
    if kind == "lfr":
        graph, truth = lfr_benchmark(n, degree=DEGREE, mixing=parameter, max_degree=100, rng=edges)
    else:
        graph, truth = planted_partition(n, k=k, degree=DEGREE, snr=parameter, rng=edges)
    u, v, _ = graph.edges()
    del graph
    parquet.write_table(pyarrow.table({"source": u, "target": v}), folder / "half.parquet")
    np.save(folder / "truth.npy", truth.astype(np.int32))
    (folder / "half.parquet").replace(folder / "edges.parquet")


def open_store(folder: Path, budget: str, blocks: int | None) -> Any:
    """Return the store of a graph with its usual blocks, or with at least so many."""
    import kgroups as kg

    entries = None
    if blocks is not None:
        entries = max(1, 2 * _edges_in(folder) // blocks)
    name = "store" if blocks is None else f"store-{blocks}"
    return kg.open_graph(
        folder / "edges.parquet", store=folder / name, memory=budget, block_entries=entries
    )


def _edges_in(folder: Path) -> int:
    from pyarrow import parquet

    return int(parquet.read_metadata(folder / "edges.parquet").num_rows)


def ingest(folder: Path, small: Path, budget: str, blocks: int | None) -> dict[str, Any]:
    """Write the store of a graph."""
    open_store(small, budget, blocks)
    before = memory.start_watching()
    start, busy = perf_counter(), process_time()
    store = open_store(folder, budget, blocks)
    return {
        "edges": store.m,
        "nodes": store.n,
        "wall": perf_counter() - start,
        "cpu": process_time() - busy,
        "peak": memory.peak_above(before),
        "blocks": len(store.blocks),
        "block": 4 * max(block.entries for block in store.blocks),
    }


@contextmanager
def engine_of(workers: int | None) -> Iterator[tuple[Any, Any]]:
    """Yield the engine, this process or so many workers on this machine, and its client."""
    if workers is None:
        yield None, None
        return
    from distributed import Client, LocalCluster

    import kgroups as kg

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield kg.Dask(client), client


def search(
    folder: Path, small: Path, budget: str, blocks: int | None, workers: int | None
) -> dict[str, Any]:
    """Find communities in the blocks of a store."""
    import kgroups as kg
    from kgroups.blocks import detection
    from kgroups.metrics import nmi

    detection.BYTES_PER_EDGE = sys.maxsize
    with engine_of(workers) as (engine, client):
        kg.detect_communities(open_store(small, budget, blocks), engine=engine)
        store = open_store(folder, budget, blocks)
        before = memory.start_watching()
        start, busy = perf_counter(), process_time()
        partition = kg.detect_communities(store, engine=engine)
        found = {
            "wall": perf_counter() - start,
            "cpu": process_time() - busy,
            "peak": memory.peak_above(before),
        }
        if engine is not None:
            used = client.run(_used)
            found["cpu"] += sum(seconds for seconds, _ in used.values())
            found["worker"] = max(most for _, most in used.values())
            found["reports"] = workers
        else:
            found["passes"] = store.entries_read / store.entries
            found["read"] = store.bytes_read / store.m
    return {
        **found,
        "edges": store.m,
        "nodes": store.n,
        "block": 4 * max(block.entries for block in store.blocks),
        "blocks": len(store.blocks),
        "k": partition.k,
        "nmi": nmi(np.load(folder / "truth.npy"), partition.labels),
        "labels": _checksum(partition.labels),
    }


def _used() -> tuple[float, int]:
    """Return the seconds of the processor and the largest resident memory of this process."""
    return sum(os.times()[:2]), memory.peak_above(0) or 0


def search_in_memory(folder: Path, small: Path) -> dict[str, Any]:
    """Find communities of the same edges in memory, reading included."""
    import kgroups as kg
    from kgroups.metrics import nmi

    kg.detect_communities(small / "edges.parquet")
    before = memory.start_watching()
    start, busy = perf_counter(), process_time()
    partition = kg.detect_communities(folder / "edges.parquet")
    found = {
        "wall": perf_counter() - start,
        "cpu": process_time() - busy,
        "peak": memory.peak_above(before),
    }
    labels = np.empty(len(partition.nodes), dtype=partition.labels.dtype)
    labels[np.fromiter(partition.nodes, np.int64, len(partition.nodes))] = partition.labels
    return {
        **found,
        "edges": partition.report.m,
        "nodes": labels.size,
        "read": None,
        "k": partition.k,
        "nmi": nmi(np.load(folder / "truth.npy"), labels),
        "labels": _checksum(labels),
    }


def search_by_peer(name: str, folder: Path) -> dict[str, Any]:
    """Let a peer find the communities of the same edges."""
    from pyarrow import parquet

    from kgroups.metrics import nmi

    truth, edges = np.load(folder / "truth.npy"), parquet.read_table(folder / "edges.parquet")
    ends = [edges[column].to_numpy() for column in ("source", "target")]
    graph = BenchmarkGraph(folder.name, truth.size, *ends, truth)
    before = memory.start_watching()
    native = PEERS[name].build(graph)
    start, busy = perf_counter(), process_time()
    labels = PEERS[name].find(native, 0).labels
    return {
        "edges": graph.m,
        "nodes": truth.size,
        "wall": perf_counter() - start,
        "cpu": process_time() - busy,
        "peak": memory.peak_above(before),
        "k": len(np.unique(labels)),
        "nmi": nmi(truth, labels),
    }


def _checksum(labels: Any) -> str:
    return hashlib.sha1(np.asarray(labels, dtype=np.int64).tobytes()).hexdigest()[:10]


COLUMNS: dict[str, tuple[int, Callable[[dict[str, Any]], str]]] = {
    "blocks": (8, lambda found: f"{found['blocks']}"),
    "passes": (8, lambda found: f"{found['passes']:.0f}"),
    "read B/edge": (13, lambda found: f"{found['read']:.0f}"),
    "ns": (6, lambda found: f"{1e9 * found['cpu'] / found['passes'] / found['edges']:.0f}"),
    "peak MB": (9, lambda found: f"{found['peak'] / 1e6:.0f}"),
    "B/node": (8, lambda found: f"{found['peak'] / found['nodes']:.0f}"),
    "worker MB": (11, lambda found: f"{found['worker'] / 1e6:.0f}"),
    "CPU s": (9, lambda found: f"{found['cpu']:.1f}"),
    "wall s": (9, lambda found: f"{found['wall']:.1f}"),
    "k": (8, lambda found: f"{found['k']}"),
    "NMI": (9, lambda found: f"{found['nmi']:.5f}"),
    "labels": (12, lambda found: found["labels"]),
}


def line(name: str, found: dict[str, Any]) -> str:
    """Return a line of the table; what was not measured is a dash."""
    cells = []
    for width, shown in COLUMNS.values():
        try:
            cells.append(f"{shown(found):>{width}}")
        except (KeyError, TypeError):
            cells.append(f"{'-':>{width}}")
    return f"{name:<24}" + "".join(cells)


def verdicts(
    family: str, out: dict[str, Any], inside: dict[str, Any] | None, budget: int
) -> Iterator[tuple[str, bool]]:
    """Yield each bar with what was measured, and whether it is met."""
    most = MOST_PASSES if family in CLEAR else MOST_PASSES_UNCLEAR
    yield f"passes {out['passes']:.0f} <= {most}", round(out["passes"]) <= most
    room = min(budget, BYTES_PER_NODE * out["nodes"] + BLOCKS_HELD * out["block"])
    yield f"peak {out['peak'] / 1e6:.0f} MB <= {room / 1e6:.0f} MB", out["peak"] <= room
    if inside is not None:
        lost, ratio = inside["nmi"] - out["nmi"], out["cpu"] / inside["cpu"]
        yield f"NMI lost {lost:+.5f} <= {MOST_NMI_LOST}", lost <= MOST_NMI_LOST
        yield f"CPU {ratio:.2f}x <= {MOST_CPU}x", ratio <= MOST_CPU


def graph_in(folder: Path, family: str, edges: int) -> Path:
    """Return the folder of a graph, which is drawn if it is not there."""
    place = folder / f"{family.replace(' ', '_')}-{edges}"
    if not (place / "edges.parquet").exists():
        place.mkdir(parents=True, exist_ok=True)
        in_a_process(partial(write_graph, family, edges, place))
    return place


def compare(folder: Path, family: str, edges: int, options: argparse.Namespace) -> bool:
    """Print the lines of a graph; return whether all bars are met."""
    from kgroups.blocks.store import memory_bytes

    small = graph_in(folder, family, WARM_EDGES)
    place = graph_in(folder, family, edges)
    print(f"{family}, {edges:,} edges", flush=True)

    def measured(name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = in_a_process(work)
        print(line(f"  {name}", found), flush=True)
        return found

    budget = options.memory
    if not (place / "store").exists():
        measured("ingest", partial(ingest, place, small, budget, None))
    out = measured("out of core", partial(search, place, small, budget, None, None))
    checksums = {out["labels"]}
    for blocks in options.blocks:
        work = partial(search, place, small, budget, blocks, None)
        checksums.add(measured(f"{blocks} blocks or more", work)["labels"])
    for workers in options.workers:
        work = partial(search, place, small, budget, None, workers)
        name = f"Dask, {workers} worker{'s' if workers > 1 else ''}"
        checksums.add(measured(name, work)["labels"])
    inside = None
    if edges <= options.memory_edges:
        inside = measured("in memory", partial(search_in_memory, place, small))
    if edges <= options.peer_edges:
        for peer in table.installed(options.peers):
            measured(peer, partial(search_by_peer, peer, place))
    checked = list(verdicts(family, out, inside, memory_bytes(budget)))
    if options.blocks or options.workers:
        checked.append((f"labels: {len(checksums)} checksum", len(checksums) == 1))
    for text, met in checked:
        print(f"  {'yes' if met else 'NO':<4}{text}", flush=True)
    return all(met for _, met in checked)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.large", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--edges", nargs="+", type=float, default=[1e7])
    parser.add_argument("--families", nargs="+", choices=tuple(SHORT), default=tuple(SHORT))
    parser.add_argument("--memory", default="1GB", help="limit of a search out of core")
    parser.add_argument("--blocks", nargs="*", type=int, default=[], help="numbers of blocks")
    parser.add_argument("--workers", nargs="*", type=int, default=[], help="workers of Dask")
    parser.add_argument("--memory-edges", type=float, default=3e7, help="largest in memory")
    parser.add_argument("--peers", nargs="*", choices=tuple(PEERS), default=BESIDE)
    parser.add_argument("--peer-edges", type=float, default=1e7, help="largest of the peers")
    parser.add_argument("--store", type=Path, help="where graphs and stores are kept")
    options = parser.parse_args()
    if not sys.platform.startswith("linux"):
        raise SystemExit("peak memory is read from /proc, which only Linux has")
    print(f"{table.setting()}; mean degree {DEGREE:.0f}, memory {options.memory}\n")
    print(f"{'':<24}" + "".join(f"{name:>{width}}" for name, (width, _) in COLUMNS.items()))
    met = True
    with TemporaryDirectory() as temporary:
        folder = options.store or Path(temporary)
        for edges in map(int, options.edges):
            for short in options.families:
                met &= compare(folder, SHORT[short], edges, options)
    sys.exit(0 if met else "some bars are not met")


if __name__ == "__main__":
    main()
