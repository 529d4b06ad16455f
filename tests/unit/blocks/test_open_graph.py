"""Stores hold what the in-memory readers find in the same files."""

import bz2
import gzip
import lzma
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import kgroups as kg
from helpers.stores import (
    assert_consistent,
    assert_same,
    checksums,
    opened,
    random_edges,
    small_sizes,
    write_parquet,
)
from kgroups.blocks import ingest, names, sources
from kgroups.errors import (
    DirectedGraphError,
    FileFormatError,
    GraphError,
    InputError,
    StoreError,
    WeightError,
)

NAMES = {
    "dense": lambda x: x,
    "sparse": lambda x: x * 10**15 - 5,
    "negative": lambda x: x - 30,
    "text": lambda x: pa.array([f"n{i}" for i in x.tolist()]),
    "unicode": lambda x: pa.array([chr(0x1F600 - 40 * i) * (i % 3) + str(i) for i in x.tolist()]),
}


@pytest.fixture(autouse=True)
def in_pieces(monkeypatch):
    small_sizes(monkeypatch)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", NAMES)
def test_a_store_holds_what_is_read_in_memory(tmp_path, kind, weighted):
    u, v, w = random_edges()
    path = write_parquet(
        tmp_path / "e.parquet", NAMES[kind](u), NAMES[kind](v), w if weighted else None
    )
    stored = opened(path, tmp_path / "store", block_entries=50)
    assert len(stored.blocks) > 10
    assert stored.n_loops > 0
    assert_same(stored, kg.as_graph(path))


def test_the_same_numbers_with_gaps_are_found_by_table_and_by_merging(tmp_path, monkeypatch):
    u, v, _ = random_edges()
    path = write_parquet(tmp_path / "e.parquet", 7 * u, 7 * v)
    found = []
    for most_slots in (1, 10_000):
        small_sizes(monkeypatch, most_slots=most_slots)
        found.append(checksums(opened(path, tmp_path / str(most_slots))))
    assert found[0] == found[1]


def test_extreme_numbers_are_names(tmp_path):
    numbers = [-(2**63), 2**63 - 1, 0, -1, 2**62]
    path = write_parquet(tmp_path / "e.parquet", numbers, numbers[1:] + numbers[:1])
    stored = opened(path, tmp_path / "store")
    assert stored.nodes[:] == tuple(sorted(numbers))
    assert_same(stored, kg.as_graph(path))


def test_an_empty_name_is_a_name_in_parquet(tmp_path):
    path = write_parquet(tmp_path / "e.parquet", ["", "a", "b"], ["a", "b", ""])
    assert opened(path, tmp_path / "store").nodes[:] == ("", "a", "b")


def test_order_files_and_blocks_change_nothing(tmp_path, monkeypatch):
    u, v, w = random_edges()
    for kind in ("dense", "sparse", "text"):
        path = write_parquet(tmp_path / "a.parquet", NAMES[kind](u), NAMES[kind](v), w)
        first = opened(path, tmp_path / f"{kind}1", block_entries=60)
        order = np.random.default_rng(1).permutation(u.size)
        x, y = np.where(order % 2, u[order], v[order]), np.where(order % 2, v[order], u[order])
        parts = []
        for number, part in enumerate(np.array_split(np.arange(u.size), 3)):
            parts.append(
                write_parquet(
                    tmp_path / f"p{number}.parquet",
                    NAMES[kind](x[part]),
                    NAMES[kind](y[part]),
                    w[order][part],
                    row_group_size=17,
                )
            )
        small_sizes(monkeypatch, piece=23)
        second = opened(parts, tmp_path / f"{kind}2", block_entries=60)
        assert checksums(first) == checksums(second)
        whole = opened(path, tmp_path / f"{kind}3")
        assert len(whole.blocks) == 8 < len(first.blocks)
        assert np.array_equal(whole.strength, first.strength)
        assert np.array_equal(whole.position, first.position)


