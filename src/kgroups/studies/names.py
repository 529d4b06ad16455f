"""Names of callables, under which journals and tables know them."""

from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any

__all__ = ["described"]


def described(function: Callable[..., Any]) -> str:
    """Return where a callable comes from, with the options that a partial or its object carries."""
    if isinstance(function, partial):
        given = [*map(repr, function.args), *(f"{n}={v!r}" for n, v in function.keywords.items())]
        return f"{described(function.func)}({', '.join(given)})"
    if isinstance(function, MethodType):
        owner, method = function.__self__, described(function.__func__)
        # The address that stands for an object by default is another one in every process.
        return method if type(owner).__repr__ is object.__repr__ else f"{method} of {owner!r}"
    name = getattr(function, "__qualname__", None)
    if name is None:
        return repr(function)
    return f"{function.__module__}.{name}"
