"""Kernels of the Hartigan moves: bare arrays in, labels and totals changed in place."""

import numpy as np
from numba import njit

from kgroups._types import CSR, Floats, Ints
from kgroups.hartigan.sweep import Groups

__all__ = ["add_totals", "improve_labels", "improve_rows"]

# A node with all but this share of the weight of its group stays: the rest is rounding error.
_LEAST_REST = 1e-11
# A gain below this part of the typical association is rounding, not improvement.
_ROUNDING = 1e-10


@njit(cache=True, nogil=True)
def add_totals(M: CSR, diagonal: Floats, w: Floats, z: Ints, s: Floats, Q: Floats) -> None:
    """Add the weight s_a and the association Q_a of every group to zeroed ``s`` and ``Q``."""
    for i in range(z.size):
        a = z[i]
        s[a] += w[i]
        Q[a] += diagonal[i]
        for t in range(M.indptr[i], M.indptr[i + 1]):
            j = M.indices[t]
            if j != i and z[j] == a:
                Q[a] += M.data[t]


@njit(cache=True, nogil=True, error_model="numpy")
def _best_group(
    a: int,
    own: float,
    weight: float,
    link: Floats,
    others: Ints,
    groups: Groups,
    min_gain: float,
    margin: float,
    rounding: float,
) -> int:
    """Return which of the others a node of group ``a`` should join, or ``a``.

    A move must gain more than ``min_gain + margin (1/s_a + 1/s_b)``, and more than ``rounding``
    times the terms that the gain is the difference of.
    """
    s, Q, size = groups
    rest = s[a] - weight
    if rest <= _LEAST_REST * s[a]:
        return a
    share = weight * Q[a] / s[a]
    leave = (share - 2.0 * link[a] - own) / rest
    leave_terms = (abs(share) + 2.0 * abs(link[a]) + abs(own)) / rest
    best, best_gain = a, min_gain
    for b in others:
        if b == a or size[b] == 0:
            continue
        share = weight * Q[b] / s[b]
        joined = s[b] + weight
        gain = leave - (share - 2.0 * link[b] - own) / joined
        if margin > 0.0:
            gain -= margin * (1.0 / s[a] + 1.0 / s[b])
        if rounding > 0.0 and gain > best_gain:
            terms = (abs(share) + 2.0 * abs(link[b]) + abs(own)) / joined
            gain -= rounding * (leave_terms + terms)
        if gain > best_gain or (gain == best_gain and best != a and b < best):
            best, best_gain = b, gain
    return best


@njit(cache=True, nogil=True)
def _move(
    i: int, b: int, own: float, weight: float, link_a: float, link_b: float, z: Ints, groups: Groups
) -> None:
    """Move node i to group b; ``link_a`` and ``link_b`` are its sums with both groups."""
    s, Q, size = groups
    a = z[i]
    Q[a] -= 2.0 * link_a + own
    Q[b] += 2.0 * link_b + own
    s[a] -= weight
    s[b] += weight
    size[a] -= 1
    size[b] += 1
    z[i] = b


@njit(cache=True, nogil=True, error_model="numpy")
def improve_labels(
    M: CSR,
    diagonal: Floats,
    w: Floats,
    all_groups: bool,
    margin: float,
    max_sweeps: int,
    z: Ints,
    groups: Groups,
    tally: Ints,
) -> tuple[int, int, bool]:
    """Visit all nodes, sweep after sweep, and move labels and totals in place while Q rises.

    ``margin`` is the least gain of a move in units of the mean absolute entry of M. Returns the
    numbers of sweeps and moves, and whether the last sweep moved nothing.
    """
    least, most, total, scale = np.inf, 0.0, 0.0, 0.0
    for entry in M.data:
        least, most, total = min(least, abs(entry)), max(most, abs(entry)), total + abs(entry)
    # The mean of equal entries is taken as it is, without the rounding of a sum.
    typical = most if least >= most else total / M.data.size
    for a in range(groups.s.size):
        if groups.s[a] > 0.0:
            scale = max(scale, abs(groups.Q[a] / groups.s[a]))
    sweeps, moves, converged = 0, 0, z.size == 0
    while not converged and sweeps < max_sweeps and tally[2] == 0:
        moved = _sweep_matrix(
            M, diagonal, w, all_groups, _ROUNDING * scale, margin * typical, z, groups, tally
        )
        sweeps, moves, converged = sweeps + 1, moves + moved, moved == 0
    return sweeps, moves, converged


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep_matrix(
    M: CSR,
    diagonal: Floats,
    w: Floats,
    all_groups: bool,
    min_gain: float,
    margin: float,
    z: Ints,
    groups: Groups,
    tally: Ints,
) -> int:
    """Visit every node once, make the best improving move of each, and count the moves.

    A move must gain more than ``min_gain + margin (1/s_a + 1/s_b)``; the last node of a group
    stays.
    """
    k = groups.s.size
    every, link, seen = np.arange(k), np.zeros(k), np.zeros(k, np.bool_)
    touched, moves = np.zeros(k, np.int64), 0
    for i in range(z.size):
        if tally[2] != 0:
            break
        a, count = z[i], 0
        for t in range(M.indptr[i], M.indptr[i + 1]):
            j = M.indices[t]
            if j == i:
                continue
            b = z[j]
            if not seen[b]:
                seen[b] = True
                touched[count] = b
                count += 1
            link[b] += M.data[t]
        best = a
        if groups.size[a] > 1:
            others = every if all_groups else touched[:count]
            best = _best_group(a, diagonal[i], w[i], link, others, groups, min_gain, margin, 0.0)
        if best != a:
            _move(i, best, diagonal[i], w[i], link[a], link[best], z, groups)
            moves += 1
        for position in range(count):
            link[touched[position]] = 0.0
            seen[touched[position]] = False
    return moves


