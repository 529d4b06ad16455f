"""What a detection on a store has done, kept in a folder so that it can go on later."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kgroups.blocks.tasks import write_array


class Stateful(Protocol):
    """What does the steps of a journal."""

    def state(self) -> dict[str, Any]:
        """Return what later steps depend on: arrays, and plain values that JSON can hold."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        ...


class Journal:
    """The steps of a detection, what each has returned, and the state after the last one.

    A detection whose decisions depend on what its steps return is repeated by the same steps: those
    that were done before an interruption return what they returned then, and after the last of them
    the state is restored.

    Parameters
    ----------
    folder : Path
        Where the journal is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "journal.json"
        self._steps: list[Any] = []
        self._state: dict[str, Any] = {}
        self._next = 0
        if self._file.exists():
            known = json.loads(self._file.read_text())
            self._steps, self._state = known["steps"], known["state"]
        self._clear(keep=len(self._steps))

    def step(self, name: str, owner: Stateful, compute: Callable[[], Any]) -> Any:
        """Return what a step returns; it is done unless it was done before."""
        self._next += 1
        if self._next <= len(self._steps):
            known, value = self._steps[self._next - 1]
            if known != name:
                msg = f"{self._file} tells of another detection: {known!r} where {name!r} comes."
                raise ValueError(msg)
            if self._next == len(self._steps):
                owner.restore(self._loaded())
            return value
        value = compute()
        self._save(name, value, owner.state())
        return value

    def keep(self, state: dict[str, Any]) -> None:
        """Write the arrays of a state to files that stay until the next ones are kept."""
        for key, one in state.items():
            if isinstance(one, np.ndarray):
                write_array(self.folder / f"kept_{key}.npy", one)

    def kept(self) -> dict[str, Any]:
        """Return the arrays that were kept."""
        names = {file: file.stem.removeprefix("kept_") for file in self.folder.glob("kept_*.npy")}
        return {name: np.load(file) for file, name in names.items()}

    def _save(self, name: str, value: Any, state: dict[str, Any]) -> None:
        number = len(self._steps) + 1
        plain = {}
        for key, one in state.items():
            if isinstance(one, np.ndarray):
                write_array(self.folder / f"{key}-{number}.npy", one)
            else:
                plain[key] = one
        self._steps.append([name, value])
        text = json.dumps({"steps": self._steps, "state": plain})
        half = self._file.with_suffix(".half")
        half.write_text(text)
        half.replace(self._file)
        self._clear(keep=number)

    def _loaded(self) -> dict[str, Any]:
        number = len(self._steps)
        arrays = {
            file.name.rpartition("-")[0]: np.load(file)
            for file in self.folder.glob(f"*-{number}.npy")
        }
        return {**self._state, **arrays}

    def _clear(self, keep: int) -> None:
        """Remove the states of other steps, and what was half written."""
        for file in self.folder.glob("*-*.npy"):
            if file.stem.rpartition("-")[2] != str(keep):
                file.unlink(missing_ok=True)
        for file in self.folder.glob("*.half"):
            file.unlink(missing_ok=True)
