"""The command line in this process: what is printed, written, refused."""

import gzip
import json
import re
import warnings

import networkx as nx
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import kgroups
from kgroups import datasets
from kgroups._kernel import KERNELS
from kgroups.cli import commands, main
from kgroups.cli.files import Source
from kgroups.cli.views import facts, number, printable, shortened, table
from kgroups.detect import detect_communities
from kgroups.partition import Partition


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
def triangles(tmp_path):
    """Two bridged triangles under names, as a file."""
    path = tmp_path / "triangles.csv"
    path.write_text(
        "source,target,weight,calls\nann,bob,2,1\nann,cat,2,1\nbob,cat,2,1\ncat,dan,1,1\n"
        "dan,eve,2,1\ndan,fay,2,1\neve,fay,2,1\n"
    )
    return path


def test_detect_karate_tells_the_whole_story(run):
    code, out, err = run("detect", "karate")
    assert (code, err) == (0, "")
    assert out.startswith(
        "karate: Friendships in a karate club that split in two\n34 nodes, 78 edges"
    )
    for part in (
        "2 communities:",
        "modularity",
        "labels   overlap",
        "faction",
        "mean degree",
        "Report",
    ):
        assert part in out
    assert max(map(len, out.splitlines())) <= 100


def test_detect_prints_what_the_library_returns(run):
    code, out, _ = run("detect", "karate", "--no-weight", "--json")
    document = json.loads(out)
    partition = detect_communities(datasets.load("karate").graph, weight=None)
    assert code == 0
    assert document["labels"] == partition.labels.tolist()
    assert document["nodes"] == list(range(34))
    assert document["k"] == partition.k == len(document["sizes"])
    assert document["scores"] == partition.scores().to_dict()
    assert document["spectrum"] == partition.spectrum.to_dict()
    assert document["report"]["k_found"] == partition.k
    assert document["graph"] == {
        "name": "karate",
        "nodes": 34,
        "edges": 78,
        "weighted": False,
        "self_loops": 0,
    }
    assert document["agreement"]["faction"]["overlap"] > 0.9


def test_k_rng_and_self_loops_reach_the_library(run, tmp_path):
    path = tmp_path / "loops.txt"
    path.write_text("0 0\n0 1\n1 2\n2 0\n2 3\n3 4\n4 5\n5 3\n")
    code, out, _ = run("detect", path, "-k", 3, "--rng", 5, "--self-loops", "keep", "--json")
    document = json.loads(out)
    expected = detect_communities(str(path), 3, rng=5, self_loops="keep")
    assert code == 0
    assert document["k"] == 3
    assert document["labels"] == expected.labels.tolist()
    assert document["report"]["loops_dropped"] == 0
    assert json.loads(run("detect", path, "--json")[1])["report"]["loops_dropped"] == 1


