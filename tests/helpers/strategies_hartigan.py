"""Hypothesis strategies: matrices, weights and labels that fit together."""

import numpy as np
from hypothesis import strategies as st

from kgroups._types import CSR


@st.composite
def labeled_matrices(draw, max_nodes=12):
    """Draw a symmetric matrix (any sign, sparse), positive weights, labels with no empty group."""
    n = draw(st.integers(2, max_nodes))
    k = draw(st.integers(1, min(n, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    M = rng.normal(size=(n, n)) * (rng.random((n, n)) < draw(st.sampled_from([0.3, 0.6, 1.0])))
    M = np.triu(M) + np.triu(M, 1).T
    w = rng.uniform(0.2, 3.0, n)
    z = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    return M, w, rng.permutation(z), k


def as_csr(M):
    """Return the bare arrays of a dense matrix, diagonal entries included."""
    rows, cols = np.nonzero(M)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(M)))])
    return CSR(indptr.astype(np.int32), cols.astype(np.int32), M[rows, cols])
