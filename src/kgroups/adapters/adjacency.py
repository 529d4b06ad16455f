"""The structure of a dict of dicts as sorted CSR rows, read without touching edge data."""

from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from kgroups._types import Indices, index_type

__all__ = ["Structure", "read_structure"]

_LOOKUP_SLOTS_PER_NODE = 16


class Structure:
    """Sorted CSR rows of an undirected graph, and where each edge stands in its dicts.

    Parameters
    ----------
    indptr, neighbours : ndarray of int
        Neighbours of each node, as row indices, in the order of the dicts.
    nodes : sequence of hashable
        Names in row order.
    names : tuple of hashable
        The neighbours by name.
    """

    def __init__(
        self,
        indptr: Indices,
        neighbours: Indices,
        nodes: Sequence[Hashable],
        names: tuple[Hashable, ...],
    ) -> None:
        from scipy import sparse

        self.nodes = nodes
        self._names = names
        self._neighbours = neighbours
        self._dict_indptr = indptr
        places = np.arange(len(neighbours), dtype=neighbours.dtype)
        unsorted = sparse.csr_array((places, neighbours, indptr), shape=(len(nodes), len(nodes)))
        # Columns of a symmetric matrix are its rows, and the transposition sorts them on the way.
        turned = unsorted.tocsc()
        self.indptr, self.indices = turned.indptr, turned.indices
        self._place_of_turned = turned.data

    def counts_match(self, adjacency: dict[Any, Any]) -> bool:
        """Whether the dicts still have as many nodes and entries."""
        entries = sum(map(len, adjacency.values()))
        return len(adjacency) == len(self.nodes) and entries == len(self.indices)

    def matches(self, adjacency: dict[Any, Any]) -> bool:
        """Whether the dicts still have these nodes and entries, in this order."""
        return (
            self.counts_match(adjacency)
            and list(adjacency) == list(self.nodes)
            and list(map(len, adjacency.values())) == np.diff(self._dict_indptr).tolist()
            and tuple(chain.from_iterable(adjacency.values())) == self._names
        )

    @cached_property
    def _rising(self) -> npt.NDArray[np.bool_]:
        rows = np.repeat(np.arange(len(self.nodes)), np.diff(self._dict_indptr))
        rising: npt.NDArray[np.bool_] = rows <= self._neighbours
        return rising

    @cached_property
    def one_direction(self) -> bytes:
        """A 1 for the entry of each edge that is met first by row, a 0 for its twin."""
        return self._rising.tobytes()

    @cached_property
    def edge_of_slot(self) -> Indices:
        """Number of the edge, in the order of ``one_direction``, behind each sorted CSR entry."""
        from scipy import sparse

        n = len(self.nodes)
        number = np.cumsum(self._rising, dtype=self.indices.dtype) - 1
        below = np.where(self._rising, number, -1)[self._place_of_turned]
        turned = sparse.csr_array((below, self.indices, self.indptr), shape=(n, n)).tocsc()
        edges: Indices = np.maximum(below, turned.data)
        return edges

    def edge_names(self, edge: int) -> tuple[Hashable, Hashable]:
        """Names of the ends of an edge, for messages."""
        place = int(np.flatnonzero(self._rising)[edge])
        row = int(np.searchsorted(self._dict_indptr, place, side="right")) - 1
        return self.nodes[row], self.nodes[self._neighbours[place]]


def read_structure(adjacency: dict[Any, Any]) -> Structure:
    """Read the neighbours of each node from a dict of dicts that holds each edge both ways."""
    n = len(adjacency)
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, adjacency.values()), np.int64, n), out=indptr[1:])
    entries = int(indptr[-1])
    kind = index_type(n, entries)
    names = tuple(chain.from_iterable(adjacency.values()))
    neighbours, nodes = _neighbours(adjacency, names, kind)
    return Structure(indptr.astype(kind), neighbours, nodes, names)


def _neighbours(
    adjacency: dict[Any, Any], flat: tuple[Any, ...], kind: type[np.signedinteger[Any]]
) -> tuple[Indices, Sequence[Hashable]]:
    n, entries = len(adjacency), len(flat)
    kinds = set(map(type, adjacency))
    if kinds and all(issubclass(kind, int | np.integer) for kind in kinds):
        try:
            names = np.fromiter(adjacency, np.int64, n)
            found = np.fromiter(flat, np.int64, entries)
        except OverflowError:
            pass
        else:
            in_order = np.array_equal(names, np.arange(n))
            nodes = range(n) if in_order and kinds == {int} else tuple(adjacency)
            numbered = found if in_order else _positions(names, found)
            return numbered.astype(kind, copy=False), nodes
    nodes = tuple(adjacency)
    number = dict(zip(nodes, range(n), strict=True)).__getitem__
    return np.fromiter(map(number, flat), kind, entries), nodes


def _positions(names: Indices, found: Indices) -> Indices:
    """Replace each integer name by its place in ``names``."""
    low, high = int(names.min()), int(names.max())
    if high - low < _LOOKUP_SLOTS_PER_NODE * len(names) + 1024:
        place = np.empty(high - low + 1, dtype=np.int64)
        place[names - low] = np.arange(len(names))
        looked_up: Indices = place[found - low]
        return looked_up
    order: Indices = np.argsort(names)
    positions: Indices = order[np.searchsorted(names[order], found)]
    return positions
