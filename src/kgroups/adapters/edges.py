"""From edges to a ``Graph``: read options, weights, direction, and edges that come in batches."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import (
    FEW_EDGES,
    Columns,
    columns_of_edges,
    index_type,
    rows_of_columns,
    rows_of_edges,
)
from kgroups._progress import tell_share
from kgroups._types import Bools, Floats, Indices, Symmetrize
from kgroups._validation import changed_options, check_choice, check_real
from kgroups._wording import argument, in_python, listed, setting, shown_name
from kgroups.adapters.numbering import IntegerNames, TextNames
from kgroups.errors import DirectedGraphError, GraphError, InputError, WeightError
from kgroups.graph import Graph, bad_weight, check_weights

MAX_EXPANSION = 100.0
"""Times its own size to which a compressed file may expand by default."""

# Share of the time of reading after which the least and the largest name are known.
_EXTENT_SHARE = 0.4
# A lookup table of names pays while it has at most this many slots per edge.
_LOOKUP_SLOTS_PER_EDGE = 2

EdgeNames = Callable[[int], tuple[object, object]]


@dataclass(frozen=True)
class ReadOptions:
    """How to convert an input: the arguments of the caller, and sizes that do not change results.

    Attributes
    ----------
    weight, source, target, symmetrize
        As in :func:`kgroups.as_graph`.
    max_expansion : float
        As in :func:`kgroups.read_graph`.
    always_allowed : int
        Bytes to which any compressed file may expand.
    few_edges : int
        Up to this many edges scipy builds the matrix, and names are numbered at once.
    batch : int
        Edges per batch: few enough to stay in the cache from one step to the next.
    first_names : int
        Distinct names that a hash table holds before it first grows.
    block_bytes : int
        Bytes of text that are parsed at once.
    """

    weight: str | None = "weight"
    symmetrize: Symmetrize | None = None
    source: str | None = None
    target: str | None = None
    max_expansion: float = MAX_EXPANSION
    always_allowed: int = 64 << 20
    few_edges: int = FEW_EDGES
    batch: int = 1 << 18
    first_names: int = 1 << 10
    block_bytes: int = 1 << 24

    __repr__ = changed_options

    def __post_init__(self) -> None:
        check_choice("symmetrize", self.symmetrize, (None, "sum", "union"))
        if self.max_expansion != MAX_EXPANSION:
            hint = (
                f"  Pass for instance {setting('max_expansion', 1000)}, or "
                f"{setting('max_expansion', math.inf)} for no limit."
            )
            check_real("max_expansion", self.max_expansion, low=1.0, finite=False, hint=hint)
        if self.weight is not None and not isinstance(self.weight, str):
            msg = (
                f"weight must be the name of an edge attribute or None, got {self.weight!r}.\n"
                f"  Pass for instance {setting('weight', 'weight')}, or {setting('weight', None)} "
                "to ignore all weights."
            )
            raise InputError(msg)
        if self.source is not None or self.target is not None:
            check_column_names(self.source, self.target)

    @property
    def reads_weights(self) -> bool:
        """Whether weights are wanted at all."""
        return self.weight is not None and self.symmetrize != "union"

    def refuse_column_names(self, what: str) -> None:
        """Raise if the caller names columns of an input that has none."""
        if self.source is not None:
            msg = (
                f"{column_arguments()} name the columns of a table of edges, got {what}, which "
                f"has none.\n  Leave {column_arguments()} out."
            )
            raise InputError(msg)


def column_arguments() -> str:
    """Return the arguments that name the columns of a table, as the caller writes them."""
    return f"{argument('source')} and {argument('target')}"


def check_column_names(source: object, target: object) -> None:
    """Raise unless both names are text and differ."""
    if not (isinstance(source, str) and isinstance(target, str) and source != target):
        msg = (
            f"{column_arguments()} must be the names of two columns, or both be left out, got "
            f"{setting('source', source)} and {setting('target', target)}.\n"
            f"  Pass for instance {setting('source', 'from')} and {setting('target', 'to')}."
        )
        raise InputError(msg)


def checked_weights(values: Any, edge: EdgeNames) -> Floats:
    """Return one weight per edge as a new array of floats; text never counts as a number.

    ``edge`` gives the node names of the edge at a position, for the error message.
    """
    weights = _as_floats(values, edge)
    check_weights(weights, edge)
    return weights


def _as_floats(values: Any, edge: EdgeNames) -> Floats:
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "biuf":
            with np.errstate(over="ignore"):
                return values.astype(np.float64)
        values = list(values)
    if all(
        issubclass(kind, float | int | np.floating | np.integer) for kind in set(map(type, values))
    ):
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:
            pass
    weights = np.empty(len(values))
    bad: list[int] = []
    for position, value in enumerate(values):
        try:
            if isinstance(value, str | bytes | bytearray | complex | np.complexfloating):
                raise TypeError
            weights[position] = float(value)
        except (TypeError, ValueError, OverflowError):
            bad.append(position)
    if bad:
        value = values[bad[0]]
        must = "numbers" if isinstance(value, str | bytes) else "finite and >= 0"
        raise bad_weight(shown_name(value), edge(bad[0]), count=len(bad), must=must)
    return weights


def no_such_attribute(weight: str | None, found: Iterable[object], *, kind: str) -> WeightError:
    """Return the error for a weight that the caller named and no edge has."""
    names = listed(sorted(found, key=shown_name))
    return WeightError(
        f"{argument('weight')} must name an edge {kind} of the graph, got {weight!r}; it has "
        f"{names}.\n"
        f"  Pass the name of one of its edge {kind}s, or {setting('weight', None)} to ignore all "
        "weights."
    )


def symmetrize_arguments() -> str:
    """Return the arguments that make a directed graph undirected."""
    return (
        f"{setting('symmetrize', 'sum')} (the weights of both directions are added) or "
        f"{setting('symmetrize', 'union')} (an edge of weight 1 wherever there is one)"
    )


def refuse_directed(what: str, options: ReadOptions) -> None:
    """Raise for a directed graph unless the options say how to symmetrize it."""
    if options.symmetrize is None:
        other = in_python(
            "\n  G.to_undirected() of networkx drops the directions too; where both exist it keeps "
            "the weight of one and does not add them."
        )
        msg = (
            f"the graph must be undirected, got {what}: communities and scores are defined for "
            "undirected links here; the Bethe Hessian, for one, has real eigenvalues because its "
            f"adjacency matrix is symmetric.\n  Pass {symmetrize_arguments()}.{other}"
        )
        raise DirectedGraphError(msg)


def with_weights_described(
    graph: Graph, column: str | None, unused: Sequence[object], options: ReadOptions
) -> Graph:
    """Return the graph with a sentence on its weights, for reports.

    ``column`` says where weights were found, if anywhere; ``unused`` are the names of the others,
    which are told if they are not empty.
    """
    if column is not None and options.reads_weights:
        text = f"Weights: {column}"
        if graph.m:
            low, high = (1, 1) if graph.weights is None else _extremes(graph.weights)
            text += f", {low:.12g} to {high:.12g}" if low != high else f", all {low:.12g}"
            text += " once parallel edges are summed" if graph.multiplicity is not None else ""
        ways = [f"{setting('weight', None)} uses none"]
    else:
        because = ""
        if options.symmetrize == "union":
            because = f", by {setting('symmetrize', 'union')}"
        elif options.weight is None:
            because = f", by {setting('weight', None)}"
        text, ways = f"Weights: none, each listed edge counts 1{because}", []
    unused = [name for name in unused if not isinstance(name, str) or name.strip()]
    if unused:
        text += f"; not used: {listed(unused)}"
        if options.reads_weights:
            name = unused[0] if len(unused) == 1 else "NAME"
            ways.insert(0, f"{setting('weight', name)} uses {'it' if len(unused) == 1 else 'one'}")
    sentence = ". ".join([text, *([", ".join(ways)] if ways else [])]) + "."
    return graph._with(about_weights=sentence)


def _extremes(weights: Floats) -> tuple[float, float]:
    return float(weights.min()), float(weights.max())


def binary(graph: Graph) -> Graph:
    """Return the graph with weight 1 on each edge and no parallel edges."""
    if graph.weights is None and graph.multiplicity is None:
        return graph
    return graph._with(weights=None, multiplicity=None)


def graph_of_edges(
    u: Indices,
    v: Indices,
    weights: Floats | None,
    nodes: Sequence[Hashable],
    options: ReadOptions,
) -> Graph:
    """Build the graph of edges or arcs between valid row indices, with valid weights."""
    n, union = len(nodes), options.symmetrize == "union"
    if union and u.size > options.few_edges:
        rows = rows_of_columns(columns_of_edges(u, v, None, n), binary=True)
    else:
        rows = rows_of_edges(u, v, weights, n, few_edges=options.few_edges)
    graph = Graph(*rows[:3], multiplicity=rows.multiplicity, nodes=nodes)
    return binary(graph) if union else graph


class Batch(NamedTuple):
    """Some edges: names as integers or :class:`Texts`, and weights."""

    source: Any
    target: Any
    weight: Floats | None


@dataclass(frozen=True)
class EdgeStream:
    """A number of edges that ``batches()`` reads from the start, as often as it is called."""

    edges: int
    weighted: bool
    batches: Callable[[], Iterator[Batch]]


@dataclass
class _Ends:
    """Row numbers of both ends of each edge, and weights."""

    u: Indices
    v: Indices
    w: Floats | None
    batch: int

    def pieces(self) -> Iterator[Indices]:
        """Yield parts of both arrays, so that temporary arrays stay small."""
        for array in (self.u, self.v):
            for begin in range(0, array.size, self.batch):
                yield array[begin : begin + self.batch]

    def present(self, span: int) -> Bools:
        """Return which of ``range(span)`` are row numbers."""
        present = np.zeros(span, dtype=bool)
        for numbers in self.pieces():
            present[numbers] = True
        return present

    def renumber(self, number: Indices) -> None:
        """Replace each row number ``i`` by ``number[i]``."""
        for numbers in self.pieces():
            numbers[:] = number[numbers]

    def take_columns(self, n: int) -> Columns:
        """Group the edges by their larger end, and free the arrays that they came in."""
        columns = columns_of_edges(self.u, self.v, self.w, n)
        self.u = self.v = np.empty(0, np.int32)
        self.w = None
        return columns


def graph_of_integers(stream: EdgeStream, options: ReadOptions) -> Graph:
    """Build a graph of edges between integers, which are numbered in ascending order.

    If some integer does not fit into int64, all are numbered in order of appearance.
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
        return _graph_of_scattered(stream, np.uint64, options)
    if span > _LOOKUP_SLOTS_PER_EDGE * stream.edges:
        return _graph_of_scattered(stream, np.int64, options)

    def subtract_low(source: Any, target: Any, u: Indices, v: Indices) -> None:
        for names, numbers in ((source, u), (target, v)):
            signed = names.astype(np.int64, copy=False)
            np.subtract(signed, low, out=numbers, casting="unsafe")

    ends = _read_ends(stream, subtract_low, options)
    present = ends.present(span)
    if present.all():
        return _built(ends.take_columns(span), options, lambda: range(low, low + span))
    ends.renumber(np.cumsum(present, dtype=ends.u.dtype) - ends.u.dtype.type(1))
    n = int(np.count_nonzero(present))
    return _built(ends.take_columns(n), options, lambda: (np.flatnonzero(present) + low).tolist())


