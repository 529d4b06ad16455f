"""What networkx's own test suite is told before it runs on this backend."""

from typing import Any

from kgroups.backends.networkx.generators import Threshold

__all__ = ["EXPECTED_FAILURES", "on_start_tests"]

_ONE_SEEDED_PARTITION = (
    "asks for the one partition that networkx's own draws give for a seed; igraph's draws differ"
)
_LOUVAIN = "networkx.algorithms.community.tests.test_louvain"
EXPECTED_FAILURES = {
    f"{_LOUVAIN}::test_karate_club_partition": _ONE_SEEDED_PARTITION,
    f"{_LOUVAIN}::test_undirected_selfloops": _ONE_SEEDED_PARTITION,
    f"{_LOUVAIN}::test_none_weight_param": _ONE_SEEDED_PARTITION,
}
"""Tests of networkx that fail, by module and name, with the reason why."""


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
        # Not item.nodeid: that begins at pytest's root folder, which is another one in each call.
        module = getattr(getattr(item, "module", None), "__name__", None)
        reason = EXPECTED_FAILURES.get(f"{module}::{item.name}")
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
