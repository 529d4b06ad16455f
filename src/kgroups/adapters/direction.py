"""What becomes of directed input: an error, unless the caller says how to symmetrise."""

from collections.abc import Hashable, Sequence

from kgroups._mirror import are_few, columns_of_edges, pattern_of_columns
from kgroups._types import Floats, Indices, Symmetrize
from kgroups._wording import in_python, setting
from kgroups.errors import DirectedGraphError
from kgroups.graph import Graph

__all__ = ["binary", "graph_of_edges", "refuse_directed", "ways_on"]

_REASON = (
    "communities and scores are defined for undirected links here; the Bethe Hessian, for one, "
    "has real eigenvalues because its adjacency matrix is symmetric"
)


def ways_on() -> str:
    """Return the arguments that make a directed graph undirected."""
    return (
        f"{setting('symmetrize', 'sum')} (the weights of both directions are added) or "
        f"{setting('symmetrize', 'union')} (an edge of weight 1 wherever there is one)"
    )


def refuse_directed(what: str, symmetrize: Symmetrize | None) -> None:
    """Raise for a directed graph unless ``symmetrize`` says what to do with it."""
    if symmetrize is None:
        other = in_python(
            "\n  G.to_undirected() of networkx drops the directions too; where both exist it keeps "
            "the weight of one and does not add them."
        )
        msg = f"the graph must be undirected, got {what}: {_REASON}.\n  Pass {ways_on()}.{other}"
        raise DirectedGraphError(msg)


def binary(graph: Graph) -> Graph:
    """Return the graph with weight 1 on each edge and no parallel edges."""
    if graph.weights is None and graph.multiplicity is None:
        return graph
    return Graph(graph.indptr, graph.indices, nodes=graph.nodes)


def graph_of_edges(
    source: Indices,
    target: Indices,
    weights: Floats | None,
    nodes: Sequence[Hashable],
    symmetrize: Symmetrize | None,
) -> Graph:
    """Build the graph of edges or arcs that are row indices already; weights are checked."""
    if symmetrize == "union" and not are_few(source.size):
        rows = pattern_of_columns(columns_of_edges(source, target, None, len(nodes)))
        return Graph(rows.indptr, rows.indices, nodes=nodes)
    graph = Graph.from_checked_edges(source, target, weights, nodes)
    return binary(graph) if symmetrize == "union" else graph