def test_the_number_of_communities_has_a_long_flag(run, capsys):
    one, other = (
        json.loads(run("detect", "karate", flag, 3, "--json")[1]) for flag in ("-k", "--k")
    )
    assert one["labels"] == other["labels"]
    assert one["k"] == other["k"] == 3
    with pytest.raises(SystemExit):
        main(["detect", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "-k K, --k K number of communities; found with the communities if absent" in shown


def test_scores_say_where_edges_count_by_weight(run):
    head = "Scores (edges count by their weights in modularity and conductance)\n"
    assert head in run("detect", "karate")[1]
    assert "\nScores\n" in run("detect", "karate", "--no-weight")[1]


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet", ".csv.gz"])
def test_output_holds_the_partition_and_can_be_scored(run, triangles, tmp_path, suffix):
    target = tmp_path / f"out{suffix}"
    code, out, _ = run("detect", triangles, "-k", 2, "--output", target)
    assert code == 0
    assert out.endswith(f"wrote {target}\n")
    found = Partition.load(target)
    assert set(found) == {frozenset({"ann", "bob", "cat"}), frozenset({"dan", "eve", "fay"})}
    code, out, _ = run("score", triangles, target, "--json")
    assert code == 0
    assert json.loads(out)["scores"] == found_scores(triangles, found)


def found_scores(path, partition):
    return kgroups.scoring.scores(str(path), partition).to_dict()


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")]
)
def test_plot_writes_a_picture(run, triangles, tmp_path, suffix, start):
    code, out, _ = run("detect", triangles, "--plot", tmp_path / f"p{suffix}")
    assert code == 0
    assert (tmp_path / f"p{suffix}").read_bytes().startswith(start)
    assert {path.name for path in tmp_path.iterdir()} == {"triangles.csv", f"p{suffix}"}
    assert out.endswith(f"wrote {tmp_path / 'p'}{suffix}\n")


def test_html_writes_a_report(run, triangles, tmp_path):
    code, out, _ = run("detect", triangles, "--html", tmp_path / "r.html")
    assert code == 0
    assert out.endswith(f"wrote {tmp_path / 'r.html'}\n")
    assert {path.name for path in tmp_path.iterdir()} == {"triangles.csv", "r.html"}
    text = (tmp_path / "r.html").read_text()
    assert "<title>triangles.csv</title>" in text
    assert '"names":["ann","bob","cat","dan","eve","fay"]' in text
    assert '"spectrum":{' in text
    code, out, _ = run(
        "detect", "karate", "--html", tmp_path / "k.html", "--html-details", "none", "--json"
    )
    assert code == 0
    assert json.loads(out)["html"] == str(tmp_path / "k.html")
    text = (tmp_path / "k.html").read_text()
    assert "<title>karate: Friendships in a karate club that split in two</title>" in text
    assert '"spectrum":{' not in text
    assert '"confidence":null' in text


def test_a_report_of_a_file_has_its_name_as_title(run, tmp_path):
    (tmp_path / "friends.csv").write_text("a,b\nb,c\na,c\n")
    code, _, _ = run("detect", tmp_path / "friends.csv", "--html", tmp_path / "f.html")
    assert code == 0
    assert "<title>friends.csv</title>" in (tmp_path / "f.html").read_text()


@pytest.mark.parametrize("option", ["--output", "--plot", "--html"])
@pytest.mark.parametrize("spelling", ["same", "relative", "symlink", "hard link"])
def test_the_graph_that_is_read_is_never_overwritten(run, tmp_path, monkeypatch, option, spelling):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "open_graph", lambda args: pytest.fail("no work before this"))
    suffix = {"--output": ".csv", "--plot": ".svg", "--html": ".html"}[option]
    graph = tmp_path / f"graph{suffix}"
    graph.write_text("a,b\nb,c\n")
    target = {
        "same": graph,
        "relative": f"../{tmp_path.name}/graph{suffix}",
        "symlink": tmp_path / f"symlink{suffix}",
        "hard link": tmp_path / f"link{suffix}",
    }[spelling]
    if spelling == "symlink":
        target.symlink_to(graph)
    if spelling == "hard link":
        target.hardlink_to(graph)
    code, out, err = run("detect", graph, option, target)
    assert (code, out) == (1, "")
    assert "this file is read" in err
    assert "Name another file" in err
    assert graph.read_text() == "a,b\nb,c\n"


def test_the_file_of_a_known_network_is_never_overwritten(run, tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "open_graph", lambda args: pytest.fail("no work before this"))
    target = tmp_path / "out.csv"
    target.symlink_to(datasets.describe()[0].paths[0])
    code, _, err = run("detect", "karate", "--output", target)
    assert code == 1
    assert "karate.edges.csv'), and would be destroyed" in err


@pytest.mark.parametrize("name", [b"x", float("nan"), frozenset({1})])
def test_names_that_json_does_not_have_are_told_before_the_work(run, monkeypatch, name):
    graph = kgroups.Graph.from_edges([0, 1], [1, 2], nodes=["a", name, "c"])
    monkeypatch.setattr(commands, "open_graph", lambda args: Source("g", graph, None))
    assert run("detect", "g")[0] == 0
    monkeypatch.setattr("kgroups.detect.detect_communities", lambda *a, **k: pytest.fail("work"))
    code, out, err = run("detect", "g", "--json")
    assert (code, out) == (1, "")
    assert re.search(rf"(?s)text, finite numbers, .*, got .* of type {type(name).__name__}", err)


