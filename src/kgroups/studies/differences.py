"""Values in which two plans of studies differ, under the names that the caller knows."""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kgroups._wording import argument

__all__ = ["Difference", "differences"]

_WITH_OPTIONS = re.compile(r"(.*?)\((.*)\)", re.DOTALL)
_MOST_VALUES = 8
_LONGEST = 160
_ABSENT = "absent"


class Difference(NamedTuple):
    """What differs, and its value in either plan."""

    name: str
    first: str
    second: str


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Difference]:
    """Return the values in which two plans differ, as ``Plan.describe`` gives them.

    A parameter 3 is not 3.0 here, because seeds follow from what is written.
    """
    found: list[Difference] = []
    for entry in first:
        one, other = first[entry], second.get(entry)
        if _canonical(one) == _canonical(other):
            continue
        if entry == "k_given" and other:
            found += _of_k_given(first, second)
        else:
            in_detail = [*_IN_DETAIL[entry](one, other)] if entry in _IN_DETAIL and other else []
            found += in_detail or [Difference(_name(entry), _short(one), _short(other))]
    return found


def _of_cells(first: Sequence[Any], second: Sequence[Any]) -> Iterator[Difference]:
    """Compare the values of each parameter over the grid."""
    for name in dict.fromkeys((*first[0], *second[0])):
        values = [_unique(cells, name) for cells in (first, second)]
        if _canonical(values[0]) != _canonical(values[1]):
            one, other = values
            yield Difference(argument(name), _listed(one, other), _listed(other, one))


def _of_options(first: str, second: str) -> Iterator[Difference]:
    """Compare the options of one generator; yield nothing if they cannot be told apart by name."""
    parsed = [_WITH_OPTIONS.fullmatch(text) for text in (first, second)]
    if parsed[0] is None or parsed[1] is None or parsed[0][1] != parsed[1][1]:
        return
    one, other = (_options(match[2]) for match in parsed if match is not None)
    if one is None or other is None:
        return
    for name in dict.fromkeys((*one, *other)):
        if one.get(name) != other.get(name):
            yield Difference(argument(name), one.get(name, _ABSENT), other.get(name, _ABSENT))


def _options(text: str) -> dict[str, str] | None:
    """Return options by name, or None if some have no name or are not written as Python."""
    source = f"f({text})"
    try:
        call = ast.parse(source, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or call.args:
        return None
    return {
        str(option.arg): str(ast.get_source_segment(source, option.value))
        for option in call.keywords
    }


def _of_names(
    role: str, first: Mapping[str, str], second: Mapping[str, str]
) -> Iterator[Difference]:
    if sorted(first) != sorted(second):
        yield Difference(argument(role), ", ".join(first), ", ".join(second))
        return
    for name in first:
        if first[name] != second[name]:
            yield Difference(f"{role[:-1]} {name!r}", first[name], second[name])


def _of_methods(first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[Difference]:
    return _of_names("methods", first, second)


def _of_metrics(first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[Difference]:
    return _of_names("metrics", first, second)


def _of_k_given(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Difference]:
    """Compare who is given k among the methods that are the same functions in both plans."""
    for name, k_given in first["k_given"].items():
        same = first["methods"][name] == second["methods"].get(name)
        if same and second["k_given"].get(name) != k_given:
            called = ("called with k", "called without k")
            yield Difference(f"method {name!r}", *(called if k_given else called[::-1]))


_IN_DETAIL: Mapping[str, Any] = {
    "cells": _of_cells,
    "generator": _of_options,
    "methods": _of_methods,
    "metrics": _of_metrics,
}


def _name(entry: str) -> str:
    return {"kgroups": "version of kgroups", "entropy": argument("rng")}.get(entry, argument(entry))


def _unique(cells: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    return list({_canonical(cell[name]): cell[name] for cell in cells if name in cell}.values())


def _listed(values: Sequence[Any], others: Sequence[Any]) -> str:
    """Return the values of a parameter; of many only those that the other plan does not have."""
    if len(values) > _MOST_VALUES:
        elsewhere = set(map(_canonical, others))
        own = [value for value in values if _canonical(value) not in elsewhere]
        common = len(values) - len(own)
        shown = [
            *map(_canonical, own[:_MOST_VALUES]),
            *(["..."] if len(own) > _MOST_VALUES else []),
        ]
        return ", ".join([*shown, *([f"{common} that are in both"] if common else [])])
    return ", ".join(map(_canonical, values)) or _ABSENT


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
