import numpy as np
import pytest

from kgroups._csr import block, blocks, diagonal_of, readonly, restricted, without_diagonal
from strategies_hartigan import as_csr


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


@pytest.mark.parametrize("seed", range(5))
def test_blocks_are_the_principal_parts_of_the_groups(seed):
    M = drawn(seed)
    z = np.random.default_rng(seed).integers(0, 3, 9)
    for a, (rows, part) in enumerate(blocks(as_csr(M), z, 3)):
        assert rows.tolist() == np.flatnonzero(z == a).tolist()
        np.testing.assert_array_equal(dense(part), M[np.ix_(rows, rows)])


def test_the_diagonal_is_read_and_removed():
    M = drawn(1)
    np.testing.assert_array_equal(diagonal_of(as_csr(M)), np.diag(M))
    np.testing.assert_array_equal(dense(without_diagonal(as_csr(M))), M - np.diag(np.diag(M)))


def test_readonly_views_leave_the_arrays_writable():
    csr = as_csr(drawn(2))
    assert not readonly(csr).data.flags.writeable
    assert csr.data.flags.writeable
