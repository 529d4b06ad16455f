"""Detection on a Dask cluster: the labels of one process, whatever is killed, and no files left."""

import asyncio
import errno
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
from hashlib import blake2b
from types import SimpleNamespace

import numpy as np
import pytest

import kgroups as kg
from kgroups.blocks import Dask, OutOfCore, cluster, detect_stored, detection
from kgroups.blocks.tasks import Work, group_links
from kgroups.blocks.weighing import Weighing
from kgroups.errors import ClusterError, InputError, MissingExtraError, StoreError
from kgroups.generators import lfr_benchmark, planted_partition

pytestmark = pytest.mark.compiled

EDGES = {
    "planted": lambda: planted_partition(20_000, 10, 10.0, 2.5, rng=1).graph,
    "lfr": lambda: lfr_benchmark(20_000, degree=10.0, mixing=0.3, rng=1).graph,
    "large": lambda: planted_partition(1_000_000, 20, 20.0, 3.0, rng=1).graph,
}
# Entries of a block.
EIGHT, MANY = 1_000_000, 9_000
either_size = pytest.mark.parametrize(
    "name", ["planted", pytest.param("large", marks=pytest.mark.slow)]
)
linux = pytest.mark.skipif(sys.platform != "linux", reason="kills processes, and reads /proc")


@pytest.fixture(autouse=True)
def in_blocks(monkeypatch):
    """Let no graph be searched in memory."""
    monkeypatch.setattr(detection, "BYTES_PER_EDGE", 10**6)


@pytest.fixture(scope="module")
def edges(tmp_path_factory):
    """Write the edges of a graph to a file, once."""
    folder = tmp_path_factory.mktemp("edges")

    def written(name):
        path = folder / f"{name}.npz"
        if not path.exists():
            graph = EDGES[name]()
            rows = np.repeat(np.arange(graph.n), np.diff(graph.csr.indptr))
            once = rows < graph.csr.indices
            ends = {"source": rows[once], "target": graph.csr.indices[once]}
            if name == "lfr":
                ends["weight"] = 1.0 + np.arange(once.sum()) % 7
            np.savez(path, **ends)
        return path

    return written


@pytest.fixture
def opened(edges, tmp_path):
    """Make a store."""

    def make(name="planted", entries=EIGHT):
        return kg.open_graph(edges(name), store=tmp_path / name, block_entries=entries)

    return make


@pytest.fixture(scope="module")
def alone(edges, tmp_path_factory):
    """The checksum of the labels that this process finds."""
    known = {}

    def found(name="planted"):
        if name not in known:
            store = kg.open_graph(edges(name), store=tmp_path_factory.mktemp("alone") / name)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(detection, "BYTES_PER_EDGE", 10**6)
                known[name] = checksum(detect_stored(store))
        return known[name]

    return found


@pytest.fixture(scope="module")
def local():
    """Make clusters in this process."""
    distributed = pytest.importorskip("distributed")
    running = {}

    def with_workers(count, threads=1):
        if (count, threads) not in running:
            running[count, threads] = distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=threads,
                processes=False,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ).get_client()
        return running[count, threads]

    yield with_workers
    for client in running.values():
        client.close()
        client.cluster.close()


@pytest.fixture(scope="module")
def processes():
    """A client of two worker processes."""
    distributed = pytest.importorskip("distributed")
    options = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as running,
        running.get_client() as client,
    ):
        yield client


def checksum(partition):
    return partition.k, blake2b(partition.labels.tobytes()).hexdigest()


def left(store):
    """The files of runs that have not ended."""
    return sorted(path.name for path in store.path.glob("runs/**/*"))


class Disturbed(Dask):
    """Calls a function each time that tasks have been submitted, with how often that has been."""

    def __init__(self, client, disturb):
        super().__init__(client)
        self.disturb, self.times = disturb, 0

    def _submit(self, job, items):
        futures = super()._submit(job, items)
        self.times += 1
        self.disturb(self.times)
        return futures


# A submission in the fourth sweep, after the components and three sweeps of eight colors.
MIDWAY, FINISHED = 28, 25


@pytest.mark.parametrize(
    ("name", "entries", "blocks", "workers", "threads"),
    [
        ("planted", MANY, 24, 1, 1),
        ("lfr", EIGHT, 8, 4, 2),
        ("lfr", MANY, 24, 2, 1),
    ],
)
def test_labels_are_those_of_one_process(
    opened, alone, local, name, entries, blocks, workers, threads
):
    store = opened(name, entries)
    assert len(store.blocks) == blocks
    partition = detect_stored(store, engine=Dask(local(workers, threads)))
    assert checksum(partition) == alone(name)
    assert left(store) == []


