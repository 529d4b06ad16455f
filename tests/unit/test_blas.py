"""BLAS is held to one thread around small problems, and left as it was found."""

import subprocess
import sys
from threading import Barrier, Thread

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups import _blas
from kgroups._blas import SMALL_ORDER, single_threaded


@pytest.fixture
def threads():
    """Give every BLAS two threads, and a function that says how many each has."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    controller = ThreadpoolController().select(user_api="blas")
    with controller.limit(limits=2):
        counts = [library.get_num_threads() for library in controller.lib_controllers]
        if set(counts) != {2}:
            pytest.skip(f"this BLAS does not take two threads, but {counts}")
        yield lambda: {library.get_num_threads() for library in controller.lib_controllers}


def test_small_problems_have_one_thread_and_the_others_come_back(threads):
    with single_threaded(SMALL_ORDER):
        assert threads() == {1}
        with single_threaded(2):
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_large_problems_keep_their_threads(threads):
    with single_threaded(SMALL_ORDER + 1):
        assert threads() == {2}
    with single_threaded(2), single_threaded(SMALL_ORDER + 1):
        assert threads() == {1}
    assert threads() == {2}


def test_threads_come_back_after_an_exception(threads):
    with pytest.raises(KeyboardInterrupt), single_threaded(2):
        raise KeyboardInterrupt
    assert threads() == {2}


@pytest.mark.parametrize("first_to_leave", [0, 1])
def test_threads_come_back_when_the_last_of_two_callers_leaves(threads, first_to_leave):
    inside, one_left = Barrier(2), Barrier(2)
    seen = []

    def call(number):
        if number == first_to_leave:
            with single_threaded(2):
                inside.wait(60)
            one_left.wait(60)
        else:
            with single_threaded(2):
                inside.wait(60)
                one_left.wait(60)
                seen.append(threads())

    callers = [Thread(target=call, args=(number,)) for number in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert seen == [{1}]
    assert threads() == {2}


def test_many_callers_at_once_leave_no_limit_behind(threads):
    def call():
        for _ in range(200):
            with single_threaded(2), single_threaded(3):
                pass

    callers = [Thread(target=call) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert threads() == {2}


@pytest.mark.parametrize("k", [None, 2])
def test_detection_on_a_small_graph_solves_with_one_thread(threads, monkeypatch, k):
    seen = []
    solve = {name: getattr(np.linalg, name) for name in ("eigh", "eigvalsh")}
    for name, solver in solve.items():
        monkeypatch.setattr(
            np.linalg, name, lambda M, solver=solver: (seen.append(threads()), solver(M))[1]
        )
    kg.detect_communities(nx.karate_club_graph(), k)
    kg.estimate_k(nx.karate_club_graph())
    assert seen
    assert all(counts == {1} for counts in seen)
    assert threads() == {2}


def test_detection_that_fails_leaves_the_threads_alone(threads):
    def stop(stage):
        if stage == "finding communities":
            raise RuntimeError(stage)

    with pytest.raises(RuntimeError, match="finding communities"):
        kg.detect_communities(nx.karate_club_graph(), progress=stop)
    assert threads() == {2}


def test_the_libraries_are_looked_up_once(monkeypatch):
    import threadpoolctl

    with single_threaded(2):
        pass
    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", None)
    with single_threaded(2):
        assert _blas._libraries() is _blas._libraries()


def test_the_blas_of_scipy_is_held_even_if_it_was_not_loaded_before():
    code = """
from kgroups._blas import _libraries, single_threaded
with single_threaded(2):
    import scipy.linalg
    import scipy.sparse.linalg
    from threadpoolctl import ThreadpoolController
    loaded = ThreadpoolController().select(user_api="blas").lib_controllers
known = {library.filepath for group in _libraries() for library in group}
print({library.filepath for library in loaded} <= known)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True"]
