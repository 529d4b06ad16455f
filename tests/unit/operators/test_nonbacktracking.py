import networkx as nx
import numpy as np
import pytest

import oracles_spectrum as oracles
from kgroups.errors import ConvergenceError
from kgroups.operators import nonbacktracking
from kgroups.operators.nonbacktracking import nonbacktracking_radius, radius_above_entries
from strategies_spectrum import adjacency_of, csr_of, random_adjacency


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(80))
def test_radius_is_that_of_the_dense_matrix(seed, weighted):
    V = random_adjacency(seed, largest=13, weighted=weighted, loops=seed % 3 == 0)
    csr = csr_of(V)
    expected = oracles.nonbacktracking_radius(V)
    # Jordan blocks blur the dense eigenvalues of forests to about eps ** (1 / depth).
    assert nonbacktracking_radius(csr, csr.data) == pytest.approx(expected, rel=1e-7, abs=1e-2)
    if expected > 0.1:
        assert nonbacktracking_radius(csr, csr.data) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("limit", [0, 10_000])
def test_dense_and_lanczos_agree(limit, monkeypatch):
    monkeypatch.setattr(nonbacktracking, "_DENSE_NODES", limit)
    for seed in range(10):
        A = adjacency_of(nx.gnp_random_graph(60, 0.06, seed=seed))
        expected = oracles.nonbacktracking_radius(A)
        csr = csr_of(A)
        assert nonbacktracking_radius(csr, csr.data) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("graph", "rho"),
    [
        (nx.path_graph(50), 0.0),
        (nx.star_graph(9), 0.0),
        (nx.empty_graph(3), 0.0),
        (nx.cycle_graph(40), 1.0),
        (nx.lollipop_graph(3, 30), 1.0),
        (nx.complete_graph(9), 7.0),
        (nx.complete_bipartite_graph(5, 10), 6.0),
        (nx.petersen_graph(), 2.0),
    ],
)
def test_radius_of_graphs_where_it_is_known(graph, rho):
    csr = csr_of(adjacency_of(graph))
    assert nonbacktracking_radius(csr, csr.data) == pytest.approx(rho, rel=1e-9)


def test_the_largest_component_radius_wins():
    A = adjacency_of(nx.disjoint_union(nx.complete_graph(5), nx.random_regular_graph(6, 40, 0)))
    csr = csr_of(A)
    assert nonbacktracking_radius(csr, csr.data) == pytest.approx(5.0, rel=1e-9)


def test_a_radius_below_the_largest_entry_is_not_above_it():
    W = adjacency_of(nx.cycle_graph(5))
    W[0, 1] = W[1, 0] = 32.0
    csr = csr_of(W)
    assert radius_above_entries(csr, csr.data) == 0.0
    assert nonbacktracking_radius(csr, csr.data) == pytest.approx(2.0, rel=1e-6)


def test_iteration_that_does_not_settle_is_an_error(monkeypatch):
    monkeypatch.setattr(nonbacktracking, "_MAX_STEPS", 2)
    W = adjacency_of(nx.cycle_graph(5))
    W[0, 1] = W[1, 0] = 32.0
    csr = csr_of(W)
    with pytest.raises(ConvergenceError, match="radius did not settle in 2 steps; the last value"):
        nonbacktracking_radius(csr, csr.data)


def test_the_edges_take_over_when_arpack_gives_up(monkeypatch):
    from scipy.sparse import linalg

    def fail(*_, **__):
        raise linalg.ArpackNoConvergence("no", np.zeros(0), np.zeros((200, 0)))

    A = adjacency_of(nx.planted_partition_graph(4, 50, 0.2, 0.002, seed=1))
    csr = csr_of(A)
    expected = nonbacktracking_radius(csr, csr.data)
    monkeypatch.setattr(linalg, "eigsh", fail)
    assert nonbacktracking_radius(csr, csr.data) == pytest.approx(expected, rel=1e-8)