def test_an_engine_is_used_again_for_another_graph(opened, alone, local):
    engine = Dask(local(2))
    for name in ("planted", "lfr"):
        assert checksum(detect_stored(opened(name), engine=engine)) == alone(name)
    assert len(cluster._replicas) == 1


def test_stages_are_announced_and_reading_is_counted_as_in_one_process(opened, local):
    stages, visits, read = [], [], []
    for engine in (OutOfCore(), Dask(local(2))):
        stages.append({})
        store = opened()

        def announce(stage):
            stages[-1][stage.partition(",")[0]] = True

        found = detect_stored(store, engine=engine, progress=announce)
        visits.append(found.report.visits)
        read.append(store.bytes_read)
    assert list(stages[0]) == list(stages[1])
    assert visits[0] == visits[1] > store.entries
    assert read[0] == read[1]


@linux
def test_arrays_are_at_places_in_memory_that_kernels_take(opened, processes, tmp_path):
    """Dask unpickles arrays anywhere in a message, and interpreted kernels refuse them there."""
    store = opened()
    engine = Dask(processes)
    work = Work(store, Weighing(1.0), np.arange(store.n, dtype=np.int32) % 2_000)
    engine.begin(tmp_path)
    engine.start(work)
    for k in (2, 2_000):
        engine.relabel(np.arange(store.n, dtype=np.int32) % np.int32(k))
        for part in engine.map(group_links, range(8), k):
            assert all(array.flags.aligned and array.flags.writeable for array in part)
    engine.end()
    assert not list(tmp_path.glob("dask-*"))


@linux
@either_size
def test_killed_workers_cost_time_only(opened, alone, processes, monkeypatch, name):
    scheduler, submitted, killed = processes.cluster.scheduler, [], []
    submit = Dask._submit

    def recorded(self, job, items):
        submitted.append(pickle.loads(job.content)[0].__name__)
        return submit(self, job, items)

    def kill(times):
        if times in (13, 50):
            running = sorted(set(processes.run(os.getpid).values()))
            killed.append((submitted[-1], running[:1] if times == 13 else running))
            # The second time the scheduler gives up what a killed worker was doing.
            scheduler.allowed_failures = 3 if times == 13 else 0
            for process in killed[-1][1]:
                os.kill(process, signal.SIGKILL)

    monkeypatch.setattr(Dask, "_submit", recorded)
    store = opened(name, MANY if name == "planted" else EIGHT)
    assert checksum(detect_stored(store, engine=Disturbed(processes, kill))) == alone(name)
    assert [len(some) for _, some in killed] == [1, 2]
    assert killed[0][0] == killed[-1][0] == "choose"
    assert left(store) == []


def test_workers_may_leave_and_others_come_later(opened, alone):
    distributed = pytest.importorskip("distributed")
    options = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        distributed.LocalCluster(n_workers=2, processes=False, **options) as running,
        running.get_client() as client,
    ):

        def leave(times):
            if times == MIDWAY:
                running.scale(0)
                threading.Timer(0.5, running.scale, (2,)).start()

        assert checksum(detect_stored(opened(), engine=Disturbed(client, leave))) == alone()


def test_a_task_that_kills_each_worker_is_an_error(opened, local, monkeypatch):
    from distributed import KilledWorker

    def always(self):
        raise KilledWorker("block", SimpleNamespace(address="tcp://node1"), 3)

    monkeypatch.setattr("distributed.Future.result", always)
    store = opened()
    with pytest.raises(ClusterError, match=r"must have memory for a block(?s:.)*of block 0"):
        detect_stored(store, engine=Dask(local(1)))


KILLED = """
import os, signal, sys
import kgroups as kg
from kgroups.blocks import Dask, detect_stored, detection

detection.BYTES_PER_EDGE = 10**6

class Killed(Dask):
    times = 0

    def _submit(self, job, items):
        futures = super()._submit(job, items)
        self.times += 1
        if self.times == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
        return futures

detect_stored(kg.open_graph(store=sys.argv[1]), engine=Killed(sys.argv[2]))
"""


@linux
@either_size
def test_a_killed_client_goes_on_after_the_last_finished_step(opened, alone, processes, name):
    store, folders = opened(name), []

    def look(_):
        folders.append([name for name in left(store) if name.startswith("dask-")])

    address = processes.cluster.scheduler_address
    command = [sys.executable, "-c", KILLED, str(store.path), address, str(MIDWAY)]
    done = subprocess.run(command, check=False, timeout=100)
    assert done.returncode == -signal.SIGKILL
    look(0)
    assert checksum(detect_stored(store, engine=Disturbed(processes, look))) == alone(name)
    assert [len(some) for some in folders] == [1] * len(folders)
    # The files of the dead run were removed at once.
    assert folders[0] != folders[1] == folders[-1]
    assert left(store) == []
    resumed = len(folders) - 1
    folders.clear()
    detect_stored(store, engine=Disturbed(processes, look))
    assert resumed == len(folders) - FINISHED


