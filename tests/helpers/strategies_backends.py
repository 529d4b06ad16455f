"""Hypothesis strategies for undirected networkx graphs, with partitions of their nodes."""

from dataclasses import dataclass

import networkx as nx
from hypothesis import strategies as st

CLASSES = (nx.Graph, nx.MultiGraph)
LABELS = {
    "range": lambda i: i,
    "shuffled": lambda i: (7 * i + 3) % 101,
    "text": lambda i: f"node {i}",
    "tuple": lambda i: (i % 3, i),
    "mixed": lambda i: i if i % 2 else f"{i}",
    "float": lambda i: i + 0.5,
}
WEIGHTS = {
    "none": st.none(),
    "whole": st.integers(-3, 9),
    "real": st.floats(-2, 8).map(lambda w: round(w, 3)),
    "partial": st.one_of(st.none(), st.integers(0, 5), st.floats(0, 5).map(lambda w: round(w, 2))),
}
VIEWS = ("graph", "subgraph", "edge subgraph", "subclass", "frozen")


class Subclass(nx.Graph):
    """A graph whose edges are read through a factory of its own."""

    class edge_attr_dict_factory(dict):  # noqa: N801  (networkx's name)
        """A dict by another name."""


@dataclass(frozen=True)
class Case:
    """A networkx graph, the names of its nodes, and what it was drawn as."""

    graph: nx.Graph
    view: str
    labels: str


@st.composite
def cases(draw, classes=CLASSES, *, weights=tuple(WEIGHTS), views=VIEWS, least_nodes=0):
    """Draw a graph with loops, repeated edges, names of many kinds, weights here and there."""
    kind = draw(st.sampled_from(classes))
    n = draw(st.integers(least_nodes, 9))
    labels = draw(st.sampled_from(sorted(LABELS)))
    names = [LABELS[labels](i) for i in range(n)]
    ends = st.sampled_from(names) if names else st.nothing()
    weight = WEIGHTS[draw(st.sampled_from(weights))]
    edges = draw(st.lists(st.tuples(ends, ends, weight), max_size=24)) if names else []
    view = draw(st.sampled_from(views))
    if view == "subclass" and kind is nx.Graph:
        kind = Subclass
    graph = kind()
    graph.add_nodes_from(names)
    for u, v, w in edges:
        graph.add_edge(u, v, **({} if w is None else {"weight": w}), color="red")
    if draw(st.booleans()):
        for *_, data in graph.edges(data=True):
            del data["color"]
    if view == "subgraph":
        graph = graph.subgraph(draw(st.sets(ends)) if names else [])
    elif view == "edge subgraph" and graph.number_of_edges():
        every = list(graph.edges(keys=True)) if graph.is_multigraph() else list(graph.edges)
        graph = graph.edge_subgraph(draw(st.sets(st.sampled_from(every))))
    elif view == "frozen":
        graph = nx.freeze(graph)
    return Case(graph, view, labels)


@st.composite
def partitioned(draw, classes=CLASSES, **options):
    """Draw a case and a partition of its nodes, empty blocks now and then."""
    case = draw(cases(classes, **options))
    nodes = list(case.graph)
    block = st.integers(0, max(0, len(nodes) // 2))
    labels = draw(st.lists(block, min_size=len(nodes), max_size=len(nodes)))
    count = max(labels, default=-1) + 1
    blocks = [{v for v, a in zip(nodes, labels, strict=True) if a == b} for b in range(count)]
    if draw(st.booleans()):
        blocks = [part for part in blocks if part]
    form = draw(st.sampled_from([list, tuple, frozenset, set]))
    return case, [form(part) for part in blocks]


@st.composite
def almost_partitioned(draw):
    """Draw a case and blocks that may overlap, miss nodes or name nodes that are not there."""
    case, blocks = draw(partitioned())
    nodes = [*case.graph, "stranger", 10**6]
    changed = [list(part) for part in blocks]
    for _ in range(draw(st.integers(0, 2))):
        if changed:
            part = draw(st.sampled_from(changed))
            if part and draw(st.booleans()):
                part.pop()
            else:
                part.append(draw(st.sampled_from(nodes)))
    return case, changed
