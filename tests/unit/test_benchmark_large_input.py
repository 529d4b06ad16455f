"""The benchmark of large input: its edges are what it says, and it measures what it reads."""

import sys

import numpy as np
import pytest

from benchmarks.large_input import columns, line, result, scattered


def test_edges_are_distinct_and_reach_every_node():
    table = columns(5_000, weighted=True)
    low, high = table["source"], table["target"]
    assert (low < high).all()
    assert np.unique(low * 500 + high).size == 5_000
    assert np.union1d(low, high).tolist() == list(range(500))
    assert table["weight"].size == 5_000


def test_scattered_names_are_distinct_and_far_apart():
    names = scattered(np.arange(100_000))
    assert np.unique(names).size == 100_000
    assert names.min() >= 0
    assert names.max() > 2**61


@pytest.mark.compiled
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_a_file_is_measured(tmp_path):
    found = result("npz", 60_000, tmp_path, weighted=False)
    assert found["edges"] == 60_000
    assert found["size"] == 4 * (2 * 60_000 + 6_001)
    assert found["peak"] > 0
    assert line("npz", found).startswith("npz ")
