"""Edges that come in batches give the very graph that arrays give, bit for bit."""

import io
from dataclasses import replace

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from helpers.strategies_adapters import exact_weights
from kgroups.adapters import as_graph, numbering, tables
from kgroups.adapters.dispatch import convert
from kgroups.adapters.edges import Batch, EdgeStream, ReadOptions, graph_of_integers
from kgroups.adapters.numbering import Texts
from kgroups.errors import FileFormatError, GraphError

same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

numbers = st.one_of(
    st.integers(0, 8),
    st.integers(3, 11),
    st.integers(-4, 4),
    st.sampled_from([-(2**63), -5, 0, 7, 10**12, 2**53 + 1, 2**63 - 1]),
)
unsigned = st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 1])
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)


@st.composite
def edge_tables(draw, names):
    rows = draw(st.lists(st.tuples(names, names, exact_weights), min_size=1, max_size=30))
    source, target, weight = (list(column) for column in zip(*rows, strict=True))
    columns = {"source": source, "target": target}
    return {**columns, "weight": weight} if draw(st.booleans()) else columns


def no_objects(*_):
    pytest.fail("a Python object per edge")


# Nothing counts as few, hash tables begin small, and four edges come at a time.
STREAMED = ReadOptions(few_edges=0, batch=4, first_names=1)


def streamed(obj, **options):
    with pytest.MonkeyPatch.context() as patch:
        for slow in ("_hashable_list", "_from_objects"):
            patch.setattr(tables, slow, no_objects)
        return convert(obj, replace(STREAMED, **options))


def at_once(columns, **options):
    return as_graph(tuple(columns.values()), **options)


