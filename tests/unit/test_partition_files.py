"""Partitions as files: what is kept, what is refused, nothing half-written."""

import builtins
import json
import pickle
import stat
import subprocess
import sys
from enum import IntEnum
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import kgroups as kg
from kgroups.errors import FileFormatError, InputError, MissingExtraError, PartitionError
from kgroups.graph import Graph
from kgroups.inference.confidence import Confidence
from kgroups.partition import Partition
from kgroups.partition.files import GRAPH_SUFFIXES, SUFFIXES


class Color(IntEnum):
    RED = 1


def test_csv_is_a_table_with_two_columns(tmp_path):
    Partition([0, 1, 1], ["a", "b,c", 'd"e']).save(tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text() == 'node,community\na,1\n"b,c",0\n"d""e",0\n'


def test_json_is_one_document_that_says_what_it_is(tmp_path):
    Partition([0, 1, 1], ["a", ("b", 2), float("inf")], uninformed=["a"]).save(tmp_path / "p.json")
    document = json.loads((tmp_path / "p.json").read_text())
    assert document["format"] == "kgroups partition"
    assert document["nodes"] == ["a", {"tuple": ["b", 2]}, {"float": "inf"}]
    assert (document["n"], document["k"], document["labels"]) == (3, 2, [1, 0, 0])
    again = Partition.load(tmp_path / "p.json")
    assert again.uninformed == ("a",)
    assert again.nodes == ("a", ("b", 2), float("inf"))


def test_json_leaves_out_the_names_of_numbered_nodes(tmp_path):
    Partition([0, 1, 1]).save(tmp_path / "p.json")
    assert json.loads((tmp_path / "p.json").read_text())["nodes"] is None
    assert Partition.load(tmp_path / "p.json").nodes == range(3)


def test_numpy_numbers_come_back_as_python_numbers(tmp_path):
    names = [np.int64(3), np.float64(0.5), np.str_("x"), np.bool_(False)]
    Partition([0, 0, 1, 1], names).save(tmp_path / "p.json")
    again = Partition.load(tmp_path / "p.json")
    assert [type(node) for node in again.nodes] == [int, float, str, bool]
    assert again == Partition([0, 0, 1, 1], names)


def test_csv_of_text_that_looks_like_numbers(tmp_path):
    Partition([0, 1], ["7", "8"]).save(tmp_path / "p.csv")
    assert Partition.load(tmp_path / "p.csv").nodes == (7, 8)
    Partition([0, 1], ["07", "8"]).save(tmp_path / "p.csv")
    assert Partition.load(tmp_path / "p.csv").nodes == ("07", "8")


def test_a_spreadsheets_byte_order_mark_and_blanks_are_no_obstacle(tmp_path):
    (tmp_path / "p.csv").write_bytes("\ufeffnode,community\r\né, 4\r\nb,-1\r\n".encode())
    assert Partition.load(str(tmp_path / "p.csv")).membership == {"b": 0, "é": 1}


def test_communities_may_be_named(tmp_path):
    (tmp_path / "p.csv").write_text("node,community\nann,red\nbob,blue\ncy,red\n")
    assert Partition.load(tmp_path / "p.csv").membership == {"ann": 0, "bob": 1, "cy": 0}


@pytest.mark.parametrize("name", [frozenset({1}), b"x", Color.RED, 1j, ("a", frozenset())])
def test_names_that_json_cannot_keep(tmp_path, name):
    (tmp_path / "p.json").write_text("before")
    with pytest.raises(PartitionError, match=r"(?s)int, str, float, bool, None or tuple.*pickle"):
        Partition([0, 1], [name, "b"]).save(tmp_path / "p.json")
    assert (tmp_path / "p.json").read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["p.json"]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("name", [1.5, None, True, ("a",)])
def test_names_that_a_table_cannot_keep(tmp_path, suffix, name):
    with pytest.raises(PartitionError, match=r"(?s)all int or all str, got .*\.json"):
        Partition([0, 1], ["b", name]).save(tmp_path / f"p{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("nodes", [[1, "1"], [1, "a"], ["a", 1]])
def test_tables_refuse_names_of_two_types(tmp_path, suffix, nodes):
    with pytest.raises(PartitionError, match=r"all int or all str, got .* and .*\n.*\.json"):
        Partition([0, 1], nodes).save(tmp_path / f"p{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("character", ["x", '"', "\r"])
def test_the_longest_csv_name_comes_back_and_longer_ones_are_refused(tmp_path, character):
    longest = character * 131_072
    Partition([0, 1], [longest, "b"]).save(tmp_path / "p.csv")
    assert Partition.load(tmp_path / "p.csv").nodes == (longest, "b")
    with pytest.raises(PartitionError, match=r"at most 131,072 characters, got one of 131,073"):
        Partition([0, 1], ["b", longest + character]).save(tmp_path / "q.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


@pytest.mark.parametrize("name", ["=1+2", "+1", "-x", "@SUM(A1)", "\t=1", "\r=1"])
def test_names_that_spreadsheets_take_for_formulas_are_quoted(tmp_path, name):
    Partition([0, 0, 1], ["a", "b", name]).save(tmp_path / "p.csv")
    content = (tmp_path / "p.csv").read_bytes().decode()
    assert content == f'node,community\n"a",0\n"b",0\n"{name}",1\n'
    assert Partition.load(tmp_path / "p.csv").nodes == ("a", "b", name)


def test_numbers_too_large_for_parquet(tmp_path):
    with pytest.raises(PartitionError, match=r"cannot hold these node names.*\n  Save as .json"):
        Partition([0, 1], [2**70, 1]).save(tmp_path / "p.parquet")


@pytest.mark.parametrize("name", ["p.txt", "p", "p.json.zip"])
def test_unknown_suffix(tmp_path, name):
    with pytest.raises(InputError, match=r"must end in \.json, .*\.parquet; got"):
        Partition([0]).save(tmp_path / name)
    with pytest.raises(InputError, match="must end in"):
        Partition.load(tmp_path / name)


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "p.csv"
    Partition([0, 1]).save(path)
    before = path.read_bytes()

    def refuse(self, target):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        Partition([0, 0]).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work in another way there")
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, monkeypatch):
    path, modes, replace = tmp_path / "p.csv", [], Path.replace

    def seen(self, target):
        modes.append(stat.S_IMODE(self.stat().st_mode))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", seen)
    for mode in (0o600, 0o664, 0o444):
        path.touch()
        path.chmod(mode)
        Partition([0, 1]).save(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode
        path.unlink()
    assert modes == [0o600, 0o664, 0o444]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work in another way there")
def test_a_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "other").touch()
    Partition([0, 1]).save(tmp_path / "p.csv")
    assert (tmp_path / "p.csv").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_saving_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "there.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "there.csv")
    Partition([0, 1]).save(tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "there.csv").read_text().startswith("node,community")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("p.csv", "", "line 1 must begin with node,community, got None"),
        ("p.csv", "a,b\n", r"line 1 must begin with node,community, got \['a', 'b'\]"),
        ("p.csv", "node,community\nx,1\ny\n", r"line 3 must have 2 fields, got"),
        ("p.csv", "node,community\nx,1\ny,one\n", "line 3 .* number, as others do, got 'one'"),
        ("p.csv", "node,community\nx,1\ny,1.0\n", "line 3 must name its community .* got '1.0'"),
        ("p.csv", "node,community\nx,\n", "line 2 must name its community, got ''"),
        ("p.csv", "node,community\nx,1\nx,2\n", "'x' more than once"),
        ("p.csv", 'node,community\n"x,1\n', "line 2: unexpected end of data"),
        ("p.json", "{", "it is not JSON"),
        ("p.json", "[]", 'it lacks "format": "kgroups partition"'),
        ("p.json", '{"format": "kgroups partition", "version": 9}', "version is 9, not 1"),
        ("p.json", '{"format": "kgroups partition", "version": 1}', "it lacks 'labels'"),
    ],
)
def test_files_that_hold_no_partition(tmp_path, name, content, reason):
    (tmp_path / name).write_text(content)
    with pytest.raises(FileFormatError, match=rf"{name} does not hold a partition: .*{reason}"):
        Partition.load(tmp_path / name)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"labels": [0, 1.5]}, '"labels" must hold whole numbers only'),
        ({"labels": [0, True]}, '"labels" must hold whole numbers only'),
        ({"labels": [0, 2**80]}, "OverflowError"),
        ({"labels": [0]}, "each of the 2 nodes, got 1 labels"),
        ({"labels": 5}, '"labels" must be a list'),
        ({"nodes": ["a", ["b"]]}, r"\['b'\] is not the name of a node"),
        ({"nodes": ["a", "a"]}, "'a' more than once"),
    ],
)
def test_json_documents_with_a_wrong_part(tmp_path, change, reason):
    path = tmp_path / "p.json"
    Partition([0, 1], ["a", "b"]).save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(FileFormatError, match=reason):
        Partition.load(path)


