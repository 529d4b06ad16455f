"""The graphs that every method of a run gets: real ones, LFR and planted partitions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BenchmarkGraph:
    """An undirected simple graph without weights, with the true labels where there are any."""

    name: str
    n: int
    source: Ints
    target: Ints
    truth: npt.NDArray[Any] | None

    @property
    def m(self) -> int:
        """Number of edges."""
        return self.source.size

    @property
    def true_k(self) -> int | None:
        """Number of true communities."""
        return None if self.truth is None else np.unique(self.truth).size


def planted_partition(name: str, *, n: int, k: int, degree: float, snr: float, seed: int):
    """Draw k equal groups at the signal-to-noise ratio (a - b) / (k sqrt(degree)).

    The number of edges inside and across is binomial and the edges are distinct, so this is the
    planted partition model itself; time and memory are proportional to the number of edges.
    """
    a = degree + snr * (k - 1) * np.sqrt(degree)
    b = degree - snr * np.sqrt(degree)
    if n % k or b < 0:
        msg = f"n must be a multiple of k and snr at most sqrt(degree), got {n=}, {k=}, {snr=}"
        raise ValueError(msg)
    rng = np.random.default_rng(seed)
    size = n // k
    pairs_inside = k * size * (size - 1) // 2
    inside = rng.binomial(pairs_inside, a / n)
    across = rng.binomial(n * (n - 1) // 2 - pairs_inside, b / n)

    def draw_inside(count: int) -> tuple[Ints, Ints]:
        group = rng.integers(k, size=count) * size
        return group + rng.integers(size, size=count), group + rng.integers(size, size=count)

    def draw_across(count: int) -> tuple[Ints, Ints]:
        u, v = rng.integers(n, size=(2, count))
        apart = u // size != v // size
        return u[apart], v[apart]

    codes = np.concatenate(
        [_distinct_pairs(draw_inside, inside, n), _distinct_pairs(draw_across, across, n)]
    )
    # Node numbers must not give the groups away to methods that visit nodes in order.
    shuffled = rng.permutation(n)
    truth = np.empty(n, dtype=np.int64)
    truth[shuffled] = np.arange(n) // size
    return BenchmarkGraph(name, n, shuffled[codes // n], shuffled[codes % n], truth)


def _distinct_pairs(draw: Callable[[int], tuple[Ints, Ints]], count: int, n: int) -> Ints:
    codes = np.empty(0, dtype=np.int64)
    while codes.size < count:
        u, v = draw(int(1.2 * (count - codes.size)) + 16)
        apart = u != v
        low, high = np.minimum(u, v)[apart], np.maximum(u, v)[apart]
        codes = np.concatenate([codes, low * n + high])
        first = np.unique(codes, return_index=True)[1]
        codes = codes[np.sort(first)]
    return codes[:count]


def lfr(name: str, *, n: int, degree: int, mixing: float, seed: int) -> BenchmarkGraph:
    """Draw an LFR graph with NetworKit: exponents 2.5 and 1.5, community sizes 20 to 500."""
    import networkit

    networkit.setSeed(seed, True)
    generator = networkit.generators.LFRGenerator(n)
    generator.generatePowerlawDegreeSequence(degree, 5 * degree, -2.5)
    generator.generatePowerlawCommunitySizeSequence(20, 500, -1.5)
    generator.setMu(mixing)
    graph = generator.generate()
    matrix = networkit.algebraic.adjacencyMatrix(graph).tocoo()
    upper = matrix.row < matrix.col
    return BenchmarkGraph(
        name,
        n,
        matrix.row[upper].astype(np.int64),
        matrix.col[upper].astype(np.int64),
        np.array(generator.getPartition().getVector()),
    )


def real(name: str, *, seed: int) -> BenchmarkGraph:
    """Load a network of kgroups.datasets; the seed is not used."""
    from kgroups import datasets

    loaded = datasets.load(name)
    source, target, _ = loaded.graph.edges()
    proper = source != target
    return BenchmarkGraph(
        name,
        loaded.graph.n,
        source[proper].astype(np.int64),
        target[proper].astype(np.int64),
        loaded.truth,
    )


REAL = ("karate", "dolphins", "football", "polbooks", "email-Eu-core", "ca-GrQc", "cora")
DRAWN: dict[str, Callable[..., BenchmarkGraph]] = {
    "sbm-1k": partial(planted_partition, n=1_000, k=5, degree=10.0, snr=1.8),
    "sbm-10k": partial(planted_partition, n=10_000, k=10, degree=10.0, snr=1.5),
    "sbm-100k": partial(planted_partition, n=100_000, k=200, degree=20.0, snr=1.5),
    "lfr-10k": partial(lfr, n=10_000, degree=20, mixing=0.6),
    "lfr-100k": partial(lfr, n=100_000, degree=20, mixing=0.4),
}
NAMES = (*REAL, *DRAWN)
DEFAULT = (*REAL, "sbm-1k", "sbm-10k", "lfr-10k")


def why_absent(name: str) -> str | None:
    """Return why a graph cannot be had here, or None if it can."""
    if name.startswith("lfr") and find_spec("networkit") is None:
        return "NetworKit is not installed"
    if name in REAL:
        from kgroups import datasets

        present = {info.name for info in datasets.describe() if info.present}
        return None if name in present else "its files were not found (set KGROUPS_DATA)"
    return None


def make(name: str, *, seed: int) -> BenchmarkGraph:
    """Load or draw the graph with this name."""
    return real(name, seed=seed) if name in REAL else DRAWN[name](name, seed=seed)
