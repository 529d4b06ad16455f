"""Which node of the one labeling is which of the other."""

from collections import namedtuple

import igraph
import numpy as np
import pytest

from kgroups import Partition
from kgroups.errors import PartitionError
from kgroups.metrics import accuracy, confusion

PartitionLike = namedtuple("PartitionLike", ["labels", "nodes"])

TRUTH = {"ann": "red", "bob": "red", "cat": "blue", "dan": "blue"}


@pytest.mark.parametrize(
    "labels",
    [
        {"dan": 0, "cat": 0, "bob": 1, "ann": 1},
        [{"dan", "cat"}, {"ann", "bob"}],
        [["bob", "ann"], ["cat", "dan"]],
        PartitionLike(np.array([0, 1, 0, 1]), ["ann", "cat", "bob", "dan"]),
        Partition([0, 1, 0, 1], nodes=["ann", "cat", "bob", "dan"]),
    ],
)
def test_named_nodes_are_matched_by_name(labels):
    assert accuracy(TRUTH, labels) == 1.0
    assert accuracy(labels, TRUTH) == 1.0


def test_clustering_with_vertex_names_is_matched_by_name():
    ring = igraph.Graph.Ring(4)
    ring.vs["name"] = ["ann", "cat", "bob", "dan"]
    assert accuracy(TRUTH, igraph.VertexClustering(ring, membership=[0, 1, 0, 1])) == 1.0


@pytest.mark.parametrize("array", [[1, 0, 1, 0], np.array(["x", "y", "x", "y"])])
@pytest.mark.parametrize(
    "ordered",
    [
        np.array([0, 1, 0, 1]),
        ["a", "b", "a", "b"],
        PartitionLike(np.array([0, 1, 0, 1]), ["ann", "cat", "bob", "dan"]),
        Partition([0, 1, 0, 1], nodes=["ann", "cat", "bob", "dan"]),
        igraph.VertexClustering(igraph.Graph.Ring(4), membership=[0, 1, 0, 1]),
        {0: "a", 1: "b", 2: "a", 3: "b"},
        [{1, 3}, {0, 2}],
    ],
)
def test_arrays_are_matched_by_place(array, ordered):
    assert accuracy(array, ordered) == 1.0
    assert accuracy(ordered, array) == 1.0


@pytest.mark.parametrize(
    "unordered",
    [
        TRUTH,
        [{"ann", "bob"}, {"cat", "dan"}],
        {0: "a", 2: "b", 1: "a", 3: "b"},
        [{1, 2}, {3, 4}],
        [{0.5, 1}, {2, 3}],
    ],
)
def test_names_without_order_are_not_matched_with_an_array(unordered):
    with pytest.raises(PartitionError, match=r"matched only with nodes named 0, 1, 2"):
        accuracy(unordered, [0, 0, 1, 1])
    with pytest.raises(PartitionError, match=r"Pass both labelings with node names"):
        accuracy([0, 0, 1, 1], unordered)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"ann": 0, "bob": 0, "cat": 1}, "every node of the truth, but node 'dan' is in no"),
        ({**TRUTH, "eve": "red"}, "nodes of the truth only, got node 'eve'"),
        ([{"ann", "bob"}, {"bob", "cat", "dan"}], "each node once, got node 'bob' more than"),
        ([0, 1], "matched only with nodes named 0, 1, 2"),
    ],
)
def test_labelings_of_other_nodes_are_named(labels, message):
    with pytest.raises(PartitionError, match=message):
        accuracy(TRUTH, labels)


def test_a_node_twice_in_the_truth_is_named():
    with pytest.raises(PartitionError, match="each node once, got node 'bob' more than once"):
        accuracy([{"ann", "bob"}, {"bob", "cat", "dan"}], TRUTH)
    with pytest.raises(PartitionError, match="each node once, got node 1 more than once"):
        accuracy([{0, 1}, {1, 2}], [0, 0, 1, 1])


def test_a_node_that_cannot_be_a_name_is_named():
    with pytest.raises(PartitionError, match="node names must be hashable: unhashable type"):
        accuracy([[["ann"], "bob"]], TRUTH)


def test_arrays_of_two_lengths_are_named():
    with pytest.raises(PartitionError, match="one entry per node of the truth: 3 expected, got 2"):
        accuracy([0, 0, 1], [0, 1])


def test_confusion_table_has_the_names_of_classes_and_groups():
    table = confusion(TRUTH, [{"ann"}, {"bob", "cat", "dan"}])
    assert table.truth_names == ("blue", "red")
    assert table.label_names == (0, 1)
    assert table.counts.tolist() == [[0, 2], [1, 1]]


def test_confusion_tables_cannot_be_changed():
    table = confusion([0, 0, 1], [1, 1, 0])
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0, 0] = 7
    with pytest.raises(AttributeError):
        table.counts = None


def test_confusion_table_is_readable():
    table = confusion(["long name"] * 10 + ["x"], [100] * 10 + [2])
    assert str(table).splitlines() == [
        "           2  100",
        "long name  0   10",
        "        x  1    0",
    ]


def test_empty_confusion_table():
    table = confusion([], [])
    assert table.counts.shape == (0, 0)
    assert str(table) == ""
