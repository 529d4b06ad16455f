"""Edges in columns: tuples of arrays, and tables whose columns are found by name."""

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence, Set
from itertools import chain
from typing import Any

import numpy as np

from kgroups._types import Indices
from kgroups._wording import argument, in_python, listed
from kgroups.adapters.edges import (
    Place,
    ReadOptions,
    check_column_names,
    checked_weights,
    column_arguments,
    graph_of_edges,
    no_such_attribute,
    with_weights_described,
)
from kgroups.adapters.matrices import from_dense
from kgroups.adapters.numbering import by_first_node, is_missing, missing_name, unique_integers
from kgroups.errors import GraphError
from kgroups.graph import Graph, check_distinct

_SECOND_OF_FIRST = {
    "source": ("target", "destination", "dest"),
    "from": ("to",),
    "src": ("dst", "dest", "tgt", "trg"),
    "origin": ("destination", "dest"),
    "start": ("end",),
    "tail": ("head",),
    "sender": ("receiver", "recipient"),
    "ego": ("alter",),
    "u": ("v",),
    "node": ("neighbor", "neighbour"),
    "follower": ("followee",),
}
_SUFFIXES = ("", "id", "node", "nodeid")
_NUMBERED = (
    *("node", "nodeid", "vertex", "id", "user", "userid", "person"),
    *("actor", "name", "author", "entity", "gene", "protein"),
)
# Columns of one of these names hold the weights if none is called weight.
_USUAL_WEIGHTS = ("weights", "w", "edgeweight", "strength", "value", "count")
_ARROW_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
# What pandas calls the first column of a file that it wrote with its index, and what it writes.
_UNNAMED = ("", "unnamed0")
# In lower case and letters and digits only, so that Node_1 is node1.
_USUAL_PAIRS = (
    *(
        (first + suffix, second + suffix)
        for first, seconds in _SECOND_OF_FIRST.items()
        for second in seconds
        for suffix in _SUFFIXES
    ),
    *((word + first, word + second) for word in _NUMBERED for first, second in ("12", "ab")),
    ("a", "b"),
)


def edge_columns(names: Sequence[Any], options: ReadOptions) -> list[Any]:
    """Choose the columns to read: both ends, and the weights if they are there and wanted."""
    ends = end_columns(names, options.source, options.target)
    if ends is None:
        msg = (
            "a table of edges must have one column 'source' and one column 'target', got the "
            f"columns {listed(names)}.\n  Name its columns with {column_arguments()}, or call "
            "them source/target, from/to, src/dst, node1/node2, u/v or the like."
        )
        msg += in_python(
            "\n  A DataFrame that is an adjacency matrix must have the same index and columns."
        )
        raise GraphError(msg)
    column = weight_column(names, options.weight, ends)
    places = ends if column is None or options.symmetrize == "union" else (*ends, column)
    return [names[i] for i in places]


def with_columns_described(
    graph: Graph, names: Sequence[Any], used: Sequence[Any], options: ReadOptions
) -> Graph:
    """Return the graph with a sentence on which of the columns is the weight."""
    column = f"column {used[2]!r}" if len(used) == 3 else None
    unused = [name for name in names if name not in used]
    return with_weights_described(graph, column, unused, options)


def end_columns(
    names: Sequence[Any], source: str | None = None, target: str | None = None
) -> tuple[int, int] | None:
    """Return the positions of the columns that hold the ends of the edges.

    Without names from the caller the usual pairs are searched for; ``None`` if there is none.
    """
    if source is not None and target is not None:
        first, second = _place(names, source, "source"), _place(names, target, "target")
        if first == second:
            check_column_names(names[first], names[second])
        return first, second
    if names.count("source") == names.count("target") == 1:
        return names.index("source"), names.index("target")
    plain = _plain(names)
    found = [
        (plain.index(first), plain.index(second))
        for first, second in _USUAL_PAIRS
        if plain.count(first) == plain.count(second) == 1
        and ((first, second) != ("a", "b") or _begins_with_a_b(names, plain))
    ]
    if len(found) > 1 and (plain[found[0][0]], plain[found[0][1]]) != _USUAL_PAIRS[0]:
        pairs = " or ".join(f"{names[i]!r} and {names[j]!r}" for i, j in found)
        msg = (
            f"one pair of columns must hold the ends of the edges, got {pairs}.\n"
            f"  Choose with {column_arguments()}."
        )
        raise GraphError(msg)
    return found[0] if found else None


