import networkx as nx
import numpy as np
import pytest
from sklearn.cluster import KMeans

from helpers import oracles_hartigan as oracles
from kgroups._blas import DenseLimits
from kgroups.adapters import as_graph
from kgroups.errors import InputError
from kgroups.graph import Graph
from kgroups.hartigan import (
    KMeansInit,
    QRInit,
    embedding,
    embedding_rows,
    informative_eigenpairs,
)
from kgroups.metrics import ari
from kgroups.spectrum import BetheHessian


def blobs(rng, k=5, each=30, spread=0.4):
    centers = rng.normal(size=(k, 3)) * 3
    truth = np.repeat(np.arange(k), each)
    return centers[truth] + spread * rng.normal(size=(k * each, 3)), truth


def labels_of(method, X, k, entropy=0):
    """Return the labels of the rows of one table."""
    (z,) = method.labels([X], [k], entropy)
    return z


@pytest.mark.parametrize("seed", range(5))
def test_kmeans_is_as_good_as_scikit_learn(seed):
    X, _ = blobs(np.random.default_rng(seed), spread=1.0)
    ours = labels_of(KMeansInit(n_init=10), X, 5)
    theirs = KMeans(5, n_init=10, random_state=0).fit(X)
    assert oracles.kmeans_cost(X, ours, 5) <= theirs.inertia_ * (1 + 1e-9)


@pytest.mark.parametrize("method", [KMeansInit(), QRInit()])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_every_group_gets_a_row_even_when_rows_repeat(method, k):
    X = np.repeat(np.eye(6)[:2], 3, axis=0)
    z = labels_of(method, X, k)
    assert np.unique(z).tolist() == list(range(k))


@pytest.mark.parametrize("method", [KMeansInit(), QRInit()])
def test_orthogonal_groups_are_told_apart(method):
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(4), 25)
    rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    X = (np.eye(4)[truth] + 0.05 * rng.normal(size=(100, 4))) @ rotation
    assert ari(truth, labels_of(method, X, 4)) == 1.0


def test_qr_uses_no_randomness():
    X = np.random.default_rng(0).normal(size=(50, 3))
    first = labels_of(QRInit(), X, 3)
    second = labels_of(QRInit(), X, 3, entropy=99)
    assert np.array_equal(first, second)


def test_normalized_rows_have_length_one_and_raw_rows_span_the_low_end_of_h():
    rng = np.random.default_rng(5)
    u, v = np.triu_indices(40, 1)
    drawn = rng.random(u.size) < 0.2
    A = Graph.from_edges(u[drawn], v[drawn], n=40).simple_adjacency()
    hessian = BetheHessian().bind(A, weighted=False)
    lam, V = informative_eigenpairs(hessian, 3, "normalized")
    assert np.all(np.diff(lam) <= 1e-12)
    np.testing.assert_allclose(np.linalg.norm(embedding_rows(V, "normalized"), axis=1), 1.0)
    H = hessian.matrix().toarray()
    lam, V = informative_eigenpairs(hessian, 3, "raw")
    np.testing.assert_allclose(-lam, np.linalg.eigvalsh(H)[:3])
    np.testing.assert_allclose(H @ V, V * -lam, atol=1e-9)
    np.testing.assert_allclose(embedding_rows(V, "raw"), V, rtol=0.0, atol=1e-10)


def test_sparse_solver_finds_the_same_low_end_of_h():
    rng = np.random.default_rng(6)
    u, v = np.triu_indices(60, 1)
    drawn = rng.random(u.size) < 0.15
    A = Graph.from_edges(u[drawn], v[drawn], n=60).simple_adjacency()
    hessian = BetheHessian().bind(A, weighted=False)
    dense, _ = informative_eigenpairs(hessian, 4, "raw")
    limits = DenseLimits(canonical_eigenpairs=10)
    sparse, V = informative_eigenpairs(hessian, 4, "raw", limits=limits)
    np.testing.assert_allclose(sparse, dense, atol=1e-9)
    np.testing.assert_allclose(hessian.matrix() @ V, V * -sparse, atol=1e-7)


@pytest.mark.parametrize("method", [KMeansInit(), QRInit()])
def test_tables_at_once_are_grouped_as_each_alone(method):
    rng, k = np.random.default_rng(2), [3, 2, 4, 3, 1]
    tables = [rng.normal(size=(n, 4)) for n in (30, 5, 12, 80, 1)]
    found = method.labels(tables, k, 7)
    for X, count, z in zip(tables, k, found, strict=True):
        assert z.tolist() == labels_of(method, X, count, entropy=7).tolist()
    assert method.labels([], [], 7) == []


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="rows must be one of 'normalized', 'raw', got 'scaled'"):
        KMeansInit(rows="scaled")
    with pytest.raises(InputError, match="rows must be one of"):
        QRInit(rows="scaled")
    with pytest.raises(InputError, match="n_init must be a whole number >= 1, got 0"):
        KMeansInit(n_init=0)
    with pytest.raises(InputError, match="max_work must be a number >= 0, got 'much'"):
        KMeansInit(max_work="much")


def test_less_work_means_fewer_starts_and_at_least_two():
    X, _ = blobs(np.random.default_rng(0))
    two, few = (labels_of(KMeansInit(n_init=n), X, 5) for n in (2, 10))
    limited = labels_of(KMeansInit(max_work=0.0), X, 5)
    assert limited.tolist() == two.tolist()
    assert np.unique(few).size == 5


@pytest.mark.parametrize("count", [3, 4, 8])
def test_the_basis_of_equal_eigenvalues_is_that_of_the_whole_eigenspace(count):
    """On a torus all eigenvalues but the first come four at a time; Lanczos may find three."""
    G = nx.grid_2d_graph(20, 20, periodic=True)
    graph = as_graph(nx.convert_node_labels_to_integers(G))
    hessian = BetheHessian().bind(graph.simple_adjacency(), weighted=False)
    lam, V = informative_eigenpairs(hessian, count, "normalized")
    values, vectors = (
        part[..., ::-1] for part in np.linalg.eigh(hessian.normalized_matrix().toarray())
    )
    np.testing.assert_allclose(lam, values[:count], atol=1e-9)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    other = vectors.copy()
    other[:, 1:5], other[:, 5:9] = vectors[:, 1:5] @ turned, vectors[:, 5:9] @ turned
    expected = embedding._in_canonical_basis(values, other)[:, 1:count]
    np.testing.assert_allclose(V[:, 1:], expected, atol=1e-11)


def test_rounding_settles_no_tie_between_pivots():
    """Points on a circle are all as long, and opposite ones are as far from any third."""
    angle = 2.0 * np.pi * np.arange(40) / 40
    X = np.column_stack([np.ones(40), np.cos(angle), np.sin(angle)]) / np.sqrt(2.0)
    expected = labels_of(QRInit(), X, 3)
    for seed in range(10):
        noise = 1e-13 * np.random.default_rng(seed).normal(size=X.shape)
        labels = labels_of(QRInit(), X + noise, 3)
        np.testing.assert_array_equal(labels, expected)
