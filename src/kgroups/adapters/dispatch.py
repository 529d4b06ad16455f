"""``as_graph``: recognize the type of the input and convert it to a ``Graph``."""

import os
import sys
from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np

from kgroups._types import Symmetrize
from kgroups.adapters.containers import from_edge_tuples, from_edge_view, from_neighbors
from kgroups.adapters.edges import ReadOptions, binary, with_weights_described
from kgroups.adapters.files import read_file
from kgroups.adapters.libraries import from_igraph, from_networkit
from kgroups.adapters.matrices import from_anndata, from_sparse
from kgroups.adapters.networkx import from_networkx
from kgroups.adapters.tables import from_array, from_columns, from_table
from kgroups.errors import GraphError
from kgroups.graph import Graph

_ACCEPTED = (
    "  Pass a networkx, igraph or NetworKit graph, a scipy.sparse matrix, a square numpy array, a "
    "list of edges (u, v) or (u, v, weight),\n  a tuple of arrays (source, target[, weight]), a "
    "dict from nodes to their neighbors, a pandas or pyarrow table with columns source and "
    "target,\n  an AnnData with neighbors, a kgroups.Graph, or the path of a file."
)


def as_graph(
    graph: Any,
    *,
    weight: str | None = "weight",
    source: str | None = None,
    target: str | None = None,
    symmetrize: Symmetrize | None = None,
) -> Graph:
    """Convert anything that holds a graph.

    Parameters
    ----------
    graph : graph, matrix, arrays, table or file
        A :class:`kgroups.Graph`, which passes through; a networkx, igraph or NetworKit graph; a
        square ``scipy.sparse`` matrix or array, numpy array or pandas DataFrame with equal index
        and columns, whose nonzero entries are weights; a list of tuples ``(u, v)`` or ``(u, v,
        weight)``, ``G.edges`` of networkx, or an integer array with two columns; a tuple
        ``(source, target[, weight])`` of one-dimensional arrays with any node names; a dict from
        nodes to lists, sets or dicts of neighbors; a pandas DataFrame or pyarrow Table with a
        column for each end; an AnnData object with ``obsp["connectivities"]``; or the path of a
        file that :func:`kgroups.read_graph` reads.
    weight : str or None
        Edge attribute or column that holds the weights. Edges without ``"weight"`` weigh 1, and
        for it a column may also be called ``weights``, ``w``, ``edge weight``, ``strength``,
        ``value`` or ``count``; any other name must exist. ``None`` ignores all weights, so that an
        edge counts 1 and parallel edges count as many as they are. Matrices and arrays have no
        names: there only ``None`` makes a difference.
    source, target : str, optional
        Columns of a table that hold the ends of the edges. Columns with usual names, such as
        ``source`` and ``target`` or ``from`` and ``to``, are found without.
    symmetrize : {"sum", "union"}, optional
        What to do with a directed graph or an asymmetric matrix, which is an error otherwise:
        add the weights of both directions (a self-loop counts once), or put an edge of weight 1
        wherever there is one. ``"union"`` makes an undirected graph binary, ``"sum"`` leaves it
        as it is.

    Returns
    -------
    Graph
        Parallel edges are summed and counted in ``multiplicity``; a self-loop is one diagonal
        entry; nodes without edges are kept.

    Raises
    ------
    GraphError
        If nothing here can hold a graph, a matrix is not square or not symmetric, or a table does
        not say which columns hold the edges.
    DirectedGraphError
        If the graph is directed and ``symmetrize`` is not given.
    WeightError
        If a weight is not a number, not finite or negative, or the named one does not exist.

    Notes
    -----
    A matrix entry that is zero is no edge. An edge of weight 0 in any other input stays an edge.
    Integer names in arrays and tables are numbered in ascending order, other names as they appear.

    Examples
    --------
    >>> import numpy as np
    >>> as_graph(np.array([[0, 1, 2], [1, 0, 0], [2, 0, 0]]))
    Graph(3 nodes, 2 edges, weighted)
    >>> as_graph((["ann", "bob"], ["bob", "cy"])).nodes
    ('ann', 'bob', 'cy')
    """
    return convert(
        graph, ReadOptions(weight=weight, symmetrize=symmetrize, source=source, target=target)
    )


def is_stored(graph: object) -> bool:
    """Return whether this is a StoredGraph, whose package is not imported to find out."""
    blocks = sys.modules.get("kgroups.blocks.store")
    return blocks is not None and isinstance(graph, blocks.StoredGraph)


def convert(obj: Any, options: ReadOptions) -> Graph:
    """Convert an object, recognized by the module of its class so that no package is imported."""
    if isinstance(obj, Graph):
        options.refuse_column_names("a kgroups.Graph")
        return _reweighted(obj, options)
    if isinstance(obj, str | os.PathLike):
        return read_file(obj, options)
    if is_stored(obj):
        msg = (
            f"a graph in memory is needed, got {obj!r}.\n  Pass its to_graph() if there is room "
            "for it. detect_communities, estimate_k and scores of its communities take it as it is."
        )
        raise GraphError(msg)
    families = {(cls.__module__.partition(".")[0], cls.__name__) for cls in type(obj).__mro__}
    kind = f"{type(obj).__module__}.{type(obj).__qualname__}"
    if families & {("pandas", "DataFrame"), ("pyarrow", "Table")}:
        return from_table(obj, options)
    options.refuse_column_names(kind)
    if ("networkx", "Graph") in families:
        return from_networkx(obj, options).named(obj.graph.get("name"))
    if families & {("networkx", "OutEdgeView"), ("networkx", "OutEdgeDataView")}:
        return from_edge_view(obj, families, options)
    if ("networkit", "Graph") in families:
        return from_networkit(obj, options)
    if ("igraph", "Graph") in families:
        return from_igraph(obj, options).named(obj["name"] if "name" in obj.attributes() else None)
    if ("anndata", "AnnData") in families:
        return from_anndata(obj, options)
    if hasattr(obj, "tocsr") and "scipy" in {package for package, _ in families}:
        return from_sparse(obj, options)
    if isinstance(obj, np.ndarray):
        return from_array(obj, options)
    if isinstance(obj, Mapping):
        return from_neighbors(obj, options)
    if isinstance(obj, list) and all(isinstance(edge, tuple) for edge in obj):
        return from_edge_tuples(obj, options)
    if isinstance(obj, tuple | list):
        return from_columns(obj, options)
    msg = f"a graph is needed, got {kind}.\n{_ACCEPTED}"
    if isinstance(obj, Iterator | Set):
        msg = f"a graph is needed, got {kind}.\n  If it holds edges (u, v), pass list(edges)."
    raise GraphError(msg)


def _reweighted(graph: Graph, options: ReadOptions) -> Graph:
    if options.symmetrize == "union":
        reweighted = binary(graph)
    elif options.weight is None and graph.weights is not None:
        counts = graph.multiplicity
        reweighted = graph._with(weights=None if counts is None else counts.astype(float))
    else:
        return graph
    if reweighted is graph or not graph.about_weights:
        return reweighted
    return with_weights_described(reweighted, None, (), options)
