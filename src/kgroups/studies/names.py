"""Names of callables, under which journals and tables know them."""

import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from kgroups.errors import InputError

__all__ = ["check_named", "described"]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]")


def described(function: Callable[..., Any]) -> str:
    """Return the name of a callable, with the options that a partial or its object carries.

    A callable that is not found under its own name, such as a lambda or a function made inside
    another one, is described by its address in memory, because others may have the same name.
    """
    if isinstance(function, partial):
        given = [*map(_value, function.args)]
        given += [f"{name}={_value(value)}" for name, value in function.keywords.items()]
        return f"{described(function.func)}({', '.join(given)})"
    if isinstance(function, MethodType):
        owner, method = function.__self__, described(function.__func__)
        return method if _has_nothing_to_show(owner) else f"{method} of {_value(owner)}"
    if isinstance(function, BuiltinMethodType) and not isinstance(
        function.__self__, ModuleType | None
    ):
        return f"{function.__qualname__} of {_value(function.__self__)}"
    if getattr(function, "__qualname__", None) is None:
        return f"{_named(type(function))}()" if _has_nothing_to_show(function) else _shown(function)
    return _named(function)


def check_named(plan: Mapping[str, Any]) -> None:
    """Refuse a plan for a journal if it has a callable that cannot be told from others by name.

    Parameters
    ----------
    plan : mapping
        What ``Plan.describe`` returns.
    """
    descriptions = {"the generator": plan["generator"]}
    descriptions |= {f"the method {name!r}": text for name, text in plan["methods"].items()}
    descriptions |= {f"the metric {name!r}": text for name, text in plan["metrics"].items()}
    for role, text in descriptions.items():
        if _ADDRESS.search(text):
            msg = (
                "a journal knows functions by their names, and a lambda, a function made inside "
                "another one or an object without a repr of its own looks like any other; "
                f"{role} is {text}.\n"
                "  Define it with def at the top level of a module and pass options by "
                "functools.partial, or run the study without a journal."
            )
            raise InputError(msg)


def _named(thing: Any) -> str:
    """Return the full name of a function or class, with its address if the name is not its own."""
    name = f"{thing.__module__}.{thing.__qualname__}"
    found: Any = sys.modules.get(thing.__module__)
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    return name if found is thing else f"<{name} at {id(thing):#x}>"


def _value(value: Any) -> str:
    """Return an option of a callable in words that differ if the values differ."""
    if isinstance(value, partial | FunctionType | MethodType | BuiltinMethodType | type):
        return described(value)
    return _shown(value)


def _shown(value: Any) -> str:
    # numpy shortens long arrays and rounds numbers.
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return repr(value)


def _has_nothing_to_show(owner: object) -> bool:
    """Whether an object has no values and no repr but its address, which changes in each run."""
    return type(owner).__repr__ is object.__repr__ and getattr(owner, "__dict__", None) == {}
