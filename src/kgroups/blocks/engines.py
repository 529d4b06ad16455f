"""Who does the tasks on the blocks of a stored graph: this process."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from kgroups._progress import begin_pass, tell_share
from kgroups._types import Indices, Ints
from kgroups.blocks.tasks import Task, Work


class Engine(Protocol):
    """Does tasks on blocks, in any order, and keeps the labels that they see."""

    def begin(self, folder: Path) -> None:
        """Prepare for a detection, whose files are in a folder."""
        ...

    def end(self) -> None:
        """Leave nothing behind, whether the detection has ended or failed."""
        ...

    def start(self, work: Work) -> None:
        """Take over a graph and its labels."""
        ...

    def relabel(self, z: Indices) -> None:
        """Replace all labels."""
        ...

    def move(self, nodes: Ints, to: Indices) -> None:
        """Change the labels of some nodes."""
        ...

    def publish(self, value: Any) -> Any:
        """Return what stands for a large argument of several tasks, alone or as part of another."""
        ...

    def map(self, task: Task, items: Sequence[int], *arguments: Any) -> Iterator[Any]:
        """Yield what a task returns for each item, in their order."""
        ...


class OutOfCore:
    """Tasks in this process, one after the other, each with all its threads."""

    def begin(self, folder: Path) -> None:
        """Prepare for a detection."""

    def end(self) -> None:
        """Leave nothing behind."""

    def start(self, work: Work) -> None:
        """Take over a graph and its labels."""
        self._work = work

    def relabel(self, z: Indices) -> None:
        """Replace all labels."""
        self._work.z = z

    def move(self, nodes: Ints, to: Indices) -> None:
        """Change the labels of some nodes."""
        self._work.z[nodes] = to

    def publish(self, value: Any) -> Any:
        """Return what stands for a large argument of several tasks: the argument."""
        return value

    def map(self, task: Task, items: Sequence[int], *arguments: Any) -> Iterator[Any]:
        """Yield what a task returns for each item, in their order."""
        for item in items:
            yield task(self._work, item, *arguments)


def one_pass(engine: Engine, task: Task, blocks: int, *arguments: Any) -> Iterator[Any]:
    """Yield what a task returns for each of all blocks, and say how far the pass is."""
    begin_pass()
    for done, result in enumerate(engine.map(task, range(blocks), *arguments)):
        yield result
        tell_share(done + 1, blocks)
