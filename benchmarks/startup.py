"""``python benchmarks/startup.py``: what a user waits for before and during the first call.

Each figure but the last is of a process of its own. The numba cache is a temporary folder, empty
for the first call ever and filled by it for the calls after it.
"""

import os
import statistics
import subprocess
import sys
import tempfile

IMPORT = """
from time import perf_counter
start = perf_counter()
import kgroups
print(perf_counter() - start)
"""
FIRST_CALL = """
from time import perf_counter
start = perf_counter()
import kgroups
graph = kgroups.datasets.load("karate").graph
kgroups.detect_communities(graph)
print(perf_counter() - start)
"""
WARM_CALL = """
import statistics
from time import perf_counter
import networkx
import kgroups
graph = networkx.karate_club_graph()
kgroups.detect_communities(graph)
seconds = []
for _ in range(50):
    start = perf_counter()
    kgroups.detect_communities(graph)
    seconds.append(perf_counter() - start)
print(statistics.median(seconds))
"""
REPEATS = 5


def seconds_of(program: str, cache: str) -> float:
    """Run a program that prints a time, in a process with this numba cache."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    finished = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(finished.stdout)


def median_of(program: str, cache: str) -> float:
    """Return the median of several processes."""
    return statistics.median(seconds_of(program, cache) for _ in range(REPEATS))


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as cache:
        first_ever = seconds_of(FIRST_CALL, cache)
        rows = [
            ("import kgroups", median_of(IMPORT, cache), 0.4),
            ("first call ever on karate, import included", first_ever, 12.0),
            ("first call of a process, warm cache", median_of(FIRST_CALL, cache), 1.5),
            ("karate from networkx, warm", seconds_of(WARM_CALL, cache), 0.005),
        ]
    print(f"{'what':<44}{'seconds':>10}{'bar':>8}")
    for what, measured, bar in rows:
        verdict = "met" if measured <= bar else "MISSED"
        print(f"{what:<44}{measured:>10.4f}{bar:>8.3f}  {verdict}")


if __name__ == "__main__":
    main()
