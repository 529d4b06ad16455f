"""Stores of large graphs: time and memory of making them, and bytes on the disk.

Run ``python -m benchmarks.store --edges 10000000 --memory 500MB``. The graphs are those of
:mod:`benchmarks.large_input`. Each line is measured in a process of its own: seconds of the
processor, imports and compilation included, the peak of the resident memory above what the process
held before, as Linux reports it, and the bytes per edge of the store. *most on disk* is the
largest size of the folder while it is written, read ten times a second.
"""

import argparse
import os
import sys
import threading
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from benchmarks import memory, table
from benchmarks.large_input import WRITERS, in_a_process, prepare

KINDS = ("parquet", "parquet, 62-bit names", "parquet, text names", "npz")


def folder_bytes(folder: Path) -> int:
    """Return the size of all files in a folder, some of which may vanish meanwhile."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(place, name).stat().st_size
            except OSError:
                continue
    return total


def measure(path: Path, folder: Path, limit: str) -> dict[str, float]:
    """Make a store of a file, and return what that took."""
    import kgroups as kg

    largest, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            largest[0] = max(largest[0], folder_bytes(folder))

    watching = threading.Thread(target=watch)
    before, busy = memory.start_watching(), process_time()
    watching.start()
    try:
        stored = kg.open_graph(path, store=folder / "store", memory=limit)
    finally:
        done.set()
        watching.join()
    return {
        "edges": stored.m,
        "nodes": stored.n,
        "cpu": process_time() - busy,
        "peak": memory.peak_above(before),
        "most": largest[0] / stored.m,
        "size": folder_bytes(folder) / stored.m,
    }


def result(kind: str, edges: int, folder: Path, limit: str, *, weighted: bool) -> dict[str, float]:
    """Write the file of a kind, and measure its store."""
    path, stores = folder / f"edges{WRITERS[kind][0]}", folder / "stores"
    stores.mkdir()
    in_a_process(partial(prepare, kind, edges, path, "sbm", weighted=weighted))
    return in_a_process(partial(measure, path, stores, limit))


def line(kind: str, found: dict[str, float]) -> str:
    return (
        f"{kind:<24}{found['edges']:>12,}{found['nodes']:>12,}{found['cpu']:>8.1f}"
        f"{found['peak'] / 1e6:>10.0f}{found['most']:>20.1f}{found['size']:>14.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.store", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--edges", nargs="+", type=float, default=[1e7])
    parser.add_argument("--kinds", nargs="+", choices=tuple(WRITERS), default=KINDS)
    parser.add_argument("--memory", default="500MB")
    parser.add_argument("--weighted", action="store_true", help="give each edge a random weight")
    options = parser.parse_args()
    if not sys.platform.startswith("linux"):
        raise SystemExit("peak memory is read from /proc, which only Linux has")
    print(table.setting())
    print(f"\nmemory {options.memory}\n")
    print(
        f"{'input':<24}{'edges':>12}{'nodes':>12}{'CPU s':>8}{'peak MB':>10}"
        f"{'most on disk, B/m':>20}{'store, B/m':>14}"
    )
    for edges in map(int, options.edges):
        for kind in options.kinds:
            with TemporaryDirectory() as folder:
                found = result(kind, edges, Path(folder), options.memory, weighted=options.weighted)
            print(line(kind, found), flush=True)


if __name__ == "__main__":
    main()
