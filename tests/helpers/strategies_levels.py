"""Graphs as levels and problems, with labels that fit."""

import networkx as nx
import numpy as np
from hypothesis import strategies as st

import kgroups as kg
from kgroups._progress import new_control
from kgroups.search import MoveRules, coarsened, finest_level, prepare

ONE = np.zeros(1, dtype=np.int64)
"""The only component of a level."""
NOISE = np.random.default_rng(0).gumbel(size=1 << 14)


def graph_of(G, *, weights=None):
    """Return a networkx graph on 0 ... n-1 as a Graph."""
    edges = np.array(G.edges, dtype=np.int64).reshape(-1, 2)
    return kg.Graph.from_edges(edges[:, 0], edges[:, 1], weights, n=len(G))


def level_of(G, *, weights=None):
    """Return the finest level of a networkx graph on 0 ... n-1."""
    graph = graph_of(G, weights=weights)
    return finest_level(graph.simple_adjacency(), weighted=weights is not None)


def problem_of(graph):
    """Return a Graph as a Problem, its nodes sorted by component."""
    return prepare(graph).problem


def largest_part(graph):
    """Return the problem on the largest component of a Graph, and its nodes."""
    ready = prepare(graph)
    c = int(np.argmax(ready.problem.sizes))
    return ready.problem.part(c), ready.sorted(np.arange(graph.n))[ready.problem.rows(c)]


def groups_of(level, z, k):
    """Return the level of the ``k`` groups of labels on a level of one component."""
    return coarsened(level, z, np.array([k]), ONE, new_control())


def joined(parts):
    """Return levels of one component each, side by side as one."""
    offsets = np.concatenate([[0], np.cumsum([part.n for part in parts])])
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    moved = [part.indices + first for part, first in zip(parts, offsets[:-1], strict=True)]
    return parts[0]._replace(
        indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(parts[0].indptr.dtype),
        indices=np.concatenate(moved).astype(parts[0].indices.dtype),
        offsets=offsets,
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("data", "strength", "inner", "nodes")
        },
    )


def rules_of(*, undecided_margin=6.0, max_visits=10, fixed_k=False):
    """Return rules of moves."""
    return MoveRules(NOISE, undecided_margin, max_visits, fixed_k)


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
def labelings(draw, n):
    """Draw labels without an empty group, and the number of groups."""
    k = draw(st.integers(1, n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    z = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    return rng.permutation(z).astype(np.int32), k


@st.composite
def levels(draw, *, max_nodes=14, connected=True):
    """Draw a level: nodes of a graph, or groups of them."""
    G = draw(connected_graphs(max_nodes=max_nodes))
    if not connected:
        G.remove_edges_from([edge for edge in list(G.edges)[1:] if draw(st.integers(0, 4)) == 0])
    level = level_of(G, weights=draw(weightings(G)))
    if draw(st.booleans()):
        z, k = draw(labelings(len(G)))
        level = groups_of(level, z, k)
    return level


@st.composite
def labeled_levels(draw, *, max_nodes=14, connected=True):
    """Draw a level, labels without an empty group, and the number of groups."""
    level = draw(levels(max_nodes=max_nodes, connected=connected))
    return level, *draw(labelings(level.n))
