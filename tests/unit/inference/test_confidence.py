"""Confidence of partitions: both methods, several components, weights, isolated nodes."""

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.strategies_levels import graph_of
from kgroups.errors import InputError, PartitionError
from kgroups.inference.confidence import confidence_of_labels
from kgroups.search import prepare

KARATE = nx.karate_club_graph()
METHODS = {"belief propagation": 5e7, "Gibbs sampling": 0.0}


@pytest.fixture(params=METHODS)
def most(request):
    return METHODS[request.param]


def test_the_number_of_messages_decides_on_the_method():
    z = np.arange(34) % 2
    for method, most_messages in METHODS.items():
        found = confidence_of_labels(prepare(graph_of(KARATE)), z, most_messages=most_messages)
        assert found.method == method
        assert found.converged


def test_both_methods_agree():
    partition = kg.detect_communities(KARATE, 2, weight=None)
    one, other = (
        confidence_of_labels(prepare(partition.graph), partition.labels, most_messages=most)
        for most in METHODS.values()
    )
    assert np.abs(one.own - other.own).mean() < 0.03
    assert np.abs(one.own - other.own).max() < 0.15
    assert one.runner_up.tolist() == other.runner_up.tolist() == (1 - partition.labels).tolist()
    assert one.own + one.runner_up_probability == pytest.approx(np.ones(34), abs=1e-9)


def test_clear_communities_are_sure_and_a_bridge_is_not(most):
    G = nx.barbell_graph(8, 1)
    z = np.array([0] * 8 + [0] + [1] * 8)
    found = confidence_of_labels(prepare(graph_of(G)), z, most_messages=most)
    assert np.argmin(found.own) == 8
    assert np.delete(found.own, 8).min() > found.own[8] + 0.1


def test_a_node_in_the_wrong_community_is_unsure(most):
    G = nx.planted_partition_graph(3, 20, 0.7, 0.05, seed=0)
    z = np.repeat(np.arange(3), 20)
    z[0] = 2
    found = confidence_of_labels(prepare(graph_of(G)), z, most_messages=most)
    assert found.own[0] < 0.05
    assert found.runner_up[0] == 0
    assert found.runner_up_probability[0] > 0.95


def test_neither_names_nor_order_matter(most):
    """Nodes have names, so that the canonical order is the same."""
    G = nx.empty_graph(36)
    G.add_edges_from(nx.planted_partition_graph(3, 12, 0.6, 0.1, seed=3).edges)
    rng = np.random.default_rng(0)
    H = nx.Graph()
    H.add_nodes_from(rng.permutation(36).tolist())
    H.add_edges_from(G.edges)
    z = np.repeat(np.arange(3), 12)
    one = confidence_of_labels(prepare(kg.as_graph(G)), z, most_messages=most)
    names, nodes = np.array([2, 0, 1]), np.array(list(H))
    other = confidence_of_labels(prepare(kg.as_graph(H)), names[z[nodes]], most_messages=most)
    assert other.own == pytest.approx(one.own[nodes], abs=1e-12)
    assert other.runner_up.tolist() == names[one.runner_up[nodes]].tolist()


def test_a_node_without_edges_has_the_share_of_its_community(most):
    """Uneven degrees: a node without edges has no propensity, and only the prior is left."""
    G = nx.disjoint_union(KARATE, nx.empty_graph(2))
    z = np.append(kg.detect_communities(KARATE, 2, weight=None).labels, [0, 1])
    found = confidence_of_labels(prepare(graph_of(G)), z, most_messages=most)
    assert found.own[34] + found.own[35] == pytest.approx(1.0, abs=0.15)
    assert found.own[34:].max() < 0.7


def test_components_are_sure(most):
    G = nx.disjoint_union_all([nx.complete_graph(6), nx.complete_graph(5), nx.cycle_graph(5)])
    partition = kg.detect_communities(G)
    found = confidence_of_labels(prepare(partition.graph), partition.labels, most_messages=most)
    assert partition.k == 3
    assert found.own.tolist() == [1.0] * 16
    assert found.runner_up_probability.tolist() == [0.0] * 16
    assert found.runner_up.tolist() == [1] * 6 + [0] * 10
    assert found.method == "whole components"


