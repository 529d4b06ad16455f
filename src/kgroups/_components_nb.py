"""Kernels for connected components and the 2-core."""

from typing import Any

import numpy as np
from numba import njit

__all__ = ["label_components", "peel"]

# Nodes between two looks at the tally, less 1; a power of two less 1.
_STEP = 4_095


@njit(cache=True, nogil=True)
def peel(indptr: Any, indices: Any, degree: Any, alive: Any) -> None:
    """Remove nodes of degree at most 1 until none is left; `degree` and `alive` change."""
    n = alive.size
    stack = np.empty(n, dtype=np.int64)
    top = 0
    for i in range(n):
        if degree[i] <= 1:
            alive[i] = False
            stack[top] = i
            top += 1
    while top > 0:
        top -= 1
        i = stack[top]
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            if alive[j]:
                degree[j] -= 1
                if degree[j] <= 1:
                    alive[j] = False
                    stack[top] = j
                    top += 1


@njit(cache=True, nogil=True)
def label_components(indptr: Any, indices: Any, group: Any, label: Any, tally: Any) -> int:
    """Label the connected parts of groups in the order of their first nodes.

    Edges between groups do not connect. ``label`` must be filled with -1. A third number of the
    ``tally`` other than 0 ends the work early; the last two count the nodes without a label.
    """
    n = label.size
    stack = np.empty(n, dtype=np.int64)
    count, done = 0, 0
    for root in range(n):
        if label[root] >= 0:
            continue
        label[root] = count
        stack[0] = root
        top = 1
        while top > 0:
            top -= 1
            i = stack[top]
            done += 1
            if done & _STEP == 0:
                if tally[2] != 0:
                    return count
                if tally.size > 4:
                    tally[3], tally[4] = n - done, n
            for t in range(indptr[i], indptr[i + 1]):
                j = indices[t]
                if label[j] < 0 and group[j] == group[root]:
                    label[j] = count
                    stack[top] = j
                    top += 1
        count += 1
    return count
