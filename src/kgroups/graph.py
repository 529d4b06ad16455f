"""The graph type: a frozen symmetric CSR matrix with node names, and their canonical order."""

import operator
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kgroups._csr import (
    Rows,
    constant,
    diagonal_slots,
    index_type,
    masked,
    permuted_rows,
    readonly_view,
    row_lengths,
    rows_of,
    rows_of_edges,
)
from kgroups._types import CSR, Floats, Indices, Ints
from kgroups._validation import plain_name
from kgroups._wording import listed, setting, shown_name
from kgroups.errors import GraphError, WeightError

if TYPE_CHECKING:
    from scipy import sparse


class Graph:
    """An undirected graph as a frozen symmetric CSR matrix with node names.

    Parameters
    ----------
    indptr, indices : ndarray
        Compressed sparse rows, columns sorted and without repeats in each row. An edge between
        two nodes is stored in both rows, a self-loop once. Stored as int32 while that fits.
    weights : ndarray of float, optional
        Weight of each entry; ``None`` when every edge has weight 1. Parallel edges are one entry
        with the sum of their weights.
    multiplicity : ndarray of int, optional
        Number of parallel edges behind each entry; ``None`` when there are none.
    nodes : sequence of hashable, optional
        Names in row order; ``None`` for ``range(n)``.
    about_weights : str
        A sentence on the column that the weights were read from, for reports; empty where there
        are no columns.
    name : str, optional
        Name of the graph, which titles its reports; it means nothing else.

    Notes
    -----
    The constructor trusts the entries to be symmetric; it checks shapes only. Use
    :meth:`from_edges`, or ``kgroups.as_graph`` for everything else that can hold a graph.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> graph
    Graph(3 nodes, 3 edges)
    >>> graph.degrees
    array([2., 2., 2.])
    """

    __slots__ = (
        *("__dict__", "about_weights", "indices", "indptr"),
        *("multiplicity", "name", "nodes", "weights"),
    )

    about_weights: str
    indptr: Indices
    indices: Indices
    weights: Floats | None
    multiplicity: Ints | None
    nodes: Sequence[Hashable]
    name: str | None

    def __init__(
        self,
        indptr: Indices,
        indices: Indices,
        weights: Floats | None = None,
        *,
        multiplicity: Ints | None = None,
        nodes: Sequence[Hashable] | None = None,
        about_weights: str = "",
        name: str | None = None,
    ) -> None:
        object.__setattr__(self, "name", name)
        n, nnz = len(indptr) - 1, len(indices)
        if n < 0 or indptr[0] != 0 or indptr[-1] != nnz:
            msg = f"indptr must start at 0 and end at the {nnz} entries of indices."
            raise GraphError(msg)
        for what, array in (("weights", weights), ("multiplicity", multiplicity)):
            if array is not None and len(array) != nnz:
                msg = f"{what} must have one value per entry ({nnz}), got {len(array)}."
                raise GraphError(msg)
        if nodes is not None and len(nodes) != n:
            msg = f"nodes must name each of the {n} rows, got {len(nodes)} names."
            raise GraphError(msg)
        if weights is not None:
            _check_sum(weights)
        kind = index_type(n, nnz)
        for attribute, array, dtype in (
            ("indptr", indptr, kind),
            ("indices", indices, kind),
            ("weights", weights, np.float64),
            ("multiplicity", multiplicity, np.int64),
        ):
            stored = None if array is None else readonly_view(np.asarray(array, dtype))
            object.__setattr__(self, attribute, stored)
        if nodes is None or (isinstance(nodes, range) and nodes == range(n)):
            names: Sequence[Hashable] = range(n)
        else:
            names = nodes if isinstance(nodes, tuple) else tuple(nodes)
        object.__setattr__(self, "nodes", names)
        object.__setattr__(self, "about_weights", about_weights)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a Graph is frozen: {name!r} cannot be set. Make a new Graph instead."
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._fields(),)

    def _fields(self) -> dict[str, Any]:
        """Return the arguments that make this graph."""
        return {
            "indptr": self.indptr,
            "indices": self.indices,
            "weights": self.weights,
            "multiplicity": self.multiplicity,
            "nodes": None if isinstance(self.nodes, range) else self.nodes,
            "about_weights": self.about_weights,
            "name": self.name,
        }

    def _with(self, **changes: Any) -> "Graph":
        """Return a graph that differs in these arguments only."""
        return Graph(**{**self._fields(), **changes})

    @classmethod
    def from_edges(
        cls,
        source: Any,
        target: Any,
        weight: Any = None,
        *,
        n: int | None = None,
        nodes: Sequence[Hashable] | None = None,
    ) -> "Graph":
        """Build a graph from one row index pair per undirected edge.

        Parameters
        ----------
        source, target : array_like of int
            Ends of each edge as row indices; repeated pairs are parallel edges.
        weight : array_like of float, optional
            Finite and non-negative weight of each edge.
        n : int, optional
            Number of nodes, when nodes without an edge follow the last one named.
        nodes : sequence of hashable, optional
            Names in row order.

        Returns
        -------
        Graph
            Parallel edges are summed, and counted in ``multiplicity``.
        """
        u, v = np.asarray(source), np.asarray(target)
        if u.size == 0:
            u, v = u.astype(np.int64), v.astype(np.int64)
        if (
            u.ndim != 1
            or u.shape != v.shape
            or u.dtype.kind not in "iu"
            or v.dtype.kind not in "iu"
        ):
            msg = (
                "source and target must be one-dimensional integer arrays of one length, got "
                f"{u.dtype} of shape {u.shape} and {v.dtype} of shape {v.shape}."
            )
            raise GraphError(msg)
        if nodes is not None:
            if n is not None and len(nodes) != n:
                msg = f"nodes must name each of the n = {n} nodes, got {len(nodes)} names."
                raise GraphError(msg)
            check_distinct(nodes)
        smallest = int(min(u.min(initial=0), v.min(initial=0)))
        largest = int(max(u.max(), v.max())) if u.size else -1
        size = n if n is not None else len(nodes) if nodes is not None else largest + 1
        if smallest < 0 or largest >= size:
            outside = smallest if smallest < 0 else largest
            msg = f"edge ends must lie in range({size}), got {outside}."
            raise GraphError(msg)
        names = range(size) if nodes is None else nodes
        w = None
        if weight is not None:
            w = _as_weights(weight, u.size)
            check_weights(w, lambda t: (names[u[t]], names[v[t]]))
        rows = rows_of_edges(u, v, w, size)
        return cls(*rows[:3], multiplicity=rows.multiplicity, nodes=names)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def is_weighted(self) -> bool:
        """Whether some edge has a weight other than 1."""
        return self.weights is not None

    @cached_property
    def loop_slots(self) -> Ints:
        """Positions of the self-loops among the CSR entries."""
        return diagonal_slots(self.csr)

    @cached_property
    def row_of_slot(self) -> Indices:
        """Row index of every CSR entry."""
        return rows_of(self.csr)

    @cached_property
    def n_loops(self) -> int:
        """Number of self-loops, parallel ones counted each."""
        if self.multiplicity is None:
            return int(self.loop_slots.size)
        return int(self.multiplicity[self.loop_slots].sum())

    @cached_property
    def m(self) -> int:
        """Number of edges, self-loops and parallel edges counted each."""
        entries = len(self.indices) if self.multiplicity is None else int(self.multiplicity.sum())
        return (entries + self.n_loops) // 2

    @cached_property
    def degrees(self) -> Floats:
        """Row sums ``d = A1`` of the weighted adjacency matrix; a self-loop counts once."""
        if self.weights is None:
            return row_lengths(self.csr).astype(float)
        sums: Floats = np.zeros(self.n)
        sums += np.bincount(self.row_of_slot, weights=self.weights, minlength=self.n)
        return sums

    @property
    def csr(self) -> CSR:
        """The adjacency matrix as bare arrays, with ones when unweighted."""
        data = constant(1.0, len(self.indices)) if self.weights is None else self.weights
        return CSR(self.indptr, self.indices, data)

    def to_scipy(self) -> "sparse.csr_array":
        """Return the adjacency matrix as a ``scipy.sparse.csr_array``."""
        from scipy import sparse

        data = self.csr.data.copy()
        return sparse.csr_array(
            (data, self.indices.copy(), self.indptr.copy()), shape=(self.n, self.n)
        )

    def to_networkx(self) -> Any:
        """Return a ``networkx.Graph`` with the node names, and weights if the graph is weighted.

        Parallel edges become one edge with the sum of their weights.
        """
        import networkx as nx

        u, v, weights = self.edges()
        G = nx.Graph()
        G.add_nodes_from(self.nodes)
        ends = ([self.nodes[i] for i in end.tolist()] for end in (u, v))
        if self.is_weighted:
            G.add_weighted_edges_from(zip(*ends, weights.tolist(), strict=True))
        else:
            G.add_edges_from(zip(*ends, strict=True))
        return G

    def to_igraph(self) -> Any:
        """Return an ``igraph.Graph`` with vertex names, and weights if the graph is weighted.

        Parallel edges become one edge with the sum of their weights. Nodes that are named
        ``0, ..., n - 1`` get no name.
        """
        import igraph

        u, v, weights = self.edges()
        g = igraph.Graph(n=self.n, edges=np.column_stack([u, v]))
        if self.nodes != range(self.n):
            g.vs["name"] = list(self.nodes)
        if self.is_weighted:
            g.es["weight"] = weights.tolist()
        return g

    def edges(self) -> tuple[Indices, Indices, Floats]:
        """Return source, target and weight of each entry of the upper triangle, loops included."""
        upper = self.row_of_slot <= self.indices
        return self.row_of_slot[upper], self.indices[upper], self.csr.data[upper]

    def simple_adjacency(self, *, loops: bool = False) -> CSR:
        """Return the entries of positive weight, without self-loops by default.

        With ``loops=True`` each self-loop is one entry: ``A_ii = 1`` in an unweighted graph, and
        the weight of the loop in a weighted one.
        """
        data = self.csr.data
        if loops and self.multiplicity is not None and np.array_equal(data, self.multiplicity):
            data = data.copy()
            data[self.loop_slots] = 1.0
        adjacency = CSR(self.indptr, self.indices, data)
        all_positive = self.weights is None or bool(np.all(self.weights > 0))
        if all_positive and (loops or self.loop_slots.size == 0):
            return adjacency
        keep = data > 0
        if not loops:
            keep[self.loop_slots] = False
        return masked(adjacency, keep)

    def permuted(self, order: Ints, *, named: bool = True) -> "Graph":
        """Return the graph with row ``order[i]`` in place ``i``, with its names by default."""
        rows = permuted_rows(
            Rows(self.indptr, self.indices, self.weights, self.multiplicity), order
        )
        nodes = [self.nodes[i] for i in order.tolist()] if named else None
        return self._with(**rows._asdict(), nodes=nodes)

    def named(self, name: object) -> "Graph":
        """Return the graph with a name; without a change if that is no text or empty."""
        if not isinstance(name, str) or not name.strip():
            return self
        return self._with(name=name)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        kind = ", weighted" if self.is_weighted else ""
        loops = f", {self.n_loops} self-loops" if self.n_loops else ""
        return f"Graph({self.n} nodes, {self.m} edges{kind}{loops})"


