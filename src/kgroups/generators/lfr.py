"""The LFR benchmark: degrees and community sizes by power laws, edges mixed by a given share."""

import math
from typing import Literal, NamedTuple

import numpy as np

from kgroups._types import Floats, Ints
from kgroups._validation import RngLike, check_choice, check_integer, check_real
from kgroups._wording import argument, setting
from kgroups.errors import InputError
from kgroups.generators.planted import (
    Ends,
    Planted,
    is_in_sorted,
    joined_ends,
    open_stream,
    pair_codes,
    simple_graph,
)
from kgroups.generators.rewiring import simple_pairing

# Draws of degrees and sizes before the parameters count as impossible.
_MAX_ATTEMPTS = 20
# An error is raised if more edges than this share, and than this number, find no place.
_MAX_UNPLACED_SHARE, _MAX_UNPLACED_EDGES = 0.01, 3


class DiscretePowerLaw(NamedTuple):
    """Consecutive integers from ``low`` on, with their probabilities."""

    low: int
    probabilities: Floats

    @classmethod
    def between(cls, low: int, high: int, exponent: float) -> "DiscretePowerLaw":
        """Return the law ``x ** -exponent`` on ``low`` to ``high``."""
        relative = np.arange(low, high + 1, dtype=np.float64) / low
        share = relative**-exponent
        return cls(low, share / share.sum())

    @classmethod
    def of_mean(cls, mean: float, high: int, exponent: float) -> "DiscretePowerLaw":
        """Return the law up to ``high`` whose smallest value is chosen to give this mean.

        A mean between those of two smallest values is met by making the smaller one rarer than
        the law says.
        """
        x = np.arange(1, high + 1, dtype=np.float64)
        share = (x / high) ** -exponent
        share_from = np.cumsum(share[::-1])[::-1]
        mean_from = np.cumsum((share * x)[::-1])[::-1] / share_from
        if not mean_from[0] <= mean <= high:
            msg = (
                f"{argument('degree')} must lie between {mean_from[0]:.4g} and {high} for "
                f"{setting('max_degree', high)} and {setting('degree_exponent', exponent)}, got "
                f"{mean:g}.\n"
                "  Change the degree or the largest degree."
            )
            raise InputError(msg)
        start = int(np.searchsorted(mean_from, mean, side="right")) - 1
        probabilities = share[start:].copy()
        if start < high - 1:
            above = share_from[start + 1] * (mean_from[start + 1] - mean)
            probabilities[0] = above / (mean - x[start])
        return cls(start + 1, probabilities / probabilities.sum())

    def draw(self, count: int, rng: np.random.Generator) -> Ints:
        """Draw independent values."""
        reached = np.cumsum(self.probabilities)
        place = np.searchsorted(reached, rng.random(count) * reached[-1], side="right")
        return np.asarray(self.low + np.minimum(place, reached.size - 1), dtype=np.int64)


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
        down at random so that the mean is right; or each edge with this probability.
    rng : int, Generator or None
        Source of randomness; ``None`` takes fresh entropy, which the result records.

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
    n = check_integer("n", n)
    degree = check_real("degree", degree, low=0.0)
    mixing = check_real("mixing", mixing, low=0.0, high=1.0)
    check_choice("internal", internal, ("fixed", "binomial"))
    steepness = check_real("degree_exponent", degree_exponent, low=0.0, high=20.0)
    degree_law = _degree_law(n, degree, max_degree, steepness)
    steepness = check_real("community_exponent", community_exponent, low=0.0, high=20.0)
    size_law = _size_law(n, min_community, max_community, steepness)
    stream, entropy = open_stream(rng)
    for _ in range(_MAX_ATTEMPTS):
        degrees = _even_sum(degree_law.draw(n, stream), n)
        inside = _internal_degrees(degrees, mixing, internal, stream)
        sizes = _community_sizes(size_law, n, stream)
        labels = _assigned_communities(inside, sizes, stream)
        if labels is not None:
            leaving = np.bincount(labels, weights=degrees - inside)
            if 2 * leaving.max() <= leaving.sum():
                break
    else:
        raise InputError(_no_fit_message(labels, inside, sizes))
    _make_even_inside(inside, degrees, labels, stream)
    within = _pairs_inside(inside, labels, sizes, stream)
    outside = _external_degrees(degrees, within, mixing)
    between = simple_pairing(outside, np.zeros(n, dtype=np.int64), stream, apart=labels)
    graph = simple_graph(joined_ends([within, between]), n)
    unplaced = math.ceil(np.abs(np.diff(graph.indptr) - degrees).sum() / 2)
    if unplaced > max(_MAX_UNPLACED_SHARE * graph.m, _MAX_UNPLACED_EDGES):
        msg = (
            f"the edges inside and between {sizes.size} communities must find places, but "
            f"{unplaced} of {degrees.sum() // 2} did not.\n"
            f"  Use larger communities, or a smaller {argument('max_degree')}."
        )
        raise InputError(msg)
    planted = Planted(graph, labels)
    planted.entropy, planted.unplaced_edges = entropy, unplaced
    return planted


