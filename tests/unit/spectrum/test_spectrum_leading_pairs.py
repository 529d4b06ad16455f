import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import kgroups as kg
from kgroups import BetheHessian
from kgroups._csr import connected_components
from kgroups.generators import planted_partition
from kgroups.spectrum import leading_pairs, moments, top_eigenpairs
from kgroups.spectrum.subspace import edge_of_noise


def largest_component(graph):
    A = graph.simple_adjacency()
    _, labels = connected_components(A)
    rows = np.flatnonzero(labels == np.argmax(np.bincount(labels)))
    return BetheHessian().bind(A, weighted=graph.is_weighted).restrict(rows)


def planted_hessian(n, **options):
    return largest_component(planted_partition(n, **options)[0])


def share_of_space(hessian, leading):
    """Return the cosines between the space found and that of the exact eigenvectors."""
    _, V = top_eigenpairs(hessian, leading.k)
    found = leading.vectors * np.sqrt(hessian.diagonal)[:, None]
    return np.linalg.svd(V.T @ found, compute_uv=False)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("k", "degree", "snr"), [(2, 6.0, 1.4), (5, 10.0, 1.5), (12, 12.0, 1.6), (40, 20.0, 2.0)]
)
def test_pairs_beyond_one_are_those_of_lanczos(k, degree, snr):
    hessian = planted_hessian(4_000, k=k, degree=degree, snr=snr, rng=2)
    leading = leading_pairs(moments(hessian))
    exact, _ = top_eigenpairs(hessian, k + 1)
    assert leading.complete
    assert leading.k == np.count_nonzero(exact > edge_of_noise(hessian.n))
    np.testing.assert_allclose(leading.values, exact[: leading.k], atol=0.01)
    assert (leading.values <= exact[: leading.k] + 1e-4).all()
    assert share_of_space(hessian, leading).min() > 0.99


@pytest.mark.compiled
def test_a_count_can_be_given():
    hessian = planted_hessian(3_000, k=6, degree=12.0, snr=2.0, rng=0)
    found = moments(hessian)
    exact, _ = top_eigenpairs(hessian, 12)
    for count in (1, 2, 6):
        leading = leading_pairs(found, count=count)
        assert leading.values.size == leading.vectors.shape[1] == count
        np.testing.assert_allclose(leading.values, exact[:count], atol=0.01)
    assert leading_pairs(found, count=12).k == 12


@pytest.mark.compiled
@pytest.mark.parametrize("count", [8, 20])
def test_more_pairs_than_clear_ones_can_be_had(count):
    hessian = largest_component(kg.as_graph(nx.ring_of_cliques(3, 400)))
    leading = leading_pairs(moments(hessian), count=count)
    exact, _ = top_eigenpairs(hessian, count)
    assert leading.k == count
    assert (leading.values <= exact + 1e-4).all()
    np.testing.assert_allclose(leading.values[:3], exact[:3], rtol=1e-3)


@pytest.mark.compiled
def test_vectors_are_orthonormal_for_the_operator():
    hessian = planted_hessian(3_000, k=6, degree=12.0, snr=2.0, rng=1)
    found = moments(hessian)
    leading = leading_pairs(found)
    products = found.operator.products(leading.vectors, leading.vectors)
    np.testing.assert_allclose(products, np.eye(leading.k), atol=2e-3)


@pytest.mark.compiled
def test_equal_eigenvalues_are_all_found():
    ring = kg.as_graph(nx.ring_of_cliques(60, 12))
    hessian = largest_component(ring)
    leading = leading_pairs(moments(hessian))
    assert leading.k == 60


@pytest.mark.compiled
def test_many_pairs_beyond_the_limit_are_said_to_be_incomplete():
    hessian = largest_component(kg.as_graph(nx.ring_of_cliques(60, 12)))
    leading = leading_pairs(moments(hessian), most=24)
    assert not leading.complete
    assert leading.k <= 25


@pytest.mark.compiled
def test_avoiding_sides_do_not_hide_communities():
    graph, _ = planted_partition(4_000, k=4, degree=30.0, snr=2.5, rng=0)
    side = np.random.default_rng(0).integers(0, 2, 4_000)
    A = graph.to_scipy().tocoo()
    keep = side[A.row] != side[A.col]
    B = sparse.csr_array((A.data[keep], (A.row[keep], A.col[keep])), shape=A.shape)
    hessian = largest_component(kg.as_graph(B))
    leading = leading_pairs(moments(hessian))
    exact, _ = top_eigenpairs(hessian, 4)
    assert leading.k == 4
    np.testing.assert_allclose(leading.values, exact, atol=0.01)


@pytest.mark.compiled
def test_weights_are_seen():
    graph, truth = planted_partition(3_000, k=3, degree=12.0, snr=0.0, rng=0)
    source, target, _ = graph.edges()
    inside = truth[source] == truth[target]
    weights = np.where(inside, 4.0, 1.0)
    hessian = largest_component(kg.Graph.from_edges(source, target, weights, n=3_000))
    leading = leading_pairs(moments(hessian))
    exact, _ = top_eigenpairs(hessian, 4)
    assert leading.k == np.count_nonzero(exact > edge_of_noise(hessian.n)) == 3
    np.testing.assert_allclose(leading.values, exact[:3], atol=0.01)


def test_the_edge_of_noise_falls_with_size():
    assert edge_of_noise(1_000) == pytest.approx(1.01)
    assert edge_of_noise(1_000_000) == pytest.approx(1.0001)
