"""A partition as tables and as a networkx graph: nodes, communities, and links between them."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kgroups._types import Floats, Ints
from kgroups._validation import check_choice
from kgroups._wording import install_hint
from kgroups.errors import InputError, MissingExtraError
from kgroups.graph import Graph

if TYPE_CHECKING:
    from kgroups.partition.partition import Partition

_WITHOUT_GRAPH = ("node", "community")
_WITH_GRAPH = (*_WITHOUT_GRAPH, "degree", "inside")
_COLUMNS = (*_WITH_GRAPH, "confidence", "runner_up", "stability")


def node_table(partition: "Partition", columns: Sequence[str] | None) -> Any:
    """Return the DataFrame of :meth:`Partition.to_dataframe`."""
    if columns is None:
        columns = _WITHOUT_GRAPH if partition.graph is None else _WITH_GRAPH
    elif isinstance(columns, str):
        msg = f"columns must be several names of columns, got the text {columns!r}."
        raise InputError(msg)
    for name in columns:
        check_choice("columns", name, _COLUMNS)
    pandas = import_pandas()
    found = {name: _column(partition, name) for name in columns}
    if "node" in found:
        found["node"] = name_series(pandas, found["node"])
    return pandas.DataFrame(found, columns=list(columns))


def name_series(pandas: Any, names: Sequence[Hashable]) -> Any:
    """Return a pandas Series that keeps names as they are, tuples and mixed types, too."""
    kinds = set(map(type, names))
    try:
        return pandas.Series(names, dtype=None if len(kinds) == 1 else object)
    except (OverflowError, TypeError, UnicodeEncodeError):
        # Numbers without bound, and text that is not valid Unicode.
        return pandas.Series(names, dtype=object)


def import_pandas() -> Any:
    """Return the module ``pandas``, or raise and name the extra."""
    try:
        import pandas
    except ImportError as error:
        msg = f"to_dataframe needs pandas. {install_hint('study')}"
        raise MissingExtraError(msg) from error
    return pandas


def _column(partition: "Partition", name: str) -> Any:
    if name == "node":
        return list(partition.nodes)
    if name == "community":
        return partition.labels
    if name == "confidence":
        return partition.confidence()
    if name == "runner_up":
        return partition.runner_up()
    if name == "stability":
        return (partition.known_stability or partition.stability()).nodes
    graph = partition._graph_for(f"the column {name!r}")
    return graph.degrees if name == "degree" else inside_degrees(graph, partition.labels)


def inside_degrees(graph: Graph, labels: Ints) -> Floats:
    """Return the weight of the edges from each node to its own community."""
    inside = labels[graph.row_of_slot] == labels[graph.indices]
    weights = graph.csr.data[inside]
    return np.bincount(graph.row_of_slot[inside], weights=weights, minlength=graph.n).astype(float)


def community_rows(partition: "Partition") -> list[dict[str, Any]]:
    """Return the rows of :meth:`Partition.summary`."""
    rows: list[dict[str, Any]] = [
        {"community": a, "nodes": size} for a, size in enumerate(partition.sizes.tolist())
    ]
    if partition.graph is None:
        return rows
    from kgroups.scoring import conductance

    graph, z, k = partition.graph, partition.labels, partition.k
    source, target, weight = graph.edges()
    within = z[source] == z[target]
    loops = source == target
    inside = np.bincount(z[source[within]], weights=weight[within], minlength=k)
    ends = np.concatenate([z[source[~within]], z[target[~within]]])
    outside = np.bincount(ends, weights=np.tile(weight[~within], 2), minlength=k)
    linked = np.bincount(z[source[within & ~loops]], minlength=k)
    pairs = partition.sizes * (partition.sizes - 1) // 2
    cut = conductance(graph, z)
    # The node with most weight inside its community; the first of several.
    own = inside_degrees(graph, z)
    first = np.lexsort((np.arange(graph.n), -own, z))
    hubs = first[np.cumsum(partition.sizes) - partition.sizes] if k else first
    for a, row in enumerate(rows):
        row["inside"] = float(inside[a])
        row["outside"] = float(outside[a])
        row["density"] = float(linked[a] / pairs[a]) if pairs[a] else 0.0
        row["conductance"] = float(cut[a])
        row["hub"] = partition.nodes[int(hubs[a])]
    return rows


def quotient(partition: "Partition", graph: Graph) -> Any:
    """Return the graph of :meth:`Partition.quotient_graph`."""
    import networkx as nx

    z = partition.labels
    source, target, weight = graph.edges()
    counts = graph.multiplicity
    upper = graph.row_of_slot <= graph.indices
    number = np.ones(source.size) if counts is None else counts[upper].astype(float)
    k = max(partition.k, 1)
    low, high = np.minimum(z[source], z[target]), np.maximum(z[source], z[target])
    codes, pair = np.unique(low * k + high, return_inverse=True)
    weights = np.bincount(pair, weights=weight, minlength=codes.size)
    edges = np.bincount(pair, weights=number, minlength=codes.size).astype(np.int64)
    first, second = (end.tolist() for end in np.divmod(codes, k))
    links = list(zip(first, second, weights.tolist(), edges.tolist(), strict=True))
    inside = {a: (total, count) for a, b, total, count in links if a == b}
    Q = nx.Graph()
    for a, size in enumerate(partition.sizes.tolist()):
        total, count = inside.get(a, (0.0, 0))
        Q.add_node(a, size=size, inside=total, edges=count)
    Q.add_edges_from((a, b, {"weight": t, "edges": c}) for a, b, t, c in links if a != b)
    return Q
