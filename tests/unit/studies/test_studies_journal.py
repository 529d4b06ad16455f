"""The journal: valid after any interruption, and of one study only."""

import json
import os
import random
import signal
import subprocess
import sys

import networkx as nx
import pytest

from kgroups.errors import FileFormatError, InputError
from kgroups.studies import merge, sweep
from kgroups.studies.plan import Task
from kgroups.studies.running import Journal, read_journal

PLAN = {
    "kgroups": "0.1.0",
    "generator": "room.draw",
    "metrics": {},
    "cells": [{"n": 3}],
    "methods": {"a": "room.a"},
    "k_given": {"a": False},
    "trials": 4,
    "entropy": 0,
}
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
    with pytest.raises(InputError, match="journal of another study: its rng is 0, here it is 1"):
        Journal(path, {**PLAN, "entropy": 1})
    assert len(read_journal(path)[1]) == 3


def test_every_value_that_differs_is_named(path):
    message = (
        r"its n is 3, here it is 3, 4; its trials is 4, here it is 5\.\n  Name another journal"
    )
    with pytest.raises(InputError, match=message):
        Journal(path, {**PLAN, "cells": [{"n": 3}, {"n": 4}], "trials": 5})


def test_who_is_given_k_and_other_methods_are_named(path):
    message = r"study: its method 'a' is room.a called without k, here it is room.a called with k"
    with pytest.raises(InputError, match=message):
        Journal(path, {**PLAN, "k_given": {"a": True}})
    message = r"its method 'b' is absent, here it is room.b.*; its method 'a' is room.a.*absent\."
    with pytest.raises(InputError, match=message):
        Journal(path, {**PLAN, "methods": {"b": "room.b"}, "k_given": {"b": True}})


def test_damaged_line(path):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"cell": 0}\n'
    path.write_bytes(b"".join(lines))
    with pytest.raises(
        FileFormatError, match=r"line 3 of the journal .* is damaged: its checksum is"
    ):
        read_journal(path)


def test_a_whole_number_is_another_parameter_than_the_same_real_number(path):
    with pytest.raises(InputError, match=r"its n is 3, here it is 3\.0"):
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


APPENDING = """
import sys
from kgroups.studies.running import Journal
from kgroups.studies.plan import Task

names = {"kgroups": "0.1.0", "generator": "m.draw", "methods": {"a": "m.a"}}
plan = {**names, "cells": [{"n": 3}], "k_given": {"a": True}, "metrics": {}}
plan |= {"trials": 10**9, "entropy": 0}
results = {"a": {"overlap": 0.5, "k_hat": 2, "seconds": 0.1, "padding": "x" * 20_000}}
with Journal(sys.argv[1], plan) as book:
    print(len(book.finished), flush=True)
    for trial in range(len(book.finished), 10**9):
        book.append(Task(0, trial), results)
        if trial % 100 == 0:
            print(trial, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL there")
def test_a_process_killed_while_it_writes_loses_no_finished_line(tmp_path):
    path, kept = tmp_path / "journal", 0
    for _ in range(2):
        writer = subprocess.Popen(
            [sys.executable, "-c", APPENDING, str(path)], stdout=subprocess.PIPE, text=True
        )
        with writer, writer.stdout as told:
            assert int(told.readline()) == kept
            told.readline()
            finished = int(told.readline())
            os.kill(writer.pid, signal.SIGKILL)
        _, found = read_journal(path)
        kept = len(found)
        assert set(found) == {Task(0, trial) for trial in range(kept)}
        assert kept > finished


def test_a_full_disk_is_a_clear_error_and_keeps_what_was_written(path):
    """The limit on the size of a file stands for the disk: half of the line fits."""
    resource = pytest.importorskip("resource")
    whole = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with Journal(path, PLAN) as book:
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 20, limits[1]))
            for _ in range(2):
                with pytest.raises(OSError, match="3 trials before are kept") as caught:
                    book.append(Task(0, 3), RESULTS)
                assert caught.value.filename == str(path)
                assert Task(0, 3) not in book.finished
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == whole
    with Journal(path, PLAN) as book:
        book.append(Task(0, 3), RESULTS)
    assert len(read_journal(path)[1]) == 4


def test_a_disk_that_is_full_from_the_start_is_a_clear_error(tmp_path):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(OSError, match=r"could not be written: .* The 0 trials before are kept"):
            Journal(tmp_path / "new", PLAN)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with Journal(tmp_path / "new", PLAN) as book:
        assert book.finished == {}


def overlap_of_chance(graph, k, rng):
    return rng.integers(k, size=graph.number_of_nodes())


def ring(cliques, rng):
    graph = nx.ring_of_cliques(cliques, 5)
    return graph, [node // 5 for node in graph]


def study_of(path):
    """Run or resume a small study."""
    methods = {"chance": overlap_of_chance}
    return sweep(ring, {"cliques": [3, 4]}, methods, trials=4, journal=path, progress=False)


def without_seconds(study):
    return [{**row, "seconds": 0} for row in study.rows]


def damages(content, count=150):
    """Yield copies with one byte changed to any other: digits, keys, quotes, ends of lines."""
    draw = random.Random(0)
    for _ in range(count):
        damaged = bytearray(content)
        place = draw.randrange(len(content))
        others = [b for b in b'0123456789abc"{}[]:,. \n\r\x00\xff' if b != content[place]]
        damaged[place] = draw.choice(others)
        yield bytes(damaged)


def test_a_damaged_journal_is_refused_or_gives_the_same_rows(tmp_path):
    path = tmp_path / "journal"
    expected, content = study_of(path), path.read_bytes()
    refused = 0
    for damaged in damages(content):
        path.write_bytes(damaged)
        for use in (lambda: merge([path]), lambda: study_of(path)):
            try:
                rows = without_seconds(use())
            except FileFormatError:
                refused += 1
            except InputError as error:
                # What follows the last end of a line was not finished.
                assert "1 are missing" in str(error)  # noqa: PT017
                assert not damaged.endswith(b"\n")
            else:
                assert rows == without_seconds(expected)
    assert refused > 290


def test_numbers_that_were_changed_are_refused(path):
    """Digits are as likely as any to be damaged, and no parser notices."""
    content = path.read_bytes()
    for place, byte in enumerate(content):
        if byte in b"0123456789":
            other = b"1" if byte == ord("0") else b"0"
            path.write_bytes(content[:place] + other + content[place + 1 :])
            with pytest.raises(FileFormatError, match=r"damaged: its checksum is wrong|version"):
                read_journal(path)


def test_a_journal_without_checksums_is_refused(path):
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        del line["crc32"]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with pytest.raises(FileFormatError, match=r"line 1 .* holds the plan .* its checksum is wrong"):
        read_journal(path)
    path.write_text(path.read_text().replace('"version": 4', '"version": 3', 1))
    with pytest.raises(FileFormatError, match='"version": 4; other versions of kgroups write ot'):
        Journal(path, PLAN)


@pytest.mark.parametrize("entry", PLAN)
def test_a_plan_that_is_not_of_a_sweep_is_refused(tmp_path, entry):
    path = tmp_path / "journal"
    with Journal(path, {name: value for name, value in PLAN.items() if name != entry}):
        pass
    with pytest.raises(FileFormatError, match=f"the plan of the study, is damaged: '{entry}'"):
        merge([path])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes there")
def test_a_pipe_is_no_journal(tmp_path):
    path = tmp_path / "journal"
    os.mkfifo(path)
    with pytest.raises(FileFormatError, match="must be a regular file, got a pipe"):
        Journal(path, PLAN)
