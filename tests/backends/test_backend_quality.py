"""Qualities of partitions through the networkx backend: networkx's own values and types."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms.community import quality

from helpers.backend_parity import assert_declined, assert_parity
from helpers.strategies_backends import almost_partitioned, partitioned

SIMPLE = (nx.Graph,)


@given(partitioned(), st.sampled_from(["weight", None, "absent"]), st.sampled_from([1, 0.5, 2, 0]))
def test_modularity(drawn, weight, resolution):
    case, blocks = drawn
    assert_parity(nx.community.modularity, case.graph, blocks, weight, resolution)


@given(almost_partitioned())
def test_modularity_of_what_is_no_partition(drawn):
    case, blocks = drawn
    if nx.community.is_partition(case.graph, blocks):
        return
    assert_parity(nx.community.modularity, case.graph, blocks)


@given(partitioned())
def test_partition_quality(drawn):
    case, blocks = drawn
    assert_parity(nx.community.partition_quality, case.graph, blocks)


@given(partitioned(), st.data())
def test_intra_community_edges_of_all_or_some_blocks(drawn, data):
    case, blocks = drawn
    some = data.draw(st.lists(st.sampled_from(blocks), unique_by=id)) if blocks else []
    assert_parity(quality.intra_community_edges, case.graph, some)


@given(partitioned(SIMPLE), st.data())
def test_inter_community_edges_of_all_or_some_blocks(drawn, data):
    case, blocks = drawn
    some = data.draw(st.lists(st.sampled_from(blocks), unique_by=id)) if blocks else []
    assert_parity(quality.inter_community_edges, case.graph, some)


@given(partitioned(SIMPLE))
def test_inter_community_non_edges(drawn):
    case, blocks = drawn
    assert_parity(quality.inter_community_non_edges, case.graph, blocks)


@given(partitioned((nx.MultiGraph,)))
def test_edges_between_blocks_of_multigraphs_are_left_to_networkx(drawn):
    case, blocks = drawn
    assert_declined(quality.inter_community_edges, case.graph, blocks)
    assert_declined(quality.inter_community_non_edges, case.graph, blocks)


def test_networkx_counts_parallel_edges_between_blocks_as_one():
    """The reason for the rule above; if this fails, networkx was mended and the rule can go."""
    G = nx.MultiGraph([(0, 1), (0, 1), (0, 1)])
    assert quality.inter_community_edges(G, [{0}, {1}], backend="networkx") == 1


@pytest.mark.parametrize("value", ["3", None, 1 + 2j, np.float32(2), True, [1]])
def test_weights_that_are_no_ints_or_floats_are_left_to_networkx(value):
    G = nx.Graph()
    G.add_edge(0, 1, weight=value)
    assert_declined(nx.community.modularity, G, [{0}, {1}])


def test_weights_beyond_64_bits_are_left_to_networkx():
    for weight in (2**80, 2**62):
        G = nx.Graph()
        G.add_edge(0, 1, weight=weight)
        assert_declined(nx.community.modularity, G, [{0}, {1}])


def test_overlapping_blocks_are_left_to_networkx():
    G = nx.path_graph(4)
    assert_declined(quality.intra_community_edges, G, [{0, 1}, {1, 2}])
    assert_declined(quality.intra_community_edges, G, [{0, 1}, {9}])


def test_a_block_that_is_itself_a_node_is_left_to_networkx():
    G = nx.Graph([((0, 1), 2), (0, 1)])
    assert_declined(quality.intra_community_edges, G, [(0, 1), (2,)])


def test_no_numpy_number_comes_back():
    G = nx.karate_club_graph()
    halves = [set(range(17)), set(range(17, 34))]
    score = nx.community.modularity(G, halves, resolution=np.float64(2), backend="kgroups")
    assert type(score) is float


def test_unknown_arguments_are_refused_with_the_reason_in_the_log(caplog):
    with caplog.at_level("DEBUG", logger="networkx"):
        assert_declined(nx.community.modularity, nx.path_graph(3), [{0, 1, 2}], color="red")
    assert "unexpected keyword argument 'color'" in caplog.text
