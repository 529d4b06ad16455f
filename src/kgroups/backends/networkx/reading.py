"""Read the dicts of networkx graphs into arrays, without checks that networkx does not make."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from kgroups._types import Indices

__all__ = ["Arcs", "Weights", "attribute_values", "edge_data", "read_arcs", "sums_of"]

Weights: TypeAlias = npt.NDArray[Any]
"""int64 or float64: whole numbers stay whole, so that results have networkx's types."""

_LARGEST_SUM = 2.0**62


class Arcs(NamedTuple):
    """Successors in sorted CSR rows, and the place of each entry in the order of the dicts."""

    nodes: tuple[Hashable, ...]
    indptr: Indices
    indices: Indices
    place: Indices


def read_arcs(adjacency: dict[Any, Any]) -> Arcs:
    """Read the successors of each node from a dict of dicts."""
    from scipy import sparse

    nodes = tuple(adjacency)
    n = len(nodes)
    number = dict(zip(nodes, range(n), strict=True)).__getitem__
    lengths = np.fromiter(map(len, adjacency.values()), np.int64, n)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    entries = int(indptr[-1])
    neighbours = np.fromiter(
        map(number, chain.from_iterable(adjacency.values())), np.int64, entries
    )
    unsorted = sparse.csr_array((np.arange(entries), neighbours, indptr), shape=(n, n))
    # There and back: each of the two transpositions is linear, and the second one sorts.
    rows = unsorted.tocsc().tocsr()
    return Arcs(nodes, rows.indptr, rows.indices, rows.data)


def edge_data(adjacency: dict[Any, Any]) -> Iterator[Any]:
    """Yield what each adjacency entry holds: attributes, or the parallel edges of a multigraph."""
    return chain.from_iterable(map(dict.values, adjacency.values()))


def attribute_values(
    attributes: Callable[[], Iterable[Any]], name: str, default: object
) -> Weights | None:
    """Return one edge attribute as whole numbers or floats, ``None`` if every edge weighs 1.

    Parameters
    ----------
    attributes : callable
        Begins a new walk over the attribute dicts of the edges.
    name : str
        The attribute.
    default : number
        Stands in where an edge has no such attribute.

    Raises
    ------
    NotImplementedError
        If a value is neither an int nor a float, or sums could overflow.
    """
    if default == 1 and not any(attributes()):
        return None
    try:
        values = list(map(itemgetter(name), attributes()))
    except KeyError:
        values = [data.get(name, default) for data in attributes()]
    return _checked_numbers(values, name)


def _checked_numbers(values: list[Any], name: str) -> Weights | None:
    """Return the values as an array in which networkx would sum them to the same numbers."""
    kinds = set(map(type, values))
    if not kinds <= {int, float, np.float64, np.int64}:
        others = sorted(kind.__name__ for kind in kinds - {int, float, np.float64, np.int64})
        msg = f"the edge attribute {name!r} must hold int and float values only, got {others}"
        raise NotImplementedError(msg)
    try:
        numbers = np.array(values, dtype=np.int64 if kinds <= {int, np.int64} else np.float64)
    except OverflowError as error:
        msg = f"the edge attribute {name!r} holds numbers beyond 64 bits"
        raise NotImplementedError(msg) from error
    if numbers.dtype.kind == "i":
        if np.abs(numbers.astype(float)).sum() >= _LARGEST_SUM:
            msg = f"sums of the edge attribute {name!r} could exceed 64 bits"
            raise NotImplementedError(msg)
        if np.all(numbers == 1):
            return None
    return numbers


def sums_of(values: Weights, place: Indices, size: int) -> Weights:
    """Add up values that share a place, whole numbers exactly."""
    totals: Weights = np.zeros(size, dtype=values.dtype)
    if values.dtype.kind == "f":
        totals += np.bincount(place, weights=values, minlength=size)
    else:
        np.add.at(totals, place, values)
    return totals
