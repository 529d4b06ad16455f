"""A graph without its pendant trees, which say nothing of communities."""

import numpy as np

from kgroups._csr import restricted
from kgroups._types import CSR, Indices, Ints
from kgroups.seed import spread_labels
from kgroups.spectrum import two_core

__all__ = ["Core"]


class Core:
    """What is left of a connected graph when nodes of degree 1 are taken away, again and again.

    They go with the node that they hang from. Left in, thousands of leaves of one hub would each
    be a community of its own, because no single one of them is worth a merge.

    Parameters
    ----------
    A : CSR
        A connected graph without loops.
    least : int
        Nodes that must be left; the graph stays whole if there would be fewer.
    """

    def __init__(self, A: CSR, *, least: int = 3) -> None:
        self._whole = A
        self.rows: Ints = np.arange(len(A.indptr) - 1)
        self.A = A
        if np.any(np.diff(A.indptr) == 1):
            rows = np.flatnonzero(two_core(A))
            if rows.size >= least:
                self.rows, self.A = rows, restricted(A, rows)

    @property
    def n(self) -> int:
        """Nodes that are left."""
        return self.rows.size

    def spread(self, z: Indices) -> Ints:
        """Return labels of all nodes from labels of those that are left."""
        if self.A is self._whole:
            return z.astype(np.int64)
        labels = np.full(len(self._whole.indptr) - 1, -1, dtype=np.int64)
        labels[self.rows] = z
        return spread_labels(self._whole, labels)
