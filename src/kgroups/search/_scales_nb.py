"""Kernel that finds super-groups: groups merge pair by pair, then single groups move."""

from math import inf

from kgroups._kernel import kernel
from kgroups._progress import STOP
from kgroups._types import Floats, Ints
from kgroups.search._search_nb import saving

__all__ = ["group_groups"]

# Rows of the tables of super-groups: edges inside, sum of factors, of their squares, own nats.
_INSIDE, _FACTORS, _SQUARES, _OWN = 0, 1, 2, 3
# Rows of the working arrays of whole numbers.
_SIZE, _PARTNER, _INTO, _LABEL, _MARK, _TOUCHED = 0, 1, 2, 3, 4, 5
# Gains below this are rounding.
_ROUNDING = 1e-9


def expected(factors: float, squares: float) -> float:
    """Return the edges expected between groups with these sums of factors and squares."""
    P = 0.5 * (factors * factors - squares)
    return P if P > 0.0 else 0.0


def nats(
    k: int, edges: float, cost: float, factorial: Floats, shared: int, table: Floats, work: Ints,
    q: int,
) -> float:
    """Return the nats that ``q`` super-groups save, of which some may be empty."""
    used = 0
    saved = 0.0
    inside = 0.0
    chance = 0.0
    labels = factorial[k]
    for a in range(q):
        size = work[_SIZE, a]
        if size > 0:
            used += 1
            labels -= factorial[size]
            P = expected(table[_FACTORS, a], table[_SQUARES, a])
            inside += table[_INSIDE, a]
            chance += P
            if shared == 0 and size > 1:
                saved += saving(table[_INSIDE, a], P, 1.0) - cost
    if used < 2 or used == k:
        return 0.0
    if shared != 0:
        saved += saving(inside, chance, 1.0) - cost
    saved += saving(edges - inside, edges - chance, -1.0)
    labels += factorial[k - 1] - factorial[used - 1] - factorial[k - used] - factorial[used]
    return float(saved - labels)


