"""Kernel for distances by breadth-first search."""

from kgroups._kernel import kernel
from kgroups._types import Indices, Ints

__all__ = ["total_distance"]


@kernel(seconds=0.14)
def total_distance(
    indptr: Indices, indices: Indices, sources: Ints, distance: Ints, queue: Ints
) -> int:
    """Return the sum of the distances from the sources to all nodes that they reach.

    ``distance`` is -1 everywhere, before and after.
    """
    total = 0
    for source in range(len(sources)):
        distance[sources[source]] = 0
        queue[0] = sources[source]
        head, tail = 0, 1
        while head < tail:
            i = queue[head]
            head += 1
            total += distance[i]
            for t in range(indptr[i], indptr[i + 1]):
                j = indices[t]
                if distance[j] < 0:
                    distance[j] = distance[i] + 1
                    queue[tail] = j
                    tail += 1
        for place in range(tail):
            distance[queue[place]] = -1
    return total
