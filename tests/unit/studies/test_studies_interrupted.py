"""Ctrl-C while processes work: none is left, no file is cut, and the same call goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("joblib")
pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc"),
]

PROGRAM = """
import json, os, signal, sys, time
from pathlib import Path
import networkx as nx
import kgroups as kg
from kgroups.studies import merge, sweep

# Under a shell that runs the suite in the background, children would ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
delay = 0.02
kept = []

def ring(cliques, rng):
    graph = nx.ring_of_cliques(cliques, 5)
    return graph, [node // 5 for node in graph]

def chance(graph, k, rng):
    time.sleep(delay)
    return rng.integers(k, size=graph.number_of_nodes())

def told(done, total):
    print(done, flush=True)

def study(n_jobs, journal=None):
    methods = {"chance": chance}
    return sweep(ring, {"cliques": [3, 4]}, methods, trials=100, n_jobs=n_jobs, progress=told,
                 journal=journal)

def rows(study):
    return [{**row, "seconds": 0} for row in study.rows]

def workers():
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            words = (path.parent / "cmdline").read_text()
        except OSError:
            continue
        # Trackers of shared resources end with this process.
        if int(parent) == os.getpid() and state != "Z" and "resource_tracker" not in words:
            found.append(words)
    return found

what, journal = sys.argv[1:]
partition = kg.detect_communities(nx.karate_club_graph())
try:
    if what == "study":
        study(2, journal)
    else:
        partition.stability(1000, n_jobs=2, progress=told)
except KeyboardInterrupt as error:
    # As a notebook keeps it, with all variables of the functions that were interrupted.
    kept.append(error)
    print("interrupted", flush=True)
deadline = time.monotonic() + 60
while workers() and time.monotonic() < deadline:
    time.sleep(0.05)
left = workers()
if what == "study":
    before = Path(journal).read_bytes()
    resumed = rows(study(2, journal))
    delay = 0
    same = resumed == rows(study(1)) == rows(merge([journal]))
    same = same and Path(journal).read_bytes().startswith(before)
else:
    same = partition.known_stability is None
    same = same and partition.stability(4, n_jobs=2).to_dict() == partition.stability(4).to_dict()
print(json.dumps({"left": left, "same": same}))
"""


def in_session(session):
    """Return the processes of a session that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize(
    ("what", "send"), [("study", os.killpg), ("stability", os.kill)], ids=["terminal", "process"]
)
def test_an_interrupt_ends_all_processes_and_the_call_can_be_repeated(tmp_path, what, send):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, what, str(tmp_path / "journal")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        for _ in range(4):
            assert process.stdout.readline().strip().isdigit()
        send(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    lines = [line for line in out.splitlines() if not line.isdigit()]
    assert lines[0] == "interrupted", err
    assert json.loads(lines[-1]) == {"left": [], "same": True}
    assert (process.returncode, err) == (0, "")
    deadline = time.monotonic() + 60
    while in_session(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert [path.name for path in tmp_path.iterdir()] == ["journal"] * (what == "study")


PROGRESS_STOPS = """
import os, sys
import networkx as nx
import kgroups as kg
from kgroups.uncertainty.significance import significance

def stop(*_):
    raise KeyboardInterrupt

kept = []
for call in (
    lambda: kg.detect_communities(nx.karate_club_graph()).stability(
        200, n_jobs=2, progress=stop),
    lambda: significance(nx.karate_club_graph(), nulls=200, n_jobs=2, progress=stop),
):
    try:
        call()
    except KeyboardInterrupt as error:
        kept.append(error)
    print(len(workers()))
"""


def test_an_interrupt_outside_of_the_processes_ends_them_in_silence():
    """joblib printed that its input should be adjusted."""
    workers = PROGRAM[PROGRAM.index("def workers") : PROGRAM.index("what, journal")]
    program = f"from pathlib import Path\nimport os\n{workers}\n{PROGRESS_STOPS}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert (done.stdout.split(), done.stderr) == (["0", "0"], "")
