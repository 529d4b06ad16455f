"""The plan of a study: cells, methods, metrics, trials and seeds, and how two plans differ."""

import ast
import hashlib
import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import kgroups
from kgroups._wording import argument, setting
from kgroups.errors import InputError
from kgroups.metrics import accuracy, overlap
from kgroups.studies.methods import Method, described

Cell = Mapping[str, Any]
RESERVED = ("trial", "method", "k_given", "k_hat", "seconds", "seed")

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]")
_WITH_OPTIONS = re.compile(r"(.*?)\((.*)\)", re.DOTALL)
# Limits of error messages: values of a parameter that are listed, and characters of other values.
_MOST_VALUES = 8
_LONGEST = 160
_ABSENT = "absent"


class Task(NamedTuple):
    """One graph to draw: the number of its cell and of its trial."""

    cell: int
    trial: int


class Metric(NamedTuple):
    """A number that compares planted with found labels."""

    name: str
    score: Callable[[Any, Any], float]

    @property
    def needs_k(self) -> bool:
        """Whether it is reported only for methods that are given k, as overlap and accuracy are."""
        # Both count the nodes in the one group matched with each planted group, which is not a
        # fair score for a method that may find more groups, or fewer.
        return self.score in (accuracy, overlap)


@dataclass(frozen=True)
class Plan:
    """All that determines the rows of a study; ``entropy`` is the ``rng`` of the user."""

    generator: Callable[..., Any]
    cells: tuple[Cell, ...]
    methods: tuple[Method, ...]
    metrics: tuple[Metric, ...]
    trials: int
    entropy: int

    def tasks(self, shard: tuple[int, int] | None = None) -> list[Task]:
        """Return all tasks, or every N-th from the i-th on for a shard (i, N)."""
        every = [Task(c, t) for c in range(len(self.cells)) for t in range(self.trials)]
        return every if shard is None else every[shard[0] - 1 :: shard[1]]

    def seed(self, task: Task) -> int:
        """Return the seed of a trial."""
        return trial_seed(self.entropy, self.cells[task.cell], task.trial)

    def describe(self) -> dict[str, Any]:
        """Return the plan as plain values; plans with equal values give equal rows."""
        return {
            "kgroups": kgroups.__version__,
            "generator": described(self.generator),
            "cells": [dict(cell) for cell in self.cells],
            "methods": {method.name: described(method.find) for method in self.methods},
            "k_given": {method.name: method.k_given for method in self.methods},
            "metrics": {metric.name: described(metric.score) for metric in self.metrics},
            "trials": self.trials,
            "entropy": self.entropy,
        }


def trial_seed(entropy: int, cell: Cell, trial: int) -> int:
    """Return the seed of a trial, which depends on its cell but not on the rest of the grid."""
    identity = json.dumps(dict(cell), sort_keys=True).encode()
    words = np.frombuffer(hashlib.sha256(identity).digest()[:16], dtype="<u4").tolist()
    sequence = np.random.SeedSequence(entropy, spawn_key=(*words, trial))
    # Parquet tables hold signed 64-bit integers.
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


def as_cells(grid: Mapping[str, Any] | Sequence[Cell]) -> tuple[Cell, ...]:
    """Return the cells of a grid: all combinations of a mapping's values, or the mappings given."""
    if isinstance(grid, Mapping):
        values = [
            [value] if isinstance(value, str) or np.ndim(value) == 0 else list(value)
            for value in grid.values()
        ]
        given = [dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*values)]
    else:
        given = [dict(cell) for cell in grid]
    if not given:
        msg = "a study needs at least one cell, got an empty grid.\n  Give each parameter a value."
        raise InputError(msg)
    cells = tuple({name: _plain(name, value) for name, value in cell.items()} for cell in given)
    for number, cell in enumerate(cells):
        reserved = [name for name in cell if name in RESERVED]
        if tuple(cell) != tuple(cells[0]):
            msg = (
                f"every cell must have the same parameters, got {', '.join(cells[0])} in cell 0 "
                f"and {', '.join(cell)} in cell {number}."
            )
        elif reserved:
            msg = f"{reserved[0]!r} is a column of every study and cannot be a grid parameter."
        elif cell in cells[:number]:
            values_twice = " ".join(setting(name, value) for name, value in cell.items())
            msg = f"the cells of a grid must differ, got {values_twice} twice."
        else:
            continue
        raise InputError(msg)
    return cells


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        msg = f"a parameter of a grid must be finite, got {setting(name, value)}."
        raise InputError(msg)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    msg = (
        f"a parameter of a grid must be a number, text, True, False or None, got {name} = "
        f"{value!r} of type {type(value).__name__}.\n"
        "  Name the choice in the grid and let the generator look it up."
    )
    raise InputError(msg)


