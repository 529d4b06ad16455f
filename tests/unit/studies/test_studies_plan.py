"""Cells, tasks and seeds: what decides the rows of a study."""

from dataclasses import dataclass
from functools import partial, wraps

import numpy as np
import pytest

from kgroups.errors import InputError
from kgroups.studies.methods import Method
from kgroups.studies.plan import Metric, Plan, Task, as_cells, check_named, described, trial_seed


def plan_of(grid, trials=3, entropy=0):
    return Plan(dict, as_cells(grid), (), (), trials, entropy)


def test_cells_are_all_combinations_in_order():
    cells = as_cells({"k": [2, 3], "mode": "plain", "snr": np.array([0.5, 1.0])})
    assert cells == (
        {"k": 2, "mode": "plain", "snr": 0.5},
        {"k": 2, "mode": "plain", "snr": 1.0},
        {"k": 3, "mode": "plain", "snr": 0.5},
        {"k": 3, "mode": "plain", "snr": 1.0},
    )


def test_cells_may_be_given_one_by_one():
    assert as_cells([{"n": 4, "k": 2}, {"n": 9, "k": 3}]) == ({"n": 4, "k": 2}, {"n": 9, "k": 3})


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ([], "a study needs at least one cell, got an empty grid"),
        ({"snr": []}, "a study needs at least one cell"),
        ([{"n": 4}, {"k": 4}], "the same parameters, got n in cell 0 and k in cell 1"),
        ({"trial": [1, 2]}, "'trial' is a column of every study"),
        ({"snr": [1.0, 1.0]}, r"the cells of a grid must differ, got snr=1.0 twice"),
        ({"snr": np.inf}, "a parameter of a grid must be finite, got snr=float"),
        ({"law": [len, max]}, "must be a number, text, True, False or None, got law = <built-in"),
    ],
)
def test_grid_that_cannot_be(grid, message):
    with pytest.raises(InputError, match=message):
        as_cells(grid)


def test_seeds_stay_the_same_in_all_versions():
    assert trial_seed(0, {"n": 100, "k": 2, "snr": 1.5}, 0) == 8501145165888659505
    assert trial_seed(7, {"n": 100, "k": 2, "snr": 1.5}, 3) == 4149607824866122975


def test_seed_follows_from_the_cell_not_from_the_grid():
    small = plan_of({"n": 100, "snr": [1.0, 2.0]})
    large = plan_of({"n": [50, 100], "snr": [0.5, 1.0, 1.5, 2.0]}, trials=9)
    assert small.seed(Task(1, 2)) == large.seed(Task(7, 2))
    assert small.cells[1] == large.cells[7]


def test_seeds_differ_between_cells_trials_and_entropies():
    seeds = {
        plan_of({"n": [1, 2, 3], "snr": [1.0, 2.0]}, entropy=entropy).seed(Task(cell, trial))
        for entropy in range(3)
        for cell in range(6)
        for trial in range(10)
    }
    assert len(seeds) == 3 * 6 * 10
    assert all(0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 20])
def test_shards_are_disjoint_and_make_up_the_whole(parts):
    plan = plan_of({"n": [1, 2, 3, 4]}, trials=3)
    shards = [plan.tasks((i, parts)) for i in range(1, parts + 1)]
    assert sorted(task for shard in shards for task in shard) == plan.tasks()
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


@dataclass(frozen=True)
class Law:
    exponent: float

    def draw(self, n, rng):
        return n


class Plain:
    def draw(self, n, rng):
        return n


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def draw(self, n, rng):
        return self.factor * n

    def __call__(self, n, rng):
        return self.factor * n


def decorated(factor):
    def decorate(function):
        @wraps(function)
        def scaled(*args):
            return factor * function(*args)

        return scaled

    return decorate


def local(kind):
    if kind == "first":

        def draw(n, rng):
            return n
    else:

        def draw(n, rng):
            return -n

    return draw


def counted(n, rng):
    return n


LONG = np.arange(5_000.0)
UNNAMED = {
    "lambda": lambda n, rng: n,
    "function made inside another one": local("first"),
    "closure": decorated(2)(counted),
    "option that is such a function": partial(counted, rng=local("a")),
    "object that holds such a function": partial(counted, [Scaled(local("a"))]),
}


@pytest.mark.parametrize("function", UNNAMED.values(), ids=UNNAMED)
@pytest.mark.parametrize("role", ["generator", "method", "metric"])
def test_callables_that_cannot_be_identified_are_refused_by_journals(function, role):
    callables = {"generator": counted, "method": counted, "metric": counted, role: function}
    method = Method("mine", callables["method"])
    metric = Metric("mine", callables["metric"])
    plan = Plan(callables["generator"], as_cells({"n": 1}), (method,), (metric,), 1, 0)
    with pytest.raises(InputError, match=r"identifies functions by their names[^\n]*; the " + role):
        check_named(plan)
    named = Plan(counted, as_cells({"n": 1}), (Method("mine", counted),), (), 1, 0)
    check_named(named)


ALIKE = {
    "objects": (Scaled(2), Scaled(3)),
    "methods": (Scaled(2).draw, Scaled(3).draw),
    "methods of laws": (Law(2.0).draw, Law(3.0).draw),
    "methods of builtin types": (np.random.RandomState(1).gamma, np.random.RandomState(2).gamma),
    "options inside containers": (partial(counted, [Scaled(2)]), partial(counted, [Scaled(3)])),
}


@pytest.mark.parametrize("pair", ALIKE.values(), ids=ALIKE)
def test_callables_that_look_alike_are_told_apart(pair):
    first, second = map(described, pair)
    assert first is not None
    assert second is not None
    assert first != second


def test_arrays_are_told_apart_by_all_their_digits():
    changed = LONG.copy()
    changed[2_500] += 1e-9
    assert described(partial(counted, LONG)) != described(partial(counted, changed))
    assert described(partial(counted, LONG)) == described(partial(counted, LONG.copy()))


def test_callables_are_described_with_their_options():
    assert ".mean #" in described(np.mean)
    assert "Law(exponent=2.0) #" in described(partial(Law, exponent=2.0))
    assert "Law.draw #" in described(Law(2.0).draw)
    assert described(Law(2.0).draw) == described(Law(2.0).draw)
    assert described(Plain().draw) == described(Plain().draw)
