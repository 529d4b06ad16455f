"""Run the trials of a plan: here, in processes, or on whatever cluster joblib is told of."""

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import TypeAlias

from kgroups._extras import install_hint
from kgroups._progress import Progress, counted_progress
from kgroups._wording import argument, in_python, setting
from kgroups.errors import InputError, MissingExtraError
from kgroups.studies.journal import Journal
from kgroups.studies.names import check_named
from kgroups.studies.plan import Plan, Task
from kgroups.studies.trial import Results, run_batch

__all__ = ["run_tasks"]

Finished: TypeAlias = dict[Task, Results]

# Enough batches that no worker waits long at the end, few enough that sending them costs nothing.
_BATCHES_PER_WORKER = 16
_LARGEST_BATCH = 25


def run_tasks(
    plan: Plan,
    tasks: Sequence[Task],
    *,
    n_jobs: int | None,
    journal: str | PathLike[str] | None,
    progress: Progress,
) -> Finished:
    """Return the results of the tasks; those that the journal holds are not run again."""
    if journal is None:
        return _run(plan, tasks, {}, lambda task, results: None, n_jobs, progress)
    entries = plan.describe()
    check_named(entries)
    with Journal(journal, entries) as book:
        return _run(plan, tasks, book.finished, book.append, n_jobs, progress)


def _run(
    plan: Plan,
    tasks: Sequence[Task],
    before: Finished,
    record: Callable[[Task, Results], None],
    n_jobs: int | None,
    progress: Progress,
) -> Finished:
    finished = {task: before[task] for task in tasks if task in before}
    waiting = [task for task in tasks if task not in finished]
    with counted_progress(progress, len(tasks), "trial", before=len(finished)) as show:
        show(len(finished))
        for batch in _done(plan, waiting, n_jobs):
            for task, results in batch:
                record(task, results)
                finished[task] = results
            show(len(finished))
    return finished


def _done(
    plan: Plan, tasks: Sequence[Task], n_jobs: int | None
) -> Iterator[list[tuple[Task, Results]]]:
    """Yield finished trials in batches, in whatever order they come."""
    workers = _workers(n_jobs)
    if workers is None or not tasks:
        for task in tasks:
            yield run_batch(plan, [task])
        return
    from joblib import Parallel, delayed

    size = min(_LARGEST_BATCH, max(1, len(tasks) // (_BATCHES_PER_WORKER * workers)))
    batches = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    run = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    yield from run(delayed(_run_in_worker)(plan, batch) for batch in batches)


def _run_in_worker(plan: Plan, tasks: Sequence[Task]) -> list[tuple[Task, Results]]:
    """Run trials in a process of a pool, which leaves an interrupt to the one that started it.

    A terminal sends the interrupt to all of them. The pool is ended by its owner, and a worker
    that noticed first would only print where it was.
    """
    if multiprocessing.parent_process() is not None and (
        threading.current_thread() is threading.main_thread()
    ):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return run_batch(plan, tasks)


def _workers(n_jobs: int | None) -> int | None:
    """Return how many workers there will be, or None for no other process than this."""
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0
    ):
        msg = (
            f"{argument('n_jobs')} must be {in_python('None or ')}a whole number other than 0, got "
            f"{n_jobs!r}.\n"
            f"  {setting('n_jobs', 2)} uses two processes, {setting('n_jobs', -1)} one per core."
        )
        raise InputError(msg)
    # Nobody can have called joblib.parallel_config before joblib was imported.
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return None
    try:
        import joblib
    except ImportError as error:
        msg = f"{setting('n_jobs', n_jobs)} needs joblib. {install_hint('study')}"
        raise MissingExtraError(msg) from error
    workers = int(joblib.effective_n_jobs(n_jobs))
    local = type(joblib.parallel.get_active_backend()[0]).__name__ == "LokyBackend"
    return None if workers == 1 and local else workers
