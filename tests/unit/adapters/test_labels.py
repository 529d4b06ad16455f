"""as_labels: every form of a partition, and every way in which one can be wrong."""

from collections import namedtuple

import igraph
import numpy as np
import pandas as pd
import pytest

from kgroups.adapters import as_labels, read_labeling
from kgroups.errors import PartitionError
from kgroups.graph import Graph

PartitionLike = namedtuple("PartitionLike", ["labels", "nodes"])


@pytest.fixture
def named():
    return Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=["ann", "bob", "cat", "dan"])


@pytest.fixture
def numbered():
    return Graph.from_edges([0, 1, 2], [1, 2, 3])


SETS = [{"bob", "dan"}, {"ann", "cat"}]


@pytest.mark.parametrize(
    "partition",
    [
        SETS,
        tuple(SETS),
        (block for block in SETS),
        dict(enumerate(SETS)).values(),
        [frozenset(block) for block in SETS],
        [["bob", "dan"], ["cat", "ann"]],
        [("bob", "dan"), ("cat", "ann")],
        [np.array(["bob", "dan"]), np.array(["cat", "ann"])],
        [set(), {"bob", "dan"}, set(), {"ann", "cat"}, set()],
        np.array([frozenset(block) for block in SETS], dtype=object),
        [1, 0, 1, 0],
        np.array([1, 0, 1, 0], dtype=np.uint8),
        np.array([1, 0, 1, 0], dtype=np.uint64),
        {"ann": 1, "bob": 0, "cat": 1, "dan": 0},
        {"dan": 0, "cat": 1, "bob": 0, "ann": 1},
        pd.Series([1, 0, 1, 0]),
        pd.Series([0, 0, 1, 1], index=["dan", "bob", "cat", "ann"]),
        PartitionLike(np.array([1, 0, 1, 0]), ["ann", "bob", "cat", "dan"]),
        PartitionLike(np.array([0, 0, 1, 1]), ["dan", "bob", "cat", "ann"]),
    ],
)
def test_every_form_gives_the_same_numbered_labels(named, partition):
    labels = as_labels(partition, named)
    assert labels.dtype == np.int64
    assert labels.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    "partition",
    [
        ["x", "b", "x", "b"],
        np.array(["x", "b", "x", "b"]),
        np.array([1.5, 0.5, 1.5, 0.5]),
        np.array([7, -3, 7, -3]),
        np.array([10**12, 0, 10**12, 0]),
        np.array([2**63 + 5, 2**63, 2**63 + 5, 2**63], dtype=np.uint64),
        np.array([127, -128, 127, -128], dtype=np.int8),
        [3, "three", 3, "three"],
        [None, 0, None, 0],
        {"dan": 5, "cat": 9, "bob": 5, "ann": 9},
        {"ann": (0, 1), "bob": (0, 0), "cat": (0, 1), "dan": (0, 0)},
        {frozenset({"bob", "dan"}), frozenset({"ann", "cat"})},
        pd.Series(["x", "b", "x", "b"], dtype="category"),
    ],
)
def test_other_labels_are_numbered_by_first_appearance_in_node_order(named, partition):
    assert as_labels(partition, named).tolist() == [0, 1, 0, 1]


def test_labels_that_are_already_numbered_keep_their_numbers(numbered):
    assert as_labels(np.array([2, 2, 0, 1]), numbered).tolist() == [2, 2, 0, 1]


def test_numbers_with_a_gap_are_closed_up(numbered):
    assert as_labels([3, 3, 0, 1], numbered).tolist() == [0, 0, 1, 2]


def test_string_labels_are_labels_and_not_sets_of_letters(numbered):
    assert as_labels(["ab", "cd", "ab", "cd"], numbered).tolist() == [0, 1, 0, 1]


def test_numpy_integers_in_sets_find_their_nodes(numbered):
    assert as_labels([set(np.arange(2)), {2, np.int64(3)}], numbered).tolist() == [0, 0, 1, 1]


def test_equal_numbers_of_other_types_find_their_nodes(numbered):
    assert as_labels([{0.0, 1.0}, {2, 3.0}], numbered).tolist() == [0, 0, 1, 1]


def test_clustering_without_vertex_names_is_read_by_place(named):
    clustering = igraph.VertexClustering(igraph.Graph.Ring(4), membership=[1, 0, 1, 0])
    assert as_labels(clustering, named).tolist() == [1, 0, 1, 0]


def test_clustering_with_vertex_names_is_matched_by_name(named):
    ring = igraph.Graph.Ring(4)
    ring.vs["name"] = ["dan", "cat", "bob", "ann"]
    clustering = igraph.VertexClustering(ring, membership=[0, 0, 0, 1])
    assert as_labels(clustering, named).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("partition", [[], {}, [set()], np.array([], dtype=int), ()])
