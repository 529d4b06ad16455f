"""The paper's experiments: small runs of each, and what their verdicts rest on."""

import csv
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import kgroups as kg
from kgroups.errors import InputError
from kgroups.generators import planted_partition
from kgroups.studies import Study
from reproduce import EXPERIMENTS, Claim, Finding, Measured, planted, reproduce
from reproduce.__main__ import main
from reproduce.networks import printed_verdict
from reproduce.planted import from_plus_plus, from_random, kernel_kmeans
from reproduce.published import GIRVAN_NEWMAN, SBM_OVERLAPS, SBM_RATIOS
from reproduce.results import measured


def column(finding, name):
    place = finding.columns.index(name)
    return [line[place] for line in finding.lines]


def test_the_tables_of_the_paper_fit_together():
    assert all(len(curve) == len(SBM_RATIOS) for k in SBM_OVERLAPS.values() for curve in k.values())
    grid = planted.SBM_GRID
    assert max(min(abs(snr - ratio) for snr in grid) for ratio in SBM_RATIOS) < 0.006
    assert [printed["kgroups"].mean for printed in GIRVAN_NEWMAN.values()] == [
        0.177, 0.489, 0.870, 0.960, 0.982, 0.998, 1.000
    ]  # fmt: skip


def test_girvan_newman_with_few_trials():
    finding = reproduce("girvan", trials=4, progress=False)
    assert column(finding, "λ") == list(GIRVAN_NEWMAN)
    assert column(finding, "verdict")[0] == "undetectable"
    assert column(finding, "like paper")[-1].mean > 0.99
    assert len(finding.study) == 7 * 4 * 7
    (axes,) = finding.figures["girvan"]().axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    for name, label in (("kgroups", "paper, k-groups"), ("bethe", "paper, Bethe Hessian")):
        assert lines[label].get_xdata().tolist() == list(GIRVAN_NEWMAN)
        means = [printed[name].mean for printed in GIRVAN_NEWMAN.values()]
        assert lines[label].get_ydata().tolist() == means
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert {"kgroups", "paper, k-groups", "paper, Bethe Hessian"} <= set(legend)
    assert any("belief propagation, true rates" in text for text in legend)
    assert axes.get_ylabel() == "overlap (k given)"


def test_block_models_with_few_groups_and_trials():
    finding = planted.sbm(
        2,
        grid=[0.5, 1.24, 1.45, 2.5],
        ratios=[0.5, 1.24, 2.5],
        published={2: {"bethe": (0.03, 0.55, 0.97), "kgroups": (0.9, 0.56, 0.97)}},
        improved=[2],
        progress=False,
    )
    assert column(finding, "λ") == [0.5, 1.24, 2.5]
    assert column(finding, "verdict")[0] == "below (near or below the threshold)"
    assert column(finding, "verdict")[2] == "reproduced"
    assert [claim.sentence[:3] for claim in finding.claims] == ["in ", "the", "by "]
    assert "k = 2, λ = 1.24" in finding.claims[2].seen
    (axes,) = finding.figures["sbm"]().axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert lines["paper, k-groups"].get_ydata().tolist() == [0.9, 0.56, 0.97]


@pytest.mark.parametrize(
    ("mean", "lowest", "verdict"),
    [(0.8, 0.85, "below"), (0.86, 0.85, "reproduced"), (0.96, 0.85, "above")],
)
def test_verdict_on_a_mean(mean, lowest, verdict):
    assert planted._girvan_verdict(mean, lowest, 0.9, detectable=True) == verdict


@pytest.mark.parametrize(
    ("mean", "verdict"), [(0.744, "below"), (0.7451, "reproduced"), (0.757, "above")]
)
def test_verdict_on_a_printed_digit(mean, verdict):
    assert printed_verdict(mean, 0.75, digits=2) == verdict


def test_connectome_to_the_printed_digit():
    finding = reproduce("drosophila", trials=1, progress=False)
    assert column(finding, "verdict") == ["reproduced"] * 6
    assert finding.holds