def test_a_pattern_names_files_in_order(tmp_path):
    u, v, _ = random_edges()
    for number in range(3):
        write_parquet(tmp_path / f"e{number}.parquet", u[number::3], v[number::3])
    stored = opened(str(tmp_path / "e*.parquet"), tmp_path / "store")
    assert_same(stored, kg.as_graph((u, v)))


def test_rows_of_many_entries_are_blocks_of_their_own(tmp_path):
    path = write_parquet(tmp_path / "e.parquet", np.zeros(300, int), np.arange(1, 301))
    stored = opened(path, tmp_path / "store", block_entries=50)
    assert max(info.entries for info in stored.blocks) >= 300
    assert_same(stored, kg.as_graph(path))


TEXTS = {
    "header.csv": "from,to,weight\n1,2,0.5\n2,3,1.5\n3,1,2\n",
    "blanks.txt": "# SNAP\n% more\n1   2\n2\t 3  # why\n\n 3 1 \n",
    "tabs.tsv": "ann\tbob smith\nbob smith\tcy\n",
    "quotes.csv": 'source,target\n"a,b","c ""d"""\n"c ""d""",e\n',
    "unusual.csv": "007,8\n8,-0\n+3,1\n",
    "late.txt": "1 2\n2 3\n3 x\n1 3\n",
    "windows.csv": "\ufeffa;b\r\nb;c\r\nc;a\r\n",
    "old.csv": "1,2\r2,3\r3,1\r",
    "more.csv": "id,source,target,kind\n9,a,b,x\n8,b,c,y\n",
    "type.csv": "source,target,type\na,b,Undirected\nb,c,undirected\n",
    "only_source.csv": "source,target\n3,1\n1,1\n",
    "unicode.txt": "ä\u00a0ö\nö ü\n",
    "long.csv": "a,123456789012345678901234567890\n",
    "third.txt": "1 2 3\n2 3 4\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_read_as_in_memory(tmp_path, name):
    path = tmp_path / name
    path.write_text(TEXTS[name], encoding="utf-8", newline="")
    assert_same(opened(path, tmp_path / "store"), kg.as_graph(path))


@pytest.mark.parametrize("name", TEXTS)
def test_both_ways_of_reading_text_agree(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_text(TEXTS[name], encoding="utf-8", newline="")
    fast = opened(path, tmp_path / "fast")
    monkeypatch.setattr(sources._Text, "_fast", lambda *_: None)
    assert checksums(opened(path, tmp_path / "slow")) == checksums(fast)


def test_text_is_read_in_blocks(tmp_path, monkeypatch):
    u, v, w = random_edges(m=2000)
    lines = [f"{a},{b},{c}\n" for a, b, c in zip(u, v, w, strict=True)]
    path = tmp_path / "e.csv"
    path.write_text("source,target,weight\n" + "".join(lines))
    small_sizes(monkeypatch, piece=31)
    assert_same(opened(path, tmp_path / "store"), kg.as_graph(path))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_compressed_text_is_read(tmp_path, suffix):
    u, v, _ = random_edges()
    text = "".join(f"{a} {b}\n" for a, b in zip(u, v, strict=True)).encode()
    plain, packed = tmp_path / "e.txt", tmp_path / f"e.txt{suffix}"
    plain.write_bytes(text)
    compress = {
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": lambda x: pa.compress(x, "zstd", asbytes=True),
    }[suffix]
    content = compress(text)
    packed.write_bytes(content)
    assert_same(opened(packed, tmp_path / "store"), kg.as_graph(plain))
    packed.write_bytes(content[: len(content) // 2])
    with pytest.raises(FileFormatError, match=rf"e\.txt{suffix}: the file could not be read"):
        opened(packed, tmp_path / "other")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_arrays_of_edges_are_read(tmp_path, weighted, compressed):
    u, v, w = random_edges()
    save = np.savez_compressed if compressed else np.savez
    save(tmp_path / "e.npz", source=u, target=v, **({"weight": w} if weighted else {}))
    assert_same(opened(tmp_path / "e.npz", tmp_path / "store"), kg.as_graph(tmp_path / "e.npz"))


def test_arrays_of_text_are_read(tmp_path):
    np.savez(tmp_path / "e.npz", source=np.array(["b", "a"]), target=np.array(["a", "cä"]))
    assert_same(opened(tmp_path / "e.npz", tmp_path / "store"), kg.as_graph(tmp_path / "e.npz"))


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_an_array_are_edges(tmp_path, order):
    u, v, _ = random_edges()
    np.save(tmp_path / "e.npy", np.asarray(np.stack([u, v], axis=1), order=order))
    assert_same(opened(tmp_path / "e.npy", tmp_path / "store"), kg.as_graph((u, v)))


@pytest.mark.parametrize("weight", ["weight", None])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "row and col", "bool"])
def test_saved_matrices_are_read(tmp_path, form, weight):
    A = sparse.random(40, 40, 0.1, random_state=np.random.default_rng(1))
    A = (A + A.T).tocsr()
    path = tmp_path / "e.npz"
    if form == "row and col":
        coo = A.tocoo()
        np.savez(path, row=coo.row, col=coo.col, data=coo.data)
    elif form == "bool":
        sparse.save_npz(path, A.astype(bool))
    else:
        sparse.save_npz(path, A.asformat(form))
    stored = opened(path, tmp_path / "store", weight=weight)
    assert_same(stored, kg.as_graph(path, weight=weight))


def test_a_matrix_must_be_symmetric(tmp_path):
    A = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 2], [0, 1, 0]]))
    sparse.save_npz(tmp_path / "e.npz", A)
    with pytest.raises(GraphError, match=r"e\.npz: an adjacency matrix must be symmetric"):
        opened(tmp_path / "e.npz", tmp_path / "store")
    sparse.save_npz(tmp_path / "e.npz", sparse.csr_array(np.ones((2, 3))))
    with pytest.raises(GraphError, match=r"must be square, got shape \(2, 3\)"):
        opened(tmp_path / "e.npz", tmp_path / "store")


