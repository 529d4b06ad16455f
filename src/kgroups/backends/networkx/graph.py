"""The graph that networkx's dispatcher hands to the functions of this backend."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kgroups._types import Indices, Ints
from kgroups.backends.networkx.reading import Weights, sums_of

__all__ = ["ConvertedGraph"]


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
    weights : mapping of str to ndarray or None
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

    def __init__(
        self,
        nodes: Sequence[Hashable],
        indptr: Indices,
        indices: Indices,
        *,
        directed: bool,
        multigraph: bool,
        counts: Ints | None,
        weights: Mapping[str, Weights | None],
        read_later: Callable[[str], Weights | None] | None = None,
    ) -> None:
        self.nodes = nodes
        self.indptr = indptr
        self.indices = indices
        self.counts = counts
        self._directed = directed
        self._multigraph = multigraph
        self._weights = dict(weights)
        self._read_later = read_later
        self._degrees: dict[str | None, Weights] = {}
        self.__networkx_cache__: dict[str, Any] = {}

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether the graph may hold parallel edges."""
        return self._multigraph

    def holds(self, attribute: str | None) -> bool:
        """Whether the weights by this name were read; ``None`` stands for counting edges."""
        return attribute is None or attribute in self._weights

    def weights_of(self, attribute: str | None) -> Weights | None:
        """Return the weight of each entry, or None where each entry is one edge of weight 1."""
        if attribute is None:
            return self.counts
        if attribute not in self._weights:
            if self._read_later is None:
                msg = f"the edge attribute {attribute!r} was not converted"
                raise NotImplementedError(msg)
            self._weights[attribute] = self._read_later(attribute)
        weights = self._weights[attribute]
        return self.counts if weights is None else weights

    def known_weights(self) -> dict[str, Weights]:
        """Return the attributes that were read and do not weigh 1 everywhere."""
        return {name: weights for name, weights in self._weights.items() if weights is not None}

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
        if self._directed:
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
            if not self._directed and self.is_loop.any():
                weights = self.weights_of(attribute)
                degrees[self.rows[self.is_loop]] += 1 if weights is None else weights[self.is_loop]
            self._degrees[attribute] = degrees
        return self._degrees[attribute]

    def in_degrees(self, attribute: str | None) -> Weights:
        """Weighted degrees by incoming edges."""
        if not self._directed:
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
        kind = f"{'Multi' if self._multigraph else ''}{'DiGraph' if self._directed else 'Graph'}"
        return f"{kind} with {len(self)} nodes and {self.n_edges} edges"
