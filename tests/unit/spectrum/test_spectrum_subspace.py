import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers import oracles_spectrum as oracles
from helpers.strategies_spectrum import adjacency_of, counts_by, csr_of
from kgroups import BetheHessian
from kgroups._csr import connected_components
from kgroups.generators import planted_partition
from kgroups.spectrum import count_components
from kgroups.spectrum import subspace as module
from kgroups.spectrum.eigenpairs import PartialEigenpairsError, all_eigenvalues
from kgroups.spectrum.subspace import count_by_filter, count_by_trace

pytestmark = pytest.mark.compiled

GRAPHS = {
    "cliques": nx.ring_of_cliques(60, 8),
    "planted": nx.planted_partition_graph(6, 80, 0.3, 0.01, seed=0),
    "preferential": nx.barabasi_albert_graph(1_000, 3, seed=0),
    "grid": nx.grid_2d_graph(30, 30),
    "torus": nx.grid_2d_graph(25, 25, periodic=True),
    "disassortative": nx.stochastic_block_model(
        [300, 300], [[0.001, 0.03], [0.03, 0.001]], seed=0
    ).subgraph(range(600)),
    "bipartite": nx.complete_bipartite_graph(100, 150),
    "tripartite": nx.complete_multipartite_graph(80, 80, 80),
    "regular": nx.random_regular_graph(6, 800, seed=0),
    "star": nx.star_graph(400),
    "hypercube": nx.hypercube_graph(9),
}


def hessian_of(graph, rule="mean-degree"):
    graph = graph.subgraph(max(nx.connected_components(graph), key=len))
    return BetheHessian(rule).bind(csr_of(adjacency_of(graph)), weighted=False)


def largest_component(graph):
    A = graph.simple_adjacency()
    _, labels = connected_components(A)
    rows = np.flatnonzero(labels == np.argmax(np.bincount(labels)))
    return BetheHessian().bind(A, weighted=False).restrict(rows)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", GRAPHS)
def test_counts_are_exact_and_values_those_of_the_dense_matrix(name, sign):
    hessian = hessian_of(GRAPHS[name])
    expected = all_eigenvalues(hessian, sign=sign)
    k = np.count_nonzero(expected > 1.0 + 1e-9)
    found = count_by_filter(hessian, sign=sign, with_next=True)
    assert (found.k, found.k_low, found.k_high) == (k, k, k)
    np.testing.assert_allclose(found.values[:k], expected[:k], atol=1e-5)
    assert found.values[k] == pytest.approx(expected[k], abs=2e-3)
    assert found.vectors.shape[0] == hessian.n
    assert found.vectors.shape[1] >= k


def test_a_search_started_from_the_vectors_at_another_r_ends_at_the_same_count():
    graph = GRAPHS["grid"]
    first = count_by_filter(hessian_of(graph))
    other = hessian_of(graph, "second-moment")
    found = count_by_filter(other, start=first.vectors)
    assert found.k == count_by_filter(other).k == 39
    assert found.k_low == found.k_high


def test_an_eigenvalue_next_to_one_is_decided_or_leaves_the_count_open(monkeypatch):
    """The last of 102 eigenvalues above 1 is 1.0000004; its vector has to converge."""
    hessian = hessian_of(nx.watts_strogatz_graph(1000, 6, 0.05, seed=1), "second-moment")
    exact = np.count_nonzero(all_eigenvalues(hessian, sign=1) > 1.0)
    found = count_by_filter(hessian)
    assert found.k_low <= exact <= found.k_high
    monkeypatch.setattr(module, "_CONVERGED", 0.0)
    monkeypatch.setattr(module, "_USABLE", 0.0)
    undecided = count_by_filter(hessian)
    assert undecided.k_low <= exact
    assert undecided.k_low < undecided.k_high


def cliques_among_random_edges(n, size=6):
    rng = np.random.default_rng(0)
    first = np.arange(0, n, size)
    inside = [(first + a, first + b) for a in range(size) for b in range(a)]
    source, target = (np.concatenate(ends) for ends in zip(*inside, strict=True))
    ends = rng.integers(0, n, (2, n))
    source, target = np.append(source, ends[0]), np.append(target, ends[1])
    return largest_component(kg.Graph.from_edges(source, target, n=n))


def test_too_many_eigenvalues_are_estimated_by_the_trace(monkeypatch):
    """Moments that suppose equally clear communities see three in five of these."""
    hessian = cliques_among_random_edges(3_000)
    exact = oracles.positive_pivots(hessian.normalized_matrix().toarray(), 1.0 + 1e-9)
    monkeypatch.setattr(module, "_ROWS_TIMES_SQUARED_COLUMNS", 0.0)
    found = count_by_filter(hessian)
    assert found.k_low < exact < found.k_high
    assert abs(found.k - exact) < 0.03 * exact
    assert found.k_high - found.k_low < 0.3 * exact


