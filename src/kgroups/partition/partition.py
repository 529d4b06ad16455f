"""The partition that detection returns: a frozen sequence of communities."""

import os
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np
import numpy.typing as npt

import kgroups as kg
from kgroups._csr import rows_of
from kgroups._output import check_page, require_matplotlib, write_atomically
from kgroups._progress import Progress, StageProgress, interrupts_restored, stage_progress
from kgroups._types import Bools, Floats, Ints
from kgroups._validation import RngLike, check_real
from kgroups._wording import counted, counted_communities, in_python, shown_name
from kgroups.adapters import MAX_EXPANSION, as_graph, check_length, positions_of, read_labeling
from kgroups.errors import InputError, InstabilityWarning, PartitionError, warn_caller
from kgroups.graph import Graph
from kgroups.inference.confidence import Confidence, confidence_of_labels
from kgroups.partition.files import (
    check_same_nodes,
    decode,
    encode,
    in_graph_order,
    not_a_partition,
)
from kgroups.partition.tables import (
    Comparison,
    Summary,
    compared,
    node_table,
    overview,
    partition_html,
    quotient,
    summary_of,
)
from kgroups.report import Report, spectrum_shows
from kgroups.scoring import Scores, scores
from kgroups.search import prepare
from kgroups.spectrum import Spectrum, spectrum_of_graph

if TYPE_CHECKING:
    from kgroups.partition.levels import Levels
    from kgroups.uncertainty import KDistribution, Stability

Community = frozenset[Hashable]

# Limits of the repr.
_SIZES_SHOWN = 6
_LINE_WIDTH = 98
# Nodes with at least this confidence should stay in at least this share of the resamples.
_SURE = 0.9
_HINT = "other scales: partition.levels(); how sure and stable: partition.summary(full=True)"
# Larger graphs are drawn as the graph of their communities.
_MOST_NODES_DRAWN = 5000
# igraph.Graph.from_networkx keeps the networkx names under the second attribute.
_IGRAPH_NAMES = ("name", "_nx_name")


