"""The null model that keeps degrees and nothing else."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kgroups._doors import RngLike
from kgroups._types import Ints
from kgroups.adapters import as_graph
from kgroups.errors import GraphError
from kgroups.generators.arguments import real_number
from kgroups.generators.codes import codes_of, is_among, values_seen_twice
from kgroups.generators.planted import open_stream
from kgroups.graph import Graph

__all__ = ["Rewired", "configuration_model"]

_ROUNDS_PER_SWAP = 3


class Rewired(Graph):
    """A graph drawn by :func:`~kgroups.generators.configuration_model`, used like any other.

    Attributes
    ----------
    entropy : int or None
        Passed as ``rng``, it draws the same graph again. ``None`` when a Generator was given, whose
        state only the caller knows.

    Examples
    --------
    >>> null = configuration_model(Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0]), rng=5)
    >>> null
    Graph(4 nodes, 4 edges)
    >>> null.entropy
    5
    """

    entropy: int | None = None

    @classmethod
    def of(cls, graph: Graph, entropy: int | None) -> "Rewired":
        """Return the graph with the number that draws it again."""
        rewired = cls(
            graph.indptr,
            graph.indices,
            graph.weights,
            multiplicity=graph.multiplicity,
            nodes=graph.nodes,
        )
        object.__setattr__(rewired, "entropy", entropy)
        return rewired

    def __reduce__(self) -> tuple[Any, ...]:
        rebuild, parts = super().__reduce__()
        return _rebuild, (rebuild, parts, self.entropy)


def _rebuild(rebuild: Callable[..., Graph], parts: tuple[Any, ...], entropy: int | None) -> Rewired:
    return Rewired.of(rebuild(*parts), entropy)


def configuration_model(
    graph: Any,
    *,
    swaps_per_edge: float = 10.0,
    rng: RngLike = None,
) -> Rewired:
    """Draw a simple graph with the degrees of a given one, by double-edge swaps.

    Parameters
    ----------
    graph : graph-like
        Whatever :func:`kgroups.as_graph` takes; it must have neither self-loops nor parallel
        edges.
    swaps_per_edge : float
        Number of swaps that are tried, over the number of edges. Ten forget the given graph.
    rng : int, Generator or None
        Source of randomness; ``None`` takes fresh entropy, which the result records.

    Returns
    -------
    Rewired
        A Graph. Every node has as many neighbors as in ``graph``, and its name. An edge keeps its
        weight when its ends change. Its ``entropy`` is what draws it again.

    Raises
    ------
    GraphError
        If the graph has self-loops or parallel edges.

    Notes
    -----
    In each round all edges are paired at random, and the four ends of each pair are joined in one
    of the three possible ways. A pair stays as it is when its new edges are loops, or when one of
    its old or new edges is also an old or new edge of another pair. This condition is the same
    seen from the graph before and from the graph after the round, so that the rounds are a Markov
    chain whose steps are as likely forward as backward: in the long run all simple graphs with
    these degrees are equally likely.

    Examples
    --------
    >>> import kgroups as kg
    >>> karate = kg.datasets.load("karate").graph
    >>> null = configuration_model(karate, rng=0)
    >>> import numpy as np
    >>> bool((np.diff(null.indptr) == np.diff(karate.indptr)).all())
    True
    """
    given = as_graph(graph)
    swaps = real_number("swaps_per_edge", swaps_per_edge, low=0.0)
    if given.n_loops or given.multiplicity is not None:
        found = f"{given.n_loops} self-loops" if given.n_loops else "parallel edges"
        msg = (
            f"the configuration model is of simple graphs, got a graph with {found}.\n"
            '  Remove self-loops; as_graph(graph, symmetrize="union") joins parallel edges.'
        )
        raise GraphError(msg)
    stream, entropy = open_stream(rng)
    u, v, weight = given.edges()
    u, v = u.astype(np.int64), v.astype(np.int64)
    for _ in range(math.ceil(_ROUNDS_PER_SWAP * swaps)):
        _swap_once(u, v, given.n, stream)
    drawn = Graph.from_checked_edges(u, v, weight if given.is_weighted else None, given.nodes)
    return Rewired.of(drawn, entropy)


def _swap_once(u: Ints, v: Ints, n: int, rng: np.random.Generator) -> None:
    """Pair all edges at random and swap, in place, the pairs that may."""
    half = u.size // 2
    paired = rng.permutation(u.size)[: 2 * half].reshape(2, half)
    way = rng.integers(3, size=half)
    moving = way > 0
    e, f = paired[:, moving]
    parallel = way[moving] == 1
    a, b = u[e], v[e]
    c, d = np.where(parallel, u[f], v[f]), np.where(parallel, v[f], u[f])
    old = codes_of(u, v, n)
    first, second = codes_of(a, d, n), codes_of(c, b, n)
    repeated = values_seen_twice(np.concatenate([old, first, second]))
    blocked = (a == d) | (c == b)
    for codes in (old[e], old[f], first, second):
        blocked |= is_among(codes, repeated)
    free = ~blocked
    v[e[free]] = d[free]
    u[f[free]], v[f[free]] = c[free], b[free]
