"""Kernels: loops over arrays that run as plain Python until compiling them pays.

A kernel takes contiguous arrays and numbers, fills arrays of the caller, and returns a number or
nothing. It allocates nothing, draws nothing and raises nothing. Interpreted, it sees its arrays as
memoryviews, whose items are Python's own numbers, so that both ways give the same digits; it asks
for ``len(array)`` and ``array.shape``, and slices no array. ``math.log`` and ``math.exp`` are those
of the compiled code. Functions that a kernel calls are in a kernel file, too, so that the cache of
compiled code notices changes to them.

``KGROUPS_JIT`` is ``auto``, ``always`` (compile at the first call) or ``never``. In ``auto`` a
kernel is interpreted while that takes less time than its compilation, all calls together, so that
nobody waits more than about twice as long as with the better of the other two.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from hashlib import sha1
from pathlib import Path
from time import perf_counter
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from kgroups._progress import ticking_line
from kgroups.errors import InputError

__all__ = ["KERNELS", "Kernel", "compiled_at_once", "jit_mode", "kernel"]

P = ParamSpec("P")
R = TypeVar("R")

_MODES = ("auto", "always", "never")
# Kernels allocate nothing, so arrays need not be counted when a kernel passes them to a function:
# that would take a quarter of the time of moves.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}
# Seconds that a kernel takes for an item of its arrays when it is interpreted, until that has been
# measured; a call takes as long as this many items more. A pass over all arrays takes 1e-7.
_SECONDS_PER_ITEM = 1e-6
_ITEMS_OF_A_CALL = 100
# Seconds that numba takes until it can compile anything, and that loading a kernel takes from
# numba's cache. All are of a processor at 3 GHz, as are those of the kernels.
_NUMBA_SECONDS = 0.4
_LOADING_SECONDS = 0.005
# Compiling is announced when it has taken this long.
_SILENT_SECONDS = 1.0

KERNELS: "list[Kernel[..., Any]]" = []
"""All kernels of the modules that are imported."""


class _Spent:
    """Seconds that this process has spent in interpreted kernels, and in compiling kernels."""

    interpreting = 0.0
    compiling = 0.0


_lock = threading.RLock()
# Functions that kernels call, compiled once for all of them.
_helpers: dict[FunctionType, Any] = {}
# What the running blocks of compiled_at_once call after each kernel.
_forcing: "list[Callable[[Kernel[..., Any]], object]]" = []


def jit_mode() -> str:
    """Return how kernels run: ``auto``, ``always`` or ``never``.

    numba's own ``NUMBA_DISABLE_JIT=1`` means ``never``.
    """
    mode = os.environ.get("KGROUPS_JIT", "auto")
    if mode not in _MODES:
        msg = f"KGROUPS_JIT must be auto, always or never, got {mode!r}."
        raise InputError(msg)
    return "never" if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") else mode


@contextmanager
def compiled_at_once(
    tell: "Callable[[Kernel[..., Any]], object]" = lambda kernel: None,
) -> Iterator[None]:
    """Compile each kernel that is called inside at its first call, unless the mode is ``never``.

    It holds for all threads. ``tell`` is called with each kernel that has been compiled or loaded.
    """
    _forcing.append(tell)
    try:
        yield
    finally:
        _forcing.remove(tell)


class Kernel(Generic[P, R]):
    """A function of arrays and numbers, interpreted until it has taken the time of compiling it.

    ``seconds`` is the time that its compilation takes, as ``benchmarks/startup.py --kernels``
    prints it, and ``per_item`` that of an item of its arrays, interpreted: a guess, until a call
    has been measured.
    """

    def __init__(self, function: Callable[P, R], seconds: float, per_item: float) -> None:
        self.function, self.seconds = function, seconds
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__ = function.__module__
        self._dispatcher: Any = None
        # The dispatcher too, once it has compiled the kernel for the types of a call.
        self._compiled: Any = None
        self._spent, self._per_item = 0.0, per_item
        self._budget: float | None = None
        KERNELS.append(self)

    def __call__(self, *arguments: P.args, **_: P.kwargs) -> R:
        """Run the kernel; its arguments are given by place."""
        if self._compiled is not None:
            return self._compiled(*arguments)  # type: ignore[no-any-return]
        self.prepare(*arguments)
        if self._compiled is not None:
            return self._compiled(*arguments)
        begin = perf_counter()
        result = self._interpret(arguments)
        taken = perf_counter() - begin
        self._spent += taken
        _Spent.interpreting += taken
        # The estimate rises at once and falls slowly: calls of one size take different times.
        self._per_item = max(taken / _items(arguments), 0.5 * self._per_item)
        return result

    def prepare(self, *arguments: Any) -> None:
        """Compile or load the kernel if that pays before a call with such arguments."""
        if self._compiled is not None:
            return
        mode = jit_mode()
        if mode == "auto" and not _forcing:
            mode = "always" if self._pays(_items(arguments) * self._per_item) else "never"
        if mode != "never":
            self._compile_for(arguments)

    def compiled(self) -> Any:
        """Return numba's function, which compiles at its first call with arguments of new types."""
        with _lock:
            if self._dispatcher is None:
                from numba import njit

                if not self._is_cached():
                    # numba itself would notice changes of the kernel's own file alone.
                    self._index().unlink(missing_ok=True)
                self._dispatcher = njit(cache=True, **_OPTIONS)(_linked(self.function))
        return self._dispatcher

    def is_compiled(self) -> bool:
        """Return whether calls run compiled code."""
        return self._compiled is not None

    def _compile_for(self, arguments: tuple[Any, ...]) -> None:
        """Compile the kernel for the types of arguments, in one thread at a time."""
        with _lock:
            if self._compiled is not None:
                return
            begin = perf_counter()
            line = ticking_line(lambda: self._line(begin), before=_Spent.compiling)
            with nullcontext() if _forcing else line:
                dispatcher = self.compiled()
                dispatcher.compile(tuple(map(dispatcher.typeof_pyval, arguments)))
            _Spent.compiling += perf_counter() - begin
            self._compiled = dispatcher
            for tell in tuple(_forcing):
                tell(self)

    def _line(self, begin: float) -> str | None:
        """Return what to say while the kernel is compiled, or None while that takes no time."""
        taken = perf_counter() - begin
        if _Spent.compiling + taken < _SILENT_SECONDS:
            return None
        done = sum(each.seconds for each in KERNELS if each.is_compiled())
        share = (done + min(taken, self.seconds)) / sum(each.seconds for each in KERNELS)
        return f"compiling once for this machine, {100.0 * share:.0f} %"

    def _interpret(self, arguments: tuple[Any, ...]) -> R:
        views = (one.data if isinstance(one, np.ndarray) else one for one in arguments)
        function: Callable[..., R] = self.function
        return function(*views)

    def _pays(self, expected: float) -> bool:
        """Return whether a call of the expected seconds exceeds what is left of the budget."""
        if self._budget is None:
            self._budget = _LOADING_SECONDS if self._is_cached() else self.seconds
        if "numba" not in sys.modules and _Spent.interpreting + expected <= _NUMBA_SECONDS:
            return False
        return self._spent + expected > self._budget

    def _is_cached(self) -> bool:
        """Return whether numba's cache holds the kernel, compiled after its files were changed."""
        try:
            compiled = self._index().stat().st_mtime
            return all(compiled >= file.stat().st_mtime for file in _files_of(self.function))
        except OSError:
            return False

    def _index(self) -> Path:
        """Return the file in which numba lists what it has compiled of the kernel."""
        code, version = self.function.__code__, sys.version_info
        source = Path(code.co_filename)
        name = f"{source.stem}.{self.function.__qualname__}-{code.co_firstlineno}"
        abi = f"py{version.major}{version.minor}{getattr(sys, 'abiflags', '')}"
        return _cache_folder(source) / f"{name.replace('<', '').replace('>', '')}.{abi}.nbi"


