"""Slow twins of levels, of modularity at a resolution, and of the nats that communities save."""

from math import comb, factorial, log

import numpy as np


def dense(csr):
    """Return the matrix of bare arrays."""
    n = len(csr.indptr) - 1
    matrix = np.zeros((n, n))
    matrix[np.repeat(np.arange(n), np.diff(csr.indptr)), csr.indices] = csr.data
    return matrix


def renumbered(labels):
    """Return labels without gaps, in the order of their first members."""
    labels = np.asarray(labels).tolist()
    place = {label: a for a, label in enumerate(dict.fromkeys(labels))}
    return np.array([place[label] for label in labels], dtype=np.int32)


def indicator(z, k):
    """Return the n x k matrix of ones where a unit is in a group."""
    return np.eye(k)[z]


def totals(level, z, k):
    """Return weight inside, strength and nodes of each group."""
    Y = indicator(z, k)
    inner = np.diag(Y.T @ dense(level.A) @ Y) / 2 + Y.T @ level.inner
    return inner, Y.T @ level.strength, np.array(Y.T @ level.nodes, dtype=int)


def modularity(level, z, penalty):
    """Return the sum over groups of twice the weight inside less penalty times strength squared."""
    E, K, _ = totals(level, z, int(z.max()) + 1)
    return float(np.sum(2 * E - penalty * K**2))


def divergence(E, P):
    """Return E ln(E / P) - E + P."""
    return (E * log(E / P) if E > 0 else 0.0) - E + P


def nats_saved(level, z):
    """Return the nats that communities save, term by term in whole-number arithmetic."""
    groups = np.unique(z, return_inverse=True)[1]
    k, n, m = int(groups.max()) + 1, int(level.nodes.sum()), level.strength.sum() / 2
    if k == 1:
        return 0.0
    E, K, N = totals(level, groups, k)
    P = K**2 / (4 * m)
    saved = sum(divergence(e, p) for e, p in zip(E, P, strict=True) if e > p > 0)
    outside, expected = m - E.sum(), m - P.sum()
    if outside < expected:
        saved += divergence(max(outside, 0.0), expected)
    ways = factorial(n)
    for size in N.tolist():
        ways //= factorial(size)
        saved -= log(min(comb(size, 2), m) + 1)
    return saved - log(ways) - log(comb(n - 1, k - 1)) + log(factorial(k))


def intersection(z, y):
    """Return cells of pairs of labels, numbered by the first label, then by their first members."""
    pairs = list(zip(z.tolist(), y.tolist(), strict=True))
    names = {pair: a for a, pair in enumerate(sorted(dict.fromkeys(pairs), key=lambda p: p[0]))}
    return np.array([names[pair] for pair in pairs])


def cells_that_left(nodes, before, after):
    """Return which cells are not with their group; a group is where its largest cell has gone.

    Where several groups have gone to one place, that of the largest cell is there, and of equal
    ones the first.
    """
    largest = {}
    for a in sorted(set(before.tolist())):
        members = np.flatnonzero(before == a)
        largest[a] = int(members[np.argmax(nodes[members])])
    owner = {}
    for cell in largest.values():
        rivals = [b for b, other in largest.items() if after[other] == after[cell]]
        owner[int(after[cell])] = max(rivals, key=lambda b: (nodes[largest[b]], -b))
    pairs = zip(before.tolist(), after.tolist(), strict=True)
    return np.array([owner.get(b) != a for a, b in pairs])


def merge_gain(level, a, b):
    """Return the nats that a merge of two units saves, all others apart, without density costs.

    What the links between units save before the merge, the same for all pairs, is not taken off.
    """
    apart = np.arange(level.nodes.size)
    inside, outside = _nats_of_links(level, np.where(apart == b, a, apart))
    return inside + outside - _nats_of_links(level, apart)[0]


