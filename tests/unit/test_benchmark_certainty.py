"""The benchmark of what is said of k: its lines, its explanations, and bars that can be missed."""

import networkx as nx
import pytest

import kgroups as kg
from benchmarks import certainty

pytest.importorskip("igraph")


def test_a_graph_has_a_line():
    record = certainty.measured(kg.as_graph(nx.ring_of_cliques(6, 6)))
    assert (record["k"], record["mode"], record["explanation"]) == (6, 6, "")
    assert record["agrees"]
    cells = certainty.line("ring", record)
    assert len(cells) == len(certainty.COLUMNS)
    assert cells[:4] == ["ring", "36", "6", "6"]


def test_a_difference_must_be_explained():
    record = certainty.measured(kg.as_graph(nx.davis_southern_women_graph()))
    assert record["mode"] != record["k"]
    assert record["agrees"]
    assert record["explanation"]


def test_bars_can_be_missed():
    record = certainty.measured(kg.as_graph(nx.ring_of_cliques(6, 6)))
    silent = {**record, "mode": 7, "agrees": False}
    agree, *_ = certainty.figures("real", [record, silent])
    assert (agree.value, agree.met) == (0.5, False)
    slow = {**record, "times": 30.0, "seconds": 9.0}
    *_, longest = certainty.figures("large", [record, slow])
    assert (longest.value, longest.met) == (30.0, False)
    *_, longest = certainty.figures("real", [record, slow])
    assert longest.met


def test_parts_have_their_graphs():
    named = [name for name, _ in certainty.graphs_of("real", 0)]
    assert named[:2] == ["karate, weighted", "karate"]
    few = certainty.graphs_of("planted", 0)
    name, graph = next(few)
    assert (name, graph.n) == ("SBM k=2 faint", 500)


def test_the_command_prints_its_figures(capsys, monkeypatch):
    monkeypatch.setattr(certainty.kg, "warm", lambda **_: None)
    monkeypatch.setattr(certainty, "REAL", (("karate", False), ("football", False)))
    assert certainty.main(["--only", "real"])
    out = capsys.readouterr().out
    assert "1 of 1 bars met" in out
    assert "real, 1 graphs: agree, or the difference is explained" in out
    assert "football left out: its files are not here" in out
