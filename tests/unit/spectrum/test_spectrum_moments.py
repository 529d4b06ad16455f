import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import kgroups as kg
from helpers import oracles_chebyshev as oracles
from helpers.strategies_spectrum import TEXTBOOK, adjacency_of, csr_of, perron_of
from kgroups import BetheHessian
from kgroups.generators import planted_partition
from kgroups.spectrum import moments
from kgroups.spectrum.chebyshev import BlockOperator
from kgroups.spectrum.moments import _Series

CONNECTED = {
    name: graph for name, graph in TEXTBOOK.items() if nx.is_connected(graph) and len(graph) > 1
}


def hessian_of(A, *, weighted=False):
    return BetheHessian().bind(csr_of(A), weighted=weighted)


def planted_hessian(n, **options):
    graph, _ = planted_partition(n, **options)
    return BetheHessian().bind(graph.simple_adjacency(), weighted=graph.is_weighted)


def bipartite_communities(n, *, k, degree, snr, seed):
    """Draw communities, then keep only the edges between two random sides of the nodes."""
    graph, _ = planted_partition(n, k=k, degree=degree, snr=snr, rng=seed)
    side = np.random.default_rng(seed).integers(0, 2, n)
    A = graph.to_scipy().tocoo()
    keep = side[A.row] != side[A.col]
    return sparse.csr_array((A.data[keep], (A.row[keep], A.col[keep])), shape=A.shape)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("lowest", "known"), [(-1.0, False), (-1.0, True), (-1.6, True)])
def test_float32_moments_are_those_of_float64(weighted, lowest, known):
    A = adjacency_of(nx.planted_partition_graph(4, 60, 0.3, 0.04, seed=2))
    if weighted:
        noise = np.random.default_rng(0).lognormal(0.0, 0.4, A.shape)
        A *= np.triu(noise) + np.triu(noise, 1).T
    hessian = hessian_of(A, weighted=weighted)
    operator = BlockOperator(hessian, lowest=lowest)
    perron = perron_of(BlockOperator(hessian)) if known else None
    series = _Series(operator, perron, columns=9, seed=0)
    block = operator.random_block(9, np.random.default_rng(0))[:, : 9 if known else 8]
    expected = oracles.moments_above(hessian, block, series.q, lowest=lowest)
    scale = np.maximum.accumulate(np.abs(expected))
    np.testing.assert_allclose(series.above / scale, expected / scale, atol=2e-3)


def test_a_dense_core_does_not_hide_the_rest_before_it_is_deflated():
    """The Perron vector is that of the core, and ones grow along it only after many steps.

    One eigenvalue makes the last moments, which so few vectors know up to sqrt(2 / 8) = 50 percent;
    the error of the vector may add half as much. A vector taken from the degree of the block is
    wrong by 7,000 percent.
    """
    graph = nx.disjoint_union(nx.complete_graph(30), nx.random_regular_graph(3, 1_500, seed=1))
    graph.add_edge(0, 30)
    hessian = hessian_of(adjacency_of(graph))
    operator = BlockOperator(hessian)
    series = _Series(operator, None, columns=9, seed=0)
    block = operator.random_block(9, np.random.default_rng(0))[:, :8]
    expected = oracles.moments_above(hessian, block, series.q)
    scale = np.maximum.accumulate(np.abs(expected))
    np.testing.assert_allclose(series.above / scale, expected / scale, atol=0.25)


@pytest.mark.parametrize(("core", "groups", "size"), [(30, 2, 600), (40, 4, 300), (25, 1, 1_200)])
def test_a_dense_core_beside_communities_is_removed_alone(core, groups, size):
    """Ones grow along the communities first; with the exact Perron vector the same is estimated.

    Bound of the moments: four times the error of the coefficients that is allowed. A vector from
    the first growth of the ones gives half of the communities, and a signal-to-noise ratio that is
    larger by half.
    """
    rest = nx.planted_partition_graph(groups, size, 9.0 / size, 1.0 / size, seed=3)
    graph = nx.disjoint_union(nx.complete_graph(core), rest)
    graph.add_edges_from((i, core + 7 * i) for i in range(core))
    A = adjacency_of(graph.subgraph(max(nx.connected_components(graph), key=len)))
    hessian = hessian_of(A)
    operator = BlockOperator(hessian)
    top = np.linalg.eigvalsh(hessian.normalized_matrix().toarray())[-1]
    found = _Series(operator, None, columns=9, seed=0)
    block = operator.random_block(9, np.random.default_rng(0))[:, :8]
    expected = oracles.moments_above(hessian, block, found.q)
    # A residual of 1 percent moves the value by its square over the gap.
    assert found.perron.value == pytest.approx(top, rel=5e-4)
    scale = np.maximum.accumulate(np.abs(expected))
    np.testing.assert_allclose(found.above / scale, expected / scale, atol=0.12)


