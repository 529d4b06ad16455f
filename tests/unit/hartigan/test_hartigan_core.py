from functools import partial
from unittest import mock

import numpy as np
import pytest

from helpers.strategies_hartigan import as_csr
from kgroups import _progress
from kgroups.errors import InputError
from kgroups.hartigan import (
    _hartigan_nb,
    best_kmeans,
    embedding,
    group_association,
    improve,
    improve_rows,
    refine,
)


def two_triangles():
    M = np.zeros((6, 6))
    for u, v in [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)]:
        M[u, v] = M[v, u] = 1.0
    return M


def test_a_misplaced_node_moves_back():
    M = two_triangles()
    start = np.array([0, 0, 1, 1, 1, 1])
    found = improve(as_csr(M), np.zeros(6), np.ones(6), start, k=2)
    assert found.z.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.objective == pytest.approx(4.0)
    assert found.converged
    assert start.tolist() == [0, 0, 1, 1, 1, 1], "the caller's labels stay as they were"


def test_the_gain_of_the_design_formula_is_the_change_of_the_objective():
    rng = np.random.default_rng(3)
    M = rng.normal(size=(7, 7))
    M = M + M.T
    w = rng.uniform(0.5, 2.0, 7)
    z = np.array([0, 0, 0, 1, 1, 1, 1])
    i, a, b = 2, 0, 1
    s = np.array([w[z == c].sum() for c in (0, 1)])
    Q = np.array([M[np.ix_(z == c, z == c)].sum() for c in (0, 1)])
    link = np.array([M[i, z == c].sum() for c in (0, 1)])
    gain = (w[i] * Q[a] / s[a] - 2 * link[a] + M[i, i]) / (s[a] - w[i]) - (
        w[i] * Q[b] / s[b] - 2 * link[b] - M[i, i]
    ) / (s[b] + w[i])
    moved = z.copy()
    moved[i] = b
    G, diagonal = as_csr(M), np.diag(M).copy()
    change = group_association(G, diagonal, w, moved, k=2) - group_association(
        G, diagonal, w, z, k=2
    )
    assert gain == pytest.approx(change)


def test_the_last_node_of_a_group_stays():
    start = np.array([0, 0, 2, 1, 1, 1])
    found = improve(as_csr(two_triangles()), np.zeros(6), np.ones(6), start, k=3)
    assert found.z[2] == 2


def test_a_near_tie_is_left_alone_by_a_margin():
    # The middle node of a path of five has one neighbor on either side.
    M = np.zeros((5, 5))
    for u in range(4):
        M[u, u + 1] = M[u + 1, u] = 1.0
    start = np.array([0, 0, 0, 1, 1])
    w = np.array([1.0, 1.0, 1.0, 1.2, 1.2])
    eager = improve(as_csr(M), np.zeros(5), w, start, k=2)
    patient = improve(as_csr(M), np.zeros(5), w, start, k=2, margin=1.0)
    assert eager.moves == 1
    assert patient.moves == 0


def test_sweeps_that_run_out_are_reported():
    rng = np.random.default_rng(0)
    M = rng.random((40, 40))
    M = M + M.T
    z = rng.integers(0, 4, 40)
    found = improve(as_csr(M), np.zeros(40), np.ones(40), z, k=4, candidates="all", max_sweeps=1)
    assert not found.converged
    assert found.sweeps == 1


@pytest.mark.parametrize("bad", [-1, 2])
def test_labels_outside_the_groups_are_refused(bad):
    z = np.array([0, 1, bad, 0, 0, 0])
    with pytest.raises(InputError, match=rf"labels must lie in range\(2\), got {bad} for node 2"):
        improve(as_csr(two_triangles()), np.zeros(6), np.ones(6), z, k=2)


def test_no_nodes_is_a_finished_sweep():
    found = improve(as_csr(np.zeros((0, 0))), np.zeros(0), np.zeros(0), np.zeros(0, int), k=1)
    assert found.converged
    assert found.objective == 0.0


