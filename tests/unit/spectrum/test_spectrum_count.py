import networkx as nx
import numpy as np
import pytest

from helpers.strategies_spectrum import TEXTBOOK, adjacency_of, counts_by, csr_of
from kgroups import BetheHessian, Graph
from kgroups._blas import DenseLimits
from kgroups._csr import connected_components, restricted, two_core
from kgroups.spectrum import count
from kgroups.spectrum.count import (
    Layout,
    band_work,
    count_components,
    count_on,
    eigenvalues_around_one,
    factorize,
)

METHODS = [None, "dense", "inertia"]


def bind(A, **options):
    csr = csr_of(A)
    return BetheHessian(**options).bind(csr, weighted=False), connected_components(csr)[1]


def random_graph(n, degree, seed):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, n * degree // 2))
    return Graph.from_edges(*ends, n=n).simple_adjacency()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", TEXTBOOK)
def test_counts_on_known_graphs(name, method):
    hessian, labels = bind(adjacency_of(TEXTBOOK[name]))
    counts = counts_by(hessian, labels, method)
    H = hessian.matrix().toarray()
    for a in range(labels.max() + 1):
        rows = labels == a
        negative = np.count_nonzero(np.linalg.eigvalsh(H[np.ix_(rows, rows)]) < -1e-9)
        assert counts.k[a] == negative
    mirrored = count_on(hessian, counts.layout, sign=-1)
    below = np.linalg.eigvalsh(hessian.normalized_matrix().toarray()) < -1.0 - 1e-9
    assert mirrored.total == np.count_nonzero(below)


@pytest.mark.parametrize("method", METHODS)
def test_equal_cliques_count_each(method):
    """Degenerate eigenvalues, within one component and across many."""
    ring, labels = bind(adjacency_of(nx.ring_of_cliques(30, 9)))
    assert counts_by(ring, labels, method).total == 30
    lone, labels = bind(adjacency_of(nx.disjoint_union_all([nx.complete_graph(9)] * 25)))
    counts = counts_by(lone, labels, method)
    assert counts.k.tolist() == [1] * 25


def test_method_is_recorded_and_trees_are_pruned():
    graph = nx.disjoint_union(nx.karate_club_graph(), nx.path_graph(5))
    hessian, labels = bind(adjacency_of(graph))
    counts = count_components(hessian, labels)
    assert counts.method == ("dense", "pruned")
    assert counts.k.tolist() == [2, 0]
    for method in METHODS[1:]:
        assert counts_by(hessian, labels, method).method == (method, "pruned")


def test_large_graphs_choose_by_fill():
    grid, labels = bind(adjacency_of(nx.grid_2d_graph(40, 40)))
    assert count_components(grid, labels).method == ("inertia",)
    for n, method in ((2_000, "inertia"), (6_000, "filter")):
        csr = random_graph(n, 12, seed=0)
        hessian = BetheHessian().bind(csr, weighted=False)
        counts = count_components(hessian, connected_components(csr)[1])
        assert counts.method[0] == method
        assert counts.k[0] == counts.k_low[0] == counts.k_high[0] == 1
        assert counts.is_exact


@pytest.mark.parametrize(("limit", "method"), [(10_000, "dense"), (0, "filter")])
def test_without_trusted_pivots_another_method_counts(limit, method, monkeypatch):
    monkeypatch.setattr(count, "factorize", lambda matrix: None)
    hessian, labels = bind(adjacency_of(nx.ring_of_cliques(40, 8)))
    layout = Layout(hessian, labels)
    assert layout.methods == ["inertia"]
    monkeypatch.setattr(count, "DENSE", DenseLimits(exact_counts=limit))
    counts = count_on(hessian, layout, sign=1)
    assert counts.method == (method,)
    assert counts.total == 40


def test_an_eigenvalue_at_the_threshold_does_not_count():
    """The second eigenvalue of a cycle with chords is 1 at one r, where pivots are rounding."""
    graph = nx.circulant_graph(300, [1, 2])
    second = 2.0 * np.cos(2.0 * np.pi / 300) + 2.0 * np.cos(4.0 * np.pi / 300)
    # r second = r^2 - 1 + 4 puts it at 1.
    r = (second + np.sqrt(second**2 - 12.0)) / 2.0
    hessian, labels = bind(adjacency_of(graph), r=r)
    nu = np.linalg.eigvalsh(hessian.normalized_matrix().toarray())
    assert np.count_nonzero(np.abs(nu - 1.0) < 1e-12) == 2
    for method in METHODS:
        assert counts_by(hessian, labels, method).total == np.count_nonzero(nu > 1.0 + 1e-9)