def test_networks_whose_files_are_absent(monkeypatch, tmp_path):
    monkeypatch.setenv("KGROUPS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    finding = reproduce("real", trials=1, progress=False)
    verdicts = dict(zip(column(finding, "network"), column(finding, "verdict"), strict=True))
    assert verdicts["karate"] == "reproduced"
    assert verdicts["dolphins"].startswith("not run: its files are not here")
    assert "1 of 1" in finding.claims[0].seen
    alone = reproduce("grqc", trials=1, progress=False)
    assert not alone.holds
    assert alone.figures == {}


def test_starts_decide_near_the_threshold():
    graph, truth = planted_partition(400, 2, 3.0, 1.5, rng=0)
    good = kg.metrics.overlap(truth, kg.detect_communities(graph, 2))
    for start in (from_random, from_plus_plus):
        poor = kg.metrics.overlap(truth, start(graph, 2, np.random.default_rng(0)))
        assert poor < good - 0.2


def test_any_start_will_do_on_clear_groups():
    graph, truth = planted_partition(200, 2, 30.0, 4.0, rng=0)
    for start in (from_random, from_plus_plus):
        assert kg.metrics.overlap(truth, start(graph, 2, np.random.default_rng(1))) == 1.0


def test_starts_are_compared_on_every_case(tmp_path):
    finding = planted.init(2, n=300, k=2, progress=False)
    assert column(finding, "λ") == [1.2, 1.5, 3.0, 5.0]
    assert column(finding, "default")[-1].mean == 1.0
    assert column(finding, "verdict")[-1] == "any start will do"
    for snr, random in zip(column(finding, "λ"), column(finding, "random"), strict=True):
        assert random == measured(finding.study.values("overlap", method="random", snr=snr))
    assert [path.name for path in finding.save(tmp_path)] == ["init.csv", "init-trials.csv"]
    assert len(Study.load(tmp_path / "init-trials.csv")) == 4 * 2 * 4


def objective(G, z, k):
    Y = np.eye(k)[z]
    return float(np.sum(np.diag(Y.T @ G @ Y) / Y.sum(axis=0)))


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_kernel_kmeans_converges_on_a_gram_matrix(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3))
    z = np.append(np.arange(k), rng.integers(k, size=12 - k))
    run = kernel_kmeans(sparse.csr_array(X @ X.T), z, k=k, max_sweeps=200)
    assert run.converged
    assert not run.fell
    assert run.objectives[0] == pytest.approx(objective(X @ X.T, z, k))
    assert run.objectives[-1] == pytest.approx(objective(X @ X.T, run.z, k))
    means = np.array([X[run.z == a].mean(axis=0) for a in range(k)])
    distance = np.square(X[:, None] - means).sum(axis=2)
    alone = np.bincount(run.z, minlength=k)[run.z] == 1
    at_nearest = distance[np.arange(12), run.z] <= distance.min(axis=1) + 1e-9
    assert np.all(at_nearest | alone)


def test_kernel_kmeans_does_not_converge_on_the_bethe_hessian():
    finding = reproduce("kmeans-on-bethe", trials=1, progress=False)
    assert column(finding, "k-means converged") == ["0 of 1"] * 4
    assert column(finding, "control converged") == ["1 of 1"] * 4
    assert finding.holds


def finding_of(**change):
    given = {
        "name": "toy",
        "title": "a toy",
        "settings": "none",
        "columns": ("case", "paper", "ours", "verdict"),
        "lines": (("a", 0.5, Measured(0.51, 0.01), "reproduced"), ("b", None, None, "not run")),
        "claims": (Claim("ours is close", True, "by .01"), Claim("b ran", False, "it did not")),
    }
    return Finding(**{**given, **change})


def test_markdown_has_the_table_and_the_verdicts():
    text = finding_of().to_markdown()
    assert "## toy: a toy" in text
    assert "| a | 0.5 | 0.510 ± 0.010 | reproduced |" in text
    assert "| b | - | - | not run |" in text
    assert "- yes: ours is close (by .01)" in text
    assert "- NO: b ran (it did not)" in text


def test_saved_table_has_standard_errors(tmp_path):
    (path,) = finding_of().save(tmp_path / "new" / "folder")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert rows[0] == {
        "case": "a", "paper": "0.5", "ours": "0.51", "ours s.e.": "0.01", "verdict": "reproduced"
    }  # fmt: skip
    assert rows[1]["ours"] == ""


