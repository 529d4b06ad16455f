"""Sweeps over any generator, the phase transition of detection, and the merge of shards."""

import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from kgroups import metrics as library
from kgroups._progress import Progress
from kgroups._validation import check_choice, check_integer, check_real
from kgroups._wording import setting
from kgroups.errors import InputError
from kgroups.generators import planted_partition
from kgroups.generators.blocks import planted_probabilities
from kgroups.studies.methods import Method, as_methods
from kgroups.studies.plan import RESERVED, Cell, Metric, Plan, Task, as_cells, differences
from kgroups.studies.running import holds_plan, read_journal, run_tasks
from kgroups.studies.table import Study, study_of

_METRICS = library.METRIC_NAMES


def sweep(
    generator: Callable[..., Any],
    grid: Mapping[str, Any] | Sequence[Cell],
    methods: Any = ("kgroups",),
    metrics: Any = ("overlap", "nmi", "ami"),
    trials: int = 10,
    *,
    rng: int | None = 0,
    n_jobs: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    shard: tuple[int, int] | None = None,
    progress: Progress = True,
) -> Study:
    """Draw graphs over a grid of parameters and let methods find their groups.

    Parameters
    ----------
    generator : callable
        Called as ``generator(**cell, rng=Generator)``; returns a graph and its planted labels, or
        ``kgroups.studies.Points`` and their classes, for methods that are callables.
    grid : mapping or sequence of mappings
        From each parameter to a value or to several, of which all combinations are cells; or the
        cells themselves. A parameter called ``k`` is the number of groups that methods are given;
        without it, they are given the number of planted groups.
    methods : names, callables, or a mapping from names to either
        ``kgroups``, ``kgroups-auto``, ``kgroups-paper``, ``kgroups-paper-uniform``,
        ``bethe-hessian``, ``bethe-hessian-raw``, ``bp`` (belief propagation), ``bp-oracle`` (the
        same at the true rates of a block model of ``kgroups.generators``),
        ``spectral-adjacency``, ``leiden`` (2 iterations), ``leiden-converged`` (while iterations
        raise modularity), ``louvain``, ``infomap`` (1 trial). A callable takes
        ``(graph, k, rng)``, or ``(graph, rng)`` if it chooses k itself, and returns labels in any
        form. It is given k if a parameter is named ``k``, or else if three parameters or more
        have no default, as with ``*args``.
    metrics : names, or a mapping from names to callables
        ``overlap``, ``nmi``, ``ami`` or any other function of ``kgroups.metrics`` that returns a
        number; a callable takes planted and found labels. Overlap and accuracy of methods that
        choose k themselves (``kgroups-auto``, ``leiden``, ``leiden-converged``, ``louvain``,
        ``infomap``) are NaN; compare them with others by ``ami``.
    trials : int
        Graphs per cell.
    rng : int or None
        Entropy of all seeds; ``None`` draws one, which a journal keeps.
    n_jobs : int or None
        Processes; -1 is one per core. ``None`` is one, or what ``joblib.parallel_config`` says:
        under ``joblib.parallel_config("dask")`` the study runs on the Dask cluster.
    journal : path, optional
        File to which finished trials are added, and from which an interrupted study resumes.
    shard : (int, int), optional
        ``(i, N)`` runs the i-th of N parts, counted from 1; see :func:`merge`.
    progress : bool or callable
        Whether to show a bar with the time left, on a terminal only; or a function that is called
        with the number of trials done and their total.

    Returns
    -------
    Study
        A row per cell, trial and method. The seed of a trial follows from ``rng``, the values of
        its cell and its number, so that the rows do not depend on the number of processes, on
        interruptions or on shards; only ``seconds`` do.

    Raises
    ------
    InputError
        If an argument is invalid, or the journal belongs to another study.

    Examples
    --------
    >>> import networkx as nx
    >>> def ring(cliques, size, rng):
    ...     graph = nx.ring_of_cliques(cliques, size)
    ...     return graph, [node // size for node in graph]
    >>> study = sweep(ring, {"cliques": [4, 8], "size": 6}, trials=1)
    >>> [(row["cliques"], row["overlap"]) for row in study.rows]
    [(4, 1.0), (8, 1.0)]
    """
    if not callable(generator):
        msg = f"a generator must be callable, got {generator!r}."
        raise InputError(msg)
    if shard is not None:
        _check_shard(shard, rng)
    if rng is not None:
        entropy = check_integer("rng", rng, low=0)
    elif journal is not None and holds_plan(journal):
        entropy = read_journal(journal)[0]["entropy"]
    else:
        entropy = secrets.randbits(64)
    chosen, scores = as_methods(methods), _as_metrics(metrics)
    _check_scored(chosen, scores)
    trials = check_integer("trials", trials)
    plan = Plan(generator, as_cells(grid), chosen, scores, trials, entropy)
    finished = run_tasks(plan, plan.tasks(shard), n_jobs=n_jobs, journal=journal, progress=progress)
    return study_of(plan.describe(), finished)


