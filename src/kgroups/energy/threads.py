"""Work for all threads that numba may use, with results in the order of the tasks."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_order"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_order(work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Yield the result of each task; no more are ready than there are threads.

    The number of threads is that of numba, which ``NUMBA_NUM_THREADS`` bounds. An interrupt waits
    for the tasks that run, not for those that have not begun.
    """
    from numba import get_num_threads

    workers = get_num_threads()
    if workers == 1:
        yield from map(work, tasks)
        return
    pool = ThreadPoolExecutor(workers)
    waiting: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(work, task))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