def _graph_of_scattered(
    stream: EdgeStream, kind: type[np.integer[Any]], options: ReadOptions
) -> Graph:
    """Build a graph of edges between integers with wide gaps, numbered by hashing."""
    table = IntegerNames(kind, options.first_names)
    ends = _read_ends(stream, table.number, options)
    names = table.take_names()
    if kind is np.int64:
        order = np.argsort(names)
        rank = np.empty(names.size, ends.u.dtype)
        rank[order] = np.arange(names.size)
        ends.renumber(rank)
        names = names[order]
    return _built(ends.take_columns(names.size), options, names.tolist)


def graph_of_texts(stream: EdgeStream, options: ReadOptions) -> Graph:
    """Build a graph of edges between texts, which are numbered in order of appearance."""
    table = TextNames(options.first_names)
    ends = _read_ends(stream, table.number, options, before=0.0)
    return _built(ends.take_columns(table.count), options, table.take_names)


def _extent(stream: EdgeStream) -> tuple[int, int]:
    low, high, done = 0, -1, 0
    for batch in stream.batches():
        done += len(batch.source)
        tell_share(_EXTENT_SHARE * done, stream.edges)
        for names in (batch.source, batch.target):
            least, most = int(names.min()), int(names.max())
            low, high = (least, most) if high < low else (min(low, least), max(high, most))
    return low, high


