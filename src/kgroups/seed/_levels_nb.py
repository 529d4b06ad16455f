"""Kernels of multilevel moving: bare arrays in, labels and totals changed in place."""

from numba import njit

from kgroups._types import CSR, Bools, Floats, Indices, Ints

__all__ = ["link_groups", "move_waiting"]


@njit(cache=True, nogil=True)
def move_waiting(
    A: CSR,
    strength: Floats,
    penalty: Floats,
    margin: float,
    budget: int,
    most_visits: int,
    z: Indices,
    total: Floats,
    link: Floats,
    touched: Indices,
    queue: Indices,
    waiting: Bools,
    progress: Ints,
) -> None:
    """Visit the nodes that wait until none does, ``budget`` entries are read, or visits used up.

    Node i gains ``link_b - penalty_i strength_i total_b`` in group b, itself not counted. It moves
    to the neighbouring group where that is largest, if it exceeds its own by more than
    ``margin``, and its neighbours elsewhere wait again. ``progress`` holds the head of the queue,
    how many wait, entries read, visits and moves made.
    """
    n = z.size
    head = progress[0]
    pending = progress[1]
    read = 0
    visits = progress[3]
    moves = 0
    while pending > 0 and read < budget and visits < most_visits:
        i = queue[head]
        head += 1
        if head == n:
            head = 0
        pending -= 1
        waiting[i] = False
        visits += 1
        a = z[i]
        first, last = A.indptr[i], A.indptr[i + 1]
        read += last - first
        count = 0
        for t in range(first, last):
            b = z[A.indices[t]]
            if link[b] == 0.0:
                touched[count] = b
                count += 1
            link[b] += A.data[t]
        best = a
        rate = penalty[i] * strength[i]
        best_gain = link[a] - rate * (total[a] - strength[i]) + margin
        link[a] = 0.0
        for position in range(count):
            b = touched[position]
            if b == a:
                continue
            gain = link[b] - rate * total[b]
            link[b] = 0.0
            if gain > best_gain or (gain == best_gain and best != a and b < best):
                best_gain = gain
                best = b
        if best != a:
            total[a] -= strength[i]
            total[best] += strength[i]
            z[i] = best
            moves += 1
            for t in range(first, last):
                j = A.indices[t]
                if not waiting[j] and z[j] != best:
                    waiting[j] = True
                    place = head + pending
                    if place >= n:
                        place -= n
                    queue[place] = j
                    pending += 1
    progress[0] = head
    progress[1] = pending
    progress[2] += read
    progress[3] = visits
    progress[4] += moves


@njit(cache=True, nogil=True)
def link_groups(
    A: CSR,
    z: Indices,
    members: Indices,
    starts: Ints,
    indptr: Indices,
    indices: Indices,
    data: Floats,
    inner: Floats,
    link: Floats,
    touched: Indices,
) -> None:
    """Fill the rows of the graph of groups, and add the weight inside each to ``inner``, twice.

    ``starts`` holds where the members of each group begin, and is moved on by one group.
    """
    for i in range(z.size):
        members[starts[z[i]]] = i
        starts[z[i]] += 1
    filled = 0
    for a in range(inner.size):
        count = 0
        for position in range(starts[a - 1] if a else 0, starts[a]):
            i = members[position]
            for t in range(A.indptr[i], A.indptr[i + 1]):
                b = z[A.indices[t]]
                if b == a:
                    inner[a] += A.data[t]
                else:
                    if link[b] == 0.0:
                        touched[count] = b
                        count += 1
                    link[b] += A.data[t]
        for position in range(count):
            b = touched[position]
            indices[filled] = b
            data[filled] = link[b]
            link[b] = 0.0
            filled += 1
        indptr[a + 1] = filled
