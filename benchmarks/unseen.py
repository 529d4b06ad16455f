"""Labeled and other networks that come with installable packages, on which nothing was chosen.

They are those of Debian's ``python3-graph-tool`` and of scikit-network that ``kgroups.datasets``
lacks, without versions of the same network and without trees and toys.
"""

import io
import os
import subprocess
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from benchmarks.graphs import BenchmarkGraph
from benchmarks.peers import GRAPH_TOOL_PYTHON
from benchmarks.suites import Row

_READ = """
import sys
import numpy as np
import graph_tool.all as gt
graph = gt.collection.data[sys.argv[1]]
labels = [str(graph.vp[sys.argv[2]][v]) for v in graph.vertices()] if sys.argv[2] else []
np.savez(sys.stdout.buffer, n=graph.num_vertices(), ends=graph.get_edges()[:, :2], labels=labels)
"""


@dataclass(frozen=True)
class Unseen(Row):
    """A network of a package, and the family that it belongs to."""

    family: str

    @property
    def why_absent(self) -> str | None:
        """Why the network cannot be had here, or None if it can."""
        if self.draw is of_scikit_network:
            return None if find_spec("sknetwork") else "scikit-network is not installed"
        return None if os.environ.get(GRAPH_TOOL_PYTHON) else "no --graph-tool PYTHON is named"


def of_scikit_network(name: str, *, seed: int) -> BenchmarkGraph:
    """Load the articles of Wikipedia that link to each other; the seed is not used."""
    from sknetwork import data

    articles = getattr(data, name)(metadata=True)
    ends = np.column_stack(articles.adjacency.nonzero())
    return _simple(name, len(articles.labels), ends, articles.labels)


def of_graph_tool(name: str, *, seed: int, labels: str = "") -> BenchmarkGraph:
    """Load a network of graph-tool, with the labels of a property; the seed is not used."""
    command = [os.environ[GRAPH_TOOL_PYTHON], "-c", _READ, name, labels]
    read = np.load(io.BytesIO(subprocess.run(command, capture_output=True, check=True).stdout))
    return _simple(name, int(read["n"]), read["ends"], read["labels"] if labels else None)


def _simple(
    name: str, n: int, ends: npt.NDArray[np.int64], truth: npt.NDArray[np.generic] | None
) -> BenchmarkGraph:
    """Leave directions, weights, loops and repeated edges out."""
    ends = np.sort(ends.astype(np.int64), axis=1)
    source, target = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0).T
    return BenchmarkGraph(name, n, source.copy(), target.copy(), truth)


ROWS = (
    Unseen("adjnoun", partial(of_graph_tool, labels="value"), "literature"),
    Unseen("serengeti-foodweb", partial(of_graph_tool, labels="group"), "biological"),
    Unseen("art_philo_science", of_scikit_network, "web"),
    Unseen("power", of_graph_tool, "technological"),
    Unseen("email-Enron", of_graph_tool, "social"),
    Unseen("hep-th", of_graph_tool, "coauthors"),
    Unseen("cond-mat", of_graph_tool, "coauthors"),
    Unseen("astro-ph", of_graph_tool, "coauthors"),
)
