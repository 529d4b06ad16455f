"""Making a store can be interrupted anywhere, and goes on; no other files are left."""

import errno
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kgroups as kg
from helpers.stores import (
    assert_same,
    checksums,
    opened,
    random_edges,
    small_sizes,
    write_parquet,
)
from kgroups.blocks import folder, ingest, sources
from kgroups.errors import InputError, StoreError, WeightError


class InterruptionError(Exception):
    """Raised in the middle of the work."""


@pytest.fixture(autouse=True)
def in_pieces(monkeypatch):
    small_sizes(monkeypatch, piece=100)


@pytest.fixture(params=["numbers", "text"])
def edges(request, tmp_path):
    u, v, w = random_edges()
    if request.param == "text":
        u, v = (list(map("n{}".format, end)) for end in (u, v))
    return write_parquet(tmp_path / "e.parquet", u, v, w)


def left(tmp_path):
    return sorted(entry.name for entry in tmp_path.iterdir())


class Counted:
    """Stands for a function, counts its calls, and raises at one of them, before or after it."""

    def __init__(self, function, *, calls=0, error=None, before=True):
        self.function, self.calls, self.error, self.before = function, calls, error, before
        self.count = 0

    def __get__(self, owner, kind):
        return partial(self, owner)

    def __call__(self, *arguments, **options):
        self.count += 1
        if self.before and self.count == self.calls:
            raise self.error
        result = self.function(*arguments, **options)
        if not self.before and self.count == self.calls:
            raise self.error
        return result


@contextmanager
def counted(owner, name, **how):
    """Count the calls of a function, and perhaps let one of them fail."""
    with pytest.MonkeyPatch.context() as patch:
        called = Counted(getattr(owner, name), **how)
        patch.setattr(owner, name, called)
        yield called


def interrupted(owner, name, edges, store, **how):
    """Make a store, and return whether that was interrupted."""
    with counted(owner, name, **how) as called:
        try:
            opened(edges, store, block_entries=200)
        except (InterruptionError, KeyboardInterrupt):
            assert not store.exists()
            return True
        assert called.count < how["calls"]
        return False


@pytest.mark.parametrize("before", [False, True])
def test_an_interruption_after_any_step_is_resumed(tmp_path, edges, before):
    whole = opened(edges, tmp_path / "whole", block_entries=200)
    with counted(folder.Journal, "add") as steps:
        opened(edges, tmp_path / "counted", block_entries=200)
    assert steps.count > 20
    for step in range(1, steps.count + 1):
        store = tmp_path / f"store{step}"
        how = {"calls": step, "error": InterruptionError(), "before": before}
        assert interrupted(folder.Journal, "add", edges, store, **how)
        with counted(folder.Journal, "add") as left_to_do:
            assert checksums(opened(edges, store, block_entries=200)) == checksums(whole)
        assert left_to_do.count == steps.count - step + before
        assert not (tmp_path / f"store{step}.partial").exists()
    assert not interrupted(folder.Journal, "add", edges, tmp_path / "more", calls=step + 1)
    assert len(left(tmp_path)) == 4 + steps.count


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_full_disk_is_explained_and_resumed(tmp_path, edges, share):
    whole = opened(edges, tmp_path / "whole", block_entries=200)
    with counted(folder.Output, "write") as writes:
        opened(edges, tmp_path / "counted", block_entries=200)
    error, store = OSError(errno.ENOSPC, "No space left on device"), tmp_path / "store"
    calls = 1 + int(share * writes.count)
    match = r"bytes are free in .*\n  Make room and call open_graph again: it goes on where"
    with (
        counted(folder.Output, "write", calls=calls, error=error),
        pytest.raises(StoreError, match=match),
    ):
        opened(edges, store, block_entries=200)
    assert left(tmp_path) == ["counted", "e.parquet", "store.partial", "whole"]
    assert not list((tmp_path / "store.partial").rglob("*.tmp"))
    assert checksums(opened(edges, store, block_entries=200)) == checksums(whole)
    assert left(tmp_path) == ["counted", "e.parquet", "store", "whole"]


def test_other_errors_of_the_system_are_not_renamed(tmp_path, edges):
    error = OSError(errno.EIO, "Input/output error")
    with (
        counted(folder.Output, "write", calls=9, error=error),
        pytest.raises(OSError, match="Input/output error"),
    ):
        opened(edges, tmp_path / "store")


@pytest.mark.parametrize("stage", ["open_sources", "merge_entries", "deal_edges"])
def test_an_interrupt_by_the_keyboard_is_resumed(tmp_path, edges, stage):
    store = tmp_path / "store"
    how = {"calls": 1, "error": KeyboardInterrupt(), "before": True}
    assert interrupted(ingest, stage, edges, store, **how)
    assert_same(opened(edges, store, block_entries=200), kg.as_graph(edges))


KILLED = """
import os, signal, sys
sys.path[:0] = [{tests!r}]
import pytest
from helpers.stores import small_sizes
from kgroups.blocks import folder
import kgroups as kg
small_sizes(pytest.MonkeyPatch(), piece=100)
add, count = folder.Journal.add, [0]
def counted(self, **record):
    count[0] += 1
    if count[0] == {calls}:
        os.kill(os.getpid(), signal.SIGKILL)
    add(self, **record)
folder.Journal.add = counted
kg.open_graph({edges!r}, store={store!r}, block_entries=200)
"""


