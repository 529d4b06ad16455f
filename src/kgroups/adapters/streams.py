"""Edges that come in batches to ``Graph``: memory for the matrix and half of it, no more."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from kgroups._mirror import Columns, columns_of_edges, pattern_of_columns, rows_of_columns
from kgroups._types import Bools, Floats, Indices, Symmetrize, index_type
from kgroups.adapters.numbering import IntegerNames, TextNames
from kgroups.errors import GraphError
from kgroups.graph import Graph

__all__ = ["BATCH", "Batch", "EdgeStream", "graph_of_integers", "graph_of_texts"]

BATCH = 1 << 18
"""Edges per batch: their columns stay in the cache between one step and the next."""

_LOOKUP_SLOTS_PER_EDGE = 2


@dataclass(frozen=True)
class Batch:
    """Some edges: names as integers or texts, and weights that were checked."""

    source: Any
    target: Any
    weight: Floats | None


class EdgeStream(Protocol):
    """Edges that can be read batch by batch, more than once."""

    @property
    def edges(self) -> int:
        """Number of edges that are announced."""

    @property
    def weighted(self) -> bool:
        """Whether batches have weights."""

    def batches(self) -> Iterator[Batch]:
        """Read the edges from the start."""


@dataclass
class _Ends:
    """Row numbers of both ends of each edge, and weights."""

    u: Indices
    v: Indices
    w: Floats | None


def graph_of_integers(stream: EdgeStream, symmetrize: Symmetrize | None) -> Graph:
    """Build a graph of edges between integers, which are numbered in rising order.

    Integers beyond those of 64 bits with a sign are numbered as they appear, as other names are.
    """
    low, high = _extent(stream)
    span = high - low + 1
    if high > np.iinfo(np.int64).max:
        if low < 0:
            msg = (
                f"integer names must all fit into 64 bits, got {low} and {high}.\n"
                "  Write the names as text."
            )
            raise GraphError(msg)
        return _graph_of_scattered(stream, np.uint64, symmetrize)
    if span > _LOOKUP_SLOTS_PER_EDGE * stream.edges:
        return _graph_of_scattered(stream, np.int64, symmetrize)

    def less_low(source: Any, target: Any, u: Indices, v: Indices) -> None:
        for names, numbers in ((source, u), (target, v)):
            signed = names.astype(np.int64, copy=False)
            np.subtract(signed, low, out=numbers, casting="unsafe")

    ends = _filled(stream, less_low, symmetrize)
    present = _presence(ends, span)
    if present.all():
        return _built(_gathered(ends, span), symmetrize, lambda: range(low, low + span))
    _renumber(ends, np.cumsum(present, dtype=ends.u.dtype) - ends.u.dtype.type(1))
    n = int(np.count_nonzero(present))
    return _built(_gathered(ends, n), symmetrize, lambda: (np.flatnonzero(present) + low).tolist())


def _graph_of_scattered(
    stream: EdgeStream, kind: type[np.integer[Any]], symmetrize: Symmetrize | None
) -> Graph:
    """Build a graph of edges between integers with wide gaps, numbered by hashing."""
    table = IntegerNames(kind)
    ends = _filled(stream, table.number, symmetrize)
    names = table.take_names()
    if kind is np.int64:
        order = np.argsort(names)
        rank = np.empty(names.size, ends.u.dtype)
        rank[order] = np.arange(names.size)
        _renumber(ends, rank)
        names = names[order]
    return _built(_gathered(ends, names.size), symmetrize, names.tolist)


def graph_of_texts(stream: EdgeStream, symmetrize: Symmetrize | None) -> Graph:
    """Build a graph of edges between texts, which are numbered as they appear."""
    table = TextNames()
    ends = _filled(stream, table.number, symmetrize)
    return _built(_gathered(ends, table.count), symmetrize, table.take_names)


def _extent(stream: EdgeStream) -> tuple[int, int]:
    low, high = 0, -1
    for batch in stream.batches():
        for names in (batch.source, batch.target):
            least, most = int(names.min()), int(names.max())
            low, high = (least, most) if high < low else (min(low, least), max(high, most))
    return low, high


def _filled(
    stream: EdgeStream,
    number: Callable[[Any, Any, Indices, Indices], None],
    symmetrize: Symmetrize | None,
) -> _Ends:
    """Read all edges, each end as the number that ``number`` writes for it."""
    m = stream.edges
    u, v = np.empty((2, m), index_type(2 * m))
    w = np.empty(m) if stream.weighted and symmetrize != "union" else None
    done = 0
    for batch in stream.batches():
        part = slice(done, done + len(batch.source))
        done = part.stop
        if done > m:
            break
        number(batch.source, batch.target, u[part], v[part])
        if w is not None:
            w[part] = batch.weight
    if done != m:
        msg = (
            f"the file announces {m} edges, but it holds another number.\n"
            "  Check that the file is whole."
        )
        raise GraphError(msg)
    return _Ends(u, v, w)


def _pieces(*arrays: Indices) -> Iterator[Indices]:
    for array in arrays:
        for begin in range(0, array.size, BATCH):
            yield array[begin : begin + BATCH]


def _presence(ends: _Ends, span: int) -> Bools:
    present = np.zeros(span, dtype=bool)
    for numbers in _pieces(ends.u, ends.v):
        present[numbers] = True
    return present


def _renumber(ends: _Ends, number: Indices) -> None:
    for numbers in _pieces(ends.u, ends.v):
        numbers[:] = number[numbers]


def _gathered(ends: _Ends, n: int) -> Columns:
    """Gather the edges by their larger end, and give up the arrays that they came in."""
    columns = columns_of_edges(ends.u, ends.v, ends.w, n)
    ends.u = ends.v = np.empty(0, np.int32)
    ends.w = None
    return columns


def _built(
    columns: Columns, symmetrize: Symmetrize | None, names: Callable[[], Sequence[Hashable]]
) -> Graph:
    rows = pattern_of_columns(columns) if symmetrize == "union" else rows_of_columns(columns)
    # Names are Python objects and may take as much memory as the rows, so they are made last.
    del columns
    return Graph(*rows[:3], multiplicity=rows.multiplicity, nodes=names())