def test_mean_of_one_value_has_no_error():
    assert str(measured([0.5])) == "0.500"
    mean, se = measured([0.0, 1.0])
    assert (mean, se) == (0.5, pytest.approx(math.sqrt(0.5 / 2)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"experiment": "girwan"}, "experiment must be one of 'girvan'.* got 'girwan'"),
        ({"experiment": "real", "trials": 0}, "trials must be a whole number >= 1, got 0"),
    ],
)
def test_experiments_that_cannot_be(arguments, message):
    with pytest.raises(InputError, match=message):
        reproduce(**arguments)


def test_command_prints_and_writes(capsys, tmp_path):
    code = main(["drosophila", "--trials", "1", "--output", str(tmp_path / "out")])
    out = capsys.readouterr().out
    assert code == 0
    assert "drosophila_left" in out
    assert "yes: in the paper's settings every score reaches the printed digits" in out
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["drosophila.csv", "drosophila.png", "report.md"]
    assert "## drosophila" in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.parametrize("experiment", ["drosophila", "girvan"])
def test_without_matplotlib_all_but_the_pictures_is_made(capsys, monkeypatch, tmp_path, experiment):
    words = [experiment, "--trials", "1", "--output"]
    assert main([*words, str(tmp_path / "drawn")]) == 0
    drawn = capsys.readouterr()
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main([*words, str(tmp_path / "bare")]) == 0
    bare = capsys.readouterr()
    files, all_files = (
        {path.name for path in (tmp_path / folder).iterdir()} for folder in ("bare", "drawn")
    )
    pictures = {name for name in all_files if name.endswith(".png")}
    assert pictures
    assert files == all_files - pictures
    tables, all_tables = (text.split("\nwrote ")[0] for text in (bare.out, drawn.out))
    assert tables == all_tables
    assert drawn.err == ""
    assert bare.err.startswith(
        f"not drawn: {', '.join(sorted(pictures))}: drawing needs matplotlib"
    )
    assert bare.err.endswith('python -m pip install ".[plot]"\n')
    assert ".png" in (tmp_path / "drawn" / "report.md").read_text()
    assert ".png" not in (tmp_path / "bare" / "report.md").read_text()


def test_command_as_json_writes_into_its_own_folder(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["drosophila", "--trials", "1", "--json"]) == 0
    (experiment,) = json.loads(capsys.readouterr().out)["experiments"]
    assert experiment["holds"] is True
    assert len(experiment["lines"]) == 6
    assert (tmp_path / "kgroups-reproduce" / "drosophila.csv").is_file()


def test_all_experiments_make_one_report(capsys, monkeypatch, tmp_path):
    def toy(name):
        return lambda trials, **running: finding_of(name=name)

    monkeypatch.setattr("reproduce.EXPERIMENTS", {name: toy(name) for name in EXPERIMENTS})
    assert main(["--all", "--output", str(tmp_path)]) == 0
    report = (tmp_path / "report.md").read_text()
    assert all(f"## {name}: a toy" in report for name in EXPERIMENTS)
    assert "wrote" in capsys.readouterr().out


def test_output_that_is_a_file(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    assert main(["real", "--output", str(tmp_path / "file")]) == 1
    assert "--output must be a folder" in capsys.readouterr().err


@pytest.mark.parametrize("linked", [False, True])
def test_results_do_not_go_into_a_folder_of_data(capsys, tmp_path, monkeypatch, linked):
    data = tmp_path / "data"
    data.mkdir()
    (data / "dermatology.csv").write_text("data")
    monkeypatch.setenv("KGROUPS_DATA", str(data))
    folder = data
    if linked:
        folder = tmp_path / "results"
        folder.mkdir()
        (folder / "dermatology.csv").symlink_to(data / "dermatology.csv")
    assert main(["girvan", "--trials", "1", "--output", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "without data that the experiments read" in err
    assert "'dermatology.csv'" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("real --trials 0", "--trials must be a whole number >= 1, got 0"),
        ("girvan --trials 1 --jobs 0", "--jobs must be a whole number other than 0"),
        ("uci --trials 1 --jobs 0", "--jobs must be a whole number other than 0"),
    ],
)
def test_errors_name_flags(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 1
    assert capsys.readouterr().err.startswith(f"reproduce: error: {message}")


def test_it_runs_as_a_module_of_a_checkout(tmp_path):
    command = [sys.executable, "-m", "reproduce", "drosophila", "--trials", "1"]
    root = Path(__file__).parents[3]
    subprocess.run([*command, "--output", tmp_path], cwd=root, check=True, capture_output=True)
    assert (tmp_path / "drosophila.csv").is_file()
