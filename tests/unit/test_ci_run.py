"""``.ci/run`` with stand-ins for its tools: what runs after a failure, and what it reports."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "run"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

# One program under the names of all tools: it does nothing, and fails if it is called as $FAILS.
TOOL = """#!/bin/sh
case "$(basename "$0") $*" in
  $FAILS) exit 1 ;;
  "python3.11 -m venv "*)
    mkdir -p "$3/bin"
    for tool in python pytest kgroups ruff codespell mypy lint-imports sphinx-build; do
      ln -s "$TOOL" "$3/bin/$tool"
    done ;;
esac
"""


@pytest.fixture
def ci(tmp_path):
    """Return a function that runs the script and returns its exit code and each step's outcome."""
    tool = tmp_path / "python3.11"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    folder = tmp_path / "temporary"
    folder.mkdir()
    for name in ("chromium", "chromedriver"):
        (tmp_path / name).symlink_to(tool)

    def run(*arguments, fails="nothing", path=None):
        environment = {
            **os.environ,
            "PATH": path or f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "TMPDIR": str(folder),
            "TOOL": str(tool),
            "FAILS": fails,
        }
        ran = subprocess.run(
            [SCRIPT, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        assert list(folder.iterdir()) == []
        lines = re.findall(r"^(passed|FAILED|skipped) +\d+ s  ([\w-]+)", ran.stdout, re.MULTILINE)
        return ran.returncode, {name: outcome for outcome, name in lines}

    return run


def names(outcomes, outcome):
    return {name for name, value in outcomes.items() if value == outcome}


@pytest.mark.parametrize(("arguments", "count"), [((), 15), (("--full",), 23)])
def test_all_steps_pass(ci, arguments, count):
    code, outcomes = ci(*arguments)
    assert code == 0
    assert len(outcomes) == len(names(outcomes, "passed")) == count


def test_steps_after_a_failure_still_run(ci):
    code, outcomes = ci("--full", fails="pytest *")
    assert code == 1
    assert names(outcomes, "FAILED") == {
        "tests", "doctests", "networkx-fallback", "networkx-alone", "networkx-all", "slow",
        "bounds", "no-jit", "oldest", "page", "pages",
    }  # fmt: skip
    assert len(names(outcomes, "passed")) == 12


@pytest.mark.parametrize(
    ("fails", "step"),
    [
        ("ruff check*", "lint"),
        ("codespell*", "lint"),
        ("kgroups detect*", "detect"),
        ("python benchmarks/startup.py", "benchmarks"),
    ],
)
def test_a_step_fails_with_any_of_its_commands(ci, fails, step):
    code, outcomes = ci("--full", fails=fails)
    assert code == 1
    assert names(outcomes, "FAILED") == {step}
    assert not names(outcomes, "skipped")


def test_steps_are_skipped_when_what_they_need_failed(ci):
    code, outcomes = ci("--full", fails="python -m pip install -e .[[]test]")
    assert code == 1
    assert names(outcomes, "FAILED") == {"develop"}
    assert names(outcomes, "passed") == {"plain", "detect", "readme", "docs", "oldest"}
    assert len(names(outcomes, "skipped")) == 17


def test_lint_tools_and_documentation_are_installed_by_extras(ci):
    code, outcomes = ci("--full", fails="python -m pip install -e .[[]lint]")
    assert code == 1
    assert names(outcomes, "FAILED") == {"lint-tools"}
    assert names(outcomes, "skipped") == {"lint", "types", "imports"}
    assert names(ci("--full", fails="python -m pip install .[[]docs]")[1], "FAILED") == {"docs"}


@pytest.fixture
def path_without(tmp_path):
    """Return a function that makes a search path of the programs here, without those named."""

    def make(*absent):
        folder = tmp_path / "programs"
        folder.mkdir()
        for place in [tmp_path, *map(Path, os.environ["PATH"].split(os.pathsep))]:
            for program in place.iterdir() if place.is_dir() else ():
                if program.is_file() and program.name not in absent:
                    link = folder / program.name
                    if not link.exists():
                        link.symlink_to(program.absolute())
        return str(folder)

    return make


def test_the_browser_is_installed_where_it_is_missing(ci, path_without, tmp_path):
    path = path_without("chromium", "chromedriver", "apt-get", "id")
    recorded = tmp_path / "recorded"
    for name, line in (("apt-get", f'echo "$@" >>{recorded}'), ("id", "echo 0")):
        program = Path(path) / name
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    code, outcomes = ci("--only", "page", path=path)
    assert code == 0
    assert outcomes == {"develop": "passed", "browser": "passed", "page": "passed"}
    assert recorded.read_text().splitlines()[-1].endswith("chromium chromium-driver")


def test_the_report_is_not_passed_over_without_a_browser(ci, path_without):
    path = path_without("chromium", "chromedriver", "apt-get")
    code, outcomes = ci("--only", "page", "pages", path=path)
    assert code == 1
    assert outcomes["browser"] == "FAILED"
    assert outcomes["page"] == outcomes["pages"] == "skipped"


def test_a_step_runs_alone_with_what_it_needs(ci):
    passed = {"develop": "passed", "lint-tools": "passed", "types": "passed"}
    assert ci("--only", "types") == (0, passed)


@pytest.mark.parametrize("arguments", [("--fast",), ("--only",), ("--only", "typos")])
def test_unknown_arguments_run_nothing(ci, arguments):
    assert ci(*arguments) == (2, {})
