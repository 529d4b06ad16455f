"""Graphs as data with a semimetric: ratio association and ratio cut as energy statistics."""

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from kgroups._types import Floats, Symmetrize
from kgroups.adapters import as_graph
from kgroups.adapters.labels import as_labels
from kgroups.energy.points import and_more, as_numbers, is_finite_number
from kgroups.errors import GraphError, InputError
from kgroups.graph import Graph
from kgroups.hartigan.objective import group_sums

__all__ = ["NodeWeights", "graph_semimetric", "ratio_association", "ratio_cut"]

NodeWeights: TypeAlias = Literal["degree", "uniform"] | npt.ArrayLike

# 20,000 nodes make a matrix of 3.2 GB, which is as much as most machines can spare.
_MOST_NODES = 20_000


def graph_semimetric(
    G: Any,
    *,
    node_weights: NodeWeights = "degree",
    shift: float = 0.0,
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
) -> Floats:
    r"""Return the semimetric between all nodes of a graph.

    .. math:: \rho(i, j) = \frac{A_{ii}}{w_i^2} + \frac{A_{jj}}{w_j^2}
        - \frac{2 A_{ij}}{w_i w_j}

    Parameters
    ----------
    G : graph_like
        Anything that :func:`kgroups.as_graph` takes, of at most 20,000 nodes.
    node_weights : {"degree", "uniform"} or array_like of shape (n,)
        The weight of each node: its weighted degree, in which a self-loop counts once, 1, or
        positive numbers in node order.
    shift : float
        Weight >= 0 of a self-loop that is added to every node, in units of the node's weight;
        0 is the equation as it stands.
    weight : str or None
        Edge attribute that holds the weights; ``None`` counts every edge as 1.
    symmetrize : {"sum", "union"}, optional
        How to make a directed graph undirected; an error without it.

    Returns
    -------
    ndarray of float, shape (n, n)
        Symmetric with a zero diagonal. With a shift that leaves nothing below 0, the matrix to
        pass with ``metric="precomputed"`` and the node weights as weights.

    Raises
    ------
    GraphError
        If the graph has more nodes than a dense matrix can hold, or a node of weight 0: with
        ``"degree"``, one without edges. If the weights are so small that the semimetric overflows.

    Notes
    -----
    Equation *metric_graphs*: the semimetric of the kernel :math:`W^{-1} A W^{-1}`. It is one, and
    of negative type, where this matrix is positive semidefinite, which a graph with edges and
    without self-loops never has: there :math:`\rho(i, j) < 0` for neighbours. A shift of
    :math:`c = \max_i d_i / w_i`, 1 for degrees, always suffices. It adds the same :math:`c k` to
    the ratio association of all partitions into k groups, so that the best of them stays.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> graph_semimetric(path)
    array([[ 0., -1.,  0.],
           [-1.,  0., -1.],
           [ 0., -1.,  0.]])
    >>> graph_semimetric(path, shift=1.0)
    array([[0. , 0.5, 2. ],
           [0.5, 0. , 0.5],
           [2. , 0.5, 0. ]])
    """
    graph = as_graph(G, weight=weight, symmetrize=symmetrize)
    if not (is_finite_number(shift) and shift >= 0):
        msg = f"shift must be a finite number >= 0, got {shift!r}."
        raise InputError(msg)
    if graph.n > _MOST_NODES:
        msg = (
            f"the semimetric of a graph is a dense matrix, which can have at most {_MOST_NODES:,} "
            f"rows, got a graph of {graph.n:,} nodes: {8e-9 * graph.n**2:,.0f} GB.\n"
            "  ratio_association and ratio_cut need no such matrix, nor does detect_communities."
        )
        raise GraphError(msg)
    w = _weight_of_nodes(graph, node_weights)
    rows, columns, data = graph.row_of_slot, graph.indices, graph.csr.data
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        kernel = data / (w[rows] * w[columns])
        diagonal = shift / w
        diagonal[columns[graph.loop_slots]] += kernel[graph.loop_slots]
        rho: Floats = diagonal[:, None] + diagonal
        rho[rows, columns] -= 2.0 * kernel
    np.fill_diagonal(rho, 0.0)
    if not np.isfinite(rho).all():
        msg = (
            f"the semimetric must stay below {np.finfo(float).max:.3g}, but node weights down to "
            f"{w.min():.3g} take it beyond.\n  Multiply all node weights by a constant."
        )
        raise GraphError(msg)
    return rho