def _degree_law(n: int, degree: float, max_degree: int | None, exponent: float) -> DiscretePowerLaw:
    if max_degree is None:
        largest = min(math.ceil(5 * degree), n - 1)
    else:
        largest = check_integer("max_degree", max_degree)
    if not 1 <= largest < n:
        msg = (
            f"{argument('max_degree')} must be at least 1 and below the number of nodes {n}, got "
            f"{largest}."
        )
        raise InputError(msg)
    return DiscretePowerLaw.of_mean(degree, largest, exponent)


def _size_law(
    n: int, min_community: int, max_community: int | None, exponent: float
) -> DiscretePowerLaw:
    low = check_integer("min_community", min_community)
    high = (
        min(25 * low, n)
        if max_community is None
        else check_integer("max_community", max_community, low=0)
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
    return DiscretePowerLaw.between(low, high, exponent)


def _even_sum(degrees: Ints, n: int) -> Ints:
    """Change one degree by one if the number of stubs is odd."""
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


def _community_sizes(law: DiscretePowerLaw, n: int, rng: np.random.Generator) -> Ints:
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
        movable = np.flatnonzero((sizes + step >= low) & (sizes + step <= high))
        sizes[rng.permutation(movable)[: abs(excess)]] += step
    return sizes


def _assigned_communities(inside: Ints, sizes: Ints, rng: np.random.Generator) -> Ints | None:
    """Return a community for each node that is larger than its internal degree, or None.

    Nodes choose in descending order of internal degree. How many places a node can choose from
    then does not depend on the earlier choices, which makes all assignments equally likely.
    """
    n = inside.size
    order = np.argsort(-inside, kind="stable")
    descending = np.argsort(-sizes, kind="stable")
    places = np.repeat(descending, sizes[descending])
    eligible = np.searchsorted(-sizes[places], -inside[order], side="left")
    if np.any(eligible <= np.arange(n)):
        return None
    restricted = int(np.searchsorted(eligible, n))
    chances = rng.random(restricted).tolist()
    row = places.tolist()
    for i, (chance, end) in enumerate(zip(chances, eligible[:restricted].tolist(), strict=True)):
        j = i + int(chance * (end - i))
        row[i], row[j] = row[j], row[i]
    labels = np.empty(n, dtype=np.int64)
    labels[order[:restricted]] = row[:restricted]
    labels[order[restricted:]] = rng.permutation(np.array(row[restricted:], dtype=np.int64))
    return labels


def _no_fit_message(labels: Ints | None, inside: Ints, sizes: Ints) -> str:
    if labels is None:
        return (
            "every node must fit into a community larger than its internal degree, but in "
            f"{_MAX_ATTEMPTS} draws some did not; in the last one internal degrees went up to "
            f"{inside.max()} and communities up to {sizes.max()} nodes.\n"
            f"  Raise {argument('max_community')}, {argument('min_community')} or "
            f"{argument('mixing')}, or lower {argument('max_degree')}."
        )
    return (
        f"the edges that leave a community must end in others, but in {_MAX_ATTEMPTS} draws one "
        f"had more of them than all others; in the last one the largest of {sizes.size} had "
        f"{sizes.max()} of {inside.size} nodes.\n"
        f"  Lower {argument('max_community')}, or pass {setting('mixing', 0)}."
    )


def _make_even_inside(inside: Ints, degrees: Ints, labels: Ints, rng: np.random.Generator) -> None:
    """Make the number of inner stubs even in each community, in place.

    One stub of an odd community goes to another community, or is removed if no edge leaves any.
    """
    totals = np.bincount(labels, weights=inside).astype(np.int64)
    candidates = rng.permutation(np.flatnonzero(inside))
    one_of = np.full(totals.size, -1)
    one_of[labels[candidates]] = candidates
    moved = one_of[totals % 2 == 1]
    if np.array_equal(inside, degrees):
        degrees[moved] -= 1
    inside[moved] -= 1


def _pairs_inside(inside: Ints, labels: Ints, sizes: Ints, rng: np.random.Generator) -> Ends:
    # In a community with more than half of its possible edges, the missing ones are drawn.
    possible = sizes * (sizes - 1)
    filled = np.bincount(labels, weights=inside, minlength=sizes.size) > possible / 2
    in_filled = filled[labels]
    u, v = simple_pairing(np.where(in_filled, sizes[labels] - 1 - inside, inside), labels, rng)
    absent = in_filled[u]
    parts = [(u[~absent], v[~absent])]
    missing = np.sort(pair_codes(u[absent], v[absent], labels.size))
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    for community in np.flatnonzero(filled):
        u, v = members[community][np.stack(np.triu_indices(sizes[community], 1))]
        kept = ~is_in_sorted(pair_codes(u, v, labels.size), missing)
        parts.append((u[kept], v[kept]))
    return joined_ends(parts)


def _external_degrees(degrees: Ints, within: Ends, mixing: float) -> Ints:
    """Return the stubs left for edges between communities, unplaced inner ones included."""
    if mixing == 0:
        return np.zeros_like(degrees)
    inside = np.bincount(np.concatenate(within), minlength=degrees.size)
    outside: Ints = np.maximum(degrees - inside, 0)
    outside[np.argmax(outside)] -= outside.sum() % 2
    return outside
