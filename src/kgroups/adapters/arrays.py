"""Columns ``source, target[, weight]`` with any node names, and tables of them, to ``Graph``."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from kgroups._mirror import are_few
from kgroups._types import Floats, Indices, Symmetrize
from kgroups.adapters.columns import edge_columns
from kgroups.adapters.direction import graph_of_edges
from kgroups.adapters.numbering import Texts
from kgroups.adapters.streams import BATCH, Batch, EdgeStream, graph_of_integers
from kgroups.adapters.weights import checked_weights
from kgroups.errors import GraphError
from kgroups.graph import Graph

__all__ = [
    "as_column",
    "check_lengths",
    "from_columns",
    "from_edge_arrays",
    "from_stream",
    "from_table",
]

_LOOKUP_SLOTS_PER_END = 4


def from_columns(
    columns: Sequence[Any], weight: str | None, symmetrize: Symmetrize | None
) -> Graph:
    """Convert ``(source, target)`` or ``(source, target, weight)``."""
    if isinstance(columns, list) and all(isinstance(part, list | tuple) for part in columns):
        msg = (
            "a list of lists or tuples could hold edges, columns or matrix rows.\n"
            "  Pass a tuple (source, target[, weight]), for instance tuple(zip(*edges)) for a "
            "list of edges, or numpy.array(rows) for a matrix."
        )
        raise GraphError(msg)
    if len(columns) not in (2, 3):
        msg = (
            f"edges must come as (source, target) or (source, target, weight), got "
            f"{len(columns)} parts.\n  Pass one array for each."
        )
        raise GraphError(msg)
    source, target, *rest = (as_column(part) for part in columns)
    return from_edge_arrays(
        source, target, rest[0] if rest and weight is not None else None, symmetrize
    )


def from_table(
    table: Any,
    weight: str | None,
    symmetrize: Symmetrize | None,
    source: str | None = None,
    target: str | None = None,
) -> Graph:
    """Convert a pandas DataFrame or a pyarrow Table by its column names."""
    names: Any = table.column_names if hasattr(table, "column_names") else table.columns
    wanted = edge_columns(list(names), weight, source, target)
    u, v, *rest = (as_column(table[name]) for name in wanted)
    return from_edge_arrays(u, v, rest[0] if rest else None, symmetrize)


def from_edge_arrays(
    source: Any, target: Any, weights: Any, symmetrize: Symmetrize | None
) -> Graph:
    """Convert one-dimensional arrays whose entries are node names."""
    check_lengths([len(column) for column in (source, target, weights) if column is not None])
    if not are_few(source.size) and _are_integers(source, target):
        w = None
        if weights is not None and symmetrize != "union":
            w = checked_weights(weights, lambda t: (source[t].item(), target[t].item()))
        return graph_of_integers(_ArrayEdges(source, target, w), symmetrize)
    u, v, nodes = _named_ends(source, target)
    w = None
    if weights is not None and symmetrize != "union":
        w = checked_weights(weights, lambda t: (nodes[u[t]], nodes[v[t]]))
    return graph_of_edges(u, v, w, nodes, symmetrize)


def from_stream(
    stream: EdgeStream,
    build: Callable[[EdgeStream, Symmetrize | None], Graph],
    symmetrize: Symmetrize | None,
) -> Graph:
    """Convert edges that come in batches with ``build``, or at once if they are few."""
    if not are_few(stream.edges):
        return build(stream, symmetrize)
    batches = list(stream.batches())
    if not batches:
        return from_edge_arrays(np.empty(0, np.int64), np.empty(0, np.int64), None, symmetrize)
    source, target = (
        np.concatenate([_as_array(column) for column in columns])
        for columns in (
            [batch.source for batch in batches],
            [batch.target for batch in batches],
        )
    )
    weights = np.concatenate([batch.weight for batch in batches]) if stream.weighted else None
    return from_edge_arrays(source, target, weights, symmetrize)


def _as_array(names: Any) -> Any:
    return _from_objects([*names]) if isinstance(names, Texts) else names


def check_lengths(lengths: Sequence[int]) -> None:
    """Raise unless all columns have one length."""
    if len(set(lengths)) > 1:
        msg = (
            "source, target and weight must have one entry per edge, got lengths "
            f"{', '.join(map(str, lengths))}.\n  Pass arrays of one length."
        )
        raise GraphError(msg)


def as_column(values: Any) -> Any:
    """Return a one-dimensional array that keeps each value as the caller wrote it."""
    if hasattr(values, "type") and hasattr(values, "to_pylist"):
        values = _arrow_values(values)
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            msg = (
                "source, target and weight must be one-dimensional, got an array of shape "
                f"{values.shape}.\n  Pass one array for each, for instance edges[:, 0]."
            )
            raise GraphError(msg)
        return _from_objects(values) if values.dtype == object else np.asarray(values)
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        msg = (
            "source, target and weight must be arrays with one entry per edge, got "
            f"{type(values).__name__}.\n  Pass for instance ([0, 1], [1, 2])."
        )
        raise GraphError(msg)
    return (
        np.arange(values.start, values.stop, values.step)
        if isinstance(values, range)
        else _from_objects(values)
    )


def _arrow_values(column: Any) -> Any:
    if "dictionary" in str(column.type):
        column = column.cast(column.type.value_type)
    return (
        column.to_numpy(zero_copy_only=False) if hasattr(column, "buffers") else column.to_numpy()
    )


def _from_objects(values: Any) -> Any:
    """Give plain numbers a number type; numpy would turn ``[1, "a"]`` into two strings."""
    kinds = set(map(type, values))
    if kinds <= {int} or (kinds and all(issubclass(kind, np.integer) for kind in kinds)):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass
    if kinds <= {float, int} and float in kinds and all(abs(x) <= 2**53 or x != x for x in values):
        return np.array(values, dtype=np.float64)
    objects = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):
        objects[position] = value
    return objects


def _named_ends(source: Any, target: Any) -> tuple[Indices, Indices, Sequence[Hashable]]:
    """Assign row numbers to node names: integers in rising order, others as they first appear."""
    if source.size == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64), ()
    if _are_integers(source, target):
        return _integer_ends(
            source.astype(np.int64, copy=False), target.astype(np.int64, copy=False)
        )
    return _any_ends(_hashable_list(source), _hashable_list(target))


def _are_integers(*columns: Any) -> bool:
    return all(
        column.dtype.kind in "iu" and int(column.max()) <= np.iinfo(np.int64).max
        for column in columns
    )


@dataclass(frozen=True)
class _ArrayEdges:
    """Edges between integers that are in memory already."""

    source: Any
    target: Any
    weight: Floats | None

    @property
    def edges(self) -> int:
        """Number of edges."""
        return int(self.source.size)

    @property
    def weighted(self) -> bool:
        """Whether there are weights."""
        return self.weight is not None

    def batches(self) -> Iterator[Batch]:
        """Cut the arrays into pieces."""
        for begin in range(0, self.edges, BATCH):
            part = slice(begin, begin + BATCH)
            weight = None if self.weight is None else self.weight[part]
            yield Batch(self.source[part], self.target[part], weight)


def _integer_ends(source: Any, target: Any) -> tuple[Indices, Indices, Sequence[Hashable]]:
    low = int(min(source.min(), target.min()))
    span = int(max(source.max(), target.max())) - low + 1
    if span <= _LOOKUP_SLOTS_PER_END * 2 * source.size + 1024:
        present = np.zeros(span, dtype=bool)
        present[source - low] = True
        present[target - low] = True
        if low == 0 and present.all():
            return source, target, range(span)
        number = np.cumsum(present, dtype=np.int64) - 1
        names = np.flatnonzero(present) + low
        return number[source - low], number[target - low], tuple(names.tolist())
    names, ends = np.unique(np.concatenate([source, target]), return_inverse=True)
    return ends[: source.size], ends[source.size :], tuple(names.tolist())


def _hashable_list(column: Any) -> list[Any]:
    values = column.tolist() if column.dtype.kind in "biufUSO" else list(column)
    if set(map(type, values)) <= {str, int}:
        return values
    for position, value in enumerate(values):
        if value is None or _is_not_itself(value):
            msg = (
                f"node names must not be missing, got {value!r} for edge {position}.\n"
                "  Drop these rows, or name the node."
            )
            raise GraphError(msg)
    return values


def _is_not_itself(value: Any) -> bool:
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def _any_ends(source: list[Any], target: list[Any]) -> tuple[Indices, Indices, Sequence[Hashable]]:
    try:
        nodes = tuple(dict.fromkeys(chain.from_iterable(zip(source, target, strict=True))))
    except TypeError as error:
        msg = f"node names must be hashable: {error}.\n  Use text, numbers or tuples as names."
        raise GraphError(msg) from error
    number = dict(zip(nodes, range(len(nodes)), strict=True)).__getitem__
    u = np.fromiter(map(number, source), np.int64, len(source))
    v = np.fromiter(map(number, target), np.int64, len(target))
    return u, v, nodes
