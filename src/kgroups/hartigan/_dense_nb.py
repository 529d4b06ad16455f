"""Kernels of the Hartigan moves on dense matrices: labels and totals are changed in place."""

from kgroups._kernel import kernel
from kgroups._types import Floats, Ints

__all__ = ["add_rows", "sweep_dense"]

# A node with all but this share of the weight of its group stays: the rest is rounding error.
_LEAST_REST = 1e-11


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
    first: int, z: Ints, s: Floats, Q: Floats, size: Ints, L: Floats, peak: Floats, tally: Ints,
    wanted: Ints,
) -> int:
    """Visit the nodes from ``first`` on, move each to its best group, and return where it ended.

    ``L[b, i]`` is the sum of M_ij over the nodes j of group b other than i. A move of node i needs
    row i of M, which is ``rows[place[i]]``; where the place is -1 no more nodes move. Then
    ``wanted`` holds the nodes from there on that would move now and whose rows are missing, as many
    as it can hold, and -1 after the last. ``peak`` keeps the largest sum, by unit of weight, that a
    mover had with each group that it left or joined. ``tally[0]`` gains the moves.
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
        tally[0] += 1
        for j in range(n):
            L[a, j] -= rows[row, j]
        for j in range(n):
            L[b, j] += rows[row, j]
        L[a, i] += rows[row, i]
        L[b, i] -= rows[row, i]
    for position in range(count, len(wanted)):
        wanted[position] = -1
    return ended