@pytest.mark.parametrize("name", ["cliques", "grid", "torus", "planted"])
def test_the_range_of_an_estimate_holds_the_number(name):
    hessian = hessian_of(GRAPHS[name])
    values = all_eigenvalues(hessian, sign=1)
    exact = np.count_nonzero(values > 1.0 + 1e-9)
    low, high = 1.02 * values[-1], 1.02 * values[0]
    k, k_low, k_high = count_by_trace(hessian, lowest=low, highest=high)
    assert k_low <= exact <= k_high
    assert abs(k - exact) <= max(3, 0.1 * exact)


def test_rounds_are_bounded(monkeypatch):
    hessian = hessian_of(GRAPHS["grid"])
    exact = np.count_nonzero(all_eigenvalues(hessian, sign=1) > 1.0)
    monkeypatch.setattr(module, "_ROUNDS", 1)
    found = count_by_filter(hessian)
    assert found.k_low <= exact
    assert found.k_low < found.k_high


@pytest.mark.parametrize("seed", [1, 106])
def test_near_the_threshold_the_filter_ends_and_is_right(seed):
    snr = {1: 1.1, 106: 1.1968334139834003}[seed]
    hessian = largest_component(planted_partition(3100, 8, 13, snr, rng=seed).graph)
    found = count_by_filter(hessian)
    assert (found.k_low, found.k, found.k_high) == ({1: 5, 106: 6}[seed],) * 3


def test_all_methods_agree_where_a_sixth_eigenvalue_is_barely_above_one():
    A = planted_partition(700, 8, 8, 1.1, rng=0).graph.simple_adjacency()
    hessian = BetheHessian().bind(A, weighted=False)
    _, labels = connected_components(A)
    methods = (None, "dense", "inertia", "filter")
    totals = [counts_by(hessian, labels, method).total for method in methods]
    assert totals == [3] * len(methods)


def test_estimate_k_ends_and_is_right_near_the_threshold():
    graph = planted_partition(3100, k=8, degree=13, snr=1.1, rng=1).graph
    spectrum = kg.estimate_k(graph)
    assert spectrum.is_exact
    assert spectrum.k == spectrum.k_low == spectrum.k_high == 5
    graph = planted_partition(3100, 8, 13, 1.1968334139834003, rng=106).graph
    assert kg.estimate_k(graph).k == 6


def test_the_filter_counts_where_lanczos_fails(monkeypatch):
    def fail(*_, **__):
        raise PartialEigenpairsError("no", np.zeros(0), np.zeros((0, 0)))

    hessian = hessian_of(GRAPHS["planted"])
    for name in ("rough_top", "lanczos_pairs"):
        monkeypatch.setattr(module, name, fail)
    found = count_by_filter(hessian, with_next=True)
    assert (found.k_low, found.k_high) == (6, 6)


def drawn_large(n, k, degree, snr, seed, *, weighted=False):
    """Return the operator of a planted graph that is too large for dense matrices in kgroups."""
    graph = planted_partition(n, k, degree, snr, beyond="clip", rng=seed).graph
    if weighted:
        u, v, _ = graph.edges()
        w = np.random.default_rng(seed).uniform(0.5, 2.0, u.size)
        graph = kg.Graph.from_edges(u, v, w, n=n)
    return BetheHessian().bind(graph.simple_adjacency(), weighted=weighted)


SLOW = pytest.mark.slow
LARGE = [
    pytest.param((5_200, 12, 15.0, 1.2, 0), {}, id="near the threshold"),
    pytest.param((5_300, 4, 12.0, 2.0, 1), {"weighted": True}, id="weighted, clear"),
    pytest.param((5_500, 1, 10.0, 0.0, 2), {}, id="random", marks=SLOW),
    pytest.param((5_500, 40, 20.0, 1.05, 3), {}, id="many at the threshold", marks=SLOW),
    pytest.param((6_000, 2, 8.0, 1.02, 4), {}, id="two at the threshold", marks=SLOW),
    pytest.param((6_500, 9, 12.0, 1.1, 5), {"weighted": True}, id="weighted", marks=SLOW),
    pytest.param((7_000, 100, 14.0, 2.0, 6), {}, id="a hundred", marks=SLOW),
    pytest.param((8_000, 6, 6.0, 1.1, 7), {}, id="sparse", marks=SLOW),
]


@pytest.mark.parametrize(("parameters", "options"), LARGE)
def test_counts_above_5000_nodes_are_those_of_the_dense_matrix(parameters, options):
    hessian = drawn_large(*parameters, **options)
    counts = count_components(hessian, connected_components(hessian.coupling)[1])
    assert "filter" in counts.method
    exact = oracles.positive_pivots(hessian.normalized_matrix().toarray(), 1.0)
    assert counts.k_low.sum() <= exact <= counts.k_high.sum()
    assert counts.is_exact
    assert counts.total == exact
