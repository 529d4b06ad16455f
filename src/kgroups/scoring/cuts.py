"""What a partition cuts: cut size and conductance."""

from typing import Any

import numpy as np

from kgroups._types import Floats, Symmetrize
from kgroups.scoring._labelled import LabelledGraph, label_graph

__all__ = ["conductance", "cut_size"]


def cut_size(
    G: Any,
    partition: Any,
    *,
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
) -> float:
    """Return the total weight of the edges between communities.

    Parameters
    ----------
    G : graph_like
        Anything that :func:`kgroups.as_graph` takes.
    partition : partition_like
        Anything that :func:`kgroups.adapters.labels.as_labels` takes.
    weight : str or None
        Edge attribute that holds the weights; ``None`` counts every edge as 1.
    symmetrize : {"sum", "union"}, optional
        How to make a directed graph undirected; an error without it.

    Returns
    -------
    float
        0.0 when no edge is cut. For two communities, ``networkx.cut_size`` of the one.

    Examples
    --------
    >>> from kgroups.graph import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 2.5, 1.0])
    >>> cut_size(path, [{0, 1}, {2, 3}])
    2.5
    """
    return label_graph(G, partition, weight=weight, symmetrize=symmetrize).cut_weight


def conductance(
    G: Any,
    partition: Any,
    *,
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
) -> Floats:
    r"""Return the conductance of each community.

    .. math:: \phi_a = \frac{\mathrm{cut}(a, \bar a)}{\min(d_a, d_{\bar a})}

    with :math:`d_a` the sum of the weighted degrees in community a, where a self-loop counts
    twice, and :math:`\bar a` all other nodes.

    Parameters
    ----------
    G : graph_like
        Anything that :func:`kgroups.as_graph` takes.
    partition : partition_like
        Anything that :func:`kgroups.adapters.labels.as_labels` takes.
    weight : str or None
        Edge attribute that holds the weights; ``None`` counts every edge as 1.
    symmetrize : {"sum", "union"}, optional
        How to make a directed graph undirected; an error without it.

    Returns
    -------
    ndarray of float, shape (k,)
        From 0, separate, to 1, in the order of the communities as ``as_labels`` numbers them.
        0.0 where networkx divides by zero: a community that holds all edges or none.

    Notes
    -----
    Equal to ``networkx.conductance(G, community)`` for each community.

    Examples
    --------
    >>> from kgroups.graph import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> conductance(path, [{0}, {1, 2, 3}])
    array([1., 1.])
    >>> conductance(path, [{0, 1}, {2, 3}])
    array([0.33333333, 0.33333333])
    """
    return conductance_of(label_graph(G, partition, weight=weight, symmetrize=symmetrize))


def conductance_of(labelled: LabelledGraph) -> Floats:
    """Return the conductance of each community of a labelled graph."""
    smaller = np.minimum(labelled.volumes, labelled.volumes_outside)
    result: Floats = np.zeros(labelled.k)
    np.divide(labelled.cut_weights, smaller, out=result, where=smaller > 0)
    return result