def test_no_edges_are_an_empty_graph(tmp_path):
    (tmp_path / "e.csv").write_text("# nothing\n")
    np.savez(tmp_path / "e.npz", source=np.empty(0, int), target=np.empty(0, int))
    write_parquet(tmp_path / "e.parquet", pa.array([], pa.string()), pa.array([], pa.string()))
    for suffix in ("csv", "npz", "parquet"):
        stored = opened(tmp_path / f"e.{suffix}", tmp_path / suffix)
        assert (stored.n, stored.m, stored.entries, stored.blocks) == (0, 0, 0, ())
        assert stored.to_graph().n == len(stored.nodes) == 0
        assert stored.colors == (0,) * 9


def test_a_node_with_a_loop_alone_is_a_node(tmp_path):
    path = write_parquet(tmp_path / "e.parquet", [5, 5, 7], [5, 5, 8])
    stored = opened(path, tmp_path / "store")
    assert stored.nodes[:] == (5, 7, 8)
    assert stored.loops.tolist() == [[stored.position[0]], [2]]
    assert not stored.weighted
    assert_same(stored, kg.as_graph(path))


# --- Weights


def test_equal_weights_are_a_common_weight(tmp_path):
    path = write_parquet(tmp_path / "e.parquet", [0, 1, 2], [1, 2, 0], [2.5, 2.5, 2.5])
    stored = opened(path, tmp_path / "store")
    assert (stored.weighted, stored.common_weight, stored.counted) == (False, 2.5, False)
    assert stored.strength.tolist() == [2, 2, 2]
    assert stored.read(0).weights is None
    assert_same(stored, kg.as_graph(path))


def test_edges_that_are_all_listed_twice_have_a_common_weight(tmp_path):
    path = write_parquet(tmp_path / "e.parquet", [0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2])
    stored = opened(path, tmp_path / "store")
    assert (stored.weighted, stored.common_weight, stored.m) == (False, 2.0, 6)
    assert_same(stored, kg.as_graph(path))


