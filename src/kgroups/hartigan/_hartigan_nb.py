"""Kernels of Hartigan moves: of nodes, for sparse and dense matrices, and of rows in k-means."""

from math import floor, inf

from kgroups._kernel import kernel
from kgroups._progress import ENTRIES, STOP
from kgroups._types import Bools, Floats, Indices, Ints

__all__ = ["add_rows", "best_kmeans", "improve_rows", "move_nodes", "sweep_dense"]

# A node with all but this share of the weight of its group stays: the rest is rounding error.
_LEAST_REST = 1e-11
# A gain below this part of the typical association is rounding, not improvement.
_ROUNDING = 1e-10
# Costs of draws that differ by at most this share of the least, and this much, are a tie: the first
# is taken. Rows have length 1 and the error of an eigensolver.
_TIE, _SLACK = 1e-9, 1e-9
# A later start must lower the cost by more than rounding: this share, and this much.
_COST_SHARE, _COST_ROUNDING = 1e-9, 1e-12


@kernel(seconds=0.82)
def move_nodes(
    indptr: Indices, indices: Indices, data: Floats, diagonal: Floats, w: Floats, offsets: Ints,
    which: Ints, groups: Ints, all_groups: bool, margin: float, max_sweeps: int, z: Ints, s: Floats,
    Q: Floats, size: Ints, link: Floats, seen: Bools, touched: Ints, done: Ints, control: Ints,
) -> None:
    """Visit all nodes, sweep after sweep, and move labels and totals in place while Q rises.

    The groups of component c start at ``groups[c]`` in the totals s, Q and ``size``, which are
    filled here; the matrix M is ``data`` off its diagonal, one number if all entries are equal.
    A move must gain more than rounding, and more than ``margin (1/s_a + 1/s_b)`` in units of the
    mean absolute entry of M; the last node of a group stays. ``link`` and ``seen`` hold zeros. A
    row of ``done`` receives sweeps, moves, and 1 if the last sweep moved nothing.
    """
    one = 0 if len(data) == 1 else -1
    for position in range(len(which)):
        c = which[position]
        g = groups[c]
        k = groups[c + 1] - g
        first = offsets[c]
        last = offsets[c + 1]
        for a in range(g, g + k):
            s[a] = 0.0
            Q[a] = 0.0
            size[a] = 0
        least = inf
        most = 0.0
        total = 0.0
        for i in range(first, last):
            a = g + z[i]
            s[a] += w[i]
            Q[a] += diagonal[i]
            size[a] += 1
            for t in range(indptr[i], indptr[i + 1]):
                j = indices[t]
                entry = float(data[t & one])
                size_of_entry = abs(entry)
                least = size_of_entry if size_of_entry < least else least
                most = size_of_entry if size_of_entry > most else most
                total += size_of_entry
                if j != i and z[j] == z[i]:
                    Q[a] += entry
        # The mean of equal entries is taken as it is, without the rounding of a sum.
        typical = most if least >= most else total / (indptr[last] - indptr[first])
        scale = 0.0
        for a in range(g, g + k):
            if s[a] > 0.0:
                mean = abs(Q[a] / s[a])
                scale = mean if mean > scale else scale
        min_gain = _ROUNDING * scale
        charge = margin * typical
        done[c, 2] = 1 if first == last else 0
        while done[c, 2] == 0 and done[c, 0] < max_sweeps:
            moves = 0
            for i in range(first, last):
                if control[STOP] != 0:
                    return
                a = z[i]
                count = 0
                for t in range(indptr[i], indptr[i + 1]):
                    j = indices[t]
                    if j == i:
                        continue
                    b = z[j]
                    if not seen[b]:
                        seen[b] = True
                        touched[count] = b
                        count += 1
                    link[b] += float(data[t & one])
                best = a
                weight = w[i]
                own = diagonal[i]
                weight_a = s[g + a]
                rest = weight_a - weight
                if size[g + a] > 1 and rest > _LEAST_REST * weight_a:
                    leave = (weight * Q[g + a] / weight_a - 2.0 * link[a] - own) / rest
                    best_gain = min_gain
                    for place in range(k if all_groups else count):
                        b = place if all_groups else touched[place]
                        if b == a or size[g + b] == 0:
                            continue
                        weight_b = s[g + b]
                        share = weight * Q[g + b] / weight_b
                        gain = leave - (share - 2.0 * link[b] - own) / (weight_b + weight)
                        if charge > 0.0:
                            gain -= charge * (1.0 / weight_a + 1.0 / weight_b)
                        if gain > best_gain or (gain == best_gain and best != a and b < best):
                            best = b
                            best_gain = gain
                if best != a:
                    Q[g + a] -= 2.0 * link[a] + own
                    Q[g + best] += 2.0 * link[best] + own
                    s[g + a] -= weight
                    s[g + best] += weight
                    size[g + a] -= 1
                    size[g + best] += 1
                    z[i] = best
                    moves += 1
                for place in range(count):
                    link[touched[place]] = 0.0
                    seen[touched[place]] = False
            done[c, 0] += 1
            done[c, 1] += moves
            if moves == 0:
                done[c, 2] = 1


