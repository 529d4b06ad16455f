"""The command line as a process: exit codes, streams, pipes and terminals."""

import os
import subprocess
import sys

import pytest

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


def test_an_interrupt_exits_with_130():
    code = (
        "import sys, kgroups.cli.commands as c\n"
        "def stop(args): raise KeyboardInterrupt\n"
        "c.info = stop\n"
        "from kgroups.cli import main\n"
        "sys.exit(main(['info', 'karate']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break in another way there")
def test_a_reader_that_goes_away_is_no_error_message():
    process = subprocess.Popen(
        [*COMMAND, "datasets"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), errors) == (141, b"")


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
