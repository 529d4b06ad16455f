"""Networks and tables that do not ship: a test that loads one says so, others cannot see any.

In a test without such a mark the folders of data are hidden, whether or not this machine has them,
and the attempt to load what does not ship fails the test, even if the test handles the error.
"""

import os
from functools import partial
from unittest import mock

import pytest

from kgroups import datasets
from kgroups import datasets as catalog

ENTRIES = {entry.name: entry for entry in (*datasets.describe(), *datasets.describe_tables())}
# Nothing can be inside of this, nor be put there by a program that looks for its own folder.
NOWHERE = dict.fromkeys(("XDG_DATA_HOME", "LOCALAPPDATA"), os.devnull)
ABSENT = pytest.StashKey[str]()


def needs(*names):
    """Return the mark of a test that loads these; where one is absent the test is skipped."""
    unknown = set(names) - ENTRIES.keys()
    assert not unknown, f"no network or table is called {unknown}"
    return pytest.mark.data(*names)


def each(rows):
    """Return the rows of a parametrized test, marked where the name in front does not ship."""
    values = [row if isinstance(row, tuple) else (row,) for row in rows]
    return [
        pytest.param(*row, marks=() if ENTRIES[row[0]].bundled else needs(row[0])) for row in values
    ]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Hide the folders of data from a test that does not say that it needs them."""
    if item.get_closest_marker("data") is not None:
        return (yield)
    hooks = {
        "_absent_message": partial(_refuse, catalog._absent_message, item.nodeid),
        "_find": partial(_note_absent, catalog._find, item.stash),
    }
    with mock.patch.dict(os.environ, NOWHERE), mock.patch.multiple(catalog, **hooks):
        os.environ.pop("KGROUPS_DATA", None)
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fail a test that skips after it has looked for what is hidden from it."""
    try:
        return (yield)
    except pytest.skip.Exception:
        absent = item.stash.get(ABSENT, None)
        if absent is None:
            raise
    pytest.fail(
        f"{item.nodeid} would never run: it skips where {absent!r} is absent, but the folder of "
        f"data is hidden from it.\n  Mark the test: @needs({absent!r})."
    )


def pytest_runtest_setup(item):
    """Skip a test that needs what is not on this machine."""
    named = dict.fromkeys(name for mark in item.iter_markers("data") for name in mark.args)
    absent = [name for name in named if not ENTRIES[name].present]
    if absent:
        pytest.skip(f"not here: {', '.join(absent)}; KGROUPS_DATA names the folder of their files")


def _refuse(message, test, entry, data_file):
    """Fail a test that loads what does not ship."""
    if _is_hidden(entry):
        pytest.fail(
            f"{test} loads the {entry.kind} {entry.name!r}, which does not ship with kgroups.\n"
            f"  Take one that ships, draw a graph, or mark the test: @needs({entry.name!r})."
        )
    return message(entry, data_file)


def _note_absent(find, stash, entry, data_file):
    """Find a file, and remember the last one that a test did not see."""
    if _is_hidden(entry):
        stash[ABSENT] = entry.name
    return find(entry, data_file)


def _is_hidden(entry):
    """Whether a test cannot see these files, as it has not made a folder of its own."""
    named = "KGROUPS_DATA" in os.environ or os.environ.get("XDG_DATA_HOME") != os.devnull
    return not (entry.bundled or named)
