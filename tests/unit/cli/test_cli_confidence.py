"""``kgroups detect --confidence`` and ``kgroups info --k-distribution``."""

import json

import networkx as nx
import pandas as pd
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
    graph = kg.as_graph(kg.datasets.load("karate").graph)
    partition = kg.detect_communities(graph)
    partition.confidence()
    return partition


def test_columns_and_uncertain_nodes_are_printed(run, karate):
    code, out, err = run("detect", "karate", "--confidence")
    assert (code, err) == (0, "")
    assert "community  nodes  share  conductance  confidence  below 0.9  members" in out
    assert "Nodes with a confidence below 0.9, given the model and k" in out
    node = karate.boundary(0.9)[0]
    row = f"  {node} {karate.membership[node]:>13}"
    assert row in out
    assert max(map(len, out.splitlines())) <= 100
    assert "confidence" not in run("detect", "karate")[1]


def test_nothing_is_uncertain(run, tmp_path):
    path = tmp_path / "cliques.txt"
    nx.write_edgelist(nx.ring_of_cliques(4, 12), path, data=False)
    assert "Every node has a confidence of at least 0.9" in run("detect", path, "--confidence")[1]


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet", ".csv.gz"])
def test_partition_files_have_the_confidence(run, tmp_path, karate, suffix):
    path = tmp_path / f"p{suffix}"
    assert run("detect", "karate", "--confidence", "--output", path)[0] == 0
    if ".json" in suffix:
        again = kg.Partition.load(path)
        sure, others = again.confidence(), again.runner_up().tolist()
    else:
        table = pd.read_parquet(path) if suffix == ".parquet" else pd.read_csv(path)
        sure, others = table["confidence"].to_numpy(), table["runner_up"].tolist()
    assert sure == pytest.approx(karate.confidence(), rel=1e-5)
    assert others == karate.runner_up().tolist()
    assert run("score", "karate", path)[0] == 0


@pytest.mark.parametrize(("suffix", "read"), [(".gml", nx.read_gml), (".graphml", nx.read_graphml)])
def test_graph_files_have_the_confidence(run, tmp_path, karate, suffix, read):
    path = tmp_path / f"g{suffix}"
    assert run("detect", "karate", "--confidence", "--output", path)[0] == 0
    nodes = read(path).nodes
    assert nodes["9"]["confidence"] == pytest.approx(karate.confidence()[9])
    assert nodes["9"]["runner_up"] == karate.runner_up()[9]


def test_json_document_has_the_confidence(run, karate):
    document = json.loads(run("detect", "karate", "--confidence", "--json")[1])
    assert document["confidence"] == karate.confidence().tolist()
    assert document["runner_up"] == karate.runner_up().tolist()
    assert document["confidence_method"] == "belief propagation"
    assert document["confidence_converged"] is True
    assert "confidence" not in json.loads(run("detect", "karate", "--json")[1])


def test_one_community_is_certain(run, tmp_path):
    path = tmp_path / "triangle.txt"
    nx.write_edgelist(nx.complete_graph(5), path, data=False)
    code, out, _ = run("detect", path, "--confidence", "--output", tmp_path / "g.gml")
    assert code == 0
    assert "1.000          0  0, 1, 2, 3, 4" in out
    assert nx.read_gml(tmp_path / "g.gml").nodes["0"]["runner_up"] == -1


def test_info_weighs_numbers_of_communities(run):
    code, out, err = run("info", "karate", "--no-weight", "--k-distribution")
    assert (code, err) == (0, "")
    shown = "Number of communities\n  most probable: 2 communities, as detect_communities finds\n"
    assert f"{shown}  P(k): 2: 0." in out
    assert "Number of communities\n" not in run("info", "karate")[1]
    document = json.loads(run("info", "karate", "--no-weight", "--k-distribution", "--json")[1])
    assert document["k_distribution"]["k"] == 2


def test_detect_tells_how_sure_the_number_is(run):
    code, out, err = run("detect", "karate", "--no-weight", "--k-distribution")
    assert (code, err) == (0, "")
    assert "  2 is the most probable number (P = 0.99; less sure for 3).\n" in out
    assert "Number of communities\n  most probable: 2 communities, as detect_communities" in out
    assert "  Not computed: --levels, --stability.\n" in out
    plain = run("detect", "karate", "--no-weight")[1]
    assert "  Not computed: --levels, --k-distribution, --stability.\n" in plain
    document = json.loads(run("detect", "karate", "--no-weight", "--k-distribution", "--json")[1])
    assert document["k_distribution"]["k_found"] == 2
    assert "k_distribution" not in json.loads(run("detect", "karate", "--json")[1])