def _begins_with_a_b(names: Sequence[Any], plain: Sequence[str]) -> bool:
    """Return whether columns a and b can be ends: among more columns they are two nodes of many."""
    titled = [
        word
        for name, word in zip(names, plain, strict=True)
        if word not in _UNNAMED or not isinstance(name, str)
    ]
    return titled[:2] == ["a", "b"] and (
        len(titled) <= 3 or {"weight", *_USUAL_WEIGHTS}.issuperset(titled[2:])
    )


def is_adjacency_header(titles: Sequence[Any], first_fields: Sequence[Any]) -> bool:
    """Return whether the first fields of the rows are the titles of all columns but the first."""
    return (
        len(titles) > 2
        and len(first_fields) == len(titles) - 1
        and set(map(str, first_fields)) == set(map(str, titles[1:]))
    )


def weight_column(names: Sequence[Any], weight: str | None, ends: tuple[int, int]) -> int | None:
    """Return the position of the weights; ``None`` if unwanted or by default not there.

    By default a column with another usual name will do, unless there are two.
    """
    if weight is None:
        return None
    found = _positions(names, weight)
    if len(found) == 1:
        return found[0]
    if not found and weight == "weight":
        usual = [
            i for i, name in enumerate(_plain(names)) if name in _USUAL_WEIGHTS and i not in ends
        ]
        return usual[0] if len(usual) == 1 else None
    others = [name for i, name in enumerate(names) if i not in ends]
    raise no_such_attribute(weight, others, kind="column")


def _plain(names: Sequence[Any]) -> list[str]:
    """Return names in lower case, letters and digits only; empty where a name is not text."""
    return [re.sub(r"[\W_]", "", name.lower()) if isinstance(name, str) else "" for name in names]


def _positions(names: Sequence[Any], wanted: str) -> list[int]:
    """Return the positions of a name as it is written, else those in any case of letters."""
    exact = [i for i, name in enumerate(names) if name == wanted]
    return exact or [
        i
        for i, name in enumerate(names)
        if isinstance(name, str) and name.lower() == wanted.lower()
    ]


def _place(names: Sequence[Any], wanted: str, end: str) -> int:
    found = _positions(names, wanted)
    if len(found) != 1:
        msg = (
            f"{argument(end)} must name one column of the table, got {wanted!r}; the columns are "
            f"{listed(names)}.\n  Pass the name of one of them."
        )
        raise GraphError(msg)
    return found[0]


def from_columns(columns: Sequence[Any], options: ReadOptions) -> Graph:
    """Convert ``(source, target)`` or ``(source, target, weight)``."""
    if isinstance(columns, list) and any(isinstance(part, list | tuple | Set) for part in columns):
        what = "sets" if isinstance(columns[0], Set) else "lists"
        msg = (
            f"a list of {what} could hold edges, columns or matrix rows.\n"
            "  Pass [tuple(edge) for edge in edges] for edges, a tuple (source, target[, weight]) "
            "for columns, or numpy.array(rows) for a matrix."
        )
        raise GraphError(msg)
    if len(columns) not in (2, 3):
        msg = (
            f"edges must come as (source, target) or (source, target, weight), got "
            f"{len(columns)} parts.\n  Pass one array for each."
        )
        raise GraphError(msg)
    if isinstance(columns, tuple) and [type(c) is tuple and len(c) for c in columns] == [2, 2, 2]:
        msg = (
            "a tuple of three tuples of length 2 could hold three edges, or the columns source, "
            "target and weight of two.\n  Pass list(edges) for edges, or a tuple of numpy arrays "
            "for columns."
        )
        raise GraphError(msg)
    graph = from_edge_arrays(*map(as_column, columns), options=options)
    if len(columns) == 2:
        return graph
    return with_weights_described(graph, "the third array", (), options)


