"""Large graphs from a file or an igraph object: reading, and the detection of communities.

Run ``python -m benchmarks.large_input --edges 1000000 10000000``. The graphs have 20 communities
or, with ``--family lfr``, as many as LFR graphs have. Each line is measured in a process of its own
that has handled a small graph of the same kind before, so that neither imports nor compilation
count. *peak* is what reading takes above what the process held before, and *ratio* that over the
matrix that comes out. The next four figures are those of reading and detection together: matrix
entries read per edge, seconds of the processor, and the peak of memory per edge above what the
process held before, the graph included; an igraph object, whose size comes last, is not. Memory is
the resident set that Linux reports. Peers follow, on the same graphs up to ``--peer-edges``; their
memory includes their form of the graph. With ``--interrupts 6`` reading and detection are repeated
and interrupted by Ctrl-C at as many times, evenly spaced, and a line each says in which stage that
was, and how long it took to end.
"""

import argparse
import multiprocessing
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks import memory, table
from benchmarks.graphs import BenchmarkGraph
from benchmarks.peers import PEERS, REFERENCE

WARM_EDGES = 200_000
EDGES_PER_NODE = 10
FAMILIES = ("sbm", "lfr")
BESIDE = (REFERENCE, "networkit-plm")
_GROUPS, _SNR, _MIXING = 20, 3.0, 0.4
# Odd, so that it has an inverse, and above 2^62, so that names are far apart.
_MULTIPLIER = 0x5851F42D4C957F2D


def columns(edges: int, family: str, *, weighted: bool) -> tuple[dict[str, Any], Any]:
    """Draw about so many edges, in random order, and the communities of the nodes."""
    from kgroups.generators import lfr_benchmark, planted_partition

    n, degree = edges // EDGES_PER_NODE, 2.0 * EDGES_PER_NODE
    if family == "lfr":
        graph, truth = lfr_benchmark(n, degree=degree, mixing=_MIXING, rng=edges)
    else:
        graph, truth = planted_partition(n, k=_GROUPS, degree=degree, snr=_SNR, rng=edges)
    rng = np.random.default_rng(edges)
    u, v, _ = graph.edges()
    del graph
    order = rng.permutation(u.size)
    drawn = {"source": u[order].astype(np.int64), "target": v[order].astype(np.int64)}
    if weighted:
        drawn["weight"] = rng.random(order.size)
    return drawn, truth


def with_names(table: dict[str, Any], name: Callable[[Any], Any]) -> dict[str, Any]:
    return {key: name(part) if key != "weight" else part for key, part in table.items()}


def scattered(numbers: Any) -> Any:
    """Turn numbers into as many identifiers of 62 bits."""
    return (numbers * _MULTIPLIER) & (2**62 - 1)


def numbers_of(names: Any) -> Any:
    """Return the numbers that names were made of."""
    if isinstance(names[0], str):
        return np.fromiter((int(name.rpartition("-")[2]) for name in names), np.int64, len(names))
    numbers = np.asarray(names)
    if numbers.max() < 2**40:
        return numbers
    return (numbers * pow(_MULTIPLIER, -1, 2**62)) & (2**62 - 1)


def as_text(numbers: Any) -> Any:
    import pyarrow
    from pyarrow import compute

    return compute.binary_join_element_wise("user", pyarrow.array(numbers).cast("string"), "-")


def write_parquet(table: dict[str, Any], path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(table), path)


def write_matrix(table: dict[str, Any], path: Path) -> None:
    from scipy import sparse

    from kgroups import as_graph

    sparse.save_npz(path, as_graph(tuple(table.values())).to_scipy(), compressed=False)


WRITERS: dict[str, tuple[str, Callable[[dict[str, Any], Path], None]]] = {
    "parquet": (".parquet", write_parquet),
    "parquet, 62-bit names": (
        ".parquet",
        lambda table, path: write_parquet(with_names(table, scattered), path),
    ),
    "parquet, text names": (
        ".parquet",
        lambda table, path: write_parquet(with_names(table, as_text), path),
    ),
    "npz": (".npz", lambda table, path: np.savez(path, **table)),
    "npz, compressed": (".npz", lambda table, path: np.savez_compressed(path, **table)),
    "npz, scipy matrix": (".npz", write_matrix),
}
KINDS = (*WRITERS, "igraph")


