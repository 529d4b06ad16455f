"""Names of callables, under which journals and tables know them."""

from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["described"]


def described(function: Callable[..., Any]) -> str:
    """Return where a callable comes from, with the options that a partial or object carries."""
    if isinstance(function, partial):
        given = [*map(repr, function.args), *(f"{n}={v!r}" for n, v in function.keywords.items())]
        return f"{described(function.func)}({', '.join(given)})"
    name = getattr(function, "__qualname__", None)
    if name is None:
        return repr(function)
    return f"{function.__module__}.{name}"
