"""Kernels of moves that several threads share: a chunk of units is judged, then it is moved."""

from numba import njit

from kgroups._types import Bools, Floats, Indices, Ints
from kgroups.multilevel._moving_nb import weight_mask
from kgroups.multilevel.levels import Level


@njit(cache=True, nogil=True, error_model="numpy")
def judge(
    level: Level,
    z: Indices,
    strength: Floats,
    penalty: float,
    margin: float,
    units: Indices,
    first: int,
    stop: int,
    link: Floats,
    touched: Indices,
    target: Indices,
) -> None:
    """Write the group to which each unit of a part of a chunk would move, its own if none.

    Labels and the ``strength`` of groups are only read. ``link`` holds zeros and ``touched`` room
    for each group; no other thread may use them.
    """
    A, one = level.A, weight_mask(level.A)
    for position in range(first, stop):
        i, count = units[position], 0
        a, d = z[i], level.strength[i]
        for t in range(A.indptr[i], A.indptr[i + 1]):
            b = z[A.indices[t]]
            if link[b] == 0.0:
                touched[count] = b
                count += 1
            link[b] += A.data[t & one]
        own_link, link[a] = link[a], 0.0
        best, best_gain, charge = a, margin, penalty * d
        stay = own_link - charge * (strength[a] - d)
        for place in range(count):
            b = touched[place]
            if b != a:
                gain = link[b] - charge * strength[b] - stay
                link[b] = 0.0
                if gain > best_gain:
                    best, best_gain = b, gain
        target[position] = best


@njit(cache=True, nogil=True, error_model="numpy")
def move_judged(
    level: Level,
    z: Indices,
    strength: Floats,
    members: Ints,
    units: Indices,
    target: Indices,
    waiting: Bools,
    following: Indices,
    pending: int,
    tally: Ints,
) -> int:
    """Move the units of a chunk to their targets, in order; neighbors of those that moved wait.

    A unit whose target has become empty meanwhile waits too: otherwise two units could change
    places forever. Returns how many are ``following``.
    """
    A = level.A
    for position in range(units.size):
        i, b = units[position], target[position]
        a = z[i]
        tally[0] += A.indptr[i + 1] - A.indptr[i]
        if b == a:
            continue
        if members[b] == 0:
            if not waiting[i]:
                waiting[i] = True
                following[pending] = i
                pending += 1
            continue
        strength[a] -= level.strength[i]
        strength[b] += level.strength[i]
        members[a] -= 1
        members[b] += 1
        if members[a] == 0:
            # Rounding must not leave a rest.
            strength[a] = 0.0
        z[i] = b
        tally[1] += 1
        for t in range(A.indptr[i], A.indptr[i + 1]):
            j = A.indices[t]
            if not waiting[j] and z[j] != b:
                waiting[j] = True
                following[pending] = j
                pending += 1
    return pending