@pytest.mark.parametrize(
    "weights",
    [[0.1, 0.7, 3.0], [1e-300, 1.0, 1e300], [0.0, 5e-324, 1.0], [0.0, 0.0, 0.0], [3, 5, 7]],
)
def test_parallel_edges_have_the_same_sum_in_any_order(tmp_path, weights):
    found = []
    for turn in range(3):
        order = np.roll(np.arange(6), turn)
        u, v, w = np.array([[0, 1, 0, 1, 0, 1], [1, 0, 1, 2, 2, 2], [*weights, *weights]])[:, order]
        path = write_parquet(tmp_path / f"{turn}.parquet", u.astype(int), v.astype(int), w)
        found.append(opened(path, tmp_path / str(turn)))
    assert checksums(found[0]) == checksums(found[1]) == checksums(found[2])
    assert found[0].unit == found[1].unit == found[2].unit
    assert found[0].strength.sum() < 2**61
    positive = np.concatenate([found[0].read(b.number).weights for b in found[0].blocks])
    assert np.count_nonzero(positive) == (6 if weights[1] else 0)
    assert_consistent(found[0])
    if max(weights) < 1e300:
        assert_same(found[0], kg.as_graph(tmp_path / "0.parquet"))


def test_whole_numbers_have_the_unit_one(tmp_path):
    path = write_parquet(tmp_path / "e.parquet", [0, 1, 2], [1, 2, 3], [3.0, 2.0, 1e9 + 1])
    assert opened(path, tmp_path / "store").unit == 1.0


def test_weights_that_overflow_are_refused(tmp_path):
    path = write_parquet(tmp_path / "e.parquet", [0, 1], [1, 2], [1e308, 1e308])
    with pytest.raises(WeightError, match="the sum of the edge weights must be finite"):
        opened(path, tmp_path / "store")


def test_columns_are_chosen_and_weights_ignored(tmp_path):
    text = "caller,called,minutes\nann,bob,3\nbob,cat,12\n"
    (tmp_path / "e.csv").write_text(text)
    columns = {"source": "caller", "target": "called"}
    for weight in ("minutes", None):
        stored = opened(tmp_path / "e.csv", tmp_path / str(weight), weight=weight, **columns)
        assert_same(stored, kg.as_graph(tmp_path / "e.csv", weight=weight, **columns))
    with pytest.raises(WeightError, match="weight must name an edge column"):
        opened(tmp_path / "e.csv", tmp_path / "other", weight="hours", **columns)


# --- Errors


def parquet_error(tmp_path, error, match, u, v, w=None):
    path = write_parquet(tmp_path / "e.parquet", u, v, w)
    with pytest.raises(error, match=match):
        opened(path, tmp_path / "store")
    assert not (tmp_path / "store").exists()
    assert not (tmp_path / "store.partial").exists()


@pytest.mark.parametrize(
    ("weight", "shown"), [(-1.5, r"-1\.5"), (np.nan, "nan"), (np.inf, "inf"), (None, "null")]
)
def test_a_weight_that_is_none_is_named_with_its_place(tmp_path, weight, shown):
    match = rf"e\.parquet: .*{shown} on edge \('b', 'c'\), in column 'weight', row 1"
    parquet_error(tmp_path, WeightError, match, ["a", "b"], ["b", "c"], [1.0, weight])


def test_names_must_be_there(tmp_path):
    match = r"node names must not be missing, got null in column 'target', row 1"
    parquet_error(tmp_path, GraphError, match, ["a", "b"], ["b", None])


def test_names_must_be_whole_numbers_or_text(tmp_path):
    match = "node names in a file must be whole numbers or text, got double in column 'source'"
    parquet_error(tmp_path, GraphError, match, [1.0, 2.0], [2, 3])
    parquet_error(tmp_path, GraphError, "got binary in column 'target'", ["a"], [b"b"])
    parquet_error(tmp_path, GraphError, "both ends must be whole numbers", [1], ["b"])


