import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups import BetheHessian
from kgroups._csr import connected_components
from kgroups.generators import planted_partition
from kgroups.spectrum import has_structure, moments


def largest_component(graph):
    A = graph.simple_adjacency()
    _, labels = connected_components(A)
    rows = np.flatnonzero(labels == np.argmax(np.bincount(labels)))
    return BetheHessian().bind(A, weighted=graph.is_weighted).restrict(rows)


def is_structured(graph):
    return has_structure(moments(largest_component(kg.as_graph(graph))))


def weighted_copy(graph, seed):
    source, target, _ = graph.edges()
    weights = np.random.default_rng(seed).lognormal(0.0, 1.0, source.size)
    return kg.Graph.from_edges(source, target, weights, n=graph.n)


@pytest.mark.compiled
@pytest.mark.statistical
@pytest.mark.parametrize("degree", [3.0, 6.0, 20.0])
def test_random_graphs_have_no_structure(degree):
    """Of 4800 random graphs of 500 and 1000 nodes, one was judged to have structure."""
    structured = []
    for seed in range(20):
        graph, _ = planted_partition(1_000, k=2, degree=degree, snr=0.0, rng=seed)
        structured += [is_structured(graph), is_structured(weighted_copy(graph, seed))]
    assert sum(structured) <= 1


@pytest.mark.compiled
@pytest.mark.parametrize(
    "graph",
    [
        nx.barabasi_albert_graph(2_000, 3, seed=0),
        nx.random_regular_graph(4, 2_000, seed=0),
        nx.random_labeled_tree(2_000, seed=0),
        nx.bipartite.gnmk_random_graph(700, 700, 5_000, seed=0),
        nx.star_graph(1_000),
        nx.complete_bipartite_graph(300, 500),
        nx.complete_graph(600),
    ],
    ids=["preferential", "regular", "tree", "bipartite", "star", "complete bipartite", "complete"],
)
def test_shapes_without_communities_have_no_structure(graph):
    assert not is_structured(graph)


@pytest.mark.compiled
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n", "k", "degree", "snr", "least"),
    [(1_000, 2, 3.0, 1.4, 10), (10_000, 2, 5.0, 1.3, 10), (1_000, 10, 10.0, 1.3, 10)],
)
def test_communities_near_the_threshold_are_seen(n, k, degree, snr, least):
    """In these cells all of 60 to 400 graphs were judged to have structure."""
    seen = 0
    for seed in range(10):
        graph, _ = planted_partition(n, k=k, degree=degree, snr=snr, rng=seed)
        seen += is_structured(graph)
    assert seen >= least


def test_a_ring_of_cliques_has_structure():
    assert is_structured(nx.ring_of_cliques(100, 6)) is True
