"""``python benchmarks/startup.py``: what a user waits for before and during the first call.

Each row is measured in processes of its own, and counts the CPU seconds of the whole process,
which other work on the machine hardly changes; the first row has what Python and the libraries
take. The numba cache is a temporary folder, empty or filled as the row says.

``--kernels`` prints what compiling each kernel takes beside what its decorator says.
``--against PYTHON`` compares warm calls with another version of kgroups, the one that this
interpreter imports, in alternating processes.
"""

import argparse
import inspect
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

# --- Programs that run in processes of their own --------------------------------------------------

LIBRARIES = "import numba, scipy.sparse"
IMPORT = "import kgroups"
DETECT = """
from kgroups.cli import main
main(["detect", "karate"])
"""
COUNTED = """
import sys
from numba.core import event

class Compiled(event.Listener):
    names = set()
    def on_start(self, happened):
        function = happened.data["dispatcher"].py_func
        self.names.add(f"{function.__module__}.{function.__qualname__}")
    def on_end(self, happened):
        pass

event.register("numba:compile", Compiled())
"""
PRINT_COUNT = """
print("functions", len(Compiled.names), *sorted(Compiled.names), file=sys.stderr)
"""
DETECTION = """
from kgroups._kernel import KERNELS
from kgroups._warm import warm_detection
warm_detection()
print(*(f"{kernel.__module__}:{kernel.__name__}" for kernel in KERNELS if kernel.is_compiled()))
"""
WARM = """
import kgroups
kgroups.warm(progress=False)
"""
WARM_CALL = """
from time import perf_counter, process_time
import networkx
import kgroups
graph = networkx.karate_club_graph()
kgroups.detect_communities(graph)
for _ in range(50):
    start = perf_counter(), process_time()
    kgroups.detect_communities(graph)
    print(perf_counter() - start[0], process_time() - start[1])
"""
KERNELS = """
from time import process_time
from numba import njit
import kgroups
from kgroups import _kernel
from kgroups._kernel import Kernel

@njit
def first(x):
    return x + 1.0

# What numba does only once is not counted.
first(1.0)
compile_for = Kernel._compile_for
def timed(kernel, arguments):
    # Functions that several kernels call are compiled for each of them.
    _kernel._helpers.clear()
    start = process_time()
    compile_for(kernel, arguments)
    print(kernel.__module__, kernel.__name__, kernel.seconds, process_time() - start)
Kernel._compile_for = timed
kgroups.warm(progress=False)
"""
AGAINST = """
import sys, warnings
from statistics import median
from time import process_time
import kgroups as kg
from kgroups.errors import KGroupsWarning
warnings.simplefilter("ignore", KGroupsWarning)
name = sys.argv[1]
if name == "LFR 100k":
    graph = kg.generators.lfr_benchmark(100_000, degree=20, mixing=0.3, rng=0).graph
elif name == "SBM 1e7":
    graph = kg.generators.planted_partition(
        1_000_000, k=1_000, degree=20.0, snr=2.0, rng=0
    ).graph
else:
    graph = kg.datasets.load(name).graph
first = process_time()
found = kg.detect_communities(graph)
if process_time() - first < 5.0:
    kg.detect_communities(graph)
taken = []
while not taken or (sum(taken) < 0.5 and len(taken) < 50):
    start = process_time()
    found = kg.detect_communities(graph)
    taken.append(process_time() - start)
print(median(taken), found.report.visits)
"""

REPEATS = 5
# How many times as long a warm call may take as in the version before.
RATIOS = {
    "karate": 2.0,
    "football": 1.5,
    "email-Eu-core": 1.15,
    "cora": 1.15,
    "dblp-sub": 1.15,
    "amazon-sub": 2.0,
    "LFR 100k": 1.1,
    "SBM 1e7": 1.1,
}


