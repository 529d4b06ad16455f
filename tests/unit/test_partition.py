"""Partition as a sequence of sets that other libraries take as it is."""

import copy
import json
import pickle
import subprocess
import sys

import igraph
import networkx as nx
import numpy as np
import pytest

from kgroups.errors import InputError, PartitionError
from kgroups.graph import Graph
from kgroups.partition import Partition

NAMES = ("ann", "bob", "cat", "dan", "eve", "fay")


@pytest.fixture
def six():
    """Two bridged triangles under names, with a graph and weights."""
    graph = Graph.from_edges(
        [0, 0, 1, 2, 3, 3, 4],
        [1, 2, 2, 3, 4, 5, 5],
        [2.0, 2.0, 2.0, 0.5, 1.0, 1.0, 1.0],
        nodes=list(NAMES),
    )
    return Partition([5, 5, 5, 2, 2, 2], graph=graph)


@pytest.fixture
def karate():
    G = nx.karate_club_graph()
    clubs = nx.get_node_attributes(G, "club")
    labels = [int(clubs[node] == "Officer") for node in G]
    return G, Partition(labels, list(G))


def test_communities_are_sets_of_the_callers_own_objects():
    names = [("a", 1), frozenset({2}), "three", 4]
    partition = Partition([1, 0, 1, 1], names)
    assert list(partition) == [{("a", 1), "three", 4}, {frozenset({2})}]
    (only,) = partition[1]
    assert only is names[1]


def test_largest_first_and_ties_by_least_name():
    partition = Partition([9, 4, 4, 7, 7, 7, 9, 1], "abcdefgh")
    assert [sorted(community) for community in partition] == [
        ["d", "e", "f"],
        ["a", "g"],
        ["b", "c"],
        ["h"],
    ]
    assert partition.labels.tolist() == [1, 2, 2, 0, 0, 0, 1, 3]
    assert partition.labels.dtype == np.int64
    assert partition.sizes.tolist() == [3, 2, 2, 1]
    assert partition.k == len(partition) == 4


def test_ties_among_unnamed_nodes_go_to_the_first_node():
    assert Partition([5, 5, 2, 2, 0]).labels.tolist() == [0, 0, 1, 1, 2]
    assert Partition([0, 1, 2], range(3, 0, -1)).labels.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["b", 1, "a", 0], id="mixed types"),
        pytest.param([frozenset("b"), frozenset("c"), frozenset("a"), frozenset("d")], id="sets"),
        pytest.param([2.0, float("nan"), 1.0, 3.0], id="nan"),
        pytest.param([2j, 1j, 0j, 3j], id="complex"),
    ],
)
def test_ties_among_names_that_cannot_be_sorted_go_to_the_first_node(names):
    assert Partition([9, 8, 7, 6], names).labels.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("labels", [[-3, 10**12, -3], np.array([200, 7, 200], np.uint8)])
def test_labels_may_be_any_whole_numbers(labels):
    assert Partition(labels).labels.tolist() == [0, 1, 0]


def test_sequence_behaviour():
    partition = Partition([0, 0, 0, 1, 1, 2])
    assert partition[-1] == {5}
    assert partition[:2] == ({0, 1, 2}, {3, 4})
    assert {3, 4} in partition
    assert 3 not in partition
    assert partition.index({3, 4}) == 1
    assert partition.count({5}) == 1
    assert list(reversed(partition)) == [{5}, {3, 4}, {0, 1, 2}]
    with pytest.raises(IndexError):
        partition[3]


def test_empty_partition():
    partition = Partition([], [])
    assert (len(partition), list(partition), partition.membership) == (0, [], {})
    assert repr(partition) == "Partition(0 communities of 0 nodes)"
    assert partition == Partition([])


def test_membership_agrees_with_labels_and_sets(six):
    assert six.membership == dict(zip(NAMES, six.labels.tolist(), strict=True))
    assert all(node in six[six.membership[node]] for node in NAMES)
    assert {type(community) for community in six.membership.values()} == {int}


