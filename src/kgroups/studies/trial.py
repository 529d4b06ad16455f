"""One trial: draw a graph, let every method find labels, compare them with the planted ones."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from kgroups._blas import single_threaded
from kgroups.adapters import as_graph
from kgroups.adapters.labels import as_labels
from kgroups.errors import InputError
from kgroups.studies.bench import Workbench
from kgroups.studies.methods import METHODS
from kgroups.studies.plan import Plan, Task
from kgroups.studies.points import Points

__all__ = ["Results", "run_batch", "run_trial"]

Results = dict[str, dict[str, float]]
"""From the name of a method to its metrics, k_hat and seconds; what is absent is NaN in tables."""


def run_batch(plan: Plan, tasks: Sequence[Task]) -> list[tuple[Task, Results]]:
    """Run several trials in this process, on one thread of linear algebra."""
    _warm()
    # Whatever the size of the matrices: other trials use the other cores.
    with single_threaded(0):
        return [(task, run_trial(plan, task)) for task in tasks]


def run_trial(plan: Plan, task: Task) -> Results:
    """Run one trial; the rows depend on the plan and the task alone."""
    cell, seed = plan.cells[task.cell], plan.seed(task)
    place = f"in cell {dict(cell)}, trial {task.trial}, seed {seed}"
    try:
        source, planted = _drawn(plan, task)
        graph = source.without_edges() if isinstance(source, Points) else as_graph(source)
        truth = as_labels(planted, graph)
    except Exception as error:
        error.add_note(f"kgroups study: the generator failed {place}")
        raise
    if isinstance(source, Points):
        _check_called(plan)
    work = Workbench(source, graph, int(cell.get("k") or np.unique(truth).size), seed)
    results = {}
    for method in plan.methods:
        try:
            found, seconds = work.timed(method.find)
            labels = as_labels(found, graph)
            scores = {
                metric.name: float(metric.score(truth, labels))
                for metric in plan.metrics
                if method.k_given or not metric.needs_k
            }
        except Exception as error:
            error.add_note(f"kgroups study: the method {method.name!r} failed {place}")
            raise
        results[method.name] = {**scores, "k_hat": np.unique(labels).size, "seconds": seconds}
    return results


def _drawn(plan: Plan, task: Task) -> tuple[Any, Any]:
    rng = np.random.default_rng(plan.seed(task)).spawn(2)[0]
    drawn = plan.generator(**plan.cells[task.cell], rng=rng)
    try:
        source, planted = drawn
    except (TypeError, ValueError):
        msg = (
            "a generator must return a graph and its planted labels, got "
            f"{type(drawn).__name__}.\n  Return a pair such as (graph, labels)."
        )
        raise InputError(msg) from None
    return source, planted


def _check_called(plan: Plan) -> None:
    finders = [method.find for method in METHODS.values()]
    named = [method.name for method in plan.methods if method.find in finders]
    if named:
        msg = (
            f"the method {named[0]!r} needs a graph, and the generator returned points.\n"
            "  Pass callables that take (points, k, rng)."
        )
        raise InputError(msg)


@cache
def _warm() -> None:
    """Load the kernels once per process, so that no trial is timed while they compile."""
    from kgroups.detect import warm

    warm()
