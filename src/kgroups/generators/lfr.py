"""The LFR benchmark: degrees and community sizes by power laws, edges mixed by a given share."""

import math
from typing import Literal

import numpy as np

from kgroups._doors import RngLike, check_choice
from kgroups._types import Ints
from kgroups._wording import argument, setting
from kgroups.errors import InputError
from kgroups.generators.arguments import real_number, whole_number
from kgroups.generators.assembly import Ends, joined_ends, simple_graph
from kgroups.generators.codes import codes_of, is_among
from kgroups.generators.pairs import BlockPairs, UniformBlocks, all_pairs
from kgroups.generators.planted import Planted, open_stream
from kgroups.generators.powerlaw import WholePowerLaw
from kgroups.generators.rewiring import simple_pairing
from kgroups.generators.weighting import Weights, check_weights, weighted

__all__ = ["lfr_benchmark"]

_ATTEMPTS = 20
_MOST_UNPLACED = 0.01
_FEW_EDGES = 3


def lfr_benchmark(
    n: int,
    *,
    degree: float,
    mixing: float,
    max_degree: int | None = None,
    degree_exponent: float = 2.5,
    community_exponent: float = 1.5,
    min_community: int = 20,
    max_community: int | None = None,
    internal: Literal["fixed", "binomial"] = "fixed",
    rng: RngLike = None,
    weights: Weights | None = None,
) -> Planted:
    r"""Draw the benchmark of Lancichinetti, Fortunato and Radicchi.

    Degrees and community sizes follow power laws, and each node has a share ``mixing`` of its
    edges outside of its community.

    Parameters
    ----------
    n : int
        Number of nodes.
    degree : float
        Mean degree, which is met by choosing the smallest degree.
    mixing : float
        Share of the edges of a node that leave its community, from 0 to 1.
    max_degree : int, optional
        Largest degree; five times the mean by default, and below ``n``.
    degree_exponent, community_exponent : float
        Exponents of both power laws, from 0 to 20.
    min_community, max_community : int, optional
        Smallest and largest community; the largest is 25 times the smallest by default, and not
        above ``n``.
    internal : {"fixed", "binomial"}
        How many of a node's edges stay inside: ``(1 - mixing)`` times its degree, rounded up or
        down at random so that the mean is right; or each edge by a coin of its own.
    rng : int, Generator or None
        Source of randomness; ``None`` takes fresh entropy, which the result records.
    weights : callable, dict or nested list, optional
        What edge weights are drawn from, as in :func:`stochastic_block_model`.

    Returns
    -------
    Planted
        Unpacks as ``graph, labels``. ``unplaced_edges`` is half the sum of the differences
        between the degrees that were drawn and those of the graph.

    Raises
    ------
    InputError
        If no graph can have these properties, or an argument is wrong.

    Notes
    -----
    Each node goes into a random community that is larger than its internal degree, all possible
    assignments being equally likely. The stubs inside each community and those between
    communities are then paired at random; loops, parallel edges and edges between that fall
    inside are swapped with random edges until none is left. In a community with more than half of
    its possible edges, the missing ones are drawn instead. Stubs that find no place inside are
    paired outside.

    References
    ----------
    .. [1] A. Lancichinetti, S. Fortunato, F. Radicchi, "Benchmark graphs for testing community
       detection algorithms", Physical Review E 78, 2008. :doi:`10.1103/PhysRevE.78.046110`

    Examples
    --------
    >>> planted = lfr_benchmark(1000, degree=15, mixing=0.3, rng=0)
    >>> graph, labels = planted
    >>> u, v, _ = graph.edges()
    >>> float((labels[u] != labels[v]).mean().round(2))
    0.3
    """
    n = whole_number("n", n, low=1)
    degree = real_number("degree", degree, low=0.0)
    mixing = real_number("mixing", mixing, low=0.0, high=1.0)
    check_choice("internal", internal, ("fixed", "binomial"))
    steepness = real_number("degree_exponent", degree_exponent, low=0.0, high=20.0)
    degree_law = _degree_law(n, degree, max_degree, steepness)
    steepness = real_number("community_exponent", community_exponent, low=0.0, high=20.0)
    size_law = _size_law(n, min_community, max_community, steepness)
    stream, entropy = open_stream(rng)
    for _ in range(_ATTEMPTS):
        degrees = _even_sum(degree_law.draw(n, stream), n)
        inside = _internal_degrees(degrees, mixing, internal, stream)
        sizes = _community_sizes(size_law, n, stream)
        labels = _assigned_communities(inside, sizes, stream)
        if labels is not None and _can_be_joined(degrees - inside, labels):
            break
    else:
        raise InputError(_no_fit_message(labels, inside, sizes))
    check_weights(weights, sizes.size)
    _make_even_inside(inside, degrees, labels, stream)
    within = _pairs_inside(inside, labels, sizes, stream)
    outside = _external_degrees(degrees, within, mixing)
    between = simple_pairing(outside, np.zeros(n, dtype=np.int64), stream, apart=labels)
    graph = simple_graph(joined_ends([within, between]), n)
    unplaced = math.ceil(np.abs(np.diff(graph.indptr) - degrees).sum() / 2)
    if unplaced > max(_MOST_UNPLACED * graph.m, _FEW_EDGES):
        msg = (
            f"the edges inside and between {sizes.size} communities must find places, but "
            f"{unplaced} of {degrees.sum() // 2} did not.\n"
            f"  Use larger communities, or a smaller {argument('max_degree')}."
        )
        raise InputError(msg)
    graph = weighted(graph, labels, weights, stream)
    return Planted(graph, labels, entropy=entropy, unplaced_edges=unplaced)


