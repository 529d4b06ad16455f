"""``python benchmarks/startup.py``: what a user waits for before and during the first call.

Each figure but the last is of a process of its own. The numba cache is a temporary folder, empty
for the first call ever and filled by it for the calls after it. The bars are for seconds on the
clock; where other work shares the machine, the processor's seconds show what the call itself took.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable

STOPWATCH = """
from time import perf_counter, process_time
def now():
    return perf_counter(), process_time()
def print_since(start):
    print(*(after - before for after, before in zip(now(), start)))
"""
IMPORT = """
start = now()
import kgroups
print_since(start)
"""
FIRST_CALL = """
start = now()
import kgroups
kgroups.detect_communities(kgroups.datasets.load("karate").graph)
print_since(start)
"""
WARM_CALL = """
import networkx
import kgroups
graph = networkx.karate_club_graph()
kgroups.detect_communities(graph)
for _ in range(50):
    start = now()
    kgroups.detect_communities(graph)
    print_since(start)
"""
REPEATS = 5


def seconds_of(program: str, cache: str) -> tuple[float, float]:
    """Run a program that prints pairs of times; return the median of each of the two clocks."""
    finished = subprocess.run(
        [sys.executable, "-c", STOPWATCH + program],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return medians(tuple(map(float, line.split())) for line in finished.stdout.splitlines())


def medians(pairs: Iterable[tuple[float, ...]]) -> tuple[float, float]:
    """Return the medians of the first and of the second numbers."""
    wall, processor = zip(*pairs, strict=True)
    return statistics.median(wall), statistics.median(processor)


def repeated(program: str, cache: str) -> tuple[float, float]:
    """Return the medians over several processes."""
    return medians(seconds_of(program, cache) for _ in range(REPEATS))


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as cache:
        first_ever = seconds_of(FIRST_CALL, cache)
        rows = [
            ("import kgroups", repeated(IMPORT, cache), 0.4),
            ("first call ever on karate, import included", first_ever, 12.0),
            ("first call of a process, warm cache", repeated(FIRST_CALL, cache), 1.5),
            ("karate from networkx, warm", seconds_of(WARM_CALL, cache), 0.005),
        ]
    print(f"{'what':<44}{'seconds':>10}{'processor':>11}{'bar':>8}")
    for what, (wall, processor), bar in rows:
        verdict = "met" if wall <= bar else "MISSED"
        print(f"{what:<44}{wall:>10.4f}{processor:>11.4f}{bar:>8.3f}  {verdict}")


if __name__ == "__main__":
    main()
