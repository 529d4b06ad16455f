"""``kgroups detect --memory``: several files in, a table of communities out, in blocks."""

import json

import pyarrow.parquet as pq
import pytest

import kgroups as kg
from helpers.terminal import Terminal
from kgroups.blocks import detection
from kgroups.cli import main, stored
from kgroups.cli.parser import build_parser


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("ann,bob\nbob,cat\ncat,ann\ncat,dan\n")
    (tmp_path / "b.csv").write_text("dan,eve\neve,fay\nfay,dan\n")
    return tmp_path


def left(folder):
    return {path.name for path in folder.iterdir()} - {"a.csv", "b.csv"}


@pytest.mark.parametrize("paths", [["a.csv", "b.csv"], ["[ab].csv"]])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_several_files_in_a_table_out(folder, capsys, paths, suffix):
    output = f"c{suffix}"
    assert main(["detect", *paths, "--memory", "2GB", "--output", output]) == 0
    out = capsys.readouterr().out
    assert out.startswith("a.csv and 1 more\n6 nodes, 7 edges\n")
    assert "community  nodes  share" in out
    assert "modularity        0.357" in out
    assert out.endswith(f"wrote {output}\n")
    assert left(folder) == {output}
    assert set(kg.Partition.load(output)) == {
        frozenset(("ann", "bob", "cat")),
        frozenset(("dan", "eve", "fay")),
    }


def test_the_result_is_that_without_blocks(folder, capsys):
    edges = (folder / "a.csv").read_text() + (folder / "b.csv").read_text()
    (folder / "all.csv").write_text(edges)
    assert main(["detect", "all.csv", "--output", "p.csv"]) == 0
    assert main(["detect", "all.csv", "--memory", "2GB", "--output", "q.csv"]) == 0
    assert kg.Partition.load("p.csv") == kg.Partition.load("q.csv")


def test_a_store_that_is_named_is_kept_and_used_again(folder, capsys):
    words = ["detect", "a.csv", "b.csv", "--memory", "1GB", "--store", "kept", "--json"]
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["graph"] == {
        "files": ["a.csv", "b.csv"],
        "nodes": 6,
        "edges": 7,
        "weighted": False,
        "self_loops": 0,
    }
    assert (document["k"], document["sizes"], document["output"]) == (2, [3, 3], None)
    assert document["report"]["k_found"] == 2
    assert left(folder) == {"kept"}
    assert kg.open_graph(store="kept").n == 6
    assert main(words) == 0


def test_many_communities_are_counted(folder, capsys):
    lines = [f"{3 * i + a},{3 * i + b}\n" for i in range(25) for a, b in ((0, 1), (1, 2), (2, 0))]
    (folder / "rings.csv").write_text("".join(lines))
    assert main(["detect", "rings.csv", "--memory", "1GB"]) == 0
    assert "and 5 smaller ones of 15 nodes together" in capsys.readouterr().out


def test_passes_are_shown_on_a_terminal(folder, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(detection, "BYTES_PER_EDGE", 10**9)
    assert main(["detect", "a.csv", "b.csv", "--memory", "1GB"]) == 0
    assert "moving single nodes" in terminal.getvalue()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("output", [[], ["--output", "c.csv"]])
def test_the_temporary_store_is_removed_after_an_error(
    folder, tmp_path_factory, monkeypatch, error, output
):
    elsewhere = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))

    def interrupted(*_, **__):
        places = [*folder.glob(".kgroups-*/store"), *elsewhere.glob(".kgroups-*/store")]
        assert [path.parents[1] for path in places] == [folder if output else elsewhere]
        raise error

    monkeypatch.setattr(stored.kg, "detect_communities", interrupted)
    assert main(["detect", "a.csv", "--memory", "1GB", *output]) in (1, 130)
    assert left(folder) == set()
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "problem", "advice"),
    [
        ("a.csv b.csv", "several files are read with --memory alone, got 2", "Add --memory 2GB"),
        ("a.csv --store kept", "--store keeps the blocks", "Add --memory 2GB, or leave --store"),
        *(
            (f"a.csv --memory 1GB {flag}", f"{flag.split()[0]} needs the whole graph", "Leave out")
            for flag in (
                *("--confidence", "--stability", "--k-distribution", "--levels", "--plot p.png"),
                *("--html p.html", "--html-details all", "--symmetrize sum", "--self-loops keep"),
                "--max-expansion 9",
            )
        ),
        ("karate --memory 1GB", "--memory is for files with edges, got the network", "Leave out"),
        ("- --memory 1GB", "--memory is for files with edges, got standard input", "Leave out"),
        ("a.csv --memory 1", "--memory must be at least", "--memory 2GB"),
        ("none*.csv --memory 1GB", "there is no such file: 'none*.csv'", "Check the path"),
        ("a.csv a.csv --memory 1GB", "each file must be given once", ""),
        ("a.csv --memory 1GB --output c.json", "must end in .csv, .csv.gz or .parquet", ""),
        ("a.csv --memory 1GB --output a.csv", "this file is read", "Name another file"),
        ("a.csv --memory 1GB --output no/c.csv", "there is no folder 'no'", ""),
        ("a.csv --memory 1GB -k 9", "got -k 9 for 4 nodes", "Leave -k out"),
        ("a.csv --memory 1GB --store a.csv", "must be a new folder", "Choose another name"),
    ],
)
def test_errors_name_flags(folder, capsys, words, problem, advice):
    assert main(["detect", *words.split()]) == 1
    err = capsys.readouterr().err
    assert problem in err
    assert advice in err
    assert "()" not in err
    assert left(folder) == set()


def test_more_than_512_communities_of_a_store_are_refused_by_flag(folder, capsys):
    (folder / "path.csv").write_text("".join(f"{i},{i + 1}\n" for i in range(600)))
    assert main(["detect", "path.csv", "--memory", "1GB", "-k", "513"]) == 1
    err = capsys.readouterr().err
    assert "-k must be at most 512 for a stored graph" in err
    assert "to_graph" not in err


def test_only_detect_takes_several_graphs(capsys):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["info", "a.csv", "b.csv"])


def test_names_keep_their_type_in_parquet(folder):
    (folder / "n.csv").write_text("70,71\n71,72\n72,70\n")
    assert main(["detect", "n.csv", "--memory", "1GB", "--output", "n.parquet"]) == 0
    assert pq.read_table("n.parquet").to_pydict() == {"node": [70, 71, 72], "community": [0, 0, 0]}