def test_networkx_functions_take_it_as_it_is(karate):
    G, partition = karate
    as_sets = [set(community) for community in partition]
    assert nx.community.is_partition(G, partition)
    assert nx.community.modularity(G, partition) == nx.community.modularity(G, as_sets)
    assert nx.community.partition_quality(G, partition) == nx.community.partition_quality(
        G, as_sets
    )
    assert nx.cut_size(G, *partition) == nx.cut_size(G, *as_sets)
    assert nx.quotient_graph(G, partition).number_of_nodes() == 2
    assert len(nx.community.greedy_modularity_communities(G.subgraph(partition[0]))) > 0
    assert set(nx.multipartite_layout(G, dict(enumerate(partition)))) == set(G)
    removed = nx.community.modularity(G, partition, resolution=2)
    assert removed < nx.community.modularity(G, partition)


@pytest.mark.parametrize("name", ["labels", "nodes", "graph", "spectrum", "new"])
def test_it_is_frozen(six, name):
    with pytest.raises(AttributeError, match=f"cannot assign to field '{name}'"):
        setattr(six, name, None)
    with pytest.raises(AttributeError, match="cannot delete field"):
        delattr(six, name)
    with pytest.raises(ValueError, match="read-only"):
        six.labels[0] = 3
    with pytest.raises(ValueError, match="read-only"):
        six.sizes[0] = 3


def test_labels_of_the_caller_stay_writable():
    labels = np.array([0, 1, 1])
    partition = Partition(labels)
    labels[0] = 1
    assert partition.labels.tolist() == [1, 0, 0]


def test_equality_ignores_names_of_communities_and_order_of_nodes():
    one = Partition([0, 0, 1, 1], "abcd")
    assert one == Partition([7, 7, 3, 3], "abcd")
    assert one == Partition([1, 0, 1, 0], "cadb")
    assert hash(one) == hash(Partition([1, 0, 1, 0], "cadb"))
    assert one != Partition([0, 0, 0, 1], "abcd")
    assert one != Partition([0, 1, 0, 1], "abcd")
    assert one != Partition([0, 1, 0, 1], "abce")
    assert one != Partition([0, 0, 1, 1])
    assert one != [{"a", "b"}, {"c", "d"}]


@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))]
)
def test_copies_and_pickles(six, clone):
    again = clone(six)
    assert again == six
    assert again.labels.tolist() == six.labels.tolist()
    assert not again.labels.flags.writeable
    assert again.graph.m == six.graph.m
    assert again.scores() == six.scores()


def test_disconnected_communities_are_listed():
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1.0, 1.0, 0.0, 1.0], nodes=list("abcde"))
    assert Partition([0, 0, 0, 1, 1], graph=path).disconnected == ()
    assert Partition([0, 1, 1, 0, 0], graph=path).disconnected == ({"a", "d", "e"},)
    assert Partition([0, 0, 0, 0, 0], graph=path).disconnected == ({"a", "b", "c", "d", "e"},)
    lonely = Graph.from_edges([], [], n=3)
    assert Partition([0, 0, 1], graph=lonely).disconnected == ({0, 1},)
    assert Partition([], graph=Graph.from_edges([], [])).disconnected == ()


def test_scores_are_those_of_networkx(six):
    rows, cols, weights = six.graph.edges()
    G = nx.Graph()
    for i, j, w in zip(rows, cols, weights, strict=True):
        G.add_edge(NAMES[i], NAMES[j], weight=w)
    assert six.scores().modularity == pytest.approx(nx.community.modularity(G, six), abs=1e-12)
    coverage, performance = nx.community.partition_quality(G, six)
    assert six.scores().coverage == pytest.approx(coverage, abs=1e-12)
    assert six.scores().performance == pytest.approx(performance, abs=1e-12)
    halved = nx.community.modularity(G, six, resolution=0.5)
    assert six.scores(resolution=0.5).modularity == pytest.approx(halved, abs=1e-12)


