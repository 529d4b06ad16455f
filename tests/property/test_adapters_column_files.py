"""Edges in files of columns give the very graph that arrays give, bit for bit."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from helpers.strategies_adapters import exact_weights
from kgroups.adapters import as_graph
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


def as_arrays(columns, **options):
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
    expected = as_arrays(columns)
    save_npz(tmp_path / "a.npz", columns, np.int64)
    assert_same_bits(as_graph(tmp_path / "a.npz"), expected)
    save_parquet(tmp_path / "a.parquet", columns, pa.int64(), dictionary=compressed)
    assert_same_bits(as_graph(tmp_path / "a.parquet"), expected)


@same_folder
@given(edge_tables(unsigned))
def test_integers_without_a_sign(tmp_path, columns):
    expected = as_arrays(
        {
            key: np.array(values, np.uint64 if key != "weight" else float)
            for key, values in columns.items()
        }
    )
    save_npz(tmp_path / "a.npz", columns, np.uint64)
    assert_same_bits(as_graph(tmp_path / "a.npz"), expected)
    save_parquet(tmp_path / "a.parquet", columns, pa.uint64())
    assert_same_bits(as_graph(tmp_path / "a.parquet"), expected)


@same_folder
@given(edge_tables(texts), st.sampled_from([pa.string(), pa.large_string()]), st.booleans())
def test_texts(tmp_path, columns, kind, dictionary):
    expected = as_arrays(columns)
    save_npz(tmp_path / "a.npz", columns, np.str_)
    assert_same_bits(as_graph(tmp_path / "a.npz"), expected)
    save_parquet(tmp_path / "a.parquet", columns, kind, dictionary=dictionary)
    assert_same_bits(as_graph(tmp_path / "a.parquet"), expected)


@same_folder
@given(edge_tables(st.binary(max_size=4).map(lambda raw: raw.rstrip(b"\0"))))
def test_bytes(tmp_path, columns):
    expected = as_arrays(columns)
    save_npz(tmp_path / "a.npz", columns, np.bytes_)
    assert_same_bits(as_graph(tmp_path / "a.npz"), expected)
    save_parquet(tmp_path / "a.parquet", columns, pa.binary())
    assert_same_bits(as_graph(tmp_path / "a.parquet"), expected)


@same_folder
@given(edge_tables(numbers), st.sampled_from([{"symmetrize": "union"}, {"weight": None}]))
def test_options(tmp_path, columns, options):
    expected = as_arrays(columns, **options)
    save_npz(tmp_path / "a.npz", columns, np.int64)
    assert_same_bits(as_graph(tmp_path / "a.npz", **options), expected)
    save_parquet(tmp_path / "a.parquet", columns, pa.int64())
    assert_same_bits(as_graph(tmp_path / "a.parquet", **options), expected)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", ["i2", "u4", "i8", "U3"])
def test_npz_of_either_byte_order(tmp_path, order, kind):
    source, target = np.array([1, 2, 3, 1]), np.array([2, 3, 4, 3])
    names = {"source": source.astype(f"{order}{kind}"), "target": target.astype(f"{order}{kind}")}
    np.savez_compressed(tmp_path / "a.npz", **names, weight=np.array([1, 2, 3, 4], f"{order}f4"))
    graph = as_graph(tmp_path / "a.npz")
    assert graph.nodes == (("1", "2", "3", "4") if kind == "U3" else (1, 2, 3, 4))
    assert graph.edges()[2].tolist() == [1.0, 4.0, 2.0, 3.0]


def test_damage_inside_an_array_is_noticed(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, source=np.arange(100), target=np.arange(100) + 1)
    raw = bytearray(buffer.getvalue())
    raw[400] ^= 1
    (tmp_path / "a.npz").write_bytes(raw)
    with pytest.raises(FileFormatError, match=r"^a\.npz: the file must be valid npz, but: Bad CRC"):
        as_graph(tmp_path / "a.npz")


@same_folder
@given(edge_tables(st.integers(0, 8)), st.sampled_from([bool, np.int8, float]))
def test_matrices_that_scipy_saved(tmp_path, columns, kind):
    matrix = np.zeros((10, 10))
    matrix[columns["source"], columns["target"]] = columns.get("weight", 1)
    matrix = sparse.csr_array((matrix + matrix.T).astype(kind))
    sparse.save_npz(tmp_path / "a.npz", matrix)
    assert_same_bits(as_graph(tmp_path / "a.npz"), as_graph(matrix))


def test_integers_of_both_signs_that_need_65_bits(tmp_path):
    columns = {"source": np.array([-1, 3]), "target": np.array([2**64 - 1, 3], np.uint64)}
    np.savez(tmp_path / "a.npz", **columns)
    assert as_graph(tmp_path / "a.npz").nodes == (-1, 2**64 - 1, 3)


@given(edge_tables(st.integers(0, 8)), st.sampled_from([None, "sum", "union"]), st.booleans())
def test_matrices(columns, symmetrize, symmetric):
    dense = np.zeros((10, 10))
    dense[columns["source"], columns["target"]] = columns.get("weight", 1)
    dense = dense + dense.T if symmetric else dense
    if symmetrize is None and (dense != dense.T).any():
        with pytest.raises(GraphError, match="must be symmetric"):
            as_graph(sparse.csr_array(dense))
        return
    graph = as_graph(sparse.csr_array(dense), symmetrize=symmetrize)
    expected = dense
    if symmetrize == "union":
        expected = ((dense + dense.T) > 0).astype(float)
    elif (dense != dense.T).any():
        expected = dense + np.triu(dense.T, 1) + np.tril(dense.T, -1)
    assert np.array_equal(graph.to_scipy().todense(), expected)
