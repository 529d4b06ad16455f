import networkx as nx
import numpy as np
import pytest

from helpers import oracles_spectrum as oracles
from helpers.strategies_spectrum import TEXTBOOK, adjacency_of, csr_of, random_adjacency
from kgroups import Graph, _csr
from kgroups._csr import components_by_scipy, connected_components, two_core
from kgroups._progress import new_tally

FINDERS = [connected_components, components_by_scipy]


@pytest.mark.parametrize("find", FINDERS)
@pytest.mark.parametrize("seed", range(25))
def test_components_are_numbered_by_their_first_node(seed, find):
    A = random_adjacency(seed, largest=40, loops=seed % 2 == 0)
    count, labels = find(csr_of(A))
    expected_count, expected = oracles.components(A)
    assert count == expected_count
    np.testing.assert_array_equal(labels, expected)
    group = np.random.default_rng(seed).integers(0, 2, len(A))
    count, labels = find(csr_of(A), group)
    expected_count, expected = oracles.components(A * (group[:, None] == group))
    assert count == expected_count
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("find", FINDERS)
def test_no_nodes_no_components(find):
    count, labels = find(csr_of(np.zeros((0, 0))))
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


def path_of(n):
    return Graph.from_edges(np.arange(n - 1), np.arange(1, n)).csr


def test_a_flag_ends_the_labeling_of_components():
    from kgroups._components_nb import label_components

    csr = path_of(10_000)
    for flag in (0, 1):
        labels, tally = np.full(10_000, -1), new_tally()
        tally[2] = flag
        label_components(csr.indptr, csr.indices, np.zeros_like(labels), labels, tally)
        assert (labels >= 0).all() == (flag == 0)
        assert tally[4] == (0 if flag else 10_000)


@pytest.mark.compiled
def test_components_of_a_large_graph_are_labeled_in_another_thread(monkeypatch):
    csr, used = path_of(300), []
    expected = connected_components(csr)[1].tolist()
    run = _csr.run_interruptibly
    monkeypatch.setattr(_csr, "run_interruptibly", lambda *a: used.append(1) or run(*a))
    assert connected_components(csr, background_entries=100)[1].tolist() == expected
    assert used == [1]
