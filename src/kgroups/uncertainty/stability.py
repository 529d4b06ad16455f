"""How stable communities are: whether they are found again if some of the edges are left out."""

import math
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import masked, readonly_view, row_lengths
from kgroups._output import html_lines, html_result, html_table
from kgroups._parallel import all_results, check_n_jobs
from kgroups._progress import Progress, check_progress
from kgroups._types import Bools, Floats, Indices, Ints
from kgroups._validation import RngLike, as_rng, check_integer, check_real
from kgroups._wording import and_more, argument, counted, counted_communities, in_python
from kgroups.detect import detect_communities
from kgroups.errors import InputError, KGroupsWarning, PartitionError
from kgroups.graph import Graph, canonical_order
from kgroups.metrics import ami, contingency, matched_cells
from kgroups.partition import Partition

__all__ = ["EdgeShares", "Stability", "stability_of"]

# Communities that the summary lists, and a notebook.
_MOST_SHOWN = 6
_MOST_ROWS = 20


class EdgeShares(NamedTuple):
    """How often the ends of each edge are together.

    Attributes
    ----------
    source, target : ndarray of int, shape (m,)
        Ends as places in the order of the nodes; edges are in the order of ``Graph.edges``, without
        self-loops and edges of weight 0.
    share : ndarray of float, shape (m,)
        Share of the resamples in which both ends are in one community.
    """

    source: Indices
    target: Indices
    share: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How stable the communities of a partition are; ``print(found)`` shows it in a few lines.

    :meth:`kgroups.Partition.stability` returns it. A resample is the graph without some of its
    edges, on which communities are found again and matched with those of the partition. A node that
    has lost all of its edges does not count in a resample.

    Attributes
    ----------
    nodes : ndarray of float, shape (n,), read-only
        Share of the resamples in which each node is in the community that is matched with its own;
        nan for nodes that count in none.
    communities : ndarray of float, shape (k,), read-only
        Mean over the resamples of the Jaccard similarity of each community and the one matched with
        it: their common nodes, divided by the nodes of either. It is 0 in a resample where none is
        matched, and nan if no node of the community counts in any.
    agreement : float
        Mean AMI between all pairs of resamples, over the nodes that count in both; nan if there
        are none. It does not depend on the partition.
    resamples : int
        Number of resamples.
    drop : float
        Probability with which each edge was left out.
    seed : int
        Seed of the random numbers.
    labels : ndarray of int, shape (n,)
        Community of each node in the partition.
    names : sequence of hashable
        Names of the nodes.
    known_edges : EdgeShares or None
        What :attr:`edges` returns; files do not keep it.

    Examples
    --------
    >>> import networkx as nx
    >>> import kgroups as kg
    >>> stability = kg.detect_communities(nx.ring_of_cliques(6, 5)).stability(resamples=4)
    >>> print(stability)
    Stability of 6 communities of 30 nodes, 4 resamples without 10 % of the edges
      two resamples agree with a mean AMI of 1.000
      30 nodes (100 %) stay with their community in at least 0.9 of the resamples
      communities: 1.00
    >>> len(stability.cores(0.9)), stability.outside(0.9)
    (6, ())
    """

    nodes: Floats
    communities: Floats
    agreement: float
    resamples: int
    drop: float
    seed: int
    labels: Ints
    names: Sequence[Hashable]
    known_edges: EdgeShares | None = None

    @property
    def edges(self) -> EdgeShares:
        """How often the ends of each edge are in one community."""
        if self.known_edges is None:
            msg = (
                "edges needs the graph, and files do not keep it.\n"
                "  Call partition.stability() on a partition with its graph."
            )
            raise PartitionError(msg)
        return self.known_edges

    def cores(self, threshold: float = 0.9) -> tuple[frozenset[Hashable], ...]:
        """Return the nodes of each community that stay with it.

        Parameters
        ----------
        threshold : float
            The least share of the resamples, from 0 to 1.

        Returns
        -------
        tuple of frozenset
            One set for each community, in their order; empty if none of its nodes stays.
        """
        inside = self._inside(threshold)
        cores: list[set[Hashable]] = [set() for _ in range(self.communities.size)]
        for i in np.flatnonzero(inside).tolist():
            cores[self.labels[i]].add(self.names[i])
        return tuple(frozenset(core) for core in cores)

    def outside(self, threshold: float = 0.9) -> tuple[Hashable, ...]:
        """Return the nodes that are in no core.

        Parameters
        ----------
        threshold : float
            As for :meth:`cores`.

        Returns
        -------
        tuple of hashable
            Their names, the least stable first and those that count in no resample last.
        """
        others = np.flatnonzero(~self._inside(threshold))
        order = others[np.argsort(self.nodes[others], kind="stable")]
        return tuple(self.names[i] for i in order.tolist())

    def _inside(self, threshold: float) -> Bools:
        """Return which nodes are in a core; nan is in none."""
        threshold = check_real("threshold", threshold, low=0.0, high=1.0)
        return np.asarray(self.nodes >= threshold)

    @property
    def sentence(self) -> str:
        """How stable the communities are, in a sentence."""
        stay, known = np.count_nonzero(self._inside(0.9)), np.count_nonzero(~np.isnan(self.nodes))
        if not known:
            return "No edges are left that could tell how stable the communities are."
        linked = "" if known == self.nodes.size else " that keep edges"
        agree = ""
        if not math.isnan(self.agreement):
            agree = f", and two resamples agree with a mean AMI of {self.agreement:.2f}"
            agree += " (1 is the same, 0 chance)"
        # Rounded down, so that not all nodes seem to stay when some do not.
        return (
            f"Without {100 * self.drop:g} % of the edges, {100 * stay // known} % of the nodes"
            f"{linked} stay with their community in at least 0.9 of {self.resamples} resamples"
            f"{agree}."
        )

    def lines(self) -> list[str]:
        """Return the summary: agreement of resamples, nodes that stay, the least stable."""
        known = int(np.count_nonzero(~np.isnan(self.nodes)))
        if not known:
            return [self.sentence.rstrip(".").lower()]
        stay = int(np.count_nonzero(self._inside(0.9)))
        # Rounded down, so that not all nodes seem to stay when some do not.
        share = f" ({100 * stay // known} %)"
        if known < self.nodes.size:
            share = f" of the {known} that keep edges{share}"
        lines = [
            f"two resamples agree with a mean AMI of {self.agreement:.3f}",
            f"{counted(stay, 'node')}{share} {'stays with its' if stay == 1 else 'stay with their'}"
            " community in at least 0.9 of the resamples",
        ]
        linked = np.flatnonzero(~np.isnan(self.communities))
        if linked.size:
            values = self.communities[linked]
            order = linked[np.argsort(values, kind="stable")][:_MOST_SHOWN]
            if np.unique(np.round(values, 2)).size == 1:
                lines.append(f"communities: {values[0]:.2f}")
            else:
                shown = ", ".join(f"{a} ({self.communities[a]:.2f})" for a in order.tolist())
                least = "communities, the least stable first"
                lines.append(f"{least}: {shown}{', ...' if linked.size > order.size else ''}")
        return lines

    def __str__(self) -> str:
        single = int(np.count_nonzero(np.bincount(self.labels) == 1))
        communities = counted_communities(self.communities.size, single)
        head = (
            f"Stability of {communities} of {counted(self.nodes.size, 'node')}, "
            f"{self.resamples} resamples without {100 * self.drop:g} % of the edges"
        )
        return "\n  ".join([head, *self.lines()])

    def __repr__(self) -> str:
        return (
            f"Stability(agreement={self.agreement:.3f}, resamples={self.resamples}, "
            f"drop={self.drop:g})"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the summary, and a row for each of the first communities.

        Single nodes have none, unless there is nothing else.
        """
        head, *lines = str(self).split("\n  ")
        sizes = np.bincount(self.labels)
        several = np.flatnonzero(sizes > 1)
        rows = several if several.size else np.arange(sizes.size)
        table = html_table(
            ["community", "nodes", "stability"],
            [
                [a, int(sizes[a]), "" if np.isnan(self.communities[a]) else self.communities[a]]
                for a in rows[:_MOST_ROWS].tolist()
            ],
        )
        return html_result(head, lines, table) + html_lines(and_more(rows.size, _MOST_ROWS))

    def to_dict(self) -> dict[str, Any]:
        """Return the stability as plain values that JSON can hold, without that of edges.

        Returns
        -------
        dict
            ``agreement``, ``resamples``, ``drop`` and ``seed``, and the lists ``nodes`` and
            ``communities`` with None for nan.
        """
        return {
            "agreement": None if math.isnan(self.agreement) else self.agreement,
            "resamples": self.resamples,
            "drop": self.drop,
            "seed": self.seed,
            "nodes": _without_nan(self.nodes),
            "communities": _without_nan(self.communities),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Stability":
        """Return what :meth:`to_dict` has made, validated; the partition sets labels and names."""
        agreement = values["agreement"]
        nodes, communities = (
            np.array([np.nan if value is None else value for value in values[name]], dtype=float)
            for name in ("nodes", "communities")
        )
        return cls(
            nodes,
            communities,
            math.nan if agreement is None else check_real("agreement", agreement, high=1.0),
            check_integer("resamples", values["resamples"]),
            check_real("drop", values["drop"], low=0.0, high=1.0),
            check_integer("seed", values["seed"], low=0),
            labels=np.zeros(0, np.int64),
            names=(),
        )

    def renumbered(self, before: Ints, after: Ints, names: Sequence[Hashable]) -> "Stability":
        """Return the same for labels ``after`` of the communities ``before``, validated."""
        old, first = np.unique(before, return_index=True)
        for what, values, size in (
            ("node", self.nodes, before.size),
            ("community", self.communities, old.size),
        ):
            # Comparisons with nan, for what counts in no resample, are false.
            if values.shape != (size,) or ((values < 0.0) | (values > 1.0)).any():
                msg = f"stability must have a number from 0 to 1 for each {what}, {size} in all."
                raise PartitionError(msg)
        communities = np.empty(old.size)
        communities[after[first]] = self.communities
        return replace(
            self,
            nodes=readonly_view(self.nodes.copy()),
            communities=readonly_view(communities),
            labels=after,
            names=names,
        )


def stability_of(
    partition: Partition,
    resamples: int = 10,
    drop: float = 0.1,
    *,
    rng: RngLike = None,
    n_jobs: int | None = None,
    progress: Progress = False,
) -> Stability:
    """Return the stability of a partition; see :meth:`kgroups.Partition.stability`."""
    resamples = check_integer("resamples", resamples, low=2)
    drop = check_real("drop", drop, low=0.0, high=1.0)
    if drop == 1.0:
        msg = (
            f"{argument('drop')} must be below 1, got {drop:g}: without edges there are no "
            "communities to find."
        )
        raise InputError(msg)
    check_n_jobs(n_jobs)
    check_progress(progress, "(done, total)")
    seed = _seed_of(rng)
    known = partition.known_stability
    if known is not None and (known.resamples, known.drop, known.seed) == (resamples, drop, seed):
        return known
    advice = f"Pass {in_python('Partition(labels, graph=kgroups.as_graph(graph))')}."
    if known is not None:
        advice += f"\n  It has {known!r}, in partition.known_stability."
    graph = partition._graph_for("stability()", advice)
    # In the order of the sorted names, so that the result does not depend on that of the input.
    order, _ = canonical_order(graph)
    order = np.arange(graph.n) if order is None else order
    ordered = graph.permuted(order, named=False)
    run = partial(_found_again, ordered, partition._found_with or {}, drop)
    # A larger number of resamples begins with the same ones.
    seeds = np.random.SeedSequence(seed).spawn(resamples)
    found = all_results(run, seeds, n_jobs, "resample", progress=progress)
    labels, linked = (np.stack(rows) for rows in zip(*found, strict=True))
    shares, jaccard = matched_shares(partition.labels[order], labels, linked)
    position = np.argsort(order)
    source, target, weight = graph.edges()
    proper = (source != target) & (weight > 0.0)
    source, target = source[proper], target[proper]
    together = edge_shares(labels, linked, position[source], position[target])
    return Stability(
        nodes=readonly_view(shares[position]),
        communities=readonly_view(jaccard),
        agreement=mean_agreement(labels, linked),
        resamples=resamples,
        drop=drop,
        seed=seed,
        labels=partition.labels,
        names=partition.nodes,
        known_edges=EdgeShares(*map(readonly_view, (source, target, together))),
    )


class Resample(NamedTuple):
    """The communities of a graph without some edges, and which nodes have an edge left."""

    labels: Ints
    linked: Bools


def resampled(graph: Graph, drop: float, rng: np.random.Generator) -> Graph:
    """Return the graph without edges that are left out with a probability, each as a whole.

    Self-loops stay.
    """
    row, column = graph.row_of_slot, graph.indices
    keep = row == column
    upper = np.flatnonzero(row < column)
    keep[upper] = rng.random(upper.size) >= drop
    # In the order of columns, then rows, are the slots of the same edges below the diagonal.
    keep |= keep[np.lexsort((row, column))]
    indptr, indices, weights = masked(graph.csr, keep)
    counts = graph.multiplicity
    return Graph(
        indptr,
        indices,
        weights if graph.is_weighted else None,
        multiplicity=None if counts is None else counts[keep],
    )


def _found_again(
    graph: Graph, settings: Mapping[str, Any], drop: float, seed: np.random.SeedSequence
) -> Resample:
    """Return the communities of a resample."""
    of_edges, of_detection = map(np.random.default_rng, seed.spawn(2))
    drawn = resampled(graph, drop, of_edges)
    with warnings.catch_warnings():
        # Warnings about the communities of a resample would repeat what the comparison shows.
        warnings.simplefilter("ignore", KGroupsWarning)
        partition = detect_communities(drawn, rng=of_detection, **settings)
    return Resample(partition.labels, row_lengths(drawn.simple_adjacency()) > 0)


def matched_shares(z: Ints, labels: Ints, linked: Bools) -> tuple[Floats, Floats]:
    """Return how often each node stays, and how similar each community is to those matched.

    ``z`` are the communities of the partition, and ``labels`` and ``linked`` have a row for each
    resample.
    """
    n, k = z.size, int(z.max(initial=-1)) + 1
    stays, counts = np.zeros(n), np.count_nonzero(linked, axis=0)
    similar, times = np.zeros(k), np.zeros(k)
    for of_resample, has_edges in zip(labels, linked, strict=True):
        nodes = np.flatnonzero(has_edges)
        own = np.unique(z[nodes])
        table = contingency(z[nodes], of_resample[nodes])
        cells = matched_cells(table)
        rows, columns, both = table.rows[cells], table.columns[cells], table.counts[cells]
        group = np.full(own.size, -1)
        group[rows] = columns
        place = np.searchsorted(own, z[nodes])
        stays[nodes] += np.unique(of_resample[nodes], return_inverse=True)[1] == group[place]
        similar[own[rows]] += both / (table.row_sums[rows] + table.column_sums[columns] - both)
        times[own] += 1
    return _ratio(stays, counts), _ratio(similar, times)


def edge_shares(labels: Ints, linked: Bools, source: Ints, target: Ints) -> Floats:
    """Return how often the ends of edges share a community where both have edges."""
    together, counts = np.zeros(source.size), np.zeros(source.size)
    for z, has_edges in zip(labels, linked, strict=True):
        both = has_edges[source] & has_edges[target]
        together += both & (z[source] == z[target])
        counts += both
    return _ratio(together, counts)


def mean_agreement(labels: Ints, linked: Bools) -> float:
    """Return the mean AMI between all pairs of rows, over the nodes that have edges in both.

    It is nan where no pair has two such nodes.
    """
    values = []
    for a, b in combinations(range(len(labels)), 2):
        both = linked[a] & linked[b]
        if np.count_nonzero(both) > 1:
            values.append(ami(labels[a][both], labels[b][both]))
    return float(np.mean(values)) if values else math.nan


def _ratio(part: Floats, whole: Any) -> Floats:
    """Return nan where nothing counts."""
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def _seed_of(rng: RngLike) -> int:
    """Return a number that repeats the random numbers; None is 0."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    as_rng(rng)
    return 0 if rng is None else int(rng)


def _without_nan(values: Floats) -> list[float | None]:
    """Return a list for JSON, which has no nan."""
    return [None if np.isnan(value) else value for value in values.tolist()]
