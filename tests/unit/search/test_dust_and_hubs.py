"""Large components beside dust, hubs with leaves, and graphs of nothing but small components."""

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups.generators import planted_partition
from kgroups.metrics import nmi

pytestmark = pytest.mark.compiled


def with_edges(graph, source, target):
    u, v, _ = graph.edges()
    return kg.Graph.from_edges(np.concatenate([u, source]), np.concatenate([v, target]))


@pytest.mark.parametrize("pairs", [5_000, 50_000])
def test_lone_edges_do_not_hide_the_communities_of_a_large_component(pairs):
    graph, truth = planted_partition(3_000, k=6, degree=15.0, snr=2.0, rng=0)
    ends = graph.n + 2 * np.arange(pairs)
    alone = kg.detect_communities(graph)
    beside = kg.detect_communities(with_edges(graph, ends, ends + 1))
    assert len(beside) == len(alone) + pairs
    assert nmi(alone.labels, beside.labels[: graph.n]) == pytest.approx(1.0)
    assert nmi(truth, alone.labels) > 0.9


@pytest.mark.parametrize(
    ("leaves", "k", "least"),
    [
        (2_000, None, 0.98),
        (20_000, None, 0.98),
        # With k given the hub has one community to itself, which two of the others pay for.
        (2_000, 30, 0.95),
        pytest.param(20_000, 30, 0.95, marks=pytest.mark.slow),
    ],
)
def test_leaves_go_with_their_hub(leaves, k, least):
    graph, truth = planted_partition(6_000, k=30, degree=15.0, snr=2.5, rng=0)
    starred = with_edges(graph, np.zeros(leaves, dtype=int), graph.n + np.arange(leaves))
    partition = kg.detect_communities(starred, k)
    assert nmi(truth, partition.labels[: graph.n]) > least
    assert np.all(partition.labels[graph.n :] == partition.labels[0])
    # The hub is a community of its own, with its leaves.
    assert len(partition) == k or 30 <= len(partition) <= 32


def test_many_equal_components_are_counted_together():
    G = nx.disjoint_union_all([nx.barbell_graph(3, 0)] * 300)
    partition = kg.detect_communities(G)
    assert len(partition) == 600
    assert partition.known_spectrum is None
    assert [component.k for component in partition.report.components] == [2, 2, 2]


def test_large_trees_are_one_community_and_can_be_cut():
    tree = nx.random_labeled_tree(5_000, seed=0)
    assert len(kg.detect_communities(tree)) == 1
    assert len(kg.detect_communities(tree, 7)) == 7


def test_a_search_reports_what_was_given():
    graph, _ = planted_partition(2_000, k=4, degree=10.0, snr=2.0, rng=0)
    largest = nx.node_connected_component(graph.to_networkx(), 0)
    connected = kg.as_graph(graph.to_networkx().subgraph(sorted(largest)).copy())
    report = kg.detect_communities(connected, 1).report
    assert report.about_k().startswith("1 community, as requested")
