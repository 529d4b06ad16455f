"""Cuts and components through the networkx backend: networkx's values, types and errors."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from helpers.backend_parity import assert_declined, assert_parity
from helpers.strategies_backends import UNDIRECTED, cases

WEIGHTS = st.sampled_from([None, "weight", "absent"])


def subsets(data, graph):
    names = st.sampled_from([*graph, "stranger"])
    form = data.draw(st.sampled_from([set, list, frozenset]))
    return form(data.draw(st.lists(names, max_size=8)))


@given(cases(), WEIGHTS, st.data())
def test_volume(case, weight, data):
    assert_parity(nx.volume, case.graph, subsets(data, case.graph), weight)


@given(cases(), WEIGHTS, st.data())
def test_cut_size_between_any_two_sets(case, weight, data):
    S, T = subsets(data, case.graph), subsets(data, case.graph)
    assert_parity(nx.cut_size, case.graph, S, T, weight)


@given(cases(UNDIRECTED), WEIGHTS, st.data())
def test_cut_size_of_one_set(case, weight, data):
    assert_parity(nx.cut_size, case.graph, subsets(data, case.graph), None, weight)


@given(cases(), WEIGHTS, st.data())
def test_conductance(case, weight, data):
    S = subsets(data, case.graph)
    assert_parity(nx.conductance, case.graph, S, None, weight)
    assert_parity(nx.conductance, case.graph, S, subsets(data, case.graph), weight)


@given(cases(UNDIRECTED))
def test_connected_components_in_the_order_of_networkx(case):
    assert_parity(nx.connected_components, case.graph)
    assert_parity(nx.number_connected_components, case.graph)
    assert_parity(nx.is_connected, case.graph)


@given(cases(UNDIRECTED), st.data())
def test_node_connected_component(case, data):
    node = data.draw(st.sampled_from([*case.graph, "stranger"]))
    assert_parity(nx.node_connected_component, case.graph, node)


def test_what_is_no_collection_of_nodes_is_left_to_networkx():
    G = nx.path_graph(4)
    assert_declined(nx.volume, G, 1)
    assert_declined(nx.volume, G, None)
    assert_declined(nx.volume, G, [[1]])
    assert_declined(nx.cut_size, G, iter([1, 2]))


def test_a_directed_cut_without_a_second_set_is_left_to_networkx():
    assert_declined(nx.cut_size, nx.DiGraph([(0, 1)]), {0})