class Membership(dict[Hashable, int]):
    """A read-only ``dict``; ``dict(membership)`` and ``copy()`` return one that can be changed.

    Unlike ``types.MappingProxyType`` it can be pickled, and written as JSON.

    Examples
    --------
    >>> membership = Membership({"ann": 0, "bob": 1})
    >>> membership["bob"], dict(membership) == membership
    (1, True)
    >>> membership["ann"] = 1
    Traceback (most recent call last):
    ...
    TypeError: the membership of a partition cannot be changed; dict(membership) copies it.
    """

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        msg = "the membership of a partition cannot be changed; dict(membership) copies it."
        raise TypeError(msg)

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Membership, (dict(self),)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Partition(Sequence[Community]):
    """Nodes split into communities: a sequence of sets, the largest first.

    Functions that take a list of sets of nodes, such as those of networkx, also take a Partition.
    Communities of the same size are in the order of their least names, or of their first nodes if
    names cannot be sorted.

    Parameters
    ----------
    labels : array_like of int, shape (n,)
        Community of each node, under any numbers; they are renumbered.
    nodes : sequence of hashable, optional
        Names of the nodes, each once; ``None`` for those of the graph, or ``range(n)``.
    graph : Graph, optional
        The graph that was partitioned. Needed by :meth:`scores`, :meth:`plot`, :meth:`to_html`,
        :meth:`confidence`, :meth:`levels`, :meth:`stability`, :attr:`disconnected` and
        ``to_igraph()``.
    spectrum : Spectrum or callable, optional
        The eigenvalues that show how many communities there are, or a function that computes them.
        By default they are computed from the graph, with the default operator, at the first access.
    report : Report, optional
        What happened on the way to this partition.
    uninformed : iterable of hashable, optional
        Nodes whose community says nothing about them: with ``k`` given, isolated nodes and
        components without signal join the largest community.
    confidence : Confidence, optional
        Probabilities of these communities that were computed before, with the numbers of
        ``labels``; by default they are computed from the graph by :meth:`confidence`.
    stability : Stability, optional
        Stability of these communities, if it was computed before, in the order of their numbers.

    Attributes
    ----------
    labels : ndarray of int64, read-only
        Community of each node, in node order; community 0 is the largest.
    nodes : sequence of hashable
        Names in node order.
    graph, report
        As given, or None.
    uninformed : tuple of hashable
        As given.
    known_confidence : Confidence or None
        The probabilities if they were computed, given or loaded; nothing is computed.
    known_levels : Levels or None
        What :meth:`levels` has returned, if it was called.
    known_k_distribution : KDistribution or None
        What :meth:`k_distribution` has returned, if it was called.
    known_stability : Stability or None
        What :meth:`stability` has returned last, or was loaded.

    Notes
    -----
    A Partition cannot be changed. Two are equal when they put the same nodes into the same
    communities, whatever the order of the nodes and the numbers of the communities; graph,
    spectrum and report are not compared.

    Examples
    --------
    >>> partition = Partition([7, 3, 3], nodes=["ann", "bob", "cat"])
    >>> partition
    Partition(1 community and 1 single node, 3 nodes in all, sizes 2)
    >>> sorted(partition[0])
    ['bob', 'cat']
    >>> partition.labels
    array([1, 0, 0])
    >>> partition.membership["ann"]
    1
    """

    labels: Ints
    nodes: Sequence[Hashable]
    graph: Graph | None
    report: Report | None
    uninformed: tuple[Hashable, ...]
    known_confidence: Confidence | None
    known_levels: "Levels | None"
    known_k_distribution: "KDistribution | None"
    known_stability: "Stability | None"
    # The settings of the detection that has found this partition.
    _found_with: Mapping[str, Any] | None
    _spectrum: Spectrum | Callable[[Graph], Spectrum] | None

    def __init__(
        self,
        labels: npt.ArrayLike,
        nodes: Sequence[Hashable] | None = None,
        *,
        graph: Graph | None = None,
        spectrum: Spectrum | Callable[[Graph], Spectrum] | None = None,
        report: Report | None = None,
        uninformed: Collection[Hashable] = (),
        confidence: Confidence | None = None,
        stability: "Stability | None" = None,
    ) -> None:
        if graph is not None and not isinstance(graph, Graph):
            msg = (
                f"graph must be a kgroups.Graph, got {type(graph).__module__}."
                f"{type(graph).__qualname__}.\n  Pass "
                f"{in_python('graph=kgroups.as_graph(graph)')}."
            )
            raise InputError(msg)
        z = _checked_labels(labels)
        names = _checked_nodes(nodes, graph, z.size)
        without_signal = tuple(uninformed)
        _check_uninformed(without_signal, names)
        renumbered = _largest_first(z, names)
        # The fields of a frozen object are set past its __setattr__.
        vars(self).update(
            labels=renumbered,
            nodes=names,
            known_confidence=(
                None if confidence is None else confidence.renumbered(z, renumbered, names)
            ),
            known_levels=None,
            known_k_distribution=None,
            known_stability=(
                None if stability is None else stability.renumbered(z, renumbered, names)
            ),
            _found_with=None,
            graph=graph,
            _spectrum=spectrum,
            report=report,
            uninformed=without_signal,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        rebuild = partial(
            Partition,
            graph=self.graph,
            spectrum=self._spectrum,
            report=self.report,
            uninformed=self.uninformed,
            confidence=self.known_confidence,
            stability=self.known_stability,
        )
        kept = ("_found_with", "known_k_distribution")
        return rebuild, (self.labels, self.nodes), {name: vars(self)[name] for name in kept}

    @property
    def k(self) -> int:
        """Number of communities."""
        return self.sizes.size

    @property
    def spectrum(self) -> Spectrum:
        """The eigenvalues around the threshold, and k at the three choices of r.

        Computed at the first access, as :func:`kgroups.estimate_k` does, which on large graphs
        takes longer than detection. A partition from a file has the spectrum that was saved with
        it; without one, and without a graph, this raises ``PartitionError``.
        """
        known = self.known_spectrum
        if known is None:
            advice = (
                "Use partition.spectrum before saving the partition as .json, which keeps it, or "
                "call kgroups.estimate_k(graph)."
            )
            graph = self._graph_for("spectrum", advice)
            compute = self._spectrum if callable(self._spectrum) else spectrum_of_graph
            known = compute(graph)
            issued = {type(warning) for warning in self.report.warnings} if self.report else ()
            warn_caller(warning for warning in known.warnings if type(warning) not in issued)
            vars(self)["_spectrum"] = known
        return known

    @property
    def known_spectrum(self) -> Spectrum | None:
        """The spectrum if it was computed or loaded, else None; nothing is computed."""
        return self._spectrum if isinstance(self._spectrum, Spectrum) else None

    @cached_property
    def sizes(self) -> Ints:
        """Number of nodes of each community, largest first."""
        sizes = np.bincount(self.labels).astype(np.int64)
        sizes.flags.writeable = False
        return sizes

    @cached_property
    def membership(self) -> Membership:
        """Community of each node by its name; read-only, ``dict(...)`` copies it."""
        return Membership(zip(self.nodes, self.labels.tolist(), strict=True))

    @cached_property
    def disconnected(self) -> tuple[Community, ...]:
        """The communities whose induced subgraph is not connected.

        Edges of weight 0 connect nothing.
        """
        from scipy.sparse import coo_array, csgraph

        adjacency = self._graph_for("disconnected").simple_adjacency()
        ends = np.stack([rows_of(adjacency), adjacency.indices])
        i, j = ends[:, self.labels[ends[0]] == self.labels[ends[1]]]
        n = self.labels.size
        pieces = csgraph.connected_components(coo_array((np.ones(i.size), (i, j)), (n, n)))[1]
        first_of_piece = np.unique(pieces, return_index=True)[1]
        pieces_of = np.bincount(self.labels[first_of_piece], minlength=self.k)
        return tuple(self[int(a)] for a in np.flatnonzero(pieces_of > 1))

    @cached_property
    def _communities(self) -> tuple[Community, ...]:
        order = np.argsort(self.labels, kind="stable").tolist()
        names = self.nodes
        ordered = order if names == range(len(order)) else [names[i] for i in order]
        bounds = [0, *np.cumsum(self.sizes).tolist()]
        return tuple(frozenset(ordered[start:end]) for start, end in pairwise(bounds))

    def scores(self, *, resolution: float = 1.0) -> Scores:
        """Return modularity, coverage, performance and others on the graph of this partition.

        Parameters
        ----------
        resolution : float
            Resolution of the modularity.

        Returns
        -------
        Scores
            As :func:`kgroups.scoring.scores` gives for this graph.
        """
        return scores(self._graph_for("scores()"), self, resolution=resolution)

    def confidence(self, *, progress: Progress = False) -> Floats:
        """Return how probable the community of each node is, given the model and k.

        Each community has its own rate of edges inside, and there is one rate between communities.
        Probabilities come from belief propagation, or from Gibbs sampling where entries of the
        matrix times communities exceed 5e7. They are computed at the first call and kept.

        Parameters
        ----------
        progress : bool or callable
            ``True`` draws a bar; a function receives the sweeps done and their largest number.

        Returns
        -------
        ndarray of shape (n,), read-only
            In node order. 1 in communities that are whole components of the graph, such as nodes
            without edges, and if there is one community.

        Notes
        -----
        This says how clearly the edges assign a node if the communities are as the model assumes,
        not how often labels from elsewhere agree.

        Examples
        --------
        >>> import networkx as nx
        >>> import kgroups as kg
        >>> partition = kg.detect_communities(nx.barbell_graph(6, 1))
        >>> bool(partition.confidence().min() > 0.5)
        True
        """
        return self._confidence(progress).own

    def runner_up(self, *, progress: Progress = False) -> Ints:
        """Return the most probable other community of each node, -1 if there is no other.

        Parameters
        ----------
        progress : bool or callable
            As in :meth:`confidence`, which computes it.

        Returns
        -------
        ndarray of int64, shape (n,), read-only
            Numbers of communities, in node order.
        """
        return self._confidence(progress).runner_up

    def boundary(
        self, threshold: float = 0.9, *, progress: Progress = False
    ) -> tuple[Hashable, ...]:
        """Return the nodes whose community is less probable than a threshold.

        Parameters
        ----------
        threshold : float
            From 0 to 1.
        progress : bool or callable
            As in :meth:`confidence`.

        Returns
        -------
        tuple of hashable
            Names of the nodes, the least probable first.
        """
        threshold = check_real("threshold", threshold, low=0.0, high=1.0)
        sure = self.confidence(progress=progress)
        order = np.argsort(sure, kind="stable")[: np.count_nonzero(sure < threshold)]
        return tuple(self.nodes[i] for i in order.tolist())

    def _confidence(self, progress: Progress) -> Confidence:
        known = self.known_confidence
        if known is None:
            graph = self._graph_for("confidence()")
            with interrupts_restored():
                known = confidence_of_labels(prepare(graph), self.labels, progress=progress)
            vars(self)["known_confidence"] = known
            warn_caller(self._instability())
        return known

    def levels(self, *, progress: StageProgress = False) -> "Levels":
        """Return this partition among those of the same graph at finer and coarser scales.

        They are computed at the first call and kept. The number of levels is found, too: a graph
        without structure at other scales has one, which is this partition.

        Parameters
        ----------
        progress : bool or callable
            ``True`` names the stages on a terminal; a function receives the name of each.

        Returns
        -------
        Levels
            A sequence of partitions, the finest first, of which ``levels[levels.returned]`` is this
            one; with the nats and the parents of each, as a table, a picture and a dendrogram.

        Notes
        -----
        The log-likelihood is divided by the dispersion of the report; labels from elsewhere have no
        report, and count every edge in full. The search that looks for them has its default
        settings. Neither :meth:`save` nor pickling keeps the levels.

        Examples
        --------
        >>> import networkx as nx
        >>> import kgroups as kg
        >>> partition = kg.detect_communities(nx.ring_of_cliques(6, 5))
        >>> levels = partition.levels()
        >>> levels[levels.returned] is partition
        True
        """
        if self.known_levels is None:
            from kgroups.partition.levels import levels_of

            return levels_of(self, self._graph_for("levels()"), progress)
        return self.known_levels

    def stability(
        self,
        resamples: int = 10,
        drop: float = 0.1,
        *,
        rng: RngLike = None,
        n_jobs: int | None = None,
        progress: Progress = False,
    ) -> "Stability":
        """Return whether the communities are found again if some of the edges are left out.

        Communities are found in ``resamples`` copies of the graph, each without about a share
        ``drop`` of its edges, and matched one to one with those of this partition, as in
        :meth:`compare`. The result is kept until other arguments are given.

        Parameters
        ----------
        resamples : int
            Number of copies, 2 or more.
        drop : float
            Probability with which a copy lacks an edge, below 1. A weighted edge, or parallel
            edges, are left out as a whole. Self-loops stay.
        rng : int, Generator or None
            Randomness of the copies and of the detections; ``None`` is a fixed stream.
        n_jobs : int, optional
            Number of processes, -1 for one per core; needs the extra ``study``. The result does
            not depend on it.
        progress : bool or callable
            ``True`` draws a bar; a function receives the copies done and their number.

        Returns
        -------
        Stability
            Shares of nodes, edges and communities, a number for the whole, and the cores.

        Notes
        -----
        Each copy is searched from scratch, in a random order of its nodes, with the settings by
        which this partition was found: operator, method, init, refine, self-loops, and ``k`` if it
        was given. A level of
        :meth:`levels` other than the one returned is found again with its number of communities.
        A start from given labels is not repeated, because it would carry them over. Labels from
        elsewhere, from a file or from :func:`kgroups.refine_partition` are compared with what
        :func:`kgroups.detect_communities` finds by default.

        Confidence is given the model, stability is without it. If confidence is known, too, there
        is an :class:`~kgroups.errors.InstabilityWarning` where nodes with a confidence of at least
        0.9 stay in less than that share of the resamples, on average: then the partition is in
        doubt. Stability says what is found again, not that it is all there is: communities that
        are too faint to be told apart are found as one again and again.

        Examples
        --------
        >>> import networkx as nx
        >>> import kgroups as kg
        >>> partition = kg.detect_communities(nx.karate_club_graph())
        >>> stability = partition.stability(resamples=4)
        >>> stability.nodes.shape, stability.communities.shape
        ((34,), (2,))
        """
        from kgroups.uncertainty.stability import stability_of

        with interrupts_restored():
            found = stability_of(self, resamples, drop, rng=rng, n_jobs=n_jobs, progress=progress)
        if found is not self.known_stability:
            vars(self)["known_stability"] = found
            warn_caller(self._instability())
        return found

    def _stability_in_stages(self, begin: Callable[[str], None]) -> None:
        """Compute the stability, with its progress as names of stages."""
        begin("computing stability")
        self.stability(progress=lambda done, most: begin(f"computing stability: {done} of {most}"))

    def _instability(self) -> tuple[InstabilityWarning, ...]:
        """Return a warning if stability, where it is known, contradicts confidence.

        Nodes that are each in their community with a probability of at least 0.9 should stay
        there in at least that share of the resamples, on average.
        """
        if self.known_confidence is None or self.known_stability is None:
            return ()
        nodes = self.known_stability.nodes
        sure = (self.known_confidence.own >= _SURE) & ~np.isnan(nodes)
        stay = float(nodes[sure].mean()) if sure.any() else 1.0
        if stay >= _SURE:
            return ()
        are = counted(int(np.count_nonzero(sure)), "node has", "nodes have")
        msg = (
            "the communities are less certain than the confidence says, which is given the model: "
            f"{are} a confidence of at least {_SURE:g}, but on average they stay with their "
            f"communities in {stay:.2f} of the resamples."
        )
        return (InstabilityWarning(msg),)

    def k_distribution(self, *, progress: StageProgress = False) -> "KDistribution":
        """Return how probable each number of communities of the graph is.

        Computed at the first call and kept, as by :func:`kgroups.k_distribution` with its defaults:
        detection runs again with its default settings, whatever this partition was found with.

        Parameters
        ----------
        progress : bool or callable
            ``True`` names the stages on a terminal; a function receives the name of each.

        Returns
        -------
        KDistribution
            Prints as a short summary.

        Examples
        --------
        >>> import networkx as nx
        >>> import kgroups as kg
        >>> kg.detect_communities(nx.ring_of_cliques(6, 5)).k_distribution().k
        6
        """
        if self.known_k_distribution is None:
            found = kg.k_distribution(self._graph_for("k_distribution()"), progress=progress)
            vars(self)["known_k_distribution"] = found
        known: KDistribution = vars(self)["known_k_distribution"]
        return known

    def to_igraph(self, graph: Any = None) -> Any:
        """Return the partition as an ``igraph.VertexClustering``.

        Parameters
        ----------
        graph : igraph.Graph, optional
            The graph to put it on; vertices are matched by name, or by number when the nodes of
            the partition are numbers from 0 on. By default the graph is rebuilt with names and
            weights; parallel edges become one edge with the sum of their weights.

        Returns
        -------
        igraph.VertexClustering
            Its modularity uses the edge attribute ``"weight"`` where there is one.
        """
        import igraph

        if graph is None:
            graph = self._graph_for("to_igraph()").to_igraph()
        weights = "weight" if "weight" in graph.es.attributes() else None
        return igraph.VertexClustering(
            graph,
            membership=_labels_of_vertices(graph, self.membership),
            modularity_params={"weights": weights},
        )

    def annotate(self, graph: Any, name: str = "community") -> None:
        """Write the community of each node into a networkx or igraph graph or AnnData, in place.

        Parameters
        ----------
        graph : networkx.Graph, igraph.Graph or anndata.AnnData
            A graph with the nodes of this partition, neither more nor fewer. The nodes of an
            AnnData are its ``obs_names``.
        name : str
            Node attribute to set; the values are plain ints, which every file format can store.
            In an AnnData it is a categorical column of ``obs`` with the categories ``"0"``,
            ``"1"``, ..., and each of the levels, if they were computed, is a further one, such as
            ``community_k12`` for the one of 12 communities.
        """
        packages = {parent.__module__.partition(".")[0] for parent in type(graph).__mro__}
        if "networkx" in packages:
            check_same_nodes(self.nodes, graph.nodes, "the partition", "partition")
            for node, community in self.membership.items():
                graph.nodes[node][name] = community
        elif "igraph" in packages:
            graph.vs[name] = _labels_of_vertices(graph, self.membership)
        elif "anndata" in packages:
            cells = graph.obs_names.tolist()
            check_same_nodes(self.nodes, cells, "the partition", "partition")
            columns = {name: self}
            if self.known_levels is not None:
                levels = zip(self.known_levels.names, self.known_levels, strict=True)
                columns |= {f"{name}_{level_name}": level for level_name, level in levels}
            for column, partition in columns.items():
                graph.obs[column] = _categories(partition, cells)
        else:
            msg = (
                "annotate() writes into a networkx or igraph graph or an AnnData, got "
                f"{type(graph).__module__}.{type(graph).__qualname__}.\n"
                "  partition.membership and partition.labels hold the same for any other use."
            )
            raise InputError(msg)

    def to_dataframe(self, columns: Sequence[str] | None = None) -> Any:
        """Return a pandas DataFrame with a row per node; needs the extra ``study``.

        Parameters
        ----------
        columns : sequence of str, optional
            Any of ``"node"``, ``"community"``, ``"degree"``, ``"inside"`` (the part of the degree
            that goes to the own community), ``"confidence"``, ``"runner_up"`` and ``"stability"``
            (the share of the resamples; what :meth:`stability` has returned last, or returns by
            default). By default the first four, or without a graph the first two.

        Returns
        -------
        pandas.DataFrame
            In node order.

        Examples
        --------
        >>> print(Partition([7, 3, 3], nodes=["ann", "bob", "cat"]).to_dataframe())
          node  community
        0  ann          1
        1  bob          0
        2  cat          0
        """
        return node_table(self, columns)

    def to_networkx(self, name: str = "community") -> Any:
        """Return the graph as a ``networkx.Graph`` with the community of each node.

        Parameters
        ----------
        name : str
            Node attribute that holds the number of the community.

        Returns
        -------
        networkx.Graph
            A new graph, as ``Graph.to_networkx`` makes it. :meth:`annotate` writes into a graph
            that you have.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1], [1, 2])
        >>> Partition([0, 0, 1], graph=path).to_networkx().nodes(data="community")
        NodeDataView({0: 0, 1: 0, 2: 1}, data='community')
        """
        G = self._graph_for("to_networkx()").to_networkx()
        self.annotate(G, name)
        return G

    def quotient_graph(self) -> Any:
        """Return the graph of communities as a ``networkx.Graph``.

        Returns
        -------
        networkx.Graph
            Nodes are the numbers of the communities, with the attributes ``size`` (number of
            nodes), ``edges`` (number of edges inside) and ``inside`` (their weight). Two
            communities are linked if there are edges between them; ``edges`` is the number and
            ``weight`` the weight of these. There are no self-loops.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1], [1, 2])
        >>> Q = Partition([0, 0, 1], graph=path).quotient_graph()
        >>> Q.nodes[0]
        {'size': 2, 'inside': 1.0, 'edges': 1}
        >>> Q.edges[0, 1]
        {'weight': 1.0, 'edges': 1}
        """
        return quotient(self, self._graph_for("quotient_graph()"))

    def summary(self, *, full: bool = False, progress: StageProgress = False) -> Summary:
        """Return a row per community, the largest first, and the whole in sentences.

        Parameters
        ----------
        full : bool
            Whether to compute what is not known yet: :meth:`levels`, :meth:`k_distribution`,
            :meth:`stability` and :attr:`spectrum`. That takes some tens of times as long as
            detection. Otherwise nothing is computed.
        progress : bool or callable
            ``True`` names the stages on a terminal; a function receives the name of each.

        Returns
        -------
        Summary
            A list of dict with ``community`` and ``nodes``; with a graph also ``inside`` and
            ``outside`` (weight of the edges within the community and to others), ``density``
            (share of the pairs of its nodes that are linked), ``conductance`` and ``hub``, the
            node with most weight inside. ``pandas.DataFrame`` takes the list as it is. Printed, it
            begins with sentences: how many communities there are, at which scales, how sure their
            number is, how stable they are, and what speaks against them.

        Examples
        --------
        >>> Partition([7, 3, 3]).summary()
        [{'community': 0, 'nodes': 2}, {'community': 1, 'nodes': 1}]
        >>> print(Partition([7, 3, 3]).summary())
        1 community of 2 nodes and 1 single node, 2 in all, by the labels given.
        <BLANKLINE>
        community  nodes
                0      2
                1      1
        """
        if full:
            self._graph_for("summary(full=True)")
            with stage_progress(progress=progress) as begin:
                self.levels(progress=begin)
                self.k_distribution(progress=begin)
                self._stability_in_stages(begin)
                begin("counting eigenvalues")
                _ = self.spectrum
        return summary_of(self)

    def compare(self, other: Any) -> Comparison:
        """Return how much another partition of the same nodes agrees with this one.

        Parameters
        ----------
        other : partition_like
            A Partition, a sequence of sets, a dict from node to label, one label per node in node
            order, or an igraph clustering. Its communities are numbered by size, as here.

        Returns
        -------
        Comparison
            AMI, NMI, adjusted Rand index, variation of information, the share of nodes that match,
            the nodes that each two communities share, and a picture of these.

        Raises
        ------
        PartitionError
            If the nodes are not the same.

        Examples
        --------
        >>> comparison = Partition([0, 0, 1, 1]).compare([{0, 1}, {2}, {3}])
        >>> round(comparison.nmi, 3)
        0.8
        >>> comparison.flows()[0]
        {'community': 0, 'other': 0, 'nodes': 2}
        """
        given = read_labeling(other)
        z = given.codes
        if given.nodes is None:
            check_length(z.size, self.labels.size, "node of the partition")
        else:
            z = np.empty(self.labels.size, np.int64)
            z[positions_of(given.nodes, self.nodes, "the one that it is compared with")] = (
                given.codes
            )
        return compared(self, Partition(z, self.nodes, graph=self.graph))

    def plot(
        self,
        ax: Any = None,
        *,
        layout: Any = None,
        names: Collection[Hashable] | None = None,
        node_size: Any = 1.0,
        palette: Any = None,
        title: str | None = None,
    ) -> Any:
        """Draw the graph with its communities in colors; needs the extra ``plot``.

        Graphs of more than 5,000 nodes are drawn as the graph of their communities, unless a
        layout is given.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        layout : array of shape (n, 2) or mapping of node to (x, y), optional
            Positions of the nodes; computed when not given, the same at each call.
        names : collection of hashable, optional
            Nodes whose names are written, as long as they do not cover one another; by default all
            of a graph of up to 40 nodes.
        node_size : float, array of shape (n,) or mapping of node to float
            Factor on the areas of the nodes, which grow with their degrees; or one area per node,
            relative to each other.
        palette : str or collection of colors, optional
            Name of a matplotlib colormap, or colors. By default twelve colors that readers with
            color blindness can tell apart, and gray for communities of one node.
        title : str, optional
            Written above the picture.

        Returns
        -------
        matplotlib Axes
            The axes drawn on.

        Notes
        -----
        Other pictures of a partition are in ``kgroups.plotting``: the sorted matrix, sizes,
        confidence, and how two partitions differ.
        """
        from kgroups.plotting import plot_communities, plot_graph

        graph = self._graph_for("plot()")
        shown = {"names": names, "node_size": node_size, "palette": palette, "title": title}
        if graph.n > _MOST_NODES_DRAWN and layout is None:
            return plot_communities(self, ax=ax, **shown)
        return plot_graph(self, ax=ax, layout=layout, **shown)

    def plot_spectrum(self, ax: Any = None) -> Any:
        """Draw the eigenvalues around the threshold; needs the extra ``plot``.

        They are computed at the first use, as :attr:`spectrum` does, for graphs of any size.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
            The axes drawn on.
        """
        from kgroups.plotting import plot_spectrum

        require_matplotlib()
        return plot_spectrum(self.spectrum, ax=ax)

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        spectrum: bool | None = None,
        confidence: bool | None = None,
        levels: bool | None = None,
        uncertainty: bool | None = None,
        progress: StageProgress = False,
    ) -> None:
        """Write an interactive report, one file that opens offline.

        Parameters
        ----------
        path : str or path
            A name that ends in ``.html`` or ``.htm``. The file is written whole or not at all.
        title : str, optional
            Heading of the page; by default the name of the graph, if it has one: that of a
            networkx graph (``G.name``), an igraph graph (``g["name"]``), a file or a dataset.
        spectrum : bool, optional
            Whether the eigenvalues are shown. By default if they are known or the graph has at
            most 1,000 nodes; computing them can take much longer than detection.
        confidence : bool, optional
            Whether :meth:`confidence` is shown. By default if it is known or the graph has at
            most 1,000 nodes.
        levels : bool, optional
            Whether the reader can switch between :meth:`levels`. By default if they are known or
            the graph has at most 50,000 nodes.
        uncertainty : bool, optional
            Whether :meth:`k_distribution` and :meth:`stability` are computed. By default if the
            graph has at most 1,000 nodes; what is known is shown.
        progress : bool or callable
            ``True`` names the stages on a terminal; a function receives the name of each.

        Notes
        -----
        The page draws up to 1,000 nodes, beyond that the graph of the communities, whose nodes
        appear when the reader zooms in or chooses one; beyond 100,000 nodes it holds communities
        only. Communities of one node are one entry. The same graph and labels give the same file,
        byte for byte. Names of nodes are shown as text, whatever they contain.

        Examples
        --------
        >>> import networkx as nx
        >>> import kgroups as kg
        >>> partition = kg.detect_communities(nx.karate_club_graph())
        >>> partition.to_html("karate.html", title="Karate club")  # doctest: +SKIP
        """
        from kgroups.page import page_content

        graph = self._graph_for("to_html()")
        check_page(path)
        content = page_content(
            self,
            graph,
            title=title,
            spectrum=spectrum,
            confidence=confidence,
            levels=levels,
            uncertainty=uncertainty,
            progress=progress,
        )
        write_atomically(path, content)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the partition to a file, whole or not at all.

        Parameters
        ----------
        path : str or path
            The suffix sets the format. ``.json`` keeps node names of type int, str, float, bool,
            None and tuple with their types, the uninformed nodes, and the spectrum, the confidence
            and the stability of nodes and communities if they were computed. ``.csv`` and
            ``.parquet`` (needs the extra ``parquet``) are tables with the columns ``node`` and
            ``community`` for names that are all int or all str. After a call of
            :meth:`confidence` also ``confidence`` and ``runner_up``, and after one of
            :meth:`stability` also ``stability``, which :meth:`load` does not read.
            ``.json.gz`` and ``.csv.gz`` are compressed. ``.gml``, ``.graphml`` and ``.gexf`` are
            for other programs, such as Gephi: the graph, with weights and the node attribute
            ``community``, for names that are int or str; ``confidence``, ``runner_up`` and
            ``stability``, where they were computed, are attributes, too.

        Notes
        -----
        Only graph files contain the graph; for the others, pass it to :meth:`load`. No file
        contains the report. Names of NumPy number types come back as the Python numbers they are
        equal to, and in ``.csv`` names that all look like whole numbers come back as int. ``.csv``
        holds six digits of the confidence. A file that is replaced keeps its permissions. ``.csv``
        holds names as they are: one such as ``=1+2`` is quoted, but most spreadsheets still treat
        it as a formula.
        """
        write_atomically(path, encode(self, path))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        graph: Any = None,
        max_expansion: float = MAX_EXPANSION,
    ) -> "Partition":
        """Read a partition that :meth:`save` wrote, or a table with its columns.

        Parameters
        ----------
        path : str or path
            A file that ends in ``.json``, ``.csv`` or ``.parquet``, or the first two with ``.gz``.
        graph : graph-like, optional
            The graph that was partitioned: anything that :func:`kgroups.as_graph` takes, with
            weights read as it does by default. Nodes are matched by name, or by the text of names
            that differ only in their types. The partition can then be plotted, scored and examined
            like one that was detected.
        max_expansion : float
            Times its own size to which a compressed file may expand, as in
            :func:`kgroups.read_graph`.

        Returns
        -------
        Partition
            Equal to the one saved; it has no report, and the graph only if that is given, with
            its nodes in the order of the graph. Confidence that a ``.json`` file holds is returned
            by :meth:`confidence` and :meth:`runner_up`, and stability is in ``known_stability``.

        Raises
        ------
        FileFormatError
            If the file does not hold a partition; the message names the place.
        PartitionError
            If the graph has other nodes.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import networkx as nx
        >>> import kgroups as kg
        >>> G = nx.karate_club_graph()
        >>> with TemporaryDirectory() as folder:
        ...     kg.detect_communities(G).save(Path(folder, "karate.csv"))
        ...     partition = kg.Partition.load(Path(folder, "karate.csv"), graph=G)
        >>> round(partition.scores().coverage, 3)
        0.872
        """
        try:
            loaded = cls(**decode(path, max_expansion))
        except PartitionError as error:
            raise not_a_partition(path, str(error)) from error
        if graph is None:
            return loaded
        return cls(**in_graph_order(loaded, as_graph(graph), path))

    def _graph_for(self, what: str, advice: str | None = None) -> Graph:
        if self.graph is None:
            advice = advice or (
                "Pass the graph with Partition(labels, graph=kgroups.as_graph(graph)), or with "
                "Partition.load(path, graph=graph) if it is in a file."
            )
            msg = f"{what} needs the graph, and this partition has none.\n  {advice}"
            raise PartitionError(msg)
        return self.graph

    def __len__(self) -> int:
        return self.k

    @overload
    def __getitem__(self, index: int) -> Community: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Community, ...]: ...

    def __getitem__(self, index: int | slice) -> Community | tuple[Community, ...]:
        return self._communities[index]

    def __iter__(self) -> Iterator[Community]:
        return iter(self._communities)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        if self.labels.size != other.labels.size or not np.array_equal(self.sizes, other.sizes):
            return False
        if self.nodes is other.nodes or list(self.nodes) == list(other.nodes):
            return np.array_equal(self.labels, other.labels)
        return set(self._communities) == set(other._communities)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(frozenset(self._communities))

    def __repr__(self) -> str:
        several = self.sizes[self.sizes > 1]
        sizes = f", sizes {shown_sizes(several)}" if several.size else ""
        first = f"Partition({self._headline()}{sizes})"
        return "\n  ".join([first, *self._remarks()])

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a table of the largest communities and a picture."""
        return partition_html(self, self._remarks())

    def _headline(self) -> str:
        """Return how many communities, how many of them single nodes, and of how many nodes."""
        found, nodes = counted_communities(self.k, self._single), counted(self.labels.size, "node")
        if self._single == self.labels.size > 0:
            return found
        return f"{found}, {nodes} in all" if self._single else f"{found} of {nodes}"

    @property
    def _single(self) -> int:
        """Number of communities that are single nodes."""
        return int(np.count_nonzero(self.sizes == 1))

    def _overview(self, **shown: bool) -> list[str]:
        """Return what is known in sentences, as :meth:`summary` does, without warnings."""
        return overview(self, **shown)

    def _known_warnings(self, *, spectrum: bool = True) -> list[Warning]:
        """Return the warnings of detection, and those that only the spectrum has."""
        report, known = self.report, self.known_spectrum if spectrum else None
        found: list[Warning] = [] if report is None else list(report.warnings)
        kinds = {type(warning) for warning in found}
        more = () if known is None else known.warnings
        return found + [warning for warning in more if type(warning) not in kinds]

    def _remarks(self) -> list[str]:
        """Return the lines of the repr after the first: reason, spectrum, warnings, a hint."""
        remarks = []
        known, report = self.known_spectrum, self.report
        k: int | None
        if report is not None and report.k_given is None and self._single < self.labels.size:
            largest = "largest component: " if report.n_components > 1 else ""
            remarks.append(largest + report.components[0].why)
        k, r, exact = None, None, True
        if known is not None:
            k, r, exact = known.k, known.r, known.is_exact
        elif report is not None:
            k, r = report.k_hat, report.r
            exact = report.k_hat_low == report.k_hat_high
        if k is not None:
            shown = spectrum_shows(self.k, k, single=self._single, exact=exact)
            if known is not None and known.r_choice in known.k_at:
                shown += f" ({_k_at_each_r(known.shown_k_at)})"
            elif r is not None:
                shown += f" (r = {r:.4g})"
            remarks.append(shown)
        if self.uninformed:
            lie = counted(len(self.uninformed), "node lies", "nodes lie")
            remarks.append(f"{lie} in components without signal, in the largest community")
        remarks += [f"warning: {warning}" for warning in self._known_warnings()]
        if self.graph is not None:
            remarks.append(_HINT)
        return [textwrap.shorten(text, _LINE_WIDTH, placeholder=" ...") for text in remarks]


