"""How messages name what the caller can change: arguments in Python, flags on the command line.

A message is written once, with these functions where it names an argument or gives Python code.
The command line puts its own :class:`Wording` in force while a command runs.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Wording", "argument", "function", "in_python", "setting", "worded"]


class Wording:
    """The words of callers in Python."""

    def argument(self, name: str) -> str:
        """Return the name of an argument."""
        return name

    def setting(self, name: str, value: object) -> str:
        """Return an argument with a value."""
        return f"{name}={_literal(value)}"

    def function(self, name: str) -> str:
        """Return the name of a function."""
        return name

    def in_python(self, text: str) -> str:
        """Return advice that only callers in Python can follow."""
        return text


_PYTHON = Wording()
_wording: ContextVar[Wording] = ContextVar("kgroups_wording", default=_PYTHON)


@contextmanager
def worded(wording: Wording) -> Iterator[None]:
    """Let messages that are written in this context use other words."""
    token = _wording.set(wording)
    try:
        yield
    finally:
        _wording.reset(token)


def argument(name: str) -> str:
    """Return what the caller calls an argument; a name that is none comes back as it is.

    Examples
    --------
    >>> argument("max_expansion")
    'max_expansion'
    """
    return _wording.get().argument(name)


def setting(name: str, value: object) -> str:
    """Return how the caller gives an argument a value.

    Examples
    --------
    >>> setting("symmetrize", "sum"), setting("weight", None)
    ('symmetrize="sum"', 'weight=None')
    """
    return _wording.get().setting(name, value)


def function(name: str) -> str:
    """Return how the caller runs a function, written with its brackets.

    Examples
    --------
    >>> function("Partition.save()")
    'Partition.save()'
    """
    return _wording.get().function(name)


def in_python(text: str) -> str:
    """Return a part of a message, or nothing where the caller does not write Python."""
    return _wording.get().in_python(text)


def _literal(value: object) -> str:
    """Return Python code for a value, text in double quotes as everywhere in the documentation."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    text = repr(value)
    plain = isinstance(value, str) and text[1:-1] == value and '"' not in value
    return f'"{value}"' if plain else text
