"""The benchmark of stores measures what it says."""

import sys

import pytest

from benchmarks.store import line, result


@pytest.mark.compiled
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_a_store_is_measured(tmp_path):
    found = result("npz", 60_000, tmp_path, "500MB", weighted=False)
    assert found["nodes"] == 6_000
    assert 8.0 < found["size"] < 15.0
    assert found["peak"] > 0
    assert line("npz", found).startswith("npz ")
