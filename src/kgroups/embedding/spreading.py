"""Labels for nodes that have none, from the nearest nodes that have."""

from collections import deque

import numpy as np

from kgroups._csr import rows_of
from kgroups._types import CSR, Ints

__all__ = ["spread_labels"]


def spread_labels(A: CSR, z: Ints) -> Ints:
    """Give each node with label -1 the label of the nearest labelled node, breadth first.

    Ties go to the labelled node that comes first. Nodes that no labelled node reaches keep -1.
    """
    z = z.copy()
    indptr, indices = A.indptr, A.indices
    rows = rows_of(A)
    border = np.unique(rows[(z[rows] >= 0) & (z[indices] < 0)])
    waiting = deque(border.tolist())
    while waiting:
        i = waiting.popleft()
        for j in indices[indptr[i] : indptr[i + 1]].tolist():
            if z[j] < 0:
                z[j] = z[i]
                waiting.append(j)
    return z
