"""What a study will do: its cells, methods and trials, and the seed of each trial."""

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import kgroups
from kgroups._wording import setting
from kgroups.errors import InputError
from kgroups.metrics import accuracy, overlap
from kgroups.studies.methods import Method
from kgroups.studies.names import described

__all__ = ["Cell", "Metric", "Plan", "Task", "as_cells", "trial_seed"]

Cell = Mapping[str, Any]
RESERVED = ("trial", "method", "k_given", "k_hat", "seconds", "seed")


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
        """Whether it is reported only for methods that are given k, as overlap and accuracy are.

        Both count the nodes in the one group matched with each planted one. A method that is free
        to find more groups, or fewer, answers another question.
        """
        return self.score in (accuracy, overlap)


@dataclass(frozen=True)
class Plan:
    """Everything that decides the rows of a study.

    Attributes
    ----------
    generator : callable
        Called with the values of a cell and ``rng``; returns a graph and its planted labels.
    cells : tuple of mappings
        The parameters of each cell of the grid.
    methods, metrics : tuple
        What finds labels, and what compares them with the planted ones.
    trials : int
        Graphs per cell.
    entropy : int
        From which, with the cell and the trial, every seed follows.
    """

    generator: Callable[..., Any]
    cells: tuple[Cell, ...]
    methods: tuple[Method, ...]
    metrics: tuple[Metric, ...]
    trials: int
    entropy: int

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what varies from cell to cell, in the order of the columns."""
        return tuple(self.cells[0])

    def tasks(self, shard: tuple[int, int] | None = None) -> list[Task]:
        """Return all tasks, or those of shard i of N: every N-th, so that shards weigh alike."""
        every = [Task(c, t) for c in range(len(self.cells)) for t in range(self.trials)]
        return every if shard is None else every[shard[0] - 1 :: shard[1]]

    def seed(self, task: Task) -> int:
        """Return the seed of a trial."""
        return trial_seed(self.entropy, self.cells[task.cell], task.trial)

    def describe(self) -> dict[str, Any]:
        """Return the plan as plain values; two plans with equal ones give equal rows."""
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
    """Return the seed of a trial; it follows from its cell, not from the rest of the grid."""
    identity = json.dumps(dict(cell), sort_keys=True).encode()
    words = np.frombuffer(hashlib.sha256(identity).digest()[:16], dtype="<u4").tolist()
    sequence = np.random.SeedSequence(entropy, spawn_key=(*words, trial))
    # Tables hold signed 64-bit numbers.
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


def as_cells(grid: Mapping[str, Any] | Sequence[Cell]) -> tuple[Cell, ...]:
    """Return the cells of a grid: all combinations of a mapping's values, or the mappings given."""
    if isinstance(grid, Mapping):
        values = [list(_several(value)) for value in grid.values()]
        given = [dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*values)]
    else:
        given = [dict(cell) for cell in grid]
    if not given:
        msg = "a study needs at least one cell, got an empty grid.\n  Give each parameter a value."
        raise InputError(msg)
    cells = tuple({name: _plain(name, value) for name, value in cell.items()} for cell in given)
    for number, cell in enumerate(cells):
        _check_cell(cell, cells, number)
    return cells


def _check_cell(cell: Cell, cells: Sequence[Cell], number: int) -> None:
    if tuple(cell) != tuple(cells[0]):
        msg = (
            f"every cell must have the same parameters, got {', '.join(cells[0])} in cell 0 and "
            f"{', '.join(cell)} in cell {number}."
        )
        raise InputError(msg)
    taken = [name for name in cell if name in RESERVED]
    if taken:
        msg = f"{taken[0]!r} is a column of every study and cannot be a parameter of the grid."
        raise InputError(msg)
    if cell in cells[:number]:
        values = " ".join(setting(name, value) for name, value in cell.items())
        msg = f"the cells of a grid must differ, got {values} twice."
        raise InputError(msg)


def _several(value: Any) -> Iterator[Any]:
    """Yield the values of a parameter; a single one stands for itself."""
    if isinstance(value, str) or np.ndim(value) == 0:
        yield value
    else:
        yield from value


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