def _rebuild(fields: dict[str, Any]) -> Graph:
    return Graph(**fields)


def check_distinct(nodes: Sequence[Hashable], where: str = "") -> None:
    """Raise unless node names differ; ``where`` says in which place they were found."""
    if len(set(nodes)) < len(nodes):
        repeated = [name for name, count in Counter(nodes).items() if count > 1]
        msg = (
            f"node names must differ, got {listed(repeated)} more than once{where}.\n"
            "  Rename these nodes."
        )
        raise GraphError(msg)


def _check_sum(weights: Floats) -> None:
    # Scores count self-loops twice, so twice the sum must be finite too.
    with np.errstate(over="ignore"):
        total = 2.0 * np.sum(weights)
    if not np.isfinite(total):
        msg = (
            "the sum of the edge weights must be finite, but it overflows.\n"
            "  Divide all weights by a large number: communities do not change."
        )
        raise WeightError(msg)


def _as_weights(weight: Any, m: int) -> Floats:
    values = np.asarray(weight)
    if values.shape != (m,) or (m and values.dtype.kind not in "biuf"):
        msg = (
            f"weight must be one number per edge ({m}), got {values.dtype} of shape {values.shape}."
        )
        raise WeightError(msg)
    return values.astype(np.float64)


def check_weights(
    weights: Floats,
    edge: Callable[[int], tuple[object, object]],
    place: Callable[[int], str] | None = None,
) -> None:
    """Raise unless all weights are finite and non-negative.

    ``edge`` gives the ends of the edge at a position and ``place`` says where it is stored.
    """
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        t = int(bad[0])
        if place is None:
            raise bad_weight(weights[t], edge(t), count=bad.size)
        raise bad_weight(weights[t], edge(t), place=place(t))


