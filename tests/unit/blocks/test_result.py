"""Communities of stored graphs: what is found, scored and written equals what is in memory."""

import csv
import gzip
import pickle
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgroups as kg
from helpers.stores import opened, random_edges, write_parquet
from kgroups import scoring
from kgroups.blocks import OutOfCore, StoredPartition, detection, output
from kgroups.errors import GraphError, InputError, PartitionError
from kgroups.generators import planted_partition

SUFFIXES = (".csv", ".csv.gz", ".parquet")
AWKWARD = ["a,b", 'say "no"', "two\nlines", "é", "x y", "", "z"]


@pytest.fixture
def in_blocks(monkeypatch):
    """Let no graph fit in memory."""
    monkeypatch.setattr(detection, "BYTES_PER_EDGE", 10**9)


def planted(k=4, n=400, degree=12.0, snr=3.0, seed=0):
    return planted_partition(n, k=k, degree=degree, snr=snr, rng=seed)[0]


def stored(graph, folder, names=None, **options):
    """Return a store of the edges of a graph, perhaps under other names."""
    u, v, w = graph.edges()
    name = np.arange(graph.n) if names is None else np.array(names, object)
    columns = (pa.array(name[u]), pa.array(name[v]), w if graph.is_weighted else None)
    path = write_parquet(folder / "edges.parquet", *columns)
    return opened(path, folder / "store", **{"block_entries": 200, **options})


def small_store(folder, names=range(6)):
    names = list(names)
    ends = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
    u, v = ([names[pair[side]] for pair in ends] for side in (0, 1))
    return opened(write_parquet(folder / "e.parquet", u, v), folder / "store")


# --- Detection


@pytest.mark.parametrize("weighted", [False, True])
def test_what_fits_in_memory_is_found_as_in_memory(tmp_path, weighted):
    graph = planted()
    if weighted:
        u, v, _ = graph.edges()
        w = np.random.default_rng(0).integers(1, 4, u.size) / 4.0
        graph = kg.Graph.from_edges(u, v, w, n=graph.n)
    found = kg.detect_communities(stored(graph, tmp_path))
    assert isinstance(found, StoredPartition)
    assert found.k == 4
    assert list(found) == list(kg.detect_communities(graph))
    assert found.to_partition() == kg.detect_communities(graph)


def test_text_names_are_found_as_in_memory(tmp_path):
    names = [f"n{i * 7919 % 400:03d}" for i in range(400)]
    store = stored(planted(), tmp_path, names)
    assert list(kg.detect_communities(store)) == list(kg.detect_communities(store.to_graph()))


def test_the_same_call_searches_in_blocks(tmp_path, in_blocks):
    graph = planted(n=1000)
    found = kg.detect_communities(stored(graph, tmp_path), engine=OutOfCore(), rng=1)
    assert kg.metrics.nmi(found.labels, kg.detect_communities(graph).labels) > 0.95
    assert found.report.k_found == found.k


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": None}, r"weight must be 'weight' .* when the store is made.*weight=None\)"),
        ({"source": "a", "target": "b"}, r"source must be None .*open_graph\(edges"),
        ({"operator": kg.BetheHessian(2.0)}, r"operator must be BetheHessian\(\) .*\.to_graph\(\)"),
        ({"init": kg.QRInit()}, r"init must be KMeansInit\(\) .*eigenvectors"),
        ({"init": kg.WarmStart([0])}, r"init must be KMeansInit\(\)"),
        ({"refine": None}, r"refine must be Hartigan\(\) .*got None"),
        ({"refine": kg.Hartigan(margin=0.0)}, r"refine must be Hartigan\(\)"),
        ({"symmetrize": "sum"}, "symmetrize must be None .*undirected"),
        ({"self_loops": "keep"}, "self_loops must be 'drop' .*scores alone"),
        ({"method": kg.Spectral()}, r"method must be Auto\(\) or Search\(\)"),
        ({"k": 513}, "k must be at most 512"),
        ({"engine": OutOfCore}, r"engine must be None, OutOfCore\(\)"),
        ({"engine": "dask"}, r"engine must be None, OutOfCore\(\)"),
    ],
    ids=str,
)
def test_arguments_that_a_store_cannot_take_are_refused_by_name(tmp_path, options, message):
    store = stored(planted(n=600), tmp_path)
    with pytest.raises(InputError, match=f"(?s){message}"):
        kg.detect_communities(store, **options)


