"""A symmetric matrix from one of its triangles."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Mirror"]


class Mirror:
    """Both triangles of a symmetric matrix from its upper one, values in the same order."""

    def __init__(self, upper: "sparse.csr_array") -> None:
        n = upper.shape[0]
        slots = np.arange(upper.nnz, dtype=upper.indices.dtype)
        columns = type(upper)((slots, upper.indices, upper.indptr), shape=upper.shape).tocsc()
        below = columns.indices != np.repeat(np.arange(n), np.diff(columns.indptr))
        kept = np.concatenate([[0], np.cumsum(below)])
        lower_indptr = kept[columns.indptr]
        self.indptr = upper.indptr + lower_indptr
        upper_slots = slots + np.repeat(lower_indptr[1:], np.diff(upper.indptr))
        lower = np.arange(kept[-1]) + np.repeat(upper.indptr[:-1], np.diff(lower_indptr))
        self._source = np.empty(self.indptr[-1], dtype=upper.indices.dtype)
        self._source[upper_slots] = slots
        self._source[lower] = columns.data[below]
        self.indices = np.empty(self.indptr[-1], dtype=upper.indices.dtype)
        self.indices[upper_slots] = upper.indices
        self.indices[lower] = columns.indices[below]

    def values(self, of_upper: Any) -> Any:
        """Spread one value per entry of the upper triangle over both."""
        return of_upper[self._source]
