"""The object through which a store is read, and what it refuses."""

import json
import pickle
import shutil

import numpy as np
import pytest

import kgroups as kg
from helpers.stores import assert_same, opened, random_edges, small_sizes, write_parquet
from kgroups import _csr
from kgroups.blocks import NodeNames, _store_nb
from kgroups.blocks.folder import signed
from kgroups.errors import StoreError


@pytest.fixture
def edges(tmp_path, monkeypatch):
    small_sizes(monkeypatch)
    u, v, w = random_edges()
    u, v = (list(map("n{}".format, end)) for end in (u, v))
    return write_parquet(tmp_path / "e.parquet", u, v, w)


@pytest.fixture
def stored(edges, tmp_path):
    return opened(edges, tmp_path / "store", block_entries=100)


def use_all(folder):
    """Read all that a store has."""
    stored = kg.open_graph(store=folder)
    stored.to_graph()
    return stored.strength, stored.names


def test_100_random_changes_are_refused(stored, tmp_path):
    rng = np.random.default_rng(0)
    files = sorted(entry for entry in stored.path.rglob("*") if entry.is_file())
    files = [stored.path / "store.json"] * 20 + list(rng.choice(files, 80))
    for path in files:
        content = path.read_bytes()
        place, turn = int(rng.integers(len(content))), rng.integers(3)
        if turn == 0:
            changed = content[:place]
        elif turn == 1:
            changed = content + bytes([rng.integers(256)])
        else:
            bit = 1 << int(rng.integers(8))
            changed = content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]
        path.write_bytes(changed)
        with pytest.raises(StoreError, match="must be as they were written, but"):
            use_all(stored.path)
        path.write_bytes(content)
    use_all(stored.path)


def test_missing_files_are_named(stored):
    (stored.path / "blocks" / "00003.indices.npy").unlink()
    with pytest.raises(StoreError, match=r"'blocks/00003\.indices\.npy' is missing"):
        kg.open_graph(store=stored.path)


def test_a_damaged_store_is_not_made_again(stored, edges):
    (stored.path / "store.json").write_text("{}")
    with pytest.raises(StoreError, match=r"the content of 'store\.json' has changed"):
        opened(edges, stored.path, block_entries=100)


def test_a_block_is_verified_when_it_is_first_read(stored):
    stored.read(0)
    for b in (0, 1):
        path = stored.path / "blocks" / f"0000{b}.indices.npy"
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    stored.read(0)
    with pytest.raises(StoreError, match=r"the content of 'blocks/00001\.indices\.npy' has"):
        stored.read(1)


def test_files_of_another_form_are_refused(stored):
    info = stored._block_files[0]["indices"]
    array = np.zeros(3, np.int64)
    np.save(stored.path / info.name, array)
    stored._used.verified.add(info.name)
    with pytest.raises(StoreError, match="has another form"):
        stored.read(0)


def test_another_version_is_named(stored):
    record = json.loads((stored.path / "store.json").read_bytes())
    del record["checksum"]
    (stored.path / "store.json").write_bytes(signed({**record, "version": 99}))
    with pytest.raises(StoreError, match="reads stores of version 1, got version 99"):
        kg.open_graph(store=stored.path)


def test_its_repr_says_what_it_is(stored, tmp_path):
    shown = f"weighted, {len(stored.blocks)} blocks in {str(tmp_path / 'store')!r})"
    assert repr(stored) == f"StoredGraph(60 nodes, 400 edges, {shown}"
    assert len(stored) == 60
    path = write_parquet(tmp_path / "f.parquet", [0], [1])
    one = opened(path, tmp_path / "one")
    assert repr(one).startswith("StoredGraph(2 nodes, 1 edge, ")


def test_it_is_frozen(stored):
    with pytest.raises(AttributeError, match="a StoredGraph is frozen"):
        stored.n = 3


def test_it_is_pickled_as_its_path(stored):
    stored.read(0)
    content = pickle.dumps(stored)
    assert len(content) < 300
    again = pickle.loads(content)
    assert (again.path, again.memory, again.blocks) == (stored.path, stored.memory, stored.blocks)
    assert again.bytes_read == 0


def test_a_store_may_be_moved(stored, edges, tmp_path):
    shutil.move(stored.path, tmp_path / "moved")
    assert_same(kg.open_graph(store=tmp_path / "moved"), kg.as_graph(edges))


def test_arrays_can_be_written_to_without_a_change(stored):
    block = stored.read(2)
    for array in (*block[2:], stored.strength, stored.position):
        assert type(array) is np.ndarray
        assert array.flags.writeable
        assert array.flags.c_contiguous
        array[:] = 0
    assert stored.read(2).indices.any()
    use_all(stored.path)


def test_positions_have_64_bits_where_there_are_many_nodes(edges, tmp_path, monkeypatch):
    monkeypatch.setattr(_csr, "INT32_BOUND", 50)
    # Kernels are compiled for 32 bits.
    monkeypatch.setattr(_store_nb.merge_entries, "_compiled", None)
    monkeypatch.setenv("KGROUPS_JIT", "never")
    stored = opened(edges, tmp_path / "store", block_entries=100)
    assert stored.position.dtype == stored.read(0).indices.dtype == np.int64
    assert_same(stored, kg.as_graph(edges))


def test_what_is_read_is_counted(stored):
    assert (stored.bytes_read, stored.entries_read) == (0, 0)
    for _ in range(2):
        for info in stored.blocks:
            stored.read(info.number)
    rows = sum(info.last - info.first + 1 for info in stored.blocks)
    assert stored.entries_read == 2 * stored.entries
    assert stored.bytes_read == 2 * (8 * rows + 12 * stored.entries)


def test_nodes_are_a_sequence(stored, edges):
    names = sorted(kg.as_graph(edges).nodes)
    nodes = stored.nodes
    assert list(nodes) == names
    assert (nodes[0], nodes[-1], nodes[7:3:-2]) == (names[0], names[-1], tuple(names[7:3:-2]))
    assert nodes.index("n5") == names.index("n5")
    assert "n5" in nodes
    assert repr(nodes) == "NodeNames(60 nodes)"
    for place in (60, -61):
        with pytest.raises(IndexError):
            nodes[place]
    numbers = NodeNames(np.array([3, 5]))
    assert (list(numbers), numbers[:1], type(numbers[1])) == ([3, 5], (3,), int)


def test_colors_are_a_hash_of_the_rank(tmp_path):
    ends = np.arange(2000)
    stored = opened(write_parquet(tmp_path / "e.parquet", ends, ends + 1), tmp_path / "store")
    sizes = np.diff(stored.colors)
    assert sizes.sum() == 2001
    assert sizes.min() > 180
    # Positions sort nodes by color, then by rank; the hash is part of the format.
    color = np.searchsorted(stored.colors, stored.position, side="right") - 1
    assert color[:16].tolist() == [7, 1, 6, 5, 2, 2, 0, 7, 6, 4, 2, 5, 3, 7, 6, 5]
    order = np.lexsort((np.arange(2001), color))
    assert np.array_equal(stored.position[order], np.arange(2001))