@pytest.mark.parametrize(
    ("use", "what"),
    [
        (lambda p: p.scores(), r"scores\(\)"),
        (lambda p: p.plot(), r"plot\(\)"),
        (lambda p: p.disconnected, "disconnected"),
        (lambda p: p.to_igraph(), r"to_igraph\(\)"),
    ],
)
def test_what_needs_the_graph_says_so(use, what):
    with pytest.raises(PartitionError, match=rf"{what} needs the graph.*\n.*as_graph"):
        use(Partition([0, 1]))


def test_to_igraph_rebuilds_names_weights_and_modularity(six):
    clustering = six.to_igraph()
    assert isinstance(clustering, igraph.VertexClustering)
    assert clustering.graph.vs["name"] == list(NAMES)
    assert clustering.graph.es["weight"] == [2.0, 2.0, 2.0, 0.5, 1.0, 1.0, 1.0]
    assert clustering.membership == six.labels.tolist()
    assert clustering.modularity == pytest.approx(six.scores().modularity, abs=1e-12)


def test_to_igraph_of_an_unweighted_graph_of_numbers():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 2])
    clustering = Partition([0, 0, 1], graph=graph).to_igraph()
    assert clustering.graph.vs.attributes() == []
    assert clustering.graph.es.attributes() == []
    assert clustering.graph.get_edgelist() == [(0, 1), (1, 2), (2, 2)]
    assert clustering.membership == [0, 0, 1]


def test_to_igraph_on_a_given_graph_matches_names(six):
    g = igraph.Graph(6)
    g.vs["name"] = list(reversed(NAMES))
    assert six.to_igraph(g).membership == six.labels.tolist()[::-1]
    assert six.to_igraph(g).graph is g


def test_to_igraph_matches_what_igraph_made_of_a_networkx_graph(karate):
    G, partition = karate
    renamed = nx.relabel_nodes(G, {node: f"member {node}" for node in G})
    named = Partition(partition.labels, list(renamed))
    assert named.to_igraph(igraph.Graph.from_networkx(renamed)).membership == list(partition.labels)
    clustering = partition.to_igraph(igraph.Graph.from_networkx(G))
    assert clustering.modularity == pytest.approx(nx.community.modularity(G, partition))


def test_to_igraph_on_a_graph_with_other_vertices(six):
    with pytest.raises(PartitionError, match=r"Only in the graph: 0, 1, 2, 3, 4, 5\."):
        six.to_igraph(igraph.Graph(6))
    g = igraph.Graph(5)
    g.vs["name"] = NAMES[:5]
    with pytest.raises(PartitionError, match=r"Only in the partition: 'fay'\."):
        six.to_igraph(g)
    g = igraph.Graph(7)
    g.vs["name"] = [*NAMES, "ann"]
    with pytest.raises(PartitionError, match="two vertices with the same name"):
        six.to_igraph(g)


def test_annotate_networkx_survives_a_gml_file(karate, tmp_path):
    G, partition = karate
    assert partition.annotate(G) is None
    nx.write_gml(G, tmp_path / "karate.gml")
    again = nx.read_gml(tmp_path / "karate.gml", destringizer=int)
    assert nx.get_node_attributes(again, "community") == partition.membership


def test_annotate_a_networkx_subclass_and_a_view(karate):
    class Mine(nx.Graph):
        pass

    G, partition = karate
    mine = Mine(G)
    partition.annotate(mine.subgraph(G), name="block")
    assert nx.get_node_attributes(mine, "block") == partition.membership


def test_annotate_igraph(six):
    g = igraph.Graph(6)
    g.vs["name"] = list(NAMES)
    six.annotate(g, name="block")
    assert g.vs["block"] == [0, 0, 0, 1, 1, 1]


