"""Partition files that are damaged or made to do harm: refused, or loaded so that all works."""

import copy
import gzip
import json
import os
import pickle
import random
import subprocess
import sys
import tracemalloc

import networkx as nx
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import kgroups as kg
from kgroups.errors import FileFormatError, InputError, PartitionError
from kgroups.partition import Partition

# What takes the place of a value: other types, empty containers, numbers out of range.
OTHERS = [
    None,
    True,
    0,
    -1,
    1.5,
    10**400,
    float("nan"),
    float("-inf"),
    "",
    "nobody",
    [],
    {},
    ["nobody"],
    [[]],
    {"nobody": 0},
]


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """Return a JSON document with all parts that a file can have, of nodes of several types."""
    G = nx.relabel_nodes(nx.ring_of_cliques(4, 4), {0: "zero", 1: ("a", 1.5), 2: float("inf")})
    G.add_nodes_from(["alone", False])
    found = kg.detect_communities(G, 5)
    found.confidence()
    found.stability(resamples=2)
    assert found.spectrum.k_at
    assert found.uninformed
    path = tmp_path_factory.mktemp("whole") / "p.json"
    found.levels().save(path)
    return json.loads(path.read_text())


def places(value, place=()):
    """Yield the keys that lead to each value; of long lists only the first and the last entry."""
    if place:
        yield place
    if isinstance(value, dict):
        for key, part in value.items():
            yield from places(part, (*place, key))
    elif isinstance(value, list):
        for i in sorted({0, len(value) - 1}) if value else ():
            yield from places(value[i], (*place, i))


def changed(document, place, change):
    """Return a copy in which ``change`` was applied to the holder of a value and its key."""
    whole = copy.deepcopy(document)
    holder = whole
    for key in place[:-1]:
        holder = holder[key]
    change(holder, place[-1])
    return whole


def check_use(partition, folder):
    """Use a loaded partition in every way that needs no graph."""
    repr(partition), partition._repr_html_(), str(partition.summary()), hash(partition)
    assert len(partition.to_dataframe()) == partition.labels.size
    if partition.known_spectrum is not None:
        repr(partition.spectrum)
    if partition.known_confidence is not None:
        assert partition.boundary(1.0) is not None
        partition.runner_up()
    if partition.known_stability is not None:
        str(partition.known_stability), partition.known_stability.cores()
    assert pickle.loads(pickle.dumps(partition)) == partition
    partition.save(folder / "again.json")
    assert Partition.load(folder / "again.json") == partition


def test_a_document_with_any_value_changed_is_refused_or_usable(document, tmp_path):
    path, refused, loaded = tmp_path / "p.json", 0, 0
    for place in places(document):
        changes = [lambda holder, key: holder.pop(key)]
        changes += [
            lambda holder, key, other=other: holder.__setitem__(key, other) for other in OTHERS
        ]
        for change in changes:
            path.write_text(json.dumps(changed(document, place, change)))
            try:
                partition = Partition.load(path)
            except FileFormatError:
                refused += 1
            else:
                loaded += 1
                check_use(partition, tmp_path)
    # Levels, "n" and "k" are not read, and any text may be a rule or a method.
    assert refused > 800
    assert loaded > 100


def test_the_document_itself_is_usable(document, tmp_path):
    path = tmp_path / "p.json"
    path.write_text(json.dumps(document))
    check_use(Partition.load(path), tmp_path)


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        (("spectrum", "k_at"), [], "AttributeError"),
        (("spectrum", "exact_at"), {}, "k_at, r_at and exact_at must hold a value for the same"),
        (("spectrum", "gap"), "wide", "spectrum.gap must be a finite number, got .wide."),
        (("uninformed",), ["nobody"], "uninformed must hold nodes of the partition, got 'nobody'"),
        (("uninformed",), ["alone", "alone"], "each node once, got 'alone' more than once"),
        (("nodes",), "abc", '"nodes" must be a list'),
        (("confidence", "converged"), 1, '"converged" must be true or false'),
        (("confidence", "runner_up", 0), 1.5, '"runner_up" must hold whole numbers only'),
        (("stability", "resamples"), 2.5, "resamples must be a whole number >= 1, got 2.5"),
        (("stability", "drop"), float("nan"), "NaN is not a number"),
    ],
)
def test_values_that_are_refused_are_named(document, tmp_path, place, value, reason):
    whole = changed(document, place, lambda holder, key: holder.__setitem__(key, value))
    (tmp_path / "p.json").write_text(json.dumps(whole))
    with pytest.raises(FileFormatError, match=rf"p\.json does not hold a partition: .*{reason}"):
        Partition.load(tmp_path / "p.json")


