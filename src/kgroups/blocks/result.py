"""The communities of a stored graph: labels in arrays, names only where they are asked for."""

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np

from kgroups._csr import readonly_view
from kgroups._types import Indices, Ints
from kgroups._wording import counted_communities
from kgroups.blocks.store import NodeNames, StoredGraph
from kgroups.report import Report

_SIZES_SHOWN = 6


class StoredPartition(Sequence[frozenset[Hashable]]):
    """The nodes of a stored graph split into communities: a sequence of sets, the largest first.

    Communities of the same size are in the order of their least names. A set is made when it is
    asked for.

    Parameters
    ----------
    graph : StoredGraph
        The graph.
    z : ndarray of int, shape (n,)
        Community of the node at each position, under any numbers.
    report : Report, optional
        What happened on the way.

    Attributes
    ----------
    graph, report
        As given.
    labels : ndarray of int, read-only
        Community of each node, in the order of ``graph.nodes``, the sorted names; community 0 is
        the largest.
    """

    def __init__(self, graph: StoredGraph, z: Indices, report: Report | None = None) -> None:
        self.graph, self.report = graph, report
        labels = z[graph.position]
        sizes = np.bincount(labels)
        first = np.full(sizes.size, labels.size, dtype=np.int64)
        np.minimum.at(first, labels, np.arange(labels.size))
        order = np.lexsort((first, -sizes))
        order = order[sizes[order] > 0]
        name = np.empty(sizes.size, dtype=labels.dtype)
        name[order] = np.arange(order.size)
        self.labels = readonly_view(name[labels])
        self.sizes: Ints = sizes[order]
        """Number of nodes of each community."""

    @property
    def k(self) -> int:
        """Number of communities."""
        return self.sizes.size

    @property
    def nodes(self) -> NodeNames:
        """Names in sorted order."""
        return self.graph.nodes

    @cached_property
    def _by_community(self) -> Ints:
        return np.argsort(self.labels, kind="stable")

    def __len__(self) -> int:
        return self.k

    @overload
    def __getitem__(self, index: int) -> frozenset[Hashable]: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[frozenset[Hashable], ...]: ...

    def __getitem__(
        self, index: int | slice
    ) -> frozenset[Hashable] | tuple[frozenset[Hashable], ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(self.k)[index])
        number = range(self.k)[index]
        last = int(self.sizes[: number + 1].sum())
        members = np.sort(self._by_community[last - int(self.sizes[number]) : last])
        return frozenset(self.nodes.chosen(members))

    def __iter__(self) -> Iterator[frozenset[Hashable]]:
        return (self[i] for i in range(self.k))

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.sizes[:_SIZES_SHOWN].tolist()))
        more = ", ..." if self.k > _SIZES_SHOWN else ""
        found = counted_communities(self.k)
        return f"StoredPartition({found} of {self.labels.size} nodes, sizes {shown}{more})"
