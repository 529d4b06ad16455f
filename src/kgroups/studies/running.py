"""The trials of a study, run in this process, in several, or on a cluster."""

import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache, partial
from os import PathLike
from typing import Any

import numpy as np

from kgroups._blas import single_threaded
from kgroups._parallel import finished_batches
from kgroups._progress import Progress, counted_progress, interrupts_restored
from kgroups._warm import warm_detection
from kgroups.adapters import as_graph, as_labels
from kgroups.errors import InputError, KGroupsWarning
from kgroups.generators import Planted
from kgroups.graph import Graph
from kgroups.studies.journal import Journal, Results
from kgroups.studies.methods import METHODS, Points, TrialContext
from kgroups.studies.plan import Cell, Plan, Task, check_named

# Kernels are compiled once per process before its first trial, so that no trial's time has it.
_compile_once = cache(warm_detection)


def run_tasks(
    plan: Plan,
    tasks: Sequence[Task],
    *,
    n_jobs: int | None,
    journal: str | PathLike[str] | None,
    progress: Progress,
) -> dict[Task, Results]:
    """Return the results of the tasks; those in the journal are not run again."""
    with ExitStack() as stack:
        opened = None
        if journal is not None:
            entries = plan.describe()
            check_named(entries)
            opened = stack.enter_context(Journal(journal, entries))
        before = {} if opened is None else opened.finished
        finished = {task: before[task] for task in tasks if task in before}
        waiting = [task for task in tasks if task not in finished]
        show = stack.enter_context(
            counted_progress(len(tasks), "trial", progress=progress, before=len(finished))
        )
        show(len(finished))
        for batch in finished_batches(partial(_run_batch, plan), waiting, n_jobs):
            for task, results in batch:
                if opened is not None:
                    opened.append(task, results)
                finished[task] = results
            show(len(finished))
    return finished


def _run_batch(plan: Plan, tasks: Sequence[Task]) -> list[tuple[Task, Results]]:
    """Run several trials in this process, on one thread of linear algebra."""
    _compile_once()
    # For matrices of any size, because other trials use the other cores.
    with interrupts_restored(), single_threaded(0), warnings.catch_warnings():
        # One warning per trial would hide the output of a study, which measures quality itself.
        warnings.simplefilter("ignore", KGroupsWarning)
        return [(task, _run_trial(plan, task)) for task in tasks]


def _run_trial(plan: Plan, task: Task) -> Results:
    """Run one trial; the results depend only on the plan and the task."""
    cell, seed = plan.cells[task.cell], plan.seed(task)
    place = f"in cell {dict(cell)}, trial {task.trial}, seed {seed}"
    try:
        drawn = _drawn(plan, cell, np.random.default_rng(seed).spawn(2)[0])
        source, planted = drawn
        if isinstance(source, Points):
            # The labels of points are validated against a graph without edges.
            graph = Graph.from_edges([], [], n=len(source.X))
        else:
            graph = as_graph(source)
        truth = as_labels(planted, graph)
    except Exception as error:
        error.add_note(f"kgroups study: the generator failed {place}")
        raise
    k = int(cell.get("k") or np.unique(truth).size)
    context = TrialContext(source, graph, k, seed, drawn if isinstance(drawn, Planted) else None)
    results = {}
    for method in plan.methods:
        try:
            found, seconds = context.timed(method.find)
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


def _drawn(plan: Plan, cell: Cell, rng: np.random.Generator) -> Any:
    drawn = plan.generator(**cell, rng=rng)
    try:
        source, _ = drawn
    except (TypeError, ValueError):
        msg = (
            "a generator must return a graph and its planted labels, got "
            f"{type(drawn).__name__}.\n  Return a pair such as (graph, labels)."
        )
        raise InputError(msg) from None
    finders = [method.find for method in METHODS.values()]
    named = [method.name for method in plan.methods if method.find in finders]
    if isinstance(source, Points) and named:
        msg = (
            f"the method {named[0]!r} needs a graph, and the generator returned points.\n"
            "  Pass callables that take (points, k, rng)."
        )
        raise InputError(msg)
    return drawn
