"""Scores equal networkx wherever networkx is defined, on graphs of every kind."""

from dataclasses import astuple

import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgroups as kg
from helpers.strategies_scoring import partitioned_graphs
from kgroups import scoring

HUNDREDS = settings(max_examples=400)
WEIGHT = st.sampled_from(["weight", None])


def close(value):
    return pytest.approx(value, rel=0, abs=1e-12)


def total_weight(graph, weight):
    return graph.size(weight=weight)


def performance_without_loops(graph, blocks):
    """networkx's value, which has the number of edges in a denominator that must not be 0."""
    simple = nx.Graph(graph)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    n = len(simple)
    if simple.number_of_edges() == 0:
        return (n * n - sum(len(block) ** 2 for block in blocks)) / (n * (n - 1))
    performance = nx.community.partition_quality(simple, blocks)[1]
    assert performance <= 1.0
    return performance


@HUNDREDS
@given(partitioned_graphs(kinds=(nx.Graph,), min_nodes=2))
def test_performance_and_coverage_equal_networkx(case):
    graph, blocks = case
    if graph.number_of_edges() == 0:
        graph.add_edge(*list(graph)[:2])
    coverage, _ = nx.community.partition_quality(graph, blocks)
    assert scoring.coverage(graph, blocks) == close(coverage)
    assert scoring.performance(graph, blocks) == close(performance_without_loops(graph, blocks))


@HUNDREDS
@given(partitioned_graphs(kinds=(nx.MultiGraph,), min_nodes=2))
def test_multigraph_coverage_equals_networkx_and_performance_that_of_distinct_pairs(case):
    graph, blocks = case
    if graph.number_of_edges() == 0:
        graph.add_edge(*list(graph)[:2])
    coverage, _ = nx.community.partition_quality(graph, blocks)
    performance = performance_without_loops(nx.Graph(graph), blocks)
    assert scoring.coverage(graph, blocks) == close(coverage)
    assert scoring.performance(graph, blocks) == close(performance)


@HUNDREDS
@given(partitioned_graphs(), WEIGHT, st.sampled_from([1.0, 0.5, 2, 0.0, -1.0]))
def test_modularity_equals_networkx(case, weight, resolution):
    graph, blocks = case
    ours = scoring.modularity(graph, blocks, weight=weight, resolution=resolution)
    if total_weight(graph, weight) == 0:
        assert ours == 0.0
    else:
        theirs = nx.community.modularity(graph, blocks, weight=weight, resolution=resolution)
        assert ours == close(theirs)


@HUNDREDS
@given(partitioned_graphs(), WEIGHT)
def test_conductance_equals_networkx(case, weight):
    graph, blocks = case
    ours = scoring.conductance(graph, blocks, weight=weight)
    assert ours.shape == (len(blocks),)
    for block, value in zip(blocks, ours, strict=True):
        try:
            theirs = nx.conductance(graph, block, weight=weight)
        except ZeroDivisionError:
            theirs = 0.0
        assert value == close(theirs)


@HUNDREDS
@given(partitioned_graphs(), WEIGHT)
def test_cut_size_equals_networkx(case, weight):
    graph, blocks = case
    ours = scoring.cut_size(graph, blocks, weight=weight)
    theirs = sum(nx.cut_size(graph, block, weight=weight) for block in blocks) / 2
    assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)


@HUNDREDS
@given(partitioned_graphs(), WEIGHT)
def test_all_scores_at_once_equal_each_alone(case, weight):
    graph, blocks = case
    result = scoring.scores(graph, blocks, weight=weight, resolution=1.5)
    conductance = scoring.conductance(graph, blocks, weight=weight)
    assert result.k == len(blocks) == len(result.sizes)
    assert result.sizes == tuple(sorted(map(len, blocks), reverse=True))
    assert result.performance == scoring.performance(graph, blocks)
    assert result.coverage == scoring.coverage(graph, blocks)
    assert result.modularity == scoring.modularity(graph, blocks, weight=weight, resolution=1.5)
    assert result.cut_size == scoring.cut_size(graph, blocks, weight=weight)
    assert result.max_conductance == max(conductance, default=0.0)
    assert result.mean_conductance == (np.mean(conductance) if len(blocks) else 0.0)


@given(partitioned_graphs())
def test_every_form_of_graph_and_partition_scores_alike(case):
    graph, blocks = case
    label = {node: a for a, block in enumerate(blocks) for node in block}
    expected = scoring.scores(graph, blocks)
    converted = kg.as_graph(graph)
    assert scoring.scores(converted, blocks) == expected
    assert scoring.scores(converted, label) == expected
    assert scoring.scores(converted, [label[node] for node in graph]) == expected


@given(partitioned_graphs())
def test_igraph_twin_scores_alike(case):
    graph, blocks = case
    label = {node: a for a, block in enumerate(blocks) for node in block}
    place = {node: i for i, node in enumerate(graph)}
    twin = igraph.Graph(len(place), [(place[u], place[v]) for u, v in graph.edges()])
    twin.es["weight"] = [weight for _, _, weight in graph.edges(data="weight", default=1)]
    clustering = igraph.VertexClustering(twin, membership=[label[node] for node in graph])
    expected, twin_scores = scoring.scores(graph, blocks), scoring.scores(twin, clustering)
    assert twin_scores.sizes == expected.sizes
    assert astuple(twin_scores)[:-1] == pytest.approx(astuple(expected)[:-1], rel=1e-12, abs=1e-12)


@given(partitioned_graphs(), st.floats(1e-6, 1e6))
def test_scaling_all_weights_scales_the_cut_and_nothing_else(case, factor):
    graph, blocks = case
    before = scoring.scores(graph, blocks)
    for _, _, data in graph.edges(data=True):
        data["weight"] = data.get("weight", 1) * factor
    after = scoring.scores(graph, blocks)
    assert after.modularity == close(before.modularity)
    assert after.max_conductance == close(before.max_conductance)
    assert after.coverage == before.coverage
    assert after.cut_size == pytest.approx(factor * before.cut_size, rel=1e-12)


@given(partitioned_graphs())
def test_weighted_coverage_is_the_share_of_weight_inside(case):
    graph, blocks = case
    total = total_weight(graph, "weight")
    cut = scoring.cut_size(graph, blocks)
    expected = 1 - cut / total if total else 1.0
    assert scoring.coverage(graph, blocks, weight="weight") == close(expected)