def test_json_of_a_table_with_names_of_bytes(run, tmp_path):
    ends = {"source": [b"a", b"b"], "target": [b"b", b"c"]}
    pyarrow.parquet.write_table(pyarrow.table(ends), tmp_path / "g.parquet")
    code, out, err = run("detect", tmp_path / "g.parquet", "--json")
    assert (code, out) == (1, "")
    assert "got b'a' of type bytes" in err


def test_score_prints_modularity_as_networkx_has_it(run, tmp_path):
    G = nx.karate_club_graph()
    blocks = [set(range(17)), set(range(17, 34))]
    Partition([0] * 17 + [1] * 17).save(tmp_path / "halves.csv")
    code, out, _ = run("score", "karate", tmp_path / "halves.csv", "--resolution", "0.5", "--json")
    expected = nx.community.modularity(G, blocks, resolution=0.5)
    assert code == 0
    assert json.loads(out)["scores"]["modularity"] == pytest.approx(expected, abs=1e-12)
    code, out, _ = run("score", "karate", tmp_path / "halves.csv", "--no-weight")
    expected = nx.community.modularity(G, blocks, weight=None)
    assert re.search(rf"modularity +{expected:.3f}\n", out)
    assert "halves.csv: 2 communities" in out


def test_score_finds_names_whose_type_only_differs(run, tmp_path):
    G = nx.relabel_nodes(nx.path_graph(4), str)
    nx.write_gml(G, tmp_path / "path.gml")
    (tmp_path / "p.csv").write_text("node,community\n3,1\n2,1\n1,0\n0,0\n")
    code, out, err = run("score", tmp_path / "path.gml", tmp_path / "p.csv", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["scores"]["coverage"] == pytest.approx(2 / 3)


def test_info_describes_the_graph(run, tmp_path):
    path = tmp_path / "g.gml"
    G = nx.Graph([(0, 1), (1, 2), (2, 0), (3, 4), (4, 4)])
    G.add_node(9)
    nx.write_gml(G, path)
    code, out, _ = run("info", path, "--json")
    graph = json.loads(out)["graph"]
    assert code == 0
    assert {key: graph[key] for key in ("nodes", "edges", "self_loops", "weighted")} == {
        "nodes": 6,
        "edges": 5,
        "self_loops": 1,
        "weighted": False,
    }
    assert (graph["components"], graph["largest_component"], graph["isolated_nodes"]) == (3, 3, 1)
    assert (graph["max_degree"], graph["mean_degree"]) == (2, pytest.approx(8 / 6))
    code, out, _ = run("info", path)
    assert re.search(r"isolated nodes +1\n", out)
    assert re.search(r"non-backtracking +\d+\.\d+ +\d+\n", out)


def test_info_prints_k_at_three_r_and_the_warnings(run):
    code, out, _ = run("info", "davis_southern_women")
    spectrum = kgroups.estimate_k(datasets.load("davis_southern_women").graph)
    assert code == 0
    for k in spectrum.k_at.values():
        assert re.search(rf"\d\.\d+ +{k}\n", out)
    assert spectrum.warnings
    assert out.count("Warning:") == len(spectrum.warnings)


@pytest.mark.parametrize("command", ["detect", "info"])
def test_each_warning_is_printed_once_and_not_issued(run, command):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code, out, err = run(command, "davis_southern_women")
    assert (code, err) == (0, "")
    assert (
        out.count("Warning: there are groups whose nodes avoid one another")
        == out.count("Warning:")
        == 1
    )


def test_detect_and_info_of_a_graph_without_edges(run, tmp_path):
    nx.write_gml(nx.empty_graph(2), tmp_path / "empty.gml")
    code, out, _ = run("detect", tmp_path / "empty.gml", "--plot", tmp_path / "p.png")
    assert code == 0
    assert "2 nodes, 0 edges\n\n  2 single nodes.\n" in out
    assert run("info", tmp_path / "empty.gml")[0] == 0


@pytest.mark.parametrize("content", ["", "# no edges yet\n", "source,target\n"])
@pytest.mark.parametrize("command", ["detect", "info"])
def test_a_file_without_a_data_line_is_an_error(run, tmp_path, command, content):
    path = tmp_path / "graph.csv"
    path.write_text(content)
    code, out, err = run(command, path)
    assert (code, out) == (1, "")
    assert "graph.csv: the file must hold at least one node, got none" in err


def test_the_columns_of_a_file_are_found_or_named(run, tmp_path):
    path = tmp_path / "calls.csv"
    path.write_text("from,to\nann,bob\nbob,cat\n")
    assert json.loads(run("detect", path, "--json")[1])["nodes"] == ["ann", "bob", "cat"]
    path.write_text("caller,place,called\nann,rome,bob\nbob,oslo,cat\n")
    code, _, err = run("detect", path)
    assert code == 1
    assert "--source and --target" in err
    named = ("--source", "caller", "--target", "called", "--json")
    code, out, _ = run("detect", path, *named)
    assert (code, json.loads(out)["nodes"]) == (0, ["ann", "bob", "cat"])
    assert json.loads(run("info", path, *named)[1])["graph"]["edges"] == 2
    code, _, err = run("detect", "karate", "--source", "caller", "--target", "called")
    assert code == 1
    assert "got the known network karate" in err


def test_how_far_a_file_may_expand_is_an_option(run, tmp_path):
    path = tmp_path / "graph.csv.gz"
    comment = gzip.compress(b"#" * (1 << 20) + b"\n")
    path.write_bytes(gzip.compress(b"ann,bob\n") + comment * 70)
    code, _, err = run("info", path)
    assert code == 1
    assert "must not expand to more than 100 times" in err
    assert "--max-expansion" in err
    assert run("info", path, "--max-expansion", "inf")[0] == 0
    code, _, err = run("info", path, "--max-expansion", "0")
    assert (code, "--max-expansion must be a number >= 1, got 0" in err) == (1, True)


def test_many_communities_are_cut_with_a_word(run, tmp_path):
    nx.write_edgelist(
        nx.disjoint_union_all([nx.complete_graph(4)] * 25), tmp_path / "c.txt", data=False
    )
    _, out, _ = run("detect", tmp_path / "c.txt")
    assert "\n\n  25 communities of 4 nodes.\n" in out
    assert "and 5 smaller ones of 20 nodes together; --output FILE writes all" in out


def test_named_networks_that_are_directed_are_loaded_by_union(run):
    _, out, _ = run("info", "drosophila_left", "--json")
    assert json.loads(out)["graph"]["edges"] == 5559
    _, out, _ = run("info", "drosophila_left", "--symmetrize", "sum", "--json")
    assert json.loads(out)["graph"]["weighted"] is True


def test_datasets_lists_every_network(run):
    code, out, _ = run("datasets")
    assert code == 0
    for entry in datasets.describe():
        assert entry.name in out
        assert entry.citation in out
        assert re.search(rf"\n  {re.escape(entry.name)} +{entry.family} ", out)
    assert str(datasets.data_folders()[-1]) in out
    listed = json.loads(run("datasets", "--json")[1])["networks"]
    assert [entry["name"] for entry in listed] == list(datasets.names())
    assert listed[0]["files"]["karate.edges.csv"] == datasets.describe()[0].edge_file.sha256


def test_datasets_says_where_absent_ones_come_from(run, tmp_path, monkeypatch):
    monkeypatch.setenv("KGROUPS_DATA", str(tmp_path))
    for variable in ("XDG_DATA_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    grqc = datasets.describe()[datasets.names().index("ca-GrQc")]
    _, out, _ = run("datasets")
    assert "set the environment variable KGROUPS_DATA" in " ".join(out.split())
    sources = out.split("\nWhom to cite, and where absent files come from")[1]
    for entry in (*datasets.describe(), *datasets.describe_tables()):
        assert all((data_file.file in sources) != entry.bundled for data_file in entry.files)
    section = sources.split("\n  ca-GrQc\n")[1].splitlines()[:4]
    assert [line.split(maxsplit=1) for line in section] == [
        ["creator", "J. Leskovec, J. Kleinberg, C. Faloutsos, ACM TKDD 1(1) (2007)"],
        ["files", "ca-GrQc.edges.csv"],
        ["archive", "SNAP (snap.stanford.edu/data): ca-GrQc.txt.gz"],
        ["copy", grqc.origin],
    ]
    (tmp_path / "ca-GrQc.edges.csv").touch()
    assert "ca-GrQc.edges.csv" not in run("datasets")[1]
    listed = {
        entry["name"]: entry for entry in json.loads(run("datasets", "--json")[1])["networks"]
    }
    assert listed["ca-GrQc"]["archive"] == grqc.archive


def test_datasets_names_a_shared_source_once(run, tmp_path, monkeypatch):
    monkeypatch.setenv("KGROUPS_DATA", str(tmp_path))
    for variable in ("XDG_DATA_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    _, out, _ = run("datasets")
    colleges = [entry for entry in datasets.describe() if entry.family == "colleges"]
    assert out.count(colleges[0].citation) == 1
    assert all(entry.edge_file.file in out for entry in colleges)


def test_datasets_lists_every_table_in_a_section_of_its_own(run, tmp_path, monkeypatch):
    monkeypatch.setenv("KGROUPS_DATA", str(tmp_path))
    for variable in ("XDG_DATA_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    (tmp_path / "iris.csv").touch()
    code, out, _ = run("datasets")
    networks, tables = out.split("\nTables (")
    tables, sources = tables.split("\nWhom to cite")
    assert code == 0
    assert "karate" not in tables
    assert "dermatology" not in networks
    assert re.search(r"\n  epileptic +11,500 x 178 +5  absent +EEG", tables)
    assert re.search(r"\n  iris +150 x 4 +3  present ", tables)
    assert all(entry.citation in sources for entry in datasets.describe_tables())
    listed = json.loads(run("datasets", "--json")[1])["tables"]
    assert [entry["name"] for entry in listed] == list(datasets.table_names())
    assert [entry["name"] for entry in listed if entry["present"]] == ["iris"]
    first, described = listed[0], datasets.describe_tables()[0]
    assert (first["rows"], first["columns"], first["classes"], first["missing"]) == (366, 34, 6, 8)
    assert (first["citation"], first["origin"]) == (described.citation, described.origin)
    assert first["files"] == {"dermatology.csv": described.data_file.sha256}


def test_warm_compiles(run, monkeypatch):
    monkeypatch.setenv("KGROUPS_JIT", "auto")
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    code, out, _ = run("warm")
    assert code == 0
    assert re.fullmatch(r"all \d+ kernels are compiled \(\d+\.\d s\)\n", out)
    said = json.loads(run("warm", "--json")[1])
    ours = [one for one in KERNELS if one.__module__.startswith("kgroups.")]
    assert said["kernels"] == len(ours) > 20
    assert said["seconds"] >= 0.0


def test_warm_says_that_it_does_nothing_where_compiling_is_forbidden(run, monkeypatch):
    monkeypatch.setenv("KGROUPS_JIT", "never")
    code, out, _ = run("warm")
    assert (code, out.partition(":")[0]) == (0, "nothing is compiled")
    assert json.loads(run("warm", "--json")[1])["kernels"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["detect", "karat"], r"'karat', which is neither\. Did you mean 'karate'\?\n"),
        (["detect", "no/such.gml"], r"'no/such\.gml', which is neither\.\n.*kgroups datasets"),
        (["detect", "iris"], r"'iris', which is a known table\.\n.*load_table\('iris'\)"),
        (["detect", "karate", "-k", "0"], "k must"),
        (["detect", "karate", "-k", "35"], "k must not exceed the number of nodes"),
        (["detect", "karate", "--rng", "-1"], "rng must be"),
        (["detect", "karate", "--weight", "calls"], "called 'weight', got --weight calls"),
        (["detect", "karate", "--output", "out.txt"], r"must end in \.json"),
        (["detect", "karate", "--output", "no/such/out.csv"], "there is no folder 'no/such'"),
        (
            ["detect", "karate", "--plot", "out.bmp"],
            r"must end in \.png, \.svg, \.pdf; got 'out.bmp'",
        ),
        (["detect", "karate", "--html", "out.pdf"], r"must end in \.html or \.htm; got 'out.pdf'"),
        (["detect", "karate", "--html", "no/such/r.html"], "there is no folder 'no/such'"),
        (["score", "karate", "none.csv"], "there is no file 'none.csv'"),
        (["score", "karate", "none.txt"], "there is no file 'none.txt'"),
    ],
)
def test_user_errors_exit_with_1_and_a_message(run, words, message):
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert err.startswith("kgroups: error: ")
    assert re.search(message, err)
    assert "Traceback" not in err


def test_errors_in_files_name_file_and_line(run, tmp_path):
    (tmp_path / "bad.csv").write_text("source,target\na,b\na\n")
    code, _, err = run("detect", tmp_path / "bad.csv")
    assert code == 1
    assert "bad.csv" in err
    assert "3" in err
    (tmp_path / "p.csv").write_text("node,community\n0,0\n")
    code, _, err = run("score", "karate", tmp_path / "p.csv")
    assert code == 1
    assert "Only in the graph: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 23 more.\n" in err


def test_a_directed_file_asks_for_symmetrize(run, tmp_path):
    nx.write_gml(nx.DiGraph([(0, 1), (1, 2)]), tmp_path / "directed.gml")
    code, _, err = run("info", tmp_path / "directed.gml")
    assert code == 1
    assert "symmetrize" in err
    assert run("info", tmp_path / "directed.gml", "--symmetrize", "union")[0] == 0


def test_a_weight_column_is_chosen_by_name(run, triangles):
    assert json.loads(run("info", triangles, "--json")[1])["graph"]["weighted"] is True
    calls = run("info", triangles, "--weight", "calls", "--json")
    assert json.loads(calls[1])["graph"]["weighted"] is False
    code, _, err = run("info", triangles, "--weight", "size")
    assert code == 1
    assert "size" in err


def test_a_folder_in_place_of_a_graph_is_told(run, tmp_path):
    code, _, err = run("info", tmp_path)
    assert code == 1
    assert str(tmp_path) in err


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["detekt"],
        ["detect"],
        ["detect", "karate", "-k", "two"],
        ["info", "karate", "--symmetrize", "x"],
    ],
)
def test_wrong_usage_exits_with_2(words, capsys):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert "usage: kgroups" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"kgroups {kgroups.__version__}\n"


