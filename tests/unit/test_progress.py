"""Progress bars: on a terminal only, and never in the way where stderr is closed."""

import io
import subprocess
import sys
import time

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.terminal import Terminal
from kgroups import _progress
from kgroups._progress import (
    LEFT,
    TOTAL,
    Stages,
    begin_stage,
    counted_progress,
    interrupts_restored,
    new_control,
    run_interruptibly,
    stage_progress,
    tell_share,
)
from kgroups.cli import main
from kgroups.energy import kernel_kgroups
from kgroups.studies import sweep


def closed_stream():
    stream = io.StringIO()
    stream.close()
    return stream


def ring(cliques, rng):
    graph = nx.ring_of_cliques(cliques, 5)
    return graph, [node // 5 for node in graph]


def clustering_without_a_stored_matrix():
    return kernel_kgroups(np.arange(12.0)[:, None], 2, n_init=3, gram_memory=0)


def study():
    return sweep(ring, {"cliques": 4}, trials=2, progress=True)


@pytest.mark.parametrize("closed", [closed_stream, lambda: None])
@pytest.mark.parametrize("work", [clustering_without_a_stored_matrix, study])
def test_work_with_a_bar_needs_no_open_streams(monkeypatch, closed, work):
    monkeypatch.setattr(sys, "stdout", closed())
    monkeypatch.setattr(sys, "stderr", closed())
    assert work() is not None


@pytest.mark.parametrize("closed", [closed_stream, lambda: None])
def test_commands_need_no_open_streams(monkeypatch, tmp_path, closed):
    monkeypatch.setattr(sys, "stdout", closed())
    monkeypatch.setattr(sys, "stderr", closed())
    streams = sys.stdout, sys.stderr
    assert main(["detect", "karate", "--output", str(tmp_path / "p.csv")]) == 0
    assert main(["detect", "karat"]) == 1
    assert (tmp_path / "p.csv").exists()
    assert (sys.stdout, sys.stderr) == streams


def test_a_bar_is_drawn_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with counted_progress(3, "trial", progress=True) as show:
        show(2)
    assert "0/3" in sys.stderr.getvalue()
    assert "trial" in sys.stderr.getvalue()


def test_a_bar_shows_at_once_what_was_done_before(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with counted_progress(9, "trial", progress=True, before=4):
        assert "4/9" in sys.stderr.getvalue()
        assert "0/9" not in sys.stderr.getvalue()


def test_the_bar_of_a_resumed_study_starts_where_it_was_left(monkeypatch, tmp_path):
    journal = tmp_path / "journal"
    sweep(ring, {"cliques": 4}, trials=5, journal=journal, progress=False)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:4]))
    monkeypatch.setattr(sys, "stderr", Terminal())
    sweep(ring, {"cliques": 4}, trials=5, journal=journal, progress=True)
    assert "3/5" in sys.stderr.getvalue()
    assert "0/5" not in sys.stderr.getvalue()


def test_a_function_is_never_told_more_than_the_total():
    calls = []
    with counted_progress(3, "trial", progress=lambda *call: calls.append(call)) as show:
        show(2)
        show(5)
    assert calls == [(2, 3), (3, 3)]


def test_a_stage_is_named_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with stage_progress() as begin:
        begin("scoring")
    assert "scoring [00:00]" in sys.stderr.getvalue()


@pytest.fixture
def clock(monkeypatch):
    """Return a list whose last number is the time."""
    times = [0.0]
    monkeypatch.setattr(_progress, "perf_counter", lambda: times[-1])
    return times


def test_the_seconds_of_a_stage_that_begins_again_are_summed(clock):
    stages = Stages(lambda stage: None)
    for stage, until in (("a", 1.0), ("b", 3.0), ("a", 7.0)):
        stages.begin(stage)
        clock.append(until)
    assert stages.seconds() == {"a": 5.0, "b": 2.0}


def test_the_share_of_a_long_stage_is_told_once_a_second(clock):
    told = []
    with Stages(told.append) as stages:
        stages.begin("reading")
        for step in range(1, 26):
            clock.append(step / 10)
            tell_share(step, 25)
        begin_stage("searching")
        tell_share(1, 2)
        clock.append(9.0)
        tell_share(3, 2)
    assert told == ["reading", "reading, 40 %", "reading, 80 %", "searching", "searching, 100 %"]