def test_an_engine_is_for_stores():
    with pytest.raises(InputError, match=r"(?s)engine must be left out .*open_graph"):
        kg.detect_communities("karate", engine=OutOfCore())


@pytest.mark.parametrize(
    "call",
    [
        kg.as_graph,
        kg.significance,
        kg.k_distribution,
        lambda g: kg.refine_partition(g, [0]),
        lambda g: kg.posterior(g, 2),
        lambda g: scoring.scores(g, [0]),
    ],
)
def test_functions_for_graphs_in_memory_name_to_graph(tmp_path, call):
    with pytest.raises(
        GraphError, match=r"graph in memory is needed, got StoredGraph.*\n.*to_graph"
    ):
        call(small_store(tmp_path))


# --- The partition


def test_a_partition_of_a_store_is_a_sequence_of_sets(tmp_path):
    found = StoredPartition(small_store(tmp_path, "abcdef"), np.array([7, 7, 7, 2, 2, 7], np.int32))
    assert isinstance(found, Sequence)
    assert (len(found), found.k, found.sizes.tolist()) == (2, 2, [4, 2])
    assert set().union(*found) == set("abcdef")
    assert found[:1] == (found[0],)
    assert found.labels.flags.writeable is False


def test_it_shows_itself_in_a_few_lines(tmp_path):
    found = kg.detect_communities(small_store(tmp_path))
    lines = repr(found).split("\n")
    assert lines[0] == "StoredPartition(2 communities of 6 nodes, sizes 3, 3)"
    assert "to_partition()" in lines[-1]
    assert str(found) == repr(found)
    alone = StoredPartition(found.graph, np.arange(6, dtype=np.int32))
    assert repr(alone).startswith("StoredPartition(6 single nodes, 6 nodes in all")


@pytest.mark.parametrize(
    "name", ["levels", "stability", "confidence", "plot", "to_html", "to_igraph", "spectrum"]
)
def test_what_needs_the_graph_in_memory_is_refused_by_name(tmp_path, name):
    found = StoredPartition(small_store(tmp_path), np.zeros(6, np.int32))
    message = rf"no '{name}'.*\n.*to_partition\(\)\.{name} if there is room for 6 nodes and 7 edges"
    with pytest.raises(PartitionError, match=message):
        getattr(found, name)
    assert not hasattr(found, name)


def test_every_public_name_of_a_partition_is_offered_or_refused(tmp_path):
    found = StoredPartition(small_store(tmp_path), np.zeros(6, np.int32))
    public = {name for name in dir(kg.Partition) if not name.startswith("_")}
    offered = {name for name in public if hasattr(found, name)}
    assert offered >= {"count", "index", "k", "save", "scores", "sizes"}
    for name in public - offered:
        with pytest.raises(PartitionError, match=f"have no {name!r}"):
            getattr(found, name)
    with pytest.raises(AttributeError, match="no attribute 'communities'"):
        _ = found.communities


def test_a_partition_of_a_store_can_be_pickled(tmp_path):
    found = kg.detect_communities(small_store(tmp_path))
    again = pickle.loads(pickle.dumps(found))
    assert list(again) == list(found)
    assert again.report == found.report


def test_to_partition_has_the_same_labels_and_the_graph(tmp_path):
    found = StoredPartition(small_store(tmp_path, "fedcba"), np.array([0, 1, 1, 2, 2, 0], np.int32))
    partition = found.to_partition()
    assert np.array_equal(partition.labels, found.labels)
    assert list(partition) == list(found)
    assert partition.nodes == found.graph.nodes[:]
    assert partition.graph.n == 6


# --- Scores

