"""Progress of long work: a bar on a terminal, a function of the caller, or nothing.

The stages of a call are named, timed and their memory is measured by :class:`Stages`. Work that is
far below the call, such as computing moments, says how much is done by :func:`tell_share`, and
kernels by a control array that :func:`run_interruptibly` reads. The compilation of kernels, which
takes long, is shown by :func:`ticking_line`.
"""

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from kgroups._types import Ints
from kgroups.errors import InputError

Progress: TypeAlias = Callable[[int, int], None] | bool
"""``True`` for a bar, ``False`` for nothing, or a function of the units done and their total."""
StageProgress: TypeAlias = Callable[[str], None] | bool
"""The same for work in stages: a function takes the name of the stage that begins, and about once
a second in a long stage its name with the share that is done."""

_LINE = "{desc} [{elapsed}]"
_STATUS = "/proc/self/status"
_SECONDS_BETWEEN_SHARES = 1.0
# Reading the memory takes 15 us, and little is allocated in the first millisecond of a call.
_SECONDS_BEFORE_READINGS = 0.001
_SECONDS_BETWEEN_READINGS = 0.05
# A kernel that reads fewer entries takes less than about a tenth of a second.
_BACKGROUND_ENTRIES = 500_000
# How often the main thread checks for Ctrl-C while a kernel runs in another.
_POLL_SECONDS = 0.05
# How often a line is written again, so that its clock ticks.
_TICK_SECONDS = 0.25
# The numbers through which a long kernel and its caller communicate: matrix entries read, moves
# made, a flag that ends the kernel if it is not 0, and units still to be done, out of how many.
ENTRIES, MOVES, STOP, LEFT, TOTAL = range(5)


@contextmanager
def counted_progress(
    total: int, unit: str, *, progress: Progress, before: int = 0
) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes how many of ``total`` units are done.

    A bar is drawn on stderr if that is a terminal. ``before`` units were done by an earlier run: a
    bar shows them at once and leaves them out of its rate.
    """
    check_progress(progress, "(done, total)")
    if callable(progress):
        yield lambda done: progress(min(done, total), total)
        return
    with _terminal_bar(show=progress, total=total, unit=unit, initial=before) as bar:
        yield lambda done: None if bar is None else bar.update(min(done, total) - bar.n)


@contextmanager
def stage_progress(*, progress: StageProgress = True) -> Iterator[Callable[[str], None]]:
    """Yield a function that takes the name of the stage that begins."""
    check_progress(progress, "the name of a stage")
    if callable(progress):
        yield progress
        return
    with _terminal_bar(show=progress, bar_format=_LINE) as bar:
        yield _Line(bar)


class _Line:
    """Writes text and a clock in a line on standard error, the description of a tqdm bar."""

    def __init__(self, bar: Any = None) -> None:
        self.bar = bar

    def __call__(self, text: str) -> None:
        """Write the line again, if there is one."""
        if self.bar is not None:
            self.bar.set_description_str(text)

    def appear(self, text: str, before: float) -> None:
        """Write the line, which is made if there is none, with ``before`` seconds on its clock."""
        if self.bar is None:
            from tqdm import tqdm

            # With a delay it is not drawn before it has a text.
            self.bar = tqdm(leave=False, file=sys.stderr, bar_format=_LINE, delay=1e-9)
            self.bar.start_t -= before
        self(text)


@contextmanager
def ticking_line(text: Callable[[], str | None], before: float = 0.0) -> Iterator[None]:
    """Show a line while something takes long, until the block ends.

    ``text`` is asked for it several times a second, and returns None while there is nothing to
    say. It appears in the bar of the running stage; without one, on standard error, if that is a
    terminal or a notebook shows it. There the clock begins with the seconds that it took before.
    """
    stages = _current.get()
    bar = None if stages is None else stages.bar
    if bar is None and not (is_terminal() or in_notebook()):
        yield
        return
    line = _Line(bar)
    done = threading.Event()

    def tick() -> None:
        while not done.wait(_TICK_SECONDS):
            said = text()
            if said is not None:
                line.appear(said, before)

    ticking = threading.Thread(target=tick, daemon=True)
    ticking.start()
    try:
        yield
    finally:
        done.set()
        ticking.join()
        if bar is None and line.bar is not None:
            line.bar.close()
        elif stages is not None:
            stages.repeat()


def is_terminal() -> bool:
    """Return whether standard error is open and a terminal."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        # A process that was started without stderr has None there; a closed stream raises.
        return False


def in_notebook() -> bool:
    """Return whether the code runs in a notebook, which shows standard error."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def check_progress(progress: object, takes: str) -> None:
    """Raise unless ``progress`` is a truth value or a callable; ``takes`` says of what."""
    if not (isinstance(progress, bool) or callable(progress)):
        msg = f"progress must be True, False or a callable of {takes}, got {progress!r}."
        raise InputError(msg)


@contextmanager
def _terminal_bar(*, show: bool, **options: Any) -> Iterator[Any]:
    """Yield a tqdm bar on stderr, or None if none is wanted or stderr is not an open terminal."""
    if not (show and is_terminal()):
        yield None
        return
    from tqdm import tqdm

    with tqdm(leave=False, file=sys.stderr, **options) as bar:
        yield bar


@contextmanager
def interrupts_restored() -> Iterator[None]:
    """Raise KeyboardInterrupt where a compiled function has turned it into a SystemError.

    That happens if Ctrl-C comes while numba wraps the arrays that a kernel returns, one after the
    other. A kernel that returns an instance of a Python class, such as a named tuple, would crash.
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None
        raise


