"""The plan of a study: cells, methods, metrics, trials and seeds, and how two plans differ."""

import hashlib
import itertools
import json
import math
import pickle
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import kgroups
from kgroups._wording import argument, setting
from kgroups.errors import InputError
from kgroups.metrics import accuracy, overlap
from kgroups.studies.methods import Method

Cell = Mapping[str, Any]
RESERVED = ("trial", "method", "k_given", "k_hat", "seconds", "seed")

PLAN_ENTRIES = (
    "kgroups", "generator", "cells", "methods", "k_given", "metrics", "trials", "entropy"
)  # fmt: skip
"""What a described plan holds."""
# Characters of a value in an error message.
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
        """Return the plan as plain values; plans with equal values give equal rows.

        A callable is None if it cannot be identified, which :func:`check_named` refuses.
        """
        return {
            "kgroups": kgroups.__version__,
            "generator": described(self.generator),
            "cells": [dict(cell) for cell in self.cells],
            "methods": {method.name: described(method.function) for method in self.methods},
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


def check_named(plan: Plan) -> None:
    """Raise if a callable of a plan cannot be identified by its name and options."""
    callables = {"the generator": plan.generator}
    callables |= {f"the method {method.name!r}": method.function for method in plan.methods}
    callables |= {f"the metric {metric.name!r}": metric.score for metric in plan.metrics}
    for role, function in callables.items():
        if described(function) is None:
            msg = (
                "a journal identifies functions by their names, which a lambda, a function defined "
                "inside another one or an object that cannot be pickled does not have; "
                f"{role} is {function!r}.\n"
                "  Define it with def at the top level of a module and pass options by "
                "functools.partial, or run the study without a journal."
            )
            raise InputError(msg)


def described(function: Callable[..., Any]) -> str | None:
    """Return the name of a callable with its options, and a checksum of its pickle.

    None for a callable that pickle cannot keep, such as a lambda or a function defined inside
    another one, because others may have the same name.
    """
    try:
        content = pickle.dumps(function, protocol=4)
    except Exception:
        # Objects within may raise errors of any kind.
        return None
    options: list[str] = []
    if isinstance(function, partial):
        options = [*map(repr, function.args)]
        options += [f"{name}={value!r}" for name, value in function.keywords.items()]
        function = function.func
    named = function if hasattr(function, "__qualname__") else type(function)
    given = f"({', '.join(options)})" if options else ""
    return f"{named.__module__}.{named.__qualname__}{given} #{zlib.crc32(content):08x}"


class Difference(NamedTuple):
    """The name of what differs, and its value in each plan."""

    name: str
    first: str
    second: str


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Difference]:
    """Return the differences between two described plans.

    A parameter 3 differs from 3.0, because seeds are derived from its text.
    """
    one, other = _named_values(first), _named_values(second)
    found = [
        Difference(name, one.get(name, _ABSENT), other.get(name, _ABSENT))
        for name in dict.fromkeys((*one, *other))
        if one.get(name) != other.get(name)
    ]
    if not found and first["cells"] != second["cells"]:
        found = [Difference("cells", json.dumps(first["cells"]), json.dumps(second["cells"]))]
    return [Difference(name, *map(_shortened, values)) for name, *values in found]


def _named_values(plan: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a described plan by the names that messages have for them."""
    values = {"version of kgroups": plan["kgroups"], "generator": plan["generator"]}
    for name in plan["cells"][0]:
        texts = dict.fromkeys(json.dumps(cell[name]) for cell in plan["cells"])
        values[argument(name)] = ", ".join(texts)
    for name, text in plan["methods"].items():
        values[f"method {name!r}"] = f"{text} called with{'' if plan['k_given'][name] else 'out'} k"
    values |= {f"metric {name!r}": text for name, text in plan["metrics"].items()}
    trials, entropy = str(plan["trials"]), str(plan["entropy"])
    return {**values, argument("trials"): trials, argument("rng"): entropy}


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
