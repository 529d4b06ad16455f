"""Kernels: loops over arrays that run as plain Python until compiling them pays.

A kernel takes contiguous arrays and numbers, fills arrays of the caller, and returns a number or
nothing. It allocates nothing, draws nothing and raises nothing. Interpreted, it sees its arrays as
memoryviews, whose items are Python's own numbers, so that both ways give the same digits; it asks
for ``len(array)`` and ``array.shape``, and slices no array. ``math.log`` and ``math.exp`` are those
of the compiled code. Functions that a kernel calls stand in its file: numba's cache of compiled
code notices changes of that file alone.

``KGROUPS_JIT`` is ``auto``, ``always`` (compile at the first call) or ``never``. In ``auto`` a
kernel is interpreted while that takes less time than its compilation, all calls together, so that
nobody waits more than about twice as long as with the better of the other two.
"""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from kgroups.errors import InputError

__all__ = ["KERNELS", "Kernel", "jit_mode", "kernel"]

P = ParamSpec("P")
R = TypeVar("R")

_MODES = ("auto", "always", "never")
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# Seconds that an interpreted kernel takes for an item of its arrays, until it has been measured.
_SECONDS_PER_ITEM = 3e-6
# Seconds that importing numba takes, and loading a kernel that is in its cache.
_NUMBA_SECONDS = 0.5
_LOADING_SECONDS = 0.01
# Seconds that all kernels together have been interpreted in this process.
_interpreted = [0.0]
_lock = threading.RLock()
# Functions that kernels call, compiled once for all of them.
_helpers: dict[FunctionType, Any] = {}

KERNELS: "list[Kernel[..., Any]]" = []
"""All kernels of the modules that are imported."""


def jit_mode() -> str:
    """Return how kernels run: ``auto``, ``always`` or ``never``.

    numba's own ``NUMBA_DISABLE_JIT=1`` means ``never``.
    """
    mode = os.environ.get("KGROUPS_JIT", "auto")
    if mode not in _MODES:
        msg = f"KGROUPS_JIT must be auto, always or never, got {mode!r}."
        raise InputError(msg)
    return "never" if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") else mode


class Kernel(Generic[P, R]):
    """A function of arrays and numbers, interpreted until it has taken the time of compiling it.

    ``seconds`` is the time that its compilation takes, as ``benchmarks/startup.py`` prints it.
    """

    def __init__(self, function: Callable[P, R], seconds: float) -> None:
        self.function, self.seconds = function, seconds
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__ = function.__module__
        self._compiled: Callable[P, R] | None = None
        self._spent, self._per_item = 0.0, _SECONDS_PER_ITEM
        self._budget: float | None = None
        KERNELS.append(self)

    def __call__(self, *arguments: P.args, **_: P.kwargs) -> R:
        """Run the kernel; its arguments are given by place."""
        if self._compiled is not None:
            return self._compiled(*arguments)
        mode = jit_mode()
        if mode == "always":
            return self.compiled()(*arguments)
        if mode == "never":
            return self._interpret(arguments)
        items = sum(one.size for one in arguments if isinstance(one, np.ndarray))
        if self._pays(items * self._per_item):
            return self.compiled()(*arguments)
        begin = perf_counter()
        result = self._interpret(arguments)
        taken = perf_counter() - begin
        self._spent += taken
        _interpreted[0] += taken
        if items:
            self._per_item = max(taken / items, 0.5 * self._per_item)
        return result

    def compiled(self) -> Callable[P, R]:
        """Return the compiled function, which is compiled or loaded now if it was not before."""
        with _lock:
            if self._compiled is None:
                from numba import njit

                self._compiled = njit(cache=True, **_OPTIONS)(_linked(self.function))
        return self._compiled

    def _interpret(self, arguments: Any) -> R:
        views = (memoryview(one) if isinstance(one, np.ndarray) else one for one in arguments)
        return self.function(*views)  # type: ignore[call-arg]

    def _pays(self, expected: float) -> bool:
        """Return whether a call of so many seconds exceeds what is left of the budget."""
        if self._budget is None:
            self._budget = _LOADING_SECONDS if self._is_cached() else self.seconds
        if "numba" not in sys.modules and _interpreted[0] + expected <= _NUMBA_SECONDS:
            return False
        return self._spent + expected > self._budget

    def _is_cached(self) -> bool:
        """Return whether numba's cache holds the kernel, compiled after its file was changed."""
        source = Path(self.function.__code__.co_filename)
        line = self.function.__code__.co_firstlineno
        name = f"{source.stem}.{self.__name__}-{line}.*.nbi"
        folder = os.environ.get("NUMBA_CACHE_DIR")
        folders = Path(folder).glob("*") if folder else [source.parent / "__pycache__"]
        try:
            changed = source.stat().st_mtime
            return any(
                index.stat().st_mtime >= changed for each in folders for index in each.glob(name)
            )
        except OSError:
            return False


def _linked(function: Any) -> Any:
    """Return a copy of a function of which all that it calls in its file is compiled."""
    names = {}
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if isinstance(called, FunctionType) and called.__module__ == function.__module__:
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


def kernel(seconds: float) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Make a function a kernel that takes ``seconds`` to compile."""
    return lambda function: Kernel(function, seconds)
