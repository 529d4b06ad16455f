"""Communities as they were recorded by ``python tests/regression/golden_partitions.py``."""

import pytest

from regression.golden_partitions import cases, found, read

CASES = {name: (build, options) for name, build, options in cases()}
KNOWN = read()

pytestmark = pytest.mark.compiled


def test_every_case_is_recorded():
    assert set(KNOWN) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_communities_are_those_recorded(name):
    assert found(*CASES[name]) == KNOWN[name]
