"""Sweeps over dense matrices: the same moves as over sparse ones, and as by definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import oracles_hartigan as oracles
from helpers.strategies_hartigan import as_csr, labeled_matrices
from kgroups.hartigan import StoredRows, group_links, improve, improve_dense


class RowsOnDemand:
    """The rows of a matrix, or tiles of three by four, as if none could be kept."""

    def __init__(self, M):
        self.M = M
        self.stored = None
        self.diagonal = np.diag(M).copy()

    def rows(self, nodes):
        return self.M[nodes]

    def tiles(self):
        for i in range(0, len(self.M), 3):
            for j in range(0, len(self.M), 4):
                yield i, j, self.M[i : i + 3, j : j + 4].copy()


def semidefinite(M):
    return M @ M.T


@given(labeled_matrices())
def test_links_are_sums_over_the_others_of_a_group(case):
    M, _, z, k = case
    (L,) = group_links(RowsOnDemand(M), [z], k)
    for a in range(k):
        for i in range(len(z)):
            others = (z == a) & (np.arange(len(z)) != i)
            assert L[a, i] == pytest.approx(M[i, others].sum(), abs=1e-12)


@given(labeled_matrices())
def test_dense_and_sparse_make_the_same_moves(case):
    M, w, z, k = case
    sparse = improve(as_csr(M), np.diag(M).copy(), w, z, k=k, candidates="all")
    dense = improve_dense(StoredRows(M), w, z, k=k)
    np.testing.assert_array_equal(dense.z, sparse.z)
    assert dense.moves == sparse.moves
    # Sums that have become small are made anew, and looked through once more.
    assert sparse.sweeps <= dense.sweeps <= sparse.sweeps + 1
    assert dense.objective == pytest.approx(sparse.objective, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(dense.s, sparse.s)
    np.testing.assert_allclose(dense.Q, sparse.Q, atol=1e-9)


@given(labeled_matrices(), st.sampled_from(["hartigan", "lloyd"]))
def test_rows_on_demand_make_the_same_moves_as_stored_ones(case, rule):
    M, w, z, k = case
    M = semidefinite(M)
    stored = improve_dense(StoredRows(M), w, z, k=k, rule=rule)
    made = improve_dense(RowsOnDemand(M), w, z, k=k, rule=rule)
    np.testing.assert_array_equal(made.z, stored.z)
    assert (made.sweeps, made.moves) == (stored.sweeps, stored.moves)
    assert made.objective == pytest.approx(oracles.association(M, w, made.z, k), rel=1e-9)


@given(labeled_matrices())
def test_no_single_move_improves_what_hartigan_leaves(case):
    M, w, z, k = case
    found = improve_dense(StoredRows(M), w, z, k=k)
    assert found.converged
    assert np.bincount(found.z, minlength=k).min() >= 1
    assert oracles.best_single_move(M, w, found.z, k) <= 1e-9


@given(labeled_matrices())
def test_lloyd_leaves_every_node_at_its_nearest_mean(case):
    M, w, z, k = case
    M = semidefinite(M)
    found = improve_dense(StoredRows(M), w, z, k=k, rule="lloyd")
    assert found.converged
    distance = oracles.squared_distances_to_means(M, w, found.z, k)
    own = distance[np.arange(len(z)), found.z]
    alone = np.bincount(found.z, minlength=k)[found.z] == 1
    np.testing.assert_array_less(own[~alone], distance[~alone].min(axis=1) + 1e-6)


@given(labeled_matrices(), st.sampled_from(["hartigan", "lloyd"]))
def test_sweeps_never_lower_the_association_of_a_gram_matrix(case, rule):
    M, w, z, k = case
    M = semidefinite(M)
    value = oracles.association(M, w, z, k)
    for _ in range(40):
        step = improve_dense(StoredRows(M), w, z, k=k, rule=rule, max_sweeps=1)
        after = oracles.association(M, w, step.z, k)
        assert after >= value - 1e-9 * (1 + abs(value))
        if step.converged:
            return
        z, value = step.z, after
    pytest.fail("40 sweeps did not converge on a dozen nodes")


@given(labeled_matrices())
def test_hartigan_never_stops_where_lloyd_would_go_on(case):
    M, w, z, k = case
    M = semidefinite(M)
    found = improve_dense(StoredRows(M), w, z, k=k)
    again = improve_dense(StoredRows(M), w, found.z, k=k, rule="lloyd")
    assert again.moves == 0


def test_rows_are_kept_until_their_nodes_are_visited():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    M = -0.5 * np.linalg.norm(X[:, None] - X, axis=2)
    rows = RowsOnDemand(M)
    asked = []
    rows.rows = lambda nodes: asked.append(nodes.size) or M[nodes]
    start = rng.integers(4, size=600)
    found = improve_dense(rows, np.ones(600), start, k=4)
    stored = improve_dense(StoredRows(M), np.ones(600), start, k=4)
    np.testing.assert_array_equal(found.z, stored.z)
    # Some points that would move when they are asked for have changed their mind when visited.
    assert found.moves <= sum(asked) <= 3 * found.moves
