"""Random graphs with given degrees: paired stubs made simple, and the configuration model."""

import math
from typing import Any

import numpy as np

from kgroups._types import Bools, Ints
from kgroups._validation import RngLike, check_real
from kgroups.adapters import as_graph
from kgroups.errors import GraphError
from kgroups.generators.planted import Ends, is_in_sorted, open_stream, pair_codes, repeated_values
from kgroups.graph import Graph

# A round tries to swap two thirds of m / 2 pairs of edges: a third of a swap per edge.
_ROUNDS_PER_SWAP = 3
# Rounds without a swap after which the remaining wrong pairs are left out.
_MAX_IDLE_ROUNDS = 25
# Proposals per round in all, and per wrong pair: as many as cost no more than sorting the pairs.
_MIN_PROPOSALS, _MAX_PROPOSALS_PER_PAIR = 4096, 256


def configuration_model(
    graph: Any,
    *,
    swaps_per_edge: float = 10.0,
    rng: RngLike = None,
) -> Graph:
    """Draw a simple graph with the degrees of a given one, by double-edge swaps.

    Parameters
    ----------
    graph : graph-like
        Whatever :func:`kgroups.as_graph` takes; it must have neither self-loops nor parallel
        edges.
    swaps_per_edge : float
        Number of swaps that are tried, over the number of edges. Ten forget the given graph.
    rng : int, Generator or None
        Source of randomness; ``None`` takes fresh entropy.

    Returns
    -------
    Graph
        Every node has as many neighbors as in ``graph``, and its name. An edge keeps its weight
        when its ends change.

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
    swaps = check_real("swaps_per_edge", swaps_per_edge, low=0.0)
    if given.n_loops or given.multiplicity is not None:
        found = f"{given.n_loops} self-loops" if given.n_loops else "parallel edges"
        msg = (
            f"the configuration model is of simple graphs, got a graph with {found}.\n"
            '  Remove self-loops; as_graph(graph, symmetrize="union") joins parallel edges.'
        )
        raise GraphError(msg)
    stream, _ = open_stream(rng)
    u, v, weight = given.edges()
    u, v = u.astype(np.int64), v.astype(np.int64)
    rewire(u, v, given.n, swaps, stream)
    return Graph.from_edges(u, v, weight if given.is_weighted else None, nodes=given.nodes)


def rewire(u: Ints, v: Ints, n: int, swaps_per_edge: float, rng: np.random.Generator) -> None:
    """Swap the ends of the edges of a simple graph, in place, and keep it simple."""
    for _ in range(math.ceil(_ROUNDS_PER_SWAP * swaps_per_edge)):
        _swap_once(u, v, n, rng)


def _swap_once(u: Ints, v: Ints, n: int, rng: np.random.Generator) -> None:
    """Pair all edges at random, and swap the pairs that may."""
    order, half = rng.permutation(u.size), u.size // 2
    one, other = order[:half], order[half : 2 * half]
    way = rng.integers(3, size=one.size)
    moving = way > 0
    e, f = one[moving], other[moving]
    parallel = way[moving] == 1
    a, b = u[e], v[e]
    c, d = np.where(parallel, u[f], v[f]), np.where(parallel, v[f], u[f])
    old = pair_codes(u, v, n)
    first, second = pair_codes(a, d, n), pair_codes(c, b, n)
    repeated = repeated_values(np.concatenate([old, first, second]))
    blocked = (a == d) | (c == b)
    for codes in (old[e], old[f], first, second):
        blocked |= is_in_sorted(codes, repeated)
    free = ~blocked
    v[e[free]] = d[free]
    u[f[free]], v[f[free]] = c[free], b[free]


def simple_pairing(
    degrees: Ints, pool: Ints, rng: np.random.Generator, *, apart: Ints | None = None
) -> Ends:
    """Pair the stubs of nodes within their pools, each pair of nodes at most once.

    The sum of the degrees must be even in each pool. Nodes with the same value in ``apart`` are
    not paired. Pairs that cannot be made simple are left out.
    """
    n = degrees.size
    stubs = rng.permutation(np.repeat(np.arange(n), degrees))
    stubs = stubs[np.argsort(pool[stubs], kind="stable")]
    u, v = stubs[0::2].copy(), stubs[1::2].copy()
    pools = pool[u]
    wrong = _wrong_pairs(u, v, n, apart)
    active = np.arange(u.size)
    idle = 0
    while wrong.any() and idle < _MAX_IDLE_ROUNDS:
        part = u[active], v[active], wrong[active]
        swaps = _swap_wrong(*part, pools[active], n, apart, rng)
        u[active], v[active], wrong[active] = part
        # Pools without a wrong pair are done.
        has_wrong = np.bincount(pools[wrong], minlength=pools[-1] + 1) > 0
        active = active[has_wrong[pools[active]]]
        idle = 0 if swaps else idle + 1
    kept = ~_wrong_pairs(u, v, n, apart)
    return u[kept], v[kept]


def _wrong_pairs(u: Ints, v: Ints, n: int, apart: Ints | None) -> Bools:
    """Return which pairs are loops, or forbidden, or repeat an earlier pair."""
    codes = pair_codes(u, v, n)
    order = np.argsort(codes, kind="stable")
    ascending = codes[order]
    wrong: Bools = u == v
    wrong[order[1:][ascending[1:] == ascending[:-1]]] = True
    if apart is not None:
        wrong |= apart[u] == apart[v]
    return wrong


def _swap_wrong(
    u: Ints,
    v: Ints,
    wrong: Bools,
    pool: Ints,
    n: int,
    apart: Ints | None,
    rng: np.random.Generator,
) -> int:
    """Swap wrong pairs with random ones of their pool, in place; return the number of swaps."""
    (places,) = np.nonzero(wrong)
    tries = max(_MIN_PROPOSALS, u.size // 8) // places.size
    e = np.repeat(places, min(max(tries, 1), _MAX_PROPOSALS_PER_PAIR))
    start = np.searchsorted(pool, pool[e], side="left")
    count = np.searchsorted(pool, pool[e], side="right") - start
    f = start + (rng.random(e.size) * count).astype(np.int64)
    straight = rng.random(e.size) < 0.5
    # The pairs e = (a, b) and f = (c, d) or (d, c) may become (a, d) and (c, b).
    a, b = u[e], v[e]
    c, d = np.where(straight, u[f], v[f]), np.where(straight, v[f], u[f])
    possible = (e != f) & (a != d) & (c != b)
    if apart is not None:
        possible &= (apart[a] != apart[d]) & (apart[c] != apart[b])
    first, second = pair_codes(a, d, n), pair_codes(c, b, n)
    present = np.sort(pair_codes(u, v, n))
    possible &= first != second
    possible &= ~is_in_sorted(first, present) & ~is_in_sorted(second, present)
    chosen = _without_conflicts(np.flatnonzero(possible), e, f, first, second)
    e, f, b, c, d = e[chosen], f[chosen], b[chosen], c[chosen], d[chosen]
    v[e] = d
    u[f], v[f] = c, b
    # Both new pairs occur nowhere else. A copy whose original was swapped away stays marked until
    # all pairs are checked at the end.
    wrong[e] = wrong[f] = False
    return int(chosen.size)


def _without_conflicts(chosen: Ints, e: Ints, f: Ints, first: Ints, second: Ints) -> Ints:
    """Keep proposals that use no pair and make no pair that another one uses or makes."""
    chosen = chosen[np.unique(e[chosen], return_index=True)[1]]
    # Of several proposals that use a pair the last one gets it; keep those that get both of theirs.
    order = np.arange(chosen.size)
    user = np.full(max(e.max(), f.max()) + 1, -1)
    user[np.column_stack([e[chosen], f[chosen]]).ravel()] = np.repeat(order, 2)
    chosen = chosen[(user[e[chosen]] == order) & (user[f[chosen]] == order)]
    repeated = repeated_values(np.concatenate([first[chosen], second[chosen]]))
    return chosen[~is_in_sorted(first[chosen], repeated) & ~is_in_sorted(second[chosen], repeated)]
