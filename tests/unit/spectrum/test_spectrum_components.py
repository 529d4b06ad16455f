import networkx as nx
import numpy as np
import pytest

import oracles_spectrum as oracles
from kgroups import Graph
from kgroups.spectrum import components
from kgroups.spectrum.components import connected_components, two_core
from strategies_spectrum import TEXTBOOK, adjacency_of, csr_of, random_adjacency


@pytest.mark.parametrize("small", [0, 2_000])
@pytest.mark.parametrize("seed", range(25))
def test_components_are_numbered_by_their_first_node(seed, small, monkeypatch):
    monkeypatch.setattr(components, "_SMALL", small)
    A = random_adjacency(seed, largest=40, loops=seed % 2 == 0)
    count, labels = connected_components(csr_of(A))
    expected_count, expected = oracles.components(A)
    assert count == expected_count
    np.testing.assert_array_equal(labels, expected)


def test_no_nodes_no_components():
    count, labels = connected_components(csr_of(np.zeros((0, 0))))
    assert count == 0
    assert labels.shape == (0,)


@pytest.mark.parametrize("seed", range(40))
def test_two_core_of_random_graphs(seed):
    A = random_adjacency(seed, largest=40, loops=seed % 2 == 0)
    np.testing.assert_array_equal(two_core(csr_of(A)), oracles.two_core(A))


@pytest.mark.parametrize("name", TEXTBOOK)
def test_two_core_of_known_graphs(name):
    A = adjacency_of(TEXTBOOK[name])
    np.testing.assert_array_equal(two_core(csr_of(A)), oracles.two_core(A))


def test_two_core_of_a_long_path_ending_in_a_triangle():
    n = 200_000
    ends = np.arange(n - 1)
    graph = Graph.from_edges(np.append(ends, n - 3), np.append(ends + 1, n - 1))
    assert np.flatnonzero(two_core(graph.csr)).tolist() == [n - 3, n - 2, n - 1]


def test_two_core_of_a_tree_is_empty():
    assert not two_core(csr_of(adjacency_of(nx.balanced_tree(2, 6)))).any()
