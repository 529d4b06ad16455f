"""Studies on several processes, here and on a Dask cluster, of which one is killed."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import networkx as nx
import pytest

from kgroups.studies import sweep
from kgroups.studies.running import read_journal

PROGRAM = """
import json, logging, os, signal, sys
import joblib
from distributed import Client, LocalCluster
from kgroups.studies import phase_transition

def study(**options):
    return phase_transition(
        100, 2, 6.0, [0.5, 1.0, 1.5, 2.0], ("kgroups", "bethe-hessian"), 25, **options
    )

def untimed(found):
    return [{name: row[name] for name in row if name != "seconds"} for row in found.rows]

def main(journal):
    alone = study(n_jobs=1, progress=False)
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
    )
    killed = []
    with cluster, Client(cluster) as client:
        before = client.run(os.getpid)

        def kill_one(done, total):
            if not killed and 10 <= done < total:
                killed.append(next(iter(before.values())))
                os.kill(killed[0], signal.SIGKILL)

        with joblib.parallel_config("dask"):
            found = study(journal=journal, progress=kill_one)
        after = client.run(os.getpid)
    print(json.dumps({
        "same": untimed(found) == untimed(alone),
        "rows": len(found.rows),
        "workers": [len(set(before.values())), sorted(before.values()) != sorted(after.values())],
        "killed": len(killed),
    }))

if __name__ == "__main__":
    main(sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL there")
def test_a_killed_worker_loses_no_row_and_doubles_none(tmp_path):
    pytest.importorskip("distributed")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    journal = tmp_path / "journal"
    done = subprocess.run(
        [sys.executable, program, journal],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result == {"same": True, "rows": 200, "workers": [2, True], "killed": 1}
    trials = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    assert len(trials) == len({(line["cell"], line["trial"]) for line in trials}) == 100


def draw(n, rng):
    return nx.complete_graph(n), [0] * n


def die_once(graph, k, rng, flag):
    """Return labels, but kill the process in the seventh cell if no other one was killed before."""
    if len(graph) == 7 and not Path(flag).exists():
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return [0] * len(graph)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL there")
def test_a_killed_process_is_an_error_and_the_study_goes_on_from_its_journal(tmp_path):
    find = partial(die_once, flag=str(tmp_path / "killed"))

    def run(**options):
        grid = {"n": list(range(2, 10))}
        return sweep(draw, grid, {"mine": find}, trials=1, progress=False, **options)

    with pytest.raises(BrokenProcessPool, match="unexpectedly terminated"):
        run(n_jobs=2, journal=tmp_path / "journal")
    kept = read_journal(tmp_path / "journal")[1]
    study = run(n_jobs=1, journal=tmp_path / "journal")
    assert [row["n"] for row in study.rows] == list(range(2, 10))
    for task, results in kept.items():
        assert study.rows[task.cell]["seconds"] == results["mine"]["seconds"]
