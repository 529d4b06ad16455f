import networkx as nx
import numpy as np
import pytest

from helpers import oracles_spectrum as oracles
from helpers.strategies_spectrum import adjacency_of, csr_of, random_adjacency
from kgroups._blas import DenseLimits
from kgroups.spectrum.operators import radius_above_entries


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(80))
def test_radius_is_that_of_the_dense_matrix(seed, weighted):
    V = random_adjacency(seed, largest=13, weighted=weighted, loops=seed % 3 == 0)
    csr = csr_of(V)
    expected = oracles.nonbacktracking_radius(V)
    found = radius_above_entries(csr, csr.data)
    # Jordan blocks blur the dense eigenvalues, at the largest entry and on forests most.
    if expected > 1.01 * V.max():
        assert found == pytest.approx(expected, rel=1e-7)
    elif expected < 0.99 * V.max():
        assert found == 0.0
    else:
        assert found == 0.0 or found == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("limit", [0, 10_000])
def test_dense_and_lanczos_agree(limit):
    for seed in range(10):
        A = adjacency_of(nx.gnp_random_graph(60, 0.06, seed=seed))
        csr = csr_of(A)
        found = radius_above_entries(csr, csr.data, limits=DenseLimits(one_eigenpair=limit))
        assert found == pytest.approx(oracles.nonbacktracking_radius(A), rel=1e-9)


@pytest.mark.parametrize(
    ("graph", "rho"),
    [
        (nx.path_graph(50), 0.0),
        (nx.star_graph(9), 0.0),
        (nx.empty_graph(3), 0.0),
        # Not above the entries of 1.
        (nx.cycle_graph(40), 0.0),
        (nx.lollipop_graph(3, 30), 0.0),
        (nx.complete_graph(9), 7.0),
        (nx.complete_bipartite_graph(5, 10), 6.0),
        (nx.petersen_graph(), 2.0),
    ],
)
def test_radius_of_graphs_where_it_is_known(graph, rho):
    csr = csr_of(adjacency_of(graph))
    assert radius_above_entries(csr, csr.data) == pytest.approx(rho, rel=1e-9)


def test_the_largest_component_radius_wins():
    A = adjacency_of(nx.disjoint_union(nx.complete_graph(5), nx.random_regular_graph(6, 40, 0)))
    csr = csr_of(A)
    assert radius_above_entries(csr, csr.data) == pytest.approx(5.0, rel=1e-9)


def test_a_radius_below_the_largest_entry_is_not_above_it():
    W = adjacency_of(nx.cycle_graph(5))
    W[0, 1] = W[1, 0] = 32.0
    csr = csr_of(W)
    assert radius_above_entries(csr, csr.data) == 0.0


def test_power_iteration_takes_over_when_arpack_fails(monkeypatch):
    from scipy.sparse import linalg

    def fail(*_, **__):
        raise linalg.ArpackNoConvergence("no", np.zeros(0), np.zeros((200, 0)))

    A = adjacency_of(nx.planted_partition_graph(4, 50, 0.2, 0.002, seed=1))
    csr = csr_of(A)
    expected = radius_above_entries(csr, csr.data)
    monkeypatch.setattr(linalg, "eigsh", fail)
    assert radius_above_entries(csr, csr.data) == pytest.approx(expected, rel=1e-8)
