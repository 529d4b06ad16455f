"""Tasks on the workers of a Dask cluster, which see the folder of the store.

Arrays go through files in that folder, and only names of files and small values through the
scheduler. The labels are a log: all labels, then the changes of each color. Workers keep the labels
that they have replayed. A task depends on its arguments and on files that do not change while it
can be needed, so it can be repeated anywhere.
"""

import contextlib
import itertools
import pickle
import shutil
import threading
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np

from kgroups._parallel import Threads
from kgroups._types import Indices, Ints
from kgroups._wording import install_hint
from kgroups.blocks.store import StoredGraph
from kgroups.blocks.tasks import Task, Work
from kgroups.errors import ClusterError, InputError, MissingExtraError, StoreError

if TYPE_CHECKING:
    from distributed import Client

# What has more bytes goes through files.
_SMALL = 1 << 14
# Parts of a file begin at multiples of this.
_ALIGNED = 64
# How often a task is repeated after an error, and after the scheduler has given it up because four
# workers died with it.
_RETRIES, _RESUBMISSIONS = 2, 5


class Dask:
    """Tasks on the workers of a Dask cluster; the labels are those that one process would find.

    Parameters
    ----------
    client : distributed.Client or str
        A client of the cluster, or the address of its scheduler, such as ``"tcp://node1:8786"``.

    Notes
    -----
    All workers need kgroups and must see the folder of the store under the same path. A worker
    runs a task for each of its threads at the same time; with one it needs about 60 bytes of memory
    per node, a block, and 200 MB. Workers that are killed cost time only. After an interruption,
    also of the client or the scheduler, the same call goes on after the last finished step.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> client = Client("tcp://node1:8786")  # doctest: +SKIP
    >>> graph = kg.open_graph("edges/*.parquet", store="/shared/graph")  # doctest: +SKIP
    >>> kg.detect_communities(graph, engine=kg.Dask(client))  # doctest: +SKIP
    """

    def __init__(self, client: "Client | str") -> None:
        try:
            from distributed import Client
        except ImportError as error:
            msg = f"Dask needs distributed. {install_hint('dask')}"
            raise MissingExtraError(msg) from error
        if not isinstance(client, Client | str) or getattr(client, "asynchronous", False):
            msg = (
                "Dask must be given a distributed.Client that is not asynchronous, or the address "
                f"of a scheduler, got {client!r}.\n"
                "  Pass for instance Dask(distributed.Client())."
            )
            raise InputError(msg)
        self._given = client

    def begin(self, folder: Path) -> None:
        """Connect, and keep files in a folder until the end; those of a killed run are removed."""
        from distributed import Client

        for old in folder.glob("dask-*"):
            shutil.rmtree(old, ignore_errors=True)
        given = self._given
        self._client = Client(given, set_as_default=False) if isinstance(given, str) else given
        self._folder = folder / f"dask-{uuid4().hex}"
        self._folder.mkdir()
        self._numbers = itertools.count()

    def end(self) -> None:
        """Remove the files."""
        # Under another name no task that is still running can add a file.
        with contextlib.suppress(OSError):
            self._folder = self._folder.rename(self._folder.with_suffix(".gone"))
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._client is not self._given:
            self._client.close()

    def start(self, work: Work) -> None:
        """Take over a graph and its labels."""
        self._work, self._strength = work, self.publish(work.strength)
        self.relabel(work.z)

    def relabel(self, z: Indices) -> None:
        """Replace all labels; the next tasks need them in a file."""
        self._work.z = z
        self._log: list[_Shared] = []
        self._changes = 0

    def move(self, nodes: Ints, to: Indices) -> None:
        """Change the labels of some nodes."""
        z = self._work.z
        z[nodes] = to
        self._changes += nodes.size
        if self._changes > z.size:
            # Now the log would be longer than the labels.
            self.relabel(z)
        elif self._log:
            self._log.append(self._share((nodes.astype(z.dtype), to)))

    def publish(self, value: Any) -> Any:
        """Return what stands for a large argument of several tasks, alone or as part of another."""
        parts = _parts_of(value)
        return value if _size(parts) < _SMALL else self._write(parts)

    def map(self, task: Task, items: Sequence[int], *arguments: Any) -> Iterator[Any]:
        """Yield what a task returns for each item, in their order."""
        if not self._log:
            self._log.append(self._share(self._work.z))
        # Large arguments are kept until all results are there.
        given = tuple(map(self.publish, arguments))
        work = self._work
        job = _Job(
            str(self._folder),
            next(self._numbers),
            str(work.store.path),
            work.store.memory,
            tuple(one.file for one in self._log),
            pickle.dumps((task, work.weighing, self._strength, given)),
        )
        futures = self._submit(job, items)
        try:
            for item in items:
                yield self._result(job, item, futures)
        finally:
            for future in futures:
                future.release()

    def _submit(self, job: "_Job", items: Sequence[int]) -> "deque[Any]":
        return deque(
            self._client.map(
                _run, list(items), job=job, pure=False, retries=_RETRIES, key="kgroups"
            )
        )

    def _result(self, job: "_Job", item: int, futures: "deque[Any]") -> Any:
        """Return the result of the first task, which stays among the others until it is there."""
        from distributed import CancelledError, KilledWorker

        for _ in range(_RESUBMISSIONS):
            try:
                found = futures[0].result()
            except KilledWorker:
                futures[0] = self._submit(job, [item])[0]
            except CancelledError:
                msg = (
                    "the scheduler of the Dask cluster must stay until the end, but the connection "
                    "to it was lost.\n  Call again with a new client: finished steps are kept."
                )
                raise ClusterError(msg) from None
            except (StoreError, OSError) as error:
                # Where a worker met it does not matter.
                raise error.with_traceback(None) from None
            else:
                futures.popleft()
                self._work.store.count(*found.read)
                return found.value()
        msg = (
            f"workers of the Dask cluster must have memory for a block, but many of them died, one "
            f"after the other, of block {item}.\n"
            "  Give them more memory or fewer threads, or make the store again with a smaller "
            "memory, for smaller blocks. Call again: finished steps are kept."
        )
        raise ClusterError(msg)

    def _share(self, value: Any) -> "_Shared":
        return self._write(_parts_of(value))

    def _write(self, parts: list[Any]) -> "_Shared":
        return _Shared(_written(self._folder / f"{next(self._numbers)}", parts))