@pytest.mark.parametrize("calls", [3, 9, 15])
def test_a_process_that_was_killed_is_resumed(tmp_path, calls):
    u, v, w = random_edges()
    edges = write_parquet(tmp_path / "e.parquet", u, v, w)
    program = KILLED.format(
        tests=str(Path(__file__).parents[2]),
        calls=calls,
        edges=str(edges),
        store=str(tmp_path / "store"),
    )
    ran = subprocess.run([sys.executable, "-c", program], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert left(tmp_path) == ["e.parquet", "store.lock", "store.partial"]
    assert_same(opened(edges, tmp_path / "store", block_entries=200), kg.as_graph(edges))
    assert left(tmp_path) == ["e.parquet", "store"]


def test_files_that_changed_after_an_interruption_are_written_again(tmp_path, edges):
    whole, store = opened(edges, tmp_path / "whole", block_entries=200), tmp_path / "store"
    partial = tmp_path / "store.partial"
    rng = np.random.default_rng(0)
    for _ in range(8):
        how = {"calls": int(rng.integers(4, 22)), "error": InterruptionError(), "before": False}
        assert interrupted(folder.Journal, "add", edges, store, **how)
        files = sorted(entry for entry in partial.rglob("*") if entry.is_file())
        files = [entry for entry in files if entry.stat().st_size]
        damaged = files[rng.integers(len(files))]
        content = bytearray(damaged.read_bytes())
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        damaged.write_bytes(content)
        assert checksums(opened(edges, store, block_entries=200)) == checksums(whole)
        for entry in sorted(store.rglob("*"), reverse=True):
            entry.unlink() if entry.is_file() else entry.rmdir()
        store.rmdir()


def test_an_interrupted_store_of_other_edges_begins_anew(tmp_path):
    u, v, w = random_edges()
    edges, store = write_parquet(tmp_path / "e.parquet", u, v, w), tmp_path / "store"
    how = {"calls": 6, "error": InterruptionError(), "before": True}
    assert interrupted(folder.Journal, "add", edges, store, **how)
    write_parquet(edges, u[:200], v[:200], w[:200])
    assert_same(opened(edges, store), kg.as_graph(edges))


def test_edges_that_change_while_they_are_read_are_noticed(tmp_path, monkeypatch):
    u, v, w = random_edges()
    edges = write_parquet(tmp_path / "e.parquet", u, v, w)
    read = sources._Parquet.batches

    def batches(self, *arguments, **options):
        yield from read(self, *arguments, **options)
        edges.touch()

    monkeypatch.setattr(sources._Parquet, "batches", batches)
    with pytest.raises(InputError, match="must not change while they are read"):
        opened(edges, tmp_path / "store")


def test_a_finished_store_is_opened_without_its_sources(tmp_path, monkeypatch, edges):
    first = opened(edges, tmp_path / "store")
    monkeypatch.setattr(ingest, "open_sources", None)
    assert checksums(opened(edges, tmp_path / "store")) == checksums(first)
    assert opened(edges, tmp_path / "store", memory="1 GiB").memory == 2**30
    edges.unlink()
    assert checksums(kg.open_graph(store=tmp_path / "store")) == checksums(first)


def test_a_store_of_other_edges_or_options_is_refused(tmp_path, edges):
    store = tmp_path / "store"
    opened(edges, store)
    other = write_parquet(tmp_path / "f.parquet", [1], [2])
    for match, given, options in (
        ('made with weight="weight", not None', edges, {"weight": None}),
        ("made with block_entries=None, not 100", edges, {"block_entries": 100}),
        (r"made without '.*f\.parquet'", [edges, other], {}),
        (r"made without '.*f\.parquet'", other, {}),
    ):
        with pytest.raises(StoreError, match=match):
            opened(given, store, **options)
    edges.touch()
    with pytest.raises(StoreError, match=r"e\.parquet' has changed since\.\n  Choose another"):
        opened(edges, store)


def test_a_store_of_fewer_files_is_refused(tmp_path):
    files = [write_parquet(tmp_path / f"{x}.parquet", [1], [2]) for x in "ab"]
    opened(files, tmp_path / "store")
    with pytest.raises(StoreError, match=r"made of '.*b\.parquet', too"):
        opened(files[0], tmp_path / "store")


def test_one_process_at_a_time_writes_a_store(tmp_path, edges):
    with (
        folder.locked(tmp_path / "store"),
        pytest.raises(StoreError, match="only one process may write the store"),
    ):
        opened(edges, tmp_path / "store")
    assert opened(edges, tmp_path / "store").n == 60
    assert left(tmp_path) == ["e.parquet", "store"]


def test_an_empty_folder_becomes_a_store_and_others_are_kept(tmp_path, edges):
    (tmp_path / "empty").mkdir()
    assert opened(edges, tmp_path / "empty").n == 60
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    (tmp_path / "store.partial").mkdir()
    (tmp_path / "store.partial" / "letter.txt").write_text("dear")
    for store, match in (
        ("full", "a store must be a new folder, got a folder with other files"),
        ("e.parquet", "a store must be a new folder, got a file"),
        ("store", r"is written as '.*store\.partial' first, but there are other files"),
        ("no/store", "there is no folder"),
    ):
        with pytest.raises(StoreError, match=match):
            opened(edges, tmp_path / store)
    assert (tmp_path / "full" / "letter.txt").exists()
    assert (tmp_path / "store.partial" / "letter.txt").exists()


def test_edges_that_are_refused_leave_nothing(tmp_path):
    u, v, w = random_edges()
    w[-1] = -1
    edges = write_parquet(tmp_path / "e.parquet", u, v, w)
    with pytest.raises(WeightError):
        opened(edges, tmp_path / "store")
    assert left(tmp_path) == ["e.parquet"]
    with pytest.raises(StoreError, match="a store must be a folder with a file"):
        kg.open_graph(store=tmp_path / "store")
