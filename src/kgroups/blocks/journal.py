"""What a detection on a store has done, kept in a folder so that it can go on later.

Records have a checksum and those of their arrays. What was altered, or written by another version,
counts as never written.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kgroups.blocks.folder import checked_record, checksum_of, signed
from kgroups.blocks.tasks import write_array, write_whole

_VERSION = 1
LINKS = "links"
"""What the names of folders begin with in which links are sorted."""
_KEPT = "kept"


class JournalMismatchError(Exception):
    """Raised where a journal tells of other steps than those of the detection."""


class Stateful(Protocol):
    """What does the steps of a journal."""

    def state(self) -> dict[str, Any]:
        """Return what later steps depend on: arrays, and plain values that JSON can hold."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        ...

    def numbers(self) -> list[float]:
        """Return the part of the state that decides which step comes next."""
        ...

    def recall(self, numbers: list[float]) -> None:
        """Set this part."""
        ...


def write_record(folder: Path, name: str, plain: Any, arrays: dict[str, Any]) -> None:
    """Write arrays, and then a record of them and of plain values."""
    folder.mkdir(exist_ok=True)
    files = {}
    for file, array in arrays.items():
        write_array(folder / file, array)
        files[file] = checksum_of(folder / file)
    record = {"version": _VERSION, "files": files, "plain": plain}
    write_whole(folder / name, signed(record))


def read_record(folder: Path, name: str) -> tuple[Any, dict[str, npt.NDArray[Any]]] | None:
    """Return the plain values and the arrays of a record, None if it is not as it was written."""
    try:
        record = checked_record((folder / name).read_bytes())
        if record is None or record["version"] != _VERSION:
            return None
        for file, checksum in record["files"].items():
            if checksum_of(folder / file) != checksum:
                return None
        return record["plain"], {file: np.load(folder / file) for file in record["files"]}
    except FileNotFoundError:
        return None


class Journal:
    """The steps of a detection, what each has returned, and the state after the last one.

    A detection whose decisions depend on what its steps return, and on the numbers of its state, is
    repeated by the same steps: those that were done before an interruption return what they
    returned then, and after the last of them the state is restored.

    Parameters
    ----------
    folder : Path
        Where the journal is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._steps: list[Any] = []
        self._state: dict[str, Any] = {}
        self._kept: dict[str, str] = {}
        self._next = 0
        found = read_record(folder, "journal.json")
        kept = [] if found is None else found[0]["kept"].items()
        if found is not None and all(_is_as_written(folder / name, sum) for name, sum in kept):
            known, arrays = found
            self._steps, self._kept = known["steps"], known["kept"]
            names = {file: file.rpartition("-")[0] for file in arrays}
            self._state = known["state"] | {names[file]: one for file, one in arrays.items()}
        self._clear(keep=len(self._steps))
        for left in folder.glob(f"{LINKS}*"):
            shutil.rmtree(left, ignore_errors=True)

    def step(self, name: str, owner: Stateful, compute: Callable[[], Any]) -> Any:
        """Return what a step returns; it is done unless it was done before."""
        self._next += 1
        if self._next <= len(self._steps):
            known, value, numbers = self._steps[self._next - 1]
            if known != name:
                msg = f"{self.folder} tells of {known!r} where {name!r} comes."
                raise JournalMismatchError(msg)
            owner.recall(numbers)
            if self._next == len(self._steps):
                owner.restore(self._state)
                self._state = {}
            return value
        value = compute()
        self._save(name, value, owner)
        return value

    def keep(self, state: dict[str, Any]) -> None:
        """Write the arrays of a state to files that stay until the next ones are kept."""
        self._kept = {}
        for key, one in state.items():
            if isinstance(one, np.ndarray):
                file = self.folder / f"{_KEPT}.{len(self._steps)}.{key}.npy"
                write_array(file, one)
                self._kept[file.name] = checksum_of(file)

    def kept(self) -> dict[str, Any]:
        """Return the arrays that were kept."""
        return {name.split(".")[2]: np.load(self.folder / name) for name in self._kept}

    def _save(self, name: str, value: Any, owner: Stateful) -> None:
        number, state = len(self._steps) + 1, owner.state()
        arrays = {key: one for key, one in state.items() if isinstance(one, np.ndarray)}
        plain = {key: one for key, one in state.items() if key not in arrays}
        self._steps.append([name, value, owner.numbers()])
        known = {"steps": self._steps, "state": plain, "kept": self._kept}
        files = {f"{key}-{number}.npy": one for key, one in arrays.items()}
        write_record(self.folder, "journal.json", known, files)
        self._clear(keep=number)

    def _clear(self, keep: int) -> None:
        """Remove the states of other steps, and what was half written."""
        for file in self.folder.glob("*-*.npy"):
            if file.stem.rpartition("-")[2] != str(keep):
                file.unlink(missing_ok=True)
        for file in self.folder.glob(f"{_KEPT}.*"):
            if file.name not in self._kept:
                file.unlink(missing_ok=True)
        for file in self.folder.glob("*.half"):
            file.unlink(missing_ok=True)


def _is_as_written(file: Path, checksum: str) -> bool:
    return file.exists() and checksum_of(file) == checksum
