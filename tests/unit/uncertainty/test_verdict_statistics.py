"""Second eigenvalues, distances, and reshuffled graphs against direct computations."""

from importlib import import_module

import networkx as nx
import numpy as np
import pytest

from helpers import oracles_verdict
from helpers.strategies_spectrum import csr_of
from kgroups._blas import DenseLimits
from kgroups.spectrum import PartialEigenpairsError
from kgroups.uncertainty.significance import cyclic_nodes, second_eigenvalue

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