def test_other_components_change_no_confidence(most):
    """Issue 30: single nodes had a confidence of 0.005, small components one of 0.016."""
    alone = kg.detect_communities(KARATE, weight=None)
    before = confidence_of_labels(prepare(alone.graph), alone.labels, most_messages=most)
    G = nx.disjoint_union_all([nx.empty_graph(20), KARATE, nx.complete_graph(5), nx.path_graph(2)])
    G.add_edge(0, 0)
    partition = kg.detect_communities(G, weight=None)
    inside = [partition.nodes.index(20 + node) for node in alone.nodes]
    outside = np.setdiff1d(np.arange(len(G)), inside)
    found = confidence_of_labels(prepare(partition.graph), partition.labels, most_messages=most)
    assert partition.k == alone.k + 22
    assert found.own[inside].tolist() == before.own.tolist()
    assert found.runner_up_probability[inside].tolist() == before.runner_up_probability.tolist()
    assert (partition.labels[inside] == alone.labels).all()
    assert found.runner_up[inside].tolist() == before.runner_up.tolist()
    assert found.own[outside].tolist() == [1.0] * outside.size
    assert found.runner_up[outside].tolist() == [0] * outside.size
    assert set(partition.boundary(1.0)) <= {20 + node for node in KARATE}


def test_a_community_of_several_components_is_not_certain_for_that(most):
    G = nx.disjoint_union(KARATE, nx.empty_graph(2))
    z = np.append(kg.detect_communities(KARATE, 2, weight=None).labels, [0, 0])
    found = confidence_of_labels(prepare(graph_of(G)), z, most_messages=most)
    assert found.own[34:].max() < 0.9
    assert (
        confidence_of_labels(prepare(graph_of(G)), np.repeat([0, 1], [34, 2])).own.tolist()
        == [1.0] * 36
    )


def test_weights_matter_but_their_scale_does_not(most):
    G = nx.barbell_graph(6, 1)
    heavy = [3.0 if {u, v} == {5, 6} else 1.0 for u, v in G.edges]
    z = np.array([0] * 7 + [1] * 6)
    plain, bound, scaled = (
        confidence_of_labels(prepare(graph_of(G, weights=weights)), z, most_messages=most).own
        for weights in (None, np.array(heavy), 7.0 * np.array(heavy))
    )
    assert bound[6] > plain[6] + 0.1
    assert scaled == pytest.approx(bound, abs=1e-4)


@pytest.mark.parametrize("G", [nx.empty_graph(0), nx.empty_graph(3), nx.path_graph(4)])
def test_one_community_is_certain(G):
    partition = kg.Partition([0] * len(G), graph=graph_of(G))
    assert partition.confidence().tolist() == [1.0] * len(G)
    assert partition.runner_up().tolist() == [-1] * len(G)
    assert partition.boundary(1.0) == ()


def test_singletons_without_edges():
    partition = kg.Partition([0, 1, 2], graph=graph_of(nx.empty_graph(3)))
    assert partition.confidence().tolist() == [1.0] * 3
    assert partition.runner_up().tolist() == [1, 0, 0]


def test_a_partition_keeps_its_confidence():
    partition = kg.detect_communities(KARATE)
    first = partition.confidence()
    assert first is partition.confidence()
    assert not first.flags.writeable
    assert not partition.runner_up().flags.writeable


def test_progress_reaches_the_end(most):
    seen = []
    z = np.arange(34) % 2
    confidence_of_labels(
        prepare(graph_of(KARATE)),
        z,
        most_messages=most,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_the_boundary_has_names_the_least_sure_first():
    G = nx.relabel_nodes(nx.barbell_graph(8, 1), lambda i: f"node {i:02}")
    partition = kg.detect_communities(G, 2)
    sure = dict(zip(partition.nodes, partition.confidence(), strict=True))
    everyone = partition.boundary(1.0)
    assert everyone[0] == "node 08"
    assert [sure[name] for name in everyone] == sorted(sure[name] for name in everyone)
    assert partition.boundary(0.0) == ()
    assert set(partition.boundary(0.9)) == {name for name in sure if sure[name] < 0.9}


@pytest.mark.parametrize("threshold", [-0.1, 1.5, "half", None])
def test_the_threshold_is_checked(threshold):
    with pytest.raises(InputError, match="threshold"):
        kg.detect_communities(KARATE).boundary(threshold)


def test_confidence_needs_the_graph():
    with pytest.raises(PartitionError, match=r"confidence\(\) needs the graph"):
        kg.Partition([0, 1, 1]).confidence()