def shown_sizes(sizes: Ints) -> str:
    """Return the first of some sizes as text."""
    shown = ", ".join(str(size) for size in sizes[:_SIZES_SHOWN].tolist())
    return f"{shown}, ..." if sizes.size > _SIZES_SHOWN else shown


def _k_at_each_r(k_at: Mapping[str, str]) -> str:
    if len(set(k_at.values())) == 1:
        return "at every choice of r"
    return ", ".join(f"{choice} {k}" for choice, k in k_at.items())


def _checked_labels(labels: npt.ArrayLike) -> Ints:
    """Return one whole number per node, or raise."""
    z = np.asarray(labels)
    if z.shape == (0,):
        return np.zeros(0, np.int64)
    if z.ndim != 1 or z.dtype.kind not in "iu":
        msg = (
            "labels must be one whole number per node, got an array of "
            f"{z.dtype} of shape {z.shape}.\n"
            "  np.unique(labels, return_inverse=True)[1] turns other labels into numbers."
        )
        raise PartitionError(msg)
    return z.astype(np.int64)


def _checked_nodes(
    nodes: Sequence[Hashable] | None, graph: Graph | None, n: int
) -> Sequence[Hashable]:
    """Return the names of ``n`` nodes, those of the graph if there is one."""
    names = nodes
    if names is None:
        names = range(n) if graph is None else graph.nodes
    elif isinstance(names, np.ndarray):
        names = tuple(names.tolist())
    elif not (isinstance(names, range) or (graph is not None and names is graph.nodes)):
        names = tuple(names)
    if len(names) != n:
        msg = f"there must be one label for each of the {len(names)} nodes, got {n} labels."
        raise PartitionError(msg)
    if graph is not None:
        if names is not graph.nodes and list(names) != list(graph.nodes):
            msg = (
                "nodes must be those of the graph, in its order.\n"
                "  Leave nodes out to take them from the graph."
            )
            raise PartitionError(msg)
        return graph.nodes
    if len(set(names)) < n:
        name = Counter(names).most_common(1)[0][0]
        msg = f"each node must be named once, got {shown_name(name)} more than once."
        raise PartitionError(msg)
    return names