def run(
    program: str, cache: str, *arguments: str, mode: str = "auto", python: str = sys.executable
) -> subprocess.CompletedProcess[str]:
    """Run a program in a process with its own numba cache."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "KGROUPS_JIT": mode}
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)
    return subprocess.run(
        [python, "-c", program, *arguments],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )


def processor_seconds(program: str, cache: str, *, mode: str = "auto", repeats: int = 1) -> float:
    """Return the CPU seconds of a process that runs a program, the median of several."""
    timed = f"{program}\nimport sys, time\nprint('cpu', time.process_time(), file=sys.stderr)"
    return statistics.median(
        float(run(timed, cache, mode=mode).stderr.split()[-1]) for _ in range(repeats)
    )


def seconds_of(program: str, cache: str) -> tuple[float, float]:
    """Run a program that prints pairs of times; return the median of each of the two clocks."""
    lines = run(program, cache, mode="always").stdout.splitlines()
    wall, processor = zip(*(map(float, line.split()) for line in lines), strict=True)
    return statistics.median(wall), statistics.median(processor)


# --- Lines that the compiler gets ----------------------------------------------------------------


def closure(function: Callable[..., Any]) -> set[Any]:
    """Return a function of a kernel and all functions of its file that it calls, by any way."""
    found, waiting = set(), [function]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += called_by(current)
    return found


def called_by(function: Any) -> Iterator[Any]:
    """Yield the functions of its file that a function calls."""
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if isinstance(called, FunctionType) and called.__module__ == function.__module__:
            yield called


def closure_lines(kernels: Iterable[Any]) -> int:
    """Return the lines of the closures of kernels; a function counts once for each kernel."""
    return sum(
        len(inspect.getsourcelines(function)[0])
        for kernel in kernels
        for function in closure(kernel.function)
    )


def kernel_named(name: str) -> Any:
    """Return the kernel ``module:name``."""
    from importlib import import_module

    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


# --- Tables --------------------------------------------------------------------------------------


def print_table() -> None:
    """Print what starting takes, beside the bars."""
    with tempfile.TemporaryDirectory() as folder:
        empty = (os.path.join(folder, str(number)) for number in range(9))  # noqa: PTH118
        filled = next(empty)
        counting = run(COUNTED + DETECT + PRINT_COUNT, next(empty), mode="always").stderr
        functions = int(counting.split("functions ")[1].split()[0])
        detection = run(DETECTION, next(empty)).stdout.split()
        always = processor_seconds(DETECT, filled, mode="always")
        rows = [
            ("import numba, scipy.sparse", processor_seconds(LIBRARIES, filled, repeats=3), None),
            ("detect karate, empty cache, always", always, 12.0),
            (
                "detect karate, empty cache, auto",
                statistics.median(processor_seconds(DETECT, next(empty)) for _ in range(3)),
                2.0,
            ),
            ("functions that karate compiles", functions, 20),
            (
                f"lines of the closures of {len(detection)} kernels",
                closure_lines(map(kernel_named, detection)),
                4000,
            ),
            ("all kernels of detection", processor_seconds(DETECTION, next(empty)), 20.0),
            ("all kernels of the package", processor_seconds(WARM, next(empty)), 45.0),
            (
                "detect karate, new process, warm cache",
                processor_seconds(DETECT, filled, repeats=REPEATS),
                1.2,
            ),
            ("import kgroups", processor_seconds(IMPORT, filled, repeats=REPEATS), 0.4),
            ("karate from networkx, warm", seconds_of(WARM_CALL, filled)[1], 0.005),
        ]
    print(f"{'what':<44}{'CPU s':>10}{'bar':>10}")
    for what, measured, bar in rows:
        places = 0 if isinstance(measured, int) else 4 if bar == 0.005 else 2
        verdict = "" if bar is None else f"{bar:>10g}  {'met' if measured <= bar else 'MISSED'}"
        print(f"{what:<44}{measured:>10.{places}f}{verdict}")


def print_kernels() -> None:
    """Print what compiling each kernel takes, largest first, and what its decorator says."""
    with tempfile.TemporaryDirectory() as cache:
        lines = [line.split() for line in run(KERNELS, cache).stdout.splitlines()]
    print(f"{'kernel':<56}{'entered':>10}{'measured':>10}")
    for module, name, entered, measured in sorted(lines, key=lambda line: -float(line[3])):
        place = f"{module.removeprefix('kgroups.')}.{name}"
        print(f"{place:<56}{float(entered):>10.2f}{float(measured):>10.2f}")
    print(f"{'all':<56}{sum(float(one[2]) for one in lines):>10.2f}", end="")
    print(f"{sum(float(one[3]) for one in lines):>10.2f}")


def print_comparison(before: str, *, large: bool) -> None:
    """Print warm calls of this version and of the one that the interpreter ``before`` has."""
    import kgroups

    present = {entry.name for entry in kgroups.datasets.describe() if entry.present}
    columns = f"{'graph':<16}{'before':>12}{'now':>12}{'ratio':>8}{'bar':>8}"
    print(f"{columns}{'visits before':>16}{'now':>12}")
    with tempfile.TemporaryDirectory() as folder:
        pythons = {"before": before, "now": sys.executable}
        for name, bar in RATIOS.items():
            if name == "SBM 1e7" and not large:
                continue
            if name not in present and " " not in name:
                print(f"{name:<16}is absent; KGROUPS_DATA names its folder")
                continue
            taken: dict[str, list[float]] = {which: [] for which in pythons}
            visits = {}
            # The first of each fills its cache.
            for turn in range(REPEATS + 1):
                for which, python in pythons.items():
                    cache = os.path.join(folder, which)  # noqa: PTH118
                    said = run(AGAINST, cache, name, mode="always", python=python).stdout.split()
                    visits[which] = int(float(said[1]))
                    taken[which] += [float(said[0])] if turn else []
            old, new = (statistics.median(taken[which]) for which in pythons)
            verdict = "met" if new <= bar * old else "MISSED"
            print(
                f"{name:<16}{old:>12.5f}{new:>12.5f}{new / old:>8.2f}{bar:>8.2f}"
                f"{visits['before']:>16}{visits['now']:>12}  {verdict}",
                flush=True,
            )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kernels", action="store_true", help="what compiling each kernel takes")
    parser.add_argument("--against", metavar="PYTHON", help="interpreter with another version")
    parser.add_argument("--large", action="store_true", help="compare at 1e7 edges, too")
    options = parser.parse_args()
    if options.kernels:
        print_kernels()
    elif options.against:
        print_comparison(options.against, large=options.large)
    else:
        print_table()


if __name__ == "__main__":
    main()