class _File(NamedTuple):
    """A value in a file: the bytes of its parts, each of which begins at an aligned place."""

    path: str
    sizes: tuple[int, ...]


class _Result(NamedTuple):
    """What a task has returned, pickled or in a file, and how much its worker has read."""

    content: _File | bytes
    # Entries and bytes.
    read: tuple[int, int]

    def value(self) -> Any:
        """Return what the task has returned, and remove its file."""
        if isinstance(self.content, bytes):
            return pickle.loads(self.content)
        value = _read(self.content)
        _remove(self.content.path)
        return value


class _Shared:
    """A value in a file, which is removed when this object is no longer used.

    Where it is pickled for a task, the task gets the value.
    """

    def __init__(self, file: _File) -> None:
        self.file = file
        weakref.finalize(self, _remove, file.path)

    def __reduce__(self) -> tuple[Any, ...]:
        return _mapped, (self.file,)


@dataclass(frozen=True)
class _Job:
    """What tasks on blocks have in common; no tuple, in which Dask would look for other tasks."""

    folder: str
    number: int
    store: str
    memory: int
    log: tuple[_File, ...]
    # The task, the weighing, the strengths and the arguments, pickled: the scheduler, which may not
    # see the folder, must not unpickle them.
    content: bytes


# What workers do.


