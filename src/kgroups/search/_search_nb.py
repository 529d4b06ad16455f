"""Kernels on levels: the objective, moves of units between groups, coarser levels, and merges.

The formula of the objective is in ``saving``; for large groups moves are ranked by its Taylor
series.

Units of a component are consecutive, and ``offsets`` says where each component starts. A kernel
treats the components ``which``; labels start from 0 in each. In the last three kernels, groups are
numbered consecutively across components; ``order`` lists the participating nodes by group, and
those of group r start at ``firsts[r]``.

Units move while an objective rises: *modularity* at a resolution, the sum of
2 E_c - penalty K_c^2, or the *nats saved* of :mod:`kgroups.search.objective`, with E_c weights
inside, K_c strength and N_c nodes of group c.

The loop over the links of a unit has no branches that depend on labels: a processor cannot predict
these, and each wrong guess takes as long as several links.
"""

from math import floor, inf, log

from kgroups._kernel import kernel
from kgroups._progress import ENTRIES, LEFT, MOVES, STOP, TOTAL
from kgroups._types import Bools, Floats, Indices, Ints

__all__ = [
    "attach",
    "best_partners",
    "climb",
    "coarsen",
    "describe",
    "intersect",
    "merge",
    "shared",
    "triangles",
    "unevenness",
    "wake",
]

ROUNDING = 1e-9
"""Gains below this are rounding."""
# Fraction of the golden ratio: its multiples spread the orders of visits evenly.
_GOLDEN = 0.6180339887498949
# For a group with this many times the links of a unit, two terms of the Taylor series of the gain
# are enough to rank groups; the move itself is decided by the exact gain.
_SERIES = 8.0
# Keeps the rate of links between groups positive when there are none.
_LEAST_LINK = 1e-3
# Columns of the table of groups: strength, links inside, own nats, density relative to chance and
# its logarithm.
_STRENGTH, _INSIDE, _OWN, _RATE, _LOG_RATE = 0, 1, 2, 3, 4
# Rows of the working arrays.
_QUEUE, _FREE, _NEW, _MEMBERS = 0, 1, 2, 3
_SIZE, _START = 0, 1
# Report how many units are waiting every 4,096 units; a power of two less 1.
_REPORT_STEP = 4_095
# Primes that hash unit, group and sweep to a position in the noise.
_STRIDE, _HOP, _SHIFT = 7919, 104729, 7727


def saving(E: float, P: float, sign: float) -> float:
    """Return the nats that E edges save where P are expected.

    Edges inside a group (sign 1) save nothing if there are fewer than expected, and edges between
    groups (sign -1) save nothing if there are more.
    """
    if not sign * (E - P) > 0.0 or not P > 0.0:
        return 0.0
    return E * log(E / P) - E + P if E > 0.0 else P


def coarsen_block(
    indptr: Indices, indices: Indices, data: Floats, strength: Floats, inner: Floats, nodes: Ints,
    first: int, last: int, z: Indices, at: int, k: int, to_indptr: Indices, to_indices: Indices,
    to_data: Floats, to_strength: Floats, to_inner: Floats, to_nodes: Ints, base: int, slot: int,
    control: Ints, group: Floats, link: Floats, counts: Ints, touched: Indices, work: Indices,
) -> int:
    """Write the ``k`` groups of a block as units from ``base`` on, their links from ``slot`` on.

    The label of unit i is ``z[at + i]``. Returns where the links end, -1 if a flag in the control
    has ended the work.
    """
    mask = 0 if len(data) == 1 else -1
    for a in range(k + 1):
        counts[_START, a] = 0
    for i in range(first, last):
        counts[_START, z[at + i] + 1] += 1
    for a in range(k):
        counts[_START, a + 1] += counts[_START, a]
        link[a] = 0.0
    for i in range(first, last):
        a = z[at + i]
        work[_MEMBERS, counts[_START, a]] = i - first
        counts[_START, a] += 1
    place = 0
    for a in range(k):
        count = 0
        own_strength = 0.0
        own_inner = 0.0
        own_nodes = 0
        while place < counts[_START, a]:
            i = first + work[_MEMBERS, place]
            place += 1
            if control[STOP] != 0:
                return -1
            own_strength += strength[i]
            own_inner += inner[i]
            own_nodes += nodes[i]
            for t in range(indptr[i], indptr[i + 1]):
                # Without branches, as in ``move_block``.
                b = z[indices[t]]
                weight = float(data[t & mask])
                own_inner += 0.5 * weight if b == a else 0.0
                touched[count] = b
                count += 1 if link[b] == 0.0 and b != a else 0
                link[b] += weight if b != a else 0.0
        to_strength[base + a] = own_strength
        to_inner[base + a] = own_inner
        to_nodes[base + a] = own_nodes
        to_indptr[base + a] = slot
        for position in range(count):
            b = touched[position]
            to_indices[slot] = base + b
            to_data[slot] = link[b]
            link[b] = 0.0
            slot += 1
    to_indptr[base + k] = slot
    return slot


