"""``kgroups study``: what it prints, writes, refuses, and leaves behind when interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import networkx as nx
import pytest
from matplotlib.image import imread

from kgroups.cli import main
from kgroups.cli.study import journal_beside, parse_numbers
from kgroups.metrics import METRIC_NAMES
from kgroups.studies import METHODS, Study, sweep
from kgroups.studies.running import read_journal

# Whole studies are too much work for kernels that are not compiled.
pytestmark = pytest.mark.compiled

SMALL = ["study", "--n", "60", "--k", "2,3", "--degree", "6", "--snr", "1:2:3", "--trials", "2"]


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main(words)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def untimed(study):
    return [{name: row[name] for name in row if name != "seconds"} for row in study.rows]


def test_study_prints_means_and_writes_rows_and_picture(run, tmp_path):
    code, out, err = run(*SMALL, "--output", "study.csv", "--plot", "study.png")
    assert (code, err) == (0, "")
    assert "mean overlap ± standard error, 2 graphs per line" in out
    header = next(line for line in out.splitlines() if "snr" in line)
    assert header.split() == ["n", "k", "degree", "snr", "kgroups", "bethe-hessian"]
    assert sum("±" in line for line in out.splitlines()) == 1 + 6
    study = Study.load("study.csv")
    assert len(study) == 2 * 3 * 2 * 2
    assert {row["snr"] for row in study.rows} == {1.0, 1.5, 2.0}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["study.csv", "study.png"]
    assert (tmp_path / "study.png").read_bytes().startswith(b"\x89PNG")


def test_study_as_json(run):
    code, out, _ = run(*SMALL[:-1], "1", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["rows"] == 12
    assert document["summary"][0]["se"] is None
    assert {"n", "k", "degree", "snr", "method", "mean"} <= set(document["summary"][0])


def test_shards_merge_to_the_whole(run):
    for part in (1, 2):
        run(*SMALL, "--shard", f"{part}/2", "--journal", f"part{part}")
    run(*SMALL, "--output", "whole.csv")
    code, out, _ = run("study", "merge", "part1", "part2", "--output", "merged.parquet")
    assert code == 0
    assert "wrote merged.parquet" in out
    assert untimed(Study.load("merged.parquet")) == untimed(Study.load("whole.csv"))


def test_journal_of_a_failed_run_is_found_again(run, tmp_path):
    run(*SMALL, "--journal", "kept")
    kept = (tmp_path / "kept").read_bytes().splitlines(keepends=True)
    (tmp_path / "study.csv.journal").write_bytes(b"".join(kept[:4]))
    code, _, _ = run(*SMALL, "--output", "study.csv")
    assert code == 0
    assert not (tmp_path / "study.csv.journal").exists()
    plan, finished = read_journal(tmp_path / "kept")
    assert len(finished) == len(plan["cells"]) * plan["trials"]


def test_ratios_beyond_the_model_are_clipped_and_told(run):
    code, out, err = run(*SMALL, "--snr", "2,3", "--metrics", "overlap")
    assert code == 0
    assert "where snr exceeds the root of the degree there are no edges between groups" in err
    assert sum("±" in line for line in out.splitlines()) == 1 + 4


def ring(cliques, kind, rng):
    graph = nx.ring_of_cliques(cliques, 5)
    return graph, [node // 5 for node in graph]


def test_a_journal_of_another_study_says_what_differs(run):
    run(*SMALL, "--journal", "kept")
    code, _, err = run(*SMALL, "--trials", "3", "--snr", "1,2", "--journal", "kept")
    assert code == 1
    assert "kept is the journal of another study: its --snr is 1.0, 1.5, 2.0, here it is" in err
    assert "here it is 1.0, 2.0; its --trials is 2, here it is 3.\n  Name another --journal" in err


def test_a_resumed_study_runs_what_is_missing(run, tmp_path):
    run(*SMALL, "--journal", "kept")
    lines = (tmp_path / "kept").read_bytes().splitlines(keepends=True)
    (tmp_path / "kept").write_bytes(b"".join(lines[:6]))
    code, _, err = run(*SMALL, "--journal", "kept")
    assert (code, err) == (0, "")
    resumed = (tmp_path / "kept").read_bytes().splitlines(keepends=True)
    assert resumed[:6] == lines[:6]
    assert len(resumed) == len(lines)


def test_journals_of_any_sweep_are_merged(run, tmp_path):
    grid = {"cliques": [4, 8], "kind": ["plain", "other"]}
    sweep(ring, grid, trials=2, journal=tmp_path / "rings", progress=False)
    code, out, err = run("study", "merge", "rings", "--plot", "rings.png")
    assert (code, err) == (0, "")
    assert ["8", "other", "1.000", "±", "0.000"] in [line.split() for line in out.splitlines()]
    assert (tmp_path / "rings.png").read_bytes().startswith(b"\x89PNG")


def test_cells_that_are_close_have_lines_of_their_own(run):
    _, out, _ = run(*SMALL, "--k", "2", "--snr", "1.00001,1.00002")
    lines = [line.split()[:4] for line in out.splitlines() if "±" in line][1:]
    assert lines == [["60", "2", "6", "1.00001"], ["60", "2", "6", "1.00002"]]


def test_a_picture_has_room_for_every_panel(run, tmp_path):
    run(*SMALL, "--n", "60,80", "--k", "2,3", "--plot", "four.png")
    run(*SMALL, "--n", "60", "--k", "2", "--plot", "one.png")
    (tall, wide, _), (low, narrow, _) = (
        imread(tmp_path / f"{n}.png").shape for n in ("four", "one")
    )
    assert (tall, wide) == (2 * low, 3 * narrow)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["study", "--n", "100"], "--k is missing"),
        (["study", "merge", "absent"], "absent: No such file"),
        ([*SMALL, "--snr", "a:b:c"], "--snr must be numbers such as 2,5,15 or 0.5:2.5:20"),
        ([*SMALL, "--k", "2.5"], "--k must be whole numbers, got 2.5"),
        ([*SMALL, "--shard", "1/2"], "--shard needs --journal FILE"),
        ([*SMALL, "--shard", "half", "--journal", "j"], "--shard must be I/N such as 1/4"),
        ([*SMALL, "--methods", "kgrups"], "Did you mean 'kgroups'?"),
        ([*SMALL, "--output", "study.txt"], "the name of a table must end in"),
        ([*SMALL, "--plot", "study.txt"], "the name of a plot must end in"),
        ([*SMALL, "--output", "no/study.csv"], "there is no folder 'no'"),
        ([*SMALL, "--output", "a.csv", "--journal", "./a.csv"], "would overwrite each other"),
        (["study", "merge", "a.csv", "--output", "./a.csv"], "this file is read (as 'a.csv')"),
        ([*SMALL, "--output", "a.csv", "--plot", "loop.png"], "would overwrite each other"),
        ([*SMALL, "--plot", "taken.png"], "'taken.png' is a folder, not a file"),
        ([*SMALL, "--snr", "3", "--beyond", "error"], "degree 6 the largest --snr is 2.44948974"),
    ],
)
def test_what_cannot_be_done_is_said(run, tmp_path, words, message):
    (tmp_path / "taken.png").mkdir()
    (tmp_path / "loop.png").symlink_to(tmp_path / "a.csv.journal")
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert message in err


def test_numbers_of_a_range_are_those_that_people_type():
    assert parse_numbers("snr", "0.9:2.1:5") == [0.9, 1.2, 1.5, 1.8, 2.1]


def test_every_method_is_listed_with_who_chooses_k(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["study", "--list-methods"])
    assert ended.value.code == 0
    rows = [line.split()[:3] for line in capsys.readouterr().out.splitlines()]
    assert rows == [[m.name, "k", "given" if m.k_given else "chosen"] for m in METHODS.values()]


def test_help_names_every_metric(capsys):
    with pytest.raises(SystemExit):
        main(["study", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert f"scores to record, from {', '.join(METRIC_NAMES)};" in shown


def test_methods_that_choose_k_are_compared_by_ami(run):
    words = [*SMALL, "--k", "2", "--methods", "kgroups,louvain", "--output", "study.csv"]
    code, out, _ = run(*words)
    assert code == 0
    assert "mean ami ± standard error, 2 graphs per line\nk given to: kgroups\n" in out
    assert "nan" not in out
    study = Study.load("study.csv")
    last = [row.split() for row in out.splitlines() if "±" in row][-1]
    assert last[4] == f"{study.values('ami', method='kgroups', snr=2.0).mean():.3f}"


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts work in another way there")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_leaves_a_journal_to_go_on_from(tmp_path, jobs):
    journal = tmp_path / "journal"
    words = ["study", "--n", "300", "--k", "4", "--degree", "5", "--snr", "0.5:2:40"]
    words += ["--trials", "200", "--jobs", jobs, "--journal", str(journal)]
    process = subprocess.Popen(
        [sys.executable, "-m", "kgroups.cli", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Under a shell that runs the suite in the background, children would ignore interrupts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 3):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert f"the same command resumes from {journal}" in err
    assert "Traceback" not in err
    assert journal.read_bytes().endswith(b"\n")
    assert 3 <= len(read_journal(journal)[1]) < 8000


@pytest.mark.parametrize("letter", ["n", "é"])
def test_a_table_with_a_long_name_has_a_journal_beside_it(tmp_path, letter):
    name = letter * (251 // len(letter.encode())) + ".csv"
    journal = journal_beside(str(tmp_path / name))
    assert journal == journal_beside(str(tmp_path / name))
    Path(journal).touch()
    assert journal_beside(str(tmp_path / "study.csv")) == str(tmp_path / "study.csv.journal")
