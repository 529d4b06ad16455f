"""A pytest plugin for networkx's own test suite: counts the calls that kgroups serves.

Use it with ``-p helpers.backend_calls``. After the run it prints how often each function was called
and how often it declined, and the run fails if a function that the suite reaches was never called.
``KGROUPS_MAY_STAY_UNCALLED`` names the functions, with commas, that need not be called.
"""

import os
from collections import Counter
from functools import wraps

import pytest

from kgroups.backends.networkx import backend_interface
from kgroups.backends.networkx.interface import SERVED

calls: Counter[str] = Counter()
declined: Counter[str] = Counter()


def counted(name, function):
    """Return the function with its calls counted, and those that it gave back to networkx."""

    @wraps(function)
    def call(*args, **kwargs):
        calls[name] += 1
        try:
            return function(*args, **kwargs)
        except NotImplementedError:
            declined[name] += 1
            raise

    return call


def pytest_configure(config):
    for name, served in SERVED.items():
        setattr(backend_interface, name, counted(name, served.function))


def missing():
    """Return the functions that were never called and are not excused."""
    excused = set(filter(None, os.environ.get("KGROUPS_MAY_STAY_UNCALLED", "").split(",")))
    return [name for name in SERVED if not calls[name] and name not in excused]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    if missing() and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    write = terminalreporter.write_line
    terminalreporter.section("calls served by the kgroups backend")
    for name in SERVED:
        write(f"{name:<34}{calls[name]:>9} calls{declined[name]:>7} declined")
    if missing():
        write(f"never called: {', '.join(missing())}", red=True)
