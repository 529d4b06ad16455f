"""The journal of a study: a file with a line per finished trial, from which a study resumes."""

import io
import json
import os
import re
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from kgroups._files import check_regular
from kgroups._wording import argument
from kgroups.errors import FileFormatError, InputError
from kgroups.studies.plan import Task, differences

_FORMAT = "kgroups study journal"
# Changes whenever journals of earlier versions can no longer be read.
_VERSION = 3
_START = json.dumps({"format": _FORMAT, "version": _VERSION})[:-1].encode()
# The end of every line: the CRC-32 of the JSON object without it.
_CHECKSUM = re.compile(rb', "crc32": "([0-9a-f]{8})"\}')

Results = dict[str, dict[str, float]]
"""From the name of a method to its metrics, k_hat and seconds; what is absent is NaN in tables."""


class Journal:
    """An append-only file: the plan on the first line, then one trial per line.

    Each line is a JSON object whose last entry is the checksum of the others. A process that dies
    while it writes leaves an incomplete line, which the next start removes.
    """

    def __init__(self, path: str | os.PathLike[str], plan: Mapping[str, Any]) -> None:
        self.path = Path(path)
        if not self.path.resolve().parent.is_dir():
            msg = f"there is no folder {str(self.path.parent)!r} for the journal {str(path)!r}."
            raise InputError(msg)
        # Without a buffer, so that a failed write is not repeated when the file is closed.
        if self.path.exists():
            check_regular(self.path)
        self._stream: io.FileIO = self.path.open("a+b", buffering=0)
        self.finished: dict[Task, Results] = {}
        try:
            self._lock()
            self.finished = self._resume(dict(plan))
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def append(self, task: Task, results: Results) -> None:
        """Write the line of a trial."""
        self._write({"cell": task.cell, "trial": task.trial, "results": results})
        self.finished[task] = results

    def _resume(self, plan: dict[str, Any]) -> dict[Task, Results]:
        self._stream.seek(0)
        content = self._stream.read()
        whole = content[: content.rfind(b"\n") + 1]
        if not whole:
            # An incomplete first line must be the beginning of one that a journal writes.
            if not content.startswith(_START[: len(content)]):
                raise _not_a_journal(self.path)
            self._stream.truncate(0)
            self._write({"format": _FORMAT, "version": _VERSION, "plan": plan})
            return {}
        found, finished = _parsed(whole, self.path)
        differ = [
            f"its {name} is {there}, here it is {here}"
            for name, here, there in differences(plan, found)
        ]
        if differ:
            msg = (
                f"{self.path} is the journal of another study: {'; '.join(differ)}.\n"
                f"  Name another {argument('journal')}, or run the study that this one belongs to."
            )
            raise InputError(msg)
        # Only now is it certain that the file is this journal and may be changed.
        self._stream.truncate(len(whole))
        return finished

    def _write(self, record: dict[str, Any]) -> None:
        """Append a whole line, or leave the file as it was."""
        line = memoryview(_line(record))
        length = os.fstat(self._stream.fileno()).st_size
        try:
            while line:
                line = line[self._stream.write(line) :]
        except BaseException as error:
            # If this fails too, the next start removes the incomplete line.
            with suppress(OSError):
                self._stream.truncate(length)
            if not isinstance(error, OSError):
                raise
            msg = (
                f"the journal could not be written: {error.strerror}. The {len(self.finished)} "
                "trials before are kept.\n  Free some space; the same call then resumes from there"
            )
            raise OSError(error.errno, msg, str(self.path)) from error

    def _lock(self) -> None:
        """Raise if another process is writing the journal, where the system has locks."""
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            msg = (
                f"{self.path} is being written by another process.\n"
                "  Give each shard a journal of its own, and merge them in the end."
            )
            raise InputError(msg) from None
        except OSError:
            # Some network file systems have no locks; the journal works there without one.
            return


def holds_plan(path: str | os.PathLike[str]) -> bool:
    """Tell whether there is a journal with a complete first line."""
    return Path(path).exists() and b"\n" in _content(path)


def read_journal(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[Task, Results]]:
    """Return the plan of a journal and its finished trials, without an incomplete last line."""
    content = _content(path)
    return _parsed(content[: content.rfind(b"\n") + 1], Path(path))


def _content(path: str | os.PathLike[str]) -> bytes:
    check_regular(path)
    return Path(path).read_bytes()


def _line(record: dict[str, Any]) -> bytes:
    """Return an object as a line of JSON with its checksum."""
    text = json.dumps(record).encode()
    return text[:-1] + b', "crc32": "%08x"}\n' % zlib.crc32(text)


def _record(line: bytes) -> dict[str, Any]:
    """Return the object on a line, or raise ValueError if the line is not as it was written."""
    found = _CHECKSUM.search(line, max(len(line) - 24, 0))
    text = line[: found.start()] + b"}" if found else line
    if found is None or found.end() < len(line) or int(found[1], 16) != zlib.crc32(text):
        msg = "its checksum is wrong"
        raise ValueError(msg)
    record: dict[str, Any] = json.loads(text)
    return record


def _parsed(content: bytes, path: Path) -> tuple[dict[str, Any], dict[Task, Results]]:
    first, *lines = content.removesuffix(b"\n").split(b"\n")
    # Other files and other versions have no checksum.
    if not first.startswith(_START):
        raise _not_a_journal(path)
    try:
        plan = dict(_record(first)["plan"])
        methods = list(plan["methods"])
    except (KeyError, TypeError, ValueError) as error:
        msg = (
            f"line 1 of the journal {path}, which holds the plan of the study, is damaged: {error}."
            f"\n  Name another {argument('journal')}; without its plan a journal cannot be used."
        )
        raise FileFormatError(msg) from error
    finished: dict[Task, Results] = {}
    for number, line in enumerate(lines, start=2):
        try:
            record = _record(line)
            task = Task(int(record["cell"]), int(record["trial"]))
            results = {name: dict(record["results"][name]) for name in methods}
        except (KeyError, TypeError, ValueError) as error:
            msg = (
                f"line {number} of the journal {path} is damaged: {error}.\n"
                "  Delete this line; its trial is then run again."
            )
            raise FileFormatError(msg) from error
        finished[task] = results
    return plan, finished


def _not_a_journal(path: Path) -> FileFormatError:
    return FileFormatError(
        f"{path} is not a journal of a study: its first line must be a JSON object with "
        f'"format": "{_FORMAT}" and "version": {_VERSION}; other versions of kgroups write others.'
        "\n  Name another file."
    )
