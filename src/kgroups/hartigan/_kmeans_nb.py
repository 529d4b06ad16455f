"""Kernels of k-means: starts by k-means++, improved by Hartigan moves of rows."""

from math import floor, inf

from kgroups._kernel import kernel
from kgroups._progress import STOP
from kgroups._types import Floats, Ints

__all__ = ['best_kmeans', 'improve_rows']

# Costs of draws that differ by at most this share of the least, and this much, are a tie: the first
# is taken. Rows have length 1 and the error of an eigensolver.
_TIE, _SLACK = 1e-9, 1e-9
# A later start must lower the cost by more than rounding: this share, and this much.
_COST_SHARE, _COST_ROUNDING = 1e-9, 1e-12


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
                        # Fewer distinct rows than centers: the first row that is none will do.
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
