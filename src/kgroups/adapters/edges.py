"""From edges to a ``Graph``: read options, weights, direction."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._csr import rows_of_edges
from kgroups._types import Floats, Indices, Symmetrize
from kgroups._validation import changed_options, check_choice, check_real
from kgroups._wording import argument, in_python, listed, setting, shown_name
from kgroups.errors import DirectedGraphError, InputError, WeightError
from kgroups.graph import Graph, bad_weight, check_weights

MAX_EXPANSION = 100.0
"""Times its own size to which a compressed file may expand by default."""

EdgeNames = Callable[[int], tuple[object, object]]
Place = Callable[[int], str]


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
    block_bytes : int
        Bytes of text that are parsed at once.
    """

    weight: str | None = "weight"
    symmetrize: Symmetrize | None = None
    source: str | None = None
    target: str | None = None
    max_expansion: float = MAX_EXPANSION
    always_allowed: int = 64 << 20
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


def checked_weights(values: Any, edge: EdgeNames, place: Place | None = None) -> Floats:
    """Return one weight per edge as a new array of floats; text never counts as a number.

    ``edge`` gives the node names of the edge at a position, and ``place`` says where its weight is
    stored, for the error message.
    """
    weights = _as_floats(values, edge)
    check_weights(weights, edge, place)
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
    """Return the graph with a sentence on its weights; see :func:`weights_sentence`."""
    extremes = None
    if graph.m:
        extremes = (1.0, 1.0) if graph.weights is None else _extremes(graph.weights)
    summed = graph.multiplicity is not None
    about = weights_sentence(column, unused, options, extremes, summed=summed)
    return graph._with(about_weights=about)


def weights_sentence(
    column: str | None,
    unused: Sequence[object],
    options: ReadOptions,
    extremes: tuple[float, float] | None,
    *,
    summed: bool,
) -> str:
    """Return a sentence on the weights of a graph, for reports.

    ``column`` says where weights were found, if anywhere; ``unused`` are the names of the others,
    which are told if they are not empty. The smallest and largest weight are those of a graph with
    edges, whose parallel edges were ``summed`` if there were any.
    """
    if column is not None and options.reads_weights:
        text = f"Weights: {column}"
        if extremes is not None:
            low, high = extremes
            text += f", {low:.12g} to {high:.12g}" if low != high else f", all {low:.12g}"
            text += " once parallel edges are summed" if summed else ""
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
    return ". ".join([text, *([", ".join(ways)] if ways else [])]) + "."


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
    union = options.symmetrize == "union"
    rows = rows_of_edges(u, v, None if union else weights, len(nodes))
    graph = Graph(*rows[:3], multiplicity=rows.multiplicity, nodes=nodes)
    return binary(graph) if union else graph
