"""The benchmark of scales: its graphs have the scales that it says, and a bar can be missed."""

import contextlib
import io
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import kgroups as kg
from benchmarks import scales, startup, suites
from benchmarks.graphs import blobs, digits, hierarchy
from benchmarks.scales import Figure, at_least, at_most
from benchmarks.suites import Row


def degrees_of(graph):
    return np.bincount(np.concatenate([graph.source, graph.target]), minlength=graph.n)


def test_a_hierarchy_has_the_rates_of_its_scales():
    """Bounds: five standard deviations of a Poisson number of edges."""
    graph = hierarchy("27/9/3", degree=20.0, seed=1)
    assert np.bincount(graph.truth).tolist() == [81] * 27
    assert np.unique(graph.truth[:81]).size > 20
    ends = graph.truth[graph.source], graph.truth[graph.target]
    together = [ends[0] // width == ends[1] // width for width in (1, 3, 9)]
    found = np.diff([0, *(np.count_nonzero(pairs) for pairs in together), graph.m])
    pairs = np.array([27 * 81 * 80 / 2, 27 * 81**2, 81 * 81**2, 243 * 81**2])
    expected = pairs * np.array([1.0, 0.16, 0.045, 0.012])
    expected *= 10.0 * graph.n / expected.sum()
    assert (abs(found - expected) < 5.0 * np.sqrt(expected)).all()


def test_neighbors_are_linked_if_one_is_near_the_other():
    for graph in (blobs("blobs", spread=3.0, seed=2), digits("digits", seed=0)):
        assert (graph.source < graph.target).all()
        assert degrees_of(graph).min() == 15
        assert 15 * graph.n / 2 < graph.m < 15 * graph.n
    assert graph.true_k == 10
    first, second = (blobs("blobs", spread=2.0, seed=seed).m for seed in (0, 1))
    assert first != second


def test_points_are_left_out_without_scikit_learn(monkeypatch):
    monkeypatch.setattr(suites, "find_spec", lambda module: None)
    assert scales.DIGITS.why_absent == "scikit-learn is not installed"
    assert scales.BLOBS[0].why_absent == "scikit-learn is not installed"
    assert scales.CELLS_OF_SCANPY.why_absent == "scanpy is not installed"
    assert scales.HIERARCHY[0].why_absent is None


def test_planted_graphs_are_two_hundred():
    part = scales.PARTS["planted"]
    assert part.graphs * len(part.rows) == 200


def test_agreement_is_with_each_scale_of_a_hierarchy():
    row = scales.HIERARCHY[1]
    graph = row.graph(0)
    for place, width in enumerate((1, 3, 9)):
        amis = scales.agreement(graph, graph.truth // width)
        assert np.flatnonzero(np.isclose(amis, 1.0)).tolist() == [place]


def test_the_fastest_call_counts_without_what_prepares_it(monkeypatch):
    clock = iter([0.0, 1.0, 1.009, 3.0, 3.004])
    monkeypatch.setattr(scales, "process_time", lambda: next(clock))
    result, seconds = scales.fastest(lambda argument: argument + 1, lambda: 4)
    assert (result, seconds) == (5, pytest.approx(0.009))


def test_a_bar_can_be_missed():
    assert Figure("what", 0.505, at_least(0.505)).cells() == ["what", "0.5050", ">= 0.505", "met"]
    assert Figure("what", 2.01, at_most(2.0)).cells() == ["what", "2.0100", "<= 2", "MISSED"]
    assert Figure("what", 0.5).met
    assert Figure("what", 0.5).cells()[2:] == ["", ""]


def ours(**changed):
    record = {
        "n": 100,
        "m": 500,
        "true_k": 3,
        "dispersion": 1.0,
        "k": 4,
        "k_full": 5,
        "same": True,
        "ami": [0.5],
        "ami_full": [0.25],
        "ks": [8, 4],
        "ami_levels": [[0.75], [0.5]],
        "seconds": 2.0,
        "seconds_full": 1.0,
        "seconds_levels": 8.0,
    }
    return {"kgroups": record | changed, "leiden": {"ami": [0.375], "amis": [[0.375], [0.875]]}}


def shown(figures):
    return {figure.what.strip(): (figure.value, figure.met) for figure in figures}


def test_means_are_over_labeled_networks_and_costs_over_all():
    nothing = ours(ami=[], ami_full=[], ami_levels=[[], []], seconds_levels=2.0)
    unlabeled = {**nothing, "leiden": {"ami": [], "amis": []}}
    measured = [
        ("school-day-1", ours()),
        ("school-day-2", ours(ami=[0.75], seconds=1.0, seconds_levels=3.0)),
        (scales.EMAIL, ours(ami=[0.61], ami_levels=[[0.68]], seconds_levels=5.0)),
        ("iceland", unlabeled),
    ]
    figures = list(scales.real_figures(measured))
    npz = shown(figures[:5])
    assert npz["mean AMI, 2 labeled networks of the npz files: default"] == (0.625, True)
    assert npz["dispersion=1.0"] == (0.25, True)
    assert npz["converged Leiden"] == (0.375, True)
    assert npz["best level, chosen with the labels"] == (0.75, True)
    assert npz["Leiden at the best of 12 resolutions, chosen with the labels"] == (0.875, True)
    rest = shown(figures[5:])
    assert rest["mean AMI, 1 labeled networks of the README's table: default"] == (0.61, True)
    assert rest["AMI, email-Eu-core: default"] == (0.61, False)
    assert rest["AMI, email-Eu-core: best level"] == (0.68, True)
    assert rest["time, median of 4: default over dispersion=1.0"] == (2.0, True)
    assert rest["time, median of 4: levels over the default"] == (2.75, True)


def test_the_line_of_a_graph_has_a_cell_for_each_column():
    line = scales.compared_line("name", ours())
    assert len(line) == len(scales.COLUMNS)
    assert line[5:13] == ["4", "0.500", "5", "0.250", "8 4", "0.750", "0.375", "0.875"]
    alone = scales.compared_line("name", {"kgroups": ours(ami=[], true_k=None)["kgroups"]})
    assert (alone[3], alone[6], *alone[11:13]) == ("-", "-", "-", "-")


def test_planted_graphs_with_a_second_level_miss_their_bar():
    flat = [("SBM k=5", ours(ks=[4])) for _ in range(19)]
    other = ("SBM k=5", ours(dispersion=1.2, same=False))
    found = shown(scales.planted_figures([*flat, other]))
    assert found["20 planted graphs: share identical to dispersion=1.0"] == (0.95, False)
    assert found["20 planted graphs: smallest dispersion"] == (1.0, True)
    assert found["20 planted graphs: largest dispersion"] == (1.2, False)
    assert found["20 of SBM k=5: share with one level"] == (0.95, True)
    found = shown(scales.planted_figures([*flat, other, other]))
    assert not found["21 of SBM k=5: share with one level"][1]


def test_levels_of_a_hierarchy_are_compared_in_their_order():
    exact = [[0.99, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 0.97]]
    strict, loose = (row.name for row in scales.HIERARCHY)
    measured = [
        (strict, ours(ks=[27, 9, 3], ami_levels=exact)),
        (strict, ours(ks=[9, 3], ami_levels=exact[1:])),
        (loose, ours(ks=[25, 9, 3], ami_levels=exact)),
    ]
    found = shown(scales.hierarchy_figures(measured))
    assert found[f"2 of {strict}: share with levels 27, 9, 3"] == (0.5, False)
    assert found[f"2 of {strict}: mean AMI with the 27 groups, if three levels"] == (0.99, True)
    assert found[f"2 of {strict}: mean AMI with the 3 groups, if three levels"] == (0.97, False)
    assert found[f"1 of {loose}: share with three levels"] == (1.0, True)
    assert found[f"1 of {loose}: share with levels 27, 9, 3"] == (0.0, True)


def test_blobs_are_judged_by_leiden_and_digits_by_their_own_bars():
    what = "mean AMI, 1 of blobs std=2: default minus Leiden"
    close = shown(scales.neighbor_figures([("blobs std=2", ours(ami=[0.36]))]))
    assert close[what] == (pytest.approx(-0.015), True)
    far = shown(scales.neighbor_figures([("blobs std=2", ours(ami=[0.35]))]))
    assert not far[what][1]
    of_digits = shown(scales.neighbor_figures([("digits", ours(ami=[0.88]))]))
    assert of_digits["mean AMI, 1 of digits: default"] == (0.88, True)
    assert of_digits["best level, chosen with the labels"] == (0.75, False)
    assert not shown(scales.neighbor_figures([(scales.CELLS_OF_SCANPY.name, ours())]))


def test_neighbor_graphs_have_a_line_each_with_leiden_as_scanpy_runs_it():
    both = [
        ("digits", {**ours(), scales.SCANPY: {"ami": [0.25]}}),
        ("digits", {**ours(ami=[0.25]), scales.SCANPY: {"ami": [0.75]}}),
        ("blobs std=2", ours()),
    ]
    heading, *lines = scales.neighbor_lines(both)
    assert lines == [
        ["digits", "2", "100", "3", "0.375", "0.750", "0.375", "0.500", "0.875"],
        ["blobs std=2", "1", "100", "3", "0.500", "0.750", "0.375", "-", "0.875"],
    ]
    assert len(heading) == len(lines[0])


def test_single_cells_have_a_weighted_graph_and_labels():
    pytest.importorskip("scanpy")
    graph = scales.CELLS_OF_SCANPY.graph(0)
    assert (graph.n, graph.m, graph.true_k) == (700, 4_996, 10)
    assert graph.weight.size == graph.m
    assert (graph.source < graph.target).all()
    assert 0.0 < scales.measured_scanpy(graph, 0)["ami"][0] < 1.0


def test_levels_of_a_large_graph_may_cost_what_detection_costs():
    (figure,) = scales.large_figures([("LFR 100k", ours(seconds=4.0, seconds_levels=3.0))])
    assert (figure.value, figure.met) == (0.75, True)
    (figure,) = scales.large_figures([("LFR 100k", ours())])
    assert not figure.met


@pytest.mark.parametrize(("ami", "met"), [(1.0 - 1e-15, True), (0.999, False)])
def test_only_what_was_found_is_found_again(ami, met):
    records = [(str(one), {"kgroups": {"k": 3, "ami": one}}) for one in (1.0, ami)]
    (figure,) = scales.again_figures(records)
    assert figure.met == met
    assert scales.again_line(*records[0]) == ["1.0", "3", "1.000"]


def paired(before, now, seconds=(1.0, 1.0)):
    times = {which: [one] * len(now) for which, one in zip(("before", "now"), seconds, strict=True)}
    return {"paired": {"overlaps": {"before": before, "now": now}, "seconds": times}}


def test_a_difference_is_measured_in_its_standard_errors():
    assert scales.in_standard_errors([0.0, 0.0]) == 0.0
    assert scales.in_standard_errors([-0.5, -0.5]) == -np.inf
    values = [0.1, 0.3, 0.2, 0.6]
    assert scales.in_standard_errors(values) == pytest.approx(
        np.mean(values) / (np.std(values, ddof=1) / 2.0)
    )


def test_one_worse_cell_and_a_slow_version_miss_their_bars():
    same = paired([0.5, 0.6], [0.5, 0.6])
    worse = paired([0.9, 0.8, 0.7], [0.8, 0.701, 0.599], seconds=(1.0, 4.0))
    found = shown(scales.given_figures([("same", same), ("worse", worse)]))
    assert found["the same in s.e. over cells"] == (pytest.approx(-1.0), True)
    assert not found["lowest cell, in its own s.e."][1]
    assert found["time with k given, over that before: geometric mean"] == (2.0, False)
    assert scales.given_line("worse", worse)[:4] == ["worse", "0.800", "0.700", "-0.1000"]


def test_both_versions_get_the_same_graphs(monkeypatch, tmp_path):
    asked = []

    def run(program, cache, *arguments, mode, python):
        asked.append((python, mode))
        said = io.StringIO()
        monkeypatch.setattr(sys, "argv", ["-c", *arguments])
        with contextlib.redirect_stdout(said):
            exec(program, {})
        return SimpleNamespace(stdout=said.getvalue())

    monkeypatch.setattr(startup, "run", run)
    cell = scales.Cell("clear", 90, 3, 12.0, 3.0)
    part = scales.given_part("other", tmp_path, graphs=4)
    record = scales.paired(cell, "other", tmp_path, 4, seed=7)
    assert record["overlaps"]["before"] == record["overlaps"]["now"]
    assert len(record["overlaps"]["now"]) == len(record["seconds"]["now"]) == 4
    assert np.mean(record["overlaps"]["now"]) > 0.9
    assert scales.difference(record) == (0.0, 0.0)
    assert asked == [("other", "always"), (sys.executable, "always")] * scales.ROUNDS
    assert [row.name for row in part.rows] == [cell.name for cell in scales.CELLS]


def test_a_run_resumes_and_measures_fresh_methods_again(tmp_path):
    path, row, calls = tmp_path / "runs.jsonl", Row("karate", None), []

    def measure(row, seed):
        calls.append(seed)
        return {"k": len(calls)}

    which = {"part": "real", "method": "kgroups"}
    assert scales.Kept(path).record(measure, row, seed=3, **which) == {"k": 1}
    assert scales.Kept(path).record(measure, row, seed=3, **which) == {"k": 1}
    assert scales.Kept(path, ["leiden"]).record(measure, row, seed=4, **which) == {"k": 2}
    assert scales.Kept(path, ["kgroups"]).record(measure, row, seed=3, **which) == {"k": 3}
    assert scales.Kept(path).record(measure, row, seed=3, **which) == {"k": 3}
    assert calls == [3, 4, 3]
    assert scales.Kept(None).record(measure, row, seed=3, **which) == {"k": 4}


def test_another_version_must_be_named():
    assert scales._arguments([]).only == list(scales.PARTS)
    assert scales._arguments(["--against", "python"]).only == [*scales.PARTS, "given"]
    with pytest.raises(SystemExit):
        scales._arguments(["--only", "given"])


@pytest.mark.compiled
def test_the_command_prints_karate_and_a_hierarchy(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(kg, "warm", lambda progress: None)
    part = replace(scales.PARTS["hierarchy"], rows=scales.HIERARCHY[:1])
    monkeypatch.setitem(scales.PARTS, "hierarchy", part)
    markdown = tmp_path / "scales.md"
    words = ["--only", "real", "hierarchy", "--networks", "karate", "--graphs", "1"]
    scales.main([*words, "--markdown", str(markdown)])
    said = capsys.readouterr().out
    (karate,) = (line.split() for line in said.splitlines() if line.startswith("karate "))
    assert karate[1:6] == ["34", "78", "2", "1.000", "2"]
    assert "mean AMI, 1 labeled networks of the README's table: default" in said
    assert "1 of 27/9/3 d=20: share with levels 27, 9, 3" in said
    assert "bars met" in said
    assert markdown.read_text().splitlines()[0] == "| what | figure | bar | met |"
