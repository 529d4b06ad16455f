"""The command line as a process: exit codes, streams, pipes and terminals."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kgroups.cli import main

COMMAND = [sys.executable, "-m", "kgroups.cli"]


def run(*words, **options):
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, check=False, timeout=120, **options
    )


def test_detect_karate_exits_with_0():
    done = run("detect", "karate")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "2 communities" in done.stdout


@pytest.mark.parametrize(
    ("words", "code"), [(["detect", "karat"], 1), (["detect"], 2), (["--version"], 0)]
)
def test_exit_codes(words, code):
    done = run(*words)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


# A child that sends itself a signal at the first call of a function, whatever the time it takes.
SIGNALED = """
import importlib, os, signal, sys, time
name, module, function, *words = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)
def send(*args, **options):
    os.kill(os.getpid(), getattr(signal, name))
    time.sleep(60)
owner, _, attribute = function.rpartition(".")
loaded = importlib.import_module(module)
setattr(getattr(loaded, owner) if owner else loaded, attribute, send)
from kgroups.cli import main
sys.exit(main(words))
"""
DURING_A_WRITE = ["pathlib", "Path.replace"]
STUDY = ["study", "--n", "60", "--k", "2", "--degree", "6", "--snr", "2", "--trials", "1"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals work in another way there")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize(
    ("place", "words"),
    [
        (["kgroups.cli", "build_parser"], ["detect", "karate"]),
        (["kgroups.detect", "detect_communities"], ["detect", "karate"]),
        (DURING_A_WRITE, ["detect", "karate", "--output", "p.csv"]),
        (["kgroups.cli.commands", "open_graph"], ["score", "karate", "p.csv"]),
        (["kgroups.cli.commands", "open_graph"], ["info", "karate"]),
        (["kgroups.datasets", "describe"], ["datasets"]),
        (["kgroups.studies", "phase_transition"], STUDY),
        (["kgroups.studies", "merge"], ["study", "merge", "journal"]),
        (DURING_A_WRITE, ["generate", "girvan-newman", "--snr", "2", "--output", "g.csv"]),
        (["kgroups._warm", "warm"], ["warm"]),
    ],
)
def test_signals_end_every_command_with_their_code_and_leave_nothing(
    tmp_path, name, code, place, words
):
    command = [sys.executable, "-c", SIGNALED, name, *place, *words]
    done = subprocess.run(command, capture_output=True, check=False, timeout=120, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals work in another way there")
def test_an_interrupt_while_modules_are_loaded_exits_with_130():
    program = """
import os, signal, sys
from kgroups.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupt:
    def find_spec(name, path=None, target=None):
        if name == "kgroups.cli.commands":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt)
sys.exit(main(["info", "karate"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals work in another way there")
def test_the_handler_of_a_caller_stays():
    def mine(signum, frame):
        raise AssertionError

    before = signal.signal(signal.SIGTERM, mine)
    try:
        assert main(["datasets", "--json"]) == 0
        assert signal.getsignal(signal.SIGTERM) is mine
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        assert main(["datasets", "--json"]) == 0
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def buffered():
    """Return the environment of a shell, in which output is written when the buffer is full."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break in another way there")
@pytest.mark.parametrize("words", [["datasets"], ["detect", "karate"], ["--help"]])
def test_a_reader_that_goes_away_is_no_error_message(words):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, *words],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=buffered(),
        check=False,
        timeout=120,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break in another way there")
def test_an_error_that_nobody_reads_is_still_an_exit_code():
    reader, writer = os.pipe()
    os.close(reader)
    command = [*COMMAND, "detect", "karat"]
    done = subprocess.run(command, stdout=writer, stderr=writer, env=buffered(), check=False)
    os.close(writer)
    assert done.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("words", [["detect", "karate"], ["--help"]])
def test_output_that_cannot_be_written_is_an_error(words):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, env=buffered(), check=False
        )
    assert done.returncode == 1
    assert done.stderr == b"kgroups: error: No space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="the shell has no such redirection there")
@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["detect", "karate", "--output", "p.csv"], 0),
        ([*STUDY, "--trials", "2", "--jobs", "2", "--output", "s.csv"], 0),
        (["detect", "karat"], 1),
    ],
)
def test_closed_streams_change_neither_exit_code_nor_files(tmp_path, closed, words, code):
    shell = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh"]
    done = subprocess.run(
        [*shell, *COMMAND, *words], capture_output=True, check=False, timeout=120, cwd=tmp_path
    )
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert b"kgroups: error" not in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == words[-1:] * (code == 0)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals there")
def test_progress_is_shown_on_a_terminal_only_and_never_on_stdout():
    import pty
    import select
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    command = [*COMMAND, "detect", "karate", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, check=True, timeout=120)
    readable, _, _ = select.select([ours], [], [], 5.0)
    shown = os.read(ours, 65536).decode() if readable else ""
    os.close(theirs)
    os.close(ours)
    assert "finding communities" in shown
    assert done.stdout.startswith(b"{")
    assert done.stdout.endswith(b"}\n")


def test_names_that_the_terminal_cannot_show_do_not_stop_it(tmp_path):
    (tmp_path / "g.csv").write_text("source,target\né,b\nb,c\nc,é\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = run("detect", str(tmp_path / "g.csv"), env=environment)
    assert done.returncode == 0
    assert "\\xe9" in done.stdout


def test_help_does_not_load_heavy_libraries():
    code = (
        "import sys\nfrom kgroups.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = ('numba', 'matplotlib', 'igraph', 'networkx', 'scipy.sparse.linalg')\n"
        "print([m for m in heavy if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_a_graph_comes_from_standard_input():
    done = run("detect", "-", "--json", input="ann,bob\nbob,cat\ncat,ann\n")
    assert done.returncode == 0
    graph = json.loads(done.stdout)["graph"]
    assert (graph["name"], graph["nodes"], graph["edges"]) == ("standard input", 3, 3)
