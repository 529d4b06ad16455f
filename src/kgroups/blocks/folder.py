"""The folder of a store while it is written: whole files, checksums, a journal and a lock."""

import errno
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from kgroups.errors import StoreError

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_JOURNAL = "journal"
_CHUNK_BYTES = 1 << 24


class FileInfo(NamedTuple):
    """What is known of a file of a store: its path in the folder, its bytes and their checksum."""

    name: str
    size: int
    checksum: str


class Output:
    """A file that appears under its name only when it is complete.

    It has what pyarrow needs of a file to write to.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._path, self._name = folder / name, name
        self._temporary = self._path.with_name(f"{self._path.name}.tmp")
        self._path.parent.mkdir(exist_ok=True)
        self._file: BinaryIO = self._temporary.open("wb")
        self._hash, self._size = blake2b(digest_size=16), 0
        self.closed = False

    def write(self, content: Any) -> int:
        """Append bytes, or the items of a contiguous array."""
        view = memoryview(content)
        if not view.nbytes:
            return 0
        view = view.cast("B")
        self._file.write(view)
        self._hash.update(view)
        self._size += view.nbytes
        return view.nbytes

    def flush(self) -> None:
        """Do nothing: it is done at the end."""

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._size

    def __enter__(self) -> "Output":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self._file.close()
            if kind is None:
                self._temporary.replace(self._path)
        finally:
            self._temporary.unlink(missing_ok=True)

    @property
    def info(self) -> FileInfo:
        """The size and the checksum of what has been written."""
        return FileInfo(self._name, self._size, self._hash.hexdigest())


def write_array(folder: Path, name: str, array: Any) -> FileInfo:
    """Write an array as NumPy does, and return its size and checksum."""
    contiguous = np.ascontiguousarray(array)
    with Output(folder, name) as out:
        np.lib.format.write_array_header_1_0(
            out,
            np.lib.format.header_data_from_array_1_0(contiguous),
        )
        out.write(contiguous)
    return out.info


def checksum_of(path: Path) -> str:
    """Return the checksum of the content of a file."""
    found = blake2b(digest_size=16)
    with path.open("rb") as file:
        while content := file.read(_CHUNK_BYTES):
            found.update(content)
    return found.hexdigest()


def signed(record: dict[str, Any]) -> bytes:
    """Return a record as JSON with a field that has the checksum of all others."""
    text = json.dumps(record, indent=1, sort_keys=True)
    checksum = blake2b(text.encode(), digest_size=16).hexdigest()
    return json.dumps({**record, "checksum": checksum}, indent=1, sort_keys=True).encode()


def checked_record(content: bytes) -> dict[str, Any] | None:
    """Return the record of a signed text, or None if a character of it has been changed."""
    try:
        record: dict[str, Any] = json.loads(content)
        del record["checksum"]
        return record if signed(record) == content else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


class Journal:
    """What has been done, line by line; a line that was not written completely does not count."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _JOURNAL
        self.records: list[dict[str, Any]] = []
        length = 0
        content = self._path.read_bytes() if self._path.exists() else b""
        for line in content.splitlines(keepends=True):
            checksum, _, text = line.partition(b" ")
            if not line.endswith(b"\n") or _digest(text[:-1]) != checksum:
                break
            self.records.append(json.loads(text))
            length += len(line)
        if length < len(content):
            os.truncate(self._path, length)

    def add(self, **record: Any) -> None:
        """Note that something has been done."""
        text = json.dumps(record).encode()
        with self._path.open("ab") as file:
            file.write(_digest(text) + b" " + text + b"\n")
        self.records.append(record)

    def all(self, step: str) -> list[dict[str, Any]]:
        """Return the records of a step, in their order."""
        return [record for record in self.records if record["step"] == step]

    def last(self, step: str) -> dict[str, Any] | None:
        """Return the last record of a step, or None."""
        return next((one for one in reversed(self.records) if one["step"] == step), None)


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=8).hexdigest().encode()


def partial_folder(store: Path) -> Path:
    """Return the folder in which a store is written, beside it."""
    return store.with_name(f"{store.name}.partial")


def is_partial(folder: Path) -> bool:
    """Return whether a folder holds nothing, or what was written before an interruption."""
    names = {entry.name for entry in folder.iterdir()}
    return not names or _JOURNAL in names or "store.json" in names


def empty_partial(folder: Path) -> None:
    """Remove all that was written into a partial folder, the journal last."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name == _JOURNAL):
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def remove_partial(folder: Path) -> None:
    """Remove a partial folder."""
    empty_partial(folder)
    folder.rmdir()


def remove_spills(folder: Path, names: Sequence[str]) -> None:
    """Remove what is needed only until a store is complete."""
    for name in names:
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / _JOURNAL).unlink(missing_ok=True)


@contextmanager
def locked(folder: Path, task: str = "", advice: str = "") -> Iterator[None]:
    """Hold the lock of a folder, a file beside it; it is released when the process ends."""
    path = folder.with_name(f"{folder.name}.lock")
    with path.open("ab") as file:
        # A file may have been removed by the process that held it before.
        held = _lock(file) and path.exists()
        if not (held and os.path.samestat(path.stat(), os.fstat(file.fileno()))):
            msg = (
                f"only one process may {task or f'write the store {str(folder)!r}'}, and another "
                f"one is at it.\n  Wait until it is done, or {advice or 'choose another folder'}."
            )
            raise StoreError(msg)
        try:
            yield
        finally:
            # Some systems do not remove a file that is open.
            with suppress(PermissionError):
                path.unlink()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(file: BinaryIO) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


_ROOM_TO_MAKE = "about 30 bytes per edge while it is written, or 60 with weights or text as names"


@contextmanager
def full_disk_explained(
    folder: Path, room: str = _ROOM_TO_MAKE, call: str = "open_graph"
) -> Iterator[None]:
    """Say what to do if there is no room for a store, or for what is written into it."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        free = shutil.disk_usage(folder).free
        msg = (
            f"a store must have room on the disk, {room}; {free:,} bytes are free in "
            f"{str(folder)!r}.\n  Make room and call {call} again: it goes on where it stopped."
        )
        raise StoreError(msg) from error