edges = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from([0.25, 0.5, 1.0, 3.0])),
    min_size=1,
    max_size=40,
)


# Making a store takes a tenth of a second.
@settings(max_examples=15, deadline=None)
@given(
    edges,
    st.lists(st.integers(0, 3), min_size=10, max_size=10),
    st.booleans(),
    st.sampled_from([1.0, 0.5, 2.0]),
)
def test_scores_are_those_in_memory(tmp_path_factory, listed, labels, weighted, resolution):
    folder = tmp_path_factory.mktemp("scores")
    u, v, w = (np.array(column) for column in zip(*listed, strict=True))
    path = write_parquet(folder / "e.parquet", u, v, w if weighted else None)
    store = opened(path, folder / "store", block_entries=7)
    partition = StoredPartition(store, np.array(labels[: store.n], np.int32))
    assert_same_scores(partition.scores(resolution=resolution), partition, resolution)


def assert_same_scores(found, partition, resolution=1.0):
    graph = partition.graph.to_graph()
    expected = scoring.scores(graph, partition.labels, resolution=resolution)
    names = ("modularity", "cut_size", "max_conductance", "mean_conductance")
    for name in names:
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12, abs=1e-14)
    assert (found.k, found.sizes) == (expected.k, expected.sizes)
    assert found.performance == expected.performance
    assert found.coverage == expected.coverage


@pytest.mark.parametrize("weight", [None, 2.5, 4.0])
@pytest.mark.parametrize("repeated", [1, 2])
def test_scores_where_all_weights_are_equal(tmp_path, weight, repeated):
    u, v, _ = random_edges(20, 60)
    u, v = np.tile(u, repeated), np.tile(v, repeated)
    w = None if weight is None else np.full(u.size, weight)
    store = opened(write_parquet(tmp_path / "e.parquet", u, v, w), tmp_path / "store")
    partition = StoredPartition(store, np.arange(store.n, dtype=np.int32) % 3)
    assert_same_scores(partition.scores(), partition)


def test_scores_of_a_store_of_a_matrix(tmp_path):
    from scipy import sparse

    graph = planted(n=60)
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_array(graph.to_scipy()))
    store = opened(tmp_path / "m.npz", tmp_path / "store", block_entries=20)
    partition = StoredPartition(store, np.arange(store.n, dtype=np.int32) % 5)
    assert_same_scores(partition.scores(), partition)


def test_scores_take_one_pass_and_an_engine(tmp_path):
    store = stored(planted(n=100), tmp_path)
    partition = StoredPartition(store, np.arange(store.n, dtype=np.int32) % 3)
    before, stages = store.entries_read, []
    partition.scores(engine=OutOfCore(), progress=stages.append)
    assert store.entries_read - before == store.entries
    assert stages[0] == "scoring"
    with pytest.raises(InputError, match="resolution must be"):
        partition.scores(resolution=np.nan)


# --- Files


def read_rows(path):
    open_as_text = gzip.open if path.suffix == ".gz" else open
    with open_as_text(path, "rt", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "names",
    [
        list(range(6)),
        [-(10**17), -5, 0, 7, 2**40, 2**62],
        ["ann", "bob", "cat", "dan", "eve", "fay"],
        *([*AWKWARD[: 6 - len(last)], *last] for last in ([], ["=1+2"], ["+a", "b\rc"])),
    ],
    ids=["numbers", "identifiers", "text", "awkward", "formula", "return"],
)
def test_files_are_those_that_a_partition_writes(tmp_path, monkeypatch, names, suffix):
    monkeypatch.setattr(output, "_ROWS", 4)
    found = kg.detect_communities(small_store(tmp_path, names), 2)
    mine, other = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    found.save(mine)
    found.to_partition().save(other)
    if suffix == ".csv":
        assert mine.read_bytes() == other.read_bytes()
    elif suffix == ".csv.gz":
        assert gzip.decompress(mine.read_bytes()) == gzip.decompress(other.read_bytes())
    else:
        assert pq.read_table(mine).equals(pq.read_table(other))
    loaded = kg.Partition.load(mine)
    assert loaded == found.to_partition()
    assert set(loaded.nodes) == set(names)


