"""What holds for every partition, whatever its nodes are called."""

import contextlib
import gzip
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies_partition import partitions, table_names
from kgroups.errors import FileFormatError
from kgroups.graph import Graph
from kgroups.partition import Partition
from kgroups.partition.files import SUFFIXES


@given(partitions())
def test_sets_labels_and_membership_say_the_same(partition):
    assert sorted(map(len, partition), reverse=True) == partition.sizes.tolist()
    assert sum(map(len, partition)) == len(partition.nodes)
    for node, label in zip(partition.nodes, partition.labels, strict=True):
        assert node in partition[label]
        assert partition.membership[node] == label


@given(partitions(table_names))
def test_communities_are_ordered_by_size_then_least_name(partition):
    least = [min(community) for community in partition]
    keys = list(zip(-partition.sizes, least, strict=True))
    assert keys == sorted(keys)


@given(partitions(table_names), st.randoms(use_true_random=False))
def test_numbers_of_communities_do_not_depend_on_the_order_of_nodes(partition, random):
    order = random.sample(range(len(partition.nodes)), len(partition.nodes))
    shuffled = Partition(partition.labels[order], [partition.nodes[i] for i in order])
    assert shuffled.labels.tolist() == partition.labels[order].tolist()
    assert list(shuffled) == list(partition)


@given(partitions(), st.randoms(use_true_random=False))
def test_equality_and_hash_ignore_order_and_renaming(partition, random):
    n = len(partition.nodes)
    order = random.sample(range(n), n)
    name = random.sample(range(-50, 50), partition.k)
    shuffled = Partition(
        [name[partition.labels[i]] for i in order], [partition.nodes[i] for i in order]
    )
    assert shuffled == partition
    assert hash(shuffled) == hash(partition)
    assert set(shuffled) == set(partition)


@given(partitions(), st.data())
def test_moving_one_node_gives_an_equal_partition_only_where_the_sets_are_equal(partition, data):
    if partition.k < 2:
        return
    moved = partition.labels.copy()
    i = data.draw(st.integers(0, moved.size - 1))
    moved[i] = (moved[i] + 1) % partition.k
    other = Partition(moved, partition.nodes)
    assert (other == partition) == (set(other) == set(partition))


@given(partitions())
def test_json_keeps_names_and_their_types(tmp_path_factory, partition):
    folder = tmp_path_factory.mktemp("json")
    for name in ("p.json", "p.json.gz"):
        partition.save(folder / name)
        again = Partition.load(folder / name)
        assert repr(list(again.nodes)) == repr(list(partition.nodes))
        assert np.array_equal(again.labels, partition.labels)
        assert again == partition
    assert len(list(folder.iterdir())) == 2


@given(partitions(table_names))
def test_tables_keep_numbers_and_text(tmp_path_factory, partition):
    folder = tmp_path_factory.mktemp("table")
    for name in ("p.csv", "p.csv.gz", "p.parquet"):
        partition.save(folder / name)
        again = Partition.load(folder / name)
        assert list(map(str, again.nodes)) == list(map(str, partition.nodes))
        assert np.array_equal(again.labels, partition.labels)


@given(partitions())
def test_pickling(partition):
    again = pickle.loads(pickle.dumps(partition))
    assert again == partition
    assert list(again.nodes) == list(partition.nodes)


@given(content=st.binary(max_size=200), suffix=st.sampled_from(SUFFIXES))
def test_loading_garbage_is_a_file_format_error(tmp_path_factory, content, suffix):
    path = tmp_path_factory.mktemp("garbage") / f"p{suffix}"
    table = b"node,community\n" + content
    for body in (content, table, gzip.compress(table)):
        path.write_bytes(body)
        with contextlib.suppress(FileFormatError):
            loaded = Partition.load(path)
            assert loaded.sizes.sum() == len(loaded.nodes)


@given(st.integers(0, 2**32 - 1))
def test_disconnected_agrees_with_networkx(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 20))
    source, target = rng.integers(0, n, (2, int(rng.integers(0, 2 * n))))
    partition = Partition(rng.integers(0, 4, n), graph=Graph.from_edges(source, target, n=n))
    G = nx.empty_graph(n)
    G.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
    expected = tuple(c for c in partition if not nx.is_connected(G.subgraph(c)))
    assert partition.disconnected == expected


@pytest.mark.parametrize("n", [100_000])
def test_many_nodes_under_names(n):
    rng = np.random.default_rng(0)
    partition = Partition(rng.integers(0, 5000, n), [f"node {i}" for i in range(n)])
    assert sum(map(len, partition)) == n
    assert partition[0] == {name for name, a in partition.membership.items() if a == 0}