def _degree_law(n: int, degree: float, max_degree: int | None, exponent: float) -> WholePowerLaw:
    if max_degree is None:
        largest = min(math.ceil(5 * degree), n - 1)
    else:
        largest = whole_number("max_degree", max_degree, low=1)
    if not 1 <= largest < n:
        msg = (
            f"{argument('max_degree')} must be at least 1 and below the number of nodes {n}, got "
            f"{largest}."
        )
        raise InputError(msg)
    return WholePowerLaw.of_mean(degree, largest, exponent)


def _size_law(
    n: int, min_community: int, max_community: int | None, exponent: float
) -> WholePowerLaw:
    low = whole_number("min_community", min_community, low=1)
    high = (
        min(25 * low, n) if max_community is None else whole_number("max_community", max_community)
    )
    if not low <= high <= n:
        msg = (
            f"community sizes must satisfy {argument('min_community')} <= "
            f"{argument('max_community')} <= {argument('n')}, got {low}, {high} and {n}."
        )
        raise InputError(msg)
    if math.ceil(n / high) > n // low:
        msg = f"{n} nodes cannot be split into communities of {low} to {high} nodes."
        raise InputError(msg)
    return WholePowerLaw.between(low, high, exponent)


def _even_sum(degrees: Ints, n: int) -> Ints:
    """Change one degree by one where that makes the number of stubs even."""
    if degrees.sum() % 2:
        degrees[np.argmin(degrees)] += 1 if degrees.min() < n - 1 else -1
    return degrees


def _internal_degrees(
    degrees: Ints, mixing: float, internal: str, rng: np.random.Generator
) -> Ints:
    if internal == "binomial":
        return np.asarray(rng.binomial(degrees, 1.0 - mixing), dtype=np.int64)
    wanted = (1.0 - mixing) * degrees
    whole = np.floor(wanted)
    return np.asarray(whole + (rng.random(degrees.size) < wanted - whole), dtype=np.int64)