def bad_weight(
    value: object,
    edge: tuple[object, object],
    *,
    count: int = 1,
    place: str = "",
    must: str = "finite and >= 0",
) -> WeightError:
    """Return the error for an invalid weight; ``count`` is the number of all invalid weights."""
    more = f" (and {count - 1} more)" if count > 1 else ""
    u, v = (shown_name(plain_name(end)) for end in edge)
    return WeightError(
        f"edge weights must be {must}, got {value!s} on edge ({u}, {v}){place}{more}.\n"
        f"  Remove or transform these weights, or pass {setting('weight', None)} to ignore all "
        "weights."
    )


def canonical_order(
    graph: Graph,
) -> tuple[Ints | None, Literal["index", "sorted names", "input order"]]:
    """Return the permutation that sorts the node names, and how it was found.

    Parameters
    ----------
    graph : Graph
        The graph whose nodes are to be put in order.

    Returns
    -------
    order : ndarray of int or None
        Row indices in the order of the sorted names, for :meth:`Graph.permuted`; ``None`` when
        the rows are in that order already.
    method : {"index", "sorted names", "input order"}
        ``"index"`` for nodes without names, ``"input order"`` for names that have no
        unique order: of mixed types, sets, or not equal to themselves as NaN.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2], nodes=["c", "a", "b"])
    >>> canonical_order(graph)
    (array([1, 2, 0]), 'sorted names')
    >>> canonical_order(Graph.from_edges([0], [1], nodes=["a", 1]))
    (None, 'input order')
    """
    names = graph.nodes
    if isinstance(names, range):
        return None, "index"
    try:
        if _is_ascending(names):
            return None, "sorted names"
        order = _sorting_permutation(names)
        # Sets and NaN sort without an error; only strictly ascending names have a unique order.
        if _is_ascending([names[i] for i in order.tolist()]):
            return order, "sorted names"
    except (TypeError, ValueError):
        pass
    return None, "input order"


def _is_ascending(names: Sequence[Any]) -> bool:
    return all(map(operator.lt, names, islice(names, 1, None)))


def _sorting_permutation(names: Sequence[Hashable]) -> Ints:
    if set(map(type, names)) == {int}:
        try:
            return np.argsort(np.array(names, dtype=np.int64), kind="stable")
        except OverflowError:
            pass
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)  # type: ignore[arg-type]
