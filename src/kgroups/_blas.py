"""Dense linear algebra: up to which size it is used, and on how many threads.

The threads of a BLAS wait for one another at every step of a factorization. On matrices of a few
hundred rows a step takes microseconds, so that a thread the operating system has suspended,
because the cores are busy, costs far more than all the work: a dense eigenproblem of 100 rows was
seen to take 0.7 ms with one thread and 185 ms with two.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

from kgroups._validation import changed_options

SMALL_ORDER = 1_000
"""Up to this order of a matrix one thread is used; beyond it several may save time."""


@dataclass(frozen=True)
class DenseLimits:
    """Numbers of nodes up to which a dense solver is used, by what is computed.

    The more of the spectrum is wanted, and the more a sparse solver costs or risks, the later it
    takes over. The times are those of planted partitions of degree 8 on one thread.

    Attributes
    ----------
    one_eigenpair : int
        A single extreme eigenpair: one run of Lanczos takes 0.7 ms, ``eigh`` 2 ms at 150 nodes
        and 8 ms at 200.
    counts : int
        Counts on whole graphs, from all eigenvalues. Reports of small graphs warn on the basis of
        these eigenvalues, so the limit is visible in results.
    eigenpairs : int
        A few eigenpairs with all copies of equal eigenvalues: ``eigh`` takes 21 ms at 300 nodes
        and 48 ms at 400. Lanczos takes 8 ms, but more for each copy, and may fail to converge.
    eigenvalues : int
        Eigenvalues without vectors next to a threshold or at one end: ``eigvalsh`` takes 34 ms at
        600 nodes, a sparse solver that misses none 20 to 80 ms.
    canonical_eigenpairs : int
        Eigenvectors in a basis that must not depend on the solver, which takes all copies of an
        eigenvalue to full precision.
    fallback : int
        Eigenpairs where Lanczos does not converge, or where more than an eighth of all is wanted.
    exact_counts : int
        Counts that are promised to be exact: a dense L D L^T takes 2 s at 5,000 nodes.
    """

    one_eigenpair: int = 150
    counts: int = 250
    eigenpairs: int = 300
    eigenvalues: int = 600
    canonical_eigenpairs: int = 1_500
    fallback: int = 3_000
    exact_counts: int = 5_000

    __repr__ = changed_options


DENSE = DenseLimits()
"""The limits that all packages use."""

_lock = Lock()
_callers = 0
_before: list[int | None] = []


@contextmanager
def single_threaded(order: int) -> Iterator[None]:
    """Limit BLAS to one thread while small dense problems are solved.

    Most libraries have one number of threads for the whole process. It is lowered when the first
    caller enters and restored when the last one leaves, whichever Python threads they are in, and
    also when an exception is raised.

    Parameters
    ----------
    order : int
        Number of rows of the largest dense matrix to factorize; above :data:`SMALL_ORDER` nothing
        is done.
    """
    global _callers, _before
    if order > SMALL_ORDER:
        yield
        return
    libraries = _libraries()
    own: list[int | None] = []
    entered = False
    try:
        # Inside the try block, so that an interrupt between these lines is undone as well.
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
    """BLAS libraries with one number of threads per process, or per Python thread."""

    of_process: list[Any]
    of_thread: list[Any]


@cache
def _libraries() -> _Libraries:
    """Return the BLAS libraries of this process, including the one that SciPy brings.

    Finding them takes milliseconds, setting their threads microseconds.
    """
    # Only libraries that are loaded are found.
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
        # Since 3.8 threadpoolctl obeys only the Python thread that set a number first. Here
        # callers are counted instead, and the last one restores the numbers.
        release = getattr(library, "clear_controlling_thread", lambda *, force: None)
        release(force=True)
        library.set_num_threads(number)
        release(force=True)