def _community_sizes(law: WholePowerLaw, n: int, rng: np.random.Generator) -> Ints:
    """Draw sizes until they reach ``n``, then move single nodes until they sum to it."""
    low, high = law.low, law.low + law.probabilities.size - 1
    drawn = law.draw(n // low + 1, rng)
    reached = np.cumsum(drawn)
    # The last size is taken if that brings the sum closer to n.
    count = int(np.argmin(np.abs(reached - n))) + 1
    count = min(max(count, math.ceil(n / high)), n // low)
    sizes = drawn[:count]
    while (excess := int(sizes.sum()) - n) != 0:
        step = 1 if excess < 0 else -1
        room = np.flatnonzero((sizes + step >= low) & (sizes + step <= high))
        sizes[rng.permutation(room)[: abs(excess)]] += step
    return sizes


def _assigned_communities(inside: Ints, sizes: Ints, rng: np.random.Generator) -> Ints | None:
    """Return a community for each node that is larger than its internal degree, or None.

    Nodes choose in order of falling internal degree. A node then has as many places to choose
    from whatever those before it chose, which makes all assignments equally likely.
    """
    n = inside.size
    order = np.argsort(-inside, kind="stable")
    falling = np.argsort(-sizes, kind="stable")
    places = np.repeat(falling, sizes[falling])
    eligible = np.searchsorted(-sizes[places], -inside[order], side="left")
    if np.any(eligible <= np.arange(n)):
        return None
    choosy = int(np.searchsorted(eligible, n))
    chances = rng.random(choosy).tolist()
    row = places.tolist()
    for i, (chance, end) in enumerate(zip(chances, eligible[:choosy].tolist(), strict=True)):
        j = i + int(chance * (end - i))
        row[i], row[j] = row[j], row[i]
    labels = np.empty(n, dtype=np.int64)
    labels[order[:choosy]] = row[:choosy]
    labels[order[choosy:]] = rng.permutation(np.array(row[choosy:], dtype=np.int64))
    return labels


def _can_be_joined(outside: Ints, labels: Ints) -> bool:
    """Tell whether no community has more stubs going out than all others together."""
    stubs = np.bincount(labels, weights=outside)
    return bool(2 * stubs.max() <= stubs.sum())


def _no_fit_message(labels: Ints | None, inside: Ints, sizes: Ints) -> str:
    if labels is None:
        return (
            "every node must fit into a community larger than its internal degree, but in "
            f"{_ATTEMPTS} draws some did not; in the last one internal degrees went up to "
            f"{inside.max()} and communities up to {sizes.max()} nodes.\n"
            f"  Raise {argument('max_community')}, {argument('min_community')} or "
            f"{argument('mixing')}, or lower {argument('max_degree')}."
        )
    return (
        "the edges that leave a community must end in others, but in "
        f"{_ATTEMPTS} draws one had more of them than all others; in the last one the largest of "
        f"{sizes.size} had {sizes.max()} of {inside.size} nodes.\n"
        f"  Lower {argument('max_community')}, or pass {setting('mixing', 0)}."
    )


def _make_even_inside(inside: Ints, degrees: Ints, labels: Ints, rng: np.random.Generator) -> None:
    """Turn one stub outwards, in place, in each community with an odd number of stubs inside.

    Where no edge leaves any community, the stub is removed instead.
    """
    totals = np.bincount(labels, weights=inside).astype(np.int64)
    able = rng.permutation(np.flatnonzero(inside))
    one_of = np.full(totals.size, -1)
    one_of[labels[able]] = able
    turned = one_of[totals % 2 == 1]
    if np.array_equal(inside, degrees):
        degrees[turned] -= 1
    inside[turned] -= 1


def _pairs_inside(inside: Ints, labels: Ints, sizes: Ints, rng: np.random.Generator) -> Ends:
    possible = sizes * (sizes - 1)
    filled = np.bincount(labels, weights=inside, minlength=sizes.size) > possible / 2
    holes = filled[labels]
    u, v = simple_pairing(np.where(holes, sizes[labels] - 1 - inside, inside), labels, rng)
    absent = holes[u]
    parts = [(u[~absent], v[~absent])]
    if filled.any():
        taken = np.sort(codes_of(u[absent], v[absent], labels.size))
        parts += _complement(labels, sizes, np.flatnonzero(filled), taken)
    return joined_ends(parts)


def _external_degrees(degrees: Ints, within: Ends, mixing: float) -> Ints:
    """Return the stubs left for edges between communities, those without a place inside too."""
    if mixing == 0:
        return np.zeros_like(degrees)
    inside = np.bincount(np.concatenate(within), minlength=degrees.size)
    outside: Ints = np.maximum(degrees - inside, 0)
    outside[np.argmax(outside)] -= outside.sum() % 2
    return outside


def _complement(labels: Ints, sizes: Ints, communities: Ints, taken: Ints) -> list[Ends]:
    """Return all pairs inside some communities but those taken."""
    node = np.argsort(labels, kind="stable")
    within = BlockPairs(communities, communities, np.ones(communities.size))
    parts = []
    for _, place, other in all_pairs(UniformBlocks(sizes), within):
        u, v = node[place], node[other]
        kept = ~is_among(codes_of(u, v, labels.size), taken)
        parts.append((u[kept], v[kept]))
    return parts
