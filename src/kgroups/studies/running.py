"""The trials of a study, run in this process, in several, or on a cluster."""

import io
import json
import os
import re
import warnings
import zlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from kgroups._blas import single_threaded
from kgroups._output import check_regular
from kgroups._parallel import finished_batches
from kgroups._progress import Progress, counted_progress, interrupts_restored
from kgroups._warm import warm_detection
from kgroups._wording import argument
from kgroups.adapters import as_graph, as_labels
from kgroups.errors import FileFormatError, InputError, KGroupsWarning
from kgroups.generators import Planted
from kgroups.graph import Graph
from kgroups.studies.methods import METHODS, Points, TrialContext
from kgroups.studies.plan import PLAN_ENTRIES, Cell, Plan, Task, check_named, differences

# Kernels are compiled once per process before its first trial, so that no trial's time has it.
_compile_once = cache(warm_detection)
_FORMAT = "kgroups study journal"
# Changes whenever journals of earlier versions can no longer be read.
_VERSION = 4
_START = json.dumps({"format": _FORMAT, "version": _VERSION})[:-1].encode()
# The end of every line: the CRC-32 of the JSON object without it.
_CHECKSUM = re.compile(rb', "crc32": "([0-9a-f]{8})"\}')
Results = dict[str, dict[str, float]]
"""From the name of a method to its metrics, k_hat and seconds; what is absent is NaN in tables."""


def run_tasks(
    plan: Plan,
    tasks: Sequence[Task],
    *,
    n_jobs: int | None,
    journal: str | PathLike[str] | None,
    progress: Progress,
) -> dict[Task, Results]:
    """Return the results of the tasks; those in the journal are not run again."""
    with ExitStack() as stack:
        opened = None
        if journal is not None:
            check_named(plan)
            opened = stack.enter_context(Journal(journal, plan.describe()))
        before = {} if opened is None else opened.finished
        finished = {task: before[task] for task in tasks if task in before}
        waiting = [task for task in tasks if task not in finished]
        show = stack.enter_context(
            counted_progress(len(tasks), "trial", progress=progress, before=len(finished))
        )
        show(len(finished))
        for batch in finished_batches(partial(_run_batch, plan), waiting, n_jobs):
            for task, results in batch:
                if opened is not None:
                    opened.append(task, results)
                finished[task] = results
            show(len(finished))
    return finished


def _run_batch(plan: Plan, tasks: Sequence[Task]) -> list[tuple[Task, Results]]:
    """Run several trials in this process, on one thread of linear algebra."""
    _compile_once()
    # For matrices of any size, because other trials use the other cores.
    with interrupts_restored(), single_threaded(0), warnings.catch_warnings():
        # One warning per trial would hide the output of a study, which measures quality itself.
        warnings.simplefilter("ignore", KGroupsWarning)
        return [(task, _run_trial(plan, task)) for task in tasks]


def _run_trial(plan: Plan, task: Task) -> Results:
    """Run one trial; the results depend only on the plan and the task."""
    cell, seed = plan.cells[task.cell], plan.seed(task)
    place = f"in cell {dict(cell)}, trial {task.trial}, seed {seed}"
    try:
        drawn = _drawn(plan, cell, np.random.default_rng(seed).spawn(2)[0])
        source, planted = drawn
        if isinstance(source, Points):
            # The labels of points are validated against a graph without edges.
            graph = Graph.from_edges([], [], n=len(source.X))
        else:
            graph = as_graph(source)
        truth = as_labels(planted, graph)
    except Exception as error:
        error.add_note(f"kgroups study: the generator failed {place}")
        raise
    k = int(cell.get("k") or np.unique(truth).size)
    context = TrialContext(source, graph, k, seed, drawn if isinstance(drawn, Planted) else None)
    results = {}
    for method in plan.methods:
        try:
            found, seconds = context.timed(method.find)
            labels = as_labels(found, graph)
            scores = {
                metric.name: float(metric.score(truth, labels))
                for metric in plan.metrics
                if method.k_given or not metric.needs_k
            }
        except Exception as error:
            error.add_note(f"kgroups study: the method {method.name!r} failed {place}")
            raise
        results[method.name] = {**scores, "k_hat": np.unique(labels).size, "seconds": seconds}
    return results


def _drawn(plan: Plan, cell: Cell, rng: np.random.Generator) -> Any:
    drawn = plan.generator(**cell, rng=rng)
    try:
        source, _ = drawn
    except (TypeError, ValueError):
        msg = (
            "a generator must return a graph and its planted labels, got "
            f"{type(drawn).__name__}.\n  Return a pair such as (graph, labels)."
        )
        raise InputError(msg) from None
    finders = [method.find for method in METHODS.values()]
    named = [method.name for method in plan.methods if method.find in finders]
    if isinstance(source, Points) and named:
        msg = (
            f"the method {named[0]!r} needs a graph, and the generator returned points.\n"
            "  Pass callables that take (points, k, rng)."
        )
        raise InputError(msg)
    return drawn


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
                "  Give each shard its own journal, and merge them in the end."
            )
            raise InputError(msg) from None
        except OSError:
            # Some network file systems have no locks; the journal works there without one.
            return


def holds_plan(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a journal with a complete first line."""
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
        found = _record(first)["plan"]
        plan = {entry: found[entry] for entry in PLAN_ENTRIES}
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
            results = {name: dict(record["results"][name]) for name in plan["methods"]}
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
