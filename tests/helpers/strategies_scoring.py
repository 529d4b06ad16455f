"""Small networkx graphs of every kind, with a partition of their nodes."""

import networkx as nx
from hypothesis import strategies as st

WEIGHTS = st.one_of(
    st.none(),
    st.just(0),
    st.integers(1, 9),
    st.floats(1e-3, 1e3, allow_nan=False, allow_infinity=False),
)


@st.composite
def partitioned_graphs(draw, *, kinds=(nx.Graph, nx.MultiGraph), min_nodes=0):
    """Draw a graph, loops and missing or zero weights among it, and sets that partition it."""
    n = draw(st.integers(min_nodes, 10))
    name = draw(st.sampled_from([int, str, lambda i: (i, "node"), lambda i: 3 * i - 7]))
    nodes = draw(st.permutations([name(i) for i in range(n)]))
    graph = draw(st.sampled_from(kinds))()
    graph.add_nodes_from(nodes)
    if n:
        ends = st.integers(0, n - 1)
        is_weighted = draw(st.booleans())
        edges = draw(st.lists(st.tuples(ends, ends, WEIGHTS), max_size=25))
        for i, j, weight in edges:
            if is_weighted and weight is not None:
                graph.add_edge(nodes[i], nodes[j], weight=weight)
            else:
                graph.add_edge(nodes[i], nodes[j])
    labels = draw(st.lists(st.integers(0, draw(st.integers(0, 10))), min_size=n, max_size=n))
    blocks = [{v for v, a in zip(nodes, labels, strict=True) if a == b} for b in set(labels)]
    return graph, blocks