def test_names_must_fit_in_64_bits(tmp_path):
    big = pa.array([1, 2**63], pa.uint64())
    match = r"from -2\*\*63 to 2\*\*63 - 1, got 9223372036854775808 in column 'source', row 1"
    parquet_error(tmp_path, GraphError, match, big, [1, 2])
    (tmp_path / "e.csv").write_text("1,2\n2,9223372036854775808\n")
    with pytest.raises(GraphError, match=r"from -2\*\*63 to 2\*\*63 - 1, got a longer one"):
        opened(tmp_path / "e.csv", tmp_path / "store")


def test_weights_must_be_numbers(tmp_path):
    match = "edge weights must be numbers, got string in column 'weight'"
    parquet_error(tmp_path, WeightError, match, [1, 2], [2, 3], ["a", "b"])


TEXT_ERRORS = {
    "ann,bob\nbob\n": "line 2: every line must have 2 fields as the first one has, got 1",
    "ann,bob\nbob,\n": "line 2: a node name is empty",
    "a,b,1\nb,c,x\n": "line 2: a weight must be a number, got 'x'",
    "a,b,1\nb,c,-2\n": r"-2\.0 on edge \('b', 'c'\)",
    "source,target,type\na,b,directed\n": "must be undirected, got .* line 2 says directed",
    "alpha,beta\n1,2\n3,4\n": "line 1: 'alpha' and 'beta' look like column names",
    "u,v\nv,w\n": "line 1: 'u' and 'v' may be column names or an edge",
    "a,b,c,d\n1,2,3,4\n": "a line must hold two node names and perhaps a weight, got 4 fields",
}


@pytest.mark.parametrize("text", TEXT_ERRORS)
def test_errors_in_text_name_the_line(tmp_path, text):
    (tmp_path / "e.csv").write_text(text)
    with pytest.raises(GraphError, match=TEXT_ERRORS[text]) as error:
        opened(tmp_path / "e.csv", tmp_path / "store")
    assert "symmetrize" not in str(error.value)
    with pytest.raises(type(error.value), match=TEXT_ERRORS[text]):
        kg.as_graph(tmp_path / "e.csv")


def test_bytes_that_are_no_text_are_named(tmp_path):
    (tmp_path / "e.csv").write_bytes(b"a,b\nb,\xff\n")
    with pytest.raises(FileFormatError, match=r"e\.csv, line 2: text must be UTF-8"):
        opened(tmp_path / "e.csv", tmp_path / "store")


def test_directed_edges_are_refused(tmp_path):
    (tmp_path / "e.csv").write_text("source,target,type\na,b,Directed\n")
    with pytest.raises(DirectedGraphError, match="remove the column 'type'"):
        opened(tmp_path / "e.csv", tmp_path / "store")


def test_files_must_go_together(tmp_path):
    one = write_parquet(tmp_path / "a.parquet", [1], [2])
    text = write_parquet(tmp_path / "b.parquet", ["x"], ["y"])
    weighted = write_parquet(tmp_path / "c.parquet", [1], [2], [0.5])
    (tmp_path / "d.csv").write_text("1,2\n")
    for files, match in (
        ([one, text], "all files must have whole numbers as node names"),
        ([one, weighted], "all files must have weights, or none"),
        ([one, tmp_path / "d.csv"], "all files must have one format"),
        ([one, one], "each file must be given once"),
        ([], None),
    ):
        if match is None:
            assert opened(files, tmp_path / "none").n == 0
            continue
        with pytest.raises(InputError, match=match):
            opened(files, tmp_path / "store")


def test_files_must_exist_and_have_a_known_format(tmp_path):
    (tmp_path / "e.gml").write_text("")
    for edges, match in (
        (tmp_path / "x*.csv", "there is no such file"),
        (tmp_path, "got the folder"),
        (tmp_path / "e.gml", "the suffix must tell the format, got '.gml'"),
        (np.zeros((2, 2)), "edges must be the path of a file, .* got ndarray"),
    ):
        with pytest.raises(InputError, match=match):
            opened(edges, tmp_path / "store")