def prepare(kind: str, edges: int, path: Path, family: str, *, weighted: bool) -> None:
    """Write the file of a kind; run in a process of its own, so that its memory is returned."""
    drawn, truth = columns(edges, family, weighted=weighted)
    np.save(path.with_suffix(".truth.npy"), truth)
    WRITERS[kind][1](drawn, path)


def igraph_object(path: Path) -> Any:
    """Return the edges that ``prepare`` has written as an igraph object."""
    import igraph

    with np.load(path) as drawn:
        pairs = np.column_stack([drawn["source"], drawn["target"]])
        weight = drawn.get("weight")
    graph = igraph.Graph(n=int(pairs.max()) + 1, edges=pairs)
    if weight is not None:
        graph.es["weight"] = weight.tolist()
    return graph


def measure(kind: str, path: Path, small: Path, *, detecting: bool) -> dict[str, float]:
    """Convert a file or an igraph object once, after a small one, and find its communities."""
    from kgroups import as_graph, detect_communities
    from kgroups.metrics import nmi

    load = igraph_object if kind == "igraph" else Path
    detect_communities(load(small))
    held = memory.start_watching()
    graph = load(path)
    before = memory.start_watching() if kind == "igraph" else held
    start, busy = perf_counter(), process_time()
    converted = as_graph(graph)
    seconds = perf_counter() - start
    arrays = (converted.indptr, converted.indices, converted.weights, converted.multiplicity)
    found = {
        "edges": converted.m,
        "seconds": seconds,
        "size": sum(array.nbytes for array in arrays if array is not None),
        "peak": memory.peak_above(before),
        "held": before - held,
    }
    if not detecting:
        return found
    partition = detect_communities(converted)
    found["wall"] = perf_counter() - start
    truth = np.load(path.with_suffix(".truth.npy"))
    return {
        **found,
        "cpu": process_time() - busy,
        "bytes": memory.peak_above(before) / converted.m,
        "visits": partition.report.visits / converted.m,
        "nmi": nmi(truth[numbers_of(converted.nodes)], partition.labels),
    }


def interrupt(kind: str, path: Path, small: Path, after: float) -> tuple[str, float | None]:
    """Send Ctrl-C so many seconds after the start; return the stage and how long it took to end.

    The second number is None if communities were found before.
    """
    from kgroups import detect_communities

    load = igraph_object if kind == "igraph" else Path
    detect_communities(load(small))
    graph, stages = load(path), ["start"]
    # An alarm reaches the main thread at its time, whatever other threads do.
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    begun = perf_counter()
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        detect_communities(graph, progress=stages.append)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    except KeyboardInterrupt:
        return stages[-1], perf_counter() - begun - after
    return stages[-1], None


def measure_peer(name: str, path: Path) -> dict[str, float]:
    """Let a peer find the communities of the edges in a file."""
    from kgroups.metrics import nmi

    truth = np.load(path.with_suffix(".truth.npy"))
    with np.load(path) as drawn:
        graph = BenchmarkGraph(path.name, truth.size, drawn["source"], drawn["target"], truth)
    peer = PEERS[name]
    before = memory.start_watching()
    native = peer.build(graph)
    memory.start_watching()
    busy = process_time()
    labels = peer.find(native, 0).labels
    return {
        "edges": graph.m,
        "cpu": process_time() - busy,
        "bytes": memory.peak_above(before) / graph.m,
        "nmi": nmi(truth, labels),
    }


def answer(work: Callable[[], Any], pipe: Any) -> None:
    pipe.send(work())


