"""When kernels are interpreted, compiled or loaded, in one thread or many, and what is said."""

import importlib.util
import os
import sys
import threading
import time
from pathlib import Path

import networkx as nx
import numba
import numpy as np
import pytest

import kgroups as kg
from helpers.terminal import Terminal
from kgroups import _kernel, _progress
from kgroups._kernel import KERNELS, Kernel, compiled_at_once, jit_mode, kernel

SOURCE = """
from kgroups._kernel import kernel


def doubled(value):
    return 2.0 * value


@kernel(seconds=1.0)
def double(x, y):
    for i in range(len(x)):
        y[i] = doubled(x[i])
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Give each test the mode auto, no time spent, and numba's cache beside the file."""
    monkeypatch.setenv("KGROUPS_JIT", "auto")
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(
        _kernel, "_Spent", type("_Spent", (), {"interpreting": 0.0, "compiling": 0.0})
    )
    yield
    KERNELS[:] = [one for one in KERNELS if one.__module__.startswith("kgroups.")]


@pytest.fixture
def double(tmp_path):
    """Return a kernel in a file of its own."""
    return module_in(tmp_path / "package").double


def module_in(folder):
    folder.mkdir(exist_ok=True)
    file = folder / "doubling.py"
    if not file.exists():
        file.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("doubling", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(double, size=3):
    x, y = np.arange(float(size)), np.zeros(size)
    double(x, y)
    assert np.array_equal(y, 2.0 * x)


@pytest.mark.parametrize("mode", ["auto", "always", "never"])
def test_the_mode_is_read_from_the_environment(monkeypatch, double, mode):
    monkeypatch.setenv("KGROUPS_JIT", mode)
    assert jit_mode() == mode
    run(double)
    assert double.is_compiled() is (mode == "always")


@pytest.mark.parametrize("mode", ["auto", "always", "never"])
def test_nothing_is_compiled_where_numba_may_not(monkeypatch, double, mode):
    monkeypatch.setenv("KGROUPS_JIT", mode)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert jit_mode() == "never"
    with compiled_at_once():
        run(double)
    assert not double.is_compiled()


def test_an_unknown_mode_is_refused(monkeypatch, double):
    monkeypatch.setenv("KGROUPS_JIT", "sometimes")
    message = "KGROUPS_JIT must be auto, always or never, got 'sometimes'"
    with pytest.raises(kg.errors.InputError, match=message):
        run(double)
    with pytest.raises(kg.errors.InputError, match=message):
        kg.warm()


def test_kernels_are_compiled_at_once_inside_a_block(double):
    told = []
    with compiled_at_once(told.append):
        run(double)
        run(double)
    assert told == [double]
    assert len(double.compiled().signatures) == 1


def test_a_block_does_not_compile_where_that_is_forbidden(monkeypatch, double):
    monkeypatch.setenv("KGROUPS_JIT", "never")
    with compiled_at_once():
        run(double)
    assert not double.is_compiled()


@pytest.fixture
def timed(monkeypatch):
    """Return a function that makes a kernel whose calls take so long by a clock of our own."""
    now = [0.0]
    monkeypatch.setattr(_kernel, "perf_counter", lambda: now[0])

    def make(seconds, compiling=1.0, per_item=1e-6):
        def take_time(values):
            now[0] += seconds

        made = kernel(seconds=compiling, per_item=per_item)(take_time)
        monkeypatch.setattr(made, "_is_cached", lambda: False)

        def compile_for(arguments):
            made._compiled = lambda *arguments: None

        monkeypatch.setattr(made, "_compile_for", compile_for)
        return made

    return make


def calls_until_compiled(made, *arguments, most=1000):
    for number in range(most):
        made(*arguments)
        if made.is_compiled():
            return number
    return most


ITEMS = np.zeros(900)


def test_a_kernel_is_interpreted_for_as_long_as_its_compilation_takes(timed):
    made = timed(0.1)
    assert calls_until_compiled(made, ITEMS) in (9, 10)
    assert made._spent <= 1.0


def test_a_call_that_exceeds_what_is_left_is_compiled_before_it_begins(timed):
    made = timed(0.4)
    assert calls_until_compiled(made, ITEMS) == 2
    assert made._spent == pytest.approx(0.8)

    small, large = timed(0.1), timed(0.1)
    for one, times in ((small, 8), (large, 11)):
        one(ITEMS)
        one(np.zeros(times * 900))
    assert not small.is_compiled()
    assert large.is_compiled()


def test_a_first_call_on_large_arrays_is_not_interpreted(timed):
    made = timed(0.1)
    made(np.zeros(1_100_000))
    assert made.is_compiled()
    slow = timed(0.1, per_item=1e-4)
    slow(np.zeros(11_000))
    assert slow.is_compiled()


def test_what_a_kernel_takes_for_an_item_rises_at_once_and_falls_slowly(timed):
    made = timed(0.01, compiling=10.0)
    made(ITEMS)
    assert made._per_item == pytest.approx(1e-5)
    for factor in (0.5, 0.25, 0.125):
        made(np.zeros(99_900))
        assert made._per_item == pytest.approx(factor * 1e-5)


def test_importing_numba_counts_once_for_all_kernels(timed, monkeypatch):
    monkeypatch.delitem(sys.modules, "numba")
    first, second = (timed(0.09, compiling=0.15) for _ in range(2))
    assert calls_until_compiled(first, ITEMS) == 4
    monkeypatch.setitem(sys.modules, "numba", None)
    assert calls_until_compiled(second, ITEMS) == 1


def test_a_cached_kernel_is_loaded_soon(timed, monkeypatch):
    made = timed(0.002)
    monkeypatch.setattr(made, "_is_cached", lambda: True)
    assert calls_until_compiled(made, ITEMS) == 2


def test_a_compiled_kernel_asks_for_nothing(double, monkeypatch):
    with compiled_at_once():
        run(double)
    monkeypatch.setenv("KGROUPS_JIT", "sometimes")
    monkeypatch.setattr(Kernel, "prepare", None)
    run(double)


@pytest.fixture
def unwritable(monkeypatch):
    """Return a function that makes folders unwritable for us and for numba, even for root."""
    import tempfile

    closed, access, temporary = [], os.access, tempfile.TemporaryFile

    def allowed(path, mode, **options):
        return Path(path) not in closed and access(path, mode, **options)

    def opened(*arguments, **options):
        if Path(options["dir"]) in closed:
            raise PermissionError
        return temporary(*arguments, **options)

    monkeypatch.setattr(os, "access", allowed)
    monkeypatch.setattr(tempfile, "TemporaryFile", opened)
    return closed.append


@pytest.mark.parametrize("place", ["NUMBA_CACHE_DIR", "beside the file", "of the user"])
def test_a_kernel_in_the_cache_of_numba_is_found(monkeypatch, tmp_path, unwritable, place):
    folder = tmp_path / "package"
    double = module_in(folder).double
    if place == "NUMBA_CACHE_DIR":
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
        monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "named"))
    elif place == "of the user":
        (folder / "__pycache__").mkdir(exist_ok=True)
        unwritable(folder / "__pycache__")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert not double._is_cached()
    with compiled_at_once():
        run(double)
    assert double._is_cached()
    assert module_in(folder).double._is_cached()
    (index,) = tmp_path.rglob("*.nbi")
    changed = index.stat().st_mtime + 1.0
    os.utime(folder / "doubling.py", (changed, changed))
    assert not double._is_cached()


