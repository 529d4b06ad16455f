"""Hypothesis strategies for graphs of every shape in every form that detection takes."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite, nan

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st
from scipy import sparse

import kgroups as kg
from kgroups.errors import DirectedGraphError, GraphError, WeightError

NETWORKX = {
    "networkx Graph": nx.Graph,
    "networkx MultiGraph": nx.MultiGraph,
    "networkx DiGraph": nx.DiGraph,
    "networkx MultiDiGraph": nx.MultiDiGraph,
}
SPARSE = ("csr", "csc", "coo", "bsr", "dok", "lil", "dia")
MATRICES = ("dense", "sparse", "arc matrix")
TABLES = ("pandas", "pyarrow")
FORMS = (*NETWORKX, "igraph", "directed igraph", *MATRICES, "arrays", *TABLES, "kgroups Graph")
DIRECTED = ("networkx DiGraph", "networkx MultiDiGraph", "directed igraph", "arc matrix")
NUMBERED = (*MATRICES, "kgroups Graph")


@dataclass(frozen=True)
class GraphCase:
    """A graph on paper: node names, edges (u, v, weight or None) by position, and its form."""

    form: str
    names: tuple
    edges: tuple
    sparse_format: str = "csr"

    def build(self):
        """Return the object that goes into kgroups."""
        if self.form in NETWORKX:
            return self._networkx()
        if self.form in ("igraph", "directed igraph"):
            return self._igraph()
        if self.form in MATRICES:
            return self._matrix()
        source, target, weight = self._columns()
        if self.form == "arrays":
            return (source, target) if weight is None else (source, target, weight)
        if self.form == "kgroups Graph":
            u, v = ([edge[side] for edge in self.edges] for side in (0, 1))
            return kg.Graph.from_edges(u, v, weight, n=len(self.names), nodes=self.names)
        columns = {"source": source, "target": target}
        if weight is not None:
            columns["weight"] = weight
        return pd.DataFrame(columns) if self.form == "pandas" else pa.table(columns)

    def nodes(self):
        """Return the names that a partition must hold; columns know no node without an edge."""
        if self.form in ("arrays", *TABLES):
            return {self.names[end] for u, v, _ in self.edges for end in (u, v)}
        return set(self.names)

    def stored(self):
        """Return edges (u, v, weight) as the form holds them: repeated ones replaced or added."""
        ordered = self.form in DIRECTED
        keys = [(u, v) if ordered else (min(u, v), max(u, v)) for u, v, _ in self.edges]
        weights = [1.0 if w is None else w for *_, w in self.edges]
        if self.form in ("networkx Graph", "networkx DiGraph"):
            last = {}
            for key, (*_, w) in zip(keys, self.edges, strict=True):
                # An edge that is added again without a weight keeps the one it has.
                last[key] = last.get(key) if w is None else w
            return [(u, v, 1.0 if w is None else w) for (u, v), w in last.items()]
        if self.form in MATRICES:
            total = dict.fromkeys(keys, 0.0)
            for key, w in zip(keys, weights, strict=True):
                total[key] += w
            return [(u, v, w) for (u, v), w in total.items() if w != 0]
        return [(u, v, w) for (u, v), w in zip(keys, weights, strict=True)]

    def links(self, *, ignore_weights):
        """Return the pairs of different nodes with an edge of positive weight between them."""
        return {
            (self.names[u], self.names[v])
            for u, v, w in self.stored()
            if u != v and (ignore_weights or w > 0)
        }

    def is_weighted(self, *, weight, symmetrize):
        """Whether some pair weighs other than 1 when kgroups has read the graph."""
        if symmetrize == "union":
            return False
        stored = [(u, v, 1.0 if weight is None else w) for u, v, w in self.stored()]
        if self.form == "arc matrix" and not _asymmetric(stored):
            return any(w != 1 for *_, w in stored)
        pairs = [(min(u, v), max(u, v)) for u, v, _ in stored]
        return len(set(pairs)) < len(pairs) or any(w != 1 for *_, w in stored)

    def expected_error(self, *, weight, symmetrize):
        """Return the class of error that the policy has for this graph, or None."""
        stored = self.stored()
        if self.form in DIRECTED and self.form != "arc matrix" and symmetrize is None:
            return DirectedGraphError
        if weight not in (None, "weight") and (
            self.form in TABLES or (self.edges and self.form not in (*NUMBERED, "arrays"))
        ):
            return WeightError
        # A kgroups Graph checks its weights when it is made, whoever reads it later.
        checked = (weight is not None and symmetrize != "union") or self.form == "kgroups Graph"
        if checked and any(_is_bad(w) for *_, w in stored):
            return WeightError
        symmetric = False
        if self.form == "arc matrix":
            symmetric = not _asymmetric([(u, v, w if checked else 1.0) for u, v, w in stored])
            if not symmetric and symmetrize is None:
                return GraphError
        entries = [w for u, v, w in stored for _ in range(1 if symmetric or u == v else 2)]
        return WeightError if checked and _overflows(entries) else None

    def permuted(self, node_order, edge_order, flipped):
        """Return the same graph written down in another order."""
        place = {old: new for new, old in enumerate(node_order)}
        edges = []
        for t in edge_order:
            u, v, w = self.edges[t]
            ends = (v, u) if t in flipped and self.form not in DIRECTED else (u, v)
            edges.append((place[ends[0]], place[ends[1]], w))
        names = tuple(self.names[i] for i in node_order)
        return replace(self, names=names, edges=tuple(edges))

    def scaled(self, factor):
        """Return the same graph with all weights in another unit."""
        edges = tuple((u, v, (1.0 if w is None else w) * factor) for u, v, w in self.edges)
        return replace(self, edges=edges)

    def _networkx(self):
        G = NETWORKX[self.form]()
        G.add_nodes_from(self.names)
        for u, v, w in self.edges:
            attributes = {} if w is None else {"weight": w}
            G.add_edge(self.names[u], self.names[v], **attributes)
        return G

    def _igraph(self):
        g = igraph.Graph(
            n=len(self.names),
            edges=[(u, v) for u, v, _ in self.edges],
            directed=self.form == "directed igraph",
        )
        if self.names != tuple(range(len(self.names))):
            g.vs["name"] = list(self.names)
        if any(w is not None for *_, w in self.edges):
            g.es["weight"] = [w for *_, w in self.edges]
        return g

    def _matrix(self):
        A = np.zeros((len(self.names),) * 2)
        for u, v, w in self.stored():
            A[u, v] = w
            if self.form != "arc matrix":
                A[v, u] = w
        return A if self.form == "dense" else sparse.csr_array(A).asformat(self.sparse_format)

    def _columns(self):
        source, target = ([self.names[edge[side]] for edge in self.edges] for side in (0, 1))
        if all(w is None for *_, w in self.edges):
            return source, target, None
        weights = [1.0 if w is None else w for *_, w in self.edges]
        if self.form == "pyarrow" and any(isinstance(w, str) for w in weights):
            weights = list(map(str, weights))
        return source, target, weights


def _is_bad(weight):
    return isinstance(weight, str) or not isfinite(weight) or weight < 0


def _overflows(weights):
    return 2 * sum(map(Fraction, weights)) > Fraction(np.finfo(float).max)


def _asymmetric(arcs):
    weight = {(u, v): w for u, v, w in arcs}
    return any(weight.get((v, u)) != w for (u, v), w in weight.items())


def _shape(kind, n, extra):
    """Return the edges of a named graph on about n nodes, and its number of nodes."""
    if kind == "star":
        G = nx.star_graph(n)
    elif kind == "clique":
        G = nx.complete_graph(n)
    elif kind == "path":
        G = nx.path_graph(n)
    elif kind == "cycle":
        G = nx.cycle_graph(n)
    elif kind == "bipartite":
        G = nx.complete_bipartite_graph(n // 2, n - n // 2)
    elif kind == "cliques":
        G = nx.disjoint_union_all([nx.complete_graph(max(1, n // 3))] * (2 + extra % 3))
    elif kind == "ring of cliques":
        G = nx.ring_of_cliques(3 + extra % 3, max(2, n // 3))
    elif kind == "barbell":
        G = nx.barbell_graph(max(2, n // 2), extra % 3)
    elif kind == "grid":
        G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, max(1, n // 3)))
    elif kind == "regular":
        G = nx.random_regular_graph(3, max(4, n + n % 2), seed=extra)
    else:
        G = nx.gnm_random_graph(n, (n * (2 + extra % 7)) // 4, seed=extra)
    return list(G.edges), len(G)


SHAPES = (
    "star",
    "clique",
    "path",
    "cycle",
    "bipartite",
    "cliques",
    "ring of cliques",
    "barbell",
    "grid",
    "regular",
    "random",
)


@st.composite
def skeletons(draw, max_nodes):
    """Draw a number of nodes and pairs of them: any pairs, or a named shape with a few more."""
    if draw(st.booleans()):
        n, pairs = draw(st.integers(0, max_nodes)), []
    else:
        kind = draw(st.sampled_from(SHAPES))
        pairs, n = _shape(kind, draw(st.integers(1, max_nodes)), draw(st.integers(0, 10**6)))
        n += draw(st.sampled_from([0, 0, 0, 1, 3]))
    if n:
        end = st.integers(0, n - 1)
        most = 3 if pairs else 3 * n
        pairs = [*pairs, *draw(st.lists(st.tuples(end, end), max_size=most))]
    return n, pairs


_EXPONENTS = st.floats(-300.0, 300.0)
GOOD_WEIGHTS = {
    "none": st.none(),
    "some": st.one_of(st.none(), st.integers(1, 40).map(lambda x: x / 8)),
    "ones": st.just(1.0),
    "counts": st.integers(1, 7),
    "moderate": st.floats(0.01, 100.0),
    "any size": _EXPONENTS.map(lambda x: 10.0**x),
    "two sizes": st.sampled_from([1e-300, 1e300]),
    "with zeros": st.sampled_from([0.0, 0.0, -0.0, 1.0, 2.5]),
    "all zero": st.just(0.0),
    "subnormal": st.sampled_from([5e-324, 1e-310, 1.0]),
}
ALL_WEIGHTS = {
    **GOOD_WEIGHTS,
    "huge": st.sampled_from([1e308, 1.7e308]),
    "bad number": st.sampled_from([1.0, 2.0, nan, inf, -inf, -1.0, -1e-300]),
    "text": st.sampled_from([1.0, "3", "heavy"]),
}


@st.composite
def name_tuples(draw, n, form):
    """Draw n different names that the form can hold."""
    index = tuple(range(n))
    if form in NUMBERED:
        return index
    kinds = ["index", "shuffled", "text"]
    if form not in TABLES and "igraph" not in form:
        kinds += ["tuples", "mixed"]
    kind = draw(st.sampled_from(kinds))
    if kind == "index":
        return index
    if kind == "shuffled" and "igraph" not in form:
        return tuple(10 * x - 50 for x in draw(st.permutations(index)))
    if kind == "tuples":
        return tuple((x % 3, str(x)) for x in index)
    if kind == "mixed":
        return tuple(x if x % 2 else str(x) for x in index)
    return tuple(f"node {x}" for x in draw(st.permutations(index)))


@st.composite
def graph_cases(draw, *, forms=FORMS, weights=ALL_WEIGHTS, max_nodes=12):
    """Draw a graph in some form."""
    form = draw(st.sampled_from(forms))
    n, pairs = draw(skeletons(max_nodes))
    kinds = [kind for kind in weights if kind != "text" or form not in MATRICES]
    weight = weights[draw(st.sampled_from(kinds))]
    if len(pairs) <= 30:
        values = [draw(weight) for _ in pairs]
    else:
        few = draw(st.lists(weight, min_size=5, max_size=5))
        values = [few[(7 * t) % 5] for t in range(len(pairs))]
    edges = tuple((u, v, w) for (u, v), w in zip(pairs, values, strict=True))
    sparse_format = draw(st.sampled_from(SPARSE))
    return GraphCase(form, draw(name_tuples(n, form)), edges, sparse_format)


rules = st.sampled_from(["mean-degree", "second-moment", "nonbacktracking"])
operators = rules.map(kg.BetheHessian)
operators_with_numbers = st.one_of(
    operators, st.sampled_from([0.5, 1.0, 1.01, 1.5, 3.0, 50.0, 1e6]).map(kg.BetheHessian)
)
seeds = st.one_of(
    st.builds(
        kg.KMeansInit,
        rows=st.sampled_from(["normalized", "raw"]),
        n_init=st.sampled_from([1, 3]),
    ),
    st.builds(kg.QRInit, rows=st.sampled_from(["normalized", "raw"])),
)
refinements = st.builds(
    kg.Hartigan,
    weights=st.sampled_from(["association", "uniform", "gram"]),
    candidates=st.sampled_from(["neighbors", "all"]),
    margin=st.sampled_from([0.0, 0.25]),
    max_sweeps=st.sampled_from([1, 100]),
    guard=st.sampled_from([None, 0.0, 0.1]),
)
