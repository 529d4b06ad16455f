"""Large graphs in: time, and the memory that reading takes above the matrix that comes out.

Run ``python -m benchmarks.large_input --edges 1000000 10000000``. Each line is measured in a
process of its own that has read a small graph of the same kind before, so that neither imports
nor compilation count. Peak memory is the resident set that Linux reports, above what the process
held before the call; an igraph object is part of that, a file is not.
"""

import argparse
import ctypes
import gc
import multiprocessing
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

WARM_EDGES = 40_000
EDGES_PER_NODE = 10


def columns(edges: int, *, weighted: bool) -> dict[str, Any]:
    """Draw distinct random pairs, each node in one of them at least, in random order."""
    rng = np.random.default_rng(edges)
    n = edges // EDGES_PER_NODE
    codes = np.empty(0, np.int64)
    while codes.size < edges - n:
        u, v = np.sort(rng.integers(0, n, (2, edges)), axis=0)
        apart = v > u + 1
        codes = np.unique(np.concatenate([codes, u[apart] * n + v[apart]]))
    ring = np.arange(n - 1)
    codes = np.concatenate([rng.permutation(codes)[: edges - n + 1], ring * n + ring + 1])
    codes = rng.permutation(codes)
    table = {"source": codes // n, "target": codes % n}
    return {**table, "weight": rng.random(edges)} if weighted else table


def with_names(table: dict[str, Any], name: Callable[[Any], Any]) -> dict[str, Any]:
    return {key: name(part) if key != "weight" else part for key, part in table.items()}


def scattered(numbers: Any) -> Any:
    """Turn numbers into as many identifiers of 62 bits."""
    return (numbers * 0x5851F42D4C957F2D) & (2**62 - 1)


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


def prepare(kind: str, edges: int, path: Path, *, weighted: bool) -> None:
    """Write the file of a kind; run in a process of its own, so that its memory is returned."""
    WRITERS[kind][1](columns(edges, weighted=weighted), path)


def igraph_object(edges: int, *, weighted: bool) -> Any:
    import igraph

    table = columns(edges, weighted=weighted)
    pairs = np.column_stack([table["source"], table["target"]])
    graph = igraph.Graph(n=int(pairs.max()) + 1, edges=pairs)
    if weighted:
        graph.es["weight"] = table["weight"].tolist()
    return graph


def memory(field: str) -> int:
    """Return bytes that Linux reports of this process: VmRSS is held now, VmHWM was the most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


def measure(graph: Any, small: Any) -> dict[str, float]:
    """Convert a file or an igraph object once, after a small one."""
    from kgroups import as_graph

    as_graph(small)
    # What was freed but not returned would serve the call and hide what it takes.
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    start = perf_counter()
    converted = as_graph(graph)
    seconds = perf_counter() - start
    peak = memory("VmHWM") - before
    arrays = (converted.indptr, converted.indices, converted.weights, converted.multiplicity)
    size = sum(array.nbytes for array in arrays if array is not None)
    return {"edges": converted.m, "seconds": seconds, "size": size, "peak": peak}


def measure_igraph(edges: int, *, weighted: bool) -> dict[str, float]:
    return measure(
        igraph_object(edges, weighted=weighted), igraph_object(WARM_EDGES, weighted=weighted)
    )


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


def result(kind: str, edges: int, folder: Path, *, weighted: bool) -> dict[str, float]:
    if kind == "igraph":
        return in_a_process(partial(measure_igraph, edges, weighted=weighted))
    suffix = WRITERS[kind][0]
    paths = folder / f"large{suffix}", folder / f"small{suffix}"
    for path, size in zip(paths, (edges, WARM_EDGES), strict=True):
        in_a_process(partial(prepare, kind, size, path, weighted=weighted))
    return in_a_process(partial(measure, *paths))


def line(kind: str, found: dict[str, float]) -> str:
    return (
        f"{kind:<24}{found['edges']:>12,.0f}{found['seconds']:>9.2f}"
        f"{found['edges'] / found['seconds'] / 1e6:>12.1f}{found['size'] / 1e6:>10.0f}"
        f"{found['peak'] / 1e6:>10.0f}{found['peak'] / found['size']:>8.2f}x"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", nargs="+", type=int, default=[1_000_000, 10_000_000])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--weighted", action="store_true", help="give each edge a random weight")
    options = parser.parse_args()
    if not sys.platform.startswith("linux"):
        raise SystemExit("peak memory is read from /proc, which only Linux has")
    print(f"{EDGES_PER_NODE} edges per node; memory in MB, the bar is 3x\n")
    titles = f"{'seconds':>9}{'M edges/s':>12}{'matrix':>10}{'peak':>10}{'ratio':>9}"
    print(f"{'input':<24}{'edges':>12}{titles}")
    for edges in options.edges:
        for kind in options.kinds:
            with TemporaryDirectory() as folder:
                found = result(kind, edges, Path(folder), weighted=options.weighted)
            print(line(kind, found), flush=True)


if __name__ == "__main__":
    main()