def _nats_of_links(level, z):
    """Return what the links and orders inside of groups save, and what those between them do."""
    groups = np.unique(z, return_inverse=True)[1]
    m = level.strength.sum() / 2
    E, K, N = totals(level, groups, int(groups.max()) + 1)
    P = K**2 / (4 * m)
    inside = sum(divergence(e, p) for e, p in zip(E, P, strict=True) if e > p > 0)
    inside += sum(log(factorial(size)) for size in N.tolist())
    outside, expected = m - E.sum(), m - P.sum()
    return inside, divergence(max(outside, 0.0), expected) if outside < expected else 0.0


def merged_pairs(order, partner, most):
    """Return labels after the first pairs of an order, of which no unit is in two, have merged."""
    z, free = np.arange(order.size), set(order.tolist())
    for a in order.tolist():
        b = int(partner[a])
        if most > 0 and b >= 0 and {a, b} <= free:
            z[a] = b
            free -= {a, b}
            most -= 1
    return renumbered(z)


def attached(level, loose, order):
    """Return labels after loose units have joined, in an order, the neighbor that saves most.

    A unit that another has joined stays. None where two neighbors are as good but for rounding.
    """
    z, m = np.arange(level.nodes.size), level.strength.sum() / 2

    def own(z, b):
        E, K, N = (column[b] for column in totals(level, z, z.size))
        P, densities = K**2 / (4 * m), min(comb(int(N), 2), m) + 1
        return log(factorial(int(N))) - log(densities) + (divergence(E, P) if E > P > 0 else 0.0)

    for unit in order.tolist():
        if not loose[unit] or np.count_nonzero(z == z[unit]) > 1:
            continue
        gain = {
            b: own(np.where(z == unit, b, z), b) - own(z, b)
            for b in neighboring_groups(level, z, unit)
        }
        ranked = sorted(gain, key=gain.get)
        if len(ranked) > 1 and gain[ranked[-1]] - gain[ranked[-2]] < 1e-6:
            return None
        z[unit] = ranked[-1] if ranked else unit
    return renumbered(z)


def code_lengths(n, m):
    """Return the tables of a component of n nodes and m edges: by size, and by number of groups."""
    of_size = [log(factorial(N)) - log(min(comb(N, 2), m) + 1) for N in range(n + 1)]
    of_number = [
        log(factorial(k)) - log(comb(n - 1, k - 1)) - log(factorial(n)) for k in range(1, n + 1)
    ]
    return np.array(of_size), np.array(of_number)


def neighboring_groups(level, z, i):
    """Return the groups of the neighbors of a unit."""
    return {int(b) for b in z[level.A.indices[level.A.indptr[i] : level.A.indptr[i + 1]]]}


def best_gain(level, z, i, objective):
    """Return the largest gain of a move of one unit to a group of its neighbors or its own."""
    before = objective(level, z)
    gains = [0.0]
    for b in {*neighboring_groups(level, z, i), int(z.max()) + 1} - {int(z[i])}:
        moved = z.copy()
        moved[i] = b
        gains.append(objective(level, moved) - before)
    return max(gains)


def pairs_saved(G, z):
    """Return the nats that communities of one density save where edges are chosen among pairs.

    One community is sent as edges among all pairs, or as degrees and a matching of their ends.
    """
    n, m, k = len(G), G.number_of_edges(), int(z.max()) + 1
    sizes = np.bincount(z).tolist()
    pairs, inside = sum(comb(size, 2) for size in sizes), sum(z[u] == z[v] for u, v in G.edges)
    ways, matchings = factorial(n), factorial(2 * m) / (2**m * factorial(m))
    for size in sizes:
        ways //= factorial(size)
    labels = log(comb(n - 1, k - 1)) + log(ways) - log(factorial(k))
    split = log(comb(pairs, inside)) + log(comb(comb(n, 2) - pairs, m - inside))
    orders = sum(log(factorial(d)) for _, d in G.degree)
    by_degrees = log(comb(n + 2 * m - 1, 2 * m)) + log(matchings) - orders
    return min(log(comb(comb(n, 2), m)), by_degrees) - split - labels - log(m + 1)
