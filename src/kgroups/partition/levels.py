"""The levels of a graph: partitions from fine to coarse, and how their communities nest."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np

from kgroups._output import html_beside, html_lines, html_table, html_text, write_atomically
from kgroups._progress import StageProgress, Stages, interrupts_restored, stage_progress
from kgroups._types import Floats, Ints
from kgroups._validation import as_rng
from kgroups._wording import counted
from kgroups.adapters import by_first_node
from kgroups.errors import InputError, PartitionError
from kgroups.graph import Graph
from kgroups.partition.files import encode
from kgroups.partition.partition import Partition, shown_sizes
from kgroups.partition.tables import import_pandas, name_series, notebook_picture
from kgroups.search import Search, find_scales, majority, prepare, scale_nats


class Parents(NamedTuple):
    """The communities one level up that hold most nodes of each community.

    Attributes
    ----------
    parent : ndarray of int64, shape (k,)
        Number of the community one level up; of several with equally many nodes the largest.
    share : ndarray of float, shape (k,)
        Share of the nodes that are in it; 1 if the community lies in its parent as a whole.
    """

    parent: Ints
    share: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Levels(Sequence[Partition]):
    """Partitions of a graph at all of its scales, the finest first.

    :meth:`kgroups.Partition.levels` returns them. Levels are independent partitions: a community
    need not lie inside one community of the next level. :meth:`parents` says how much of it does,
    and :meth:`nested` moves it there as a whole.

    Parameters
    ----------
    partitions : sequence of Partition
        The levels, partitions of one graph, each with fewer communities than the one before.
    nats : sequence of float
        What each level saves of the description of the graph.
    returned : int
        Which one detection has returned.
    dispersion : float
        What the log-likelihood was divided by for ``nats``.

    Attributes
    ----------
    partitions : tuple of Partition
        As given.
    nats : tuple of float
        As given. One community saves nothing, so that a level of one community has 0.
    returned : int
        ``levels[levels.returned]`` is the partition that the levels were asked of.
    dispersion : float
        As given.

    Notes
    -----
    Levels cannot be changed. ``levels[i].levels()`` are the same levels, with level ``i`` as the
    one returned.

    Examples
    --------
    >>> import kgroups as kg
    >>> graph = kg.Graph.from_edges([0, 1, 0, 3, 4, 3, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> fine, coarse = ([0, 1, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1])
    >>> levels = Levels([kg.Partition(z, graph=graph) for z in (fine, coarse)], [0.1, 0.6])
    >>> levels.k
    (3, 2)
    >>> levels.parents(0)
    Parents(parent=array([1, 0, 0]), share=array([1., 1., 1.]))
    >>> print(levels.to_dataframe().head(2))
       node  k3  k2
    0     0   2   0
    1     1   1   0
    """

    partitions: Sequence[Partition]
    nats: Sequence[float]
    returned: int = field(default=0, kw_only=True)
    dispersion: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        _check(self.partitions, self.nats, self.returned)
        # The fields of a frozen object are set past its __setattr__.
        vars(self).update(
            partitions=tuple(self.partitions),
            nats=tuple(float(value) for value in self.nats),
            returned=range(len(self.partitions))[self.returned],
            dispersion=float(self.dispersion),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _linked, (self.partitions, self.nats, self.returned, self.dispersion)

    @property
    def k(self) -> tuple[int, ...]:
        """Number of communities of each level."""
        return tuple(level.k for level in self)

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each level in tables and files: ``k27`` for the one of 27 communities."""
        return tuple(f"k{k}" for k in self.k)

    def parents(self, level: int) -> Parents:
        """Return where the communities of a level are one level up.

        Parameters
        ----------
        level : int
            Place of the level; the coarsest has none above it.

        Returns
        -------
        Parents
            ``parent`` and ``share``, an array each with an entry per community of the level.
        """
        place = range(len(self))[level]
        if place == len(self) - 1:
            msg = (
                f"parents() needs a level below the coarsest, got level {place} of "
                f"{counted(len(self), 'level')}."
            )
            raise InputError(msg)
        return Parents(*majority(self[place].labels, self[place + 1].labels))

    def nested(self) -> "Levels":
        """Return the levels that are strictly nested: every community lies inside one parent.

        From the finest level up, each community is moved as a whole to the community one level up
        that holds most of its nodes.

        Returns
        -------
        Levels
            The finest level is the same. A level that becomes equal to the one below it is left
            out; if it was the one returned, the one below takes its place.
        """
        graph = self[0]._graph_for("nested()")
        ready = prepare(graph)
        problem = ready.problem.dispersed(self.dispersion)
        kept, nats, returned = [self[0]], [self.nats[0]], 0
        for place, above in enumerate(self[1:], 1):
            below = kept[-1].labels
            z = majority(below, above.labels)[0][below]
            level = Partition(z, graph=graph, spectrum=above._spectrum)
            same = np.array_equal(level.labels, above.labels)
            if level.k < kept[-1].k:
                kept.append(above if same else level)
                nats.append(self.nats[place] if same else scale_nats(problem, ready.sorted(z)))
            if place == self.returned:
                returned = len(kept) - 1
        return _linked(tuple(kept), tuple(nats), returned, self.dispersion)

    def plot(self, ax: Any = None, *, palette: Any = None, title: str | None = None) -> Any:
        """Draw the levels as a tree of bands, the coarsest at the left; needs the extra ``plot``.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        palette, title
            As for :func:`kgroups.plotting.plot_levels`.

        Returns
        -------
        matplotlib Axes
            The axes drawn on.
        """
        from kgroups.plotting import plot_levels

        return plot_levels(self, ax=ax, palette=palette, title=title)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with a row per node; needs the extra ``study``.

        Returns
        -------
        pandas.DataFrame
            The column ``node``, and the community of each node in one column per level, under its
            name in :attr:`names`; in node order.
        """
        pandas = import_pandas()
        columns: dict[str, Any] = {"node": name_series(pandas, list(self[0].nodes))}
        columns |= {name: level.labels for name, level in zip(self.names, self, strict=True)}
        return pandas.DataFrame(columns)

    def dendrogram(self) -> Floats:
        """Return the nested levels as a linkage matrix for ``scipy.cluster.hierarchy``.

        Returns
        -------
        ndarray of shape (k - 1, 4)
            The leaves are the k communities of the finest level, under their numbers. Communities
            are joined at the height of the level that joins them in :meth:`nested`: 1 for the
            second, 2 for the third, and so on. The communities of the coarsest level are joined
            one above it. The last column counts leaves, not nodes.

        Notes
        -----
        SciPy's trees are binary: a community of c parts has c - 1 rows of the same height.

        Examples
        --------
        >>> import kgroups as kg
        >>> from scipy.cluster.hierarchy import dendrogram
        >>> graph = kg.Graph.from_edges([0, 1, 0, 3, 4, 3, 2], [1, 2, 2, 4, 5, 5, 3])
        >>> fine, coarse = ([0, 1, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1])
        >>> levels = Levels([kg.Partition(z, graph=graph) for z in (fine, coarse)], [0.1, 0.6])
        >>> levels.dendrogram()
        array([[1., 2., 1., 2.],
               [0., 3., 2., 3.]])
        >>> dendrogram(levels.dendrogram(), no_plot=True)["ivl"]
        ['0', '1', '2']
        """
        nested = self.nested()
        leaves = nested[0].k
        if leaves < 2:
            msg = f"dendrogram() needs two communities at the finest level, got {leaves}."
            raise PartitionError(msg)
        from scipy.cluster.hierarchy import DisjointSet

        # In this order, leaves that are joined at any level are neighbors.
        member = np.unique(nested[0].labels, return_index=True)[1]
        joined_in = np.stack([level.labels[member] for level in nested])
        order = np.lexsort(joined_in)
        apart = np.count_nonzero(np.diff(joined_in[:, order]), axis=0)
        clusters, number = DisjointSet(range(leaves)), list(range(leaves))
        rows = []
        for place in np.argsort(apart, kind="stable").tolist():
            pair = [clusters[int(leaf)] for leaf in order[place : place + 2]]
            clusters.merge(*pair)
            merged = clusters[pair[0]]
            ends = sorted(number[root] for root in pair)
            rows.append((*ends, apart[place], clusters.subset_size(merged)))
            number[merged] = leaves + len(rows) - 1
        return np.array(rows, dtype=float)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the partition that was returned with all levels to a file.

        Parameters
        ----------
        path : str or path
            As for :meth:`kgroups.Partition.save`. Tables have one more column per level, under its
            name in :attr:`names`, after those of the partition, and graph files an attribute of
            that name. A ``.json`` file has a list ``levels`` with ``k``, ``nats``, ``returned`` and
            ``labels`` of each.

        Notes
        -----
        :meth:`kgroups.Partition.load` reads the partition from such a file, without its levels.
        """
        write_atomically(path, encode(self[self.returned], path, self))

    def to_list(self) -> list[dict[str, Any]]:
        """Return the levels as plain values that JSON can hold.

        Returns
        -------
        list of dict
            ``k``, ``nats``, ``returned`` and ``labels`` of each level, the finest first.
        """
        return [
            {
                "k": level.k,
                "nats": nats,
                "returned": place == self.returned,
                "labels": level.labels.tolist(),
            }
            for place, (level, nats) in enumerate(zip(self, self.nats, strict=True))
        ]

    def __len__(self) -> int:
        return len(self.partitions)

    @overload
    def __getitem__(self, index: int) -> Partition: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Partition, ...]: ...

    def __getitem__(self, index: int | slice) -> Partition | tuple[Partition, ...]:
        return self.partitions[index]  # type: ignore[return-value]

    def __iter__(self) -> Iterator[Partition]:
        return iter(self.partitions)

    def __repr__(self) -> str:
        nats = [f"{value:,.1f}" for value in self.nats]
        sizes = [shown_sizes(level.sizes) for level in self]
        wide_k, wide_sizes, wide = (max(map(len, texts)) for texts in (self.names, sizes, nats))
        lines = [
            f"{'* ' if place == self.returned else '  '}{name:<{wide_k}}  sizes "
            f"{shown:<{wide_sizes}}  saves {saved:>{wide}} nats"
            for place, (name, shown, saved) in enumerate(zip(self.names, sizes, nats, strict=True))
        ]
        return "\n  ".join([f"Levels({self._headline()}; * was returned)", *lines])

    def _headline(self) -> str:
        return (
            f"{counted(len(self), 'level')} of {counted(self[0].labels.size, 'node')}, finest first"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a row per level, and the tree of bands."""
        n = max(self[0].labels.size, 1)
        shares = [f"{self.parents(i).share @ self[i].sizes / n:.1%}" for i in range(len(self) - 1)]
        marks = ["returned" if place == self.returned else "" for place in range(len(self))]
        sizes = [shown_sizes(level.sizes) for level in self]
        columns = (self.names, marks, sizes, [*shares, ""], self.nats)
        header = ["level", "", "sizes", "nodes in their parent", "nats saved"]
        table = html_table(header, zip(*columns, strict=True))
        head = f"<b>{html_text(self._headline())}</b>"
        if len(self) == 1:
            return head + html_beside(table)
        hint = html_lines(["levels.nested() moves each community to its parent as a whole"])
        return head + html_beside(table, notebook_picture(self.plot, self._headline())) + hint


def levels_of(partition: Partition, graph: Graph, progress: StageProgress) -> Levels:
    """Return the levels around a partition."""
    if not graph.n:
        return _linked((partition,), (0.0,), 0, 1.0)
    dispersion = 1.0 if partition.report is None else partition.report.dispersion
    with (
        interrupts_restored(),
        stage_progress(progress=progress) as announce,
        Stages(announce) as stages,
    ):
        stages.begin("finding levels")
        ready = prepare(graph)
        # Numbered by first nodes, so that neither the numbers nor the order of nodes matter.
        _, z = by_first_node(ready.sorted(partition.labels))
        problem = ready.problem.dispersed(dispersion)
        pieces = np.unique(problem.component * graph.n + z, return_inverse=True)[1]
        scales = find_scales(problem, pieces, Search(), as_rng(None), stages.begin)
    returned = next(i for i, scale in enumerate(scales) if np.array_equal(scale.z, pieces))
    labels, nats = [scale.z for scale in scales], [scale.nats for scale in scales]
    if z.max() < pieces.max():
        labels = [_rejoined(y, pieces, z) for y in labels]
        kept = _falling([int(y.max()) for y in labels], returned)
        returned, labels = kept.index(returned), [labels[i] for i in kept]
        nats = [scale_nats(problem, y) for y in labels]
    levels = [
        Partition(ready.restored(y), graph=graph, spectrum=partition._spectrum) for y in labels
    ]
    for level in levels:
        vars(level)["_found_with"] = {**(partition._found_with or {}), "k": level.k}
    levels[returned] = partition
    return _linked(tuple(levels), tuple(nats), returned, dispersion)


def _rejoined(y: Ints, pieces: Ints, z: Ints) -> Ints:
    """Return labels ``y`` with communities joined that hold the pieces of a community of ``z``.

    Scales are found in each component. Communities that were given, or components without signal
    where k was, may span several.
    """
    from scipy.sparse import coo_array, csgraph

    home = majority(pieces, y)[0]
    owner = z[np.unique(pieces, return_index=True)[1]] + y.max() + 1
    size = int(owner.max()) + 1
    links = coo_array((np.ones(home.size), (home, owner)), (size, size))
    group = csgraph.connected_components(links, directed=False)[1]
    return np.unique(group[y], return_inverse=True)[1]


def _falling(ks: list[int], returned: int) -> list[int]:
    """Return the places of levels with strictly decreasing numbers, including the one returned."""
    kept = [returned]
    for place in reversed(range(returned)):
        if ks[place] > ks[kept[0]]:
            kept.insert(0, place)
    for place in range(returned + 1, len(ks)):
        if ks[place] < ks[kept[-1]]:
            kept.append(place)
    return kept


def _linked(
    partitions: tuple[Partition, ...], nats: tuple[float, ...], returned: int, dispersion: float
) -> Levels:
    """Return the levels, and make them the known levels of each partition that has none."""
    marked = [
        Levels(partitions, nats, returned=place, dispersion=dispersion)
        for place in range(len(partitions))
    ]
    for level, own in zip(partitions, marked, strict=True):
        if level.known_levels is None:
            vars(level)["known_levels"] = own
    return marked[returned]


def _check(levels: Sequence[Partition], nats: Sequence[float], returned: int) -> None:
    if not levels:
        msg = "there must be at least one level, got none."
        raise InputError(msg)
    ks = [level.k for level in levels]
    if any(above >= below for below, above in pairwise(ks)):
        msg = f"each level must have fewer communities than the one before, got {ks}."
        raise InputError(msg)
    nodes = levels[0].nodes
    if any(level.nodes is not nodes and list(level.nodes) != list(nodes) for level in levels):
        msg = "the levels must be partitions of the same nodes in the same order."
        raise InputError(msg)
    if len(nats) != len(levels):
        msg = f"there must be one number of nats for each of {len(levels)} levels, got {len(nats)}."
        raise InputError(msg)
    if not -len(levels) <= returned < len(levels):
        msg = f"returned must be the place of one of {len(levels)} levels, got {returned}."
        raise InputError(msg)
