"""What the first answer on a small graph waits for: which functions are compiled for it."""

import sys

import networkx as nx
import pytest

import kgroups as kg
from benchmarks import startup
from kgroups._kernel import Kernel, kernel
from kgroups._warm import warm_detection

MOST_FUNCTIONS = 23
MOST_LINES = 4000


@pytest.fixture(autouse=True)
def numba_may_compile(monkeypatch):
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)


def test_karate_compiles_few_functions(tmp_path):
    program = startup.COUNTED + startup.DETECT + startup.PRINT_COUNT
    said = startup.run(program, str(tmp_path), mode="always").stderr.split("functions ")[1].split()
    assert 5 < int(said[0]) <= MOST_FUNCTIONS, "\n".join(said[1:])


def test_karate_compiles_nothing_unless_that_pays(tmp_path):
    program = f"{startup.DETECT}\nimport sys\nprint('numba' in sys.modules, file=sys.stderr)"
    ran = startup.run(program, str(tmp_path))
    assert ran.stderr.split() == ["False"]
    assert "communities" in ran.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_kernels_of_detection_are_short(monkeypatch):
    called = set()

    def note(one, *arguments):
        called.add(one)
        return one._interpret(arguments)

    monkeypatch.setenv("KGROUPS_JIT", "auto")
    monkeypatch.setattr(Kernel, "__call__", note)
    warm_detection()
    kg.detect_communities(nx.disjoint_union(nx.karate_club_graph(), nx.star_graph(5)), 4)
    assert len(called) > 10
    assert startup.closure_lines(called) <= MOST_LINES


def _added(x):
    return x + 1.0


def _added_twice(x):
    return _added(_added(x))


def test_a_function_counts_once_for_each_kernel_that_calls_it():
    def calls_one(x):
        return _added(x)

    def calls_both(x):
        return _added(x) + _added_twice(x)

    before = list(sys.modules["kgroups._kernel"].KERNELS)
    kernels = [kernel(seconds=1.0)(one) for one in (calls_one, calls_both)]
    sys.modules["kgroups._kernel"].KERNELS[:] = before
    assert startup.closure(calls_both) == {calls_both, _added, _added_twice}
    assert startup.closure_lines(kernels) == (2 + 2) + (2 + 2 + 2)
