"""What is wrong in a file of columns is named by column and row."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from kgroups.adapters import as_graph, read_graph
from kgroups.errors import FileFormatError, GraphError, WeightError


@pytest.fixture
def save(tmp_path):
    def save_columns(suffix, **columns):
        path = tmp_path / f"a{suffix}"
        if suffix == ".npz":
            np.savez(path, **columns)
        else:
            pyarrow.parquet.write_table(pa.table(columns), path)
        return path

    return save_columns


@pytest.mark.parametrize("far", [7, 10**9, 10**17])
def test_signed_and_unsigned_names_stay_whole(save, far):
    source, target = np.array([0, far + 1]), np.array([far + 3, 5], dtype=np.uint64)
    for graph in (
        as_graph((source, target)),
        read_graph(save(".npz", source=source, target=target)),
        read_graph(save(".parquet", source=source, target=target)),
    ):
        assert list(graph.nodes) == sorted([0, 5, far + 1, far + 3])


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (
            {"source": [1, 2, 3, None], "target": [2, 3, 4, 5]},
            GraphError,
            r"node names must not be missing, got null in column 'source', row 3 \(the first is 0\)"
            r"\.\n  Name the node",
        ),
        (
            {"source": ["a", "b", "c"], "target": ["b", "c", None]},
            GraphError,
            r"node names must not be missing, got null in column 'target', row 2 ",
        ),
        (
            {"source": [0.5, 1.0], "target": [1, 2]},
            GraphError,
            r"names in a file must be whole numbers or text, got double in column 'source'\.\n"
            r"  Write the column with an integer type",
        ),
        (
            {"source": ["a", "b", "c"], "target": ["b", "c", "d"], "weight": [1, 2, None]},
            WeightError,
            r"finite and >= 0, got null on edge \('c', 'd'\), in column 'weight', row 2 \(the",
        ),
        (
            {"source": [1, 2, 3], "target": [2, 3, 4], "weight": [True, None, True]},
            WeightError,
            r"got null on edge \(2, 3\), in column 'weight', row 1 ",
        ),
        (
            {"source": [1, 2, 3], "target": [2, 3, 4], "weight": ["1", "2", "3"]},
            WeightError,
            r"got '1' on edge \(1, 2\)",
        ),
        ({"source": [1, 2], "to": [2, 3]}, GraphError, r"one column 'target', got the columns"),
    ],
)
def test_parquet_files_that_are_wrong(save, columns, error, message):
    with pytest.raises(error, match=rf"^a\.parquet: .*{message}"):
        read_graph(save(".parquet", **columns))


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@pytest.mark.parametrize("bad", [-1.5, float("nan"), float("inf")])
@pytest.mark.parametrize(
    ("source", "target", "edge"),
    [
        ([1, 2, 10**12], [2, 3, 4], r"\(1000000000000, 4\)"),
        (["a", "b", "c"], ["b", "c", "d"], r"\('c', 'd'\)"),
    ],
)
def test_bad_weights_are_named_by_edge_column_and_row(save, suffix, bad, source, target, edge):
    path = save(suffix, source=source, target=target, cost=[1.0, 0.0, bad])
    message = (
        rf"got {bad} on edge {edge}, in column 'cost', row 2 \(the first is 0\)\.\n  Remove or"
    )
    with pytest.raises(WeightError, match=rf"^a\{suffix}: .*{message}"):
        read_graph(path, weight="cost")
    assert read_graph(path).m == 3
    assert read_graph(path, weight="cost", symmetrize="union").weights is None


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": [1, 2], "target": [2]}, "must have one entry per edge, got lengths 2, 1"),
        (
            {"source": [1], "target": [2], "weight": [1, 2]},
            "must have one entry per edge, got lengths 1, 1, 2",
        ),
        ({"source": [0.5], "target": [2]}, "whole numbers or text, got float64 in column 'source'"),
        ({"source": [[1]], "target": [2]}, r"one-dimensional, got an array of shape \(1, 1\)"),
        ({"from": [1], "target": [2]}, "one column 'source' and one column 'target', got"),
    ],
)
def test_npz_files_that_are_wrong(save, columns, message):
    with pytest.raises(GraphError, match=rf"^a\.npz: .*{message}"):
        read_graph(save(".npz", **columns))


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@pytest.mark.parametrize("kind", [np.int64, np.str_])
def test_files_without_edges_are_refused(save, suffix, kind):
    empty = np.array([], kind)
    path = save(suffix, source=empty, target=empty, weight=np.array([], float))
    with pytest.raises(FileFormatError, match=rf"^a\{suffix}: .* at least one node, got none"):
        read_graph(path)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_columns_are_found_by_usual_names_or_named(save, suffix):
    columns = {"To": [2, 3], "from_": [1, 2], "caller": [7, 8], "called": [8, 9]}
    path = save(suffix, **columns, Weight=[0.5, 2.5])
    graph = read_graph(path)
    assert (tuple(graph.nodes), graph.weights.tolist()) == ((1, 2, 3), [0.5, 0.5, 2.5, 2.5])
    graph = read_graph(path, source="caller", target="called", weight=None)
    assert (tuple(graph.nodes), graph.weights) == ((7, 8, 9), None)
    with pytest.raises(GraphError, match=rf"^a\{suffix}: source must name one column .* 'x'"):
        read_graph(path, source="x", target="called")


def test_names_of_other_types_are_kept_as_they_were(save):
    days = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], "datetime64[D]")
    graph = read_graph(save(".npz", source=days[:2], target=days[1:]))
    assert graph.nodes == tuple(days)
    mixed = save(".parquet", source=["a", "b"], target=[1, 2])
    assert read_graph(mixed).nodes == ("a", 1, "b", 2)


def test_names_that_numpy_pads_are_one_name_whatever_the_width(save):
    path = save(".npz", source=np.array(["a", "b"], "U1"), target=np.array(["b", "long"], "U9"))
    assert read_graph(path).nodes == ("a", "b", "long")