@kernel(seconds=0.082)
def add_rows(tile: Floats, z: Ints, L: Floats) -> None:
    """Add each row of a tile to the sums of its group."""
    for j in range(tile.shape[0]):
        a = z[j]
        for i in range(tile.shape[1]):
            L[a, i] += tile[j, i]


def _best_group(
    i: int, own: float, weight: float, rounding: float, a: int, s: Floats, Q: Floats, size: Ints,
    L: Floats,
) -> int:
    """Return the group that node i of group ``a`` gains most by joining, or ``a``.

    A gain must exceed ``rounding`` times the terms that it is the difference of.
    """
    rest = s[a] - weight
    if rest <= _LEAST_REST * s[a]:
        return a
    share = weight * Q[a] / s[a]
    leave = (share - 2.0 * L[a, i] - own) / rest
    leave_terms = (abs(share) + 2.0 * abs(L[a, i]) + abs(own)) / rest
    best = a
    best_gain = 0.0
    for b in range(len(s)):
        if b == a or size[b] == 0 or s[b] <= 0.0:
            continue
        share = weight * Q[b] / s[b]
        joined = s[b] + weight
        gain = leave - (share - 2.0 * L[b, i] - own) / joined
        if gain > best_gain:
            terms = (abs(share) + 2.0 * abs(L[b, i]) + abs(own)) / joined
            gain -= rounding * (leave_terms + terms)
        if gain > best_gain:
            best = b
            best_gain = gain
    return best


def _nearest_group(
    i: int, own: float, weight: float, rounding: float, a: int, s: Floats, Q: Floats, size: Ints,
    L: Floats,
) -> int:
    """Return the group whose mean is nearest to node i of group ``a``.

    Another mean must be nearer by more than ``rounding`` times the terms that are compared.
    """
    if weight * s[a] <= 0.0 or s[a] * s[a] <= 0.0:
        return a
    best = a
    inner = Q[a] / (s[a] * s[a])
    outer = 2.0 * (L[a, i] + own) / (weight * s[a])
    nearest = inner - outer - rounding * (abs(inner) + abs(outer))
    for b in range(len(s)):
        if b == a or size[b] == 0 or weight * s[b] <= 0.0 or s[b] * s[b] <= 0.0:
            continue
        inner = Q[b] / (s[b] * s[b])
        outer = 2.0 * L[b, i] / (weight * s[b])
        distance = inner - outer + rounding * (abs(inner) + abs(outer))
        if distance < nearest:
            best = b
            nearest = distance
    return best


