"""A graph with a label per node: the sums that the scores are computed from."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kgroups._types import Bools, Floats, Ints, Symmetrize
from kgroups.adapters import as_graph, as_labels
from kgroups.graph import Graph


@dataclass(frozen=True, eq=False)
class LabeledGraph:
    """A graph with the community of each node in ``range(k)``, none of them empty."""

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
    def crosses(self) -> Bools:
        """Whether the ends of each CSR entry are in different communities."""
        z = self.labels.astype(self.graph.indices.dtype)
        return np.asarray(z[self.graph.row_of_slot] != z[self.graph.indices])

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

    @property
    def total_weight(self) -> float:
        """Weight of all edges."""
        return self.inner_weight + self.cut_weight

    @cached_property
    def volumes(self) -> Floats:
        """Sum of the weighted degrees of each community, self-loops counted twice."""
        loops, weights = self.graph.loop_slots, self.graph.weights
        degrees: Floats = self.graph.degrees.copy()
        degrees[self.graph.indices[loops]] += 1.0 if weights is None else weights[loops]
        return np.bincount(self.labels, weights=degrees, minlength=self.k).astype(float)

    @property
    def performance(self) -> float:
        """Fraction of node pairs that are classified correctly."""
        n = self.graph.n
        pairs = n * (n - 1) // 2
        if pairs == 0:
            return 1.0
        inside = int((self.sizes * (self.sizes - 1) // 2).sum())
        return (self.n_inner_pairs + (pairs - inside - self.n_cut_pairs)) / pairs

    @property
    def coverage(self) -> float:
        """Fraction of edges inside communities, parallel edges counted each."""
        m, multiplicity, cut = self.graph.m, self.graph.multiplicity, self.n_cut_pairs
        if multiplicity is not None:
            cut = int(multiplicity[self.crosses].sum()) // 2
        return (m - cut) / m if m else 1.0

    def modularity(self, resolution: float) -> float:
        """Return the modularity at a resolution."""
        total = self.total_weight
        if total == 0:
            return 0.0
        shares = self.volumes / (2 * total)
        return float(self.inner_weight / total - resolution * (shares @ shares))

    @property
    def conductances(self) -> Floats:
        """Conductance of each community."""
        ends = self.labels[self.graph.row_of_slot[self.crosses]]
        weights = None if self.graph.weights is None else self.graph.weights[self.crosses]
        cut = np.bincount(ends, weights=weights, minlength=self.k).astype(float)
        # Sums from both sides: subtracting from the total would lose all digits of a small rest.
        before = np.concatenate([[0.0], np.cumsum(self.volumes)])[:-1]
        after = np.concatenate([np.cumsum(self.volumes[::-1])[::-1], [0.0]])[1:]
        smaller = np.minimum(self.volumes, before + after)
        result: Floats = np.zeros(self.k)
        np.divide(cut, smaller, out=result, where=smaller > 0)
        return result


def label_graph(
    graph: Any, partition: Any, *, weight: str | None, symmetrize: Symmetrize | None
) -> LabeledGraph:
    """Return a graph and its labels from any of their accepted forms."""
    converted = as_graph(graph, weight=weight, symmetrize=symmetrize)
    return LabeledGraph(converted, as_labels(partition, converted))


def label_edges(graph: Any, partition: Any, *, symmetrize: Symmetrize | None) -> LabeledGraph:
    """Return a graph and its labels for scores that count edges and ignore weights."""
    # A Graph keeps its weights: a copy without them would lose what it has cached.
    weight = "weight" if isinstance(graph, Graph) else None
    return label_graph(graph, partition, weight=weight, symmetrize=symmetrize)