def test_interrupt_exits_with_130(run, monkeypatch):
    def interrupted(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "info", interrupted)
    assert run("info", "karate") == (130, "", "")


def test_errors_of_the_system_are_told_without_traceback(run, monkeypatch):
    def full(args):
        raise OSError(28, "No space left on device", "out.csv")

    monkeypatch.setattr(commands, "info", full)
    assert run("info", "karate") == (1, "", "kgroups: error: out.csv: No space left on device\n")


def test_nothing_is_written_when_drawing_fails(run, triangles, tmp_path, monkeypatch):
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("detect", triangles, "--plot", tmp_path / "p.png")
    assert [path.name for path in tmp_path.iterdir()] == ["triangles.csv"]


def test_node_names_cannot_command_the_terminal(run, tmp_path):
    with gzip.open(tmp_path / "evil.csv.gz", "wt", encoding="utf-8") as stream:
        stream.write("source,target\n\x1b[31mred,b\nb,c\nc,\x1b[31mred\n")
    _, out, _ = run("detect", tmp_path / "evil.csv.gz")
    assert "\x1b" not in out
    assert "\\x1b[31mred" in out


def test_tables_align_and_shorten():
    lines = table(("name", "n"), [("a", 1), ("long", 100)], align="lr").splitlines()
    assert lines == ["  name    n", "  a       1", "  long  100"]
    assert facts([("a", 1), ("long", "x")]) == "  a     1\n  long  x"
    assert facts([]) == ""
    assert shortened(["aa", "bb", "cc"], 100) == "aa, bb, cc"
    assert shortened(["aa", "bb", "cc"], 11) == "aa, bb, ..."
    assert shortened(["a" * 50, "b"], 20) == "a" * 15 + "..."
    assert printable("é\n\x07") == "é\\n\\x07"
    assert (number(3), number(0.12345)) == ("3", "0.123")
    assert number(float(np.float64(2.0))) == "2.000"