def gathered(
    indices: Indices, data: Floats, begin: int, end: int, z: Indices, link: Floats,
    touched: Indices,
) -> int:
    """Add up the links of a unit to each group in ``link``; return how many groups there are."""
    one = 0 if len(data) == 1 else -1
    count = 0
    for t in range(begin, end):
        b = z[indices[t]]
        # Written always, and kept only if the group is new.
        touched[count] = b
        count += 1 if link[b] == 0.0 else 0
        link[b] += float(data[t & one])
    return count


def best_by_modularity(
    a: int, d: float, own_link: float, penalty: float, margin: float, count: int, group: Floats,
    link: Floats, touched: Indices,
) -> tuple[int, float]:
    """Return the group that a unit of group a gains most by joining, and its links there.

    The links are reset to 0.
    """
    best = a
    best_gain = margin
    best_link = own_link
    charge = penalty * d
    stay = own_link - charge * (group[a, _STRENGTH] - d)
    for position in range(count):
        b = touched[position]
        if b != a:
            x = link[b]
            gain = x - charge * group[b, _STRENGTH] - stay
            link[b] = 0.0
            if gain > best_gain:
                best = b
                best_gain = gain
                best_link = x
    return best, best_link


def best_by_description(
    i: int, a: int, d: float, e: float, size: int, own_link: float, spare: int, m: float,
    quarter: float, of_size: Floats, of_number: Floats, table: int, k: int, inside: float,
    expected: float, temperature: float, noise: Floats, shift: int, count: int, group: Floats,
    link: Floats, counts: Ints, touched: Indices,
) -> tuple[int, float, float, float]:
    """Return the group that saves most with a unit of group a, its links there, and its lead.

    The lead is that over the second best group, in nats. The last number is what group a saves
    without the unit. ``spare`` is an empty group that the unit
    may open, or -1. With a ``temperature`` gains carry noise. The links are reset to 0.
    """
    mask = len(noise) - 1
    alone = counts[_SIZE, a] == size
    best = a
    best_gain = ROUNDING
    next_gain = -inf
    best_link = 0.0
    X = m - inside
    Y = m - expected
    outside = 1.0
    log_outside = 0.0
    if X < Y and Y > _LEAST_LINK:
        outside = (X if X > _LEAST_LINK else _LEAST_LINK) / Y
        log_outside = log(outside)
    Ka = group[a, _STRENGTH]
    rest = 0.0
    if not alone:
        rest = of_size[table + counts[_SIZE, a] - size]
        rest += saving(
            group[a, _INSIDE] - own_link - e, (Ka - d) * (Ka - d) * quarter, 1.0
        )
    lost = rest - group[a, _OWN]
    small = _SERIES * d < X
    before = 0.0 if small else saving(X, Y, -1.0)
    for position in range(count + 1):
        b = a
        x = 0.0
        if position < count:
            b = touched[position]
            if b == a:
                continue
            x = link[b]
            link[b] = 0.0
        elif alone or spare < 0:
            break
        else:
            b = spare
        Eb = group[b, _INSIDE]
        Kb = group[b, _STRENGTH]
        rate = group[b, _RATE]
        there = counts[_SIZE, b]
        p = d * (2.0 * Kb + d) * quarter
        if small and rate > 1.0 and Eb > _SERIES * (x + e):
            excess = x + e - p * rate
            gain = (x + e) * group[b, _LOG_RATE] - p * (rate - 1.0)
            gain += 0.5 * excess * excess / Eb
            gain += of_size[table + there + size] - of_size[table + there]
        else:
            gain = of_size[table + there + size] - group[b, _OWN]
            gain += saving(Eb + x + e, (Kb + d) * (Kb + d) * quarter, 1.0)
        more = x - own_link
        charge = p - d * (2.0 * Ka - d) * quarter
        if small:
            gain -= more * log_outside + charge * (1.0 - outside)
        else:
            gain += saving(X - more, Y - charge, -1.0) - before
        after = k - (1 if alone else 0) + (1 if there == 0 else 0)
        gain += of_number[table + after] - of_number[table + k] + lost
        if temperature > 0.0:
            gain += temperature * (
                noise[(_STRIDE * i + _HOP * b + shift) & mask]
                - noise[(_STRIDE * i + _HOP * a + shift) & mask]
            )
        if gain > best_gain:
            next_gain = best_gain if best != a else 0.0
            best = b
            best_gain = gain
            best_link = x
        elif gain > next_gain:
            next_gain = gain
    lead = -next_gain if best == a else best_gain - (next_gain if next_gain > 0.0 else 0.0)
    return best, best_link, lead, rest