def test_a_partition_knows_all_uninformed_nodes():
    with pytest.raises(PartitionError, match=r"uninformed must hold nodes .* got 'c'\."):
        Partition([0, 1], ["a", "b"], uninformed=["c"])
    with pytest.raises(PartitionError, match="must hold nodes of the partition, got 2"):
        Partition([0, 1], uninformed=[2])


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (pyarrow.array([["a"], ["b"]]), "column node must hold whole numbers or text"),
        (pyarrow.array([b"\xff", b"b"]), "column node must hold whole numbers or text"),
        (pyarrow.array([b"\xff", b"b"]).view(pyarrow.binary()).view(pyarrow.string()), "utf-8"),
        (pyarrow.array([1.0, 2.0]), "column node must hold whole numbers or text"),
        (pyarrow.array(["a", None]), "column node must name every node, got null"),
        (pyarrow.array(["a", "a"]), "each node must be named once"),
        (pyarrow.array([1, 1]), "each node must be named once"),
    ],
)
def test_parquet_with_names_that_are_none(tmp_path, nodes, reason):
    table = pyarrow.table({"node": nodes, "community": [0, 1]})
    pyarrow.parquet.write_table(table, tmp_path / "p.parquet")
    with pytest.raises(FileFormatError, match=reason):
        Partition.load(tmp_path / "p.parquet")


@pytest.mark.parametrize("suffix", [".parquet", ".csv.gz", ".json.gz", ".csv"])
def test_files_with_a_damaged_byte_are_refused_or_usable(tmp_path, suffix):
    """Of Parquet files the schema at the end is damaged most often."""
    path = tmp_path / f"p{suffix}"
    labels = np.arange(40) % 3
    Partition(labels, [f"node {i}" for i in range(40)]).save(path)
    content, draw = path.read_bytes(), random.Random(0)
    for _ in range(300):
        damaged = bytearray(content)
        damaged[-1 - int(draw.random() ** 2 * len(content))] = draw.randrange(256)
        path.write_bytes(damaged)
        try:
            partition = Partition.load(path)
        except FileFormatError:
            continue
        check_use(partition, tmp_path)


def repeated(folder, suffix):
    """Write a small file that expands a thousandfold, and return its path."""
    path = folder / f"p{suffix}"
    count = 30_000_000
    if suffix == ".parquet":
        zeros = np.zeros(count // 4, np.int64)
        pyarrow.parquet.write_table(pyarrow.table({"node": zeros, "community": zeros}), path)
    else:
        start = b"node,community\n" if suffix == ".csv.gz" else b'{"labels": ['
        path.write_bytes(gzip.compress(start) + gzip.compress(b"a,1\n" * (count // 10)) * 10)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".csv.gz", ".json.gz"])
def test_files_that_expand_too_far_are_refused_before_they_are_read(tmp_path, suffix):
    path = repeated(tmp_path, suffix)
    assert path.stat().st_size < 400_000
    tracemalloc.start()
    before = pyarrow.total_allocated_bytes()
    try:
        message = (
            rf"p\{suffix}: a compressed file must not expand to more than 100 times its size and "
            r"more than 64 MiB, got \d+ bytes that expand to at least \d+\.\n"
            r"  If you trust this file, pass a larger max_expansion to Partition\.load"
        )
        with pytest.raises(FileFormatError, match=message):
            Partition.load(path)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
        assert pyarrow.total_allocated_bytes() - before < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_name_that_parquet_repeats_is_not_copied(tmp_path):
    name = pyarrow.array(["x" * 100_000])
    names = pyarrow.DictionaryArray.from_arrays(np.zeros(100_000, np.int32), name)
    table = pyarrow.table({"node": names, "community": np.zeros(100_000, np.int64)})
    pyarrow.parquet.write_table(table, tmp_path / "p.parquet", store_schema=False)
    before = pyarrow.total_allocated_bytes()
    with pytest.raises(FileFormatError, match="each node must be named once"):
        Partition.load(tmp_path / "p.parquet")
    assert pyarrow.total_allocated_bytes() - before < 20_000_000


def test_the_limit_of_expansion_can_be_raised(tmp_path):
    path, labels = tmp_path / "p.json.gz", np.zeros(1000, np.int64)
    Partition(labels).save(path)
    assert Partition.load(path, max_expansion=1).labels.size == 1000
    with pytest.raises(InputError, match="max_expansion must be a number >= 1, got 0"):
        Partition.load(path, max_expansion=0)


# A process of its own, which a pipe cannot block for ever.
LOAD = """
import sys
import kgroups as kg
from kgroups.studies import Study
load = {"graph": kg.read_graph, "partition": kg.Partition.load, "study": Study.load}[sys.argv[1]]
try:
    load(sys.argv[2])
except kg.errors.FileFormatError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes there")
@pytest.mark.parametrize("what", ["graph", "partition", "study"])
def test_pipes_are_refused(tmp_path, what):
    path = tmp_path / "p.csv"
    os.mkfifo(path)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, what, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.startswith(f"{path} must be a regular file, got a pipe.\n")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no such device there")  # noqa: PTH110
@pytest.mark.parametrize("what", ["graph", "partition", "study"])
def test_devices_are_refused(tmp_path, what):
    path = tmp_path / "p.csv"
    path.symlink_to("/dev/zero")
    done = subprocess.run(
        [sys.executable, "-c", LOAD, what, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.startswith(f"{path} must be a regular file, got a device.\n")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileFormatError, match="must be a regular file, got a folder"):
        Partition.load(tmp_path / "folder.csv")