def test_entries_that_cancel_do_not_confuse_the_candidates():
    M = np.zeros((7, 7))
    for j, value in zip(range(1, 6), [1.0, -1.0, 1.0, -1.0, 1.0], strict=True):
        M[0, j] = M[j, 0] = value
    z = np.array([0, 1, 1, 1, 1, 1, 0])
    found = improve(as_csr(M), np.zeros(7), np.ones(7), z, k=2)
    # Beside node 6 node 0 adds nothing; among the others its links sum to 1, twice, over six.
    assert found.z.tolist() == [1] * 6 + [0]
    assert found.objective == pytest.approx(2 / 6)
    assert found.visits == found.sweeps * 10


def rows_with_labels(n=300, p=3, k=5):
    rng = np.random.default_rng(0)
    z = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))
    return rng.normal(size=(n, p)), z, k


@pytest.mark.parametrize("max_sweeps", [1, 2, 50])
def test_row_moves_in_a_second_thread_are_the_same(max_sweeps, monkeypatch):
    X, z, k = rows_with_labels()
    found, cost = improve_rows(X, z, k=k, max_sweeps=max_sweeps)
    monkeypatch.setattr(_progress, "_BACKGROUND_ENTRIES", 0)
    beside = improve_rows(X, z, k=k, max_sweeps=max_sweeps)
    np.testing.assert_array_equal(beside[0], found)
    assert beside[1] == cost


def run_flagged(monkeypatch, kernel, run):
    """Return the result of ``run`` with a flag that ends a kernel at once."""
    flagged = _progress.new_control()
    flagged[2] = 1
    called = []

    def run_kernel(function, entries, *arguments):
        called.append(function)
        return function(*arguments[:-1], flagged)

    for module in (embedding, refine):
        monkeypatch.setattr(module, "run_kernel", run_kernel)
    result = run()
    assert called == [kernel]
    return result


def test_row_moves_end_at_a_flag(monkeypatch):
    X, z, k = rows_with_labels()
    assert improve_rows(X, z, k=k)[0].tolist() != z.tolist()
    run = partial(improve_rows, X, z, k=k)
    assert run_flagged(monkeypatch, _hartigan_nb.improve_rows, run)[0].tolist() == z.tolist()


def test_node_moves_end_at_a_flag(monkeypatch):
    start = np.array([0, 0, 1, 1, 1, 1])
    run = partial(improve, as_csr(two_triangles()), np.zeros(6), np.ones(6), start, k=2)
    found = run_flagged(monkeypatch, _hartigan_nb.move_nodes, run)
    assert found.z.tolist() == start.tolist()
    assert (found.sweeps, found.converged) == (0, False)


def test_kmeans_ends_at_a_flag(monkeypatch):
    """The starts after the first are not made."""
    X, _, k = rows_with_labels()
    draws = np.random.default_rng(0).random((3, 1 + 2 * k))
    # Interpreted, as compiled code does not call what stands in for a function.
    monkeypatch.setenv("KGROUPS_JIT", "never")
    monkeypatch.setattr(_hartigan_nb.best_kmeans, "_compiled", None)
    with mock.patch.object(_hartigan_nb, "move_rows", wraps=_hartigan_nb.move_rows) as moves:
        run = partial(best_kmeans, [X], [k], [draws], [3])
        run()
        assert moves.call_count == 3
        run_flagged(monkeypatch, _hartigan_nb.best_kmeans, run)
        assert moves.call_count == 4


def test_equal_entries_may_be_one_number():
    M, z = as_csr(two_triangles()), np.array([0, 0, 1, 1, 1, 1])
    constant = M._replace(data=np.broadcast_to(np.float64(1.0), M.data.shape))
    one, other = (improve(A, np.zeros(6), np.ones(6), z, k=2, margin=0.1) for A in (M, constant))
    assert repr(one) == repr(other)
