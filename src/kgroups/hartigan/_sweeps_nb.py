"""Kernels of kernel k-groups: moves of single nodes, for sparse and for dense matrices."""

from math import inf

from kgroups._kernel import kernel
from kgroups._progress import ENTRIES, STOP
from kgroups._types import Bools, Floats, Indices, Ints

__all__ = ['add_rows', 'move_nodes', 'sweep_dense']

# A node with all but this share of the weight of its group stays: the rest is rounding error.
_LEAST_REST = 1e-11
# A gain below this part of the typical association is rounding, not improvement.
_ROUNDING = 1e-10


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
    as it can hold, and -1 after the last. ``peak`` keeps the largest sum, by unit of weight, that a
    mover had with each group that it left or joined. ``control[ENTRIES]`` gains the moves.
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
