"""The benchmark of large input: its edges are what it says, and it measures what it reads."""

import sys
from functools import partial

import numpy as np
import pytest

from benchmarks.large_input import (
    as_text,
    columns,
    in_a_process,
    interrupt,
    interrupt_line,
    line,
    numbers_of,
    result,
    scattered,
)
from benchmarks.peers import REFERENCE


@pytest.mark.parametrize("family", ["sbm", "lfr"])
def test_edges_are_distinct_and_mostly_inside_communities(family):
    drawn, truth = columns(20_000, family, weighted=True)
    u, v = drawn["source"], drawn["target"]
    assert abs(u.size - 20_000) < 1_000
    assert (u != v).all()
    codes = np.minimum(u, v) * 2_000 + np.maximum(u, v)
    assert np.unique(codes).size == u.size
    assert (np.diff(codes) > 0).mean() < 0.6
    assert np.mean(truth[u] == truth[v]) > 0.5
    assert drawn["weight"].size == u.size


def test_scattered_names_are_distinct_and_far_apart():
    names = scattered(np.arange(100_000))
    assert np.unique(names).size == 100_000
    assert names.min() >= 0
    assert names.max() > 2**61


def test_names_lead_back_to_their_numbers():
    numbers = np.arange(0, 100_000, 7)
    for names in (numbers, scattered(numbers), as_text(numbers).to_pylist()):
        assert numbers_of(names).tolist() == numbers.tolist()


@pytest.mark.compiled
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_a_file_is_measured(tmp_path):
    found = result("npz", 60_000, tmp_path)
    assert found["size"] == 4 * (2 * found["edges"] + 6_001)
    assert found["peak"] > 0
    assert found["visits"] > 1.0
    assert found["nmi"] > 0.99
    assert line("npz", found).startswith("npz ")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
@pytest.mark.parametrize("kind", ["igraph", REFERENCE])
def test_objects_and_peers_are_measured(tmp_path, kind):
    found = result(kind, 60_000, tmp_path)
    assert found["cpu"] > 0.0
    assert 0.0 < found["nmi"] <= 1.0
    assert ("visits" in found) == (kind == "igraph")


@pytest.mark.compiled
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_interruptions_name_their_stage(tmp_path):
    found = result("npz", 300_000, tmp_path, interrupts=1)
    ((after, stage, _),) = found["interrupts"]
    assert after == found["wall"] / 2
    assert stage in interrupt_line(after, stage, None)
    paths = tmp_path / "large.npz", tmp_path / "small.npz"
    _, seconds = in_a_process(partial(interrupt, "npz", *paths, 1e-3))
    assert seconds > 0.0


def test_what_was_not_measured_is_a_dash():
    cells = line("plm", {"edges": 9.0, "cpu": 2.0, "bytes": 3.0, "nmi": 0.5}).split()
    assert cells == ["plm", "9", *"------", "2.0", "3.0", "0.50000", "-"]
