"""The doors of the room: sweeps over any generator, and the phase transition of detection."""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from kgroups import metrics as library
from kgroups._doors import check_choice
from kgroups._progress import Progress
from kgroups._wording import argument, in_python, setting
from kgroups.errors import InputError
from kgroups.studies.journal import holds_plan, read_journal
from kgroups.studies.methods import Method, as_methods
from kgroups.studies.plan import RESERVED, Cell, Metric, Plan, as_cells
from kgroups.studies.running import run_tasks
from kgroups.studies.table import Study, study_of

__all__ = ["phase_transition", "sweep"]

_METRICS = ("overlap", "nmi", "ami", "ari", "accuracy", "variation_of_information")


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
    progress: Progress = "bar",
) -> Study:
    """Draw graphs over a grid of parameters and let methods find their groups.

    Parameters
    ----------
    generator : callable
        Called as ``generator(**cell, rng=Generator)``; returns a graph and its planted labels, or
        ``kgroups.studies.points.Points`` and theirs, for methods that are callables.
    grid : mapping or sequence of mappings
        From each parameter to a value or to several, of which all combinations are cells; or the
        cells themselves. A parameter called ``k`` is the number of groups that methods are told;
        without it that is the number of planted groups.
    methods : names, callables, or a mapping from names to either
        ``kgroups``, ``kgroups-auto``, ``kgroups-paper``, ``kgroups-paper-uniform``,
        ``bethe-hessian``, ``bethe-hessian-raw``, ``spectral-adjacency``, ``leiden`` (2
        iterations), ``leiden-converged`` (while iterations raise modularity), ``louvain``,
        ``infomap`` (1 trial). A callable takes ``(graph, k, rng)``, or ``(graph, rng)`` if it
        chooses k itself, and returns labels in any form. It is given k if a parameter is named
        ``k``, or else if three parameters or more have no default, as with ``*args``.
    metrics : names, or a mapping from names to callables
        ``overlap``, ``nmi``, ``ami``, ``ari``, ``accuracy``, ``variation_of_information``; a
        callable takes planted and found labels. Overlap and accuracy of methods that choose k
        themselves (``kgroups-auto``, ``leiden``, ``leiden-converged``, ``louvain``, ``infomap``)
        are NaN; compare them with others by ``ami``.
    trials : int
        Graphs per cell.
    rng : int or None
        From which all seeds follow; ``None`` draws one, which a journal keeps.
    n_jobs : int or None
        Processes; -1 is one per core. ``None`` is one, or what ``joblib.parallel_config`` says:
        under ``joblib.parallel_config("dask")`` the study runs on the Dask cluster.
    journal : path, optional
        File to which finished trials are added, and from which an interrupted study goes on.
    shard : (int, int), optional
        ``(i, N)`` runs the i-th of N parts, counted from 1; see :func:`merge`.
    progress : "bar", callable or None
        A bar with the time left, shown on a terminal only; or what is called with the number of
        trials done and their total.

    Returns
    -------
    Study
        A row per cell, trial and method. The seed of a trial follows from ``rng``, the values of
        its cell and its number, so that the rows do not depend on the number of processes, on
        interruptions or on shards; only ``seconds`` do.

    Raises
    ------
    InputError
        If an argument is not what it must be, or the journal belongs to another study.

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
    part = _checked_shard(shard)
    if part is not None and rng is None:
        msg = (
            "a shard needs rng to be a number, the same for all of them, got None: shards of "
            f"different entropy are not one study.\n  Pass for instance {setting('rng', 0)}."
        )
        raise InputError(msg)
    entropy = _entropy(rng, journal)
    chosen, scores = as_methods(methods), _as_metrics(metrics)
    _check_scored(chosen, scores)
    plan = Plan(
        generator,
        as_cells(grid),
        chosen,
        scores,
        _checked_count("trials", trials),
        entropy,
    )
    tasks = plan.tasks(part)
    finished = run_tasks(plan, tasks, n_jobs=n_jobs, journal=journal, progress=progress)
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
    progress: Progress = "bar",
) -> Study:
    """Study how well planted groups come back around the threshold of detection.

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
    from kgroups.generators.blocks import planted_partition, planted_probabilities

    check_choice("sizes", sizes, ("balanced", "multinomial"))
    check_choice("beyond", beyond, ("error", "clip"))
    grid = {
        "n": [_checked_count("n", value) for value in np.atleast_1d(n).tolist()],
        "k": [_checked_count("k", value) for value in np.atleast_1d(k).tolist()],
        "degree": [_checked_number("degree", value) for value in np.atleast_1d(degree).tolist()],
        "snr": [_checked_number("snr", value) for value in np.atleast_1d(snr).tolist()],
    }
    # A cell that cannot be drawn is refused here, not after hours of others.
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


def _entropy(rng: int | None, journal: str | os.PathLike[str] | None) -> int:
    if rng is None:
        return _kept_entropy(journal)
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        msg = (
            f"{argument('rng')} of a study must be {in_python('None or ')}a whole number >= 0, got "
            f"{rng!r}: seeds of single trials are derived from it."
        )
        raise InputError(msg)
    return int(rng)


def _kept_entropy(journal: str | os.PathLike[str] | None) -> int:
    if journal is not None and holds_plan(journal):
        return int(read_journal(journal)[0]["entropy"])
    return secrets.randbits(64)


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


def _checked_count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        msg = f"{argument(name)} must be a whole number >= 1, got {value!r}."
        raise InputError(msg)
    return int(value)


def _checked_number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        msg = f"{argument(name)} must be a number >= 0, got {value!r}."
        raise InputError(msg)
    return float(value)


def _checked_shard(shard: Any) -> tuple[int, int] | None:
    if shard is None:
        return None
    fits = isinstance(shard, tuple) and len(shard) == 2
    if not fits or not all(type(part) is int for part in shard) or not 1 <= shard[0] <= shard[1]:
        msg = (
            "a shard must be the i-th of N parts with whole numbers 1 <= i <= N, got "
            f"{setting('shard', shard)}.\n"
            f"  {setting('shard', (1, 4))} runs the first of four parts."
        )
        raise InputError(msg)
    return shard[0], shard[1]
