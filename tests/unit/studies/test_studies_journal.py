"""The journal: valid after any interruption, and of one study only."""

import json

import pytest

from kgroups.errors import FileFormatError, InputError
from kgroups.studies.journal import Journal, read_journal
from kgroups.studies.plan import Task

PLAN = {"cells": [{"n": 3}], "methods": {"a": "room.a"}, "trials": 4, "entropy": 0}
RESULTS = {"a": {"overlap": 0.5, "k_hat": 2, "seconds": 0.1}}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "journal"
    with Journal(path, PLAN) as book:
        for trial in range(3):
            book.append(Task(0, trial), RESULTS)
    return path


def test_what_was_written_is_read(path):
    plan, finished = read_journal(path)
    assert plan == PLAN
    assert finished == {Task(0, trial): RESULTS for trial in range(3)}


@pytest.mark.parametrize("left", [1, 2, 10, 40])
def test_half_a_last_line_is_cut_off(path, left):
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    path.write_bytes(whole[: -len(last)] + last[: min(left, len(last) - 1)])
    with Journal(path, PLAN) as book:
        assert set(book.finished) == {Task(0, 0), Task(0, 1)}
        book.append(Task(0, 2), RESULTS)
    assert path.read_bytes() == whole


def test_half_a_first_line_starts_anew(path):
    path.write_bytes(path.read_bytes()[:17])
    with Journal(path, PLAN) as book:
        assert book.finished == {}
    assert read_journal(path) == (PLAN, {})


def test_every_prefix_of_a_journal_can_be_resumed(path):
    whole = path.read_bytes()
    header = len(whole.splitlines(keepends=True)[0])
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        with Journal(path, PLAN) as book:
            assert len(book.finished) == whole[header:length].count(b"\n")


def test_journal_of_another_study(path):
    with pytest.raises(InputError, match="journal of another study: its entropy is 0, here it is"):
        Journal(path, {**PLAN, "entropy": 1})
    assert len(read_journal(path)[1]) == 3


def test_long_values_are_shortened(path):
    cells = [{"n": n} for n in range(100)]
    with pytest.raises(InputError, match=r'its cells is \[\{"n": 3\}\], here it is .*\.\.\.\.'):
        Journal(path, {**PLAN, "cells": cells})


def test_damaged_line(path):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"cell": 0}\n'
    path.write_bytes(b"".join(lines))
    with pytest.raises(FileFormatError, match=r"line 3 of the journal .* is damaged: 'trial'"):
        read_journal(path)


def test_a_whole_number_is_another_parameter_than_the_same_real_number(path):
    with pytest.raises(InputError, match=r'its cells is \[\{"n": 3\}\], here it is \[\{"n": 3.0'):
        Journal(path, {**PLAN, "cells": [{"n": 3.0}]})


def test_half_a_line_of_another_study_is_left(path):
    path.write_bytes(path.read_bytes() + b'{"cell": 0, "tri')
    before = path.read_bytes()
    with pytest.raises(InputError, match="journal of another study"):
        Journal(path, {**PLAN, "entropy": 1})
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        "[]\n",
        "n,k\n1,2\n",
        json.dumps({"format": "x"}) + "\n",
        "a note without an end of line",
        "n,k\n1,2\n3,4",
    ],
)
def test_other_files_are_not_touched(tmp_path, content):
    path = tmp_path / "other"
    path.write_text(content)
    with pytest.raises(FileFormatError, match="is not a journal of a study"):
        Journal(path, PLAN)
    assert path.read_text() == content


def test_journal_in_use(path):
    pytest.importorskip("fcntl")
    with (
        Journal(path, PLAN),
        pytest.raises(InputError, match="is being written by another process"),
    ):
        Journal(path, PLAN)
