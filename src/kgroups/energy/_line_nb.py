"""Kernels of the dynamic program over intervals of a line: arrays in, tables filled in place."""

from kgroups._kernel import kernel
from kgroups._types import Floats, Indices, Ints

__all__ = ["fill_starts", "fill_table"]

WEIGHT, MOMENT, PAIRS = 0, 1, 2


@kernel(seconds=0.17)
def fill_table(x: Floats, w: Floats, table: Floats) -> None:
    """Tabulate, on every level, the runs that begin or end at the middle of a block.

    On level ``b`` the points lie in blocks of ``2 ** (b + 1)``. For a point right of the middle
    ``r`` of its block ``table[b, p]`` describes the run from ``r`` to ``p``, for one left of it
    the run from ``p`` to the last point before ``r``: its weight, its moment about ``x[r]``,
    and its weighted sum of distances over pairs. All terms are >= 0, so that nothing cancels. A
    block without a right half is never read.
    """
    n = len(x)
    for b in range(table.shape[0]):
        half = 1 << b
        for middle in range(half, n, 2 * half):
            for side in range(2):
                step = 1 if side == 1 else -1
                first = middle if side == 1 else middle - 1
                stop = min(middle + half, n) if side == 1 else middle - half - 1
                weight = 0.0
                moment = 0.0
                pairs = 0.0
                reach = 0.0
                before = first
                for p in range(first, stop, step):
                    reach += weight * abs(x[p] - x[before])
                    pairs += w[p] * reach
                    weight += w[p]
                    moment += w[p] * abs(x[p] - x[middle])
                    table[b, p, WEIGHT] = weight
                    table[b, p, MOMENT] = moment
                    table[b, p, PAIRS] = pairs
                    before = p


def _cost(table: Floats, level: Ints, i: int, j: int) -> float:
    """Return the within-energy of the points from ``i`` to ``j``, both included."""
    if i == j:
        return 0.0
    b = level[i ^ j]
    left = table[b, i, WEIGHT]
    right = table[b, j, WEIGHT]
    weight = left + right
    if weight == 0.0:
        return 0.0
    pairs = table[b, i, PAIRS] + table[b, j, PAIRS]
    pairs += left * table[b, j, MOMENT] + right * table[b, i, MOMENT]
    return pairs / weight  # type: ignore[no-any-return]


def _best_start(
    table: Floats, level: Ints, before: Floats, low: int, high: int, j: int, least: Floats
) -> int:
    """Return the first best start from ``low`` to ``high`` of the last class, which ends at j.

    The sum that it gives is written to ``least[j]``.
    """
    best = low
    lowest = before[low - 1] + _cost(table, level, low, j)
    for i in range(low + 1, high + 1):
        cost = before[i - 1] + _cost(table, level, i, j)
        if cost < lowest:
            lowest = cost
            best = i
    least[j] = lowest
    return best


@kernel(seconds=0.64)
def fill_starts(
    table: Floats, level: Ints, stack: Ints, before: Floats, now: Floats, start: Indices
) -> float:
    """Find the start of the last class, for every number of classes and every last point.

    ``start[a, j]`` is where class ``a`` starts if it is the last and ends at point ``j``; the
    last row is filled for the last point only. The best start does not fall as ``j`` rises, so
    the middle ``j`` of a range bounds the search on both sides of it. Returns the least sum.
    """
    k = start.shape[0]
    n = start.shape[1]
    for j in range(n):
        before[j] = _cost(table, level, 0, j)
        start[0, j] = 0
    if k == 1:
        return before[n - 1]  # type: ignore[no-any-return]
    for a in range(1, k - 1):
        stack[0, 0] = a
        stack[0, 1] = n - 1
        stack[0, 2] = a
        stack[0, 3] = n - 1
        height = 1
        while height > 0:
            height -= 1
            first = stack[height, 0]
            last = stack[height, 1]
            low = stack[height, 2]
            high = stack[height, 3]
            j = (first + last) // 2
            best = _best_start(table, level, before, low, min(high, j), j, now)
            start[a, j] = best
            if first < j:
                stack[height, 0] = first
                stack[height, 1] = j - 1
                stack[height, 2] = low
                stack[height, 3] = best
                height += 1
            if j < last:
                stack[height, 0] = j + 1
                stack[height, 1] = last
                stack[height, 2] = best
                stack[height, 3] = high
                height += 1
        for j in range(a, n):
            before[j] = now[j]
    start[k - 1, n - 1] = _best_start(table, level, before, k - 1, n - 1, n - 1, now)
    return now[n - 1]  # type: ignore[no-any-return]
