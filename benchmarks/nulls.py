"""``python -m benchmarks.nulls``: how often random graphs are recognized.

The experiment behind the null test (``kgroups.spectrum.has_structure``). For each kind of random
graph it prints the share that is found to be one community, in its largest component, and the
largest signal that was seen; for each planted partition near the threshold of detection, the share
that is found to have structure, and the smallest signal. The null test is right where both shares
are 100 %; its threshold lies between the signals.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np

import kgroups as kg
from benchmarks.graphs import BenchmarkGraph, erdos_renyi, planted_partition, power_law_null
from kgroups._csr import connected_components
from kgroups.spectrum import BoundBetheHessian, has_structure, moments

SIZES = (500, 1_000, 10_000, 100_000)
GRAPHS = {500: 400, 1_000: 400, 10_000: 60, 100_000: 6}
NULL_DEGREES = (3, 6, 20)
EXPONENTS = (2.1, 2.5, 3.0)
NEAR_THRESHOLD = ((2, 3.0, 1.4), (2, 5.0, 1.3), (10, 10.0, 1.3), (2, 20.0, 1.3), (2, 20.0, 1.2))
"""Number of communities, mean degree and signal-to-noise ratio."""


@dataclass(frozen=True)
class Cell:
    """One kind of graph; ``draw`` takes a seed."""

    name: str
    n: int
    structured: bool
    draw: Callable[..., BenchmarkGraph]


def cells(n: int) -> list[Cell]:
    """Return the kinds of graph of one size, nulls first."""
    rows = [
        Cell(f"Erdos-Renyi, d={d}", n, False, partial(erdos_renyi, n=n, degree=d))
        for d in NULL_DEGREES
    ]
    rows += [
        Cell(
            f"power law {exponent:g}, d={d}",
            n,
            False,
            partial(power_law_null, n=n, degree=d, exponent=exponent),
        )
        for exponent in EXPONENTS
        for d in NULL_DEGREES
    ]
    rows += [
        Cell(
            f"planted, k={k}, d={d:g}, SNR {snr:g}",
            n,
            True,
            partial(planted_partition, n=n, k=k, degree=d, snr=snr),
        )
        for k, d, snr in NEAR_THRESHOLD
    ]
    return rows


def largest_component(graph: BenchmarkGraph) -> BoundBetheHessian:
    """Return the operator on the largest component, with r of the whole graph."""
    adjacency = kg.Graph.from_edges(graph.source, graph.target, n=graph.n).simple_adjacency()
    hessian = kg.BetheHessian().bind(adjacency, weighted=False)
    _, labels = connected_components(adjacency)
    return hessian.restrict(np.flatnonzero(labels == np.argmax(np.bincount(labels))))


def row(cell: Cell, graphs: int, seed: int) -> list[str]:
    """Return the entries of one cell: share that is right, extreme signal, steps and seconds."""
    right, signals, steps, seconds = 0, [], [], []
    for s in range(seed, seed + graphs):
        hessian = largest_component(cell.draw(cell.name, seed=s))
        start = perf_counter()
        found = moments(hessian)
        structured = has_structure(found)
        seconds.append(perf_counter() - start)
        right += structured == cell.structured
        signals.append(found.signal)
        steps.append(found.q)
    extreme = min(signals) if cell.structured else max(signals)
    return [
        f"{cell.n}",
        cell.name,
        f"{graphs}",
        f"{100.0 * right / graphs:.1f} %",
        f"{extreme:.2f}",
        f"{int(np.median(steps))}",
        f"{1e3 * float(np.median(seconds)):.1f}",
    ]


def main() -> None:
    """Print a row per kind of graph."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nulls", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of nodes")
    parser.add_argument("--graphs", type=int, help="per cell; by default more of the small ones")
    parser.add_argument("--seed", type=int, default=0, help="of the first graph of each cell")
    options = parser.parse_args()
    widths = (8, 32, 7, 8, 15, 6, 8)
    header = ["nodes", "graph", "graphs", "right", "extreme signal", "steps", "ms"]
    print("".join(entry.rjust(width) for entry, width in zip(header, widths, strict=True)))
    for n in options.sizes:
        graphs = options.graphs or next((g for size, g in GRAPHS.items() if n <= size), 3)
        for cell in cells(n):
            entries = row(cell, graphs, options.seed)
            line = "".join(entry.rjust(width) for entry, width in zip(entries, widths, strict=True))
            print(line, flush=True)


if __name__ == "__main__":
    main()
