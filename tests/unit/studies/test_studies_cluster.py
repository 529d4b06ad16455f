"""A study on a Dask cluster of which a worker dies."""

import json
import subprocess
import sys

import pytest

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
    alone = study(n_jobs=1, progress=None)
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