def check_named(plan: Mapping[str, Any]) -> None:
    """Raise if a described plan has a callable that cannot be identified by its name."""
    descriptions = {"the generator": plan["generator"]}
    descriptions |= {f"the method {name!r}": text for name, text in plan["methods"].items()}
    descriptions |= {f"the metric {name!r}": text for name, text in plan["metrics"].items()}
    for role, text in descriptions.items():
        if _ADDRESS.search(text):
            msg = (
                "a journal identifies functions by their names, which a lambda, a function defined "
                "inside another one or an object without its own repr does not have; "
                f"{role} is {text}.\n"
                "  Define it with def at the top level of a module and pass options by "
                "functools.partial, or run the study without a journal."
            )
            raise InputError(msg)


class Difference(NamedTuple):
    """The name of what differs, and its value in each plan."""

    name: str
    first: str
    second: str


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Difference]:
    """Return the differences between two described plans.

    A parameter 3 differs from 3.0, because seeds are derived from its text.
    """
    found: list[Difference] = []
    for entry, one in first.items():
        other = second.get(entry)
        if _canonical(one) == _canonical(other):
            continue
        details = list(_details(entry, first, second)) if other else []
        if not details and (entry != "k_given" or not other):
            name = {"kgroups": "version of kgroups", "entropy": argument("rng")}
            texts = (_short(one), _short(other))
            details = [Difference(name.get(entry, argument(entry)), *texts)]
        found += details
    return found


def _details(
    entry: str, first: Mapping[str, Any], second: Mapping[str, Any]
) -> Iterator[Difference]:
    """Yield the values within an entry that differ, if they have names."""
    one, other = first[entry], second[entry]
    if entry == "cells":
        for name in dict.fromkeys((*one[0], *other[0])):
            values = [
                list(dict.fromkeys(_canonical(cell[name]) for cell in cells if name in cell))
                for cells in (one, other)
            ]
            if values[0] != values[1]:
                yield Difference(argument(name), _listed(*values), _listed(*values[::-1]))
    elif entry == "generator":
        (name, options), (other_name, others) = _parsed_call(one), _parsed_call(other)
        for option in dict.fromkeys((*options, *others)) if name == other_name else ():
            texts = options.get(option, _ABSENT), others.get(option, _ABSENT)
            if texts[0] != texts[1]:
                yield Difference(argument(option), *texts)
    elif entry in ("methods", "metrics") and sorted(one) != sorted(other):
        yield Difference(argument(entry), ", ".join(one), ", ".join(other))
    elif entry in ("methods", "metrics"):
        for name in one:
            if one[name] != other[name]:
                yield Difference(f"{entry[:-1]} {name!r}", one[name], other[name])
    elif entry == "k_given":
        for name, k_given in one.items():
            same = first["methods"][name] == second["methods"].get(name)
            if same and other.get(name) != k_given:
                called = ("called with k", "called without k")
                yield Difference(f"method {name!r}", *(called if k_given else called[::-1]))


def _parsed_call(text: str) -> tuple[str, dict[str, str]]:
    """Split the description of a callable into its name and its options, if all have names."""
    match = _WITH_OPTIONS.fullmatch(text)
    source = f"f({match[2]})" if match else ""
    with suppress(SyntaxError):
        call = ast.parse(source, mode="eval").body
        if match and isinstance(call, ast.Call) and not call.args:
            values = {str(each.arg): each.value for each in call.keywords}
            return match[1], {
                name: str(ast.get_source_segment(source, value)) for name, value in values.items()
            }
    return text, {}


def _listed(texts: list[str], others: list[str]) -> str:
    """List the values of a parameter; of many values only those missing in the other plan."""
    if len(texts) > _MOST_VALUES:
        own = [text for text in texts if text not in others]
        common = len(texts) - len(own)
        texts = own[:_MOST_VALUES]
        texts += ["..."] * (len(own) > _MOST_VALUES)
        texts += [f"{common} that are in both"] * (common > 0)
    return ", ".join(texts) or _ABSENT


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