def ratio_association(
    G: Any,
    partition: Any,
    *,
    node_weights: NodeWeights = "degree",
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
) -> float:
    r"""Return the generalised ratio association of a partition; larger is better.

    .. math:: \sum_a \frac{\mathrm{links}(C_a, C_a)}{s_a}, \quad
        \mathrm{links}(C, C') = \sum_{i \in C} \sum_{j \in C'} A_{ij}, \quad
        s_a = \sum_{i \in C_a} w_i

    Parameters
    ----------
    G : graph_like
        Anything that :func:`kgroups.as_graph` takes.
    partition : partition_like
        Anything that :func:`kgroups.adapters.labels.as_labels` takes; empty groups do not count.
    node_weights : {"degree", "uniform"} or array_like of shape (n,)
        The weight of each node: its weighted degree, in which a self-loop counts once, 1, or
        positive numbers in node order.
    weight : str or None
        Edge attribute that holds the weights; ``None`` counts every edge as 1.
    symmetrize : {"sum", "union"}, optional
        How to make a directed graph undirected; an error without it.

    Returns
    -------
    float
        With node weights 1, twice the edges per node within each group, summed over groups; with
        degrees, the normalised association, at most the number of groups.

    Raises
    ------
    GraphError
        If a node has weight 0: with ``"degree"``, one without edges.

    See Also
    --------
    ratio_cut : The other side; with degrees, the two add up to the number of groups.

    Notes
    -----
    Equation *assoc*. The objective of kernel k-groups for the kernel
    :math:`W^{-1} A W^{-1}` of :func:`graph_semimetric`, without a dense matrix.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> round(ratio_association(path, [{0, 1}, {2, 3}]), 6)
    1.333333
    >>> ratio_association(path, [{0, 1}, {2, 3}], node_weights="uniform")
    2.0
    """
    inside, _, s = _links(G, partition, node_weights, weight, symmetrize)
    return float(np.sum(inside / s))


def ratio_cut(
    G: Any,
    partition: Any,
    *,
    node_weights: NodeWeights = "degree",
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
) -> float:
    r"""Return the generalised ratio cut of a partition; smaller is better.

    .. math:: \sum_a \frac{\mathrm{links}(C_a, V \setminus C_a)}{s_a}

    Parameters
    ----------
    G, partition, node_weights, weight, symmetrize
        As :func:`ratio_association` takes them.

    Returns
    -------
    float
        With degrees as node weights the normalised cut: the number of groups less
        :func:`ratio_association`.

    Raises
    ------
    GraphError
        If a node has weight 0: with ``"degree"``, one without edges.

    Notes
    -----
    Equation *cut*.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> round(ratio_cut(path, [{0, 1}, {2, 3}]), 6)
    0.666667
    """
    _, across, s = _links(G, partition, node_weights, weight, symmetrize)
    return float(np.sum(across / s))


def _links(
    G: Any,
    partition: Any,
    node_weights: NodeWeights,
    weight: str | None,
    symmetrize: Symmetrize | None,
) -> tuple[Floats, Floats, Floats]:
    """Return the links within, the links out of, and the weight of each group."""
    graph = as_graph(G, weight=weight, symmetrize=symmetrize)
    z = as_labels(partition, graph)
    w = _weight_of_nodes(graph, node_weights)
    k = int(z.max(initial=-1)) + 1
    group, data = z[graph.row_of_slot], graph.csr.data
    stays = group == z[graph.indices]
    inside = group_sums(group[stays], data[stays], k)
    across = group_sums(group[~stays], data[~stays], k)
    return inside, across, group_sums(z, w, k)


def _weight_of_nodes(graph: Graph, node_weights: NodeWeights) -> Floats:
    """Return a positive weight for every node, or raise with the name of one that has none."""
    if isinstance(node_weights, str):
        return _named_weights(graph, node_weights)
    w = as_numbers(node_weights, "node_weights")
    if w.shape != (graph.n,):
        msg = (
            f"node_weights must be one number for each of the {graph.n} nodes, "
            f"got an array of shape {w.shape}."
        )
        raise InputError(msg)
    bad = np.flatnonzero(~(np.isfinite(w) & (w > 0)))
    if bad.size:
        msg = (
            f"node_weights must be finite and > 0, got {w[bad[0]]:g} for node "
            f"{graph.nodes[bad[0]]!r}{and_more(bad.size)}.\n"
            "  Leave nodes without weight out of the graph."
        )
        raise GraphError(msg)
    return w


def _named_weights(graph: Graph, name: str) -> Floats:
    if name == "uniform":
        return np.ones(graph.n)
    if name != "degree":
        msg = f'node_weights must be "degree", "uniform" or a number per node, got {name!r}.'
        raise InputError(msg)
    isolated = np.flatnonzero(graph.degrees == 0)
    if isolated.size:
        msg = (
            'every node must have a positive degree when node_weights="degree", but node '
            f"{graph.nodes[isolated[0]]!r} has no edges{and_more(isolated.size)}.\n"
            '  Remove nodes without edges, or pass node_weights="uniform".'
        )
        raise GraphError(msg)
    return graph.degrees