def move_block(
    indptr: Indices, indices: Indices, data: Floats, strength: Floats, inner: Floats, nodes: Ints,
    first: int, last: int, m: float, of_size: Floats, of_number: Floats, table: int, z: Indices,
    penalty: float, margin: float, noise: Floats, undecided_margin: float, max_visits: int,
    fixed_k: bool, temperatures: Floats, sweeps: int, step: int, waiting: Bools, undecided: Bools,
    control: Ints, group: Floats, link: Floats, counts: Ints, touched: Indices, work: Indices,
) -> float:
    """Move units of a block between groups, labels changed in place; return the nats saved.

    With a ``penalty`` above 0 modularity rises, by more than ``margin`` in a move, and 0 is
    returned. Otherwise a unit may also open a new group, unless the number of groups is to be
    kept. For each temperature there is a sweep in which gains carry noise, as in Gibbs sampling.
    Then the units that are ``waiting`` form a queue, in steps of ``step``, and the neighbors of a
    unit that has moved wait again. ``undecided`` marks units whose best group leads by less than
    its margin; sweeps with noise, and the queue after them, begin with these and those that wait.
    """
    n = last - first
    one = 0 if len(data) == 1 else -1
    linear = penalty > 0.0
    quarter = 1.0 / (4.0 * m)
    for a in range(n):
        counts[_SIZE, a] = 0
        link[a] = 0.0
        for column in range(5):
            group[a, column] = 0.0
    for i in range(first, last):
        a = z[i]
        group[a, _STRENGTH] += strength[i]
        counts[_SIZE, a] += nodes[i]
        if not linear:
            group[a, _INSIDE] += inner[i]
            for t in range(indptr[i], indptr[i + 1]):
                if z[indices[t]] == a:
                    group[a, _INSIDE] += 0.5 * float(data[t & one])
    if not linear:
        control[ENTRIES] += indptr[last] - indptr[first]
    spare = 0
    k = 0
    inside = 0.0
    expected = 0.0
    for a in range(n - 1, -1, -1):
        if counts[_SIZE, a] > 0:
            E = group[a, _INSIDE]
            P = group[a, _STRENGTH] * group[a, _STRENGTH] * quarter
            if not linear:
                group[a, _OWN] = of_size[table + counts[_SIZE, a]] + saving(E, P, 1.0)
            rate = E / P if P > 0.0 else 0.0
            group[a, _RATE] = rate if rate > 1.0 else 0.0
            group[a, _LOG_RATE] = log(rate) if rate > 1.0 else 0.0
            k += 1
            inside += E
            expected += P
        else:
            work[_FREE, spare] = a
            spare += 1
    for sweep in range(sweeps + 1):
        annealing = sweep < sweeps
        temperature = temperatures[sweep] if annealing else 0.0
        shift = _SHIFT * sweep
        pending = 0
        at = 0
        for _ in range(n):
            if waiting[first + at] or (sweeps > 0 and undecided[first + at]):
                work[_QUEUE, pending] = at
                pending += 1
            at += step
            if at >= n:
                at -= n
        head = 0
        left = max_visits * n
        while pending > 0 and left > 0 and control[STOP] == 0:
            local = work[_QUEUE, head]
            i = first + local
            head = head + 1 if head + 1 < n else 0
            pending -= 1
            left -= 1
            waiting[i] = False
            if left & _REPORT_STEP == 0:
                control[LEFT] = pending
                control[TOTAL] = n
            a = z[i]
            begin = indptr[i]
            end = indptr[i + 1]
            count = 0
            d = strength[i]
            e = inner[i]
            size = nodes[i]
            alone = counts[_SIZE, a] == size
            if alone and fixed_k:
                continue
            control[ENTRIES] += end - begin
            count = gathered(indices, data, begin, end, z, link, touched)
            own_link = link[a]
            link[a] = 0.0
            if linear:
                best, best_link = best_by_modularity(
                    a, d, own_link, penalty, margin, count, group, link, touched
                )
                if best == a:
                    continue
            else:
                fresh = -1 if spare == 0 or fixed_k else work[_FREE, spare - 1]
                best, best_link, lead, rest = best_by_description(
                    local, a, d, e, size, own_link, fresh, m, quarter, of_size, of_number, table, k,
                    inside, expected, temperature, noise, shift, count, group, link, counts,
                    touched,
                )
                undecided[i] = lead < undecided_margin
                if best == a:
                    continue
                Ka = group[a, _STRENGTH]
                Pa = (Ka - d) * (Ka - d) * quarter
                Kb = group[best, _STRENGTH]
                there = counts[_SIZE, best]
                Pb = (Kb + d) * (Kb + d) * quarter
                E = group[best, _INSIDE] + best_link + e
                new = of_size[table + there + size] + saving(E, Pb, 1.0)
                charge = Pa - Ka * Ka * quarter + Pb - Kb * Kb * quarter
                after = k - (1 if alone else 0) + (1 if there == 0 else 0)
                if not annealing:
                    gain = rest - group[a, _OWN] + new - group[best, _OWN]
                    gain += of_number[table + after]
                    gain -= of_number[table + k]
                    X = m - inside
                    Y = m - expected
                    before = saving(X, Y, -1.0)
                    gain += saving(X - best_link + own_link, Y - charge, -1.0) - before
                    if not gain > ROUNDING:
                        continue
                # Rounding may take away more than a group of faint links has left.
                left_inside = group[a, _INSIDE] - own_link - e
                left_inside = left_inside if left_inside > 0.0 and not alone else 0.0
                group[a, _INSIDE] = left_inside
                group[best, _INSIDE] = E
                group[a, _OWN] = rest
                group[best, _OWN] = new
                rate = left_inside / Pa if not alone and Pa > 0.0 else 0.0
                group[a, _RATE] = rate if rate > 1.0 else 0.0
                group[a, _LOG_RATE] = log(rate) if rate > 1.0 else 0.0
                rate = E / Pb if Pb > 0.0 else 0.0
                group[best, _RATE] = rate if rate > 1.0 else 0.0
                group[best, _LOG_RATE] = log(rate) if rate > 1.0 else 0.0
                inside += best_link - own_link
                expected += charge
                k = after
                if there == 0:
                    spare -= 1
                if alone:
                    work[_FREE, spare] = a
                    spare += 1
            group[a, _STRENGTH] = 0.0 if alone else group[a, _STRENGTH] - d
            group[best, _STRENGTH] += d
            counts[_SIZE, a] -= size
            counts[_SIZE, best] += size
            z[i] = best
            control[MOVES] += 1
            for t in range(begin, end):
                j = indices[t]
                if not waiting[j] and z[j] != best:
                    waiting[j] = True
                    if not annealing:
                        place = head + pending
                        work[_QUEUE, place if place < n else place - n] = j - first
                        pending += 1
    if linear:
        return 0.0
    saved = 0.0
    inside = 0.0
    expected = 0.0
    k = 0
    for a in range(n):
        if counts[_SIZE, a] > 0:
            E = group[a, _INSIDE]
            P = group[a, _STRENGTH] * group[a, _STRENGTH] / (4.0 * m)
            saved += of_size[table + counts[_SIZE, a]] + saving(E, P, 1.0)
            inside += E
            expected += P
            k += 1
    if k < 2:
        return 0.0
    return float(saved + (of_number[table + k] + saving(m - inside, m - expected, -1.0)))