def test_the_perron_pair_takes_few_products_beside_the_moments():
    hessian = planted_hessian(2_000, k=4, degree=12.0, snr=1.4, rng=0)
    found = moments(hessian)
    assert found.visits <= (found.q + 4) * hessian.nnz


@pytest.mark.parametrize(("k", "degree", "snr"), [(20, 15.0, 2.0), (60, 20.0, 1.8), (5, 8.0, 1.6)])
def test_float32_says_the_same_k_and_s_as_float64(k, degree, snr):
    hessian = planted_hessian(1_500, k=k, degree=degree, snr=snr, rng=3)
    found, operator = moments(hessian), BlockOperator(hessian)
    block = operator.random_block(9, np.random.default_rng(0))[:, :8]
    exact = oracles.moments_above(hessian, block, found.q)
    apart = 2 if found.q > 5 else 1
    s = (exact[-1] / exact[-1 - apart]) ** (0.5 / apart)
    factor = 0.5 * (1.0 + 0.5 * (s + 1.0 / s))
    assert found.s == pytest.approx(s, rel=1e-3)
    _, low, high = _Series(operator, None, columns=9, seed=0).fitted()
    assert 1.0 + low == pytest.approx(1.0 + 2.0 * exact[-1] / factor / s ** (2 * found.q), rel=0.02)
    assert 1.0 + low <= found.k <= 1.0 + high


@pytest.mark.compiled
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n", "k", "degree", "snr"),
    [(20_000, 50, 20.0, 2.0), (20_000, 200, 20.0, 2.5), (20_000, 20, 10.0, 1.6)],
)
def test_equal_communities_are_counted_and_their_clearness_measured(n, k, degree, snr):
    """Bounds: 5 sd of 20 graphs: k .95 of the truth (sd .03 to .10), s .98 to .99 (sd .005)."""
    found = moments(planted_hessian(n, k=k, degree=degree, snr=snr, rng=11))
    assert 0.44 * k <= found.k <= 1.46 * k
    assert found.s == pytest.approx(0.99 * snr, rel=0.03)


@pytest.mark.parametrize("name", CONNECTED)
def test_moments_are_finite_on_every_shape(name):
    found = moments(hessian_of(adjacency_of(CONNECTED[name])))
    values = (found.k, found.s, found.signal, found.operator.lowest)
    assert np.isfinite(values).all()
    assert found.k >= 1.0
    assert found.s >= 1.0
    assert np.isfinite(found.block).all()


@pytest.mark.parametrize("name", ["complete", "star", "path", "cycle", "complete bipartite"])
def test_shapes_without_communities_have_one(name):
    found = moments(hessian_of(adjacency_of(CONNECTED[name])))
    assert (found.k, found.s) == (1.0, 1.0)


def test_sides_that_avoid_one_another_are_not_taken_for_communities():
    found = moments(hessian_of(adjacency_of(nx.complete_bipartite_graph(40, 60))))
    assert found.k == 1.0
    assert found.operator.lowest < -3.0


@pytest.mark.compiled
def test_communities_are_seen_in_a_bipartite_graph():
    A = bipartite_communities(4_000, k=4, degree=30.0, snr=2.5, seed=0)
    hessian = BetheHessian().bind(kg.as_graph(A).simple_adjacency(), weighted=False)
    found = moments(hessian)
    lam = np.linalg.eigvalsh(hessian.normalized_matrix().toarray())[::-1]
    second = lam[1] + np.sqrt(lam[1] ** 2 - 1.0)
    assert found.operator.lowest < lam[-1]
    assert found.s == pytest.approx(second, rel=0.06)
    assert found.k >= 2.0


def test_equal_weights_give_what_no_weights_give():
    A = adjacency_of(nx.planted_partition_graph(4, 50, 0.3, 0.03, seed=1))
    plain, weighted = moments(hessian_of(A)), moments(hessian_of(7.0 * A, weighted=True))
    assert weighted.s == pytest.approx(plain.s, rel=1e-4)
    assert weighted.k == pytest.approx(plain.k, rel=1e-3)


def test_work_is_counted_in_entries():
    hessian = planted_hessian(1_000, k=4, degree=8.0, snr=2.0, rng=0)
    found = moments(hessian)
    products, left = divmod(found.visits, hessian.nnz)
    assert left == 0
    assert found.q < products < 60


def test_the_seed_decides_the_vectors():
    hessian = planted_hessian(500, k=4, degree=8.0, snr=2.0, rng=0)
    assert moments(hessian).k == moments(hessian).k
    assert moments(hessian).k != moments(hessian, seed=1).k