def test_empty_graph_has_no_labels(partition):
    labels = as_labels(partition, Graph.from_edges([], []))
    assert labels.shape == (0,)
    assert labels.dtype == np.int64


def test_labels_do_not_share_memory_with_the_caller(numbered):
    given = np.array([0, 0, 1, 1])
    as_labels(given, numbered)[0] = 1
    assert given.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        ([{"ann", "bob"}, {"cat"}], "must hold every node of the graph, but node 'dan' is in no"),
        ([{"ann"}], r"but nodes 'bob', 'cat', 'dan' are in no community"),
        ({"ann": 0, "cat": 1}, "but nodes 'bob', 'dan' are in no community"),
        ([], r"but nodes 'ann', 'bob', 'cat' \(and 1 more\) are in no community"),
        ([{"ann", "bob"}, {"bob", "cat", "dan"}], "each node once, got node 'bob' more than once"),
        ([["ann", "ann", "bob"], ["cat", "dan"]], "each node once, got node 'ann' more than once"),
        (
            pd.Series([0, 1, 1, 0], index=["ann", "ann", "bob", "cat"]),
            "each node once, got node 'ann' more than once",
        ),
        ([{"ann", "bob", "cat", "dan", "eve"}], "nodes of the graph only, got node 'eve'"),
        ({"ann": 0, "bob": 0, "cat": 0, 3: 0}, r"got node 3.\n.*4 nodes, such as 'ann'"),
        ([[["ann"], "bob"], ["cat", "dan"]], r"nodes of the graph only, got node \['ann'\]"),
        ([0, 1, 0], "one entry per node of the graph: 4 expected, got 3"),
        (np.zeros(5, int), "one entry per node of the graph: 4 expected, got 5"),
        (np.zeros((2, 2), int), r"must be one-dimensional, got shape \(2, 2\)"),
        (np.ma.array([0, 1, 0, 1], mask=[0, 1, 0, 0]), "array of labels must not be masked, got"),
        (pd.DataFrame({"x": [0, 1, 0, 1]}), "one pandas Series, got a DataFrame"),
        ([0, 1, float("nan"), 1], "must have a label, got nan for the node at position 2"),
        ({"ann": 0, "bob": np.nan, "cat": 0, "dan": 1}, "got nan for node 'bob'"),
        (pd.Series([0, 1, None, 1], dtype="Int64"), "got <NA> for the node at position 2"),
        ({"ann": 0, "bob": [1], "cat": 0, "dan": 1}, r"hashable, got \[1\] for node 'bob'"),
        ([0, {}, 0, 1], r"hashable, got {} for the node at position 1"),
        ([{"ann", "bob"}, "cat", {"dan"}], "got both: 'cat' beside collections"),
        ([0, {"ann"}, 0, 1], "got both: 0 beside collections"),
        ([0, ("ann", "bob"), 0, 1], "got both: 0 beside collections"),
        ({"ann", "bob"}, "collection of sets of nodes, got a single set that contains"),
        ("abab", "must name the community of every node, got 'abab'"),
        (None, "must name the community of every node, got None"),
        (3, "must name the community of every node, got 3"),
        (PartitionLike([0, 1], ["ann", "bob", "cat"]), "one entry per named node: 3 expected, got"),
    ],
)
def test_wrong_partitions_are_named(named, partition, message):
    with pytest.raises(PartitionError, match=message):
        as_labels(partition, named)


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        ([{0, 1}, {2, 4}], "nodes of the graph only, got node 4"),
        ([{0, 1}, {2, -1}], "nodes of the graph only, got node -1"),
        ([{0, 1}, {2, 2**70}], "nodes of the graph only, got node 1180591620717411303424"),
        ([{0, 1}, {"2", "3"}], "nodes of the graph only, got nodes '.', '.'"),
        ([{0, 1}, {2}], "but node 3 is in no community"),
        ([{0, 1}, {1, 2, 3}], "each node once, got node 1 more than once"),
    ],
)
def test_wrong_partitions_of_numbered_nodes_are_named(numbered, partition, message):
    with pytest.raises(PartitionError, match=message):
        as_labels(partition, numbered)


def test_errors_say_what_to_do(named):
    with pytest.raises(PartitionError, match=r"\n  Pass a sequence of sets of nodes, one label"):
        as_labels(None, named)


def test_groups_are_sorted_where_they_can_be():
    assert list(read_labeling(["b", "a", "b"]).groups) == ["a", "b"]
    assert list(read_labeling([1, "a", 1]).groups) == [1, "a"]