@kernel(seconds=0.79)
def sweep_dense(
    rows: Floats, place: Ints, diagonal: Floats, w: Floats, to_nearest: bool, rounding: float,
    first: int, z: Ints, s: Floats, Q: Floats, size: Ints, L: Floats, peak: Floats, control: Ints,
    wanted: Ints,
) -> int:
    """Visit the nodes from ``first`` on, move each to its best group, and return where it ended.

    ``L[b, i]`` is the sum of M_ij over the nodes j of group b other than i. A move of node i needs
    row i of M, which is ``rows[place[i]]``; where the place is -1 no more nodes move. Then
    ``wanted`` holds the nodes from there on that would move now and whose rows are missing, as many
    as it can hold, and -1 after the last. ``peak`` keeps the largest sum, per unit of weight, that
    a mover had with each group that it left or joined. The moves are added to ``control[ENTRIES]``.
    """
    n = len(z)
    ended = n
    count = 0
    for i in range(first, n):
        if ended < n and (count == len(wanted) or place[i] >= 0):
            continue
        a = z[i]
        b = a
        if size[a] > 1 and to_nearest:
            b = _nearest_group(i, diagonal[i], w[i], rounding, a, s, Q, size, L)
        elif size[a] > 1:
            b = _best_group(i, diagonal[i], w[i], rounding, a, s, Q, size, L)
        if b == a:
            continue
        row = place[i]
        if row < 0:
            ended = min(ended, i)
            wanted[count] = i
            count += 1
            continue
        link_a = L[a, i]
        link_b = L[b, i]
        peak[a] = max(peak[a], abs(link_a) / w[i])
        peak[b] = max(peak[b], abs(link_b) / w[i])
        Q[a] -= 2.0 * link_a + diagonal[i]
        Q[b] += 2.0 * link_b + diagonal[i]
        s[a] -= w[i]
        s[b] += w[i]
        size[a] -= 1
        size[b] += 1
        z[i] = b
        control[ENTRIES] += 1
        for j in range(n):
            L[a, j] -= rows[row, j]
        for j in range(n):
            L[b, j] += rows[row, j]
        L[a, i] += rows[row, i]
        L[b, i] -= rows[row, i]
    for position in range(count, len(wanted)):
        wanted[position] = -1
    return ended


