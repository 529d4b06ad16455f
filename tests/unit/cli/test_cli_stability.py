"""``kgroups detect --stability``."""

import json

import networkx as nx
import pytest

import kgroups as kg
from kgroups.cli import main


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command on 100 columns; return its exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")

    def run_command(*words):
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_command


@pytest.fixture(scope="module")
def karate():
    partition = kg.detect_communities(kg.datasets.load("karate").graph)
    partition.stability()
    return partition


def test_the_column_and_the_summary_are_printed(run, karate):
    code, out, err = run("detect", "karate", "--stability")
    assert (code, err) == (0, "")
    assert "community  nodes  share  conductance  stability  members" in out
    assert f"{karate.known_stability.communities[0]:.3f}" in out
    assert karate.known_stability.sentence in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 100
    plain = run("detect", "karate")[1]
    assert "of the edges" not in plain
    assert "stability  members" not in plain


def test_a_contradiction_with_confidence_is_printed(run):
    words = ("detect", "karate", "--no-weight", "--stability")
    assert "Warning" not in run(*words)[1]
    out = " ".join(run(*words, "--confidence")[1].split())
    assert "Warning: the communities are less certain than the confidence says, which" in out
    assert "28 nodes have a confidence of at least 0.9, but" in out
    assert "confidence below 0.9 stability members" in out


def test_nodes_that_do_not_count_have_no_number(run, tmp_path):
    path = tmp_path / "cliques.gml"
    graph = nx.ring_of_cliques(4, 6)
    graph.add_node(24)
    nx.write_gml(graph, path)
    out = run("detect", path, "--stability")[1]
    (alone,) = (line.split() for line in out.splitlines() if line.split()[1:3] == ["1", "4.0%"])
    assert alone[4] == "-"


@pytest.mark.parametrize("suffix", [".gml", ".graphml"])
def test_graph_files_have_the_stability(run, tmp_path, karate, suffix):
    path = tmp_path / f"g{suffix}"
    assert run("detect", "karate", "--stability", "--output", path)[0] == 0
    read = nx.read_gml if suffix == ".gml" else nx.read_graphml
    assert read(path).nodes["9"]["stability"] == karate.known_stability.nodes[9]


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_partition_files_can_be_read_again(run, tmp_path, karate, suffix):
    path = tmp_path / f"p{suffix}"
    assert run("detect", "karate", "--stability", "--levels", "--output", path)[0] == 0
    again = kg.Partition.load(path)
    assert again == kg.Partition(karate.labels)
    if suffix == ".json":
        assert again.known_stability.to_dict() == karate.known_stability.to_dict()
    assert run("score", "karate", path)[0] == 0


def test_the_json_document_has_the_stability(run, karate):
    document = json.loads(run("detect", "karate", "--stability", "--json")[1])
    assert document["stability"] == karate.known_stability.to_dict()
    assert "stability" not in json.loads(run("detect", "karate", "--json")[1])
