"""The semimetric between nodes of a graph, and the ratio association and cut of partitions."""

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from kgroups._types import Floats, Symmetrize
from kgroups._validation import check_real
from kgroups.adapters import as_graph, as_labels
from kgroups.energy.points import and_more, as_numbers
from kgroups.errors import GraphError, InputError
from kgroups.graph import Graph
from kgroups.hartigan import group_sums

NodeWeights: TypeAlias = Literal["degree", "uniform"] | npt.ArrayLike

# A dense matrix of 20,000 nodes takes 3.2 GB.
_MAX_DENSE_NODES = 20_000


def graph_semimetric(
    graph: Any,
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
    graph : graph_like
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
        Symmetric with a zero diagonal. With a shift that leaves no entry below 0, it can be passed
        with ``metric="precomputed"`` and the node weights as weights.

    Raises
    ------
    GraphError
        If the graph has more nodes than a dense matrix can hold, or a node of weight 0: with
        ``"degree"``, one without edges. If the weights are so small that the semimetric overflows.

    Notes
    -----
    Equation *metric_graphs*: the semimetric of the kernel :math:`W^{-1} A W^{-1}`. It is a
    semimetric, and of negative type, if this matrix is positive semidefinite. For a graph with
    edges and without self-loops it is not: :math:`\rho(i, j) < 0` for neighbors. A shift of
    :math:`c = \max_i d_i / w_i`, 1 for degrees, always suffices. It adds the same :math:`c k` to
    the ratio association of all partitions into k groups, so that the best of them is the same.

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
    graph = as_graph(graph, weight=weight, symmetrize=symmetrize)
    check_real("shift", shift, low=0.0, what="finite number")
    if graph.n > _MAX_DENSE_NODES:
        msg = (
            "the semimetric of a graph is a dense matrix, which can have at most "
            f"{_MAX_DENSE_NODES:,} rows, got a graph of {graph.n:,} nodes: "
            f"{8e-9 * graph.n**2:,.0f} GB.\n"
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
    graph: Any,
    partition: Any,
    *,
    node_weights: NodeWeights = "degree",
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
) -> float:
    r"""Return the generalized ratio association of a partition; larger is better.

    .. math:: \sum_a \frac{\mathrm{links}(C_a, C_a)}{s_a}, \quad
        \mathrm{links}(C, C') = \sum_{i \in C} \sum_{j \in C'} A_{ij}, \quad
        s_a = \sum_{i \in C_a} w_i

    Parameters
    ----------
    graph : graph_like
        Anything that :func:`kgroups.as_graph` takes.
    partition : partition_like
        Anything that :func:`kgroups.adapters.labels.as_labels` takes; empty groups do not count.
    node_weights, weight, symmetrize
        As for :func:`graph_semimetric`.

    Returns
    -------
    float
        With node weights 1, twice the edges per node within each group, summed over groups; with
        degrees, the normalized association, at most the number of groups.

    Raises
    ------
    GraphError
        If a node has weight 0: with ``"degree"``, one without edges.

    See Also
    --------
    ratio_cut : With degrees as node weights, the two add up to the number of groups.

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
    inside, _, s = _links(graph, partition, node_weights, weight, symmetrize)
    return float(np.sum(inside / s))


def ratio_cut(
    graph: Any,
    partition: Any,
    *,
    node_weights: NodeWeights = "degree",
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
) -> float:
    r"""Return the generalized ratio cut of a partition; smaller is better.

    .. math:: \sum_a \frac{\mathrm{links}(C_a, V \setminus C_a)}{s_a}

    Parameters
    ----------
    graph, partition, node_weights, weight, symmetrize
        As for :func:`ratio_association`.

    Returns
    -------
    float
        With degrees as node weights the normalized cut, which is the number of groups minus
        :func:`ratio_association`.

    Notes
    -----
    Equation *cut*.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> round(ratio_cut(path, [{0, 1}, {2, 3}]), 6)
    0.666667
    """
    _, across, s = _links(graph, partition, node_weights, weight, symmetrize)
    return float(np.sum(across / s))


def _links(
    graph: Any,
    partition: Any,
    node_weights: NodeWeights,
    weight: str | None,
    symmetrize: Symmetrize | None,
) -> tuple[Floats, Floats, Floats]:
    """Return the links within, the links out of, and the weight of each group."""
    graph = as_graph(graph, weight=weight, symmetrize=symmetrize)
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
        if node_weights not in ("degree", "uniform"):
            kinds = '"degree", "uniform" or a number per node'
            msg = f"node_weights must be {kinds}, got {node_weights!r}."
            raise InputError(msg)
        w = graph.degrees if node_weights == "degree" else np.ones(graph.n)
    else:
        w = as_numbers(node_weights, "node_weights")
    if w.shape != (graph.n,):
        msg = (
            f"node_weights must be one number for each of the {graph.n} nodes, "
            f"got an array of shape {w.shape}."
        )
        raise InputError(msg)
    bad = np.flatnonzero(~(np.isfinite(w) & (w > 0)))
    if bad.size:
        node = repr(graph.nodes[bad[0]])
        msg = (
            f"node_weights must be finite and > 0, got {w[bad[0]]:g} for node {node}"
            f"{and_more(bad.size)}.\n  Leave nodes without weight out of the graph."
        )
        if isinstance(node_weights, str):
            msg = (
                'every node must have a positive degree when node_weights="degree", but node '
                f"{node} has no edges{and_more(bad.size)}.\n"
                '  Remove nodes without edges, or pass node_weights="uniform".'
            )
        raise GraphError(msg)
    return w