def test_the_same_communities_give_the_same_file(tmp_path):
    found = kg.detect_communities(small_store(tmp_path))
    for name in ("a.csv.gz", "b.csv.gz"):
        found.save(tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert read_rows(tmp_path / "a.csv.gz")[0] == ["node", "community"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path, monkeypatch, suffix):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    found = kg.detect_communities(small_store(tmp_path))
    target = tmp_path / f"old{suffix}"
    target.write_text("as before")
    monkeypatch.setattr(output, "_rows", full)
    monkeypatch.setattr(pa, "record_batch", full)
    with pytest.raises(OSError, match="No space"):
        found.save(target)
    assert target.read_text() == "as before"
    assert {path.name for path in tmp_path.iterdir()} == {"e.parquet", "store", target.name}


@pytest.mark.parametrize("name", ["a.json", "a.gml", "a", "a.xlsx"])
def test_other_formats_need_the_partition_in_memory(tmp_path, name):
    found = kg.detect_communities(small_store(tmp_path))
    message = r"must end in \.csv, \.csv\.gz or \.parquet, got .*\n.*to_partition\(\)\.save"
    with pytest.raises(InputError, match=message):
        found.save(tmp_path / name)


def test_a_name_that_is_too_long_for_csv_is_refused(tmp_path):
    found = kg.detect_communities(small_store(tmp_path, [*"abcde", "x" * 131_073]))
    with pytest.raises(PartitionError, match=r"at most 131,072 characters.*\n.*\.parquet"):
        found.save(tmp_path / "a.csv")
    found.save(tmp_path / "a.parquet")


# --- The number of communities


def test_estimate_k_counts_what_fits_in_memory(tmp_path):
    graph = planted()
    found = kg.estimate_k(stored(graph, tmp_path))
    assert found == kg.estimate_k(graph)
    assert found.is_exact


@pytest.mark.parametrize("weighted", [False, True])
def test_estimate_k_by_moments_gives_a_range(tmp_path, in_blocks, weighted):
    graph = planted(k=4, n=1500, snr=2.5)
    if weighted:
        u, v, _ = graph.edges()
        graph = kg.Graph.from_edges(u, v, np.full(u.size, 1.0) + (u % 2), n=graph.n)
    found = kg.estimate_k(stored(graph, tmp_path, block_entries=5000))
    assert found.k_low <= 4 <= found.k_high
    assert not found.is_exact
    assert found.eigenvalues == ()
    assert found.methods["moments"] == 1
    assert found.r == pytest.approx(kg.estimate_k(graph).r, rel=0.01)
    assert kg.estimate_k(graph).__class__.from_dict(found.to_dict()) == found
    assert "about" in repr(found)


def test_small_components_are_counted_beside_a_large_one(tmp_path, monkeypatch):
    big, u = planted(n=600), np.arange(5)
    a, b, _ = big.edges()
    i, j = np.triu_indices(5, 1)
    graph = kg.Graph.from_edges(np.append(a, 600 + u[i]), np.append(b, 600 + u[j]), n=605)
    store = stored(graph, tmp_path)
    monkeypatch.setattr(detection, "BYTES_PER_EDGE", store.memory // 100)
    found = kg.estimate_k(store)
    assert found.methods["moments"] == 1
    assert found.k_low < found.k < found.k_high
    assert sum(found.methods.values()) >= 2


def test_a_random_graph_shows_one_community(tmp_path, in_blocks):
    graph = planted(k=1, n=1500, snr=0.0)
    assert kg.estimate_k(stored(graph, tmp_path, block_entries=5000)).k == 1


def test_estimate_k_refuses_other_arguments(tmp_path):
    store = small_store(tmp_path)
    with pytest.raises(InputError, match="operator must be BetheHessian"):
        kg.estimate_k(store, operator=kg.BetheHessian("second-moment"))
    with pytest.raises(InputError, match="weight must be 'weight'"):
        kg.estimate_k(store, weight=None)
