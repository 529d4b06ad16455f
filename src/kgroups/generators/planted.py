"""What a generator returns, and the random stream it draws from."""

from typing import Any, NamedTuple

import numpy as np

from kgroups._doors import RngLike, as_rng
from kgroups._types import Ints
from kgroups.graph import Graph

__all__ = ["Planted", "open_stream"]


class _GraphAndLabels(NamedTuple):
    graph: Graph
    labels: Ints


class Planted(_GraphAndLabels):
    """A drawn graph and the group that each node was planted in.

    It unpacks as ``graph, labels``.

    Attributes
    ----------
    graph : Graph
        A simple graph on the nodes ``range(n)``.
    labels : ndarray of int64
        Group of each node.
    entropy : int or None
        Passed as ``rng``, it draws the same graph again. ``None`` when a Generator was given, whose
        state only the caller knows.
    unplaced_edges : int
        Edges that the degrees asked for and a simple graph had no place for. Only
        :func:`lfr_benchmark` can leave any.

    Examples
    --------
    >>> from kgroups.generators import planted_partition
    >>> planted = planted_partition(100, k=2, degree=6, snr=2, rng=1)
    >>> graph, labels = planted
    >>> labels.size
    100
    >>> planted.entropy
    1
    """

    entropy: int | None = None
    unplaced_edges: int = 0

    def __new__(
        cls, graph: Graph, labels: Ints, *, entropy: int | None = None, unplaced_edges: int = 0
    ) -> "Planted":
        """Join a graph with its labels."""
        planted = super().__new__(cls, graph, labels)
        planted.entropy = entropy
        planted.unplaced_edges = unplaced_edges
        return planted

    def to_networkx(self) -> Any:
        """Return a ``networkx.Graph`` with the groups as node attribute ``"community"``."""
        G = self.graph.to_networkx()
        for node, group in zip(self.graph.nodes, self.labels.tolist(), strict=True):
            G.nodes[node]["community"] = group
        return G

    def to_igraph(self) -> Any:
        """Return an ``igraph.Graph`` with the groups as vertex attribute ``"community"``."""
        g = self.graph.to_igraph()
        g.vs["community"] = self.labels.tolist()
        return g

    def __repr__(self) -> str:
        groups = np.unique(self.labels).size
        unplaced = f", {self.unplaced_edges} unplaced edges" if self.unplaced_edges else ""
        return f"Planted({self.graph!r}, {groups} groups{unplaced}, entropy={self.entropy})"


def open_stream(rng: RngLike) -> tuple[np.random.Generator, int | None]:
    """Return a Generator, and the number that opens the same stream again if there is one."""
    if isinstance(rng, np.random.Generator):
        return rng, None
    if rng is None:
        fresh = np.random.SeedSequence().entropy
        assert isinstance(fresh, int)
        rng = fresh
    return as_rng(rng), int(rng)
