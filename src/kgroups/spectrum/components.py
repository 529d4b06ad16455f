"""Connected components and the 2-core."""

import sys

import numpy as np

from kgroups._csr import readonly
from kgroups._types import CSR, Bools, Ints

__all__ = ["connected_components", "two_core"]

_SMALL = 2_000


def connected_components(csr: CSR, group: Ints | None = None) -> tuple[int, Ints]:
    """Return the number of components and the component of each node, numbered by first node.

    With a group for each node, edges between different groups do not connect.
    """
    n = len(csr.indptr) - 1
    if group is None:
        group = np.zeros(n, dtype=np.int64)
    if len(csr.indices) <= _SMALL and "numba" not in sys.modules:
        return _search_small(csr, group.tolist())
    from kgroups.spectrum._core_nb import label_components

    pattern = readonly(csr)
    labels = np.full(n, -1, dtype=np.int64)
    count = label_components(
        pattern.indptr, pattern.indices, group.astype(np.int64, copy=False), labels
    )
    return int(count), labels


def _search_small(csr: CSR, group: list[int]) -> tuple[int, Ints]:
    # On a few hundred entries plain lists are faster than loading a compiled kernel.
    indptr, indices = csr.indptr.tolist(), csr.indices.tolist()
    label = [-1] * len(group)
    count = 0
    for root in range(len(group)):
        if label[root] >= 0:
            continue
        label[root] = count
        stack = [root]
        while stack:
            i = stack.pop()
            for j in indices[indptr[i] : indptr[i + 1]]:
                if label[j] < 0 and group[j] == group[root]:
                    label[j] = count
                    stack.append(j)
        count += 1
    return count, np.array(label, dtype=np.int64)


def two_core(csr: CSR) -> Bools:
    """Return which nodes remain when nodes with at most one edge are taken away, again and again.

    A self-loop counts as a cycle: its node stays.
    """
    from kgroups.spectrum._core_nb import peel

    n = len(csr.indptr) - 1
    lengths = np.diff(csr.indptr)
    degree = lengths.astype(np.int64)
    rows = np.repeat(np.arange(n), lengths)
    degree += np.bincount(rows[rows == csr.indices], minlength=n)
    alive = np.ones(n, dtype=np.bool_)
    pattern = readonly(csr)
    peel(pattern.indptr, pattern.indices, degree, alive)
    return alive
