"""``python -m benchmarks.energy``: points in groups, against scikit-learn and a plain numpy Lloyd.

The points are mixtures of Gaussians of unequal widths in ten dimensions, whose components are the
true groups. Every line has the within-energy W of its groups beside its time, as a multiple of the
least that any method found on the same points, and the NMI with the true groups. Methods take
turns and the shortest of their times counts, so that a slow moment of the machine does not.
"""

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks import memory
from benchmarks.large_input import in_a_process
from benchmarks.startup import seconds_of
from kgroups.energy import Power, kernel_kgroups, kernel_kmeans, kernel_matrix, within_energy
from kgroups.hartigan import StoredRows, improve_dense
from kgroups.metrics import nmi

COLUMNS = 10
STARTS = 10
MAX_SWEEPS = 300
BLOCK = 1_000
MANY_TURNS = 10_000
THREAD_SETTINGS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
# Bars: a sweep beside one of numpy, seconds for 2,000 points in 10 groups, bytes for 20,000.
SWEEP_BAR, SECONDS_BAR, MEMORY_BAR, COMPILE_BAR = 1.5, 0.5, 4e9, 12.0
BAR_POINTS, BAR_GROUPS = 2_000, 10

FIRST_CALL = """
from time import perf_counter, process_time
import numpy
points = numpy.random.default_rng(0).normal(size=(100, 2))
start = perf_counter(), process_time()
from kgroups.energy import kernel_kgroups
kernel_kgroups(points, 2)
print(perf_counter() - start[0], process_time() - start[1])
"""


@dataclass(frozen=True, eq=False)
class Mixture:
    """Points and the component each was drawn from."""

    X: Any
    truth: Any
    k: int

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.X)


def mixture(n: int, k: int, seed: int) -> Mixture:
    """Draw points from Gaussians whose centers lie a few widths apart."""
    rng = np.random.default_rng([n, k, seed])
    centers = rng.normal(scale=1.2, size=(k, COLUMNS))
    widths = rng.uniform(0.5, 1.5, size=k)
    truth = rng.permutation(np.arange(n) % k)
    return Mixture(centers[truth] + widths[truth, None] * rng.normal(size=(n, COLUMNS)), truth, k)


class Timing(NamedTuple):
    """Seconds on the clock and of the processor."""

    wall: float
    processor: float


def timed(call: Callable[[], Any]) -> tuple[Any, Timing]:
    """Call once and return the result with its time."""
    wall, processor = perf_counter(), process_time()
    result = call()
    return result, Timing(perf_counter() - wall, process_time() - processor)


def shortest(timings: list[Timing]) -> Timing:
    """Return the least of each clock."""
    return Timing(*(min(clock) for clock in zip(*timings, strict=True)))


def indicators(z: Any, k: int) -> Any:
    """Return a column of ones and zeros for each group."""
    Z = np.zeros((z.size, k))
    Z[np.arange(z.size), z] = 1.0
    return Z


def to_nearest_mean(links: Any, Z: Any) -> Any:
    """Return the nearest mean of each point, given the sums of its kernel with each group."""
    size = np.maximum(Z.sum(axis=0), 1.0)
    own = np.einsum("ia,ia->a", Z, links) / size**2
    distance = own - 2.0 * links / size
    distance[:, Z.sum(axis=0) == 0] = np.inf
    return distance.argmin(axis=1)


def numpy_sweep(G: Any, z: Any, k: int) -> Any:
    """Return the labels after one sweep of Lloyd: all points at once to the nearest mean."""
    Z = indicators(z, k)
    return to_nearest_mean(G @ Z, Z)


def numpy_sweep_in_blocks(X: Any, k: int, seed: int) -> Any:
    """Return the same from labels by chance, for points whose matrix does not fit."""
    Z = indicators(np.random.default_rng(seed).integers(k, size=len(X)), k)
    links = [-0.5 * Power()(X[lo : lo + BLOCK], X) @ Z for lo in range(0, len(X), BLOCK)]
    return to_nearest_mean(np.concatenate(links), Z)


def numpy_lloyd(G: Any, z: Any, k: int) -> tuple[Any, int]:
    """Sweep until no label changes; return the labels and the number of sweeps."""
    sweeps, before = 0, None
    while sweeps < MAX_SWEEPS and not np.array_equal(z, before):
        z, before = numpy_sweep(G, z, k), z
        sweeps += 1
    return z, sweeps


def nearest_of_random(D: Any, k: int, rng: np.random.Generator) -> Any:
    """Return the nearest of k points drawn by chance, for every point."""
    return D[:, rng.choice(len(D), size=k, replace=False)].argmin(axis=1)


def by_numpy(X: Any, k: int, seed: int) -> Any:
    """Return the best groups of several starts of a plain kernel k-means."""
    rng = np.random.default_rng(seed)
    G, D = kernel_matrix(X), Power()(X)
    found = [numpy_lloyd(G, nearest_of_random(D, k, rng), k)[0] for _ in range(STARTS)]
    return min(found, key=partial(within_energy, D, metric="precomputed"))


