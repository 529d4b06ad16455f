import numpy as np
import pytest

from helpers.strategies_hartigan import as_csr
from kgroups._csr import (
    block,
    diagonal_of,
    diagonal_slots,
    readonly_view,
    restricted,
    without_diagonal,
)


def dense(csr):
    n = len(csr.indptr) - 1
    matrix = np.zeros((n, n))
    matrix[np.repeat(np.arange(n), np.diff(csr.indptr)), csr.indices] = csr.data
    return matrix


def drawn(seed, n=9):
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.5)
    return M + M.T


@pytest.mark.parametrize("seed", range(5))
def test_principal_parts_equal_dense_ones(seed):
    M = drawn(seed)
    rows = np.random.default_rng(seed).permutation(9)[:5]
    np.testing.assert_array_equal(dense(restricted(as_csr(M), rows)), M[np.ix_(rows, rows)])
    np.testing.assert_array_equal(dense(block(as_csr(M), 2, 7)), M[2:7, 2:7])


def test_the_diagonal_is_read_and_removed():
    M = drawn(1)
    np.testing.assert_array_equal(diagonal_of(as_csr(M)), np.diag(M))
    np.testing.assert_array_equal(dense(without_diagonal(as_csr(M))), M - np.diag(np.diag(M)))


def test_the_diagonal_is_found():
    csr = as_csr(drawn(1))
    slots = diagonal_slots(csr)
    np.testing.assert_array_equal(csr.data[slots], np.diag(drawn(1))[np.diag(drawn(1)) != 0.0])
    assert not diagonal_slots(without_diagonal(csr)).size


def test_readonly_views_leave_the_arrays_writable():
    csr = as_csr(drawn(2))
    assert not readonly_view(csr.data).flags.writeable
    assert csr.data.flags.writeable