def test_broken_files_are_named(tmp_path):
    for name in ("e.npz", "e.npy", "e.parquet"):
        (tmp_path / name).write_bytes(b"PK or whatever")
        with pytest.raises(FileFormatError, match=rf"{name}: the file could not be read"):
            opened(tmp_path / name, tmp_path / "store")


@pytest.mark.parametrize("memory", ["much", "100MB", 0, -1, True, None, "2 XB", float("nan")])
def test_memory_must_be_a_number_of_bytes(tmp_path, memory):
    with pytest.raises(InputError, match="memory must be at least 300 MB"):
        opened(tmp_path / "e.csv", tmp_path / "store", memory=memory)


@pytest.mark.parametrize("entries", [0, 1.5, True, "many"])
def test_block_entries_must_be_positive(tmp_path, entries):
    with pytest.raises(InputError, match="block_entries must be a whole number >= 1"):
        opened(tmp_path / "e.csv", tmp_path / "store", block_entries=entries)


def test_too_many_nodes_for_the_memory_are_refused(tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "e.parquet", np.arange(100), np.arange(1, 101))
    monkeypatch.setattr(ingest, "_NODE_BYTES", 10**7)
    with pytest.raises(StoreError, match=r"memory must be at least 1,220,000,000 bytes for 101"):
        opened(path, tmp_path / "store", memory="1GB")
    assert opened(path, tmp_path / "store", memory="4GB").n == 101


def test_equal_hashes_lead_to_another_seed(tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "e.parquet", ["a", "b", "c"] * 40, ["b", "c", "d"] * 40)
    seeds, hashed = [], names.hashes

    def weak(texts, seed):
        seeds.append(seed)
        # In a piece hashes differ; those of two pieces meet when names are merged.
        keys = hashed(texts, seed)
        return keys if seed > 2 else keys % (1 if seed < 2 else 2) << 60

    monkeypatch.setattr(names, "hashes", weak)
    assert_same(opened(path, tmp_path / "store"), kg.as_graph(path))
    assert max(seeds) == 3
    monkeypatch.setattr(names, "hashes", lambda texts, seed: np.zeros(len(texts), np.int64))
    with pytest.raises(GraphError, match="node names must have different hashes"):
        opened(path, tmp_path / "other")


def test_equal_hashes_in_different_pieces_are_noticed(tmp_path, monkeypatch):
    small_sizes(monkeypatch, piece=1)
    path = write_parquet(tmp_path / "e.parquet", ["a", "c"], ["b", "d"], row_group_size=1)
    hashed = names.hashes

    def weak(texts, seed):
        if seed:
            return hashed(texts, seed)
        return np.array([{"a": 0, "b": 1, "c": 1, "d": 2}[x] for x in texts.to_pylist()])

    monkeypatch.setattr(names, "hashes", weak)
    assert_same(opened(path, tmp_path / "store"), kg.as_graph(path))


# --- Memory and progress


def test_memory_does_not_grow_with_the_edges(tmp_path, monkeypatch):
    # The compiler takes memory, too.
    monkeypatch.setenv("KGROUPS_JIT", "never")
    small_sizes(monkeypatch, piece=5000)
    peaks = []
    for m in (20_000, 80_000):
        u, v, w = random_edges(n=300, m=m)
        path = write_parquet(tmp_path / f"{m}.parquet", u, v, w, row_group_size=5000)
        tracemalloc.start()
        opened(path, tmp_path / str(m), block_entries=8000)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]
    assert peaks[1] < 16 * 80_000


def test_progress_names_the_stages(tmp_path):
    path = write_parquet(tmp_path / "e.parquet", [0, 1], [1, 2])
    said = []
    opened(path, tmp_path / "store", progress=said.append)
    stages = ["reading edges", "sorting names", "dealing edges", "writing blocks"]
    assert [one for one in said if "," not in one] == stages