@linux
def test_ctrl_c_cancels_tasks_and_leaves_only_the_journal(opened, alone, local, monkeypatch):
    client, store = local(2), opened()
    labels = cluster._Replica.labels

    def slow(self, log):
        time.sleep(0.2)
        return labels(self, log)

    def interrupt(times):
        if times == MIDWAY:
            patch.setattr(cluster._Replica, "labels", slow)
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    # The traceback, which is kept, refers to the tasks.
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as caught:
        detect_stored(store, engine=Disturbed(client, interrupt))
    client.sync(wait_until, lambda: not client.cluster.scheduler.tasks)
    assert [one.name for one in caught.traceback].count("_result") == 1
    kept = left(store)
    assert "journal.json" in kept
    assert not [name for name in kept if re.match(r"dask-|.*half|\d", name)]
    assert checksum(detect_stored(store, engine=Dask(client))) == alone()
    assert left(store) == []


async def wait_until(true):
    end = time.monotonic() + 20.0
    while not true():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def is_of_dask(error):
    """Return whether the traceback of an error goes on in a worker."""
    return "_run" in {frame.name for frame in traceback.extract_tb(error.__traceback__)}


def full_disk(when):
    """Return a function that writes a file until the disk of some threads is full."""
    written, count = cluster._written, [0]

    def write(path, parts):
        in_worker = threading.current_thread() is not threading.main_thread()
        count[0] += in_worker
        if in_worker and when(count[0]):
            path.with_name(f"{path.name}.half").touch()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return written(path, parts)

    return write


def test_a_full_disk_is_explained_and_nothing_is_lost(opened, alone, local, monkeypatch):
    store = opened()
    with monkeypatch.context() as patch:
        patch.setattr(cluster, "_written", full_disk(lambda count: count > 20))
        with pytest.raises(StoreError, match="must have room on the disk") as caught:
            detect_stored(store, engine=Dask(local(2)))
    cause = caught.value.__cause__
    assert cause.errno == errno.ENOSPC
    assert not is_of_dask(cause)
    assert not [name for name in left(store) if re.match(r"dask-|.*half|\d", name)]
    assert checksum(detect_stored(store, engine=Dask(local(2)))) == alone()
    assert left(store) == []


def test_a_disk_that_is_full_for_a_moment_costs_time_only(opened, alone, local, monkeypatch):
    monkeypatch.setattr(cluster, "_written", full_disk(lambda count: count in (5, 20)))
    store = opened()
    assert checksum(detect_stored(store, engine=Dask(local(2)))) == alone()
    assert left(store) == []


def test_a_damaged_block_is_the_error_of_the_store(opened, local):
    store = opened()
    file = next(store.path.rglob("*indices*"))
    content = bytearray(file.read_bytes())
    content[-7] ^= 1
    file.write_bytes(content)
    with pytest.raises(StoreError, match="has changed") as caught:
        detect_stored(store, engine=Dask(local(2)))
    assert not is_of_dask(caught.value)


@linux
def test_a_folder_that_workers_do_not_see_is_an_error(opened, processes, monkeypatch, tmp_path):
    opened()
    monkeypatch.chdir(tmp_path)
    # Another folder for each process.
    store = kg.open_graph(store="/proc/self/cwd/planted")
    with pytest.raises(StoreError, match=r"all workers must see the folder .* tcp://.* not see"):
        detect_stored(store, engine=Dask(processes))
    assert not [name for name in left(store) if name.startswith("dask-")]


def test_a_lost_scheduler_is_an_error_and_finished_steps_are_kept(opened, alone, local):
    distributed = pytest.importorskip("distributed")
    options = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    store = opened()
    with distributed.LocalCluster(n_workers=1, processes=False, **options) as running:
        client = distributed.Client(running, timeout=1)

        def close(times):
            if times == MIDWAY:
                running.close()

        with pytest.raises(ClusterError, match="connection to it was lost"):
            detect_stored(store, engine=Disturbed(client, close))
        client.close(timeout=0)
    assert "journal.json" in left(store)
    assert checksum(detect_stored(store, engine=Dask(local(2)))) == alone()


def test_an_engine_needs_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r'needs distributed.*".\[dask\]"'):
        Dask("tcp://localhost:8786")


def test_an_engine_needs_a_client():
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match=r"must be given a distributed.Client .* got 4"):
        Dask(4)


def test_kgroups_exports_the_engine():
    assert kg.Dask is Dask
