"""Kernels of communities with densities of their own: bare arrays in and out."""

from math import isnan, lgamma, log

from numba import njit

from kgroups._types import CSR, Bools, Floats, Indices, Ints

__all__ = ["best_partners", "matched", "sweep_rates"]


@njit(cache=True, nogil=True)
def sweep_rates(
    A: CSR,
    strength: Floats,
    rates: Floats,
    temperature: float,
    doubt: float,
    noise: Floats,
    shift: int,
    start: int,
    budget: int,
    z: Indices,
    total: Floats,
    inner: Floats,
    size: Ints,
    waiting: Bools,
    unsure: Bools,
    link: Floats,
    touched: Indices,
    tally: Ints,
) -> int:
    """Visit nodes from ``start`` on; return the node to go on with, n at the end.

    Node i gains ``rates_b0 link_b - rates_b1 strength_i total_b + rates_b2`` in group b, itself
    not counted, plus ``temperature`` times a number from ``noise`` that node, group and ``shift``
    pick. It goes where that is largest, and its neighbours wait. At temperature 0 nodes that wait
    are visited; above, also the unsure ones, whose best group is less than ``doubt`` ahead of the
    next. No group is emptied. ``tally`` gains entries read, and moves.
    """
    n = z.size
    mask = noise.size - 1
    warm = temperature > 0.0
    read = 0
    moves = 0
    i = start
    while i < n and read < budget:
        a = z[i]
        if not (waiting[i] or (warm and unsure[i])) or size[a] == 1:
            i += 1
            continue
        waiting[i] = False
        first, last = A.indptr[i], A.indptr[i + 1]
        read += last - first
        count = 0
        for t in range(first, last):
            b = z[A.indices[t]]
            if link[b] == 0.0:
                touched[count] = b
                count += 1
            link[b] += A.data[t]
        own = strength[i]
        link_a = link[a]
        link[a] = 0.0
        best = a
        best_link = 0.0
        best_gain = rates[a, 0] * link_a - rates[a, 1] * own * (total[a] - own) + rates[a, 2]
        if warm:
            best_gain += temperature * noise[(7919 * i + 104729 * a + shift) & mask]
        next_gain = best_gain - 2.0 * doubt
        for position in range(count):
            b = touched[position]
            if b == a:
                continue
            gain = rates[b, 0] * link[b] - rates[b, 1] * own * total[b] + rates[b, 2]
            if warm:
                gain += temperature * noise[(7919 * i + 104729 * b + shift) & mask]
            if gain > best_gain:
                next_gain = best_gain
                best_gain = gain
                best = b
                best_link = link[b]
            elif gain > next_gain:
                next_gain = gain
            link[b] = 0.0
        unsure[i] = best_gain - next_gain < doubt
        if best != a:
            total[a] -= own
            total[best] += own
            # Rounding may take away more than a group of faint links has left.
            inner[a] = max(0.0, inner[a] - link_a)
            inner[best] += best_link
            size[a] -= 1
            size[best] += 1
            z[i] = best
            moves += 1
            for t in range(first, last):
                waiting[A.indices[t]] = True
        i += 1
    tally[0] += read
    tally[1] += moves
    return i


@njit(cache=True, nogil=True)
def best_partners(
    A: CSR,
    strength: Floats,
    inner: Floats,
    nodes: Floats,
    worth: Floats,
    edges: Floats,
    log_outside: Floats,
    gain: Floats,
    partner: Indices,
) -> None:
    """Write for each group the neighbour that it is best merged with, and the nats gained.

    A gain that is not a number loses against any other.
    ``edges`` and ``log_outside`` are those of the graph that a group belongs to. A group without
    neighbours keeps the partner that stands there.
    """
    for a in range(worth.size):
        m = edges[a]
        for t in range(A.indptr[a], A.indptr[a + 1]):
            b = A.indices[t]
            link = A.data[t]
            E = inner[a] + inner[b] + link
            K = strength[a] + strength[b]
            N = nodes[a] + nodes[b]
            together = lgamma(N + 1.0) + E * log(4.0 * m * E / (K * K))
            more = together - worth[a] - worth[b] - link * log_outside[a]
            first = partner[a] < 0 or isnan(gain[a])
            if first or more > gain[a] or (more == gain[a] and b < partner[a]):
                gain[a] = more
                partner[a] = b


@njit(cache=True, nogil=True)
def matched(
    order: Ints, gain: Floats, partner: Indices, least: float, most: int, into: Indices
) -> int:
    """Let groups join their partners in the given order, each in one merge; return the merges.

    Groups that gain no more than ``least`` stay, and all do after ``most`` merges.
    """
    merges = 0
    for a in order:
        b = partner[a]
        if merges >= most or gain[a] <= least:
            break
        if b < 0 or into[a] >= 0 or into[b] >= 0:
            continue
        into[a] = b
        into[b] = b
        merges += 1
    for a in range(into.size):
        if into[a] < 0:
            into[a] = a
    return merges
