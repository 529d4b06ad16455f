"""Graphs as levels and parts, with labels that fit, for tests of the many regime."""

import networkx as nx
import numpy as np
from hypothesis import strategies as st

import kgroups as kg
from kgroups._csr import restricted
from kgroups.regimes.problem import Part
from kgroups.seed.levels import finest_level
from kgroups.spectrum import connected_components


def level_of(G, *, weights=None):
    """Return the finest level of a networkx graph on 0 ... n-1."""
    graph = graph_of(G, weights=weights)
    return finest_level(graph.simple_adjacency(), weighted=weights is not None)


def graph_of(G, *, weights=None):
    """Return a networkx graph on 0 ... n-1 as a Graph."""
    edges = np.array(G.edges, dtype=np.int64).reshape(-1, 2)
    return kg.Graph.from_edges(edges[:, 0], edges[:, 1], weights, n=len(G))


def part_of(graph, *, loops=False):
    """Return the largest component of a Graph as a Part, and its nodes."""
    A = graph.simple_adjacency(loops=loops)
    _, component = connected_components(A)
    rows = np.flatnonzero(component == np.argmax(np.bincount(component)))
    bound = kg.BetheHessian().bind(A, weighted=graph.is_weighted).restrict(rows)
    A = restricted(A, rows)
    d = np.add.reduceat(A.data, A.indptr[:-1]) if A.data.size else np.zeros(rows.size)
    return Part(A, d.astype(float), bound), rows


@st.composite
def connected_graphs(draw, min_nodes=2, max_nodes=14):
    """Draw a connected networkx graph: a random tree and some more edges."""
    n = draw(st.integers(min_nodes, max_nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    G = nx.empty_graph(n)
    G.add_edges_from((i, int(rng.integers(i))) for i in range(1, n))
    pairs = rng.integers(n, size=(draw(st.integers(0, 4 * n)), 2))
    G.add_edges_from((u, v) for u, v in pairs.tolist() if u != v)
    return G


@st.composite
def weightings(draw, G):
    """Draw None, counts, or numbers of different size for the edges of a graph."""
    kind = draw(st.sampled_from(["none", "counts", "spread"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if kind == "none":
        return None
    if kind == "counts":
        return rng.integers(1, 6, G.number_of_edges()).astype(float)
    return np.exp(rng.normal(0.0, 1.5, G.number_of_edges()))


@st.composite
def labelled_levels(draw, *, connected=False):
    """Draw a level, labels without an empty group, and the number of groups."""
    G = draw(connected_graphs())
    if not connected:
        G.remove_edges_from([edge for edge in list(G.edges)[1:] if draw(st.integers(0, 4)) == 0])
    level = level_of(G, weights=draw(weightings(G)))
    k = draw(st.integers(1, len(G)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    z = np.concatenate([np.arange(k), rng.integers(0, k, len(G) - k)])
    return level, rng.permutation(z).astype(np.int32), k
