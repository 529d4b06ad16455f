"""``kgroups detect --levels``."""

import gzip
import json

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.scales import give_scales
from kgroups.cli import main

FINE = np.arange(60) // 5


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command on 100 columns; return its exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")

    def run_command(*words):
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_command


@pytest.fixture
def cliques(tmp_path, monkeypatch):
    """Return a file with twelve cliques, which are found, and let there be two coarser levels."""
    path = tmp_path / "cliques.csv"
    edges = nx.ring_of_cliques(12, 5).edges
    path.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in sorted(edges)))
    # Nodes are numbered as they appear, and sorted by name.
    names = np.array(kg.read_graph(path).nodes)
    assert sorted(names) == list(range(60))
    give_scales(monkeypatch, FINE // 3, FINE // 6)
    return path


def level_columns(path):
    """Return the labels of each level by node, under the name of the level."""
    levels = kg.detect_communities(kg.read_graph(path)).levels()
    return {
        name: dict(zip(level.nodes, level.labels.tolist(), strict=True))
        for name, level in zip(levels.names, levels, strict=True)
    }


def test_a_line_a_level_is_printed(run, cliques):
    code, out, err = run("detect", cliques, "--levels")
    assert (code, err) == (0, "")
    section = out.split("Levels, finest first; * is listed above\n")[1].split("\n\n")[0]
    header, *rows = section.splitlines()
    assert header.split() == ["level", "communities", "nodes", "nats", "saved"]
    assert [" ".join(row.split()) for row in rows[1:]] == [
        "k4 4 15, 15, 15, 15 40.0",
        "k2 2 30, 30 20.0",
    ]
    assert rows[0].split()[:3] == ["*", "k12", "12"]
    assert max(map(len, out.splitlines())) <= 100
    assert "Levels" not in run("detect", cliques)[1]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_tables_have_a_column_a_level(run, cliques, tmp_path, suffix):
    path = tmp_path / f"levels{suffix}"
    assert run("detect", cliques, "--levels", "--output", path)[0] == 0
    content = path.read_bytes()
    text = gzip.decompress(content) if suffix.endswith(".gz") else content
    header, *rows = (line.split(",") for line in text.decode().splitlines())
    assert header == ["node", "community", "k12", "k4", "k2"]
    for place, column in enumerate(level_columns(cliques).values(), 2):
        assert {int(row[0]): int(row[place]) for row in rows} == column
    # Still a partition file.
    assert run("score", cliques, path)[0] == 0
    assert kg.Partition.load(path).k == 12


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".parquet"])
def test_other_partition_files_have_the_levels(run, cliques, tmp_path, suffix):
    path = tmp_path / f"levels{suffix}"
    assert run("detect", cliques, "--levels", "--output", path)[0] == 0
    if suffix == ".parquet":
        from pyarrow import parquet

        held = parquet.read_table(path).to_pydict()
    else:
        content = path.read_bytes()
        document = json.loads(gzip.decompress(content) if suffix.endswith(".gz") else content)
        held = {f"k{level['k']}": level["labels"] for level in document["levels"]}
    nodes = kg.read_graph(cliques).nodes
    for name, column in level_columns(cliques).items():
        assert dict(zip(nodes, held[name], strict=True)) == column
    assert run("score", cliques, path)[0] == 0


@pytest.mark.parametrize(("suffix", "read"), [(".gml", nx.read_gml), (".graphml", nx.read_graphml)])
def test_graph_files_have_an_attribute_a_level(run, cliques, tmp_path, suffix, read):
    path = tmp_path / f"levels{suffix}"
    assert run("detect", cliques, "--levels", "--output", path)[0] == 0
    nodes = read(path).nodes
    for name, column in level_columns(cliques).items():
        assert {int(node): nodes[node][name] for node in nodes} == column


def test_the_json_document_has_the_levels(run, cliques):
    document = json.loads(run("detect", cliques, "--levels", "--json")[1])
    assert [level["k"] for level in document["levels"]] == [12, 4, 2]
    assert [level["returned"] for level in document["levels"]] == [True, False, False]
    assert document["levels"][0]["labels"] == document["labels"]
    assert "levels" not in json.loads(run("detect", cliques, "--json")[1])


@pytest.mark.parametrize(
    ("flags", "count"),
    [("", 3), ("--levels", 3), ("--html-details none", 1), ("--html-details none --levels", 3)],
)
def test_the_report_has_the_levels(run, cliques, tmp_path, flags, count):
    path = tmp_path / "report.html"
    assert run("detect", cliques, "--html", path, *flags.split())[0] == 0
    text = path.read_text().split('id="data">')[1].split("</script>")[0]
    assert len(json.loads(text)["levels"]) == count


def test_levels_with_k_given(run, cliques):
    document = json.loads(run("detect", cliques, "-k", "4", "--levels", "--json")[1])
    marked = [level for level in document["levels"] if level["returned"]]
    assert [level["k"] for level in marked] == [4]
    assert marked[0]["labels"] == document["labels"]


def test_a_table_that_cannot_hold_the_names_is_refused_before_any_work(run, tmp_path, monkeypatch):
    monkeypatch.setattr("kgroups.search.find_scales", lambda *a, **k: pytest.fail("no work yet"))
    path = tmp_path / "graph.csv"
    path.write_text("source,target\n0,1\n")
    code, _, err = run("detect", path, "--levels", "--output", tmp_path / "levels.txt")
    assert code == 1
    assert "must end in .json" in err
