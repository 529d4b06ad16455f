"""``.ci/run`` with stand-ins for its tools: what they see, what runs, what it reports."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "run"


def _is_checkout():
    """Tell if there is a git that can read the project, which the script clones."""
    if shutil.which("git") is None:
        return False
    command = ["git", "-C", str(SCRIPT.parent), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


pytestmark = [
    pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash"),
    pytest.mark.skipif(not _is_checkout(), reason="needs git, and a checkout to clone"),
]

# One program under the names of all tools: it notes its call and what it sees, does nothing else,
# and fails if it is called as $FAILS.
TOOL = """#!/bin/sh
data=${KGROUPS_DATA:-$(ls "$XDG_DATA_HOME" 2>/dev/null)}
echo "$(basename "$0") $*|$data|"$(ls ..)"|"$(cat some.txt 2>/dev/null)"|"$(ls) >>"$CALLS"
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
    """Return a function that runs the script and returns its exit code and each step's outcome.

    The tools note their calls in the file ``calls``.
    """
    tool = tmp_path / "python3.11"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    folder = tmp_path / "temporary"
    folder.mkdir()
    for name in ("chromium", "chromedriver"):
        (tmp_path / name).symlink_to(tool)

    def run(*arguments, fails="nothing", path=None, script=SCRIPT, **variables):
        environment = {
            **os.environ,
            "PATH": path or f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "TMPDIR": str(folder),
            "TOOL": str(tool),
            "FAILS": fails,
            "CALLS": str(tmp_path / "calls"),
            **variables,
        }
        ran = subprocess.run(
            [script, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        assert list(folder.iterdir()) == []
        lines = re.findall(r"^(passed|FAILED|skipped|left out) +\d+ s  ([\w-]+)", ran.stdout, re.M)
        return ran.returncode, {name: outcome for outcome, name in lines}

    return run


def names(outcomes, outcome):
    return {name for name, value in outcomes.items() if value == outcome}


@pytest.mark.parametrize(("arguments", "count"), [((), 16), (("--full",), 25)])
def test_all_steps_pass(ci, tmp_path, arguments, count):
    code, outcomes = ci(*arguments, KGROUPS_DATA=str(tmp_path))
    assert code == 0
    assert len(outcomes) == len(names(outcomes, "passed")) == count


def test_steps_after_a_failure_still_run(ci, tmp_path):
    code, outcomes = ci("--full", fails="pytest *", KGROUPS_DATA=str(tmp_path))
    assert code == 1
    assert names(outcomes, "FAILED") == {
        "tests", "data", "doctests", "networkx-fallback", "networkx-alone", "networkx-all", "slow",
        "always", "bounds", "no-jit", "oldest", "page", "pages",
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
    assert len(names(outcomes, "skipped")) == 19


@pytest.fixture
def project(tmp_path):
    """Return a project with its script, in git but for a changed, a new and a removed file."""
    project = tmp_path / "project"
    (project / ".ci").mkdir(parents=True)
    shutil.copy(SCRIPT, project / ".ci" / "run")
    shutil.copy(SCRIPT.parents[1] / "README.md", project)
    for name in ("some.txt", "removed.txt"):
        (project / name).write_text("committed")
    (project / ".gitignore").write_text("ignored.txt\n")
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "all"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    (project / "removed.txt").unlink()
    for name, text in (("some.txt", "changed"), ("new.txt", "new"), ("ignored.txt", "ignored")):
        (project / name).write_text(text)
    return project


def calls(tmp_path, start):
    """Return what the tools saw when they were called so: data, siblings, some.txt, files."""
    lines = (tmp_path / "calls").read_text().splitlines()
    seen = (line.split("|") for line in lines if line.startswith(start))
    return [[part.strip() for part in parts] for _, *parts in seen]


@pytest.mark.parametrize("named", [True, False], ids=["KGROUPS_DATA", "beside the project"])
def test_the_commands_of_the_readme_run_as_a_stranger_has_them(ci, project, tmp_path, named):
    users = tmp_path / "share"
    data = tmp_path / ("data" if named else "shared/data")
    (users / "kgroups").mkdir(parents=True)
    data.mkdir(parents=True)
    variables = {"XDG_DATA_HOME": str(users), "KGROUPS_DATA": str(data) if named else ""}
    steps = ("tests", "detect", "data")
    code, outcomes = ci("--only", *steps, script=project / ".ci" / "run", **variables)
    assert code == 0
    assert set(steps) < names(outcomes, "passed")
    alone = ["", "kgroups", "changed", "README.md new.txt some.txt"]
    assert calls(tmp_path, "pytest |") == [alone]
    assert calls(tmp_path, "kgroups detect karate|")[0] == alone
    assert calls(tmp_path, "python -m pip install") == [alone, alone]
    assert calls(tmp_path, "pytest -q -m data|") == [[str(data), *alone[1:]]]


@pytest.mark.parametrize("named", ["", "absent"])
def test_the_data_step_is_left_out_without_the_folder(ci, project, named):
    code, outcomes = ci("--only", "data", script=project / ".ci" / "run", KGROUPS_DATA=named)
    assert (code, outcomes) == (0, {"develop": "passed", "data": "left out"})


def test_a_project_that_is_not_in_git_is_refused(ci, project):
    shutil.rmtree(project / ".git")
    assert ci("--only", "lint", script=project / ".ci" / "run") == (1, {})


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
