"""Count eigenvalues of planted graphs from dense matrices, once, for the tests to compare with.

Run ``python tests/regression/dense_counts.py`` to write ``dense_counts.csv`` beside this file; rows
that are there already stay, so that it can be interrupted. All of it takes about an hour.
"""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kgroups import BetheHessian
from kgroups.generators import planted_partition

GRAPHS = 500
FILE = Path(__file__).with_name("dense_counts.csv")


class Planted(NamedTuple):
    """Parameters of a planted graph at or a little above the detectability threshold."""

    n: int
    k: int
    degree: float
    snr: float
    seed: int

    @classmethod
    def draw(cls, seed):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(500, 5001)), int(rng.integers(2, 16))
        degree, snr = float(rng.integers(3, 31)), round(float(rng.uniform(1.0, 1.3)), 4)
        return cls(n, k, degree, snr, seed)

    def hessian(self):
        graph = planted_partition(self.n, self.k, self.degree, self.snr, rng=self.seed).graph
        return BetheHessian().bind(graph.simple_adjacency(), weighted=False)


class Counted(NamedTuple):
    """Eigenvalues of N_r above 1, and the distance of the nearest one from 1."""

    count: int
    nearest: float


def dense_count(hessian):
    values = np.linalg.eigvalsh(hessian.normalized_matrix().toarray())
    return Counted(int(np.count_nonzero(values > 1.0)), float(np.abs(values - 1.0).min()))


def read():
    """Return the counts by the parameters of the graph."""
    if not FILE.exists():
        return {}
    with FILE.open(newline="") as file:
        return {
            Planted(int(n), int(k), float(d), float(snr), int(seed)): Counted(int(c), float(near))
            for n, k, d, snr, seed, c, near in list(csv.reader(file))[1:]
        }


def main():
    known = read()
    with FILE.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not known:
            writer.writerow([*Planted._fields, *Counted._fields])
        for seed in range(GRAPHS):
            planted = Planted.draw(seed)
            if planted not in known:
                count, nearest = dense_count(planted.hessian())
                writer.writerow([*planted, count, f"{nearest:.3g}"])
                file.flush()


if __name__ == "__main__":
    main()
