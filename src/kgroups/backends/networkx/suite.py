"""What networkx's own test suite is told before it runs on this backend."""

from typing import Any

from kgroups.backends.networkx.generators import Threshold

__all__ = ["EXPECTED_FAILURES", "on_start_tests"]

_ONE_SEEDED_PARTITION = (
    "asks for the one partition that networkx's own draws give for a seed; igraph's draws differ"
)
EXPECTED_FAILURES = {
    "community/tests/test_louvain.py::test_karate_club_partition": _ONE_SEEDED_PARTITION,
    "community/tests/test_louvain.py::test_undirected_selfloops": _ONE_SEEDED_PARTITION,
    "community/tests/test_louvain.py::test_none_weight_param": _ONE_SEEDED_PARTITION,
}
"""Tests of networkx that fail with the reason why, by the end of their names."""


def on_start_tests(items: list[Any]) -> None:
    """Mark the tests of :data:`EXPECTED_FAILURES`, and let small block models be drawn here too.

    Parameters
    ----------
    items : list of pytest.Item
        The tests that networkx has collected.
    """
    import pytest

    Threshold.nodes = 0
    for item in items:
        for name, reason in EXPECTED_FAILURES.items():
            if item.nodeid.endswith(name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