def from_array(array: Any, options: ReadOptions) -> Graph:
    """Convert an adjacency matrix, or edges in the rows of an array of two columns."""
    is_pairs = array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu"
    if not is_pairs or isinstance(array, np.ma.MaskedArray):
        return from_dense(array, options)
    if array.shape[0] == 2:
        msg = (
            "a 2 x 2 array of integers could be an adjacency matrix of two nodes, or two edges in "
            "rows.\n  Pass (array[:, 0], array[:, 1]) for edges, or array.astype(float) for a "
            "matrix."
        )
        raise GraphError(msg)
    pairs = np.asarray(array)
    return from_edge_arrays(pairs[:, 0], pairs[:, 1], options=options)


def from_table(table: Any, options: ReadOptions) -> Graph:
    """Convert a table of edges by its column names, or an adjacency matrix of pandas."""
    if options.source is None and _is_adjacency(table):
        numbered = table.index.tolist() in ([0, 1], [0, 1, 2])
        if numbered and all(table[name].dtype.kind in "iu" for name in (0, 1)):
            msg = (
                f"a table of {len(table)} rows whose columns have no names could hold edges, or be "
                "an adjacency matrix.\n  Name its columns source and target for edges, or pass "
                "table.to_numpy(float) for a matrix."
            )
            raise GraphError(msg)
        return _from_adjacency(table, options)
    names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    if options.source is None:
        if names in ([0, 1], [0, 1, 2]):
            return _from_numbered_columns(table, names, options)
        _refuse_misplaced_index(table, names)
    used = edge_columns(names, options)
    graph = from_edge_arrays(*(as_column(table[name]) for name in used), options=options)
    return with_columns_described(graph, names, used, options)


def _from_numbered_columns(table: Any, names: Sequence[int], options: ReadOptions) -> Graph:
    """Convert a table that pandas has made of tuples ``(u, v)`` or ``(u, v, weight)``."""
    graph = from_edge_arrays(*(as_column(table[name]) for name in names), options=options)
    if len(names) == 2:
        return graph
    return with_weights_described(graph, "the third column (no header)", (), options)


def _is_adjacency(table: Any) -> bool:
    """Return whether the rows and columns of a table have the same names, in the same order."""
    return hasattr(table, "index") and len(table) > 0 and table.index.equals(table.columns)


def _refuse_misplaced_index(table: Any, names: Sequence[Any]) -> None:
    """Refuse an adjacency matrix whose index is in another order, or in the first column."""
    n = len(table)
    if hasattr(table, "index") and n == len(names) and set(table.index) == set(names):
        msg = (
            "a table that is an adjacency matrix must have the same index and columns, in the same "
            f"order, got the index {listed(table.index, 3)} and the columns {listed(names, 3)}.\n"
            "  Pass table[table.index]."
        )
        raise GraphError(msg)
    if n == len(names) - 1 and is_adjacency_header(names, np.asarray(table[names[0]]).tolist()):
        msg = (
            "a table of edges must have a column for each end, got one whose first column holds "
            f"the names of the others, {listed(names[1:], 3)}: it looks like an adjacency matrix."
            f"\n  Make the first column its index: table.set_index({names[0]!r}). "
            f"If it holds edges, pass {column_arguments()}."
        )
        raise GraphError(msg)


def _from_adjacency(frame: Any, options: ReadOptions) -> Graph:
    matrix, nodes = frame.to_numpy(), frame.index.tolist()
    check_distinct(nodes, " in the index of the adjacency matrix")
    return from_dense(
        matrix, options, range(len(nodes)) if nodes == [*range(len(nodes))] else nodes
    )


