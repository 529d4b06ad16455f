"""What edges must hold: weights that are finite and not negative, or an error with the place."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from kgroups._types import Floats
from kgroups._wording import argument, setting
from kgroups.errors import GraphError, InputError, WeightError
from kgroups.graph import bad_weight_message

__all__ = [
    "bad_weight_of_row",
    "check_weight_name",
    "checked_weights",
    "fractional_names",
    "missing_name",
    "no_such_attribute",
    "weights_of_rows",
]

EdgeNames = Callable[[int], tuple[object, object]]


def check_weight_name(weight: object) -> None:
    """Raise unless ``weight`` can name an edge attribute or is None."""
    if weight is not None and not isinstance(weight, str):
        msg = (
            f"weight must be the name of an edge attribute or None, got {weight!r}.\n"
            f"  Pass for instance {setting('weight', 'weight')}, or {setting('weight', None)} to "
            "ignore all weights."
        )
        raise InputError(msg)


def checked_weights(values: Any, edge: EdgeNames) -> Floats:
    """Return the weights as floats.

    Parameters
    ----------
    values : ndarray or sequence
        One weight per edge; text never counts as a number.
    edge : callable
        Gives the node names of the edge at a position, for the error message.

    Returns
    -------
    ndarray of float
        A new array.

    Raises
    ------
    WeightError
        If a weight is not a number, not finite or negative.
    """
    weights = _as_floats(values, edge)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        first = int(bad[0])
        raise WeightError(bad_weight_message(weights[first], edge(first), int(bad.size)))
    return weights


def weights_of_rows(
    values: Any, source: Any, target: Any, *, column: str, first_row: int
) -> Floats:
    """Return some rows of a column of numbers as weights.

    The error names the first row that is bad, and the edge by its entries in the columns of ends.
    """
    with np.errstate(over="ignore"):
        weights: Floats = np.asarray(values, np.float64)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        t = int(bad[0])
        raise bad_weight_of_row(source[t], target[t], weights[t], column, first_row + t)
    return weights


def bad_weight_of_row(
    source: Any, target: Any, value: object, column: str, row: int
) -> WeightError:
    """Return the error for a weight that is missing or no weight."""
    u, v = (end.item() if isinstance(end, np.generic) else end for end in (source, target))
    return WeightError(bad_weight_message(value, (u, v), place=f", {_place(column, row)}"))


def _place(column: str, row: int) -> str:
    return f"in column {column!r}, row {row} (the first is 0)"


def missing_name(column: str, row: int) -> GraphError:
    """Return the error for an edge without one of its ends."""
    return GraphError(
        f"node names must not be missing, got null {_place(column, row)}.\n"
        "  Drop these rows, or name the node."
    )


def fractional_names(column: str, kind: str) -> GraphError:
    """Return the error for a column of names that are not whole numbers."""
    return GraphError(
        f"node names in a file must be whole numbers or text, got {kind} in column {column!r}.\n"
        "  Write the column with an integer type. Tables turn whole numbers into floats where "
        "some are missing:\n  drop these rows first. Beyond 2**53 digits are lost by then."
    )


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
    return _floats_one_by_one(values, edge)


def _floats_one_by_one(values: Sequence[Any], edge: EdgeNames) -> Floats:
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
        raise WeightError(bad_weight_message(repr(values[bad[0]]), edge(bad[0]), len(bad)))
    return weights


def no_such_attribute(weight: str, found: Iterable[object], *, kind: str) -> WeightError:
    """Return the error for a weight that the caller named and no edge has."""
    listed = ", ".join(sorted(repr(name) for name in found))
    instead = f"it has {listed}" if listed else "it has none"
    return WeightError(
        f"{argument('weight')} must name an edge {kind} of the graph, got {weight!r}; {instead}.\n"
        f"  Pass the name of one of its edge {kind}s, or {setting('weight', None)} to ignore all "
        "weights."
    )
