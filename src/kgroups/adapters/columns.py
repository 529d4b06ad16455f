"""Which columns of a table hold the ends of the edges, and which the weights."""

import re
from collections.abc import Sequence
from typing import Any

from kgroups._wording import argument, setting
from kgroups.adapters.weights import no_such_attribute
from kgroups.errors import GraphError, InputError

__all__ = [
    "check_column_names",
    "edge_columns",
    "end_columns",
    "ends_argument",
    "refuse_column_names",
    "weight_column",
]

_EXAMPLES = "source/target, from/to, src/dst, node1/node2, u/v or the like"

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
    "node",
    "nodeid",
    "vertex",
    "id",
    "user",
    "userid",
    "person",
    "actor",
    "name",
    "author",
    "entity",
    "gene",
    "protein",
)
# In lower case and without anything but letters and digits, so that Node_1 is node1.
_USUAL_PAIRS = (
    *(
        (first + suffix, second + suffix)
        for first, seconds in _SECOND_OF_FIRST.items()
        for second in seconds
        for suffix in _SUFFIXES
    ),
    *((word + first, word + second) for word in _NUMBERED for first, second in ("12", "ab")),
)


def ends_argument() -> str:
    """Return what the caller calls the arguments that name the columns."""
    return f"{argument('source')} and {argument('target')}"


def check_column_names(source: object, target: object) -> None:
    """Raise unless both names are text, or neither is given."""
    if source is None and target is None:
        return
    if isinstance(source, str) and isinstance(target, str) and source != target:
        return
    msg = (
        f"{ends_argument()} must be the names of two columns, or both be left out, got "
        f"{setting('source', source)} and {setting('target', target)}.\n"
        f"  Pass for instance {setting('source', 'from')} and {setting('target', 'to')}."
    )
    raise InputError(msg)


def refuse_column_names(what: str, source: str | None) -> None:
    """Raise if the caller names columns of what has none."""
    if source is not None:
        msg = (
            f"{ends_argument()} name the columns of a table of edges, got {what}, which has "
            "none.\n"
            f"  Leave {ends_argument()} out."
        )
        raise InputError(msg)


def edge_columns(
    names: Sequence[Any], weight: str | None, source: str | None, target: str | None
) -> list[Any]:
    """Choose the columns to read: both ends, and the weights where there are any."""
    ends = end_columns(names, source, target)
    if ends is None:
        msg = (
            "a table of edges must have one column 'source' and one column 'target', got the "
            f"columns {_listed(names)}.\n  Name its columns with {ends_argument()}, or call them "
            f"{_EXAMPLES}."
        )
        raise GraphError(msg)
    column = weight_column(names, weight, ends)
    return [names[i] for i in (*ends, *([] if column is None else [column]))]


def end_columns(
    names: Sequence[Any], source: str | None = None, target: str | None = None
) -> tuple[int, int] | None:
    """Return the places of the columns that hold the ends of the edges.

    Parameters
    ----------
    names : sequence
        The column names of the table.
    source, target : str, optional
        What the caller calls them; by default the usual names are looked for.

    Returns
    -------
    tuple of int or None
        ``None`` if no pair of columns has usual names.

    Raises
    ------
    GraphError
        If a named column does not exist, or several pairs of columns have usual names.
    """
    if source is not None and target is not None:
        first, second = _place(names, source, "source"), _place(names, target, "target")
        if first == second:
            check_column_names(names[first], names[second])
        return first, second
    if names.count("source") == names.count("target") == 1:
        return names.index("source"), names.index("target")
    plain = [re.sub(r"[\W_]", "", name.lower()) if isinstance(name, str) else "" for name in names]
    found = [
        (plain.index(first), plain.index(second))
        for first, second in _USUAL_PAIRS
        if plain.count(first) == plain.count(second) == 1
    ]
    if len(found) > 1 and (plain[found[0][0]], plain[found[0][1]]) != _USUAL_PAIRS[0]:
        pairs = " or ".join(f"{names[i]!r} and {names[j]!r}" for i, j in found)
        msg = (
            f"one pair of columns must hold the ends of the edges, got {pairs}.\n"
            f"  Choose with {ends_argument()}."
        )
        raise GraphError(msg)
    return found[0] if found else None


def weight_column(names: Sequence[Any], weight: str | None, ends: tuple[int, int]) -> int | None:
    """Return the place of the weights; ``None`` if they are not wanted or by default not there."""
    if weight is None:
        return None
    places = _places(names, weight)
    if len(places) == 1:
        return places[0]
    if not places and weight == "weight":
        return None
    others = [name for i, name in enumerate(names) if i not in ends]
    raise no_such_attribute(weight, others, kind="column")


def _places(names: Sequence[Any], wanted: str) -> list[int]:
    """Return where a name stands as it is written, else where it stands in any case of letters."""
    exact = [i for i, name in enumerate(names) if name == wanted]
    return exact or [
        i
        for i, name in enumerate(names)
        if isinstance(name, str) and name.lower() == wanted.lower()
    ]


def _place(names: Sequence[Any], wanted: str, end: str) -> int:
    places = _places(names, wanted)
    if len(places) != 1:
        msg = (
            f"{argument(end)} must name one column of the table, got {wanted!r}; the columns are "
            f"{_listed(names)}.\n  Pass the name of one of them."
        )
        raise GraphError(msg)
    return places[0]


def _listed(names: Sequence[Any]) -> str:
    return ", ".join(repr(name) for name in names) or "none"
