"""Run by an interpreter that has graph-tool: edges from stdin, cost and labels to stdout.

All numbers are of 8 bytes. The input is n, m, a seed, the sources and the targets of the edges. The
output is seconds, CPU seconds, peak bytes (-1 if unknown), and the labels. The model is named by
the argument.
"""

import ctypes
import signal
import sys
from time import perf_counter, process_time

import numpy as np
from memory import peak_above, start_watching


def _end_with_parent() -> None:
    """Have the kernel end this process when the benchmark gives up on it."""
    if sys.platform.startswith("linux"):
        set_death_signal = 1
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def _nested(gt, graph):
    return gt.minimize_nested_blockmodel_dl(graph).get_levels()[0].get_blocks()


def _planted_partition(gt, graph):
    return gt.minimize_blockmodel_dl(graph, state=gt.PPBlockState).get_blocks()


MODELS = {"nested": _nested, "pp": _planted_partition}


def main() -> None:
    """Minimize the description length of the model; both are degree-corrected by default."""
    import graph_tool.all as gt

    _end_with_parent()
    minimize = MODELS[sys.argv[1]]
    numbers = np.frombuffer(sys.stdin.buffer.read(), dtype=np.int64)
    n, m, seed = numbers[:3].tolist()
    graph = gt.Graph(directed=False)
    graph.add_vertex(n)
    graph.add_edge_list(numbers[3:].reshape(2, m).T)
    gt.seed_rng(seed)
    np.random.seed(seed)  # noqa: NPY002 - graph-tool draws from it
    before, start, busy = start_watching(), perf_counter(), process_time()
    blocks = minimize(gt, graph)
    seconds = np.array([perf_counter() - start, process_time() - busy])
    above = peak_above(before)
    peak = np.array([-1 if above is None else above], dtype=np.int64)
    labels = np.asarray(blocks.a, dtype=np.int64)
    sys.stdout.buffer.write(seconds.tobytes() + peak.tobytes() + labels.tobytes())


if __name__ == "__main__":
    main()