def test_parquet_with_other_columns(tmp_path):
    table = pyarrow.table({"node": ["a"], "community": ["b"]})
    pyarrow.parquet.write_table(table, tmp_path / "p.parquet")
    with pytest.raises(FileFormatError, match="community must hold whole numbers only"):
        Partition.load(tmp_path / "p.parquet")
    pyarrow.parquet.write_table(table.select(["node"]), tmp_path / "p.parquet")
    with pytest.raises(FileFormatError, match="community"):
        Partition.load(tmp_path / "p.parquet")


@pytest.mark.parametrize("kind", [pyarrow.int64(), pyarrow.float64()])
def test_parquet_with_missing_communities(tmp_path, kind):
    labels = pyarrow.array([0, None], kind)
    pyarrow.parquet.write_table(
        pyarrow.table({"node": ["a", "b"], "community": labels}), tmp_path / "p.parquet"
    )
    with pytest.raises(FileFormatError, match="community must hold whole numbers only"):
        Partition.load(tmp_path / "p.parquet")


@pytest.mark.parametrize("nodes", [range(3), range(5, 11, 2), [7, 5, 2**40], ["c", "a", "b"]])
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_tables_keep_names_with_their_type(tmp_path, nodes, suffix):
    Partition([4, 4, 9], nodes).save(tmp_path / f"p{suffix}")
    again = Partition.load(tmp_path / f"p{suffix}")
    assert again.nodes == tuple(nodes)
    assert again.labels.tolist() == [0, 0, 1]


