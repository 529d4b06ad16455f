"""How well a partition fits its graph: performance, coverage, modularity."""

import math
from numbers import Real
from typing import Any

from kgroups._types import Symmetrize
from kgroups._wording import argument, setting
from kgroups.errors import InputError
from kgroups.scoring._labelled import LabelledGraph, label_edges, label_graph

__all__ = ["coverage", "modularity", "performance"]


def performance(G: Any, partition: Any, *, symmetrize: Symmetrize | None = None) -> float:
    r"""Return the fraction of node pairs that the partition classifies correctly.

    .. math:: \frac{\#\{\text{adjacent pairs inside}\} + \#\{\text{non-adjacent pairs between}\}}
        {n (n - 1) / 2}

    Parameters
    ----------
    G : graph_like
        Anything that :func:`kgroups.as_graph` takes. Weights are ignored.
    partition : partition_like
        Anything that :func:`kgroups.adapters.labels.as_labels` takes: a ``Partition``, sets of
        nodes, one label per node, a dict from node to label.
    symmetrize : {"sum", "union"}, optional
        How to make a directed graph undirected; an error without it.

    Returns
    -------
    float
        From 0.0 to 1.0; 1.0 for a graph of no or one node, which has no pairs.

    Notes
    -----
    Pairs of two different nodes are counted: parallel edges are one adjacent pair, and a
    self-loop is none. Without self-loops this is the second value of
    ``networkx.community.partition_quality``. networkx counts a self-loop as an edge inside, so
    that its value can exceed 1, and returns -1 for multigraphs; networkx with kgroups as its
    backend does the same.

    Examples
    --------
    >>> from kgroups.graph import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> performance(path, [{0, 1}, {2, 3}])
    0.8333333333333334
    """
    return performance_of(label_edges(G, partition, symmetrize=symmetrize))


def coverage(
    G: Any, partition: Any, *, weight: str | None = None, symmetrize: Symmetrize | None = None
) -> float:
    """Return the fraction of the edges that lie within communities.

    Parameters
    ----------
    G : graph_like
        Anything that :func:`kgroups.as_graph` takes.
    partition : partition_like
        Anything that :func:`kgroups.adapters.labels.as_labels` takes.
    weight : str, optional
        ``None`` counts edges, parallel ones each. The name of an edge attribute gives the
        fraction of the total weight instead; any name does for inputs without attributes.
    symmetrize : {"sum", "union"}, optional
        How to make a directed graph undirected; an error without it.

    Returns
    -------
    float
        1.0 for a graph without edges, or without weight: nothing is cut.

    Notes
    -----
    The default equals the first value of ``networkx.community.partition_quality``. A self-loop
    is an edge inside.

    Examples
    --------
    >>> from kgroups.graph import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> coverage(path, [{0, 1}, {2, 3}])
    0.6666666666666666
    """
    if weight is None:
        return coverage_of(label_edges(G, partition, symmetrize=symmetrize))
    labelled = label_graph(G, partition, weight=weight, symmetrize=symmetrize)
    return weighted_coverage_of(labelled)


def modularity(
    G: Any,
    partition: Any,
    *,
    weight: str | None = "weight",
    resolution: float = 1.0,
    symmetrize: Symmetrize | None = None,
) -> float:
    r"""Return the modularity of a partition.

    .. math:: \sum_a \left[ \frac{L_a}{m} - \gamma \left( \frac{d_a}{2m} \right)^2 \right]

    with :math:`L_a` the weight of the edges inside community a, :math:`d_a` the sum of its
    weighted degrees, m the weight of all edges and :math:`\gamma` the resolution.

    Parameters
    ----------
    G : graph_like
        Anything that :func:`kgroups.as_graph` takes.
    partition : partition_like
        Anything that :func:`kgroups.adapters.labels.as_labels` takes.
    weight : str or None
        Edge attribute that holds the weights; ``None`` counts every edge as 1.
    resolution : float
        Above 1 favours smaller communities, below 1 larger ones.
    symmetrize : {"sum", "union"}, optional
        How to make a directed graph undirected; an error without it.

    Returns
    -------
    float
        0.0 for a graph without edges, or without weight.

    Notes
    -----
    Equal to ``networkx.community.modularity``: a self-loop counts once in :math:`L_a` and twice
    in :math:`d_a`, parallel edges add up.

    Examples
    --------
    >>> from kgroups.graph import Graph
    >>> bridged = Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5])
    >>> round(modularity(bridged, [{0, 1, 2}, {3, 4, 5}]), 4)
    0.3571
    """
    gamma = check_resolution(resolution)
    labelled = label_graph(G, partition, weight=weight, symmetrize=symmetrize)
    return modularity_of(labelled, gamma)


def performance_of(labelled: LabelledGraph) -> float:
    """Return the performance of labels on a graph."""
    n = labelled.graph.n
    pairs = n * (n - 1) // 2
    if pairs == 0:
        return 1.0
    inside = int((labelled.sizes * (labelled.sizes - 1) // 2).sum())
    right = labelled.n_inner_pairs + (pairs - inside - labelled.n_cut_pairs)
    return right / pairs


def coverage_of(labelled: LabelledGraph) -> float:
    """Return the fraction of edges inside communities."""
    m = labelled.graph.m
    return (m - labelled.n_cut_edges) / m if m else 1.0


def weighted_coverage_of(labelled: LabelledGraph) -> float:
    """Return the fraction of weight inside communities."""
    total = labelled.inner_weight + labelled.cut_weight
    return labelled.inner_weight / total if total > 0 else 1.0


def modularity_of(labelled: LabelledGraph, resolution: float) -> float:
    """Return the modularity of labels on a graph."""
    total = labelled.inner_weight + labelled.cut_weight
    if total == 0:
        return 0.0
    shares = labelled.volumes / (2 * total)
    return float(labelled.inner_weight / total - resolution * (shares @ shares))


def check_resolution(resolution: object) -> float:
    """Return the resolution as a float if it is a finite number."""
    if not isinstance(resolution, Real) or isinstance(resolution, bool):
        raise InputError(_not_finite(resolution))
    number = float(resolution)
    if not math.isfinite(number):
        raise InputError(_not_finite(number))
    return number


def _not_finite(resolution: object) -> str:
    return (
        f"{argument('resolution')} must be a finite number, got {resolution!r}.\n"
        f"  Pass for instance {setting('resolution', 1.0)}."
    )