def assert_same_bits(one, other):
    assert type(one.nodes) is type(other.nodes)
    assert list(map(type, one.nodes)) == list(map(type, other.nodes))
    assert one.nodes == other.nodes
    for name in ("indptr", "indices", "weights", "multiplicity"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert (ours is None) == (theirs is None)
        assert ours is None or (ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes())


def save_npz(path, columns, kind):
    arrays_of = {key: np.array(values) for key, values in columns.items()}
    arrays_of["source"] = np.array(columns["source"], kind)
    arrays_of["target"] = np.array(columns["target"], kind)
    np.savez(path, **arrays_of)


def save_parquet(path, columns, kind, *, dictionary=False):
    ends = {key: pa.array(columns[key], kind) for key in ("source", "target")}
    if dictionary:
        ends = {key: column.dictionary_encode() for key, column in ends.items()}
    table = pa.table({**columns, **ends})
    pyarrow.parquet.write_table(table, path, row_group_size=7)


@same_folder
@given(edge_tables(numbers), st.booleans())
def test_integers(tmp_path, columns, compressed):
    expected = at_once(columns)
    save_npz(tmp_path / "a.npz", columns, np.int64)
    assert_same_bits(streamed(tmp_path / "a.npz"), expected)
    save_parquet(tmp_path / "a.parquet", columns, pa.int64(), dictionary=compressed)
    assert_same_bits(streamed(tmp_path / "a.parquet"), expected)


@same_folder
@given(edge_tables(unsigned))
def test_integers_without_a_sign(tmp_path, columns):
    expected = at_once(
        {
            key: np.array(values, np.uint64 if key != "weight" else float)
            for key, values in columns.items()
        }
    )
    save_npz(tmp_path / "a.npz", columns, np.uint64)
    assert_same_bits(streamed(tmp_path / "a.npz"), expected)
    save_parquet(tmp_path / "a.parquet", columns, pa.uint64())
    assert_same_bits(streamed(tmp_path / "a.parquet"), expected)


@same_folder
@given(edge_tables(texts), st.sampled_from([pa.string(), pa.large_string()]), st.booleans())
def test_texts(tmp_path, columns, kind, dictionary):
    expected = at_once(columns)
    save_npz(tmp_path / "a.npz", columns, np.str_)
    assert_same_bits(streamed(tmp_path / "a.npz"), expected)
    save_parquet(tmp_path / "a.parquet", columns, kind, dictionary=dictionary)
    assert_same_bits(streamed(tmp_path / "a.parquet"), expected)


@same_folder
@given(edge_tables(st.binary(max_size=4).map(lambda raw: raw.rstrip(b"\0"))))
def test_bytes(tmp_path, columns):
    expected = at_once(columns)
    save_npz(tmp_path / "a.npz", columns, np.bytes_)
    assert_same_bits(streamed(tmp_path / "a.npz"), expected)
    save_parquet(tmp_path / "a.parquet", columns, pa.binary())
    assert_same_bits(streamed(tmp_path / "a.parquet"), expected)


@same_folder
@given(edge_tables(numbers), st.sampled_from([{"symmetrize": "union"}, {"weight": None}]))
def test_options(tmp_path, columns, options):
    expected = at_once(columns, **options)
    save_npz(tmp_path / "a.npz", columns, np.int64)
    assert_same_bits(streamed(tmp_path / "a.npz", **options), expected)
    save_parquet(tmp_path / "a.parquet", columns, pa.int64())
    assert_same_bits(streamed(tmp_path / "a.parquet", **options), expected)


@given(edge_tables(numbers))
def test_arrays_in_memory(columns):
    columns = {key: np.array(values) for key, values in columns.items()}
    assert_same_bits(streamed(tuple(columns.values())), at_once(columns))


@given(edge_tables(st.integers(0, 8)))
def test_the_union_of_arcs(columns):
    arcs = nx.MultiDiGraph(list(zip(columns["source"], columns["target"], strict=True)))
    expected = as_graph(arcs, symmetrize="union")
    assert_same_bits(streamed(arcs, symmetrize="union"), expected)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", ["i2", "u4", "i8", "U3"])
def test_npz_of_either_byte_order(tmp_path, order, kind):
    source, target = np.array([1, 2, 3, 1]), np.array([2, 3, 4, 3])
    names = {"source": source.astype(f"{order}{kind}"), "target": target.astype(f"{order}{kind}")}
    np.savez_compressed(tmp_path / "a.npz", **names, weight=np.array([1, 2, 3, 4], f"{order}f4"))
    graph = streamed(tmp_path / "a.npz")
    assert graph.nodes == (("1", "2", "3", "4") if kind == "U3" else (1, 2, 3, 4))
    assert graph.edges()[2].tolist() == [1.0, 4.0, 2.0, 3.0]


@pytest.mark.parametrize("repeats", [0, 2])
def test_a_file_that_holds_another_number_of_edges_than_it_announces(repeats):
    batch = Batch(np.array([1, 2]), np.array([2, 3]), None)
    stream = EdgeStream(2, weighted=False, batches=lambda: iter([batch] * repeats))
    with pytest.raises(GraphError, match=r"announces 2 edges, but it holds a different number"):
        graph_of_integers(stream, STREAMED)


def test_integers_of_both_signs_that_need_65_bits(tmp_path):
    columns = {"source": np.array([-1, 3]), "target": np.array([2**64 - 1, 3], np.uint64)}
    np.savez(tmp_path / "a.npz", **columns)
    with pytest.raises(
        GraphError, match=r"must all fit into 64 bits, got -1 and 18446744073709551615"
    ):
        streamed(tmp_path / "a.npz")


def test_damage_inside_an_array_is_noticed(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, source=np.arange(100), target=np.arange(100) + 1)
    raw = bytearray(buffer.getvalue())
    raw[400] ^= 1
    (tmp_path / "a.npz").write_bytes(raw)
    with pytest.raises(FileFormatError, match=r"^a\.npz: the file must be valid npz, but: Bad CRC"):
        streamed(tmp_path / "a.npz")


@given(edge_tables(st.integers(0, 8)), st.sampled_from([None, "sum", "union"]), st.booleans())
def test_matrices_of_many_entries(columns, symmetrize, symmetric):
    matrix = np.zeros((10, 10))
    matrix[columns["source"], columns["target"]] = columns.get("weight", 1)
    matrix = sparse.csr_array(matrix + matrix.T if symmetric else matrix)
    if symmetrize is None and (matrix != matrix.T).nnz:
        with pytest.raises(GraphError, match="must be symmetric") as many:
            streamed(matrix)
        with pytest.raises(GraphError, match="must be symmetric") as few:
            as_graph(matrix)
        assert str(many.value) == str(few.value)
    else:
        expected = as_graph(matrix, symmetrize=symmetrize)
        assert_same_bits(streamed(matrix, symmetrize=symmetrize), expected)


@same_folder
@given(edge_tables(st.integers(0, 8)), st.sampled_from([bool, np.int8, float]))
def test_matrices_that_scipy_saved(tmp_path, columns, kind):
    matrix = np.zeros((10, 10))
    matrix[columns["source"], columns["target"]] = columns.get("weight", 1)
    matrix = sparse.csr_array((matrix + matrix.T).astype(kind))
    sparse.save_npz(tmp_path / "a.npz", matrix)
    assert_same_bits(streamed(tmp_path / "a.npz"), as_graph(matrix))


def equal_hashes(_starts, _stops, _data, hashes):
    hashes[:] = 7


@same_folder
@given(edge_tables(texts))
def test_texts_whose_hashes_are_all_equal(tmp_path, columns):
    save_parquet(tmp_path / "a.parquet", columns, pa.string())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "hash_texts", equal_hashes)
        graph = streamed(tmp_path / "a.parquet")
    assert_same_bits(graph, at_once(columns))


def test_many_texts_are_decoded_part_by_part():
    names = [f"node {i}" * (i % 3) for i in range(40_000)]
    bounds = np.concatenate([[0], np.cumsum([len(name) for name in names])])
    column = Texts(bounds, np.frombuffer("".join(names).encode(), np.uint8), bytes.decode)
    assert list(column) == names
    assert column[39_998] == names[39_998]