def test_parquet_takes_numbered_nodes_without_an_object_each(tmp_path, monkeypatch):
    real, given = pyarrow.array, []
    table, columns = pyarrow.table, []
    monkeypatch.setattr(pyarrow, "array", lambda values: given.append(values) or real(values))
    monkeypatch.setattr(pyarrow, "table", lambda named: columns.append(named) or table(named))
    Partition([0, 1, 1]).save(tmp_path / "p.parquet")
    assert [type(values) for values in given] == [np.ndarray]
    assert [type(column) for column in columns[0].values()] == [pyarrow.Int64Array, np.ndarray]


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    real_import = builtins.__import__

    def without_pyarrow(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[parquet\]"'):
        Partition([0]).save(tmp_path / "p.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads in /proc")
def test_reading_parquet_starts_no_threads(tmp_path):
    """Threads of pyarrow aborted the process where it exited right after reading."""
    table = pyarrow.table({"node": ["a", "b"], "community": [0, 1]})
    pyarrow.parquet.write_table(table, tmp_path / "p.parquet")
    script = (
        "import os, sys, pyarrow.parquet\n"
        "from kgroups.partition import Partition\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        "Partition.load(sys.argv[1])\n"
        "print(len(os.listdir('/proc/self/task')) - before)\n"
    )
    arguments = [sys.executable, "-c", script, str(tmp_path / "p.parquet")]
    assert subprocess.run(arguments, capture_output=True, text=True, check=True).stdout == "0\n"


def uncertain(**options):
    """Return a partition of four nodes with confidence; the labels are renumbered."""
    own, other = np.array([0.9, 0.6, 1.0, 0.123456789]), np.array([4, 7, 4, 7])
    known = Confidence(own, other, 1.0 - own, "belief propagation", converged=True)
    return Partition([7, 4, 7, 4], ["a", "b", "c", "d"], confidence=known, **options)


def test_confidence_follows_the_numbers_of_the_communities():
    partition = uncertain()
    assert partition.labels.tolist() == [0, 1, 0, 1]
    assert partition.runner_up().tolist() == [1, 0, 1, 0]
    assert partition.confidence().tolist() == [0.9, 0.6, 1.0, 0.123456789]
    assert partition.boundary(0.7) == ("d", "b")
    again = pickle.loads(pickle.dumps(partition))
    assert again.runner_up().tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_confidence_is_kept_in_files(tmp_path, suffix):
    partition = uncertain()
    partition.save(tmp_path / f"p{suffix}")
    again = Partition.load(tmp_path / f"p{suffix}")
    assert again == partition
    assert again.confidence().tolist() == partition.confidence().tolist()
    assert again.runner_up().tolist() == [1, 0, 1, 0]
    assert not again.confidence().flags.writeable
    again.save(tmp_path / "q.json")
    assert Partition.load(tmp_path / "q.json").runner_up().tolist() == [1, 0, 1, 0]


def test_confidence_in_a_table(tmp_path):
    uncertain().save(tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text() == (
        "node,community,confidence,runner_up\na,0,0.9,1\nb,1,0.6,0\nc,0,1.0,1\nd,1,0.123457,0\n"
    )
    assert Partition.load(tmp_path / "p.csv") == uncertain()
    columns = pyarrow.table({"node": ["a"], "community": [0], "color": ["red"]})
    pyarrow.parquet.write_table(columns, tmp_path / "p.parquet")
    assert Partition.load(tmp_path / "p.parquet").known_confidence is None


def test_json_keeps_all_of_the_confidence(tmp_path):
    uncertain().save(tmp_path / "p.json")
    known = Partition.load(tmp_path / "p.json").known_confidence
    assert known.method == "belief propagation"
    assert known.runner_up_probability.tolist() == pytest.approx([0.1, 0.4, 0.0, 0.876543211])


def test_without_confidence_a_table_has_two_columns(tmp_path):
    Partition([0, 1]).save(tmp_path / "p.csv")
    again = Partition.load(tmp_path / "p.csv")
    assert again.known_confidence is None
    with pytest.raises(PartitionError, match=r"confidence\(\) needs the graph"):
        again.confidence()


def test_a_row_that_lacks_a_further_column_is_refused(tmp_path):
    (tmp_path / "p.csv").write_text("node,community,confidence,color\na,1,0.5,red\nb,0,0.5\n")
    with pytest.raises(FileFormatError, match="does not hold a partition: line 3 must have 4"):
        Partition.load(tmp_path / "p.csv")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("own", 1.5, "confidence must be from 0 to 1, got 1.5 for node 'b'"),
        ("runner_up", 1, "a runner-up must be another community, or -1, got 1 for node 'b'"),
        ("runner_up", 9, "a runner-up must be another community, or -1, got 9"),
    ],
)
def test_wrong_confidence(tmp_path, name, value, reason):
    uncertain().save(tmp_path / "p.json")
    document = json.loads((tmp_path / "p.json").read_text())
    document["confidence"][name][1] = value
    (tmp_path / "p.json").write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=f"does not hold a partition: {reason}"):
        Partition.load(tmp_path / "p.json")