def agglomerate(
    indptr: Ints, indices: Ints, e: Floats, factor: Floats, first: int, k: int, edges: float,
    cost: float, factorial: Floats, shared: int, groups_per_merge: int, table: Floats, work: Ints,
    best: Floats, to_indptr: Ints, to_indices: Ints, to_e: Floats, cuts: Ints, value: Floats,
    control: Ints,
) -> None:
    """Merge groups, the best pairs first, and keep the partitions that save most.

    The graph of super-groups is written to two halves of arrays in turn.
    """
    half = len(to_e) // 2
    places = len(to_indptr) // 2
    count = 0
    for a in range(k):
        to_indptr[a] = count
        for t in range(indptr[first + a], indptr[first + a + 1]):
            to_indices[count] = indices[t] - first
            to_e[count] = e[t]
            count += 1
        work[_SIZE, a] = 1
        work[_LABEL, a] = a
        table[_INSIDE, a] = 0.0
        table[_FACTORS, a] = factor[first + a]
        table[_SQUARES, a] = factor[first + a] * factor[first + a]
        table[_OWN, a] = 0.0
    to_indptr[k] = count
    for cut in range(len(value)):
        value[cut] = -inf
    at = 0
    row = 0
    q = k
    while q > 2 and control[STOP] == 0:
        inside = 0.0
        chance = 0.0
        for a in range(q):
            inside += table[_INSIDE, a]
            chance += expected(table[_FACTORS, a], table[_SQUARES, a])
        # The best partner of each super-group.
        for a in range(q):
            work[_PARTNER, a] = -1
            best[a] = 0.0
        for a in range(q):
            own = expected(table[_FACTORS, a], table[_SQUARES, a])
            for t in range(to_indptr[row + a], to_indptr[row + a + 1]):
                b = to_indices[t]
                if b < a:
                    continue
                x = to_e[t]
                p = table[_FACTORS, a] * table[_FACTORS, b]
                gain = saving(edges - inside - x, edges - chance - p, -1.0)
                if shared != 0:
                    gain += saving(inside + x, chance + p, 1.0)
                else:
                    P = own + expected(table[_FACTORS, b], table[_SQUARES, b]) + p
                    gain += saving(table[_INSIDE, a] + table[_INSIDE, b] + x, P, 1.0)
                    gain -= table[_OWN, a] + table[_OWN, b]
                if work[_PARTNER, a] < 0 or gain > best[a]:
                    best[a] = gain
                    work[_PARTNER, a] = b
                if work[_PARTNER, b] < 0 or gain > best[b]:
                    best[b] = gain
                    work[_PARTNER, b] = a
        for a in range(q):
            work[_INTO, a] = -1
        merges = q // groups_per_merge
        merges = merges if merges > 1 else 1
        merges = merges if merges < q - 2 else q - 2
        done = 0
        while done < merges:
            top = -1
            for a in range(q):
                b = work[_PARTNER, a]
                if b < 0 or work[_INTO, a] >= 0 or work[_INTO, b] >= 0:
                    continue
                if top < 0 or best[a] > best[top]:
                    top = a
            if top < 0:
                break
            b = work[_PARTNER, top]
            work[_INTO, top] = b
            work[_INTO, b] = top
            done += 1
        if done == 0:
            return
        # New numbers in the order of the first members.
        found = 0
        for a in range(q):
            b = work[_INTO, a]
            if b < 0 or a < b:
                work[_PARTNER, found] = a
                work[_MARK, a] = found
                found += 1
        for a in range(q):
            b = work[_INTO, a]
            if 0 <= b < a:
                work[_MARK, a] = work[_MARK, b]
        to_row = places - row
        slot = half - at
        for a in range(found):
            work[_TOUCHED, a] = -1
        for c in range(found):
            begin = slot
            to_indptr[to_row + c] = slot
            a = work[_PARTNER, c]
            b = work[_INTO, a]
            more = 0.0
            old = a
            while old >= 0:
                for t in range(to_indptr[row + old], to_indptr[row + old + 1]):
                    d = work[_MARK, to_indices[t]]
                    if d == c:
                        more += 0.5 * to_e[t]
                    elif work[_TOUCHED, d] >= begin:
                        to_e[work[_TOUCHED, d]] += to_e[t]
                    else:
                        work[_TOUCHED, d] = slot
                        to_indices[slot] = d
                        to_e[slot] = to_e[t]
                        slot += 1
                old = b if old == a else -1
            for column in range(3):
                table[column, c] = table[column, a]
            work[_SIZE, c] = work[_SIZE, a]
            if b >= 0:
                for column in range(3):
                    table[column, c] += table[column, b]
                work[_SIZE, c] += work[_SIZE, b]
            table[_INSIDE, c] += more
            P = expected(table[_FACTORS, c], table[_SQUARES, c])
            table[_OWN, c] = saving(table[_INSIDE, c], P, 1.0)
        to_indptr[to_row + found] = slot
        at = half - at
        row = to_row
        q = found
        for r in range(k):
            work[_LABEL, r] = work[_MARK, work[_LABEL, r]]
        saved = nats(k, edges, cost, factorial, shared, table, work, q)
        worst = 0
        for cut in range(len(value)):
            if value[cut] < value[worst]:
                worst = cut
        if saved > value[worst]:
            value[worst] = saved
            for r in range(k):
                cuts[worst, r] = work[_LABEL, r]


