"""Known networks: files, checksums, labels, and messages when something is absent."""

import gzip
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from helpers.data import each, needs
from kgroups import datasets
from kgroups import datasets as catalog
from kgroups.errors import FileFormatError, InputError

SOURCE_TREE = Path(__file__).resolve().parents[3]
BUNDLED = [entry.name for entry in datasets.describe() if entry.bundled]
EVERYWHERE = [entry.name for entry in datasets.describe()]
NETWORKX_ORIGINALS = {
    "karate": nx.karate_club_graph,
    "les_miserables": nx.les_miserables_graph,
    "florentine_families": nx.florentine_families_graph,
    "davis_southern_women": nx.davis_southern_women_graph,
}


def edge_weights(graph):
    rows, cols, weights = graph.edges()
    names = graph.nodes
    return {frozenset((names[i], names[j])): w for i, j, w in zip(rows, cols, weights, strict=True)}


@pytest.mark.parametrize("name", each(EVERYWHERE))
def test_size_and_labels_are_as_the_index_says(name):
    loaded = datasets.load(name)
    entry = catalog.find_entry(name, datasets.DatasetInfo)
    assert (loaded.graph.n, loaded.graph.m) == (entry.nodes, entry.edges)
    assert set(loaded.labels) == set(entry.label_files)
    assert all(len(labels) == entry.nodes for labels in loaded.labels.values())
    assert loaded.citation
    assert loaded.origin
    assert loaded.license


@pytest.mark.parametrize(("name", "original"), NETWORKX_ORIGINALS.items())
def test_bundled_files_equal_the_networkx_originals(name, original):
    expected = {frozenset((u, v)): w for u, v, w in original().edges(data="weight", default=1)}
    assert edge_weights(datasets.load(name).graph) == expected


def test_node_names_are_plain_python_objects():
    assert {type(name) for name in datasets.load("les_miserables").graph.nodes} == {str}
    assert {type(name) for name in datasets.load("karate").graph.nodes} == {int}


def test_karate_labels_differ_in_node_8_only():
    karate = datasets.load("karate")
    clubs = dict(nx.karate_club_graph().nodes(data="club"))
    assert dict(zip(karate.graph.nodes, karate.labels["club"], strict=True)) == clubs
    assert np.flatnonzero(karate.labels["club"] != karate.labels["faction"]).tolist() == [8]
    assert sorted(np.unique(karate.labels["faction"], return_counts=True)[1]) == [16, 18]
    assert karate.truth is karate.labels["club"]


@pytest.mark.parametrize(
    ("name", "edges", "synapses"),
    [("drosophila_left", 5559, 25322), ("drosophila_right", 5625, 26371)],
)
def test_drosophila_by_union_is_binary_and_by_sum_keeps_every_synapse(name, edges, synapses):
    binary = datasets.load(name).graph
    assert (binary.m, binary.weights, len(binary.indices)) == (edges, None, 2 * edges)
    summed = datasets.load(name, symmetrize="sum").graph
    assert summed.m == edges
    assert summed.degrees.sum() == 2 * synapses
    assert datasets.load(name).directed


def test_union_removes_the_weights_of_an_undirected_network():
    assert datasets.load("karate", symmetrize="union").graph.weights is None


@needs("citeseer")
def test_nodes_of_label_files_without_an_edge_are_isolated_nodes():
    citeseer = datasets.load("citeseer")
    assert np.count_nonzero(citeseer.graph.degrees == 0) == 48


def test_a_network_without_truth_says_none():
    assert datasets.load("les_miserables").truth is None
    assert datasets.load("davis_southern_women").truth is None


def test_labels_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        datasets.load("karate").labels["club"][0] = "x"
    with pytest.raises(TypeError):
        datasets.load("karate").labels["club"] = None


def test_repr_names_graph_and_labels():
    assert repr(datasets.load("karate")) == (
        "Dataset('karate', Graph(34 nodes, 78 edges, weighted), labels 'club', 'faction')"
    )


def test_unknown_name_is_answered_with_a_guess():
    with pytest.raises(InputError, match=r"(?s)got 'karat'\. Did you mean 'karate'\?.*describe"):
        datasets.load("karat")
    with pytest.raises(InputError, match="got 3"):
        datasets.load(3)


def test_unknown_symmetrize_is_refused():
    with pytest.raises(InputError, match="symmetrize must be one of None, 'union', 'sum'"):
        datasets.load("karate", symmetrize="mean")


@pytest.fixture
def empty_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KGROUPS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_absent_file_names_checksum_origin_and_folder(empty_data_folder):
    edges = catalog.find_entry("dolphins", datasets.DatasetInfo).edge_file
    with pytest.raises(FileFormatError) as caught:
        datasets.load("dolphins")
    message = str(caught.value)
    for part in (edges.file, edges.sha256, "lpam-clustering", str(empty_data_folder)):
        assert part in message
    for part in ("D. Lusseau et al.", "M. E. J. Newman, network data", "dolphins.zip"):
        assert part in message
    assert not catalog.find_entry("dolphins", datasets.DatasetInfo).present


def test_what_does_not_ship_has_an_archive():
    described = (*datasets.describe(), *datasets.describe_tables())
    assert [entry.name for entry in described if bool(entry.archive) == entry.bundled] == []


def test_wrong_checksum_is_refused(empty_data_folder):
    (empty_data_folder / "dolphins.edges.csv").write_text("source,target\n0,1\n")
    with pytest.raises(FileFormatError, match=r"(?s)dolphins.edges.csv must have the sha256 9e2b"):
        datasets.load("dolphins")


