import networkx as nx
import numpy as np
import pytest

from helpers.strategies_spectrum import TEXTBOOK, adjacency_of, csr_of
from kgroups import BetheHessian
from kgroups._blas import DenseLimits
from kgroups.errors import ConvergenceError
from kgroups.spectrum import eigenpairs
from kgroups.spectrum.eigenpairs import (
    PartialEigenpairsError,
    all_eigenvalues,
    largest_eigenpairs,
    rough_top,
    top_eigenpairs,
)

CONNECTED = {
    **{name: graph for name, graph in TEXTBOOK.items() if nx.is_connected(graph)},
    "planted": nx.planted_partition_graph(4, 60, 0.3, 0.02, seed=2),
    "preferential": nx.barabasi_albert_graph(150, 3, seed=1),
}


# Dense, and by Lanczos.
SOLVERS = [DenseLimits(), DenseLimits(eigenpairs=0)]


def hessian_of(graph, **options):
    return BetheHessian(**options).bind(csr_of(adjacency_of(graph)), weighted=False)


@pytest.mark.parametrize("limits", SOLVERS)
@pytest.mark.parametrize("name", CONNECTED)
def test_top_eigenpairs_are_those_of_the_dense_matrix(name, limits):
    hessian = hessian_of(CONNECTED[name])
    N = hessian.normalized_matrix().toarray()
    expected = np.linalg.eigvalsh(N)[::-1]
    for count in {1, 2, min(8, hessian.n), min(20, hessian.n)}:
        lam, V = top_eigenpairs(hessian, count, limits=limits)
        assert V.shape == (hessian.n, count)
        np.testing.assert_allclose(lam, expected[:count], atol=1e-8)
        np.testing.assert_allclose(N @ V, V * lam, atol=1e-6)
        np.testing.assert_allclose(V.T @ V, np.eye(count), atol=1e-7)


def test_signs_are_fixed_and_runs_repeat():
    hessian = hessian_of(CONNECTED["planted"])
    lam, V = top_eigenpairs(hessian, 5)
    peak = np.abs(V).argmax(axis=0)
    assert (V[peak, np.arange(5)] > 0).all()
    again, W = top_eigenpairs(hessian, 5)
    np.testing.assert_array_equal(lam, again)
    np.testing.assert_array_equal(V, W)


def test_in_a_tie_of_sizes_the_first_entry_is_positive():
    lam, V = top_eigenpairs(hessian_of(nx.complete_bipartite_graph(3, 3)), 6)
    assert (V[:, 0] > 0).all()
    assert V[0, 5] > 0
    assert lam[5] == pytest.approx(-lam[0])


def test_none_and_all_eigenpairs():
    hessian = hessian_of(nx.karate_club_graph())
    lam, V = top_eigenpairs(hessian, 0)
    assert lam.shape == (0,)
    assert V.shape == (34, 0)
    lam, V = top_eigenpairs(hessian, 34)
    assert lam.shape == (34,)
    assert V.shape == (34, 34)


def test_missed_copies_are_found_in_the_complement():
    hessian = hessian_of(nx.ring_of_cliques(30, 9))
    matrix = hessian.normalized_matrix()
    lam, V = np.linalg.eigh(matrix.toarray())
    kept = [len(lam) - 1, len(lam) - 3, len(lam) - 5]
    found, W = eigenpairs._with_missed_copies(matrix, lam[kept], V[:, kept], above=lam[-6] - 1e-6)
    np.testing.assert_allclose(found[:6], lam[::-1][:6], atol=1e-7)
    np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-7)


@pytest.mark.parametrize("limits", SOLVERS)
def test_every_copy_of_an_equal_eigenvalue_is_found(limits):
    """On a torus the second eigenvalue has four copies."""
    hessian = hessian_of(nx.grid_2d_graph(20, 20, periodic=True))
    values, _ = top_eigenpairs(hessian, 5, limits=limits)
    np.testing.assert_allclose(values, all_eigenvalues(hessian, sign=1)[:5], atol=1e-8)
    assert np.ptp(values[1:]) < 1e-8


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", CONNECTED)
def test_the_largest_eigenvalue_is_known_roughly(name, sign):
    hessian = hessian_of(CONNECTED[name])
    expected = all_eigenvalues(hessian, sign=sign)
    assert rough_top(hessian, sign=sign) == pytest.approx(expected[0], abs=5e-3)


@pytest.mark.parametrize("offset", [-30.0, -6.0, -2.0, 0.0, 6.0])
def test_largest_eigenpairs_of_any_sign(offset):
    A = adjacency_of(nx.random_regular_graph(4, 60, seed=1)) + offset * np.eye(60)
    start = 0.5 + np.random.default_rng(0).random(60)
    lam, V = largest_eigenpairs(A, 6, start)
    np.testing.assert_allclose(lam, np.linalg.eigvalsh(A)[::-1][:6], atol=1e-7)
    np.testing.assert_allclose(A @ V, V * lam, atol=1e-6)


def test_failure_on_a_large_graph_carries_what_was_found(monkeypatch):
    from scipy.sparse import linalg

    n = CONNECTED["planted"].number_of_nodes()

    def fail(*_, **__):
        raise linalg.ArpackNoConvergence("no", np.array([0.5, 1.5]), np.eye(n)[:, :2])

    monkeypatch.setattr(linalg, "eigsh", fail)
    hessian = hessian_of(CONNECTED["planted"])
    lam, _ = top_eigenpairs(hessian, 3, limits=DenseLimits(eigenpairs=0))
    np.testing.assert_allclose(lam, all_eigenvalues(hessian, sign=1)[:3])
    sparse_only = DenseLimits(eigenpairs=0, fallback=0)
    with pytest.raises(ConvergenceError, match=r"found 2 of the 3 eigenpairs .* on 240 nodes"):
        top_eigenpairs(hessian, 3, limits=sparse_only)
    with pytest.raises(PartialEigenpairsError) as caught:
        top_eigenpairs(hessian, 3, limits=sparse_only)
    np.testing.assert_array_equal(caught.value.eigenvalues, [1.5, 0.5])
    np.testing.assert_array_equal(caught.value.eigenvectors, np.eye(n)[:, [1, 0]])
