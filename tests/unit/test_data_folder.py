"""What does not ship: no test can load it unless it says so, with the folder or without."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.data import needs
from kgroups import datasets

TESTS = Path(__file__).parents[1]
FILE = """
import os
import subprocess
import sys
import pytest
from helpers.data import each, needs
from kgroups import datasets
from kgroups.errors import KGroupsError
{body}
"""
SWALLOWED = """
def test_handles():
    try:
        datasets.load("football")
    except KGroupsError:
        pytest.skip("nothing to see")
"""
ASKED = """
def test_asks():
    if not next(entry for entry in datasets.describe() if entry.name == "football").present:
        pytest.skip("nothing to see")
"""
IN_A_PROCESS = """
def test_starts():
    code = "from kgroups import datasets; datasets.load_table('iris')"
    subprocess.run([sys.executable, "-c", code], check=True)
"""
FIXTURE = """
@pytest.fixture(scope="module")
def teams():
    return datasets.load("football")

def test_takes(teams):
    pass
"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder that seems to hold everything; to read a file would fail, by its checksum."""
    folder = tmp_path / "kgroups"
    folder.mkdir()
    for entry in (*datasets.describe(), *datasets.describe_tables()):
        for file in entry.files:
            (folder / file.file).parent.mkdir(exist_ok=True)
            (folder / file.file).touch()
    return folder


@pytest.fixture
def run(tmp_path):
    """Return a function that runs tests with our hooks alone and returns what pytest printed."""

    def run(body, **variables):
        (tmp_path / "test_it.py").write_text(FILE.format(body=body))
        environment = {name: os.environ[name] for name in os.environ.keys() - {"KGROUPS_DATA"}}
        options = ["-q", "-ra", "-p", "helpers.data", "-p", "no:cacheprovider", "-p", "no:xdist"]
        return subprocess.run(
            [sys.executable, "-m", "pytest", *options, "test_it.py"],
            cwd=tmp_path,
            env={**environment, "PYTHONPATH": str(TESTS), **variables},
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    return run


@pytest.mark.parametrize("variable", ["KGROUPS_DATA", "XDG_DATA_HOME", None])
def test_a_load_outside_of_a_skip_fails_and_names_test_and_network(run, folder, variable):
    where = {"KGROUPS_DATA": folder, "XDG_DATA_HOME": folder.parent}
    printed = run(
        'def test_loads():\n    datasets.load("football")',
        **({variable: str(where[variable])} if variable else {}),
    )
    assert "test_it.py::test_loads loads the network 'football', which does not ship" in printed
    assert "@needs('football')" in printed
    assert "1 failed" in printed


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (SWALLOWED, "test_handles loads the network 'football'"),
        (ASKED, "test_asks would never run: it skips where 'football' is absent"),
        (IN_A_PROCESS, "1 failed"),
        (FIXTURE, "test_takes loads the network 'football'"),
    ],
    ids=["handled", "asked for", "in a process", "in a fixture"],
)
def test_no_way_to_load_it_is_passed_over(run, body, outcome):
    printed = run(body)
    assert outcome in printed
    assert "1 failed" in printed or "1 error" in printed


def test_a_test_that_needs_data_is_skipped_with_the_names_of_what_is_absent(run, folder):
    body = '@needs("iris", "football")\ndef test_loads():\n    raise AssertionError'
    (folder / "iris.csv").unlink()
    printed = run(body, KGROUPS_DATA=str(folder))
    assert "1 skipped" in printed
    assert "not here: iris; KGROUPS_DATA names the folder" in printed
    assert "not here: iris, football;" in run(body)


def test_a_test_that_needs_data_sees_the_folder(run, folder):
    body = '@needs("iris")\ndef test_sees():\n    assert os.environ["KGROUPS_DATA"]'
    assert "1 passed" in run(body, KGROUPS_DATA=str(folder))


def test_only_rows_of_what_does_not_ship_are_marked(run):
    body = (
        '@pytest.mark.parametrize(("name", "n"), each([("karate", 34), ("football", 115)]))\n'
        "def test_size(name, n):\n    assert datasets.load(name).graph.n == n"
    )
    printed = run(body)
    assert "1 passed, 1 skipped" in printed


def test_a_folder_that_the_test_makes_is_searched(run):
    body = (
        "def test_message(monkeypatch, tmp_path):\n"
        '    monkeypatch.setenv("KGROUPS_DATA", str(tmp_path))\n'
        '    with pytest.raises(KGroupsError, match="football.edges.csv"):\n'
        '        datasets.load("football")'
    )
    assert "1 passed" in run(body)


def test_unknown_names_are_refused():
    with pytest.raises(AssertionError, match="'footbal'"):
        needs("footbal")
