"""Independent tasks, run in this process, in its threads, in several, or on a cluster."""

import itertools
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property, partial
from typing import TypeVar

from kgroups._progress import Progress, counted_progress
from kgroups._wording import argument, in_python, install_hint, setting
from kgroups.errors import InputError, MissingExtraError

Task = TypeVar("Task")
Result = TypeVar("Result")

# Enough batches that no worker waits long at the end, few enough that sending them costs nothing.
_BATCHES_PER_WORKER = 16
_LARGEST_BATCH = 25


class Threads:
    """Threads of this process that share numbered tasks; by default one for each core.

    Tasks should be kernels that release the GIL.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = available_cores() if count is None else count

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.count - 1, thread_name_prefix="kgroups")

    def run(self, task: Callable[[int], None], tasks: int) -> None:
        """Run the task of each number below ``tasks``, each on the first thread that is free."""
        helpers = min(self.count, tasks) - 1
        if helpers < 1:
            for t in range(tasks):
                task(t)
            return
        ticket: Iterator[int] = itertools.count()

        def work() -> None:
            while (t := next(ticket)) < tasks:
                task(t)

        others = [self._pool.submit(work) for _ in range(helpers)]
        try:
            work()
        finally:
            # After an error or Ctrl-C no thread begins another task.
            ticket = itertools.repeat(tasks)
            wait(others)
        for other in others:
            other.result()


def available_cores() -> int:
    """Return ``NUMBA_NUM_THREADS`` if that is set, or the cores that this process may use."""
    if os.environ.get("NUMBA_NUM_THREADS"):
        return int(os.environ["NUMBA_NUM_THREADS"])
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def finished_batches(
    run: Callable[[Sequence[Task]], Result], tasks: Sequence[Task], n_jobs: int | None
) -> Iterator[Result]:
    """Yield what ``run`` returns for batches of the tasks, in the order in which they end."""
    workers = count_workers(n_jobs)
    if workers is None or not tasks:
        for task in tasks:
            yield run([task])
        return
    from joblib import Parallel, delayed

    size = min(_LARGEST_BATCH, max(1, len(tasks) // (_BATCHES_PER_WORKER * workers)))
    batches = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    results = pool(delayed(_run_in_worker)(run, batch) for batch in batches)
    try:
        # Not ``yield from``, which would close the results outside of the filter of warnings.
        for result in results:  # noqa: UP028
            yield result
    finally:
        with warnings.catch_warnings():
            # After an error or Ctrl-C joblib advises to give it fewer tasks.
            warnings.simplefilter("ignore", UserWarning)
            results.close()


def all_results(
    run: Callable[[Task], Result],
    tasks: Sequence[Task],
    n_jobs: int | None,
    unit: str,
    *,
    progress: Progress,
) -> list[Result]:
    """Return what ``run`` returns for each task, in their order; ``unit`` names one for a bar."""
    found: dict[int, Result] = {}
    with counted_progress(len(tasks), unit, progress=progress) as show:
        for batch in finished_batches(partial(_numbered, run), list(enumerate(tasks)), n_jobs):
            found.update(batch)
            show(len(found))
    return [found[place] for place in range(len(tasks))]


def _numbered(
    run: Callable[[Task], Result], tasks: Sequence[tuple[int, Task]]
) -> list[tuple[int, Result]]:
    return [(place, run(task)) for place, task in tasks]


def _run_in_worker(run: Callable[[Sequence[Task]], Result], tasks: Sequence[Task]) -> Result:
    """Run a batch in a worker process, which ignores interrupts.

    A terminal sends an interrupt to all processes. The main process ends the pool; a worker that
    handled the interrupt first would only print a traceback.
    """
    if multiprocessing.parent_process() is not None and (
        threading.current_thread() is threading.main_thread()
    ):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return run(tasks)


def check_n_jobs(n_jobs: int | None) -> None:
    """Raise unless ``n_jobs`` is None or a whole number other than 0."""
    if n_jobs is not None and (type(n_jobs) is not int or n_jobs == 0):
        msg = (
            f"{argument('n_jobs')} must be {in_python('None or ')}a whole number other than 0, got "
            f"{n_jobs!r}.\n"
            f"  {setting('n_jobs', 2)} uses two processes, {setting('n_jobs', -1)} one per core."
        )
        raise InputError(msg)


def count_workers(n_jobs: int | None) -> int | None:
    """Return the number of workers, or None if all runs in this process."""
    check_n_jobs(n_jobs)
    # joblib.parallel_config cannot be in force before joblib is imported.
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
