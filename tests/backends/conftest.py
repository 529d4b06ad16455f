"""Tests of the backend use networkx's cache on purpose; the ones about its warning ask for it."""

import networkx as nx
import pytest


@pytest.fixture(autouse=True)
def _quiet_cache():
    before = set(nx.config.warnings_to_ignore)
    nx.config.warnings_to_ignore = before | {"cache"}
    yield
    nx.config.warnings_to_ignore = before