class _Replica:
    """A graph as a worker has opened it, and the labels that it has replayed."""

    def __init__(self, job: _Job) -> None:
        self.store = StoredGraph(job.store, job.memory)
        self._lock = threading.Lock()
        self._replayed: tuple[_File, ...] = ()
        self._z = np.zeros(0, dtype=np.int32)
        self._told = 0, 0

    def labels(self, log: tuple[_File, ...]) -> Indices:
        """Return the labels after a log."""
        with self._lock:
            known = len(self._replayed)
            if not known or self._replayed != log[:known]:
                self._z, known = _read(log[0]), 1
            for file in log[known:]:
                nodes, to = _read(file)
                self._z[nodes] = to
            self._replayed = log
            return self._z

    def newly_read(self) -> tuple[int, int]:
        """Return the entries and bytes that were read since the last call."""
        with self._lock:
            now = self.store.entries_read, self.store.bytes_read
            before, self._told = self._told, now
        return now[0] - before[0], now[1] - before[1]


_replicas: dict[str, _Replica] = {}
_opening = threading.Lock()


def _replica(job: _Job) -> _Replica:
    """Return the replica of a run; those of runs that have ended are forgotten."""
    with _opening:
        if job.folder not in _replicas:
            for folder in [one for one in _replicas if not Path(one).exists()]:
                del _replicas[folder]
            _replicas[job.folder] = _Replica(job)
        return _replicas[job.folder]


@lru_cache
def _threads(count: int) -> Threads:
    """Return threads that the tasks of this process share."""
    return Threads(count)


def _run(item: int, job: _Job) -> _Result:
    """Do a task on a worker."""
    from distributed import get_worker

    worker = get_worker()
    folder = Path(job.folder)
    if not folder.is_dir():
        msg = (
            "all workers must see the folder of the store under the same path, but "
            f"{worker.address} does not see {job.folder!r}.\n"
            "  Make the store in a folder that all machines share."
        )
        raise StoreError(msg)
    replica = _replica(job)
    task, weighing, strength, arguments = pickle.loads(job.content)
    threads = _threads(worker.state.nthreads)
    work = Work(replica.store, weighing, replica.labels(job.log), threads, strength)
    value = task(work, item, *arguments)
    parts = _parts_of(value)
    # What Dask itself unpickles may be at places in memory that kernels do not take.
    small = _size(parts) < _SMALL
    content = pickle.dumps(value) if small else _written(folder / f"{job.number}-{item}", parts)
    return _Result(content, replica.newly_read())


# Files.


def _parts_of(value: Any) -> list[Any]:
    """Return a value as bytes, followed by the memory of its arrays."""
    buffers: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return [memoryview(rest), *(buffer.raw() for buffer in buffers)]


def _size(parts: list[Any]) -> int:
    return sum(part.nbytes for part in parts)


def _written(path: Path, parts: list[Any]) -> _File:
    """Write the parts of a value to a file in one step; another worker may write the same."""
    half = path.with_name(f"{path.name}-{uuid4().hex}.half")
    try:
        with half.open("wb") as file:
            for part in parts:
                file.write(part)
                file.write(bytes(-part.nbytes % _ALIGNED))
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
    return _File(str(path), tuple(part.nbytes for part in parts))


def _unpickled(content: Any, sizes: tuple[int, ...]) -> Any:
    """Return a value whose arrays are views of the content of its file."""
    parts, first, memory = [], 0, memoryview(content)
    for size in sizes:
        parts.append(memory[first : first + size])
        first += size + -size % _ALIGNED
    return pickle.loads(parts[0], buffers=parts[1:])


def _mapped(file: _File) -> Any:
    """Return a value that is read when it is used; what is written to it stays in memory."""
    return _unpickled(np.memmap(file.path, np.uint8, "c"), file.sizes)


def _read(file: _File) -> Any:
    """Return a value that has been read as a whole."""
    return _unpickled(np.fromfile(file.path, np.uint8), file.sizes)


def _remove(path: str) -> None:
    # Windows does not remove a file that a worker still maps; the end does.
    with contextlib.suppress(PermissionError):
        Path(path).unlink(missing_ok=True)
