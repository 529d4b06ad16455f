"""``kgroups verdict``: sentences, figures, JSON and flags in messages."""

import json

import networkx as nx
import pytest

from kgroups.cli import main


@pytest.fixture
def run(capsys, monkeypatch):
    """Run ``kgroups verdict`` on 100 columns; return its exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")

    def run_command(*words):
        code = main(["verdict", *(str(word) for word in words)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_command


def test_sentences_and_figures(run):
    code, out, err = run("karate")
    assert (code, err) == (0, "")
    assert out.startswith("karate: Friendships in a karate club that split in two\n34 nodes, 78")
    for part in (
        "Verdict\n  The graph has more structure than random graphs",
        "Edge weights were not used",
        "Figures\n  second eigenvalue      1.017\n  of 99 random graphs",
        "p                      0.01",
        "signal-to-noise ratio",
    ):
        assert part in out


def test_one_json_document(run):
    code, out, _ = run("karate", "--no-weight", "--nulls", 25, "--rng", 3, "--json")
    document = json.loads(out)
    assert code == 0
    assert document["graph"]["nodes"] == document["verdict"]["n"] == 34
    assert len(document["verdict"]["null_eigenvalues"]) == 25
    again = json.loads(run("karate", "--no-weight", "--nulls", 25, "--rng", 3, "--json")[1])
    other = json.loads(run("karate", "--no-weight", "--nulls", 25, "--rng", 4, "--json")[1])
    assert again == document
    assert other != document


def test_too_little_has_no_figures(run, tmp_path):
    nx.write_edgelist(nx.path_graph(5), tmp_path / "path.txt", data=False)
    code, out, _ = run(tmp_path / "path.txt")
    assert code == 0
    assert out.endswith("Verdict\n  There is too little to tell: the graph has 4 edges.\n")


def test_moments_are_printed(run, tmp_path):
    nx.write_edgelist(nx.gnm_random_graph(600, 1800, seed=0), tmp_path / "er.txt", data=False)
    code, out, _ = run(tmp_path / "er.txt", "--nulls", 0)
    assert code == 0
    assert "the signal in its spectrum" in out
    assert "\n  threshold" in out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--nulls", 3], "--nulls must be 0 or at least 19, got 3"),
        (["--nulls", 0], "--nulls 0 needs 500 nodes with an edge, got 34"),
        (["--jobs", 0], "--jobs must be a whole number other than 0, got 0"),
    ],
)
def test_messages_name_the_flags(run, flags, message):
    code, out, err = run("karate", *flags)
    assert (code, out) == (1, "")
    assert message in err
