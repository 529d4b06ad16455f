"""The time that a study will take, printed where standard error is not a terminal."""

import os
import sys
from time import monotonic

from kgroups._progress import Progress, is_terminal

__all__ = ["Pace", "study_progress"]

_SECONDS = 5.0


def study_progress(jobs: int) -> Progress:
    """Return a bar on a terminal, and elsewhere what prints one line after the first trials."""
    return "bar" if is_terminal() else Pace(jobs)


class Pace:
    """Print on stderr how many trials an earlier run has finished, and once how long is left.

    Parameters
    ----------
    jobs : int
        Processes; a negative number stands for all cores.

    Notes
    -----
    Each process reports once before the clock starts: the first trials may wait for kernels to
    compile. The line is printed when each has reported once more and five seconds have passed.
    """

    def __init__(self, jobs: int) -> None:
        self._workers = jobs if jobs > 0 else os.cpu_count() or 1
        self._reports = -1
        self._start = (0.0, 0)
        self._is_printed = False

    def __call__(self, done: int, total: int) -> None:
        """Take how many of the trials are done; the first call tells what was done before."""
        self._reports += 1
        if self._reports == 0 and done > 0:
            _say(f"{done} of {total} trials were done before")
        if self._reports == self._workers:
            self._start = (monotonic(), done)
        if self._is_printed or self._reports < 2 * self._workers or done == total:
            return
        seconds = monotonic() - self._start[0]
        if seconds >= _SECONDS:
            self._is_printed = True
            left = seconds / (done - self._start[1]) * (total - done)
            _say(f"{done} of {total} trials are done, about {_shown(left)} to go")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _shown(seconds: float) -> str:
    """Return a duration in the unit that gives it one or two digits before the point."""
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{max(seconds, 1):.2g} seconds"
