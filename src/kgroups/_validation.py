"""Validation of arguments: numbers, choices, the number of communities and the random stream."""

import difflib
import inspect
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from kgroups._wording import argument, in_python, setting, shown_name
from kgroups.errors import InputError, NumberOfCommunitiesError

RngLike = int | np.random.Generator | None
P = ParamSpec("P")
R = TypeVar("R")


def as_rng(rng: RngLike) -> np.random.Generator:
    """Return a Generator; ``None`` is the fixed stream that makes calls repeatable."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        return np.random.default_rng(0)
    number = _as_integer(rng)
    if number is None or number < 0:
        kinds = f"{in_python('None, ')}a whole number >= 0{in_python(' or a numpy Generator')}"
        generator = in_python(" or rng=numpy.random.default_rng(0)")
        msg = (
            f"{argument('rng')} must be {kinds}, got {rng!r}.\n"
            f"  Pass for instance {setting('rng', 0)}{generator}."
        )
        raise InputError(msg)
    return np.random.default_rng(number)


def check_k(k: object, n: int) -> int:
    """Return ``k`` as an int if it is a whole number from 1 to ``n``."""
    number = _as_integer(k)
    if number is not None and 1 <= number <= n:
        return number
    hint = f"  Leave {argument('k')} out to have the number of communities found."
    if number is None or number < 1:
        or_none = in_python(" or None")
        msg = f"{argument('k')} must be a whole number >= 1{or_none}, got {k!r}.\n{hint}"
    else:
        msg = (
            f"{argument('k')} must not exceed the number of nodes, got "
            f"{setting('k', number)} for {n} nodes: "
            f"{number} non-empty communities cannot be made of them.\n{hint}"
        )
    raise NumberOfCommunitiesError(msg)


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    allowed = list(choices)
    if value not in allowed:
        listed = ", ".join(repr(choice) for choice in allowed)
        msg = f"{argument(name)} must be one of {listed}, got {value!r}."
        raise InputError(msg)


def check_integer(
    name: str, value: object, *, low: int = 1, error: type[InputError] = InputError
) -> int:
    """Return ``value`` as an int if it is a whole number not below ``low``."""
    number = _as_integer(value)
    if number is None or number < low:
        msg = f"{argument(name)} must be a whole number >= {low}, got {value!r}."
        raise error(msg)
    return number


def check_real(
    name: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    finite: bool = True,
    what: str = "number",
    hint: str = "",
) -> float:
    """Return ``value`` as a float if it is a number in ``[low, high]``.

    ``what`` says what is counted, such as "number of edges", and ``hint`` what to pass instead.
    """
    if is_real(value, finite=finite) and low <= value <= high:
        return float(value)
    kind = what if math.isfinite(low) or not finite else f"finite {what}"
    bounds = f" >= {low:g}" if math.isfinite(low) else ""
    if math.isfinite(high):
        bounds = f" from {low:g} to {high:g}"
    msg = f"{argument(name)} must be a {kind}{bounds}, got {value!r}.{hint and chr(10)}{hint}"
    raise InputError(msg)


def is_real(value: Any, *, finite: bool = True) -> bool:
    """Return whether ``value`` is a real number that fits in a float, and not a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        number = float(value)
    except OverflowError:
        return False
    return math.isfinite(number) or not (finite or math.isnan(number))


def plain_name(name: Any) -> Any:
    """Return a scalar of NumPy as the number or text of Python, any other name unchanged."""
    return name.item() if isinstance(name, np.generic) else name


def name_text(name: object, where: str) -> str:
    """Return the name of a node as text, or raise if it has none that can be shown ``where``."""
    try:
        return str(name)
    except (ValueError, RecursionError) as error:
        msg = (
            f"node names in {where} must be numbers or text of ordinary length, got "
            f"{shown_name(name)}.\n  Rename this node first."
        )
        raise InputError(msg) from error


def _as_integer(value: Any) -> int | None:
    """Return a whole number as an int, and None for anything else, truth values included."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def changed_options(self: Any) -> str:
    """Return the repr of a dataclass with the fields that differ from their defaults.

    A class takes it by ``__repr__ = changed_options``. Evaluated, it gives an equal object.
    """
    shown = []
    for field in fields(self):
        value, default = getattr(self, field.name), field.default
        if default is MISSING and field.default_factory is not MISSING:
            default = field.default_factory()
        if default is MISSING or value != default:
            shown.append(f"{field.name}={value!r}")
    return f"{type(self).__qualname__}({', '.join(shown)})"


def naming_what_is_meant(
    instead: Mapping[str, str],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Say which argument is meant where a function has none of a name; the signature stays.

    ``instead`` holds a sentence for each name that other packages use.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = inspect.signature(function).parameters

        @wraps(function)
        def checked(*args: P.args, **options: P.kwargs) -> R:
            for name in sorted(options.keys() - known.keys()):
                close = difflib.get_close_matches(name, known, n=1)
                others = f"Its arguments are {', '.join(known)}."
                hint = instead.get(name) or (f"Did you mean {close[0]}?" if close else others)
                msg = f"{function.__name__}() has no argument {name!r}.\n  {hint}"
                raise TypeError(msg)
            return function(*args, **options)

        return checked

    return decorate
