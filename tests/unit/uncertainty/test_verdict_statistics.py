"""Second eigenvalues, distances, and reshuffled graphs against direct computations."""

from importlib import import_module

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers import oracles_verdict
from helpers.strategies_spectrum import csr_of
from kgroups._blas import DenseLimits
from kgroups.generators.rewiring import rewire
from kgroups.spectrum import PartialEigenpairsError
from kgroups.uncertainty.significance import cyclic_nodes, second_eigenvalue, stretch_of_distances

# The package has a function of the same name.
statistics = import_module("kgroups.uncertainty.significance")
SPARSE = DenseLimits(eigenpairs=0)
SHAPES = {
    "random": nx.gnm_random_graph(60, 150, seed=0),
    "karate": nx.karate_club_graph(),
    "two equal components": nx.disjoint_union(nx.petersen_graph(), nx.petersen_graph()),
    "many equal components": nx.disjoint_union_all([nx.complete_graph(4)] * 9),
    "with trees": nx.disjoint_union(nx.balanced_tree(2, 3), nx.ring_of_cliques(4, 5)),
    "bipartite": nx.complete_bipartite_graph(5, 7),
}


@pytest.mark.parametrize("limits", [DenseLimits(), SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", SHAPES)
def test_second_eigenvalue(name, limits):
    A = nx.to_numpy_array(SHAPES[name], weight=None)
    expected = oracles_verdict.second_eigenvalue(A)
    assert second_eigenvalue(csr_of(A), limits=limits) == pytest.approx(expected, abs=1e-7)


def test_a_solver_that_stops_early_is_replaced(monkeypatch):
    def failing(*args, **options):
        raise PartialEigenpairsError("stopped", np.zeros(0), np.zeros((0, 0)))

    csr = csr_of(nx.to_numpy_array(SHAPES["random"]))
    expected = second_eigenvalue(csr)
    monkeypatch.setattr(statistics, "lanczos_pairs", failing)
    assert second_eigenvalue(csr, limits=SPARSE) == pytest.approx(expected, abs=1e-9)
    with pytest.raises(PartialEigenpairsError):
        second_eigenvalue(csr, limits=DenseLimits(eigenpairs=0, exact_counts=0))


def test_cyclic_nodes_leave_out_trees_and_single_cycles():
    G = nx.disjoint_union_all(
        [nx.path_graph(4), nx.cycle_graph(5), nx.complete_graph(4), nx.empty_graph(2)]
    )
    assert cyclic_nodes(csr_of(nx.to_numpy_array(G))).tolist() == [9, 10, 11, 12]


@pytest.mark.parametrize("name", ["random", "karate", "with trees", "bipartite"])
def test_mean_distance_of_the_largest_component(name):
    G = SHAPES[name]
    largest = G.subgraph(max(nx.connected_components(G), key=len))
    assert len(largest) <= 60
    A = csr_of(nx.to_numpy_array(G, weight=None))
    rng = np.random.default_rng(0)
    means = [statistics._mean_distance(A, rng) for _ in range(40)]
    # From all sources on small components, from a sample on others.
    tolerance = 1e-12 if len(largest) <= 32 else 0.01
    expected = nx.average_shortest_path_length(largest)
    assert np.mean(means) == pytest.approx(expected, rel=tolerance)


def test_rewiring_within_groups_keeps_inner_and_outer_degrees():
    graph, labels = kg.generators.planted_partition(300, k=3, degree=8.0, snr=1.5, rng=0)
    u, v = (ends.astype(np.int64) for ends in graph.edges()[:2])
    before = kg.Graph.from_edges(u, v, n=300).to_scipy().toarray()
    rewire(u, v, 300, 5.0, np.random.default_rng(0), labels=labels)
    after = kg.Graph.from_edges(u, v, n=300)
    assert after.multiplicity is None
    assert after.n_loops == 0
    A = after.to_scipy().toarray()
    same = labels[:, None] == labels
    for mask in (same, ~same):
        assert np.array_equal((A * mask).sum(axis=0), (before * mask).sum(axis=0))
        assert (A * before * mask).sum() < 0.15 * (before * mask).sum()


def test_rewiring_within_groups_reaches_every_graph_alike():
    # A square within a group can be joined in three ways.
    start = np.array([0, 2]), np.array([1, 3])
    seen = []
    for seed in range(300):
        u, v = (ends.copy() for ends in start)
        rewire(u, v, 4, 2.0, np.random.default_rng(seed), labels=np.zeros(4, dtype=np.int64))
        seen.append(tuple(sorted(tuple(sorted(edge)) for edge in zip(u, v, strict=True))))
    counts = {graph: seen.count(graph) for graph in set(seen)}
    assert len(counts) == 3
    # Four standard deviations of a binomial count around 100.
    assert all(abs(count - 100) < 33 for count in counts.values())


def test_stretch_of_long_and_of_random_graphs():
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(15, 15))
    labels = np.arange(225) // 45
    rng = np.random.default_rng(0)
    assert stretch_of_distances(csr_of(nx.to_numpy_array(grid)), labels, rng) > 1.8
    graph, planted = kg.generators.planted_partition(400, k=4, degree=8.0, snr=2.0, rng=0)
    assert stretch_of_distances(graph.csr, planted, rng) == pytest.approx(1.0, abs=0.06)
