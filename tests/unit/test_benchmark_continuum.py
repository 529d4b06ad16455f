"""The benchmark of patches of a continuum: its graphs, its numbers, and how bars are judged."""

import contextlib
import io
from dataclasses import replace

import numpy as np
import pytest

import kgroups as kg
from benchmarks import continuum
from benchmarks.continuum import CONTINUUM, PARTS, PLANTED
from benchmarks.graphs import BenchmarkGraph, linked_pairs, neighbors_of


@pytest.mark.parametrize("row", [*CONTINUUM, *PLANTED], ids=lambda row: row.name)
def test_graphs_are_simple_and_follow_the_seed(row):
    if row.why_absent:
        pytest.skip(row.why_absent)
    first, again, other = (row.graph(seed) for seed in (1, 1, 2))
    assert np.array_equal(first.source, again.source)
    assert first.m != other.m
    ends = np.column_stack([first.source, first.target])
    assert (ends[:, 0] != ends[:, 1]).all()
    assert len(linked_pairs(*ends.T)) == first.m
    assert 0 <= ends.min() <= ends.max() < first.n


def test_planted_graphs_are_two_hundred_and_those_of_a_continuum_five_kinds():
    part = PARTS["planted"]
    assert part.graphs * len(part.rows) == 200
    assert PARTS["continuum"].graphs * len(CONTINUUM) == 5 * 20


def test_lattices_are_of_four_kinds():
    degrees = set()
    for seed in range(4):
        graph = continuum.lattice("grid", seed=seed)
        degrees.add(int(np.bincount(np.append(graph.source, graph.target)).max()))
    assert degrees == {3, 4, 6}


def test_points_are_linked_to_their_nearest():
    X = np.array([[0.0], [1.0], [1.9], [5.0]])
    graph = neighbors_of("points", X, 1)
    assert list(zip(graph.source.tolist(), graph.target.tolist(), strict=True)) == [
        (0, 1),
        (1, 2),
        (2, 3),
    ]


def path_of_pairs():
    """Return three communities of two nodes, linked in a path."""
    ends = np.array([[0, 1], [2, 3], [4, 5], [1, 2], [0, 2], [3, 4]])
    return BenchmarkGraph("path", 6, *ends.T, None), np.repeat([0, 1, 2], 2)


def test_sparsity_compares_linked_pairs_with_those_expected():
    graph, labels = path_of_pairs()
    # 2, 3 and 1 ends of links leave the communities.
    expected = 3.0 - np.exp(-np.array([2 * 3, 3 * 1, 2 * 1]) / 6.0).sum()
    assert continuum.sparsity(graph, labels) == pytest.approx(2 / expected)
    alone = replace(graph, source=graph.source[:3], target=graph.target[:3])
    assert continuum.sparsity(alone, labels) == 1.0


def test_separation_is_measured_whatever_the_contiguity():
    graph, labels = path_of_pairs()
    given = kg.Graph.from_edges(graph.source, graph.target, n=6)
    assert 0.0 <= continuum.separation_of(given, labels, 1.0) <= 1.0
    assert continuum.separation_of(given, labels // 2, 1.0) is None


def record(k=2, contiguity=None, *, warned=False, n=100):
    return {"n": n, "m": 1, "k": k, "warned": warned, "contiguity": contiguity}


def measured(*records, name="graph"):
    return [(name, {"kgroups": one}) for one in records]


def test_graphs_left_whole_count_as_not_warned_of():
    figures = list(
        continuum.continuum_figures(measured(record(1), record(3, warned=True), record(2)))
    )
    assert [figure.value for figure in figures] == [1 / 3, 0.5, 0.5]
    assert not figures[0].met
    assert "2 of 3" in figures[2].what
    (whole,) = continuum.continuum_figures(measured(record(1)))
    assert (whole.value, whole.met) == (0.0, False)


def test_planted_graphs_must_not_be_warned_of():
    share, of_kind = continuum.planted_figures(measured(record(warned=True), *[record()] * 9))
    assert (share.value, share.met, of_kind.value) == (0.1, False, 0.1)
    assert next(continuum.planted_figures(measured(*[record()] * 9))).met


def test_real_networks_that_are_warned_of_are_named():
    figures = list(
        continuum.real_figures(
            [
                *measured(record(contiguity=2.0, warned=True), name="roads"),
                *measured(record(), name="friends"),
            ]
        )
    )
    assert [(figure.what.strip(), figure.value) for figure in figures[1:]] == [
        ("roads: contiguity", 2.0)
    ]
    assert figures[0].value == 0.5


def test_roc_of_a_number():
    here = [record(contiguity=x) for x in (1.0, 3.0, 4.0, None)]
    there = [record(contiguity=x) for x in (1.0, 1.0, 1.0, None)]
    auc, share = continuum.roc("contiguity", here, there)
    # Of 16 pairs 8 + 1 are in order, and 3 + 1 are equal.
    assert auc == pytest.approx((9 + 4 / 2) / 16)
    assert share == 0.5
    reverse = continuum.NUMBERS["separation"]
    assert reverse == -1


@pytest.mark.compiled
def test_the_command_prints_lines_figures_and_numbers(monkeypatch, tmp_path):
    def fewer(name, rows):
        return replace(PARTS[name], rows=rows)

    monkeypatch.setitem(PARTS, "continuum", fewer("continuum", CONTINUUM[:1]))
    monkeypatch.setitem(PARTS, "planted", fewer("planted", (PLANTED[0],)))
    monkeypatch.setattr(kg, "warm", lambda **_: 0)
    arguments = ["--only", "continuum", "planted", "--graphs", "1", "--seed", "1"]
    arguments += ["--journal", str(tmp_path / "kept.jsonl"), "--markdown", str(tmp_path / "t.md")]
    printed = []
    for _ in range(2):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            assert continuum.main(arguments)
        printed.append(text.getvalue())
    assert printed[0] == printed[1]
    assert "2 of 2 bars met" in printed[0]
    for name in continuum.NUMBERS:
        assert name in printed[0]
    assert "share warned of" in (tmp_path / "t.md").read_text()
