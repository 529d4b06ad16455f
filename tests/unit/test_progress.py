"""Progress bars: on a terminal only, and never in the way where stderr is closed."""

import io
import sys

import networkx as nx
import numpy as np
import pytest

from kgroups._progress import counted_progress, stage_progress
from kgroups.cli import main
from kgroups.energy import equal_distribution_test, kernel_kgroups
from kgroups.studies import sweep


class Terminal(io.StringIO):
    def isatty(self):
        return True


def closed_stream():
    stream = io.StringIO()
    stream.close()
    return stream


def ring(cliques, rng):
    graph = nx.ring_of_cliques(cliques, 5)
    return graph, [node // 5 for node in graph]


def permutations():
    return equal_distribution_test([0.0, 1.0], [4.0, 5.0], permutations=9, progress=True)


def clustering_without_a_stored_matrix():
    return kernel_kgroups(np.arange(12.0)[:, None], 2, n_init=3, gram_memory=0)


def study():
    return sweep(ring, {"cliques": 4}, trials=2, progress=True)


@pytest.mark.parametrize("closed", [closed_stream, lambda: None])
@pytest.mark.parametrize("work", [permutations, clustering_without_a_stored_matrix, study])
def test_work_with_a_bar_needs_no_open_streams(monkeypatch, closed, work):
    monkeypatch.setattr(sys, "stdout", closed())
    monkeypatch.setattr(sys, "stderr", closed())
    assert work() is not None


@pytest.mark.parametrize("closed", [closed_stream, lambda: None])
def test_commands_need_no_open_streams(monkeypatch, tmp_path, closed):
    monkeypatch.setattr(sys, "stdout", closed())
    monkeypatch.setattr(sys, "stderr", closed())
    streams = sys.stdout, sys.stderr
    assert main(["detect", "karate", "--output", str(tmp_path / "p.csv")]) == 0
    assert main(["detect", "karat"]) == 1
    assert (tmp_path / "p.csv").exists()
    assert (sys.stdout, sys.stderr) == streams


def test_a_bar_is_drawn_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with counted_progress(3, "trial", progress=True) as show:
        show(2)
    assert "0/3" in sys.stderr.getvalue()
    assert "trial" in sys.stderr.getvalue()


def test_a_bar_shows_at_once_what_was_done_before(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with counted_progress(9, "trial", progress=True, before=4):
        assert "4/9" in sys.stderr.getvalue()
        assert "0/9" not in sys.stderr.getvalue()


def test_the_bar_of_a_resumed_study_starts_where_it_was_left(monkeypatch, tmp_path):
    journal = tmp_path / "journal"
    sweep(ring, {"cliques": 4}, trials=5, journal=journal, progress=False)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:4]))
    monkeypatch.setattr(sys, "stderr", Terminal())
    sweep(ring, {"cliques": 4}, trials=5, journal=journal, progress=True)
    assert "3/5" in sys.stderr.getvalue()
    assert "0/5" not in sys.stderr.getvalue()


def test_a_function_is_never_told_more_than_the_total():
    calls = []
    with counted_progress(3, "trial", progress=lambda *call: calls.append(call)) as show:
        show(2)
        show(5)
    assert calls == [(2, 3), (3, 3)]


def test_a_stage_is_named_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with stage_progress() as begin:
        begin("scoring")
    assert "scoring [00:00]" in sys.stderr.getvalue()
