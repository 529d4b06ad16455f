"""Tables, networkx graphs and comparisons of a partition."""

import builtins

import networkx as nx
import numpy as np
import pandas
import pytest

import kgroups
from kgroups import metrics, scoring
from kgroups.errors import InputError, MissingExtraError, PartitionError
from kgroups.partition import Partition


@pytest.fixture
def weighted():
    """Two pairs and a node, a loop of weight 2 on the first, an edge between the pairs."""
    G = nx.Graph()
    G.add_weighted_edges_from([("a", "b", 3.0), ("c", "d", 1.0), ("b", "c", 0.5), ("a", "a", 2.0)])
    G.add_node("e")
    return G, Partition([0, 0, 1, 1, 2], graph=kgroups.as_graph(G))


def test_dataframe_has_a_row_per_node(weighted):
    _, partition = weighted
    frame = partition.to_dataframe()
    assert frame.columns.tolist() == ["node", "community", "degree", "inside"]
    assert frame["node"].tolist() == list("abcde")
    assert frame["community"].tolist() == [0, 0, 1, 1, 2]
    assert frame["degree"].tolist() == [5.0, 3.5, 1.5, 1.0, 0.0]
    assert frame["inside"].tolist() == [5.0, 3.0, 1.0, 1.0, 0.0]


def test_dataframe_has_the_columns_asked_for():
    partition = kgroups.detect_communities(nx.karate_club_graph())
    frame = partition.to_dataframe(["runner_up", "confidence", "node"])
    assert frame.columns.tolist() == ["runner_up", "confidence", "node"]
    assert np.array_equal(frame["confidence"], partition.confidence())
    assert np.array_equal(frame["runner_up"], partition.runner_up())


def test_dataframe_keeps_the_names_of_the_nodes():
    nodes = [("a", 1), "x", 3.5, None]
    frame = Partition([0, 0, 1, 1], nodes=nodes).to_dataframe()
    assert frame["node"].tolist() == nodes
    assert frame.columns.tolist() == ["node", "community"]
    whole = Partition([0, 1], nodes=[10, 20]).to_dataframe()
    assert whole["node"].dtype == np.int64


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["name"], "must be one of 'node', 'community', .*, got 'name'"),
        ("node", "several names of columns, got the text 'node'"),
    ],
)
def test_columns_that_do_not_exist(columns, message):
    with pytest.raises(InputError, match=message):
        Partition([0, 1]).to_dataframe(columns)


def test_columns_that_need_a_graph():
    with pytest.raises(PartitionError, match="the column 'degree' needs the graph"):
        Partition([0, 1]).to_dataframe(["degree"])


def test_dataframe_without_pandas_names_the_extra(monkeypatch):
    real_import = builtins.__import__

    def without_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(MissingExtraError, match=r'pandas. .*pip install "\.\[study\]"'):
        Partition([0, 1]).to_dataframe()


def test_to_networkx_is_the_graph_with_communities(weighted):
    G, partition = weighted
    H = partition.to_networkx()
    assert nx.utils.graphs_equal(nx.Graph(H.edges(data=True)), nx.Graph(G.edges(data=True)))
    assert dict(H.nodes(data="community")) == partition.membership
    assert dict(partition.to_networkx("group").nodes(data="group")) == partition.membership
    assert "community" not in G.nodes["a"]


def test_quotient_graph_holds_sizes_and_links(weighted):
    Q = weighted[1].quotient_graph()
    assert dict(Q.nodes(data=True)) == {
        0: {"size": 2, "inside": 5.0, "edges": 2},
        1: {"size": 2, "inside": 1.0, "edges": 1},
        2: {"size": 1, "inside": 0.0, "edges": 0},
    }
    assert list(Q.edges(data=True)) == [(0, 1, {"weight": 0.5, "edges": 1})]


def test_quotient_graph_agrees_with_networkx():
    karate = nx.karate_club_graph()
    partition = kgroups.detect_communities(karate, k=4)
    theirs = nx.quotient_graph(karate, list(partition), relabel=True)
    ours = partition.quotient_graph()
    assert {frozenset(e): w for *e, w in ours.edges(data="weight")} == {
        frozenset(e): w for *e, w in theirs.edges(data="weight")
    }
    assert dict(ours.nodes(data="size")) == dict(theirs.nodes(data="nnodes"))


