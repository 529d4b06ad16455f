"""Run by an interpreter that has graph-tool: edges from stdin, seconds and labels to stdout.

All numbers are of 8 bytes. The input is n, m, a seed, the sources and the targets of the edges.
"""

import ctypes
import signal
import sys
from time import perf_counter

import numpy as np


def _end_with_parent() -> None:
    """Have the kernel end this process when the benchmark gives up on it."""
    if sys.platform.startswith("linux"):
        set_death_signal = 1
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def main() -> None:
    """Minimize the description length of the planted partition model."""
    import graph_tool.all as gt

    _end_with_parent()
    numbers = np.frombuffer(sys.stdin.buffer.read(), dtype=np.int64)
    n, m, seed = numbers[:3].tolist()
    graph = gt.Graph(directed=False)
    graph.add_vertex(n)
    graph.add_edge_list(numbers[3:].reshape(2, m).T)
    gt.seed_rng(seed)
    np.random.seed(seed)  # noqa: NPY002 - graph-tool draws from it
    start = perf_counter()
    state = gt.minimize_blockmodel_dl(graph, state=gt.PPBlockState)
    seconds = perf_counter() - start
    labels = np.asarray(state.get_blocks().a, dtype=np.int64)
    sys.stdout.buffer.write(np.float64(seconds).tobytes() + labels.tobytes())


if __name__ == "__main__":
    main()
