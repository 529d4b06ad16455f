import networkx as nx
import numpy as np

from kgroups.adapters import as_graph
from kgroups.hartigan import spread_labels, strong_rows


def test_labels_spread_to_the_nearest_nodes():
    A = as_graph(nx.path_graph(7)).simple_adjacency()
    z = spread_labels(A, np.array([0, -1, -1, -1, -1, -1, 1]))
    assert z.tolist() == [0, 0, 0, 0, 1, 1, 1]


def test_what_no_label_reaches_stays_unlabeled():
    A = as_graph(nx.disjoint_union(nx.path_graph(2), nx.path_graph(2))).simple_adjacency()
    assert spread_labels(A, np.array([3, -1, -1, -1])).tolist() == [3, 3, -1, -1]


def test_rows_of_rounding_size_are_not_strong():
    V = np.array([[1.0, 0.0], [1e-3, 1e-3], [1e-12, 0.0]])
    assert strong_rows(V).tolist() == [True, True, False]