def test_quotient_graph_counts_parallel_edges():
    G = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (1, 2), (1, 2)])
    Q = Partition([0, 0, 1], graph=kgroups.as_graph(G)).quotient_graph()
    assert Q.edges[0, 1] == {"weight": 3.0, "edges": 3}
    assert Q.nodes[0] == {"size": 2, "inside": 2.0, "edges": 2}


def test_summary_agrees_with_networkx_and_scores():
    G = nx.karate_club_graph()
    partition = kgroups.detect_communities(G, k=3)
    rows = partition.summary()
    assert [row["nodes"] for row in rows] == partition.sizes.tolist()
    assert [row["conductance"] for row in rows] == scoring.conductance(G, partition).tolist()
    for row, community in zip(rows, partition, strict=True):
        inside = G.subgraph(community)
        assert row["inside"] == inside.size("weight")
        assert row["outside"] == nx.cut_size(G, community, weight="weight")
        assert row["density"] == pytest.approx(nx.density(inside))
        strength = dict(inside.degree(weight="weight"))
        assert strength[row["hub"]] == max(strength.values())
    assert len(pandas.DataFrame(rows)) == 3


def test_summary_of_nothing():
    assert Partition([]).summary() == []
    assert Partition([], graph=kgroups.as_graph(nx.empty_graph(0))).summary() == []


@pytest.mark.parametrize("method", ["to_networkx", "quotient_graph"])
def test_methods_that_need_a_graph(method):
    with pytest.raises(PartitionError, match=rf"{method}\(\) needs the graph"):
        getattr(Partition([0, 1]), method)()


def test_comparison_has_the_metrics():
    graph, truth = kgroups.generators.planted_partition(120, 11, 11.0, 1.6, rng=0)
    partition = kgroups.detect_communities(graph)
    assert metrics.ami(partition.labels, truth) < 1.0
    comparison = partition.compare(truth)
    for name in ("ami", "nmi", "ari", "variation_of_information"):
        expected = getattr(metrics, name)(partition.labels, truth)
        assert getattr(comparison, name) == pytest.approx(expected)
    assert comparison.matched == pytest.approx(metrics.accuracy(partition.labels, truth))


OTHERS = [
    Partition([0, 1, 1, 1], nodes=list("dcba")),
    {"d": "x", "a": "y", "b": "y", "c": "y"},
    [{"d"}, {"a", "b", "c"}],
    [5, 5, 5, 7],
]


@pytest.mark.parametrize("other", OTHERS, ids=["partition", "dict", "sets", "labels"])
def test_other_partitions_in_any_form_are_matched_by_name(other):
    comparison = Partition([0, 0, 1, 1], nodes=list("abcd")).compare(other)
    assert comparison.other.labels.tolist() == [0, 0, 0, 1]
    assert comparison.flows() == [
        {"community": 0, "other": 0, "nodes": 2},
        {"community": 1, "other": 0, "nodes": 1},
        {"community": 1, "other": 1, "nodes": 1},
    ]
    assert comparison.matched == 0.75
    sides = "2 communities against 1 community and 1 single node"
    assert repr(comparison).startswith(f"Comparison({sides} of 4 nodes: AMI")


def test_comparison_plots_its_flows():
    comparison = Partition([0, 0, 1, 1]).compare([0, 0, 0, 1])
    axes = comparison.plot(names=("before", "after"), title="change")
    assert [text.get_text() for text in axes.texts] == ["0", "1", "0", "1", "before", "after"]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ([0, 1], "one entry per node of the partition: 3 expected, got 2"),
        ({"a": 0, "b": 1}, "every node of the one that it is compared with, but node 'c' is in no"),
        ({"a": 0, "b": 1, "z": 1}, "'z'"),
    ],
)
def test_comparisons_of_different_nodes(other, message):
    with pytest.raises(PartitionError, match=message):
        Partition([0, 0, 1], nodes=list("abc")).compare(other)
