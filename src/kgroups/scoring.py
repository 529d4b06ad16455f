"""Scores of a partition on its graph; no ground truth is needed."""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kgroups._output import html_facts, html_result
from kgroups._types import Bools, Floats, Ints, Symmetrize
from kgroups._validation import check_real
from kgroups._wording import counted_communities, setting
from kgroups.adapters import as_graph, as_labels
from kgroups.graph import Graph

__all__ = [
    "Scores",
    "conductance",
    "coverage",
    "cut_size",
    "modularity",
    "performance",
    "scores",
]


@dataclass(frozen=True, eq=False)
class LabeledGraph:
    """A graph with the community of each node in ``range(k)``, none of them empty.

    All scores follow from what is counted by ``n``, ``m`` and the cached properties, so that these
    are what a subclass has to replace for a graph of another kind.
    """

    graph: Graph
    labels: Ints

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.graph.n

    @property
    def m(self) -> int:
        """Number of edges, parallel ones and self-loops counted each."""
        return self.graph.m

    @cached_property
    def sizes(self) -> Ints:
        """Number of nodes of each community."""
        return np.bincount(self.labels)

    @property
    def k(self) -> int:
        """Number of communities."""
        return int(self.sizes.size)

    @cached_property
    def crosses(self) -> Bools:
        """Whether the ends of each CSR entry are in different communities."""
        z = self.labels.astype(self.graph.indices.dtype)
        return np.asarray(z[self.graph.row_of_slot] != z[self.graph.indices])

    @cached_property
    def n_cut_pairs(self) -> int:
        """Number of adjacent pairs of nodes between communities, parallel edges counted once."""
        return int(np.count_nonzero(self.crosses)) // 2

    @cached_property
    def n_inner_pairs(self) -> int:
        """Number of adjacent pairs of nodes within communities, parallel edges counted once."""
        entries = self.graph.indices.size - self.graph.loop_slots.size
        return entries // 2 - self.n_cut_pairs

    @cached_property
    def n_cut_edges(self) -> int:
        """Number of edges between communities, parallel edges counted each."""
        multiplicity = self.graph.multiplicity
        if multiplicity is None:
            return self.n_cut_pairs
        return int(multiplicity[self.crosses].sum()) // 2

    @cached_property
    def cut_weight(self) -> float:
        """Weight of the edges between communities."""
        if self.graph.weights is None:
            return float(self.n_cut_pairs)
        return float(self.graph.weights[self.crosses].sum()) / 2

    @cached_property
    def inner_weight(self) -> float:
        """Weight of the edges within communities, self-loops counted once."""
        if self.graph.weights is None:
            return float(self.n_inner_pairs + self.graph.loop_slots.size)
        inside = float(self.graph.weights[~self.crosses].sum())
        return (inside + float(self.graph.weights[self.graph.loop_slots].sum())) / 2

    @property
    def total_weight(self) -> float:
        """Weight of all edges."""
        return self.inner_weight + self.cut_weight

    @cached_property
    def volumes(self) -> Floats:
        """Sum of the weighted degrees of each community, self-loops counted twice."""
        loops, weights = self.graph.loop_slots, self.graph.weights
        degrees: Floats = self.graph.degrees.copy()
        degrees[self.graph.indices[loops]] += 1.0 if weights is None else weights[loops]
        return np.bincount(self.labels, weights=degrees, minlength=self.k).astype(float)

    @cached_property
    def cuts(self) -> Floats:
        """Weight of the edges that leave each community."""
        ends = self.labels[self.graph.row_of_slot[self.crosses]]
        weights = None if self.graph.weights is None else self.graph.weights[self.crosses]
        return np.bincount(ends, weights=weights, minlength=self.k).astype(float)

    @property
    def performance(self) -> float:
        """Fraction of node pairs that are classified correctly."""
        pairs = self.n * (self.n - 1) // 2
        if pairs == 0:
            return 1.0
        inside = int((self.sizes * (self.sizes - 1) // 2).sum())
        return (self.n_inner_pairs + (pairs - inside - self.n_cut_pairs)) / pairs

    @property
    def coverage(self) -> float:
        """Fraction of edges inside communities, parallel edges counted each."""
        return (self.m - self.n_cut_edges) / self.m if self.m else 1.0

    def modularity(self, resolution: float) -> float:
        """Return the modularity at a resolution."""
        total = self.total_weight
        if total == 0:
            return 0.0
        shares = self.volumes / (2 * total)
        return float(self.inner_weight / total - resolution * (shares @ shares))

    @property
    def conductances(self) -> Floats:
        """Conductance of each community."""
        # Sums from both sides: subtracting from the total would lose all digits of a small rest.
        before = np.concatenate([[0.0], np.cumsum(self.volumes)])[:-1]
        after = np.concatenate([np.cumsum(self.volumes[::-1])[::-1], [0.0]])[1:]
        smaller = np.minimum(self.volumes, before + after)
        result: Floats = np.zeros(self.k)
        np.divide(self.cuts, smaller, out=result, where=smaller > 0)
        return result

    def scores(self, resolution: float) -> "Scores":
        """Return all scores."""
        conductances = self.conductances
        return Scores(
            k=self.k,
            performance=self.performance,
            coverage=self.coverage,
            modularity=self.modularity(resolution),
            cut_size=self.cut_weight,
            max_conductance=float(conductances.max(initial=0.0)),
            mean_conductance=float(conductances.mean()) if self.k else 0.0,
            sizes=tuple(sorted(self.sizes.tolist(), reverse=True)),
        )


class CommunityLinks(NamedTuple):
    """The edges between each two communities that are linked, and within each with edges.

    Attributes
    ----------
    ends : ndarray of int64, shape (pairs, 2)
        Numbers of two communities, the smaller first, or twice that of one; sorted.
    weight : ndarray of float
        Weight of the edges.
    edges : ndarray of int64
        Number of edges, parallel ones and self-loops counted each.
    adjacent : ndarray of int64
        Number of adjacent pairs of different nodes.
    """

    ends: Ints
    weight: Floats
    edges: Ints
    adjacent: Ints

    def between(self) -> "CommunityLinks":
        """Return the links between different communities only."""
        apart = self.ends[:, 0] < self.ends[:, 1]
        ends, weight, edges, adjacent = self
        return CommunityLinks(ends[apart], weight[apart], edges[apart], adjacent[apart])


def community_links(graph: Graph, labels: Ints) -> CommunityLinks:
    """Return the links within and between communities with numbers from 0 on.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> links = community_links(path, np.array([0, 1, 1, 1]))
    >>> links.ends.tolist(), links.edges.tolist()
    ([[0, 1], [1, 1]], [1, 2])
    """
    source, target, weight = graph.edges()
    counts = graph.multiplicity
    edges = None if counts is None else counts[graph.row_of_slot <= graph.indices]
    k = int(labels.max(initial=0)) + 1
    first, second = labels[source], labels[target]
    codes, pair = np.unique(
        np.minimum(first, second) * k + np.maximum(first, second), return_inverse=True
    )

    def total(values: Any) -> Any:
        return np.bincount(pair, weights=values, minlength=codes.size)

    ends = np.column_stack(np.divmod(codes, k))
    numbers = total(edges).astype(np.int64), total(source != target).astype(np.int64)
    return CommunityLinks(ends, total(weight), *numbers)


def label_graph(
    graph: Any, partition: Any, *, weight: str | None, symmetrize: Symmetrize | None
) -> LabeledGraph:
    """Return a graph and its labels from any of their accepted forms."""
    converted = as_graph(graph, weight=weight, symmetrize=symmetrize)
    return LabeledGraph(converted, as_labels(partition, converted))


def label_edges(graph: Any, partition: Any, *, symmetrize: Symmetrize | None) -> LabeledGraph:
    """Return a graph and its labels for scores that count edges and ignore weights."""
    # A Graph keeps its weights: a copy without them would lose what it has cached.
    weight = "weight" if isinstance(graph, Graph) else None
    return label_graph(graph, partition, weight=weight, symmetrize=symmetrize)


def check_resolution(resolution: object) -> float:
    """Return the resolution of a modularity, or raise unless it is a finite number."""
    hint = f"  Pass for instance {setting('resolution', 1.0)}."
    return check_real("resolution", resolution, hint=hint)


def performance(graph: Any, partition: Any, *, symmetrize: Symmetrize | None = None) -> float:
    r"""Return the fraction of node pairs that the partition classifies correctly.

    .. math:: \frac{\#\{\text{adjacent pairs inside}\} + \#\{\text{non-adjacent pairs between}\}}
        {n (n - 1) / 2}

    Parameters
    ----------
    graph : graph_like
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
    return label_edges(graph, partition, symmetrize=symmetrize).performance


def coverage(
    graph: Any, partition: Any, *, weight: str | None = None, symmetrize: Symmetrize | None = None
) -> float:
    """Return the fraction of the edges that lie within communities.

    Parameters
    ----------
    graph : graph_like
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
        return label_edges(graph, partition, symmetrize=symmetrize).coverage
    labeled = label_graph(graph, partition, weight=weight, symmetrize=symmetrize)
    total = labeled.total_weight
    return labeled.inner_weight / total if total > 0 else 1.0


def modularity(
    graph: Any,
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
    graph : graph_like
        Anything that :func:`kgroups.as_graph` takes.
    partition : partition_like
        Anything that :func:`kgroups.adapters.labels.as_labels` takes.
    weight : str or None
        Edge attribute that holds the weights; ``None`` counts every edge as 1.
    resolution : float
        Above 1 favors smaller communities, below 1 larger ones.
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
    labeled = label_graph(graph, partition, weight=weight, symmetrize=symmetrize)
    return labeled.modularity(gamma)


def cut_size(
    graph: Any,
    partition: Any,
    *,
    weight: str | None = "weight",
    symmetrize: Symmetrize | None = None,
) -> float:
    """Return the total weight of the edges between communities.

    Parameters
    ----------
    graph : graph_like
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
    return label_graph(graph, partition, weight=weight, symmetrize=symmetrize).cut_weight


def conductance(
    graph: Any,
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
    graph : graph_like
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
    return label_graph(graph, partition, weight=weight, symmetrize=symmetrize).conductances


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
        Weighted, at the given resolution.
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

    def _repr_html_(self) -> str:
        facts = [
            (name.replace("_", " "), value)
            for name, value in asdict(self).items()
            if name not in ("k", "sizes")
        ]
        head = f"Scores of {counted_communities(self.k, self.sizes.count(1))}"
        return html_result(head, [], html_facts(facts))


def scores(
    graph: Any,
    partition: Any,
    *,
    weight: str | None = "weight",
    resolution: float = 1.0,
    symmetrize: Symmetrize | None = None,
) -> Scores:
    """Return all scores of a partition.

    Parameters
    ----------
    graph : graph_like
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
    labeled = label_graph(graph, partition, weight=weight, symmetrize=symmetrize)
    return labeled.scores(gamma)