def test_no_nodes():
    hessian, labels = bind(np.zeros((0, 0)))
    counts = count_components(hessian, labels)
    assert counts.total == 0
    assert counts.method == ()
    assert eigenvalues_around_one(hessian, counts).size == 0


def test_layout_serves_every_r():
    A = adjacency_of(nx.ring_of_cliques(20, 15))
    csr = csr_of(A)
    layout = Layout(BetheHessian().bind(csr, weighted=False), connected_components(csr)[1])
    for r in (1.2, 2.0, 3.7, 6.0, 20.0):
        hessian = BetheHessian(r=r).bind(csr, weighted=False)
        expected = np.count_nonzero(np.linalg.eigvalsh(hessian.matrix().toarray()) < 0)
        assert count_on(hessian, layout, sign=1).total == expected


@pytest.mark.parametrize("seed", range(20))
def test_pivots_have_the_signs_of_the_eigenvalues(seed):
    A = adjacency_of(nx.gnp_random_graph(40, 0.1, seed=seed))
    H = BetheHessian(r=1.6).bind(csr_of(A), weighted=False).matrix()
    factor = factorize(H)
    expected = np.count_nonzero(np.linalg.eigvalsh(H.toarray()) < 0)
    assert np.count_nonzero(factor.negative) == expected
    x = np.random.default_rng(seed).standard_normal(40)
    np.testing.assert_allclose(factor.solve(H @ x), x, atol=1e-7)


def test_singular_and_unstable_matrices_have_no_trusted_pivots(monkeypatch):
    from scipy import sparse

    assert factorize(sparse.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))) is None
    assert factorize(sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))) is None
    monkeypatch.setattr(count, "_LARGEST_RESIDUAL", -1.0)
    assert factorize(sparse.csr_array(np.eye(3))) is None


def test_the_work_of_a_band_is_small_on_meshes_and_large_on_random_graphs():
    grid = csr_of(adjacency_of(nx.grid_2d_graph(35, 35)))
    cliques = csr_of(adjacency_of(nx.connected_caveman_graph(150, 8)))
    for csr in (grid, cliques):
        assert band_work(csr) <= 2.0 * 35**4
    random = random_graph(2_000, 12, seed=1)
    core = restricted(random, np.flatnonzero(two_core(random)))
    assert band_work(core) > 0.1 * 2_000**3


def test_large_meshes_are_factorized(monkeypatch):
    """The limit of the number of nodes is lowered, as a large mesh takes long."""
    monkeypatch.setattr(count, "DENSE", DenseLimits(exact_counts=500))
    for graph, method in (
        (nx.grid_2d_graph(30, 30), "inertia"),
        (nx.random_regular_graph(12, 3_000, seed=0), "filter"),
    ):
        monkeypatch.setattr(count, "_AFFORDABLE", 1e7)
        monkeypatch.setattr(count, "_AFFORDABLE_PER_ENTRY", 0.0)
        hessian, labels = bind(adjacency_of(graph))
        assert Layout(hessian, labels).methods == [method]


@pytest.mark.parametrize(
    "graph",
    [
        nx.grid_2d_graph(30, 30),
        nx.ring_of_cliques(60, 8),
        nx.planted_partition_graph(6, 80, 0.3, 0.01, seed=0),
        nx.disjoint_union(nx.grid_2d_graph(25, 25), nx.path_graph(300)),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_eigenvalues_around_one_leave_none_out(graph, method):
    hessian, labels = bind(adjacency_of(graph))
    counts = counts_by(hessian, labels, method)
    values = eigenvalues_around_one(hessian, counts)
    spectrum = np.linalg.eigvalsh(hessian.normalized_matrix().toarray())[::-1]
    k = np.count_nonzero(spectrum > 1.0)
    above = int(np.count_nonzero(values > 1.0))
    assert above == (k if k <= 50 else 12)
    assert values.size > above
    expected = spectrum[k - above :][: values.size]
    np.testing.assert_allclose(values[:above], expected[:above], atol=1e-5)
    np.testing.assert_allclose(values[above:], expected[above:], atol=1e-7)


def test_eigenvalues_around_one_without_trusted_pivots(monkeypatch):
    hessian, labels = bind(adjacency_of(nx.ring_of_cliques(60, 8)))
    counts = counts_by(hessian, labels, "inertia")
    expected = eigenvalues_around_one(hessian, counts)
    monkeypatch.setattr(count, "factorize", lambda matrix: None)
    values = eigenvalues_around_one(hessian, counts)
    above = np.count_nonzero(expected > 1.0)
    np.testing.assert_allclose(values[:above], expected[:above], atol=1e-5)