def test_a_cached_kernel_is_not_compiled_again(tmp_path):
    first, again = (module_in(tmp_path / "package").double for _ in range(2))
    for double in (first, again):
        with compiled_at_once():
            run(double)
    assert sum(first.compiled().stats.cache_misses.values()) == 1
    assert sum(again.compiled().stats.cache_hits.values()) == 1


def test_a_kernel_whose_formula_has_changed_is_compiled_again(tmp_path, monkeypatch):
    """numba would load the old code: it looks at the file of the kernel alone."""
    formula, folder = tmp_path / "formula_nb.py", tmp_path / "package"
    monkeypatch.syspath_prepend(tmp_path)
    folder.mkdir()
    source = SOURCE.replace("2.0 * value", "factor() * value")
    (folder / "doubling.py").write_text(f"from formula_nb import factor\n{source}")
    for age, value in ((2.0, 1.0), (1.0, 2.0)):
        formula.write_text(f"def factor():\n    return {value}\n")
        then = time.time() - age
        for file in (formula, *folder.rglob("*.*")) if age == 2.0 else (formula,):
            os.utime(file, (then, then))
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, "formula_nb", raising=False)
        double = module_in(folder).double
        assert not double._is_cached()
        x, y = np.arange(3.0), np.zeros(3)
        with compiled_at_once():
            double(x, y)
        assert y.tolist() == (value * x).tolist()
        for index in folder.rglob("*.nbi"):
            os.utime(index, (then + 0.5, then + 0.5))


