"""Communities of adjacency matrices by the estimator of scikit-learn."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import kgroups as kg
from kgroups.backends.sklearn import GraphKGroups
from kgroups.errors import GraphError, InputError, NumberOfCommunitiesError, WeightError

PLANTED = np.repeat(np.arange(4), 30)


@pytest.fixture
def adjacency():
    return nx.to_scipy_sparse_array(nx.planted_partition_graph(4, 30, 0.4, 0.02, seed=1))


def weighted_graph(n=60, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % 2
    W = rng.uniform(0.0, 1.0, size=(n, n)) * np.where(groups[:, None] == groups, 1.0, 0.05)
    W = np.triu(W, 1)
    return W + W.T, groups


def test_the_communities_are_those_of_detect_communities(adjacency):
    model = GraphKGroups(random_state=0)
    labels = model.fit_predict(adjacency)
    assert labels is model.labels_
    assert model.n_clusters_ == len(model.partition_) == 4
    assert kg.metrics.ari(PLANTED, labels) == 1.0
    assert model.partition_ == kg.detect_communities(adjacency)
    assert model.partition_.report.n == model.n_features_in_ == 120


@pytest.mark.parametrize(
    "form",
    [
        sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.lil_array,
        lambda A: A.toarray(), lambda A: A.toarray().tolist(), lambda A: A.astype(bool),
        lambda A: A.toarray().astype(bool), lambda A: A.astype(np.int8),
        lambda A: pd.DataFrame(A.toarray()),
    ],
)  # fmt: skip
def test_matrices_of_every_kind_give_the_same(adjacency, form):
    expected = GraphKGroups(random_state=0).fit_predict(adjacency)
    assert np.array_equal(GraphKGroups(random_state=0).fit_predict(form(adjacency)), expected)


def test_the_number_of_communities_can_be_given(adjacency):
    model = GraphKGroups(3, random_state=0).fit(adjacency)
    assert model.n_clusters_ == 3
    assert np.unique(model.labels_).tolist() == [0, 1, 2]
    assert model.partition_.report.k_given == 3


def test_weights_count_by_default():
    W, groups = weighted_graph()
    assert kg.metrics.ari(groups, GraphKGroups(random_state=0).fit_predict(W)) == 1.0
    assert GraphKGroups(weighted=False, random_state=0).fit(W).n_clusters_ == 1


def test_options_are_passed_on(adjacency, monkeypatch):
    calls = []

    def recorded(graph, k, **options):
        calls.append({"graph": graph, "k": k, **options})
        return kg.detect_communities(graph, k)

    monkeypatch.setattr("kgroups.backends.sklearn.estimators.detect_communities", recorded)
    GraphKGroups().fit(adjacency)
    GraphKGroups(
        2, operator=kg.BetheHessian(r=3.0), method="spectral", init="qr", refine=None,
        self_loops="keep", random_state=1,
    ).fit(adjacency)  # fmt: skip
    first, second = calls
    assert (first["operator"], first["method"]) == (kg.BetheHessian(), kg.Auto())
    assert (first["init"], first["refine"]) == (kg.KMeansInit(), kg.Hartigan())
    assert (first["k"], first["self_loops"]) == (None, "drop")
    assert (second["operator"], second["method"]) == (kg.BetheHessian(r=3.0), kg.Spectral())
    assert (second["init"], second["refine"]) == (kg.QRInit(), None)
    assert (second["k"], second["self_loops"]) == (2, "keep")
    again = GraphKGroups(random_state=1).fit(adjacency)
    assert again.labels_.shape == (120,)
    assert calls[1]["rng"].bit_generator.seed_seq.entropy == (
        calls[2]["rng"].bit_generator.seed_seq.entropy
    )


def test_a_fit_can_start_from_labels(adjacency):
    warm = GraphKGroups(init=kg.WarmStart(PLANTED), random_state=0)
    assert kg.metrics.ari(PLANTED, clone(warm).fit_predict(adjacency)) == 1.0
    assert "WarmStart" in warm.fit(adjacency).partition_.report.init


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_directed_matrix_is_refused_by_default(form):
    W, groups = weighted_graph()
    directed = form(np.triu(W))
    with pytest.raises(GraphError, match=r'must be symmetric, got .*\n.*symmetrize="sum"'):
        GraphKGroups().fit(directed)
    model = GraphKGroups(symmetrize="sum", random_state=0).fit(directed)
    assert kg.metrics.ari(groups, model.labels_) == 1.0
    assert GraphKGroups(symmetrize="union", random_state=0).fit(directed).n_clusters_ == 1


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_entries_that_differ_by_rounding_are_averaged(form):
    W, _ = weighted_graph()
    rounded = W * (1.0 + 1e-15 * np.random.default_rng(1).normal(size=W.shape))
    assert not np.array_equal(rounded, rounded.T)
    model = GraphKGroups(random_state=0).fit(form(rounded))
    assert np.array_equal(model.labels_, GraphKGroups(random_state=0).fit_predict(W))
    mean = model.partition_.graph.to_scipy().toarray()
    np.testing.assert_array_equal(mean, (rounded + rounded.T) / 2)
    rounded[3, 4] *= 1.0 + 1e-6
    with pytest.raises(GraphError, match=r"must be symmetric, got .* from"):
        GraphKGroups().fit(form(rounded))


def test_the_matrix_is_not_changed():
    W, _ = weighted_graph()
    W *= 1.0 + 1e-15 * np.random.default_rng(1).normal(size=W.shape)
    repeated = sparse.csr_array(([2.0, -1.0, 2.0, -1.0], [1, 1, 0, 0], [0, 2, 4]))
    for X in (W, sparse.csr_array(W), repeated):
        before = X.copy()
        GraphKGroups(random_state=0).fit(X)
        assert abs(X - before).max() == 0.0
        if sparse.issparse(X):
            assert X.nnz == before.nnz


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_negative_weights_are_refused_with_their_place(form):
    W, _ = weighted_graph()
    W[3, 4] = W[4, 3] = -0.5
    message = r"Negative values in data passed to GraphKGroups: .*got -0\.5 on edge \(3, 4\)"
    with pytest.raises(WeightError, match=message):
        GraphKGroups().fit(form(W))


def test_messages_name_the_parameters_of_the_estimator(adjacency):
    with pytest.raises(WeightError, match=r"pass weighted=False to ignore"):
        GraphKGroups().fit(-adjacency)
    with pytest.raises(InputError, match=r"got n_clusters=3\.\n  Leave n_clusters out"):
        GraphKGroups(3, init=kg.WarmStart(PLANTED)).fit(adjacency)
    with pytest.raises(WeightError, match=r"pass weight=None to ignore"):
        kg.detect_communities(-adjacency)


@pytest.mark.parametrize("bad", ["no", None, 1, "weight"])
def test_weighted_is_true_or_false(adjacency, bad):
    with pytest.raises(InputError, match="weighted must be True or False, got"):
        GraphKGroups(weighted=bad).fit(adjacency)
    assert GraphKGroups(weighted=np.bool_(False), random_state=0).fit(adjacency).n_clusters_ == 4


def test_weights_that_add_up_beyond_floats_are_not_called_negative():
    W = np.triu(np.full((3, 3), 1.7e308), 1) + np.tril(np.full((3, 3), 1.6e308), -1)
    with pytest.raises(GraphError, match=r"^(?!Negative)"):
        GraphKGroups(symmetrize="sum").fit(W)


@pytest.mark.parametrize("bad", [0, -1, 2.5, "3", True])
def test_the_number_of_communities_is_a_whole_number(adjacency, bad):
    with pytest.raises(NumberOfCommunitiesError, match="n_clusters must be a whole number >= 1"):
        GraphKGroups(bad).fit(adjacency)


def test_more_communities_than_nodes_are_refused(adjacency):
    with pytest.raises(NumberOfCommunitiesError, match="n_clusters=121 for n_samples=120"):
        GraphKGroups(121).fit(adjacency)


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("operator", "'bethe-hessian'"),
        ("method", "'auto', 'search', 'spectral'"),
        ("init", "'k-means', 'qr'"),
        ("refine", "'hartigan'"),
    ],
)
def test_unknown_names_of_options_are_refused(adjacency, name, listed):
    with pytest.raises(InputError, match=f"{name} must be one of {listed}, .*got 'best'"):
        GraphKGroups(**{name: "best"}).fit(adjacency)
    with pytest.raises(InputError, match=f"{name} must be .*got 3"):
        GraphKGroups(**{name: 3}).fit(adjacency)


def test_points_instead_of_a_matrix_are_refused():
    with pytest.raises(GraphError, match=r"must be square, got shape \(50, 2\)"):
        GraphKGroups().fit(np.ones((50, 2)))


def test_a_fitted_model_can_be_pickled(adjacency):
    model = GraphKGroups(random_state=0).fit(adjacency)
    twin = pickle.loads(pickle.dumps(model))
    assert np.array_equal(twin.labels_, model.labels_)
    assert twin.partition_ == model.partition_


def test_similarities_of_points_go_through_a_pipeline():
    rng = np.random.default_rng(2)
    X = np.repeat([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]], 20, axis=0) + rng.normal(size=(60, 2))
    model = make_pipeline(FunctionTransformer(rbf_kernel), GraphKGroups(random_state=0))
    truth = np.repeat([0, 1, 2], 20)
    assert kg.metrics.ari(truth, model.fit_predict(X)) > 0.9
    assert model[-1].n_clusters_ == 3


def test_it_takes_what_spectral_clustering_takes():
    A = nx.to_numpy_array(nx.ring_of_cliques(4, 6))
    other = SpectralClustering(4, affinity="precomputed", random_state=0).fit_predict(A)
    assert kg.metrics.ari(other, GraphKGroups(random_state=0).fit_predict(A)) == 1.0