def test_annotate_writes_nothing_when_the_nodes_differ(six):
    G = nx.Graph([("ann", "bob"), ("ann", "zoe")])
    with pytest.raises(PartitionError, match=r"Only in the graph: 'zoe'\."):
        six.annotate(G)
    assert nx.get_node_attributes(G, "community") == {}
    G = nx.path_graph(NAMES[:4])
    with pytest.raises(PartitionError, match=r"Only in the partition: 'eve', 'fay'\."):
        six.annotate(G)
    assert nx.get_node_attributes(G, "community") == {}


def test_annotate_other_types(six):
    with pytest.raises(
        InputError, match=r"networkx or igraph graph or an AnnData, got kgroups\.graph\.Graph"
    ):
        six.annotate(six.graph)


@pytest.mark.parametrize(
    "labels", [["a", "b"], [0.0, 1.0], [True, False], [[0, 1], [1, 0]], 3, [2**70, 1]]
)
def test_labels_that_are_no_whole_numbers(labels):
    with pytest.raises(PartitionError, match=r"one whole number per node.*\n.*return_inverse"):
        Partition(labels)


def test_nodes_that_do_not_fit():
    graph = Graph.from_edges([0], [1], nodes=["a", "b"])
    with pytest.raises(PartitionError, match="each of the 3 nodes, got 2 labels"):
        Partition([0, 1], ["a", "b", "c"])
    with pytest.raises(PartitionError, match="each of the 2 nodes, got 3 labels"):
        Partition([0, 1, 1], graph=graph)
    with pytest.raises(PartitionError, match="'a' more than once"):
        Partition([0, 1, 0], ["a", "b", "a"])
    with pytest.raises(PartitionError, match="those of the graph, in its order"):
        Partition([0, 1], ["b", "a"], graph=graph)
    assert Partition([0, 1], ("a", "b"), graph=graph).nodes is graph.nodes


def test_names_in_a_numpy_array_become_python_objects():
    partition = Partition([0, 1], np.array([10, 20]))
    assert [type(node) for node in partition.nodes] == [int, int]


def test_repr_is_short_and_says_the_sizes(six):
    first, hint = repr(six).splitlines()
    assert first == "Partition(2 communities of 6 nodes, sizes 3, 3)"
    assert (
        hint
        == "  other scales: partition.levels(); how sure and stable: partition.summary(full=True)"
    )
    many = Partition(np.arange(100) // 10)
    assert repr(many) == "Partition(10 communities of 100 nodes, sizes 10, 10, 10, 10, 10, 10, ...)"
    assert repr(Partition([0])) == "Partition(1 single node)"


def test_repr_counts_the_uninformed():
    partition = Partition([0, 0, 1], uninformed=[1])
    assert repr(partition).splitlines()[1:] == [
        "  1 node lies in components without signal, in the largest community"
    ]
    assert partition.uninformed == (1,)


def test_importing_it_loads_no_graph_library():
    code = (
        "import sys, kgroups.partition as p; p.Partition([0, 1], 'ab')[0];"
        "print([m for m in ('networkx', 'igraph', 'scipy', 'numba', 'matplotlib') "
        "if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "[]\n"


def test_a_graph_of_another_package_is_refused():
    with pytest.raises(
        InputError, match=r"must be a kgroups\.Graph, got networkx\.(.|\n)*as_graph\(graph\)"
    ):
        Partition([0, 0, 1], graph=nx.path_graph(3))


def test_membership_is_read_only(six):
    with pytest.raises(TypeError, match="cannot be changed"):
        six.membership[NAMES[0]] = 999
    with pytest.raises(TypeError, match=r"cannot be changed; dict\(membership\) copies it"):
        six.membership.update({NAMES[0]: 999})
    assert dict(six.membership) == six.membership


def test_membership_can_be_written_and_copied(six):
    membership = six.membership
    assert json.loads(json.dumps(membership)) == membership
    for copied in (copy.deepcopy(membership), pickle.loads(pickle.dumps(membership))):
        assert copied == membership
        assert type(copied) is type(membership)
    changed = membership.copy()
    changed[NAMES[0]] = 999
    assert membership[NAMES[0]] != 999