def move(
    indptr: Ints, indices: Ints, e: Floats, factor: Floats, first: int, k: int, edges: float,
    cost: float, factorial: Floats, shared: int, table: Floats, work: Ints, link: Floats,
    cuts: Ints, cut: int, control: Ints,
) -> float:
    """Move groups between super-groups, or to a new one, while that saves; return the nats."""
    for a in range(k):
        work[_SIZE, a] = 0
        link[a] = 0.0
        for column in range(4):
            table[column, a] = 0.0
    for r in range(k):
        a = cuts[cut, r]
        work[_SIZE, a] += 1
        table[_FACTORS, a] += factor[first + r]
        table[_SQUARES, a] += factor[first + r] * factor[first + r]
        for t in range(indptr[first + r], indptr[first + r + 1]):
            if cuts[cut, indices[t] - first] == a:
                table[_INSIDE, a] += 0.5 * e[t]
    used = 0
    inside = 0.0
    chance = 0.0
    for a in range(k):
        if work[_SIZE, a] > 0:
            P = expected(table[_FACTORS, a], table[_SQUARES, a])
            table[_OWN, a] = saving(table[_INSIDE, a], P, 1.0)
            used += 1
            inside += table[_INSIDE, a]
            chance += P
    for _ in range(k):
        changed = False
        for r in range(k):
            a = cuts[cut, r]
            f = factor[first + r]
            count = 0
            for t in range(indptr[first + r], indptr[first + r + 1]):
                b = cuts[cut, indices[t] - first]
                if link[b] == 0.0 and b != a:
                    work[_TOUCHED, count] = b
                    count += 1
                link[b] += e[t]
            size = work[_SIZE, a]
            if size > 1:
                empty = 0
                while work[_SIZE, empty] > 0:
                    empty += 1
                work[_TOUCHED, count] = empty
                count += 1
            own_link = link[a]
            link[a] = 0.0
            own_p = f * (table[_FACTORS, a] - f)
            P = expected(table[_FACTORS, a], table[_SQUARES, a]) - own_p
            rest = saving(table[_INSIDE, a] - own_link, P, 1.0) if size > 1 else 0.0
            before = saving(edges - inside, edges - chance, -1.0)
            before_in = saving(inside, chance, 1.0)
            to = a
            to_gain = _ROUNDING
            to_link = 0.0
            for position in range(count):
                b = work[_TOUCHED, position]
                x = link[b]
                link[b] = 0.0
                there = work[_SIZE, b]
                after = used - (1 if size == 1 else 0) + (1 if there == 0 else 0)
                if after < 2 or after == k:
                    continue
                p = f * table[_FACTORS, b]
                rest_out = edges - inside - x + own_link
                gain = saving(rest_out, edges - chance - p + own_p, -1.0) - before
                if shared != 0:
                    gain += saving(inside + x - own_link, chance + p - own_p, 1.0) - before_in
                else:
                    P = expected(table[_FACTORS, b], table[_SQUARES, b]) + p
                    gain += saving(table[_INSIDE, b] + x, P, 1.0) - table[_OWN, b]
                    gain += rest - table[_OWN, a]
                    gain -= cost if there == 1 else 0.0
                    gain += cost if size == 2 else 0.0
                gain += factorial[there + 1] - factorial[there]
                gain -= factorial[size] - factorial[size - 1]
                gain += factorial[after - 1] + factorial[k - after] + factorial[after]
                gain -= factorial[used - 1] + factorial[k - used] + factorial[used]
                if gain > to_gain:
                    to = b
                    to_gain = gain
                    to_link = x
            if to == a:
                continue
            changed = True
            p = f * table[_FACTORS, to]
            used += (1 if work[_SIZE, to] == 0 else 0) - (1 if size == 1 else 0)
            inside += to_link - own_link
            chance += p - own_p
            work[_SIZE, a] -= 1
            work[_SIZE, to] += 1
            table[_INSIDE, a] -= own_link
            table[_INSIDE, to] += to_link
            table[_FACTORS, a] -= f
            table[_FACTORS, to] += f
            table[_SQUARES, a] -= f * f
            table[_SQUARES, to] += f * f
            table[_OWN, a] = rest
            P = expected(table[_FACTORS, to], table[_SQUARES, to])
            table[_OWN, to] = saving(table[_INSIDE, to], P, 1.0)
            cuts[cut, r] = to
        if not changed or control[STOP] != 0:
            break
    return nats(k, edges, cost, factorial, shared, table, work, k)


@kernel(seconds=3.0)
def group_groups(
    indptr: Ints, indices: Ints, e: Floats, factor: Floats, offsets: Ints, edges: Floats,
    cost: Floats, factorial: Floats, which: Ints, groups_per_merge: int, y: Ints, saved: Floats,
    table: Floats, work: Ints, best: Floats, to_indptr: Ints, to_indices: Ints, to_e: Floats,
    cuts: Ints, value: Floats, models: Ints, control: Ints,
) -> None:
    """Find the super-groups that save most nats in some components of a graph of groups.

    ``saved`` holds the nats that they must save, and receives what they save; then ``y`` receives
    their labels.
    """
    for position in range(len(which)):
        c = which[position]
        first = offsets[c]
        k = offsets[c + 1] - first
        for model in range(len(models)):
            if control[STOP] != 0:
                return
            shared = models[model]
            agglomerate(
                indptr, indices, e, factor, first, k, edges[c], cost[c], factorial, shared,
                groups_per_merge, table, work, best, to_indptr, to_indices, to_e, cuts, value,
                control,
            )
            for cut in range(len(value)):
                if value[cut] == -inf:
                    continue
                found = move(
                    indptr, indices, e, factor, first, k, edges[c], cost[c], factorial, shared,
                    table, work, best, cuts, cut, control,
                )
                if found > saved[c]:
                    saved[c] = found
                    for r in range(k):
                        y[first + r] = cuts[cut, r]