def phase_transition(
    n: int | Sequence[int],
    k: int | Sequence[int],
    degree: float | Sequence[float],
    snr: float | Sequence[float],
    methods: Any = ("kgroups", "bethe-hessian"),
    trials: int = 10,
    *,
    metrics: Any = ("overlap", "nmi", "ami"),
    sizes: Literal["balanced", "multinomial"] = "balanced",
    beyond: Literal["error", "clip"] = "error",
    rng: int | None = 0,
    n_jobs: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    shard: tuple[int, int] | None = None,
    progress: Progress = True,
) -> Study:
    """Study how well methods recover planted groups around the threshold of detection.

    Parameters
    ----------
    n, k, degree, snr : number or several
        Nodes, groups, mean degree and signal-to-noise ratio of
        :func:`kgroups.generators.planted_partition`; all combinations are cells.
    methods, trials, metrics
        As for :func:`sweep`.
    sizes : {"balanced", "multinomial"}
        Groups of equal size, or each node in a random group.
    beyond : {"error", "clip"}
        What to do with a ratio above the square root of the degree, for which there is no such
        model: raise, or have no edges between groups, as the paper's figure does.
    rng, n_jobs, journal, shard, progress
        As for :func:`sweep`.

    Returns
    -------
    Study
        Its ``plot()`` shades the region below a ratio of 1, where nothing can be detected.

    Examples
    --------
    >>> study = phase_transition(300, 2, 6.0, [0.5, 2.0], methods="kgroups", trials=4)
    >>> below, above = (line["mean"] for line in study.summary() if line["metric"] == "overlap")
    >>> below < 0.4 < 0.8 < above
    True
    """
    check_choice("sizes", sizes, ("balanced", "multinomial"))
    check_choice("beyond", beyond, ("error", "clip"))
    grid = {
        "n": [check_integer("n", value) for value in np.atleast_1d(n).tolist()],
        "k": [check_integer("k", value) for value in np.atleast_1d(k).tolist()],
        "degree": _numbers("degree", degree),
        "snr": _numbers("snr", snr),
    }
    # Raise for a cell that cannot be drawn now, not after hours of other cells.
    for cell in as_cells(grid):
        planted_probabilities(**cell, beyond=beyond)
    return sweep(
        partial(planted_partition, sizes=sizes, beyond=beyond),
        grid,
        methods,
        metrics,
        trials,
        rng=rng,
        n_jobs=n_jobs,
        journal=journal,
        shard=shard,
        progress=progress,
    )


def merge(journals: Iterable[str | os.PathLike[str]]) -> Study:
    """Return the whole study from the journals of its shards.

    Parameters
    ----------
    journals : paths
        Journals of one study. A trial that several of them hold counts once.

    Returns
    -------
    Study
        With the rows that one run would have given.

    Raises
    ------
    InputError
        If the journals belong to different studies, or trials are missing.
    FileFormatError
        If a journal is damaged.
    """
    paths = list(journals)
    if not paths:
        msg = "merging needs at least one journal.\n  Name the journals of the shards."
        raise InputError(msg)
    plan, finished = read_journal(paths[0])
    for path in paths[1:]:
        other, more = read_journal(path)
        differ = [f"{name} ({one}, {two})" for name, one, two in differences(plan, other)]
        if differ:
            msg = (
                f"the journals must be of one study: {paths[0]} and {path} differ in "
                f"{', '.join(differ)}."
            )
            raise InputError(msg)
        finished = {**more, **finished}
    cells, trials = plan["cells"], plan["trials"]
    every = (Task(cell, trial) for cell in range(len(cells)) for trial in range(trials))
    missing = [task for task in every if task not in finished]
    if missing:
        msg = (
            f"all {len(cells) * trials} trials must be there, {len(missing)} are missing; the "
            f"first is trial {missing[0].trial} of {cells[missing[0].cell]}.\n"
            "  Run the unfinished shards again with the same journals, and name all journals."
        )
        raise InputError(msg)
    return study_of(plan, finished)


def _numbers(name: str, values: Any) -> list[float]:
    listed = np.atleast_1d(values).tolist()
    return [check_real(name, value, low=0.0, finite=False) for value in listed]


def _as_metrics(metrics: Any) -> tuple[Metric, ...]:
    if isinstance(metrics, str):
        metrics = (metrics,)
    if not isinstance(metrics, Mapping):
        for name in metrics:
            check_choice("a metric", name, _METRICS)
        metrics = {name: getattr(library, name) for name in metrics}
    taken = [name for name in metrics if name in RESERVED]
    if taken or not metrics:
        msg = (
            f"a metric cannot be called {taken[0]!r}: every study has a column of that name."
            if taken
            else "a study needs at least one metric."
        )
        raise InputError(msg)
    return tuple(Metric(str(name), score) for name, score in metrics.items())


def _check_scored(methods: Sequence[Method], metrics: Sequence[Metric]) -> None:
    choosing = [method.name for method in methods if not method.k_given]
    if choosing and all(metric.needs_k for metric in metrics):
        known = [metric.name for metric in metrics if metric.name in _METRICS]
        msg = (
            "overlap and accuracy are reported for methods that are given k, and "
            f"{', '.join(choosing)} {'is' if len(choosing) == 1 else 'are'} not.\n"
            f"  Add another metric, such as {setting('metrics', ('ami', *known))}."
        )
        raise InputError(msg)


def _check_shard(shard: Any, rng: int | None) -> None:
    fits = isinstance(shard, tuple) and len(shard) == 2
    if not fits or not all(type(part) is int for part in shard) or not 1 <= shard[0] <= shard[1]:
        msg = (
            "a shard must be the i-th of N parts with whole numbers 1 <= i <= N, got "
            f"{setting('shard', shard)}.\n"
            f"  {setting('shard', (1, 4))} runs the first of four parts."
        )
        raise InputError(msg)
    if rng is None:
        msg = (
            "a shard needs rng to be a number, the same for all shards, got None.\n"
            f"  Pass for instance {setting('rng', 0)}."
        )
        raise InputError(msg)
