"""A graph and a label per node: the totals that every score is made of."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kgroups._types import Floats, Ints, Symmetrize
from kgroups.adapters import as_graph
from kgroups.adapters.labels import as_labels
from kgroups.graph import Graph

__all__ = ["LabelledGraph", "label_edges", "label_graph"]


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A graph with the community of each node; every total is one pass over the CSR entries.

    Attributes
    ----------
    graph : Graph
        The graph, with the weights that count.
    labels : ndarray of int
        Community of each node in ``range(k)``, none of them empty.
    """

    graph: Graph
    labels: Ints

    @cached_property
    def sizes(self) -> Ints:
        """Number of nodes of each community."""
        return np.bincount(self.labels)

    @property
    def k(self) -> int:
        """Number of communities."""
        return int(self.sizes.size)

    @cached_property
    def crosses(self) -> npt.NDArray[np.bool_]:
        """Whether the ends of each CSR entry are in different communities."""
        z = self.labels.astype(self.graph.indices.dtype)
        crosses: npt.NDArray[np.bool_] = z[self.graph.row_of_slot] != z[self.graph.indices]
        return crosses

    @cached_property
    def n_cut_pairs(self) -> int:
        """Number of adjacent pairs of nodes between communities, parallel edges counted once."""
        return int(np.count_nonzero(self.crosses)) // 2

    @cached_property
    def n_inner_pairs(self) -> int:
        """Number of adjacent pairs of nodes within communities, parallel edges counted once."""
        entries = self.graph.indices.size - self.graph.loop_slots.size
        return entries // 2 - self.n_cut_pairs

    @cached_property
    def n_cut_edges(self) -> int:
        """Number of edges between communities, parallel edges counted each."""
        if self.graph.multiplicity is None:
            return self.n_cut_pairs
        return int(self.graph.multiplicity[self.crosses].sum()) // 2

    @cached_property
    def cut_weight(self) -> float:
        """Weight of the edges between communities."""
        if self.graph.weights is None:
            return float(self.n_cut_pairs)
        return float(self.graph.weights[self.crosses].sum()) / 2

    @cached_property
    def inner_weight(self) -> float:
        """Weight of the edges within communities, self-loops counted once."""
        if self.graph.weights is None:
            return float(self.n_inner_pairs + self.graph.loop_slots.size)
        inside = float(self.graph.weights[~self.crosses].sum())
        return (inside + float(self.graph.weights[self.graph.loop_slots].sum())) / 2

    @cached_property
    def volumes(self) -> Floats:
        """Sum of the weighted degrees of each community, self-loops counted twice."""
        loops, weights = self.graph.loop_slots, self.graph.weights
        degrees: Floats = self.graph.degrees.copy()
        degrees[self.graph.indices[loops]] += 1.0 if weights is None else weights[loops]
        volumes: Floats = np.bincount(self.labels, weights=degrees, minlength=self.k).astype(float)
        return volumes

    @cached_property
    def cut_weights(self) -> Floats:
        """Weight of the edges that leave each community."""
        ends = self.labels[self.graph.row_of_slot[self.crosses]]
        weights = None if self.graph.weights is None else self.graph.weights[self.crosses]
        return np.bincount(ends, weights=weights, minlength=self.k).astype(float)

    @cached_property
    def volumes_outside(self) -> Floats:
        """Volume of the complement of each community."""
        # Sums from both sides: subtracting from the total would lose all digits of a small rest.
        before = np.concatenate([[0.0], np.cumsum(self.volumes)])[:-1]
        after = np.concatenate([np.cumsum(self.volumes[::-1])[::-1], [0.0]])[1:]
        outside: Floats = before + after
        return outside


def label_graph(
    G: Any, partition: Any, *, weight: str | None, symmetrize: Symmetrize | None
) -> LabelledGraph:
    """Return graph and labels from whatever holds them."""
    graph = as_graph(G, weight=weight, symmetrize=symmetrize)
    return LabelledGraph(graph, as_labels(partition, graph))


def label_edges(G: Any, partition: Any, *, symmetrize: Symmetrize | None) -> LabelledGraph:
    """Return graph and labels for scores that count edges and leave weights alone."""
    # A Graph goes in with its weights: a copy without them would lose what it has cached.
    weight = "weight" if isinstance(G, Graph) else None
    return label_graph(G, partition, weight=weight, symmetrize=symmetrize)
