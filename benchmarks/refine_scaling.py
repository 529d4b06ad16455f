"""``python -m benchmarks.refine_scaling``: one Hartigan sweep from 1e5 to 1e7 nonzeros.

Planted partitions of mean degree 20 and 50 communities, refined from the true labels with one node
in five misplaced. *visits / nnz* counts the matrix entries that a sweep reads: it is 1 at every
size. *growth* is the exponent of the time per sweep between consecutive sizes.
"""

import argparse
from time import perf_counter

import numpy as np

import kgroups as kg
from benchmarks.graphs import planted_partition
from kgroups.hartigan import improve
from kgroups.spectrum import BetheHessian


def main() -> None:
    """Print a row per size and kind of candidates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=float, default=1e7, help="nonzeros of the largest graph")
    parser.add_argument("--sweeps", type=int, default=3)
    options = parser.parse_args()
    header = f"{'nnz':>10} {'n':>8} {'candidates':>11} {'s/sweep':>9} {'ns/entry':>9}"
    print(f"{header} {'visits / nnz':>13} {'growth':>7} {'overlap before':>15} {'after':>6}")
    last: dict[str, tuple[int, float]] = {}
    for nnz in (1e5, 1e6, 1e7):
        if nnz > options.largest:
            continue
        n = int(nnz / 20) // 50 * 50
        drawn = planted_partition("sbm", n=n, k=50, degree=20.0, snr=2.0, seed=0)
        graph = kg.Graph.from_edges(drawn.source, drawn.target, n=n)
        hessian = BetheHessian().bind(graph.simple_adjacency(), weighted=False)
        M, diagonal, w = kg.Hartigan().objective(hessian, graph.degrees)
        rng = np.random.default_rng(1)
        z = np.where(rng.random(n) < 0.2, rng.integers(0, 50, n), drawn.truth)
        for candidates in ("neighbors", "all"):
            settings = {"k": 50, "candidates": candidates}
            improve(M, diagonal, w, z, max_sweeps=1, **settings)
            start = perf_counter()
            found = improve(M, diagonal, w, z, max_sweeps=options.sweeps, **settings)
            seconds = (perf_counter() - start) / found.sweeps
            entries = len(M.indices)
            growth = ""
            if candidates in last:
                before, took = last[candidates]
                growth = f"{np.log(seconds / took) / np.log(entries / before):.2f}"
            last[candidates] = (entries, seconds)
            quality = [kg.metrics.overlap(drawn.truth, x) for x in (z, found.z)]
            print(
                f"{entries:>10} {n:>8} {candidates:>11} {seconds:>9.4f}"
                f" {1e9 * seconds / entries:>9.1f}"
                f" {found.visits / found.sweeps / entries:>13.3f} {growth:>7}"
                f" {quality[0]:>15.3f} {quality[1]:>6.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