def _check_uninformed(uninformed: tuple[Hashable, ...], names: Sequence[Hashable]) -> None:
    """Raise unless these are nodes, each once."""
    if not uninformed:
        return
    known = names if isinstance(names, range) else set(names)
    for node in uninformed:
        if node not in known:
            msg = f"uninformed must hold nodes of the partition, got {shown_name(node)}."
            raise PartitionError(msg)
    if len(set(uninformed)) < len(uninformed):
        name = Counter(uninformed).most_common(1)[0][0]
        msg = f"uninformed must hold each node once, got {shown_name(name)} more than once."
        raise PartitionError(msg)


def _largest_first(z: Ints, names: Sequence[Hashable]) -> Ints:
    """Renumber labels by decreasing size; communities of equal size by their least name."""
    if z.size and (z.min() < 0 or z.max() >= 2 * z.size):
        z = np.unique(z, return_inverse=True)[1]
    sizes = np.bincount(z)
    first = np.full(sizes.size, z.size)
    first[z[::-1]] = np.arange(z.size)[::-1]
    if not (isinstance(names, range) and names.step > 0):
        # Names are compared only where sizes do not decide.
        tied = (sizes > 0) & (np.bincount(sizes)[sizes] > 1)
        _rank_by_least_name(first, z, tied, names)
    number = np.empty(sizes.size, np.int64)
    number[np.lexsort((first, -sizes))] = np.arange(sizes.size)
    renumbered = number[z]
    renumbered.flags.writeable = False
    return renumbered