def test_confidence_without_probabilities_of_runners_up(tmp_path):
    """Earlier versions have read such confidence from tables, and saved it so."""
    uncertain().save(tmp_path / "p.json")
    document = json.loads((tmp_path / "p.json").read_text())
    document["confidence"]["runner_up_probability"] = None
    del document["stability"], document["levels"]
    for path in ("p.json", "again.json"):
        (tmp_path / path).write_text(json.dumps(document))
        again = Partition.load(tmp_path / path)
        assert again.confidence().tolist() == uncertain().confidence().tolist()
        again.save(tmp_path / "again.json")
        document = json.loads((tmp_path / "again.json").read_text())


def test_confidence_must_fit_the_nodes():
    known = Confidence(np.ones(3), np.zeros(3, int), np.zeros(3), "table", converged=True)
    with pytest.raises(PartitionError, match="one value for each of the 2 nodes"):
        Partition([0, 1], confidence=known)


def written(suffix, path):
    """Write a partition of two nodes with their graph."""
    partition = Partition([0, 1], graph=Graph.from_edges([0], [1]))
    if suffix == ".html":
        partition.to_html(path)
    else:
        partition.save(path)


@pytest.mark.parametrize("suffix", [*SUFFIXES, *GRAPH_SUFFIXES, ".html"])
def test_names_as_long_as_a_system_allows(tmp_path, suffix):
    path = tmp_path / f"{'n' * (255 - len(suffix))}{suffix}"
    written(suffix, path)
    assert list(tmp_path.iterdir()) == [path]
    if suffix in SUFFIXES:
        assert Partition.load(path) == Partition([0, 1])


@pytest.mark.parametrize("suffix", [*SUFFIXES, *GRAPH_SUFFIXES, ".html"])
def test_a_folder_that_is_not_there_is_named(tmp_path, suffix):
    message = rf"there is no folder '.*no' to write '.*p\{suffix}' into"
    with pytest.raises(InputError, match=message):
        written(suffix, tmp_path / "no" / f"p{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".gml", ".graphml", ".gexf"])
@pytest.mark.parametrize("kind", [np.int64, np.str_])
def test_graph_files_hold_names_that_are_numpy_scalars(tmp_path, suffix, kind):
    plain = nx.relabel_nodes(nx.barbell_graph(4, 0), int if kind is np.int64 else str)
    graph = nx.relabel_nodes(plain, {node: kind(int(node) + 5) for node in plain})
    expected = nx.relabel_nodes(plain, {node: type(node)(int(node) + 5) for node in plain})
    kg.detect_communities(graph).save(tmp_path / f"numpy{suffix}")
    kg.detect_communities(expected).save(tmp_path / f"plain{suffix}")
    one, other = (tmp_path / f"{name}{suffix}" for name in ("numpy", "plain"))
    assert one.read_bytes() == other.read_bytes()
