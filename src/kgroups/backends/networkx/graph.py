"""The graph that networkx's dispatcher passes to the functions of this backend."""

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kgroups._types import Indices, Ints

Weights: TypeAlias = npt.NDArray[Any]
"""int64 or float64: integers stay integers, so that results have networkx's types."""


@dataclass(eq=False, repr=False)
class ConvertedGraph:
    """A networkx graph as CSR rows, directed or not, with parallel edges counted.

    Parameters
    ----------
    nodes : sequence of hashable
        The caller's own node objects, in the order of the graph.
    indptr, indices : ndarray of int
        Successors of each node, sorted; an undirected edge stands in both rows, a loop once.
    directed, multigraph : bool
        As ``is_directed()`` and ``is_multigraph()`` of the networkx graph say.
    counts : ndarray of int, optional
        Number of parallel edges behind each entry; ``None`` when there are none.
    weights : dict of str to ndarray or None
        Sum of an edge attribute over the parallel edges of each entry, by the name of the
        attribute; ``None`` where every edge weighs 1.
    read_later : callable, optional
        Reads one more attribute off the networkx graph, or raises NotImplementedError.

    Notes
    -----
    networkx keeps this object in the cache of the graph that it was made of. It is pickled and
    copied as None, which networkx takes for an empty slot: a graph that was used with kgroups
    can be loaded where kgroups is not installed, and its file holds no arrays.
    """

    __networkx_backend__ = "kgroups"

    nodes: Sequence[Hashable]
    indptr: Indices
    indices: Indices
    directed: bool = field(kw_only=True)
    multigraph: bool = field(kw_only=True)
    counts: Ints | None = field(kw_only=True)
    weights: dict[str, Weights | None] = field(kw_only=True)
    read_later: Callable[[str], Weights | None] | None = None

    def __post_init__(self) -> None:
        self._degrees: dict[str | None, Weights] = {}
        self.__networkx_cache__: dict[str, Any] = {}

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Whether the graph may hold parallel edges."""
        return self.multigraph

    @property
    def class_name(self) -> str:
        """Name of networkx's class of such graphs."""
        return f"{'Multi' if self.multigraph else ''}{'DiGraph' if self.directed else 'Graph'}"

    def holds(self, attribute: str | None) -> bool:
        """Whether the weights by this name were read; ``None`` stands for counting edges."""
        return attribute is None or attribute in self.weights

    def weights_of(self, attribute: str | None) -> Weights | None:
        """Return the weight of each entry, or None where each entry is one edge of weight 1."""
        if attribute is None:
            return self.counts
        if attribute not in self.weights:
            if self.read_later is None:
                msg = f"the edge attribute {attribute!r} was not converted"
                raise NotImplementedError(msg)
            self.weights[attribute] = self.read_later(attribute)
        weights = self.weights[attribute]
        return self.counts if weights is None else weights

    def known_weights(self) -> dict[str, Weights]:
        """Return the attributes that were read and do not weigh 1 everywhere."""
        return {name: weights for name, weights in self.weights.items() if weights is not None}

    @cached_property
    def index(self) -> dict[Hashable, int]:
        """Row of each node."""
        return dict(zip(self.nodes, range(len(self.nodes)), strict=True))

    @cached_property
    def rows(self) -> Indices:
        """Row of each entry."""
        return np.repeat(np.arange(len(self), dtype=self.indices.dtype), np.diff(self.indptr))

    @cached_property
    def is_loop(self) -> Any:
        """Whether each entry is a self-loop."""
        return self.rows == self.indices

    @cached_property
    def n_edges(self) -> int:
        """Number of edges, parallel ones and loops counted each."""
        entries = len(self.indices) if self.counts is None else int(self.counts.sum())
        if self.directed:
            return entries
        loops = self.is_loop if self.counts is None else self.counts[self.is_loop]
        return (entries + int(loops.sum())) // 2

    @cached_property
    def components(self) -> tuple[int, Ints]:
        """Number of connected components, and the component of each row."""
        from scipy import sparse
        from scipy.sparse import csgraph

        if len(self) == 0:
            return 0, np.zeros(0, np.int64)
        ones = np.ones(len(self.indices), dtype=np.int8)
        matrix = sparse.csr_array((ones, self.indices, self.indptr), shape=(len(self), len(self)))
        count, labels = csgraph.connected_components(matrix, directed=False)
        return int(count), labels

    @cached_property
    def igraph(self) -> Any:
        """The undirected graph in igraph: an edge for each entry of the upper triangle."""
        import igraph

        upper = self.rows <= self.indices
        ends = np.column_stack([self.rows[upper], self.indices[upper]])
        graph = igraph.Graph(n=len(self))
        # Twice as fast as the constructor, which goes through a memoryview.
        graph.add_edges(ends)
        return graph

    def out_degrees(self, attribute: str | None) -> Weights:
        """Weighted degrees; of undirected graphs with loops counted twice, as networkx does."""
        if attribute not in self._degrees:
            degrees = self._sums(self.rows, attribute)
            if not self.directed and self.is_loop.any():
                weights = self.weights_of(attribute)
                degrees[self.rows[self.is_loop]] += 1 if weights is None else weights[self.is_loop]
            self._degrees[attribute] = degrees
        return self._degrees[attribute]

    def in_degrees(self, attribute: str | None) -> Weights:
        """Weighted degrees by incoming edges."""
        if not self.directed:
            return self.out_degrees(attribute)
        return self._sums(self.indices, attribute)

    def _sums(self, ends: Indices, attribute: str | None) -> Weights:
        weights = self.weights_of(attribute)
        if weights is None:
            return np.bincount(ends, minlength=len(self))
        return sums_of(weights, ends, len(self))

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:
            return False

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def __repr__(self) -> str:
        return f"{self.class_name} with {len(self)} nodes and {self.n_edges} edges"


def as_labels(graph: ConvertedGraph, communities: Sequence[Any]) -> Ints | None:
    """Return the community of each row, or -1; None unless they are disjoint sets of nodes."""
    if not all(isinstance(community, Collection) for community in communities):
        return None
    sizes = [len(community) for community in communities]
    try:
        rows = np.fromiter(
            map(graph.index.__getitem__, chain.from_iterable(communities)), np.int64, sum(sizes)
        )
    except (KeyError, TypeError):
        return None
    labels = np.full(len(graph), -1, dtype=np.int64)
    labels[rows] = np.repeat(np.arange(len(sizes)), sizes)
    # With a repeated node fewer rows have a label than there are names.
    return labels if np.count_nonzero(labels >= 0) == rows.size else None


def communities_of(graph: ConvertedGraph, labels: Ints) -> list[set[Hashable]]:
    """Return sets of the caller's node objects, in the order of their first nodes."""
    _, first, inverse, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    order = np.argsort(rank[inverse], kind="stable").tolist()
    ends = np.cumsum(sizes[np.argsort(first)]).tolist()
    names = [graph.nodes[i] for i in order]
    return [set(names[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def sums_of(values: Weights, place: Indices, size: int) -> Weights:
    """Return the sums of the values at each place, exact for integers."""
    totals: Weights = np.zeros(size, dtype=values.dtype)
    if values.dtype.kind == "f":
        totals += np.bincount(place, weights=values, minlength=size)
    else:
        np.add.at(totals, place, values)
    return totals