def by_kgroups(X: Any, k: int, seed: int) -> Any:
    return kernel_kgroups(X, k, n_init=STARTS, rng=seed).labels


def by_kernel_kmeans(X: Any, k: int, seed: int) -> Any:
    return kernel_kmeans(X, k, n_init=STARTS, rng=seed).labels


def by_sklearn_kmeans(X: Any, k: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=STARTS, random_state=seed).fit_predict(X)


def by_sklearn_spectral(X: Any, k: int, seed: int) -> Any:
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(k, affinity="precomputed", random_state=seed)
    return model.fit_predict(kernel_matrix(X))


OURS = {"kgroups": by_kgroups, "kgroups, Lloyd": by_kernel_kmeans}
NUMPY = {"numpy Lloyd": by_numpy}
ONE_SWEEP = {"numpy, one sweep": numpy_sweep_in_blocks}
SKLEARN = {"sklearn KMeans": by_sklearn_kmeans, "sklearn spectral": by_sklearn_spectral}


def sklearn_version() -> str | None:
    """Return the version of scikit-learn, None without it."""
    try:
        return version("scikit-learn")
    except PackageNotFoundError:
        return None


def compare(data: Mixture, methods: dict[str, Any], repeat: int) -> dict[str, tuple[Timing, Any]]:
    """Return the shortest time and the labels of every method, called in turns.

    A call on few points that does not count loads what each of them needs.
    """
    for find in methods.values():
        find(data.X[: 2 * data.k], data.k, 0)
    timings: dict[str, list[Timing]] = {name: [] for name in methods}
    labels = {}
    for _ in range(repeat):
        for name, find in methods.items():
            labels[name], timing = timed(partial(find, data.X, data.k, 0))
            timings[name].append(timing)
    return {name: (shortest(timings[name]), labels[name]) for name in methods}


def print_comparison(data: Mixture, results: dict[str, tuple[Timing, Any]]) -> None:
    """Print a line for each method."""
    W = {name: within_energy(data.X, labels) for name, (_, labels) in results.items()}
    ours, least = results["kgroups"][0].wall, min(W.values())
    for name, (timing, labels) in results.items():
        print(
            f"{data.n:>7,}{data.k:>4}  {name:<17}{timing.wall:>9.3f}{timing.processor:>11.3f}"
            f"{timing.wall / ours:>11.2f}{W[name] / least:>10.4f}{nmi(data.truth, labels):>8.3f}",
            flush=True,
        )


class SweepRow(NamedTuple):
    """A sweep of each kind from one start: times of the first, of the mean, and where they end."""

    start: str
    first: float
    mean: float
    sweeps: int
    numpy_mean: float
    numpy_sweeps: int
    W_ratio: float

    @property
    def ratio(self) -> float:
        """The mean sweep beside that of numpy."""
        return self.mean / self.numpy_mean