@njit(cache=True, nogil=True)
def improve_rows(
    X: Floats, z: Ints, k: int, row_error: float, max_sweeps: int, tally: Ints
) -> float:
    """Lower the k-means cost of the rows of X by moves of ``z``, in place; return the cost.

    A move must gain more than ``row_error`` times the mean squared length of a row. A flag in
    ``tally[2]`` ends the moves.
    """
    n, p = X.shape
    size, total, length = np.zeros(k, dtype=np.int64), np.zeros((k, p)), 0.0
    for i in range(n):
        size[z[i]] += 1
        for c in range(p):
            total[z[i], c] += X[i, c]
            length += X[i, c] * X[i, c]
    squared = np.zeros(k)
    for a in range(k):
        for c in range(p):
            squared[a] += total[a, c] * total[a, c]
    _sweep_rows(X, row_error * length / max(1, n), max_sweeps, z, size, total, squared, tally)
    explained = 0.0
    for a in range(k):
        if size[a] > 0:
            explained += squared[a] / size[a]
    return length - explained


@njit(cache=True, nogil=True, fastmath=True)
def _sweep_rows(
    X: Floats,
    min_gain: float,
    max_sweeps: int,
    z: Ints,
    size: Ints,
    total: Floats,
    squared: Floats,
    tally: Ints,
) -> None:
    """Make the best improving k-means move of every row, sweep after sweep, until none moves.

    A move must gain more than ``min_gain``, and a later group beat an earlier one by as much.
    ``total`` holds the sum of the rows of each group and ``squared`` its squared length. A row
    whose group has not changed since its last visit is compared only with groups that have.
    """
    n, p = X.shape
    k, now = size.size, 0
    # The times at which each row was visited and each group changed last.
    visited, changed = np.full(n, -1), np.zeros(k, dtype=np.int64)
    for _ in range(max_sweeps):
        moves = 0
        for i in range(n):
            if tally[2] != 0:
                return
            now += 1
            a, last = z[i], visited[i]
            if size[a] == 1:
                continue
            visited[i] = now
            own, to_own = 0.0, 0.0
            for c in range(p):
                own += X[i, c] * X[i, c]
                to_own += X[i, c] * total[a, c]
            leave = (squared[a] - 2.0 * to_own + own) / (size[a] - 1) - squared[a] / size[a]
            best, best_gain, best_link = a, min_gain, 0.0
            for b in range(k):
                if b == a or (changed[b] < last and changed[a] < last):
                    continue
                to_b = 0.0
                for c in range(p):
                    to_b += X[i, c] * total[b, c]
                gain = leave + (squared[b] + 2.0 * to_b + own) / (size[b] + 1)
                if size[b] > 0:
                    gain -= squared[b] / size[b]
                if gain > best_gain + (min_gain if best != a else 0.0):
                    best, best_gain, best_link = b, gain, to_b
            if best != a:
                for c in range(p):
                    total[a, c] -= X[i, c]
                    total[best, c] += X[i, c]
                squared[a] += own - 2.0 * to_own
                squared[best] += own + 2.0 * best_link
                size[a] -= 1
                size[best] += 1
                z[i], changed[a], changed[best] = best, now, now
                moves += 1
        if moves == 0:
            return
