"""Words that messages share: names of arguments, counts, and how to install an extra.

A message names an argument as the caller does: ``weight=None`` in Python, ``--no-weight`` on the
command line, which sets its own :class:`Wording` while a command runs.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Characters of a name in a message.
_LONGEST_NAME = 100


class Wording:
    """The words of callers in Python."""

    def argument(self, name: str) -> str:
        """Return the name of an argument; a name that is none is returned unchanged."""
        return name

    def setting(self, name: str, value: object) -> str:
        """Return an argument with a value."""
        return f"{name}={_literal(value)}"

    def function(self, name: str) -> str:
        """Return the name of a function, which is written with its parentheses."""
        return name

    def in_python(self, text: str) -> str:
        """Return advice that only callers in Python can follow, else nothing."""
        return text


_wording: ContextVar[Wording] = ContextVar("kgroups_wording", default=Wording())  # noqa: B039


@contextmanager
def worded(wording: Wording) -> Iterator[None]:
    """Use other words in the messages of this context."""
    token = _wording.set(wording)
    try:
        yield
    finally:
        _wording.reset(token)


def argument(name: str) -> str:
    """Return the caller's name of an argument."""
    return _wording.get().argument(name)


def setting(name: str, value: object) -> str:
    """Return how the caller sets an argument to a value.

    >>> setting("symmetrize", "sum"), setting("weight", None)
    ('symmetrize="sum"', 'weight=None')
    """
    return _wording.get().setting(name, value)


def function(name: str) -> str:
    """Return how the caller runs a function."""
    return _wording.get().function(name)


def in_python(text: str) -> str:
    """Return a part of a message, or nothing if the caller does not write Python."""
    return _wording.get().in_python(text)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> counted(1, "node"), counted(2, "node"), counted(0, "community", "communities")
    ('1 node', '2 nodes', '0 communities')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def counted_communities(k: int, single: int = 0, of: str = "") -> str:
    """Return a number of communities in words, apart from those that are single nodes.

    >>> counted_communities(84, 80), counted_communities(2), counted_communities(3, 3)
    ('4 communities and 80 single nodes', '2 communities', '3 single nodes')
    """
    several = [counted(k - single, "community", "communities") + of] if single < k or not k else []
    return " and ".join([*several, *([counted(single, "single node")] if single else [])])


def and_more(total: int, shown: int, what: str = "") -> list[str]:
    """Return a line on what is left out of a list of ``total`` entries, if anything is.

    >>> and_more(1200, 20), and_more(9, 8, " pairs"), and_more(3, 20)
    (['and 1,180 more'], ['and 1 more pairs'], [])
    """
    return [f"and {total - shown:,} more{what}"] if total > shown else []


def listed(names: Iterable[object], most: int = 10) -> str:
    """Return names as Python code, the first ones if they are many.

    >>> listed(["ann", 7]), listed(range(4), most=3), listed([])
    ("'ann', 7", '0, 1, 2 and 1 more', 'none')
    """
    shown = list(map(shown_name, names))
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more or "none"


def text_of(value: object) -> str:
    """Return a value as text; if Python cannot write it, what it is.

    >>> text_of("ann"), text_of(-(10**5000))
    ('ann', 'a number of 16,610 bits')
    """
    return _written(str, value)


def shown_name(name: object) -> str:
    """Return the name of a node as Python code of limited length; if it has none, what it is.

    >>> shown_name("ann"), shown_name(10**5000)
    ("'ann'", 'a number of 16,610 bits')
    """
    text = _written(repr, name)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."


def _written(write: Callable[[object], str], value: object) -> str:
    # Python writes integers of a limited number of digits, and tuples of a limited depth.
    try:
        return write(value)
    except ValueError:
        if isinstance(value, int):
            return f"a number of {value.bit_length():,} bits"
        return f"a {type(value).__name__} with a number that is too long to write"
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deep"


def install_hint(extra: str) -> str:
    """Return how to install an extra; kgroups is on no package index.

    >>> install_hint("plot")
    'Install it from the checkout of kgroups: python -m pip install ".[plot]"'
    """
    return f'Install it from the checkout of kgroups: python -m pip install ".[{extra}]"'


def _literal(value: object) -> str:
    """Return Python code for a value, with text in double quotes as in the documentation."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    text = repr(value)
    plain = isinstance(value, str) and text[1:-1] == value and '"' not in value
    return f'"{value}"' if plain else text