def sweep_rows(data: Mixture, repeat: int) -> Iterator[SweepRow]:
    """Sweep from labels by chance and from nearest points, with Hartigan's moves and by numpy.

    Hartigan's first sweep sets up the sums of all points and groups, and makes most of the moves.
    """
    rng = np.random.default_rng(1)
    G, D = kernel_matrix(data.X), Power()(data.X)
    M, w = StoredRows(-0.5 * D), np.ones(data.n)
    starts = {
        "by chance": rng.integers(data.k, size=data.n),
        "nearest": nearest_of_random(D, data.k, rng),
    }
    for name, z in starts.items():
        first, whole, plain = [], [], []
        # Few points take so little time that more turns are needed to see it.
        for _ in range(repeat * max(1, MANY_TURNS // data.n)):
            first.append(timed(partial(improve_dense, M, w, z, k=data.k, max_sweeps=1))[1])
            moved, timing = timed(partial(improve_dense, M, w, z, k=data.k))
            whole.append(timing)
            (labels, sweeps), timing = timed(partial(numpy_lloyd, G, z, data.k))
            plain.append(timing)
        W = -moved.objective / within_energy(D, labels, metric="precomputed")
        times = shortest(first).wall, shortest(whole).wall / moved.sweeps
        yield SweepRow(name, *times, moved.sweeps, shortest(plain).wall / sweeps, sweeps, W)


def print_sweeps(data: Mixture, row: SweepRow) -> None:
    """Print a line of the table of sweeps."""
    print(
        f"{data.n:>7,}{data.k:>4}  {row.start:<11}{1e3 * row.first:>10.1f}{1e3 * row.mean:>10.1f}"
        f"{row.sweeps:>8}{1e3 * row.numpy_mean:>12.1f}{row.numpy_sweeps:>8}{row.ratio:>8.2f}"
        f"{row.W_ratio:>10.4f}",
        flush=True,
    )


def watched(name: str, n: int, k: int) -> tuple[Timing, int | None, float, float]:
    """Return time, peak memory, W and NMI of a method, after a call on few points."""
    data, find = mixture(n, k, 0), {**OURS, **ONE_SWEEP, **SKLEARN}[name]
    find(mixture(200, k, 0).X, k, 0)
    before = memory.start_watching()
    labels, timing = timed(partial(find, data.X, k, 0))
    peak = memory.peak_above(before)
    return timing, peak, within_energy(data.X, labels), nmi(data.truth, labels)


class Bar(NamedTuple):
    """A number that must not be exceeded."""

    what: str
    found: float
    most: float


def run(options: argparse.Namespace) -> list[Bar]:
    """Print the tables and return the bars."""
    peers = SKLEARN if sklearn_version() else {}
    methods = {**OURS, **NUMPY, **peers}
    bars = []
    print(
        f"\n{'n':>7}{'k':>4}  {'method':<17}{'seconds':>9}{'processor':>11}{'/ kgroups':>11}"
        f"{'W / least':>10}{'NMI':>8}"
    )
    for n, k in ((n, k) for n in options.n for k in options.k):
        data = mixture(n, k, 0)
        results = compare(data, methods, options.repeat)
        print_comparison(data, results)
        if (n, k) == (BAR_POINTS, BAR_GROUPS):
            what = f"seconds for {n:,} points in {k} groups, {STARTS} starts"
            bars.append(Bar(what, results["kgroups"][0].wall, SECONDS_BAR))
    print("\nSweeps in milliseconds; ratio of the means, W beside that of numpy")
    print(
        f"{'n':>7}{'k':>4}  {'start':<11}{'first':>10}{'mean':>10}{'sweeps':>8}{'numpy mean':>12}"
        f"{'sweeps':>8}{'ratio':>8}{'W':>10}"
    )
    ratios = []
    for n, k in ((n, k) for n in options.n for k in (2, *options.k)):
        data = mixture(n, k, 0)
        for row in sweep_rows(data, options.repeat):
            print_sweeps(data, row)
            ratios.append(row.ratio)
    bars.append(Bar("slowest mean sweep beside that of numpy", max(ratios), SWEEP_BAR))
    print(
        f"\nWithout the matrix of all pairs, in a process of its own\n{'n':>7}{'k':>4}  "
        f"{'method':<17}{'seconds':>9}{'processor':>11}{'peak MB':>9}{'W':>11}{'NMI':>8}"
    )
    for name in (*OURS, *ONE_SWEEP, *list(peers)[:1]):
        timing, peak, W, score = in_a_process(partial(watched, name, options.large, BAR_GROUPS))
        megabytes = "-" if peak is None else f"{peak / 1e6:.0f}"
        print(
            f"{options.large:>7,}{BAR_GROUPS:>4}  {name:<17}{timing.wall:>9.2f}"
            f"{timing.processor:>11.2f}{megabytes:>9}{W:>11.1f}{score:>8.3f}",
            flush=True,
        )
        if name == "kgroups" and peak is not None:
            bars.append(Bar(f"peak MB for {options.large:,} points", peak / 1e6, MEMORY_BAR / 1e6))
    with tempfile.TemporaryDirectory() as cache:
        first_ever, later = seconds_of(FIRST_CALL, cache), seconds_of(FIRST_CALL, cache)
    bars.append(Bar("seconds of the first call ever, import included", first_ever[0], COMPILE_BAR))
    print(f"\nFirst call ever {first_ever[0]:.2f} s, of a later process {later[0]:.2f} s")
    return bars


def main() -> None:
    """Print the tables and whether the bars are met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.energy", description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=[500, 2_000, 5_000])
    parser.add_argument("--k", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--large", type=int, default=20_000, help="points without a matrix")
    parser.add_argument("--repeat", type=int, default=3, help="turns, of which the shortest counts")
    parser.add_argument("--quick", action="store_true", help="few points: does it run?")
    options = parser.parse_args()
    if options.quick:
        options.n, options.k, options.large, options.repeat = [300], [10], 11_000, 1
    threads = [f"{name}={os.environ[name]}" for name in THREAD_SETTINGS if name in os.environ]
    setting = [f"Python {platform.python_version()}", f"{os.cpu_count()} cores", *threads]
    print(*setting, f"scikit-learn {sklearn_version() or 'not installed, left out'}", sep=", ")
    bars = run(options)
    print(f"\n{'bar':<52}{'found':>10}{'at most':>10}")
    for what, found, most in bars:
        verdict = "met" if found <= most else "MISSED"
        print(f"{what:<52}{found:>10.2f}{most:>10.2f}  {verdict}")
    # A smoke run is too short for its times to mean anything.
    if not options.quick:
        sys.exit(any(found > most for _, found, most in bars))


if __name__ == "__main__":
    main()
