"""The benchmark of stability: both methods see the same copies, and a bar can be missed."""

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


def test_copies_are_those_on_which_kgroups_runs(ring, monkeypatch):
    seen = []

    def detect(graph, *, rng, **settings):
        seen.append(np.stack(graph.edges()[:2]))
        return kg.detect_communities(graph, **settings)

    monkeypatch.setattr("kgroups.uncertainty.stability.detect_communities", detect)
    stability.measured_kgroups(ring, seed=3)
    drawn = [np.stack([one.source, one.target]) for one in stability.copies(ring, seed=3)]
    assert len(seen) == len(drawn) == stability.RESAMPLES
    for ours, theirs in zip(seen, drawn, strict=True):
        assert np.array_equal(ours, theirs)
    assert len({one.shape for one in drawn}) > 1


def test_both_methods_find_the_cliques_again(ring):
    pytest.importorskip("igraph")
    ours, leiden = stability.measured_kgroups(ring, 0), stability.measured_leiden(ring, 0)
    assert ours["k"] == 4
    assert ours["agreement"] == leiden["agreement"] == pytest.approx(1.0)
    line = stability.real_line("ring", {"kgroups": ours, "leiden": leiden})
    assert len(line) == len(stability.REAL_COLUMNS)
    assert line[:6] == ["ring", "20", "44", "4", "1.000", "1.000"]


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


def networks(*pairs):
    return [
        (f"graph {i}", {"kgroups": {"agreement": ours}, "leiden": {"agreement": leiden}})
        for i, (ours, leiden) in enumerate(pairs)
    ]


def test_a_mean_below_that_of_leiden_misses_the_bar():
    figures = list(stability.real_figures(networks((0.75, 0.5), (0.5, 0.625))))
    assert [figure.value for figure in figures] == [0.625, 0.5625, 0.0625, 0.5]
    assert all(figure.met for figure in figures)
    figures = list(stability.real_figures(networks((0.75, 0.5), (0.25, 0.625))))
    assert [figure.met for figure in figures] == [True, True, False, True]


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


def test_fifty_three_networks_are_asked():
    assert len({row.name for row in stability.REAL}) == 53
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
def test_the_command_prints_a_network_and_cores(monkeypatch, tmp_path, capsys, ring):
    pytest.importorskip("igraph")
    monkeypatch.setattr(kg, "warm", lambda progress: None)
    rows = (Row("ring", lambda name, seed: replace(ring, name=name)),)
    part = replace(stability.PARTS["cores"], rows=rows)
    monkeypatch.setitem(stability.PARTS, "cores", part)
    journal, markdown = tmp_path / "runs.jsonl", tmp_path / "stability.md"
    words = [
        "--only",
        "real",
        "cores",
        "--networks",
        "karate",
        "--graphs",
        "2",
        "--journal",
        str(journal),
    ]
    met = stability.main([*words, "--markdown", str(markdown)])
    said = capsys.readouterr().out
    (karate,) = (line.split() for line in said.splitlines() if line.startswith("karate "))
    assert karate[1:4] == ["34", "78", "2"]
    assert "2 of ring: share of the nodes in cores" in said
    assert f"{3 if met else 2} of 3 bars met" in said
    lines = journal.read_text().splitlines()
    assert len(lines) == 4
    stability.main(words)
    assert journal.read_text().splitlines() == lines
    assert markdown.read_text().startswith("| what | figure | bar | met |")
