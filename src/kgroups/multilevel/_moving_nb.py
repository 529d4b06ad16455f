"""The local-moving kernel: units change groups while an objective rises.

The objective is *modularity* at a resolution, the sum of 2 E_c - penalty K_c^2, or the *nats saved*
of :mod:`kgroups.description`, with E_c weights inside, K_c strength and N_c nodes of group c, in
which each group has a density of its own.

The loop over the links of a unit has no branches that depend on labels: a processor cannot predict
these, and each wrong guess takes as long as several links.
"""

from math import log

import numpy as np
from numba import njit

from kgroups._types import CSR, Bools, Floats, Indices, Ints
from kgroups.multilevel.levels import ROUNDING, Code, Level, Rules

# For a group with this many times the links of a unit, two terms of the Taylor series of the gain
# are enough to rank groups; the move itself is decided by the exact gain.
_SERIES = 8.0
# Keeps the rate of links between groups positive when there are none.
_LEAST_LINK = 1e-3
# Columns of the table of groups.
_INSIDE, _STRENGTH, _OWN, _RATE, _LOG_RATE = 0, 1, 2, 3, 4
# Units between two reports on how many are waiting, less 1; a power of two less 1.
_REPORT_STEP = 4_095
# Primes that hash unit, group and sweep to a position in the noise.
_STRIDE, _HOP, _SHIFT = 7919, 104729, 7727


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def denser(E: float, P: float) -> float:
    """Return the nats that E edges where P are expected save, if they are more."""
    return E * log(E / P) - E + P if E > P and P > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def sparser(E: float, P: float) -> float:
    """Return the nats that E edges where P are expected save, if they are fewer."""
    if not E < P:
        return 0.0
    return E * log(E / P) - E + P if E > 0.0 else P


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def weight_mask(A: CSR) -> int:
    """Return what the place of a link is to be masked with to give that of its weight.

    It is 0 where one number stands for all weights, and -1, which changes nothing, elsewhere.
    """
    return 0 if A.data.size == 1 else -1


@njit(cache=True, nogil=True, error_model="numpy")
def add_inner_weights(A: CSR, z: Ints, first: int, stop: int, inner: Floats) -> None:
    """Add the weights inside each group at some nodes, each half, as both ends count."""
    mask = weight_mask(A)
    for i in range(first, stop):
        for t in range(A.indptr[i], A.indptr[i + 1]):
            if z[A.indices[t]] == z[i]:
                inner[z[i]] += 0.5 * A.data[t & mask]


@njit(cache=True, nogil=True, error_model="numpy")
def group_totals(level: Level, z: Indices, k: int, tally: Ints) -> tuple[Floats, Floats, Ints]:
    """Return weights inside, strength and number of nodes of each group.

    A third number of the tally other than 0 ends the work early.
    """
    E, K, N = np.zeros(k), np.zeros(k), np.zeros(k, np.int64)
    A, mask = level.A, weight_mask(level.A)
    for i in range(z.size):
        if tally[2] != 0:
            break
        a = z[i]
        K[a] += level.strength[i]
        N[a] += level.nodes[i]
        E[a] += level.inner[i]
        for t in range(A.indptr[i], A.indptr[i + 1]):
            if z[A.indices[t]] == a:
                E[a] += 0.5 * A.data[t & mask]
    return E, K, N


