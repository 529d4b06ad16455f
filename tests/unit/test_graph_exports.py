"""A Graph handed to networkx and igraph: names, weights and edges kept."""

import networkx as nx
import numpy as np
import pytest

from kgroups.adapters import as_graph
from kgroups.graph import Graph

CASES = [
    nx.karate_club_graph(),
    nx.les_miserables_graph(),
    nx.Graph([("ann", "bob"), ("bob", "bob")]),
    nx.empty_graph(3),
    nx.empty_graph(0),
    nx.Graph([((0, 1), (1, 1)), ((1, 1), (2, 0))]),
]


@pytest.mark.parametrize("G", CASES)
def test_networkx_graphs_come_back(G):
    back = as_graph(G).to_networkx()
    assert list(back) == list(as_graph(G).nodes)
    assert {frozenset(edge) for edge in back.edges} == {frozenset(edge) for edge in G.edges}
    for u, v, weight in G.edges(data="weight"):
        assert back[u][v].get("weight") == weight


@pytest.mark.parametrize("G", CASES)
def test_igraph_graphs_come_back(G):
    graph = as_graph(G)
    back = as_graph(graph.to_igraph())
    assert tuple(back.nodes) == tuple(graph.nodes)
    assert (back.to_scipy() != graph.to_scipy()).nnz == 0


def test_numbered_nodes_get_no_names_in_igraph():
    g = Graph.from_edges([0, 1], [1, 2]).to_igraph()
    assert g.vs.attributes() == []
    assert g.es.attributes() == []


def test_parallel_edges_become_one_with_their_sum():
    graph = Graph.from_edges([0, 0, 1], [1, 1, 2])
    assert graph.to_networkx()[0][1]["weight"] == 2.0
    assert sorted(graph.to_igraph().es["weight"]) == [1.0, 2.0]


def test_node_numbers_in_networkx_are_plain():
    G = Graph.from_edges(np.array([0]), np.array([1])).to_networkx()
    assert {type(node) for node in G} == {int}