def from_edge_arrays(
    source: Any,
    target: Any,
    weight: Any = None,
    *,
    options: ReadOptions,
    place: Place | None = None,
) -> Graph:
    """Convert columns of node names and weights; ``place`` says where each weight is stored."""
    if options.weight is None:
        weight = None
    check_lengths([len(column) for column in (source, target, weight) if column is not None])
    u, v, nodes = _numbered(source, target)
    weights = None
    if weight is not None and options.reads_weights:
        weights = checked_weights(np.asarray(weight), lambda t: (nodes[u[t]], nodes[v[t]]), place)
    return graph_of_edges(u, v, weights, nodes, options)


def check_lengths(lengths: Sequence[int]) -> None:
    """Raise unless all columns have the same length."""
    if len(set(lengths)) > 1:
        msg = (
            "source, target and weight must have one entry per edge, got lengths "
            f"{', '.join(map(str, lengths))}.\n  Pass arrays of one length."
        )
        raise GraphError(msg)


def as_column(values: Any) -> Any:
    """Return a one-dimensional array that keeps each value as the caller wrote it.

    Text in arrow stays there, where names are numbered faster than in Python.
    """
    if hasattr(values, "type") and hasattr(values, "to_pylist"):
        if "dictionary" in str(values.type):
            values = values.cast(values.type.value_type)
        if str(values.type) in _ARROW_TEXTS and not values.null_count:
            return values
        values = np.asarray(values)
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
    if isinstance(values, str | bytes | Set) or not hasattr(values, "__len__"):
        msg = (
            "source, target and weight must be arrays with one entry per edge, got "
            f"{type(values).__name__}.\n  Pass for instance ([0, 1], [1, 2])."
        )
        raise GraphError(msg)
    return np.asarray(values) if isinstance(values, range) else _from_objects(values)


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


def _numbered(source: Any, target: Any) -> tuple[Indices, Indices, Sequence[Hashable]]:
    """Return row numbers: integers in ascending order, other names in order of appearance."""
    m = len(source)
    if m == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64), ()
    types = {getattr(column, "type", None) for column in (source, target)}
    if types != {None} and len(types) == 1:
        return _numbered_texts(source, target)
    source, target = (np.asarray(column) for column in (source, target))
    if all(column.dtype.kind in "iu" and int(column.max()) < 2**63 for column in (source, target)):
        numbers, (u, v) = unique_integers(source, target)
        in_order = numbers[0] == 0 and numbers[-1] == numbers.size - 1
        return u, v, range(numbers.size) if in_order else tuple(numbers.tolist())
    number: defaultdict[Hashable, int] = defaultdict()
    number.default_factory = number.__len__
    edges = zip(_hashable_list(source), _hashable_list(target), strict=True)
    try:
        codes = np.fromiter(map(number.__getitem__, chain.from_iterable(edges)), np.int64, 2 * m)
    except TypeError as error:
        msg = f"node names must be hashable: {error}.\n  Use text, numbers or tuples as names."
        raise GraphError(msg) from error
    return codes[::2], codes[1::2], tuple(number)


def _numbered_texts(source: Any, target: Any) -> tuple[Indices, Indices, Sequence[Hashable]]:
    """Return row numbers of the texts in two arrow columns, in order of appearance."""
    import pyarrow

    chunks = [part for end in (source, target) for part in getattr(end, "chunks", [end])]
    texts = pyarrow.chunked_array(chunks).dictionary_encode().combine_chunks()
    codes = texts.indices.to_numpy().reshape(2, -1)
    appearing, codes = by_first_node(codes.T.ravel())
    return codes[::2], codes[1::2], tuple(texts.dictionary.take(appearing).to_pylist())


def _hashable_list(column: Any) -> list[Any]:
    values = column.tolist() if column.dtype.kind in "biufUSO" else list(column)
    if set(map(type, values)) <= {str, int}:
        return values
    for position, value in enumerate(values):
        if value is None or is_missing(value):
            raise missing_name(repr(value), f"for edge {position}")
    return values