@njit(cache=True, nogil=True, error_model="numpy")
def saved_by_totals(E: Floats, K: Floats, N: Ints, code: Code) -> float:
    """Return the nats that groups save; empty groups do not count."""
    m = code.edges
    saved, inside, expected, k = 0.0, 0.0, 0.0, 0
    for a in range(N.size):
        if N[a] > 0:
            P = K[a] * K[a] / (4.0 * m)
            saved += code.of_size[N[a]] + denser(E[a], P)
            inside += E[a]
            expected += P
            k += 1
    if k > 1:
        saved += code.of_number[k] + sparser(m - inside, m - expected)
    return saved if k > 1 else 0.0


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _set_rate(group: Floats, a: int, expected: float) -> None:
    """Set the density of a group relative to chance, 0 if it is no denser, and its log."""
    rate = group[a, _INSIDE] / expected if expected > 0.0 else 0.0
    group[a, _RATE] = rate if rate > 1.0 else 0.0
    group[a, _LOG_RATE] = log(rate) if rate > 1.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def move(
    level: Level,
    z: Indices,
    code: Code,
    penalty: float,
    rules: Rules,
    temperatures: Floats,
    step: int,
    waiting: Bools,
    undecided: Bools,
    tally: Ints,
) -> float:
    """Move units between groups, labels changed in place; return the nats that the groups save.

    With a ``penalty`` above 0 modularity rises, and 0 is returned. Otherwise a unit may also open a
    group of its own, unless the number of groups is to be kept. For each temperature there is a
    sweep in which gains carry noise, as in Gibbs sampling. Then the units that are ``waiting``
    form a queue, in steps of ``step``, and the neighbors of a unit that has moved wait again.
    ``undecided`` marks units whose best group leads by less than the margin of the rules; sweeps
    with noise, and the queue after them, begin with these and those that wait. ``tally`` counts
    entries read and moves made; a third number other than 0 stops the moves; where it has two
    more, they tell how many units of how many are waiting.
    """
    if tally[2] != 0:
        return 0.0
    A, n, m = level.A, z.size, code.edges
    one, reporting = weight_mask(A), tally.size > 4
    linear = penalty > 0.0
    quarter = 1.0 / (4.0 * m)
    E, K, N = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    if linear:
        for i in range(n):
            K[z[i]] += level.strength[i]
            N[z[i]] += level.nodes[i]
    else:
        E, K, N = group_totals(level, z, n, tally)
        tally[0] += A.indices.size
    # A row for each group: links inside, strength, own nats, density relative to chance, its log.
    group = np.zeros((n, 5))
    free, spare, k, inside, expected = np.empty(n, np.int32), 0, 0, 0.0, 0.0
    for a in range(n - 1, -1, -1):
        if N[a] > 0:
            P = K[a] * K[a] * quarter
            group[a, _INSIDE], group[a, _STRENGTH] = E[a], K[a]
            group[a, _OWN] = code.of_size[N[a]] + denser(E[a], P) if not linear else 0.0
            _set_rate(group, a, P)
            k, inside, expected = k + 1, inside + E[a], expected + P
        else:
            free[spare] = a
            spare += 1
    # One place more than groups, as one is written for each link.
    link, touched = np.zeros(n), np.empty(n + 1, np.int32)
    queue = np.empty(n, np.int32)
    noise, mask, annealed = rules.noise, rules.noise.size - 1, temperatures.size > 0
    for sweep in range(temperatures.size + 1):
        annealing = sweep < temperatures.size
        temperature = temperatures[sweep] if annealing else 0.0
        shift = _SHIFT * sweep
        pending, at = 0, 0
        for _ in range(n):
            if waiting[at] or (annealed and undecided[at]):
                queue[pending] = at
                pending += 1
            at += step
            if at >= n:
                at -= n
        head, left = 0, rules.max_visits * n
        while pending > 0 and left > 0 and tally[2] == 0:
            i = queue[head]
            head = head + 1 if head + 1 < n else 0
            pending -= 1
            left -= 1
            waiting[i] = False
            if reporting and left & _REPORT_STEP == 0:
                tally[3], tally[4] = pending, n
            a, first, last, count = z[i], A.indptr[i], A.indptr[i + 1], 0
            d, e, size = level.strength[i], level.inner[i], level.nodes[i]
            alone = N[a] == size
            if alone and rules.keep:
                continue
            tally[0] += last - first
            for t in range(first, last):
                b = z[A.indices[t]]
                # Written always, and kept only if the group is new.
                touched[count] = b
                count += 1 if link[b] == 0.0 else 0
                link[b] += A.data[t & one]
            own_link, link[a] = link[a], 0.0
            best, best_gain, next_gain, best_link = a, ROUNDING, -np.inf, 0.0
            if linear:
                best_gain, charge = rules.margin, penalty * d
                stay = own_link - charge * (group[a, _STRENGTH] - d)
                for position in range(count):
                    b = touched[position]
                    if b != a:
                        gain = link[b] - charge * group[b, _STRENGTH] - stay
                        link[b] = 0.0
                        if gain > best_gain:
                            best, best_gain = b, gain
                if best == a:
                    continue
            else:
                X, Y = m - inside, m - expected
                outside, log_outside = 1.0, 0.0
                if X < Y and Y > _LEAST_LINK:
                    outside = max(X, _LEAST_LINK) / Y
                    log_outside = log(outside)
                Ka = group[a, _STRENGTH]
                Pa = (Ka - d) * (Ka - d) * quarter
                rest = 0.0
                if not alone:
                    rest = code.of_size[N[a] - size] + denser(group[a, _INSIDE] - own_link - e, Pa)
                lost = rest - group[a, _OWN]
                small = _SERIES * d < X
                for position in range(count + 1):
                    if position < count:
                        b = touched[position]
                        if b == a:
                            continue
                        x = link[b]
                        link[b] = 0.0
                    elif alone or spare == 0 or rules.keep:
                        break
                    else:
                        b, x = free[spare - 1], 0.0
                    Eb, Kb, rate = group[b, _INSIDE], group[b, _STRENGTH], group[b, _RATE]
                    p = d * (2.0 * Kb + d) * quarter
                    if small and rate > 1.0 and Eb > _SERIES * (x + e):
                        excess = x + e - p * rate
                        gain = (x + e) * group[b, _LOG_RATE] - p * (rate - 1.0)
                        gain += 0.5 * excess * excess / Eb
                        gain += code.of_size[N[b] + size] - code.of_size[N[b]]
                    else:
                        gain = code.of_size[N[b] + size] - group[b, _OWN]
                        gain += denser(Eb + x + e, (Kb + d) * (Kb + d) * quarter)
                    more, charge = x - own_link, p - d * (2.0 * Ka - d) * quarter
                    if small:
                        gain -= more * log_outside + charge * (1.0 - outside)
                    else:
                        gain += sparser(X - more, Y - charge) - sparser(X, Y)
                    after = k - (1 if alone else 0) + (1 if N[b] == 0 else 0)
                    gain += code.of_number[after] - code.of_number[k] + lost
                    if annealing:
                        gain += temperature * (
                            noise[(_STRIDE * i + _HOP * b + shift) & mask]
                            - noise[(_STRIDE * i + _HOP * a + shift) & mask]
                        )
                    if gain > best_gain:
                        next_gain = best_gain if best != a else 0.0
                        best, best_gain, best_link = b, gain, x
                    elif gain > next_gain:
                        next_gain = gain
                ahead = -next_gain if best == a else best_gain - max(next_gain, 0.0)
                undecided[i] = ahead < rules.undecided_margin
                if best == a:
                    continue
                Kb = group[best, _STRENGTH]
                Pb = (Kb + d) * (Kb + d) * quarter
                inner = group[best, _INSIDE] + best_link + e
                new = code.of_size[N[best] + size] + denser(inner, Pb)
                charge = Pa - Ka * Ka * quarter + Pb - Kb * Kb * quarter
                after = k - (1 if alone else 0) + (1 if N[best] == 0 else 0)
                if not annealing:
                    gain = (
                        lost + new - group[best, _OWN] + code.of_number[after] - code.of_number[k]
                    )
                    gain += sparser(X - best_link + own_link, Y - charge) - sparser(X, Y)
                    if not gain > ROUNDING:
                        continue
                # Rounding may take away more than a group of faint links has left.
                group[a, _INSIDE] = 0.0 if alone else max(0.0, group[a, _INSIDE] - own_link - e)
                group[best, _INSIDE] = inner
                group[a, _OWN], group[best, _OWN] = rest, new
                _set_rate(group, a, 0.0 if alone else Pa)
                _set_rate(group, best, Pb)
                inside, expected, k = inside + best_link - own_link, expected + charge, after
                if N[best] == 0:
                    spare -= 1
                if alone:
                    free[spare] = a
                    spare += 1
            group[a, _STRENGTH] = 0.0 if alone else group[a, _STRENGTH] - d
            group[best, _STRENGTH] += d
            N[a] -= size
            N[best] += size
            z[i] = best
            tally[1] += 1
            for t in range(first, last):
                j = A.indices[t]
                if not waiting[j] and z[j] != best:
                    waiting[j] = True
                    if not annealing:
                        place = head + pending
                        queue[place if place < n else place - n] = j
                        pending += 1
    if linear:
        return 0.0
    return saved_by_totals(group[:, _INSIDE], group[:, _STRENGTH], N, code)