def test_the_share_of_a_stage_never_falls(clock):
    """Moves add the neighbors of a node to the nodes that wait: 84 % was followed by 72 %."""
    told = []
    with Stages(told.append) as stages:
        for step, stage, share in ((2, "a", 84), (4, "a", 72), (6, "a", 90), (8, "b", 5)):
            if step in (2, 6, 8):
                stages.begin(stage)
            clock.append(float(step))
            tell_share(share, 100)
    assert told == ["a", "a, 84 %", "a, 84 %", "a", "a, 90 %", "b", "b, 5 %"]


def test_work_outside_of_a_call_with_stages_tells_nothing():
    told = []
    with Stages(told.append):
        pass
    begin_stage("reading")
    tell_share(1, 2)
    assert told == []


def test_inner_stages_end_with_their_call():
    outer, inner = [], []
    with Stages(outer.append):
        with Stages(inner.append):
            begin_stage("inside")
        begin_stage("outside")
    assert (outer, inner) == (["outside"], ["inside"])


def test_a_kernel_tells_its_share_through_its_control():
    told = []

    def kernel(control):
        control[LEFT], control[TOTAL] = 30, 40
        while not told:
            time.sleep(0.001)
        return "done"

    with Stages(lambda text: told.append(text) if "%" in text else None, pause=0.0):
        begin_stage("searching")
        assert run_interruptibly(kernel, new_control()) == "done"
    assert told[0] == "searching, 25 %"


def readings(monkeypatch, values):
    """Let the resident memory and its maximum be these, one pair for each reading."""
    left = iter(values)
    monkeypatch.setattr(_progress, "_memory", lambda: next(left))


def test_the_peak_is_the_high_water_mark_if_the_call_has_raised_it(monkeypatch):
    readings(monkeypatch, [(100, 150), (120, 900)])
    assert Stages(print).peak_bytes() == 800


def test_the_peak_is_the_largest_reading_if_an_earlier_one_was_higher(monkeypatch, clock):
    readings(monkeypatch, [(100, 5_000), (700, 5_000), (300, 5_000), (200, 5_000)])
    with Stages(lambda stage: None) as stages:
        for step in (1.0, 2.0):
            clock.append(step)
            tell_share(step, 3)
        assert stages.peak_bytes() == 600


def test_memory_that_falls_is_no_rise(monkeypatch):
    readings(monkeypatch, [(100, 500), (80, 500)])
    assert Stages(print).peak_bytes() == 0


def test_the_peak_is_not_known_where_the_system_does_not_tell(monkeypatch):
    monkeypatch.setattr(_progress, "_STATUS", "/absent/status")
    with Stages(lambda stage: None) as stages:
        tell_share(1, 2)
        assert stages.peak_bytes() is None
    assert kg.detect_communities(nx.karate_club_graph()).report.peak_bytes is None


ALLOCATED = """
import sys
import numpy as np
from kgroups._progress import Stages, tell_share

if sys.argv[1] == "after a higher peak":
    np.ones(60_000_000)
with Stages(lambda stage: None) as stages:
    array = np.ones(20_000_000)
    tell_share(1, 2)
    del array
    print(stages.peak_bytes())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("before", ["at first", "after a higher peak"])
def test_arrays_that_were_freed_count(before):
    command = [sys.executable, "-c", ALLOCATED, before]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    # 160 MB of numbers, and what the interpreter allocates beside.
    assert 159e6 < int(run.stdout) < 165e6


def test_an_interrupt_that_a_kernel_reports_as_an_error_is_one_again():
    """Ctrl-C while numba wrapped the result of a kernel ended a study with a traceback."""
    with pytest.raises(KeyboardInterrupt), interrupts_restored():
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
    first, second = SystemError("first array"), SystemError("second array")
    first.__cause__, second.__cause__ = KeyboardInterrupt(), first
    with pytest.raises(KeyboardInterrupt), interrupts_restored():
        raise second
    with pytest.raises(SystemError, match="another"), interrupts_restored():
        raise SystemError("another")


def interrupted(*arguments):
    raise SystemError("returned a result with an exception set") from KeyboardInterrupt()


def test_a_refinement_restores_interrupts():
    class Interrupted:
        def refine(self, problem, labels):
            interrupted()

    with pytest.raises(KeyboardInterrupt):
        kg.refine_partition(nx.path_graph(4), [{0, 1}, {2, 3}], refine=Interrupted())


def test_a_study_and_a_detection_restore_interrupts():
    with pytest.raises(KeyboardInterrupt):
        kg.detect_communities(nx.path_graph(4), progress=interrupted)
    with pytest.raises(KeyboardInterrupt):
        kg.studies.phase_transition(
            60, k=2, degree=6.0, snr=1.0, methods=(interrupted,), trials=1, progress=False
        )