def in_a_process(work: Callable[[], Any]) -> Any:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=answer, args=(work, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        raise SystemExit("the measuring process died") from None
    finally:
        process.join()


def result(
    kind: str,
    edges: int,
    folder: Path,
    *,
    family: str = "sbm",
    weighted: bool = False,
    detecting: bool = True,
    interrupts: int = 0,
) -> dict[str, Any]:
    """Write the file of a kind, then measure a kind, or the peer of that name."""
    form = kind if kind in WRITERS else "npz"
    suffix = WRITERS[form][0]
    paths = folder / f"large{suffix}", folder / f"small{suffix}"
    for path, size in zip(paths, (edges, WARM_EDGES), strict=True):
        in_a_process(partial(prepare, form, size, path, family, weighted=weighted))
    if kind in PEERS:
        return in_a_process(partial(measure_peer, kind, paths[0]))
    found = in_a_process(partial(measure, kind, *paths, detecting=detecting))
    times = [found["wall"] * (i + 0.5) / interrupts for i in range(interrupts)]
    found["interrupts"] = [
        (after, *in_a_process(partial(interrupt, kind, *paths, after))) for after in times
    ]
    return found


COLUMNS: dict[str, tuple[int, Callable[[dict[str, float]], str]]] = {
    "edges": (12, lambda found: f"{found['edges']:,.0f}"),
    "seconds": (9, lambda found: f"{found['seconds']:.2f}"),
    "M edges/s": (11, lambda found: f"{found['edges'] / found['seconds'] / 1e6:.1f}"),
    "matrix MB": (11, lambda found: f"{found['size'] / 1e6:.0f}"),
    "peak MB": (9, lambda found: f"{found['peak'] / 1e6:.0f}"),
    "ratio": (7, lambda found: f"{found['peak'] / found['size']:.2f}x"),
    "visits / m": (12, lambda found: f"{found['visits']:.1f}"),
    "CPU s": (9, lambda found: f"{found['cpu']:.1f}"),
    "bytes / edge": (14, lambda found: f"{found['bytes']:.1f}"),
    "NMI": (9, lambda found: f"{found['nmi']:.5f}"),
    "object MB": (11, lambda found: f"{found['held'] / 1e6:.0f}" if found["held"] else "-"),
}


def line(kind: str, found: dict[str, Any]) -> str:
    """Return a line of the table; what was not measured is a dash."""
    cells = []
    for width, shown in COLUMNS.values():
        try:
            cells.append(f"{shown(found):>{width}}")
        except KeyError:
            cells.append(f"{'-':>{width}}")
    return f"{kind:<24}" + "".join(cells)


def interrupt_line(after: float, stage: str, seconds: float | None) -> str:
    """Return a line on one interruption."""
    ended = "found communities before" if seconds is None else f"ended {seconds:.2f} s later"
    return f"  Ctrl-C after {after:.1f} s, {stage}: {ended}"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.large_input", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--edges", nargs="+", type=float, default=[1e6, 1e7])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--family", choices=FAMILIES, default=FAMILIES[0])
    parser.add_argument("--weighted", action="store_true", help="give each edge a random weight")
    parser.add_argument("--only-reading", action="store_true", help="find no communities")
    parser.add_argument("--interrupts", type=int, default=0, help="times to press Ctrl-C")
    parser.add_argument("--peers", nargs="*", choices=tuple(PEERS), default=BESIDE)
    parser.add_argument("--peer-edges", type=float, default=1e7, help="largest graph of the peers")
    options = parser.parse_args()
    if not sys.platform.startswith("linux"):
        raise SystemExit("peak memory is read from /proc, which only Linux has")
    print(table.setting())
    present = [] if options.only_reading else table.installed(options.peers)
    print(f"\n{EDGES_PER_NODE} edges per node\n")
    print(f"{'input':<24}" + "".join(f"{name:>{width}}" for name, (width, _) in COLUMNS.items()))
    for edges in map(int, options.edges):
        for kind in (*options.kinds, *(present if edges <= options.peer_edges else ())):
            with TemporaryDirectory() as folder:
                found = result(
                    kind,
                    edges,
                    Path(folder),
                    family=options.family,
                    weighted=options.weighted,
                    detecting=not options.only_reading,
                    interrupts=0 if options.only_reading else options.interrupts,
                )
            print(line(kind, found), flush=True)
            for one in found.get("interrupts", ()):
                print(interrupt_line(*one), flush=True)


if __name__ == "__main__":
    main()