def move_rows(
    X: Floats, x: int, n: int, p: int, k: int, row_error: float, max_sweeps: int, z: Ints,
    size: Ints, total: Floats, squared: Floats, visited: Ints, changed: Ints, row: Floats,
    link: Floats, control: Ints,
) -> float:
    """Make the best improving k-means move of every row, sweep after sweep, until none moves.

    A move must gain more than ``row_error`` times the mean squared length of a row, and a later
    group beat an earlier one by as much. Row a of ``total`` receives the sum of the rows of
    group a, and ``squared`` its squared length. A row whose group has not changed since its last
    visit is compared only with groups that have. Returns the cost.
    """
    length = 0.0
    for a in range(k):
        size[a] = 0
        squared[a] = 0.0
        changed[a] = 0
        for column in range(p):
            total[a, column] = 0.0
    for i in range(n):
        visited[i] = -1
        size[z[i]] += 1
        for column in range(p):
            entry = X[x + i * p + column]
            total[z[i], column] += entry
            length += entry * entry
    for a in range(k):
        for column in range(p):
            squared[a] += total[a, column] * total[a, column]
    min_gain = row_error * length / (n if n > 0 else 1)
    now = 0
    for _ in range(max_sweeps):
        moves = 0
        for i in range(n):
            if control[STOP] != 0:
                return 0.0
            now += 1
            a = z[i]
            last = visited[i]
            if size[a] == 1:
                continue
            visited[i] = now
            own = 0.0
            for column in range(p):
                row[column] = X[x + i * p + column]
                own += row[column] * row[column]
            # Four sums side by side, which the processor adds at the same time.
            for b in range(k):
                if b == a or changed[b] >= last or changed[a] >= last:
                    first = 0.0
                    second = 0.0
                    third = 0.0
                    fourth = 0.0
                    for quarter in range(p // 4):
                        column = 4 * quarter
                        first += row[column] * total[b, column]
                        second += row[column + 1] * total[b, column + 1]
                        third += row[column + 2] * total[b, column + 2]
                        fourth += row[column + 3] * total[b, column + 3]
                    for column in range(p - p % 4, p):
                        first += row[column] * total[b, column]
                    link[b] = (first + second) + (third + fourth)
            leave = (squared[a] - 2.0 * link[a] + own) / (size[a] - 1) - squared[a] / size[a]
            best = a
            best_gain = min_gain
            for b in range(k):
                if b == a or (changed[b] < last and changed[a] < last):
                    continue
                gain = leave + (squared[b] + 2.0 * link[b] + own) / (size[b] + 1)
                if size[b] > 0:
                    gain -= squared[b] / size[b]
                if gain > best_gain + (min_gain if best != a else 0.0):
                    best = b
                    best_gain = gain
            if best != a:
                for column in range(p):
                    total[a, column] -= row[column]
                    total[best, column] += row[column]
                squared[a] += own - 2.0 * link[a]
                squared[best] += own + 2.0 * link[best]
                size[a] -= 1
                size[best] += 1
                z[i] = best
                changed[a] = now
                changed[best] = now
                moves += 1
        if moves == 0:
            break
    explained = 0.0
    for a in range(k):
        if size[a] > 0:
            explained += squared[a] / size[a]
    return length - explained


@kernel(seconds=1.6, per_item=3e-5)
def best_kmeans(
    X: Floats, starts: Ints, rows: Ints, columns: Ints, places: Ints, k: Ints, trials: Ints,
    draws: Floats, firsts: Ints, row_error: float, max_sweeps: int, z: Ints, tried: Ints,
    distance: Floats, mass: Floats, offered: Floats, turned: Floats, cost: Floats, picks: Ints,
    center: Ints, size: Ints, total: Floats, squared: Floats, visited: Ints, changed: Ints,
    row: Floats, link: Floats, control: Ints,
) -> None:
    """Label the rows of each of several tables by the best of its starts, the first in a tie.

    Table p has ``rows[p]`` rows of ``columns[p]`` numbers from ``places[p]`` on and is grouped into
    ``k[p]`` groups; the random numbers of its ``starts[p]`` starts begin at ``firsts[p]``: one for
    the first center, and ``trials[p]`` for each center. A later start must lower the cost by more
    than rounding.
    """
    at = 0
    for table in range(len(rows)):
        n = rows[table]
        p = columns[table]
        lowest = inf
        for i in range(n):
            for column in range(p):
                turned[column, i] = X[places[table] + i * p + column]
        for start in range(starts[table]):
            draw = firsts[table] + start * (1 + k[table] * trials[table])
            # Greedy k-means++: of several draws for a center the one that lowers the cost most.
            for a in range(k[table]):
                whole = 0.0
                if a == 0:
                    for q in range(trials[table]):
                        picks[q] = floor(draws[draw] * n)
                else:
                    for i in range(n):
                        whole += distance[i]
                        mass[i] = whole
                    for q in range(trials[table]):
                        wanted = draws[draw + 1 + a * trials[table] + q] * whole
                        low = 0
                        high = n - 1
                        while low < high:
                            middle = (low + high) // 2
                            if mass[middle] <= wanted:
                                low = middle + 1
                            else:
                                high = middle
                        picks[q] = low
                    if whole <= 0.0:
                        # Fewer distinct rows than centers: take the first row that is not one yet.
                        free = 0
                        taken = True
                        while taken:
                            taken = False
                            for b in range(a):
                                if center[b] == free:
                                    taken = True
                            free += 1 if taken else 0
                        for q in range(trials[table]):
                            picks[q] = free
                for q in range(trials[table]):
                    for i in range(n):
                        offered[q, i] = 0.0
                    for column in range(p):
                        entry = turned[column, picks[q]]
                        for i in range(n):
                            gap = turned[column, i] - entry
                            offered[q, i] += gap * gap
                    cost[q] = 0.0
                    for i in range(n):
                        square = offered[q, i]
                        cost[q] += distance[i] if a > 0 and distance[i] < square else square
                least = cost[0]
                for q in range(trials[table]):
                    least = cost[q] if cost[q] < least else least
                chosen = 0
                while chosen < trials[table] - 1 and cost[chosen] > least * (1.0 + _TIE) + _SLACK:
                    chosen += 1
                center[a] = picks[chosen]
                for i in range(n):
                    square = offered[chosen, i]
                    if a == 0 or square < distance[i]:
                        distance[i] = square
                        tried[i] = a
            for a in range(k[table]):
                tried[center[a]] = a
            found = move_rows(
                X, places[table], n, p, k[table], row_error, max_sweeps, tried, size, total,
                squared, visited, changed, row, link, control,
            )
            if control[STOP] != 0:
                return
            if found < lowest * (1.0 - _COST_SHARE) - _COST_ROUNDING or lowest == inf:
                lowest = found
                for i in range(n):
                    z[at + i] = tried[i]
        at += n


@kernel(seconds=0.77)
def improve_rows(
    X: Floats, x: int, p: int, k: int, row_error: float, max_sweeps: int, z: Ints, size: Ints,
    total: Floats, squared: Floats, visited: Ints, changed: Ints, row: Floats, link: Floats,
    control: Ints,
) -> float:
    """Lower the k-means cost of rows of ``p`` numbers, which start at ``x``; return the cost."""
    return move_rows(
        X, x, len(z), p, k, row_error, max_sweeps, z, size, total, squared, visited, changed, row,
        link, control,
    )
