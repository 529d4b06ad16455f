"""Positions are finite, spread out and the same for the same graph; communities stand apart."""

import random

import igraph
import networkx as nx
import numpy as np
import pytest

import kgroups
from kgroups.plotting.layout import (
    community_centers,
    disc_layout,
    force_layout,
    separate,
)

CASES = {
    "springs": (nx.karate_club_graph(), 2),
    "a line": (nx.path_graph(30), 3),
    "in pieces": (
        nx.disjoint_union_all([nx.complete_graph(5), nx.path_graph(4), nx.empty_graph(3)]),
        5,
    ),
    "large": (nx.random_partition_graph([60] * 8, 0.3, 0.01, seed=1), 8),
    "no edges": (nx.empty_graph(30), 30),
    "many discs": (nx.empty_graph(1200), 1200),
    "one node": (nx.empty_graph(1), 1),
}


@pytest.mark.parametrize("case", CASES)
def test_layout_is_finite_spread_out_and_the_same_each_time(case):
    G, k = CASES[case]
    graph = kgroups.as_graph(G)
    labels = np.arange(graph.n) * k // graph.n
    state = random.getstate()
    xy = force_layout(graph, labels)
    assert random.getstate() == state
    assert xy.shape == (graph.n, 2)
    assert np.isfinite(xy).all()
    assert len(np.unique(xy.round(6), axis=0)) == graph.n
    random.random()
    assert np.array_equal(force_layout(graph, labels), xy)


@pytest.fixture
def igraph_generator():
    """Return what sets the generator of igraph; the default one is set again afterwards."""
    yield igraph.set_random_number_generator
    igraph.set_random_number_generator(random)


def drawn():
    return igraph.Graph.Erdos_Renyi(20, m=30).get_edgelist()


@pytest.mark.parametrize("case", ["in pieces", "large"])
def test_layout_is_the_same_whatever_generator_igraph_has_and_leaves_it(case, igraph_generator):
    G, k = CASES[case]
    graph = kgroups.as_graph(G)
    labels = np.arange(graph.n) * k // graph.n
    xy = force_layout(graph, labels)
    random.seed(11)
    before = drawn()
    random.seed(11)
    assert np.array_equal(force_layout(graph, labels), xy)
    assert drawn() == before
    igraph_generator(None)
    assert np.array_equal(force_layout(graph, labels), xy)
    state = random.getstate()
    drawn()
    assert random.getstate() == state


def test_a_generator_that_the_caller_gave_to_igraph_is_never_replaced(igraph_generator):
    own = random.Random(3)
    igraph_generator(own)
    G, k = CASES["large"]
    graph = kgroups.as_graph(G)
    assert np.isfinite(force_layout(graph, np.arange(graph.n) * k // graph.n)).all()
    before = own.getstate()
    drawn()
    assert own.getstate() != before


@pytest.mark.parametrize("case", ["springs", "in pieces", "large"])
def test_layout_does_not_depend_on_the_order_of_the_nodes(case):
    G, k = CASES[case]
    graph = kgroups.as_graph(G)
    labels = np.arange(graph.n) * k // graph.n
    order = np.random.default_rng(7).permutation(graph.n)
    numbers = np.random.default_rng(8).permutation(k)
    mixed = kgroups.Partition(numbers[labels][order], graph=graph.permuted(order))
    partition = kgroups.Partition(labels, graph=graph)
    shuffled = force_layout(mixed.graph, mixed.labels)
    assert shuffled == pytest.approx(force_layout(graph, partition.labels)[order])


def test_communities_of_large_graphs_are_separate_clouds():
    G, k = CASES["large"]
    graph = kgroups.as_graph(G)
    labels = np.arange(graph.n) * k // graph.n
    xy = force_layout(graph, labels)
    centers = community_centers(graph, labels)
    nearest = np.argmin(np.linalg.norm(xy[:, None] - centers[None], axis=2), axis=1)
    assert np.array_equal(nearest, labels)
    for a in range(k):
        assert np.linalg.norm(xy[labels == a] - centers[a], axis=1).max() <= np.sqrt(60)


def test_discs_do_not_overlap_and_linked_ones_are_near():
    sizes = np.array([400, 100, 100, 50, 50, 1, 1, 1])
    ends, weight = np.array([[1, 3], [2, 4]]), np.array([60.0, 60.0])
    centers = disc_layout(sizes, ends, weight)
    radii = np.sqrt(sizes)
    away = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    gap = away - radii[:, None] - radii[None] + np.diag(np.full(8, np.inf))
    assert gap.min() > 0
    # Linked discs touch, up to the margins of both.
    for a, b in ends:
        assert away[a, b] < 1.15 * (radii[a] + radii[b]) + 2.0


def test_circles_in_one_place_are_pushed_apart():
    rng = np.random.default_rng(0)
    for xy in (np.zeros((40, 2)), rng.random((40, 2))):
        radii = rng.uniform(0.2, 1.5, 40)
        placed = separate(xy, radii)
        away = np.linalg.norm(placed[:, None] - placed[None], axis=2)
        reach = radii[:, None] + radii[None]
        assert (away + np.diag(np.full(40, np.inf)) > 0.97 * reach).all()


def test_circles_that_do_not_overlap_stay():
    xy = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    assert np.array_equal(separate(xy, np.array([1.0, 1.0, 2.0])), xy)
