"""The benchmark of the posterior prints a line for each measurement."""

import sys

import pytest

from benchmarks import posterior

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize(
    ("words", "start", "lines"),
    [
        (["--nodes", "2000", "--rounds", "2"], "n=2000 m=", 2),
        (["--nodes", "1000", "--gibbs"], "LFR n=1000 d=20 mixing", 2),
    ],
)
def test_a_line_for_each_measurement(monkeypatch, capsys, words, start, lines):
    monkeypatch.setattr(sys, "argv", ["posterior", *words])
    posterior.main()
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == lines
    assert all(line.startswith(start) for line in printed)
