"""From a table of edges to a table of communities: names keep their type, nothing half-written."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from kgroups._csr import FEW_EDGES
from kgroups.cli import main

SOURCE = [0, 1, 2, 2, 3, 4, 5]
TARGET = [1, 2, 0, 3, 4, 5, 3]
NAMES = {
    "numbers": list(range(6)),
    "identifiers": [5, 7, 2**33, 2**40, 2**50, 2**62],
    "text": ["ann", "bob", "cat", "dan", "eve", "fay"],
}


@pytest.fixture(params=["few", "many"])
def copies(request):
    """Return how often to list each edge, so that the edges are sorted or counted."""
    return 1 if request.param == "few" else FEW_EDGES // len(SOURCE) + 1


@pytest.fixture
def edges(tmp_path):
    def save(suffix, names, copies=1):
        columns = {
            "source": [names[i] for i in SOURCE] * copies,
            "target": [names[i] for i in TARGET] * copies,
        }
        path = tmp_path / f"edges{suffix}"
        if suffix == ".npz":
            np.savez(path, **columns)
        else:
            pyarrow.parquet.write_table(pa.table(columns), path)
        return path

    return save


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_edges_in_communities_out(edges, copies, tmp_path, capsys, names, suffix):
    target = tmp_path / "communities.parquet"
    path = edges(suffix, names, copies)
    assert main(["detect", str(path), "-k", "2", "--output", str(target)]) == 0
    assert capsys.readouterr().out.endswith(f"wrote {target}\n")
    table = pyarrow.parquet.read_table(target)
    assert table.column_names == ["node", "community"]
    assert table["node"].type == (pa.string() if names is NAMES["text"] else pa.int64())
    labels = dict(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert sorted(labels, key=names.index) == names
    assert labels[names[0]] == labels[names[1]] == labels[names[2]]
    assert labels[names[3]] == labels[names[4]] == labels[names[5]] != labels[names[0]]
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"edges{suffix}", "communities.parquet"}


def never(*_, **__):
    pytest.fail("the long work began")


def test_names_that_the_file_cannot_hold_are_refused_before_the_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("kgroups.detect.detect_communities", never)
    days = np.array(["2024-01-01", "2024-01-02"], "datetime64[D]")
    np.savez(tmp_path / "edges.npz", source=days[:1], target=days[1:])
    for suffix, message in (
        (".parquet", "all int or all str"),
        (".csv", "all int or all str"),
        (".json", "str, float"),
    ):
        target = tmp_path / f"out{suffix}"
        assert main(["detect", str(tmp_path / "edges.npz"), "--output", str(target)]) == 1
        assert message in capsys.readouterr().err
        assert not target.exists()


def test_a_missing_extra_is_told_before_the_work(edges, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("kgroups.detect.detect_communities", never)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = edges(".npz", NAMES["text"])
    assert main(["detect", str(path), "--output", str(tmp_path / "out.parquet")]) == 1
    assert 'python -m pip install ".[parquet]"' in capsys.readouterr().err
