"""All scores of a partition at once."""

from dataclasses import asdict, dataclass, field
from typing import Any

from kgroups._types import Symmetrize
from kgroups.scoring._labelled import label_graph
from kgroups.scoring.cuts import conductance_of
from kgroups.scoring.quality import check_resolution, coverage_of, modularity_of, performance_of
from kgroups.scoring.sizes import SizeDistribution

__all__ = ["Scores", "scores"]


@dataclass(frozen=True)
class Scores:
    """The scores of one partition on its graph.

    Attributes
    ----------
    k : int
        Number of communities.
    performance, coverage : float
        Fractions of node pairs classified correctly and of edges inside, weights ignored.
        Neither exceeds 1: performance counts pairs of different nodes, so that parallel edges
        are one pair and self-loops are none; coverage counts every edge, self-loops inside.
    modularity : float
        Weighted, at the resolution asked for.
    cut_size : float
        Weight of the edges between communities.
    max_conductance, mean_conductance : float
        Over the communities; 0.0 when there is none.
    sizes : tuple of int
        Sizes of the communities, largest first; left out of the ``repr``.
    """

    k: int
    performance: float
    coverage: float
    modularity: float
    cut_size: float
    max_conductance: float
    mean_conductance: float
    sizes: tuple[int, ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain Python values, ready for JSON."""
        return {**asdict(self), "sizes": list(self.sizes)}


def scores(
    G: Any,
    partition: Any,
    *,
    weight: str | None = "weight",
    resolution: float = 1.0,
    symmetrize: Symmetrize | None = None,
) -> Scores:
    """Return all scores of a partition.

    Parameters
    ----------
    G : graph_like
        Anything that :func:`kgroups.as_graph` takes.
    partition : partition_like
        Anything that :func:`kgroups.adapters.labels.as_labels` takes.
    weight : str or None
        Edge attribute that holds the weights of modularity, cut size and conductance.
    resolution : float
        Resolution of the modularity.
    symmetrize : {"sum", "union"}, optional
        How to make a directed graph undirected; an error without it.

    Returns
    -------
    Scores
        Each value is the one that the function of its name returns.

    Examples
    --------
    >>> from kgroups.graph import Graph
    >>> bridged = Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5])
    >>> result = scores(bridged, [{0, 1, 2}, {3, 4, 5}])
    >>> result.k, result.sizes, result.cut_size
    (2, (3, 3), 1.0)
    >>> round(result.modularity, 3), round(result.max_conductance, 3)
    (0.357, 0.143)
    """
    gamma = check_resolution(resolution)
    labelled = label_graph(G, partition, weight=weight, symmetrize=symmetrize)
    conductances = conductance_of(labelled)
    return Scores(
        k=labelled.k,
        performance=performance_of(labelled),
        coverage=coverage_of(labelled),
        modularity=modularity_of(labelled, gamma),
        cut_size=labelled.cut_weight,
        max_conductance=float(conductances.max(initial=0.0)),
        mean_conductance=float(conductances.mean()) if labelled.k else 0.0,
        sizes=SizeDistribution.from_sizes(labelled.sizes.tolist()).sizes,
    )