@kernel(seconds=3.5)
def climb(
    indptr: Indices, indices: Indices, data: Floats, strength: Floats, inner: Floats, nodes: Ints,
    offsets: Ints, edges: Floats, of_size: Floats, of_number: Floats, tables: Ints, which: Ints,
    z: Indices, penalty: Floats, margin: Floats, noise: Floats, undecided_margin: float,
    max_visits: int, fixed_k: bool, temperatures: Floats, start: int, levels: int, waiting: Bools,
    undecided: Bools, k: Ints, saved: Floats, share: Floats, group: Floats, link: Floats,
    counts: Ints, touched: Indices, work: Indices, pool_indptr: Indices, pool_indices: Indices,
    pool_data: Floats, pool_strength: Floats, pool_inner: Floats, pool_nodes: Ints, pool_z: Indices,
    pool_waiting: Bools, pool_undecided: Bools, control: Ints,
) -> None:
    """Move units, then groups of them, then groups of groups, until nothing improves.

    ``z`` holds the initial labels and receives the final ones, without gaps in the order of their
    first units, unless groups are to be kept; ``waiting`` and ``undecided`` say which units are
    visited first. ``k``, ``saved`` and ``share`` receive numbers of groups, nats saved and shares
    of undecided nodes. Coarser levels are written to the two halves of the pool in turn.
    """
    for position in range(len(which)):
        c = which[position]
        first = offsets[c]
        last = offsets[c + 1]
        top = last - first
        m = edges[c]
        at_indptr = indptr
        at_indices = indices
        at_data = data
        at_strength = strength
        at_inner = inner
        at_nodes = nodes
        at_z = z
        at_waiting = waiting
        at_undecided = undecided
        base = first
        n = top
        level = 0
        sweeps = len(temperatures)
        while True:
            # Each start visits the units in another order: in steps without a common divisor.
            step = 1
            if start > 0 and n > 3:
                step = floor(n * ((_GOLDEN * start) % 1.0))
                divisor = 0
                while divisor != 1:
                    divisor = step
                    rest = n
                    while rest > 0:
                        divisor, rest = rest, divisor % rest
                    step += 0 if divisor == 1 else 1
                step %= n
            result = move_block(
                at_indptr, at_indices, at_data, at_strength, at_inner, at_nodes, base, base + n, m,
                of_size, of_number, tables[c], at_z, penalty[c], margin[c], noise, undecided_margin,
                max_visits, fixed_k, temperatures, sweeps, step, at_waiting, at_undecided, control,
                group, link, counts, touched, work,
            )
            for a in range(n):
                work[_NEW, a] = -1
            found = 0
            for i in range(base, base + n):
                a = at_z[i]
                if work[_NEW, a] < 0:
                    work[_NEW, a] = a if fixed_k else found
                    found += 1
                at_z[i] = work[_NEW, a]
            if level == 0:
                undecided_nodes = 0
                everyone = 0
                for i in range(first, last):
                    everyone += nodes[i]
                    undecided_nodes += nodes[i] if undecided[i] else 0
                share[c] = undecided_nodes / everyone
            else:
                for i in range(first, last):
                    z[i] = at_z[base + z[i]]
            k[c] = found
            saved[c] = result
            level += 1
            if found == n or found == 1 or level == levels or control[STOP] != 0:
                break
            half = level & 1
            to_base = half * (len(pool_strength) // 2)
            slot = coarsen_block(
                at_indptr, at_indices, at_data, at_strength, at_inner, at_nodes, base, base + n,
                at_z, 0, k[c], pool_indptr, pool_indices, pool_data, pool_strength, pool_inner,
                pool_nodes, to_base, half * (len(pool_indices) // 2), control, group, link, counts,
                touched, work,
            )
            if slot < 0:
                break
            control[ENTRIES] += slot - half * (len(pool_indices) // 2)
            at_indptr = pool_indptr
            at_indices = pool_indices
            at_data = pool_data
            at_strength = pool_strength
            at_inner = pool_inner
            at_nodes = pool_nodes
            at_z = pool_z
            at_waiting = pool_waiting
            at_undecided = pool_undecided
            base = to_base
            n = found
            sweeps = 0
            for a in range(n):
                at_z[base + a] = a
                at_waiting[base + a] = True
                at_undecided[base + a] = True


@kernel(seconds=1.0)
def coarsen(
    indptr: Indices, indices: Indices, data: Floats, strength: Floats, inner: Floats, nodes: Ints,
    offsets: Ints, which: Ints, z: Indices, at: int, to_offsets: Ints, to_indptr: Indices,
    to_indices: Indices, to_data: Floats, to_strength: Floats, to_inner: Floats, to_nodes: Ints,
    group: Floats, link: Floats, counts: Ints, touched: Indices, work: Indices, filled: Ints,
    control: Ints,
) -> None:
    """Write the level whose units are the groups of labels, and count its links in ``filled``.

    The label of unit i is ``z[at + i]``. ``to_offsets`` says how many groups there are in each
    component, none in those that are left out.
    """
    for position in range(len(which)):
        c = which[position]
        filled[0] = coarsen_block(
            indptr, indices, data, strength, inner, nodes, offsets[c], offsets[c + 1], z, at,
            to_offsets[c + 1] - to_offsets[c], to_indptr, to_indices, to_data, to_strength,
            to_inner, to_nodes, to_offsets[c], filled[0], control, group, link, counts, touched,
            work,
        )
        if filled[0] < 0:
            return


@kernel(seconds=0.41)
def describe(
    indptr: Indices, indices: Indices, data: Floats, strength: Floats, inner: Floats, nodes: Ints,
    offsets: Ints, edges: Floats, of_size: Floats, of_number: Floats, tables: Ints, which: Ints,
    z: Indices, firsts: Ints, E: Floats, K: Floats, N: Ints, sums: Floats, saved: Floats,
    control: Ints,
) -> None:
    """Add up weights inside, strength and nodes of the groups, and the nats that they save.

    The groups of component c start at ``firsts[c]`` in E, K and N, which are zeros at first. A row
    of ``sums`` receives the sums of E, K and squared K over the groups of a component. Where there
    are no tables, no nats are computed.
    """
    one = 0 if len(data) == 1 else -1
    for position in range(len(which)):
        c = which[position]
        base = firsts[c]
        for i in range(offsets[c], offsets[c + 1]):
            if control[STOP] != 0:
                return
            label = z[i]
            a = base + label
            K[a] += strength[i]
            N[a] += nodes[i]
            E[a] += inner[i]
            for t in range(indptr[i], indptr[i + 1]):
                if z[indices[t]] == label:
                    E[a] += 0.5 * float(data[t & one])
        inside = 0.0
        whole = 0.0
        squares = 0.0
        for a in range(base, firsts[c + 1]):
            inside += E[a]
            whole += K[a]
            squares += K[a] * K[a]
        sums[c, 0] = inside
        sums[c, 1] = whole
        sums[c, 2] = squares
        if len(of_size) == 0:
            continue
        m = edges[c]
        total = 0.0
        expected = 0.0
        k = 0
        for a in range(base, firsts[c + 1]):
            if N[a] > 0:
                P = K[a] * K[a] / (4.0 * m) if m > 0.0 else 0.0
                total += of_size[tables[c] + N[a]] + saving(E[a], P, 1.0)
                expected += P
                k += 1
        saved[c] = 0.0
        if k > 1:
            saved[c] = total + (of_number[tables[c] + k] + saving(m - inside, m - expected, -1.0))


@kernel(seconds=0.25)
def intersect(
    offsets: Ints, which: Ints, z: Indices, k: Ints, y: Indices, cells: Indices, counts: Ints,
    work: Indices, found: Ints,
) -> None:
    """Label the groups that two partitions both keep together; count them in ``found``.

    ``k`` are the numbers of groups of ``z``. Cells are numbered by their group of ``z``, then by
    their first units.
    """
    for position in range(len(which)):
        c = which[position]
        first = offsets[c]
        n = offsets[c + 1] - first
        for a in range(k[c] + 1):
            counts[_START, a] = 0
        for i in range(n):
            counts[_START, z[first + i] + 1] += 1
            work[_NEW, i] = -1
        for a in range(k[c]):
            counts[_START, a + 1] += counts[_START, a]
        for i in range(n):
            a = z[first + i]
            work[_MEMBERS, counts[_START, a]] = i
            counts[_START, a] += 1
        at = 0
        count = 0
        for a in range(k[c]):
            while at < counts[_START, a]:
                i = work[_MEMBERS, at]
                at += 1
                b = y[first + i]
                if work[_NEW, b] != a:
                    work[_NEW, b] = a
                    work[_FREE, b] = count
                    count += 1
                cells[first + i] = work[_FREE, b]
        found[c] = count


@kernel(seconds=0.3)
def wake(
    indptr: Indices, indices: Indices, offsets: Ints, cell_offsets: Ints, which: Ints,
    cells: Indices, nodes: Ints, before: Indices, after: Indices, waiting: Bools, work: Indices,
    control: Ints,
) -> None:
    """Queue the units whose cell has left its group, and their neighbors.

    A group stays where its largest cell is. If the largest cells of several groups are together
    after the moves, only the largest of them counts as having stayed.
    """
    for position in range(len(which)):
        c = which[position]
        base = cell_offsets[c]
        count = cell_offsets[c + 1] - base
        for cell in range(count):
            work[_NEW, cell] = -1
            work[_FREE, cell] = -1
        for cell in range(count):
            a = before[base + cell]
            if work[_NEW, a] < 0 or nodes[base + cell] > nodes[base + work[_NEW, a]]:
                work[_NEW, a] = cell
        for a in range(count):
            largest = work[_NEW, a]
            if largest < 0:
                continue
            b = after[base + largest]
            owner = work[_FREE, b]
            if owner < 0 or nodes[base + largest] > nodes[base + work[_NEW, owner]]:
                work[_FREE, b] = a
        for i in range(offsets[c], offsets[c + 1]):
            if control[STOP] != 0:
                return
            cell = base + cells[i]
            if work[_FREE, after[cell]] != before[cell]:
                waiting[i] = True
                for t in range(indptr[i], indptr[i + 1]):
                    waiting[indices[t]] = True


@kernel(seconds=0.3)
def best_partners(
    indptr: Indices, indices: Indices, data: Floats, strength: Floats, inner: Floats, nodes: Ints,
    offsets: Ints, edges: Floats, factorial: Floats, which: Ints, own: Floats, gain: Floats,
    partner: Indices,
) -> None:
    """Find for each unit, which is a whole group, the neighbor that it gains most by merging with.

    ``factorial`` are the logarithms of factorials. The cost of a density, which a merge saves, is
    ignored: it would favor merges of groups that moves have not yet corrected.
    """
    for position in range(len(which)):
        c = which[position]
        m = edges[c]
        quarter = 1.0 / (4.0 * m)
        inside = 0.0
        squares = 0.0
        for a in range(offsets[c], offsets[c + 1]):
            own[a] = factorial[nodes[a]] + saving(
                inner[a], strength[a] * strength[a] * quarter, 1.0
            )
            inside += inner[a]
            squares += strength[a] * strength[a]
        X = m - inside
        Y = m - squares * quarter
        for a in range(offsets[c], offsets[c + 1]):
            gain[a] = -inf
            partner[a] = -1
            for t in range(indptr[a], indptr[a + 1]):
                b = indices[t]
                x = float(data[t])
                both = strength[a] + strength[b]
                more = factorial[nodes[a] + nodes[b]] - own[a] - own[b]
                more += saving(inner[a] + inner[b] + x, both * both * quarter, 1.0)
                more += saving(X - x, Y - 2.0 * strength[a] * strength[b] * quarter, -1.0)
                if more > gain[a] or partner[a] < 0:
                    gain[a] = more
                    partner[a] = b


@kernel(seconds=0.34)
def merge(
    order: Ints, offsets: Ints, which: Ints, partner: Indices, most: Ints, into: Indices, k: Ints,
    work: Indices,
) -> None:
    """Merge units with their partners in a given order, at most ``most`` pairs per component.

    ``into`` receives labels without gaps in the order of their first units, ``k`` their number.
    """
    for position in range(len(which)):
        c = which[position]
        first = offsets[c]
        last = offsets[c + 1]
        for a in range(first, last):
            into[a] = -1
            work[_NEW, a - first] = -1
        merges = 0
        for place in range(first, last):
            a = order[place]
            b = partner[a]
            if merges < most[c] and b >= 0 and into[a] < 0 and into[b] < 0:
                into[a] = b - first
                into[b] = b - first
                merges += 1
        found = 0
        for a in range(first, last):
            b = into[a] if into[a] >= 0 else a - first
            if work[_NEW, b] < 0:
                work[_NEW, b] = found
                found += 1
            into[a] = work[_NEW, b]
        k[c] = found


@kernel(seconds=0.76)
def attach(
    indptr: Indices, indices: Indices, data: Floats, strength: Floats, inner: Floats, nodes: Ints,
    offsets: Ints, edges: Floats, of_size: Floats, tables: Ints, which: Ints, order: Ints,
    loose: Bools, E: Floats, K: Floats, N: Ints, into: Indices, link: Floats, k: Ints,
    work: Indices,
) -> None:
    """Merge loose units, in a given order, with the neighboring group that saves most.

    E, K and N are weights inside, strength and nodes of the units, and are updated. ``into``
    receives labels without gaps in the order of their first units, ``k`` their number.
    """
    for position in range(len(which)):
        c = which[position]
        first = offsets[c]
        last = offsets[c + 1]
        quarter = 1.0 / (4.0 * edges[c])
        for a in range(first, last):
            into[a] = a - first
            work[_NEW, a - first] = -1
            link[a - first] = 0.0
        for place in range(first, last):
            unit = order[place]
            if not loose[unit]:
                continue
            a = unit - first
            while into[first + a] != a:
                a = into[first + a]
            if N[first + a] > nodes[unit]:
                # Other units have joined this one, so it stays.
                continue
            best = -1
            best_gain = -inf
            best_link = 0.0
            for t in range(indptr[unit], indptr[unit + 1]):
                b = indices[t] - first
                while into[first + b] != b:
                    b = into[first + b]
                link[b] += float(data[t])
            Ka = K[first + a]
            for t in range(indptr[unit], indptr[unit + 1]):
                b = indices[t] - first
                while into[first + b] != b:
                    b = into[first + b]
                x = link[b]
                if b == a or x == 0.0:
                    continue
                Kb = K[first + b]
                there = N[first + b]
                gain = of_size[tables[c] + N[first + a] + there] - of_size[tables[c] + there]
                gain += saving(
                    E[first + a] + E[first + b] + x, (Ka + Kb) * (Ka + Kb) * quarter, 1.0
                )
                gain -= saving(E[first + b], Kb * Kb * quarter, 1.0)
                if gain > best_gain:
                    best = b
                    best_gain = gain
                    best_link = x
            for t in range(indptr[unit], indptr[unit + 1]):
                b = indices[t] - first
                while into[first + b] != b:
                    b = into[first + b]
                link[b] = 0.0
            if best >= 0:
                E[first + best] += E[first + a] + best_link
                K[first + best] += Ka
                N[first + best] += N[first + a]
                into[first + a] = best
        for unit in range(first, last):
            a = unit - first
            while into[first + a] != a:
                a = into[first + a]
            work[_FREE, unit - first] = a
        found = 0
        for unit in range(first, last):
            a = work[_FREE, unit - first]
            if work[_NEW, a] < 0:
                work[_NEW, a] = found
                found += 1
            into[unit] = work[_NEW, a]
        k[c] = found


@kernel(seconds=0.7)
def unevenness(
    indptr: Indices, indices: Indices, data: Floats, group: Indices, order: Ints, firsts: Ints,
    to_indptr: Indices, to_indices: Indices, to_data: Floats, sums: Floats, between: Floats,
    link: Floats, touched: Indices, control: Ints,
) -> None:
    """Add up Pearson's statistic of the links of nodes to other groups, given their number.

    ``to_*`` are the links between groups. A row of ``sums`` receives for a group the statistic, its
    expectation if the links were independent, and the degrees of freedom. ``between`` and ``link``
    hold zeros before and after the call.
    """
    one = 0 if len(data) == 1 else -1
    for r in range(len(firsts) - 1):
        whole = 0.0
        for t in range(to_indptr[r], to_indptr[r + 1]):
            between[to_indices[t]] = float(to_data[t])
            whole += float(to_data[t])
        others = to_indptr[r + 1] - to_indptr[r]
        statistic = 0.0
        squares = 0.0
        shares = 0.0
        rest = 0.0
        for place in range(firsts[r], firsts[r + 1]):
            if control[STOP] != 0:
                return
            i = order[place]
            count = 0
            own = 0.0
            square = 0.0
            for t in range(indptr[i], indptr[i + 1]):
                s = group[indices[t]]
                if s == r:
                    continue
                weight = float(data[t & one])
                own += weight
                # In double precision: numba leaves a weight in single precision.
                square += 1.0 * weight * weight
                touched[count] = s
                count += 1 if link[s] == 0.0 else 0
                link[s] += weight
            if count == 0:
                continue
            total = 0.0
            for position in range(count):
                s = touched[position]
                total += link[s] * link[s] / between[s]
                link[s] = 0.0
            statistic += total * whole / own - own
            squares += square
            shares += square / own * (whole - own)
            rest += whole - own
        for t in range(to_indptr[r], to_indptr[r + 1]):
            between[to_indices[t]] = 0.0
        sums[r, 0] = statistic
        # Links are drawn without replacement: a group's only link is certain, and carries no
        # information.
        left = whole - squares / whole if whole > 0.0 else 0.0
        if others > 1 and left > 0.0:
            sums[r, 1] = (others - 1) * shares / left
            sums[r, 2] = (others - 1) * rest / left


@kernel(seconds=0.5)
def triangles(
    indptr: Indices, indices: Indices, group: Indices, order: Ints, inside: Ints, found: Floats,
    mark: Ints, control: Ints,
) -> None:
    """Count the links of each node inside its group, and the triangles inside each group.

    Each triangle is found at its node with the most links, by scanning the links of the two others,
    so that m links take O(m sqrt(m)) time. ``mark`` is -1 at first.
    """
    for place in range(len(order)):
        if control[STOP] != 0:
            return
        i = order[place]
        r = group[i]
        degree = indptr[i + 1] - indptr[i]
        count = 0
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            if group[j] != r:
                continue
            count += 1
            less = indptr[j + 1] - indptr[j]
            if less < degree or (less == degree and j < i):
                mark[j] = i
        inside[i] = count
        closed = 0
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            if mark[j] != i:
                continue
            for u in range(indptr[j], indptr[j + 1]):
                # Both orders of the two other nodes are found.
                closed += 1 if mark[indices[u]] == i else 0
        found[r] += 0.5 * closed


@kernel(seconds=0.4)
def shared(
    indptr: Indices, indices: Indices, group: Indices, nodes: Ints, outside: Ints, meeting: Floats,
    found: Floats, pairs: Floats, link: Ints, control: Ints,
) -> None:
    """Count pairs of links to other groups, from some nodes and from their neighbors inside.

    ``pairs`` receives the number of pairs by group, ``found`` the number that lead to the same
    other group. ``outside`` are the links of a node to other groups, ``meeting`` those that make
    pairs with each of them. All hold zeros at first, and ``link`` also in the end. Each pair is
    found at its node with the most links, by scanning the links of the other, so that m links take
    O(m sqrt(m)) time.
    """
    for place in range(len(nodes)):
        if control[STOP] != 0:
            return
        i = nodes[place]
        r = group[i]
        own = 0
        for t in range(indptr[i], indptr[i + 1]):
            s = group[indices[t]]
            if s != r:
                link[s] += 1
                own += 1
        outside[i] = own
        degree = indptr[i + 1] - indptr[i]
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            less = indptr[j + 1] - indptr[j]
            if own == 0 or group[j] != r or less > degree or (less == degree and j > i):
                continue
            same = 0
            others = 0
            for u in range(indptr[j], indptr[j + 1]):
                s = group[indices[u]]
                if s != r:
                    same += link[s]
                    others += 1
            outside[j] = others
            found[r] += 1.0 * same
            pairs[r] += 1.0 * own * others
            meeting[i] += 1.0 * others
            meeting[j] += 1.0 * own
        for t in range(indptr[i], indptr[i + 1]):
            link[group[indices[t]]] = 0