def _items(arguments: tuple[Any, ...]) -> int:
    """Return the number of items in the arrays among arguments, and what a call adds to it."""
    return _ITEMS_OF_A_CALL + sum(one.size for one in arguments if isinstance(one, np.ndarray))


def _cache_folder(source: Path) -> Path:
    """Return where numba keeps the compiled functions of a file, without importing numba.

    It takes the first folder that it can write to: one that ``NUMBA_CACHE_DIR`` names, that of the
    file, or one of the user (``numba.core.caching``).
    """
    parent = Path(os.path.abspath(source)).parent  # noqa: PTH100 (resolve follows links)
    of_file = f"{parent.name}_{sha1(str(parent).encode()).hexdigest()}"
    folders = [parent / "__pycache__"]
    if os.environ.get("NUMBA_CACHE_DIR"):
        folders.insert(0, Path(os.environ["NUMBA_CACHE_DIR"]) / of_file)
    for folder in folders:
        existing = next((each for each in (folder, *folder.parents) if each.exists()), None)
        if existing is not None and os.access(existing, os.W_OK | os.X_OK):
            return folder
    return _user_folder() / of_file


def _user_folder() -> Path:
    """Return the folder of numba in the user's folder for caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", ""), "numba", "Cache")
    if sys.platform == "darwin":
        return Path("~/Library/Caches/numba").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "numba"


def _called(function: Any) -> dict[str, FunctionType]:
    """Return the functions of kernel files that a function calls, by their names there."""
    called = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    return {
        name: one
        for name, one in called.items()
        if isinstance(one, FunctionType)
        and (one.__module__ == function.__module__ or one.__module__.endswith("_nb"))
    }


def _files_of(function: Any) -> set[Path]:
    """Return the files of a function and of all that it calls in kernel files."""
    files = {Path(function.__code__.co_filename)}
    return files.union(*map(_files_of, _called(function).values()))


def _linked(function: Any) -> Any:
    """Return a copy of a function of which all that it calls in kernel files is compiled."""
    names = {}
    for name, called in _called(function).items():
        if called not in _helpers:
            from numba import njit

            _helpers[called] = njit(**_OPTIONS)(_linked(called))
        names[name] = _helpers[called]
    if not names:
        return function
    copy = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    copy.__doc__ = function.__doc__
    return copy


def kernel(
    seconds: float, per_item: float = _SECONDS_PER_ITEM
) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Make a function a kernel that takes ``seconds`` to compile; see :class:`Kernel`."""
    return lambda function: Kernel(function, seconds, per_item)
