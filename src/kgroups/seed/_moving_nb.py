"""Kernel of local moving: bare arrays in, labels changed in place."""

from numba import njit

from kgroups._types import CSR, Floats, Ints

__all__ = ["move_nodes"]


@njit(cache=True, nogil=True)
def move_nodes(
    A: CSR,
    strength: Floats,
    penalty: Floats,
    margin: float,
    may_empty: bool,
    max_sweeps: int,
    z: Ints,
    total: Floats,
    size: Ints,
    link: Floats,
    touched: Ints,
) -> int:
    """Sweep over the nodes until none moves; return the sweeps made.

    Node i gains ``link_b - penalty_i strength_i total_b`` in group b, itself not counted; it moves
    to the neighbouring group where that is largest, if it exceeds its own by more than ``margin``.
    """
    n = z.size
    sweeps = 0
    for _ in range(max_sweeps):
        sweeps += 1
        moves = 0
        for i in range(n):
            a = z[i]
            if size[a] == 1 and not may_empty:
                continue
            count = 0
            for t in range(A.indptr[i], A.indptr[i + 1]):
                j = A.indices[t]
                if j == i:
                    continue
                b = z[j]
                if link[b] == 0.0:
                    touched[count] = b
                    count += 1
                link[b] += A.data[t]
            rate = penalty[i] * strength[i]
            best = a
            best_gain = link[a] - rate * (total[a] - strength[i]) + margin
            for position in range(count):
                b = touched[position]
                gain = link[b] - rate * total[b]
                link[b] = 0.0
                if b != a and (gain > best_gain or (gain == best_gain and best != a and b < best)):
                    best_gain = gain
                    best = b
            if best != a:
                total[a] -= strength[i]
                total[best] += strength[i]
                size[a] -= 1
                size[best] += 1
                z[i] = best
                moves += 1
        if moves == 0:
            break
    return sweeps
