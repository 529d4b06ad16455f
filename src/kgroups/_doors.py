"""Checks that public functions make once, at the door."""

import operator
from collections.abc import Iterable

import numpy as np

from kgroups._wording import argument, in_python, setting
from kgroups.errors import InputError, NumberOfCommunitiesError

__all__ = ["RngLike", "as_rng", "check_choice", "check_count", "check_k"]

RngLike = int | np.random.Generator | None


def as_rng(rng: RngLike) -> np.random.Generator:
    """Return a Generator; ``None`` is the fixed stream that makes calls repeatable."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        return np.random.default_rng(0)
    if isinstance(rng, bool | np.bool_) or not isinstance(rng, int | np.integer) or rng < 0:
        kinds = f"{in_python('None, ')}a whole number >= 0{in_python(' or a numpy Generator')}"
        generator = in_python(" or rng=numpy.random.default_rng(0)")
        msg = (
            f"{argument('rng')} must be {kinds}, got {rng!r}.\n"
            f"  Pass for instance {setting('rng', 0)}{generator}."
        )
        raise InputError(msg)
    return np.random.default_rng(int(rng))


def check_k(k: object, n: int) -> int:
    """Return ``k`` as an int if it is a whole number from 1 to ``n``."""
    or_none = in_python(" or None")
    hint = f"  Leave {argument('k')} out to have the number of communities found."
    try:
        if isinstance(k, bool | np.bool_):
            raise TypeError
        number = operator.index(k)  # type: ignore[arg-type]
    except TypeError:
        msg = f"{argument('k')} must be a whole number >= 1{or_none}, got {k!r}.\n{hint}"
        raise NumberOfCommunitiesError(msg) from None
    if number < 1:
        msg = f"{argument('k')} must be a whole number >= 1{or_none}, got {number}.\n{hint}"
        raise NumberOfCommunitiesError(msg)
    if number > n:
        msg = (
            f"{argument('k')} must not exceed the number of nodes, got "
            f"{setting('k', number)} for {n} nodes: "
            f"{number} non-empty communities cannot be made of them.\n{hint}"
        )
        raise NumberOfCommunitiesError(msg)
    return number


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    allowed = list(choices)
    if value not in allowed:
        listed = ", ".join(repr(choice) for choice in allowed)
        msg = f"{argument(name)} must be one of {listed}, got {value!r}."
        raise InputError(msg)


def check_count(name: str, value: object, *, error: type[InputError] = InputError) -> int:
    """Return ``value`` as an int if it is a whole number >= 1."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        msg = f"{argument(name)} must be a whole number >= 1, got {value!r}."
        raise error(msg)
    return number
