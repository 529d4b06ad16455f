import numpy as np
import pytest

from helpers.strategies_spectrum import adjacency_of, csr_of, random_tree
from kgroups import BetheHessian
from kgroups.spectrum.operators import R_CHOICES, saturate, saturate_at, saturate_at_mean_degree


def test_saturation_is_smooth_rising_and_stays_below_its_limit():
    x = np.linspace(0.0, 30.0, 300_001)
    y = saturate(x, 0.8)
    np.testing.assert_array_equal(y[x <= 0.8], x[x <= 0.8])
    assert (np.diff(y) >= 0).all()
    assert y.max() <= 0.9
    slope = np.diff(y) / np.diff(x)
    assert np.abs(np.diff(slope)).max() < 1e-2


@pytest.mark.parametrize("seed", range(30))
def test_r_and_the_saturated_weights_agree(seed):
    rng = np.random.default_rng(seed)
    w = rng.lognormal(0.0, float(rng.uniform(0.1, 3.0)), int(rng.integers(1, 500)))
    c = float(rng.uniform(1.1, 30.0))
    found = saturate_at_mean_degree(w, c)
    assert np.mean(np.square(found.ratios)) == pytest.approx(1.0 / c, rel=1e-9)
    assert found.ratios.max() < 1.0
    np.testing.assert_array_equal(found.saturated, w / found.r > max(0.8, 1.0 / np.sqrt(c)))


def test_without_large_weights_r_is_the_plain_formula():
    w = np.random.default_rng(0).uniform(1.0, 2.0, 100)
    found = saturate_at_mean_degree(w, 9.0)
    assert found.r == pytest.approx(np.sqrt(np.mean(w**2) * 9.0), rel=1e-14)
    assert not found.saturated.any()


def test_one_enormous_weight_hardly_moves_r():
    w = np.ones(1000)
    w[5] = 1e6
    assert saturate_at_mean_degree(w, 9.0).r == pytest.approx(3.0, rel=0.01)


def test_a_given_r_below_the_weights_saturates_them_all():
    found = saturate_at(np.array([3.0, 4.0, 5.0]), 1.0)
    assert found.saturated.all()
    assert (found.ratios < 1.0).all()
    assert (np.diff(found.ratios) >= 0).all()


@pytest.mark.parametrize("choice", R_CHOICES)
@pytest.mark.parametrize("weight", [1.0, 10.0, 1e3, 1e9])
def test_a_heavy_edge_on_a_tree_never_makes_a_community(choice, weight):
    rng = np.random.default_rng(0)
    for n in (2, 3, 10, 60):
        W = random_tree(n, rng)
        W[1, 0] = W[0, 1] = weight
        H = BetheHessian(choice).bind(csr_of(W), weighted=True).matrix().toarray()
        assert np.linalg.eigvalsh(H).min() > 0.0


def test_saturated_counts_edges_once():
    import networkx as nx

    W = adjacency_of(nx.karate_club_graph())
    W[0, 1] = W[1, 0] = 50.0
    W[2, 2] = 40.0
    assert BetheHessian().bind(csr_of(W), weighted=True).saturated == 2
