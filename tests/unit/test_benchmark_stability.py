"""The benchmark of stability: cores are right, and a bar can be missed."""

from dataclasses import replace

import numpy as np
import pytest

import kgroups as kg
from benchmarks import stability
from benchmarks.graphs import BenchmarkGraph
from benchmarks.suites import Row


@pytest.fixture
def ring():
    ends = [(5 * c + i, 5 * c + j) for c in range(4) for i in range(5) for j in range(i)]
    ends += [(5 * c, (5 * c + 6) % 20) for c in range(4)]
    source, target = np.array(ends).T
    return BenchmarkGraph("ring", 20, source, target, np.arange(20) // 5)


def test_nodes_are_right_in_the_class_that_holds_most_of_their_community():
    truth = np.array([7, 7, 5, 5, 5, 9])
    found = stability.are_right(truth, np.array([2, 2, 2, 0, 0, 0]))
    assert found.tolist() == [True, True, False, True, True, False]
    assert stability.share(found) == pytest.approx(4 / 6)
    assert stability.share(found[:0]) is None


def test_cores_of_cliques_are_right(ring):
    record = stability.measured_cores(ring, 0)
    assert (record["k"], record["inside"], record["right"]) == (4, 1.0, 1.0)
    assert record["right_outside"] is None
    line = stability.core_line("ring", {"kgroups": record})
    assert len(line) == len(stability.CORE_COLUMNS)
    assert line[7] == "-"


def test_small_or_wrong_cores_miss_their_bars():
    record = {"inside": 0.25, "right": 0.97, "right_outside": None, "sure": 0.5, "right_sure": 0.5}
    records = {
        "good": [record],
        "bad": [
            {**record, "inside": 0.2, "right": 0.9},
            {**record, "inside": 0.1, "right": 1.0, "right_outside": 0.5},
        ],
    }
    good, bad = (
        list(stability.core_figures([(kind, {"kgroups": one}) for one in records[kind]]))
        for kind in ("good", "bad")
    )
    assert [figure.met for figure in good[:2]] == [True, True]
    assert [figure.met for figure in bad[:2]] == [False, False]
    # Of the first kind no node is outside.
    assert np.isnan(good[2].value)
    assert bad[2].value == 0.5
    assert bad[0].value == pytest.approx(0.15)
    assert bad[0].what == "2 of bad: share of the nodes in cores"


def test_lfr_graphs_are_drawn_with_and_without_bounds():
    assert {row.name for row in stability.LFR} == {
        "LFR binomial",
        "LFR fixed",
        "LFR binomial, unbounded",
        "LFR fixed, unbounded",
    }
    bounded = stability.LFR[0].graph(1)
    assert np.bincount(bounded.truth).max() <= 100


def test_copies_that_start_from_the_labels_agree_as_well_on_cliques(ring):
    record = stability.measured_starts(ring, 0)
    line = stability.start_line("ring", {"kgroups": record})
    assert len(line) == len(stability.START_COLUMNS)
    assert line[:6] == ["ring", "4", "1.000", "1.000", "1.000", "1.000"]


def test_the_largest_difference_between_starts_is_shown():
    records = [
        {which: {"agreement": value, "seconds": 2.0 if which == "labels" else 4.0}
         for which, value in (("scratch", 0.5), ("labels", labels))}
        for labels in (0.5, 0.75)
    ]  # fmt: skip
    figures = stability.start_figures([(str(i), {"kgroups": one}) for i, one in enumerate(records)])
    assert [figure.value for figure in figures] == [0.125, 0.25, 0.5]


def test_a_grid_has_each_neighbor_once():
    grid = next(row for row in stability.STARTS if row.name == "grid").graph(0)
    degrees = np.bincount(np.concatenate([grid.source, grid.target]))
    assert np.bincount(degrees).tolist() == [0, 0, 4, 4 * 28, 28 * 28]
    assert grid.m == 2 * 30 * 29


@pytest.mark.compiled
def test_the_command_prints_cores(monkeypatch, tmp_path, capsys, ring):
    monkeypatch.setattr(kg, "warm", lambda progress: None)
    rows = (Row("ring", lambda name, seed: replace(ring, name=name)),)
    part = replace(stability.PARTS["cores"], rows=rows)
    monkeypatch.setitem(stability.PARTS, "cores", part)
    journal, markdown = tmp_path / "runs.jsonl", tmp_path / "stability.md"
    words = ["--only", "cores", "--graphs", "2", "--journal", str(journal)]
    met = stability.main([*words, "--markdown", str(markdown)])
    said = capsys.readouterr().out
    assert met
    assert "2 of ring: share of the nodes in cores" in said
    assert "2 of 2 bars met" in said
    lines = journal.read_text().splitlines()
    assert len(lines) == 2
    stability.main(words)
    assert journal.read_text().splitlines() == lines
    assert markdown.read_text().startswith("| what | figure | bar | met |")
