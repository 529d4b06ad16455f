"""The communities of a stored graph: labels in arrays, names only where they are asked for."""

import os
import textwrap
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, overload

import numpy as np

from kgroups._csr import readonly_view
from kgroups._progress import StageProgress, Stages, stage_progress
from kgroups._types import Indices, Ints
from kgroups._wording import counted, counted_communities
from kgroups.blocks.engines import Engine, OutOfCore
from kgroups.blocks.output import write_table
from kgroups.blocks.scores import LabeledStore
from kgroups.blocks.store import NodeNames, StoredGraph
from kgroups.errors import PartitionError
from kgroups.partition import Partition
from kgroups.report import Report
from kgroups.scoring import Scores, check_resolution

_SIZES_SHOWN = 6
_LINE_WIDTH = 98
_HINT = "scores(), save(path); levels, confidence and plots: to_partition(), if it fits in memory"


class NotStoredError(PartitionError, AttributeError):
    """The communities of a stored graph do not offer what those of a graph in memory do."""


class StoredPartition(Sequence[frozenset[Hashable]]):
    """The nodes of a stored graph split into communities: a sequence of sets, the largest first.

    Communities of the same size are in the order of their least names. A set is made when it is
    asked for. What else :class:`kgroups.Partition` offers and is missing here needs the graph in
    memory: :meth:`to_partition` returns a Partition, if there is room for it.

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
    sizes : ndarray of int
        Number of nodes of each community.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import kgroups as kg
    >>> with TemporaryDirectory() as folder:
    ...     edges = [[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 5], [5, 3]]
    ...     np.save(Path(folder, "edges.npy"), edges)
    ...     stored = kg.open_graph(Path(folder, "edges.npy"), store=Path(folder, "store"))
    ...     partition = kg.detect_communities(stored)
    ...     sorted(partition[0]), partition.scores().cut_size
    ([0, 1, 2], 1.0)
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

    @property
    def k(self) -> int:
        """Number of communities."""
        return self.sizes.size

    @property
    def nodes(self) -> NodeNames:
        """Names in sorted order."""
        return self.graph.nodes

    def scores(
        self,
        *,
        resolution: float = 1.0,
        engine: Engine | None = None,
        progress: StageProgress = False,
    ) -> Scores:
        """Return modularity, coverage, performance and others, in one pass over the blocks.

        Parameters
        ----------
        resolution : float
            Resolution of the modularity.
        engine : Engine, optional
            Who does the work, by default this process.
        progress : bool or callable
            As for :func:`kgroups.detect_communities`.

        Returns
        -------
        Scores
            As :func:`kgroups.scoring.scores` returns for the graph in memory.
        """
        gamma = check_resolution(resolution)
        z = np.empty(self.graph.n, dtype=np.int32)
        z[self.graph.position] = self.labels
        with stage_progress(progress=progress) as announce, Stages(announce) as stages:
            stages.begin("scoring")
            with _begun(engine, self.graph) as used:
                return LabeledStore(self.graph, z, self.sizes, used).scores(gamma)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a table with the columns ``node`` and ``community``, whole or not at all.

        Parameters
        ----------
        path : path
            Ends in ``.csv``, ``.csv.gz`` or ``.parquet`` (needs the extra ``parquet``). Nodes are
            in the order of their names, and are written in batches, without an object for each.
            :meth:`kgroups.Partition.load` reads the file.
        """
        write_table(path, self.graph.names, self.labels)

    def to_partition(self) -> Partition:
        """Return the same communities with the graph in memory, if there is room for it.

        Returns
        -------
        Partition
            Equal labels, in the same order of the nodes.
        """
        return Partition(self.labels, graph=self.graph.to_graph(), report=self.report)

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

    def __getattr__(self, name: str) -> Any:
        """Say what to do instead of what only a Partition offers."""
        if not name.startswith("_") and name in {*dir(Partition), *Partition.__annotations__}:
            msg = (
                f"the communities of a stored graph have no {name!r}, for which all nodes and "
                f"edges must be in memory.\n  Use partition.to_partition().{name} if there is room "
                f"for {counted(self.graph.n, 'node')} and {counted(self.graph.m, 'edge')}."
            )
            raise NotStoredError(msg)
        msg = f"{type(self).__name__!r} object has no attribute {name!r}"
        raise AttributeError(msg)

    def __repr__(self) -> str:
        single = int(np.count_nonzero(self.sizes == 1))
        shown = ", ".join(map(str, self.sizes[:_SIZES_SHOWN].tolist()))
        more = ", ..." if self.k > _SIZES_SHOWN else ""
        found = counted_communities(self.k, single)
        nodes = f"{counted(self.labels.size, 'node')}{' in all' if single else ''}"
        head = f"{found}{',' if single else ' of'} {nodes}, sizes {shown}{more}"
        lines = [f"StoredPartition({head})"]
        report = self.report
        if report is not None and report.k_given is None and report.components:
            largest = "largest component: " if report.n_components > 1 else ""
            lines.append(largest + report.components[0].why)
        lines += [] if report is None else [f"warning: {one}" for one in report.warnings]
        lines.append(_HINT)
        short = [textwrap.shorten(text, _LINE_WIDTH, placeholder=" ...") for text in lines]
        return "\n  ".join(short)


@contextmanager
def _begun(engine: Engine | None, store: StoredGraph) -> Iterator[Engine]:
    """Yield an engine that is ready; its files are in the store, which all workers see."""
    if engine is None:
        yield OutOfCore()
        return
    with TemporaryDirectory(prefix="scores-", dir=store.path) as folder:
        engine.begin(Path(folder))
        try:
            yield engine
        finally:
            engine.end()
