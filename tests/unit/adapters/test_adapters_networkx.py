"""networkx in: names, attributes, errors, and a structure that is never stale."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest

from helpers import oracles_adapters as oracles
from kgroups.adapters import as_graph
from kgroups.errors import DirectedGraphError, WeightError


def matches(G, **options):
    graph = as_graph(G, **options)
    oracles.assert_well_formed(graph)
    weight = options.get("weight", "weight")
    return list(graph.nodes) == list(G) and np.array_equal(
        graph.to_scipy().toarray(), nx.to_numpy_array(G, weight=weight)
    )


@pytest.fixture
def karate():
    return nx.karate_club_graph()


@pytest.mark.parametrize(
    "names",
    [
        range(4),
        [3, 1, 0, 2],
        [10**15, -5, 0, 7],
        [2**80, 1, 2, 3],
        [np.int64(5), np.int64(6), 7, True],
        [1.5, 2, "x", (0, 1)],
        [frozenset({1}), "1", 1, b"1"],
        [float("nan"), "b", "c", "d"],
    ],
    ids=repr,
)
def test_any_hashable_names_are_kept(names):
    G = nx.relabel_nodes(nx.path_graph(4), dict(enumerate(names)))
    graph = as_graph(G)
    assert all(one is other or one == other for one, other in zip(graph.nodes, G, strict=True))
    assert np.array_equal(graph.to_scipy().toarray(), nx.to_numpy_array(nx.path_graph(4)))


def test_names_zero_to_n_need_no_list(karate):
    assert as_graph(karate).nodes == range(34)


@pytest.mark.parametrize("weight", ["weight", None])
def test_karate_equals_networkx(karate, weight):
    assert matches(karate, weight=weight)


def test_empty_and_isolated():
    assert as_graph(nx.Graph()).n == 0
    assert as_graph(nx.MultiGraph()).n == 0
    G = nx.empty_graph(3)
    G.add_edge(5, 5)
    assert matches(G)


def test_missing_weights_count_one():
    G = nx.Graph([("a", "b"), ("b", "c", {"weight": 3})])
    assert matches(G)


def test_other_attributes_do_not_make_a_graph_weighted():
    assert as_graph(nx.Graph([(0, 1, {"color": "red"})])).weights is None


def test_edges_of_weight_zero_stay():
    graph = as_graph(nx.Graph([(0, 1, {"weight": 0})]))
    assert graph.m == 1
    assert graph.weights.tolist() == [0, 0]


def test_a_named_weight_that_no_edge_has_lists_what_there_is(karate):
    nx.set_edge_attributes(karate, "x", "kind")
    message = (
        r"got 'cost'; it has 'kind', 'weight'\.\n  Pass the name of one of its edge attributes"
    )
    with pytest.raises(WeightError, match=message):
        as_graph(karate, weight="cost")
    with pytest.raises(WeightError, match="got 'cost'; it has none"):
        as_graph(nx.path_graph(3), weight="cost")
    assert as_graph(nx.empty_graph(3), weight="cost").m == 0


@pytest.mark.parametrize("value", [-1.5, float("nan"), float("inf"), 10**400, "2", None, 1j, [1]])
@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_bad_weights_name_value_and_edge(value, kind):
    G = kind([("cy", "ann", {"weight": 1}), ("ann", "bob", {"weight": value})])
    shown = "got .* on edge \\('ann', 'bob'\\)\\.\n  Remove or transform"
    with pytest.raises(WeightError, match=shown):
        as_graph(G)
    with pytest.raises(WeightError, match=shown):
        as_graph(G.subgraph(["ann", "bob"]))
    assert as_graph(G, weight=None).m == 2


def test_bad_weights_are_counted():
    G = nx.Graph()
    G.add_weighted_edges_from([("ann", "bob", -1.5), ("ann", "cy", -2), ("bob", "cy", -3)])
    message = r"must be finite and >= 0, got -1\.5 on edge \('ann', 'bob'\) \(and 2 more\)"
    with pytest.raises(WeightError, match=message):
        as_graph(G)


def test_weights_that_are_numbers_of_any_kind_are_read():
    from decimal import Decimal
    from fractions import Fraction

    G = nx.Graph()
    values = [np.float32(0.5), Decimal("0.5"), Fraction(1, 2), True, np.int8(2)]
    G.add_weighted_edges_from([(0, i, value) for i, value in enumerate(values, 1)])
    assert as_graph(G).to_scipy()[[0], :].toarray().tolist() == [[0, 0.5, 0.5, 0.5, 1, 2]]


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_directed_graphs_name_the_ways_on(kind):
    D = kind([(0, 1), (1, 0), (1, 2), (2, 2)])
    message = r'got a directed networkx \w*DiGraph(.|\n)*symmetrize="sum"(.|\n)*symmetrize="union"'
    with pytest.raises(DirectedGraphError, match=message + r"(.|\n)*G\.to_undirected\(\)"):
        as_graph(D)
    assert as_graph(D, symmetrize="sum").to_scipy().toarray().tolist() == [
        [0, 2, 0],
        [2, 0, 1],
        [0, 1, 1],
    ]
    assert as_graph(D, symmetrize="union").weights is None
    assert as_graph(D, symmetrize="union").m == 3


def test_parallel_edges_sum_weights_and_count():
    G = nx.MultiGraph([(0, 1, {"weight": 2}), (1, 0), (1, 2)])
    graph = as_graph(G)
    assert graph.to_scipy()[0, 1] == 3
    assert graph.multiplicity.tolist() == [2, 2, 1, 1]
    assert as_graph(G, weight=None).to_scipy()[0, 1] == 2


def test_a_multigraph_without_parallel_edges_is_a_plain_graph(karate):
    graph = as_graph(nx.MultiGraph(karate), weight=None)
    assert graph.multiplicity is None
    assert graph.weights is None
    assert as_graph(nx.MultiGraph([(0, 1, {"weight": 1.0})])).weights is None


class CountingDict(dict):
    """A dict of another type."""


class OtherFactories(nx.Graph):
    adjlist_inner_dict_factory = CountingDict


class OnlyEvenNodes(nx.Graph):
    """A subclass that shows less than it stores."""

    def __iter__(self):
        return (node for node in self._node if node % 2 == 0)

    @property
    def edges(self):
        return nx.Graph(self._adj).subgraph(list(self)).edges


def test_subclasses_and_views_are_read_as_they_show_themselves(karate):
    assert matches(OtherFactories(karate))
    assert list(as_graph(OnlyEvenNodes(karate)).nodes) == list(range(0, 34, 2))
    assert matches(nx.subgraph_view(karate, filter_edge=lambda u, v: (u + v) % 2))
    assert matches(karate.to_directed(as_view=True).to_undirected(as_view=True))
    assert matches(nx.freeze(karate.copy()))


def changes():
    def weight_in_place(G):
        G[0][1]["weight"] = 9.5

    def relabel(G):
        nx.relabel_nodes(G, {0: "zero"}, copy=False)

    def swap_edges(G):
        G.remove_edge(0, 1)
        G.add_edge(9, 16)

    return [
        lambda G: G.add_edge(0, 9),
        lambda G: G.add_edge(0, "new", weight=2),
        lambda G: G.remove_edge(0, 1),
        lambda G: G.add_node("alone"),
        lambda G: G.remove_node(0),
        lambda G: G.add_edges_from([(3, 3)]),
        lambda G: G.remove_nodes_from([0, 33]),
        lambda G: G.clear_edges(),
        lambda G: G.clear(),
        lambda G: G.update(nx.path_graph(40)),
        weight_in_place,
        relabel,
        swap_edges,
    ]


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@pytest.mark.parametrize("change", changes())
def test_no_change_of_a_converted_graph_is_missed(karate, kind, change):
    G = kind(karate)
    as_graph(G)
    if not (kind is nx.MultiGraph and change.__name__ == "weight_in_place"):
        change(G)
    else:
        G[0][1][0]["weight"] = 9.5
    expected = nx.to_numpy_array(G) if len(G) else np.zeros((0, 0))
    for _ in range(2):
        graph = as_graph(G)
        assert list(graph.nodes) == list(G)
        assert np.array_equal(graph.to_scipy().toarray(), expected)


def test_entries_that_come_behind_the_back_of_networkx_are_noticed(karate):
    as_graph(karate)
    karate._adj[0][9] = karate._adj[9][0] = {}
    assert matches(karate)


def fail(edit, *given):
    """Edit a graph by a list whose end is no edge or node, so that networkx stops half-way."""
    with pytest.raises((TypeError, nx.NetworkXError)):
        edit(given)


def swap_one_edge(G):
    fail(G.remove_edges_from, (0, 1), 3)
    fail(G.add_edges_from, (0, 4), 3)


def keep_all_degrees(G):
    fail(G.remove_edges_from, (0, 1), (3, 4), 3)
    fail(G.add_edges_from, (0, 3), (1, 4), 3)


def rename_a_node(G):
    fail(G.remove_nodes_from, 4, [])
    fail(G.add_edges_from, (3, "new"), 3)


@pytest.mark.parametrize("change", [swap_one_edge, keep_all_degrees, rename_a_node])
def test_bulk_edits_that_failed_half_way_with_equal_counts_are_noticed(change):
    G = nx.path_graph(5)
    as_graph(G)
    before = len(G), G.number_of_edges()
    change(G)
    assert (len(G), G.number_of_edges()) == before
    for _ in range(2):
        graph = as_graph(G)
        assert list(graph.nodes) == list(G)
        assert np.array_equal(graph.to_scipy().toarray(), nx.to_numpy_array(G))


def test_views_follow_their_parent(karate):
    view = karate.subgraph(range(10))
    as_graph(view)
    karate.remove_edge(0, 1)
    assert matches(view)


@pytest.mark.parametrize(
    "twin_of",
    [nx.Graph.copy, copy.copy, copy.deepcopy, lambda G: pickle.loads(pickle.dumps(G))],
    ids=["Graph.copy", "copy", "deepcopy", "pickle"],
)
def test_twins_of_converted_graphs_go_their_own_way(karate, twin_of):
    as_graph(karate)
    twin = twin_of(karate)
    assert matches(twin)
    twin.remove_edge(0, 1)
    assert matches(twin)
    assert matches(karate)