class Stages:
    """Announces the stages of a call, and measures how long they take and how much memory.

    Inside ``with stages:`` the functions :func:`begin_stage` and :func:`tell_share` reach it.
    Shares are announced every ``pause`` seconds.
    """

    def __init__(
        self, announce: Callable[[str], None], *, pause: float = _SECONDS_BETWEEN_SHARES
    ) -> None:
        self._announce, self._pause = announce, pause
        self._begun: list[tuple[str, float]] = []
        self._next_share = self._share = 0.0
        self._passes, self._pass = 0, ""
        self._next_reading = perf_counter() + _SECONDS_BEFORE_READINGS
        self._before, self._mark = _memory()
        self._most = self._before

    def __enter__(self) -> "Stages":
        self._token = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)

    def begin(self, stage: str) -> None:
        """Announce a stage."""
        now = perf_counter()
        if not (self._begun and self._begun[-1][0] == stage):
            self._share, self._pass = 0.0, ""
        self._begun.append((stage, now))
        self._next_share = now + self._pause
        self._announce(stage)

    def begin_pass(self) -> None:
        """Announce shares of the next pass over a graph that is not in memory."""
        self._passes += 1
        self._share, self._pass = 0.0, f", pass {self._passes}"

    @property
    def bar(self) -> Any:
        """The bar in which stages are announced, or None."""
        return getattr(self._announce, "bar", None)

    def repeat(self) -> None:
        """Announce the stage again that is under way, where it was overwritten."""
        if self.bar is not None and self._begun:
            self._announce(self._begun[-1][0])

    def tell(self, share: float) -> None:
        """Announce the share of the stage that is done, unless the last one is recent."""
        now = perf_counter()
        if now >= self._next_reading and self._mark:
            self._next_reading = now + _SECONDS_BETWEEN_READINGS
            self._most = max(self._most, _memory()[0])
        if now >= self._next_share and self._begun:
            self._next_share = now + self._pause
            # Nodes that have moved add their neighbors to the work, and a stage may have rounds.
            self._share = max(self._share, min(share, 1.0))
            self._announce(f"{self._begun[-1][0]}{self._pass}, {100.0 * self._share:.0f} %")

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each stage until now, summed if it began several times."""
        total: dict[str, float] = {}
        for (stage, since), (_, until) in pairwise([*self._begun, ("", perf_counter())]):
            total[stage] = total.get(stage, 0.0) + until - since
        return total

    def peak_bytes(self) -> int | None:
        """Return the largest rise of the resident memory of the process until now, in bytes.

        None where this is not known. The high-water mark that Linux keeps is exact. If the
        process had needed more before, it does not show this call; then the largest of the
        readings at each :func:`tell_share` counts, which can miss what was freed between two.
        """
        now, mark = _memory()
        if not mark:
            return None
        peak = mark if mark > self._mark else max(self._most, now)
        return max(0, peak - self._before)


_current: ContextVar[Stages | None] = ContextVar("_current", default=None)


def begin_stage(stage: str) -> None:
    """Announce a stage of the call that is under way, if that has stages."""
    stages = _current.get()
    if stages is not None:
        stages.begin(stage)


def begin_pass() -> None:
    """Say that another pass over the graph begins, if the call that is under way has stages."""
    stages = _current.get()
    if stages is not None:
        stages.begin_pass()


def tell_share(done: float, total: float) -> None:
    """Say how much of the current stage is done; cheap enough for every 10 ms of work."""
    stages = _current.get()
    if stages is not None:
        stages.tell(done / total if total else 1.0)


def new_control() -> Ints:
    """Return the numbers through which a long kernel and its caller communicate, all 0."""
    return np.zeros(TOTAL + 1, dtype=np.int64)


def run_kernel(kernel: Callable[..., Any], entries: int, *arguments: Any) -> Any:
    """Call a kernel whose last argument is a control, in a second thread if it reads much."""
    if entries < _BACKGROUND_ENTRIES:
        return kernel(*arguments)
    return run_interruptibly(kernel, *arguments)


def run_interruptibly(kernel: Callable[..., Any], *arguments: Any) -> Any:
    """Call a kernel in a second thread; Ctrl-C sets the flag of its last argument, a control array.

    The kernel must release the GIL and look at the flag several times a second. If it has a method
    ``prepare``, as a :class:`kgroups._kernel.Kernel` does, that is called first, in this thread.
    """
    from concurrent.futures import ThreadPoolExecutor

    control = arguments[-1]
    prepare = getattr(kernel, "prepare", None)
    if prepare is not None:
        prepare(*arguments)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(kernel, *arguments)
        try:
            while True:
                try:
                    return running.result(_POLL_SECONDS)
                except TimeoutError:
                    if running.done():
                        raise
                    if control.size > TOTAL and control[TOTAL] > 0:
                        tell_share(control[TOTAL] - control[LEFT], control[TOTAL])
        except BaseException:
            control[STOP] = 1
            raise


def _memory() -> tuple[int, int]:
    """Return the resident bytes of this process now and at most; zeros if the system is not Linux.

    ``resource.getrusage`` is faster, but its maximum includes that of the process that started
    this one.
    """
    try:
        descriptor = os.open(_STATUS, os.O_RDONLY)
    except OSError:
        return 0, 0
    try:
        status = os.read(descriptor, 1 << 13)
    finally:
        os.close(descriptor)
    most, now = re.findall(rb"Vm(?:HWM|RSS):\s+(\d+)", status)
    return 1024 * int(now), 1024 * int(most)