def test_threads_compile_a_kernel_once(double, monkeypatch):
    monkeypatch.setenv("KGROUPS_JIT", "always")
    together, failed = threading.Barrier(8), []

    def call():
        together.wait()
        try:
            run(double, 100)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(double.compiled().signatures) == 1
    assert sum(double.compiled().stats.cache_misses.values()) == 1


def test_other_types_are_compiled_when_they_come(double):
    with compiled_at_once():
        run(double)
    x, y = np.arange(3), np.zeros(3)
    double(x, y)
    assert y.tolist() == [0.0, 2.0, 4.0]
    assert len(double.compiled().signatures) == 2


def test_a_session_that_detects_karate_in_a_loop_is_compiled_soon(monkeypatch):
    """Budgets are a hundredth of what they are, so that a few calls stand for hundreds.

    The clock counts the items that kernels get, so that it is the same on every machine.
    """
    graph = kg.as_graph(nx.karate_club_graph())
    clock, interpret = [0.0], Kernel._interpret

    def interpret_by_the_clock(one, arguments):
        clock[0] += _kernel._SECONDS_PER_ITEM * _kernel._items(arguments)
        return interpret(one, arguments)

    def compile_for(one, arguments):
        one._compiled = lambda *arguments: interpret(one, arguments)

    monkeypatch.setattr(_kernel, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(Kernel, "_interpret", interpret_by_the_clock)
    monkeypatch.setattr(Kernel, "_compile_for", compile_for)
    kg.detect_communities(graph)
    for one in KERNELS:
        monkeypatch.setattr(one, "_compiled", None)
        monkeypatch.setattr(one, "_spent", 0.0)
        monkeypatch.setattr(one, "_budget", 0.01 * one.seconds)
    taken = []
    for _ in range(25):
        before = _kernel._Spent.interpreting
        kg.detect_communities(graph)
        taken.append(_kernel._Spent.interpreting - before)
    assert taken[-1] < 0.2 * taken[0]
    assert all(one._spent < 0.02 * one.seconds + 0.01 for one in KERNELS)


@pytest.fixture
def slow(double, monkeypatch):
    """Return a kernel whose compilation takes 0.2 seconds, of which 0.05 are silent."""
    monkeypatch.setattr(_kernel, "_SILENT_SECONDS", 0.05)
    monkeypatch.setattr(_progress, "_TICK_SECONDS", 0.02)
    monkeypatch.setattr(_kernel, "KERNELS", [double])
    double.seconds = 0.4

    class Slow:
        typeof_pyval = staticmethod(type)

        def compile(self, types):
            time.sleep(0.2)

        def __call__(self, x, y):
            y[:] = 2.0 * x

    double._dispatcher = Slow()
    monkeypatch.setenv("KGROUPS_JIT", "always")
    return double


def test_compiling_is_shown_on_a_terminal_and_cleared(slow, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    _kernel._Spent.compiling = 125.0
    run(slow)
    *_, line, cleared, end = sys.stderr.getvalue().split("\r")
    assert line.startswith("compiling once for this machine, ")
    assert line.rstrip().endswith("% [02:05]")
    assert 10 <= int(line.split(", ")[1].split(" %")[0]) <= 60
    assert (cleared.strip(), end) == ("", "")


def test_compiling_is_shown_in_the_bar_of_the_stage(slow, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with (
        _progress.stage_progress() as announce,
        _progress.Stages(announce) as stages,
    ):
        stages.begin("searching")
        run(slow)
        shown = [line.strip() for line in sys.stderr.getvalue().split("\r")]
    assert any(line.startswith("compiling once for this machine, ") for line in shown)
    assert shown[-1].startswith("searching [")
    assert not any("\n" in line for line in shown)


def test_compiling_is_shown_in_a_notebook(slow, monkeypatch):
    class Shell:
        kernel = object()

    class IPython:
        get_ipython = staticmethod(Shell)

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert _progress.in_notebook()
    run(slow)


@pytest.mark.parametrize("stages", [False, True])
def test_nothing_is_said_elsewhere(slow, capfd, stages):
    told = []
    if stages:
        with _progress.Stages(told.append):
            run(slow)
    else:
        run(slow)
    assert capfd.readouterr() == ("", "")
    assert told == []


def test_nothing_is_said_when_compiling_is_fast(slow, monkeypatch):
    monkeypatch.setattr(_kernel, "_SILENT_SECONDS", 10.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    run(slow)
    assert sys.stderr.getvalue() == ""


def test_warm_has_a_bar_of_its_own(slow, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with compiled_at_once():
        run(slow)
    assert sys.stderr.getvalue() == ""
