"""Hypothesis strategies for graphs in every form that goes in."""

from dataclasses import dataclass

import igraph
import networkx as nx
import numpy as np
from hypothesis import strategies as st
from scipy import sparse

# Sums of such weights are exact, whatever the order in which parallel edges are added.
exact_weights = st.integers(0, 64).map(lambda x: x / 8)
sparse_formats = st.sampled_from(["csr", "csc", "coo", "bsr", "dok", "lil", "dia"])


@dataclass(frozen=True)
class EdgeList:
    """An abstract graph: node names, and edges (u, v, weight or None) between their positions."""

    names: tuple
    edges: tuple
    parallel: bool

    @property
    def n(self):
        return len(self.names)

    def weighted_edges(self):
        return [(u, v, 1 if w is None else w) for u, v, w in self.edges]

    def to_networkx(self):
        graph = nx.MultiGraph() if self.parallel else nx.Graph()
        graph.add_nodes_from(self.names)
        for u, v, w in self.edges:
            attributes = {} if w is None else {"weight": w}
            graph.add_edge(self.names[u], self.names[v], **attributes)
        return graph

    def to_igraph(self):
        graph = igraph.Graph(n=self.n, edges=[(u, v) for u, v, _ in self.edges])
        graph.vs["name"] = list(self.names)
        if any(w is not None for *_, w in self.edges):
            graph.es["weight"] = [w for *_, w in self.edges]
        return graph

    def to_matrix(self):
        u, v, w = self._columns()
        off = u != v
        both = (np.r_[u, v[off]], np.r_[v, u[off]])
        return sparse.coo_array((np.r_[w, w[off]], both), shape=(self.n, self.n))

    def to_arrays(self):
        u, v, w = self._columns()
        return [self.names[i] for i in u], [self.names[i] for i in v], w

    def _columns(self):
        columns = np.array(self.weighted_edges(), dtype=float).reshape(-1, 3)
        return columns[:, 0].astype(int), columns[:, 1].astype(int), columns[:, 2]


@st.composite
def name_lists(draw, max_size=8):
    kind = draw(st.sampled_from(["range", "integers", "strings", "tuples", "mixed"]))
    n = draw(st.integers(0, max_size))
    if kind == "range":
        return tuple(range(n))
    if kind == "integers":
        values = st.integers(-(2**70), 2**70) if draw(st.booleans()) else st.integers(-50, 50)
    elif kind == "strings":
        values = st.text(min_size=1, max_size=4)
    elif kind == "tuples":
        values = st.tuples(st.integers(0, 3), st.text(max_size=2))
    else:
        values = st.one_of(
            st.integers(-5, 5), st.text(max_size=2), st.frozensets(st.integers(0, 3))
        )
    return tuple(draw(st.lists(values, min_size=n, max_size=n, unique=True)))


@st.composite
def edge_lists(draw, weights="some", parallel=None, loops=True, names=None):
    """Draw an abstract graph; ``weights`` is "none", "all" or "some"."""
    labels = draw(name_lists() if names is None else names)
    n = len(labels)
    parallel = draw(st.booleans()) if parallel is None else parallel
    pairs = st.tuples(st.integers(0, max(n - 1, 0)), st.integers(0, max(n - 1, 0)))
    if not loops:
        pairs = pairs.filter(lambda pair: pair[0] != pair[1])
    unique = None if parallel else lambda pair: (min(pair), max(pair))
    possible = n >= (1 if loops else 2)
    chosen = draw(st.lists(pairs, max_size=14, unique_by=unique)) if possible else []
    value = {
        "none": st.none(),
        "all": exact_weights,
        "some": st.one_of(st.none(), exact_weights),
    }[weights]
    return EdgeList(labels, tuple((u, v, draw(value)) for u, v in chosen), parallel)
