"""Kernel for distances by breadth-first search."""

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def total_distance(indptr: Any, indices: Any, sources: Any) -> int:
    """Return the sum of the distances from the sources to all nodes that they reach."""
    n = indptr.size - 1
    distance = np.empty(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    total = 0
    for source in sources:
        distance[:] = -1
        distance[source] = 0
        queue[0] = source
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
    return total