def _read_ends(
    stream: EdgeStream,
    number: Callable[[Any, Any, Indices, Indices], None],
    options: ReadOptions,
    *,
    before: float = _EXTENT_SHARE,
) -> _Ends:
    """Read all edges; ``number`` writes the row numbers of the ends of a batch.

    ``before`` is the share of the reading that is done.
    """
    m = stream.edges
    u, v = np.empty((2, m), index_type(2 * m))
    w = np.empty(m) if stream.weighted and options.reads_weights else None
    done = 0
    for batch in stream.batches():
        part = slice(done, done + len(batch.source))
        done = part.stop
        if done > m:
            break
        number(batch.source, batch.target, u[part], v[part])
        tell_share(before + (1.0 - before) * done / m, 1.0)
        if w is not None:
            w[part] = batch.weight
    if done != m:
        msg = (
            f"the file announces {m} edges, but it holds a different number.\n"
            "  Check that the file is complete."
        )
        raise GraphError(msg)
    return _Ends(u, v, w, options.batch)


def _built(
    columns: Columns, options: ReadOptions, names: Callable[[], Sequence[Hashable]]
) -> Graph:
    rows = rows_of_columns(columns, binary=options.symmetrize == "union")
    # Names are Python objects and may take as much memory as the rows, so they are made last.
    del columns
    return Graph(*rows[:3], multiplicity=rows.multiplicity, nodes=names())
