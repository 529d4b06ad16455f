"""Partition out: the communities in the caller's own node names, and what is known about them."""

import os
import textwrap
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from kgroups._partition_exchange import annotate_graph, labels_of_vertices
from kgroups._partition_labels import checked_labels, checked_nodes, largest_first
from kgroups._types import Ints
from kgroups.errors import PartitionError
from kgroups.graph import Graph
from kgroups.report import beside_spectrum

if TYPE_CHECKING:
    from kgroups.report import Report
    from kgroups.scoring import Scores
    from kgroups.spectrum import DeferredSpectrum, Spectrum

__all__ = ["Partition"]

Community = frozenset[Hashable]

_SIZES_SHOWN = 6
_WIDTH = 98


class Partition(Sequence[Community]):
    """Nodes split into communities: a sequence of sets, the largest first.

    Every function that takes a list of sets of nodes takes a Partition, those of networkx among
    them. Communities of one size are in the order of their first nodes.

    Parameters
    ----------
    labels : array_like of int, shape (n,)
        Community of each node, under any numbers; they are renumbered.
    nodes : sequence of hashable, optional
        Names of the nodes, each once; ``None`` for those of the graph, or ``range(n)``.
    graph : Graph, optional
        The graph that the partition is of. Needed by :meth:`scores`, :meth:`plot`,
        :attr:`disconnected` and ``to_igraph()``.
    spectrum : Spectrum or DeferredSpectrum, optional
        The eigenvalues that show how many communities there are, or how to compute them. By
        default they are computed from the graph, with the default operator, when asked for.
    report : Report, optional
        What happened on the way to this partition.
    uninformed : iterable of hashable, optional
        Nodes whose community says nothing about them: with ``k`` given, isolated nodes and
        components without signal join the largest community.

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

    Notes
    -----
    A Partition cannot be changed. Two are equal when they put the same nodes into the same
    communities, whatever the order of the nodes and the numbers of the communities; graph,
    spectrum and report are not compared.

    Examples
    --------
    >>> partition = Partition([7, 3, 3], nodes=["ann", "bob", "cat"])
    >>> partition
    Partition(2 communities of 3 nodes, sizes 2, 1)
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
    report: "Report | None"
    uninformed: tuple[Hashable, ...]
    _spectrum: "Spectrum | DeferredSpectrum | None"

    def __init__(
        self,
        labels: npt.ArrayLike,
        nodes: Sequence[Hashable] | None = None,
        *,
        graph: Graph | None = None,
        spectrum: "Spectrum | DeferredSpectrum | None" = None,
        report: "Report | None" = None,
        uninformed: Collection[Hashable] = (),
    ) -> None:
        z = checked_labels(labels)
        put = object.__setattr__
        put(self, "labels", largest_first(z))
        put(self, "nodes", checked_nodes(nodes, graph, z.size))
        put(self, "graph", graph)
        put(self, "_spectrum", spectrum)
        put(self, "report", report)
        put(self, "uninformed", tuple(uninformed))

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a Partition is frozen: {name!r} cannot be set. Make a new Partition instead."
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> None:
        msg = f"a Partition is frozen: {name!r} cannot be deleted."
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (
            self.labels,
            self.nodes,
            self.graph,
            self._spectrum,
            self.report,
            self.uninformed,
        )

    @property
    def k(self) -> int:
        """Number of communities."""
        return self.sizes.size

    @property
    def spectrum(self) -> "Spectrum":
        """The eigenvalues around the threshold, and k at the three choices of r.

        Computed when first asked for, as :func:`kgroups.estimate_k` does, which on large graphs
        takes longer than detection. A partition from a file has the spectrum that was saved with
        it; without one, and without a graph, this raises ``PartitionError``.
        """
        known = self.known_spectrum
        if known is None:
            from kgroups.spectrum import DeferredSpectrum

            if self.graph is None:
                msg = (
                    "spectrum needs the graph, and this partition was made or loaded without one.\n"
                    "  Ask for partition.spectrum before saving it as .json, which keeps it, or "
                    "call kgroups.estimate_k(G)."
                )
                raise PartitionError(msg)
            deferred = self._spectrum
            if not isinstance(deferred, DeferredSpectrum):
                deferred = DeferredSpectrum()
            known = deferred.of(self.graph)
            object.__setattr__(self, "_spectrum", known)
        return known

    @property
    def known_spectrum(self) -> "Spectrum | None":
        """The spectrum if it was computed or loaded, else None; nothing is computed."""
        from kgroups.spectrum import Spectrum

        return self._spectrum if isinstance(self._spectrum, Spectrum) else None

    @cached_property
    def sizes(self) -> Ints:
        """Number of nodes of each community, largest first."""
        sizes = np.bincount(self.labels).astype(np.int64)
        sizes.flags.writeable = False
        return sizes

    @cached_property
    def membership(self) -> dict[Hashable, int]:
        """Community of each node by its name."""
        return dict(zip(self.nodes, self.labels.tolist(), strict=True))

    @cached_property
    def disconnected(self) -> tuple[Community, ...]:
        """The communities that fall apart when the rest of the graph is taken away.

        Edges of weight 0 connect nothing.
        """
        from scipy import sparse
        from scipy.sparse import csgraph

        graph = self._graph_for("disconnected")
        adjacency = graph.simple_adjacency()
        rows = np.repeat(np.arange(graph.n), np.diff(adjacency.indptr))
        cols = adjacency.indices
        inside = self.labels[rows] == self.labels[cols]
        kept = (np.ones(np.count_nonzero(inside)), (rows[inside], cols[inside]))
        pieces = csgraph.connected_components(
            sparse.coo_array(kept, shape=(graph.n, graph.n)), directed=False
        )[1]
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

    def scores(self, *, resolution: float = 1.0) -> "Scores":
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
        graph = self._graph_for("scores()")
        from kgroups.scoring import scores

        return scores(graph, self, resolution=resolution)

    def to_igraph(self, g: Any = None) -> Any:
        """Return the partition as an ``igraph.VertexClustering``.

        Parameters
        ----------
        g : igraph.Graph, optional
            The graph to put it on; vertices are matched by name, or by number when the nodes of
            the partition are numbers from 0 on. By default the graph is rebuilt with names and
            weights; parallel edges become one edge with the sum of their weights.

        Returns
        -------
        igraph.VertexClustering
            Its modularity uses the edge attribute ``"weight"`` where there is one.
        """
        import igraph

        graph = self._graph_for("to_igraph()").to_igraph() if g is None else g
        weights = "weight" if "weight" in graph.es.attributes() else None
        return igraph.VertexClustering(
            graph,
            membership=labels_of_vertices(graph, self.membership),
            modularity_params={"weights": weights},
        )

    def annotate(self, G: Any, name: str = "community") -> None:
        """Write the community of each node into a networkx or igraph graph, in place.

        Parameters
        ----------
        G : networkx.Graph or igraph.Graph
            A graph with the nodes of this partition, neither more nor fewer.
        name : str
            Node attribute to set; the values are plain ints, so that every file format takes
            them.
        """
        annotate_graph(G, self.membership, name)

    def plot(
        self,
        ax: Any = None,
        *,
        layout: Any = None,
        names: Collection[Hashable] = (),
        title: str | None = None,
    ) -> Any:
        """Draw the graph with its communities in colors; needs the extra ``plot``.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        layout : array of shape (n, 2) or mapping of node to (x, y), optional
            Positions of the nodes; computed when not given, the same at each call.
        names : collection of hashable
            Nodes whose names are written.
        title : str, optional
            Written above the picture.

        Returns
        -------
        matplotlib Axes
            The axes drawn on.
        """
        graph = self._graph_for("plot()")
        from kgroups.plotting import plot_partition

        return plot_partition(graph, self.labels, ax=ax, layout=layout, names=names, title=title)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the partition to a file, whole or not at all.

        Parameters
        ----------
        path : str or path
            The suffix says how. ``.json`` keeps node names of type int, str, float, bool, None
            and tuple with their types, the uninformed nodes, and the spectrum if it was computed.
            ``.csv`` and ``.parquet`` (needs the extra ``parquet``) are tables with the columns
            ``node`` and ``community`` for names that are all int or all str. ``.json.gz`` and
            ``.csv.gz`` are compressed.

        Notes
        -----
        The graph and the report are not written. Names of NumPy number types come back as the
        Python numbers they are equal to, and in ``.csv`` names that all look like whole numbers
        come back as int. A file that is replaced keeps its permissions. ``.csv`` holds names as
        they are: one such as ``=1+2`` is quoted, and still a formula to most spreadsheets.
        """
        from kgroups._partition_io import encode, write_atomically

        write_atomically(path, encode(self, path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Partition":
        """Read a partition that :meth:`save` wrote, or a table with its two columns.

        Parameters
        ----------
        path : str or path
            A file with one of the suffixes of :meth:`save`.

        Returns
        -------
        Partition
            Equal to the one saved; it has no graph and no report.

        Raises
        ------
        FileFormatError
            If the file does not hold a partition; the message names the place.
        """
        from kgroups._partition_io import decode, not_a_partition

        try:
            return cls(**decode(path))
        except PartitionError as error:
            raise not_a_partition(path, str(error)) from error

    def _graph_for(self, what: str) -> Graph:
        if self.graph is None:
            msg = (
                f"{what} needs the graph, and this partition was made without one.\n"
                "  Make it with Partition(labels, graph=kgroups.as_graph(G)), or call the functions"
                " of kgroups.scoring with the graph and this partition."
            )
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

    def __contains__(self, community: object) -> bool:
        return community in self._communities

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
        shown = ", ".join(str(size) for size in self.sizes[:_SIZES_SHOWN].tolist())
        rest = ", ..." if self.k > _SIZES_SHOWN else ""
        sizes = f", sizes {shown}{rest}" if self.k else ""
        first = f"Partition({_count(self.k, 'community', 'communities')} of "
        first += f"{_count(self.labels.size, 'node', 'nodes')}{sizes})"
        return "\n  ".join([first, *self._remarks()])

    def _remarks(self) -> list[str]:
        remarks = []
        known, report = self.known_spectrum, self.report
        if report is not None and report.k_given is None and report.components:
            largest = "largest component: " if report.n_components > 1 else ""
            remarks.append(largest + report.components[0].why)
        if known is not None and known.r_choice != "given":
            counts = _counts_at_the_three_r(known.shown_k_at)
            remarks.append(counts + beside_spectrum(self.k, known.k))
        elif known is not None:
            about = "" if known.is_exact else "about "
            counts = f"eigenvalues above the threshold: {about}{known.k} at r = {known.r:.4g}"
            remarks.append(counts + beside_spectrum(self.k, known.k))
        elif report is not None and report.k_hat is not None:
            about = "" if report.k_hat_low == report.k_hat_high else "about "
            counts = f"eigenvalues above the threshold: {about}{report.k_hat} at r = {report.r:.4g}"
            remarks.append(counts + beside_spectrum(self.k, report.k_hat))
        if self.uninformed:
            remarks.append(f"{_count(len(self.uninformed), 'node', 'nodes')} without information")
        carrier = report if known is None else known
        lines = (f"warning: {warning}" for warning in (carrier.warnings if carrier else ()))
        return [textwrap.shorten(text, _WIDTH, placeholder=" ...") for text in (*remarks, *lines)]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _counts_at_the_three_r(k_at: Mapping[str, str]) -> str:
    if len(set(k_at.values())) == 1:
        counts = f"{next(iter(k_at.values()))} at every choice of r"
    else:
        counts = ", ".join(f"{k} ({choice})" for choice, k in k_at.items())
    return f"eigenvalues above the threshold: {counts}"


def _rebuild(
    labels: Ints,
    nodes: Sequence[Hashable],
    graph: Graph | None,
    spectrum: "Spectrum | DeferredSpectrum | None",
    report: "Report | None",
    uninformed: tuple[Hashable, ...],
) -> Partition:
    return Partition(
        labels, nodes, graph=graph, spectrum=spectrum, report=report, uninformed=uninformed
    )