def test_bundled_file_that_is_gone_asks_for_a_new_installation(monkeypatch, tmp_path):
    catalog.find_entry("karate", datasets.DatasetInfo)
    monkeypatch.setattr(catalog, "_bundled_folders", lambda: (tmp_path,))
    with pytest.raises(FileFormatError, match=r"karate.edges.csv.*\n  Install kgroups again"):
        datasets.load("karate")


def test_index_that_is_gone_asks_for_a_new_installation(monkeypatch, tmp_path):
    monkeypatch.setattr(catalog, "_bundled_folders", lambda: (tmp_path,))
    with pytest.raises(FileFormatError, match=r"index.json.*\n  Install kgroups again"):
        catalog._index.__wrapped__()


def test_user_folder_is_searched_after_the_named_one(empty_data_folder, monkeypatch):
    named, users = datasets.data_folders()
    assert named == empty_data_folder
    assert users.name == "kgroups"
    monkeypatch.delenv("KGROUPS_DATA")
    assert datasets.data_folders() == (users,)


@pytest.mark.parametrize(
    ("platform", "tail"),
    [
        ("linux", "home/kgroups"),
        ("win32", "home/kgroups"),
        ("darwin", "Application Support/kgroups"),
    ],
)
def test_user_folder_follows_the_platform(empty_data_folder, monkeypatch, platform, tail):
    monkeypatch.setattr(sys, "platform", platform)
    assert datasets.data_folders()[-1].as_posix().endswith(tail)


def tiny_entry(edge_file, label_files):
    names = ("title", "family", "citation", "archive", "origin", "license", "note")
    return catalog.DatasetInfo(
        name="tiny",
        nodes=4,
        edges=2,
        directed=False,
        weighted=False,
        bundled=False,
        edge_file=edge_file,
        label_files=label_files,
        truth=next(iter(label_files), None),
        **dict.fromkeys(names, ""),
    )


def test_compressed_files_are_read_from_the_users_folder(empty_data_folder, monkeypatch):
    edges = gzip.compress(b"source,target\n5,7\n7,9\n")
    labels = gzip.compress(b"node,label\n5,a\n7,a\n9,b\n11,b\n")
    files = {"tiny.edges.csv.gz": edges, "tiny.labels.csv.gz": labels}
    for name, content in files.items():
        (empty_data_folder / name).write_bytes(content)
    edge_file, label_file = (
        catalog.DataFile(name, hashlib.sha256(content).hexdigest())
        for name, content in files.items()
    )
    entry = tiny_entry(edge_file, {"half": label_file})
    monkeypatch.setattr(catalog, "_index", lambda: {"tiny": entry})
    tiny = datasets.load("tiny")
    assert list(tiny.graph.nodes) == [5, 7, 9, 11]
    assert tiny.graph.degrees.tolist() == [1, 2, 1, 0]
    assert tiny.truth.tolist() == ["a", "a", "b", "b"]


@pytest.fixture(params=["labeled", "unlabeled"])
def tiny_npz(request, empty_data_folder, monkeypatch):
    """Put a network with an isolated node into one npz file of the folder; return its labels."""
    labels = np.array([1, 1, 0, 0] if request.param == "labeled" else [], dtype=np.int32)
    path = empty_data_folder / "real" / "tiny.npz"
    path.parent.mkdir()
    ends = np.array([[0, 1], [1, 2]], dtype=np.int32)
    np.savez(path, n=4, u=ends[:, 0], v=ends[:, 1], truth=labels)
    file = catalog.DataFile("real/tiny.npz", hashlib.sha256(path.read_bytes()).hexdigest())
    entry = tiny_entry(file, {"half": file} if labels.size else {})
    monkeypatch.setattr(catalog, "_index", lambda: {"tiny": entry})
    return path, labels


def test_edges_and_labels_are_read_from_one_npz_file(tiny_npz):
    path, labels = tiny_npz
    tiny = datasets.load("tiny")
    assert list(tiny.graph.nodes) == [0, 1, 2, 3]
    assert tiny.graph.degrees.tolist() == [1, 2, 1, 0]
    assert [known.tolist() for known in tiny.labels.values()] == [labels.tolist()][: labels.size]
    (entry,) = datasets.describe()
    assert entry.paths == (path,)
    assert entry.present


def test_npz_file_that_was_changed_is_refused(tiny_npz):
    path, _ = tiny_npz
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(FileFormatError, match=r"(?s)tiny.npz must have the sha256 .*read_graph"):
        datasets.load("tiny")


def test_every_network_has_a_family():
    families = {entry.family for entry in datasets.describe()}
    assert families == {
        "biological",
        "citation",
        "classics",
        "coauthors",
        "colleges",
        "contact",
        "literature",
        "newsgroups",
        "social",
        "technological",
        "web",
    }


def test_readme_of_the_folder_names_every_file_and_checksum():
    folder = SOURCE_TREE / "datasets"
    if not folder.is_dir():
        pytest.skip("not run from the source tree")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    for entry in datasets.describe():
        for data_file in entry.files:
            assert f"| `{data_file.file}` | `{data_file.sha256}` |" in readme
    listed = {file.file for entry in datasets.describe() if entry.bundled for file in entry.files}
    assert {path.name for path in folder.glob("*.csv")} == listed


@pytest.mark.slow
def test_wheel_holds_the_files_and_loads_them(tmp_path):
    if not (SOURCE_TREE / "pyproject.toml").is_file():
        pytest.skip("not run from the source tree")
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", str(tmp_path)]
    subprocess.run([*build, str(SOURCE_TREE)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "unpacked")
    code = (
        "import kgroups; from kgroups import datasets; print(kgroups.__file__);"
        f"print([datasets.load(name).graph.n for name in {BUNDLED!r}])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "unpacked"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert Path(answer[0]).is_relative_to(tmp_path / "unpacked")
    assert answer[1] == "[34, 77, 15, 32, 209, 213]"