def _rank_by_least_name(rank: Ints, z: Ints, among: Bools, names: Sequence[Any]) -> None:
    """Rank some communities by their least names; names that cannot be sorted change nothing."""
    members = np.flatnonzero(among[z])
    members = members[np.argsort(z[members], kind="stable")]
    starts = np.flatnonzero(np.diff(z[members], prepend=-1))
    listed = [names[i] for i in members.tolist()]
    bounds = [*starts.tolist(), len(listed)]
    try:
        least = [min(listed[start:end]) for start, end in pairwise(bounds)]
        order = sorted(range(len(least)), key=least.__getitem__)
        # Sets and NaN are compared without an error, but have no order.
        ascending = all(least[a] < least[b] for a, b in pairwise(order))
    except (TypeError, ValueError):
        return
    if ascending:
        rank[z[members[starts]][order]] = np.arange(len(order))


def _labels_of_vertices(graph: Any, membership: Mapping[Hashable, int]) -> list[int]:
    """Return the community of each igraph vertex, matched by name, else by number."""
    named = [graph.vs[key] for key in _IGRAPH_NAMES if key in graph.vs.attributes()]
    numbers = list(range(graph.vcount()))
    for names in (*named, numbers):
        if all(isinstance(name, Hashable) for name in names) and (
            len(names) == len(membership) and membership.keys() == set(names)
        ):
            return [membership[name] for name in names]
    check_same_nodes(list(membership), named[0] if named else numbers, "the partition", "partition")
    msg = "the igraph graph has two vertices with the same name. Give each vertex its own name."
    raise PartitionError(msg)


def _categories(partition: Partition, nodes: Sequence[Hashable]) -> Any:
    """Return the communities of nodes as pandas categories, in order of their numbers."""
    import pandas as pd

    codes = [partition.membership[node] for node in nodes]
    return pd.Categorical.from_codes(codes, [str(a) for a in range(partition.k)])
