"""One BLAS thread for small problems of linear algebra.

The threads of a BLAS wait for one another at every step of a factorization. On matrices of a few
hundred rows a step takes microseconds, so that a thread that the operating system has put aside,
because the cores are busy, costs far more than all the work: a dense eigenproblem of 100 rows was
seen to take 0.7 ms with one thread and 185 ms with two.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

__all__ = ["SMALL_ORDER", "single_threaded"]

SMALL_ORDER = 1_000
"""Up to this order of a matrix one thread is used; beyond, several may be worth their waiting."""

_lock = Lock()
_callers = 0
_before: list[int | None] = []


@contextmanager
def single_threaded(order: int) -> Iterator[None]:
    """Hold BLAS to one thread while small dense problems are solved.

    The number of threads mostly belongs to the whole process. It is lowered when the first caller
    enters and restored when the last one leaves, whichever Python threads they are in, and also
    when an exception passes.

    Parameters
    ----------
    order : int
        Rows of the largest dense matrix to be factorized; nothing is done if there are more than
        :data:`SMALL_ORDER`.
    """
    global _callers, _before
    if order > SMALL_ORDER:
        yield
        return
    libraries = _libraries()
    own: list[int | None] = []
    entered = False
    try:
        # Entering is part of the try block, so that an interrupt in between is undone as well.
        with _lock:
            own = _numbers(libraries.of_thread)
            if not _callers:
                _before = _numbers(libraries.of_process)
            _callers += 1
            entered = True
            _set_numbers(libraries.of_thread, [1] * len(own))
            if _callers == 1:
                _set_numbers(libraries.of_process, [1] * len(_before))
        yield
    finally:
        if entered:
            with _lock:
                _callers -= 1
                if not _callers:
                    _set_numbers(libraries.of_process, _before)
                _set_numbers(libraries.of_thread, own)


class _Libraries(NamedTuple):
    """BLAS libraries whose number of threads holds in the process, or in the Python thread."""

    of_process: list[Any]
    of_thread: list[Any]


@cache
def _libraries() -> _Libraries:
    """Return the BLAS libraries of this process.

    It takes milliseconds to find them and microseconds to set their threads. Only those are found
    that are loaded by now, and SciPy brings its own, which comes with ``scipy.linalg``.
    """
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    found = _Libraries([], [])
    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        by_thread = getattr(library, "threading_layer", None) == "openmp"
        (found.of_thread if by_thread else found.of_process).append(library)
    return found


def _numbers(libraries: list[Any]) -> list[int | None]:
    return [library.get_num_threads() for library in libraries]


def _set_numbers(libraries: list[Any], numbers: list[int | None]) -> None:
    for library, number in zip(libraries, numbers, strict=True):
        if number is None:
            continue
        # From 3.8 on threadpoolctl obeys only the Python thread that set a number first. Here
        # callers are counted instead, and the last one must be obeyed too.
        release = getattr(library, "clear_controlling_thread", lambda *, force: None)
        release(force=True)
        library.set_num_threads(number)
        release(force=True)
