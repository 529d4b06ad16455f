"""``optimal``: belief propagation, confidence, P(k) and the verdict, measured on fresh graphs.

This is no experiment of the paper. It shows how close the posterior with learned rates comes to
belief propagation that is told the true ones, the Bayes-optimal line of block models.
"""

import os
import warnings
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

import kgroups
from kgroups._blas import single_threaded
from kgroups._parallel import finished_batches
from kgroups._progress import Progress, counted_progress
from kgroups.errors import KGroupsWarning
from kgroups.studies import Journal, Task, trial_seed
from reproduce.inference_trials import RELATIVE, Cell, Values, calibration_error, cells
from reproduce.results import Claim, Finding, Measured, counted, measured

# Entropy of all seeds; nothing was chosen on these graphs.
_ENTROPY = 20_261_117
_TRIALS = 100
# The name under which a journal keeps the values of a trial.
_VALUES = "values"

Run = list[tuple[Cell, list[Values]]]
"""The cells of the experiment, each with the values of its trials."""


def optimal(
    trials: int | None = None,
    *,
    n_jobs: int | None = None,
    progress: Progress = True,
    journal: str | os.PathLike[str] | None = None,
) -> Finding:
    """Measure posterior, confidence, P(k) and verdict beside what is optimal.

    Parameters
    ----------
    trials : int, optional
        Graphs per cell, 100 by default. The number of random graphs of the verdict, and the sizes
        of the graphs on which time and many communities are measured, are in proportion to it.
    n_jobs : int or None
        Processes.
    progress : bool or callable
        As for :func:`kgroups.studies.sweep`.
    journal : path, optional
        File to which finished trials are added, and from which an interrupted run resumes.
    """
    trials = trials or _TRIALS
    run = _run(trials, n_jobs, progress, journal)
    return _recovery(
        run, trials, (_calibration(run), _chains(run), _verdicts(run), _numbers(run), _times(run))
    )


def _run(
    trials: int,
    n_jobs: int | None,
    progress: Progress,
    journal: str | os.PathLike[str] | None,
) -> Run:
    every = cells(trials)
    tasks = [Task(c, t) for c, cell in enumerate(every) for t in range(cell.trials)]
    plan = {
        "kgroups": kgroups.__version__,
        "generator": "reproduce optimal",
        "methods": {_VALUES: "reproduce optimal"},
        "k_given": {_VALUES: False},
        "metrics": {},
        "cells": [{"part": cell.part, "cell": str(dict(cell.parameters))} for cell in every],
        "trials": trials,
        "entropy": _ENTROPY,
    }
    with ExitStack() as stack:
        opened = None if journal is None else stack.enter_context(Journal(journal, plan))
        finished = {} if opened is None else dict(opened.finished)
        waiting = [task for task in tasks if task not in finished]
        show = stack.enter_context(
            counted_progress(len(tasks), "trial", progress=progress, before=len(finished))
        )
        for batch in finished_batches(partial(_run_batch, trials), waiting, n_jobs):
            for task, values in batch:
                finished[task] = {_VALUES: values}
                if opened is not None:
                    opened.append(task, finished[task])
            show(len(finished))
    return [
        (cell, [finished[Task(c, t)][_VALUES] for t in range(cell.trials)])
        for c, cell in enumerate(every)
    ]


def _run_batch(trials: int, tasks: Sequence[Task]) -> list[tuple[Task, Values]]:
    every = cells(trials)
    with single_threaded(0), warnings.catch_warnings():
        warnings.simplefilter("ignore", KGroupsWarning)
        return [(task, _run_trial(every[task.cell], task.trial)) for task in tasks]


def _run_trial(cell: Cell, trial: int) -> Values:
    identity = {"part": cell.part, **cell.parameters}
    return cell.measure(trial_seed(_ENTROPY, identity, trial))


def _part(run: Run, name: str) -> Run:
    return [(cell, values) for cell, values in run if cell.part == name]


def _column(values: Iterable[Values], name: str) -> "np.ndarray[Any, Any]":
    return np.array([each[name] for each in values], dtype=float)


def _verdict(*, holds: bool | None) -> str:
    return "no bar" if holds is None else "met" if holds else "missed"


def _least(parts: Sequence[tuple[float, str]], *, bar: str = "") -> str:
    value, where = min(parts)
    return f"{value:+.4f} at {where}{bar}"


# Recovery


def _bar(model: str, snr: float) -> float | None:
    """Return by how much belief propagation may be below the oracle."""
    if model == "SBM":
        return 0.015 if snr == 1.2 else 0.005 if snr >= 1.3 else None
    return 0.015 if model.startswith("DCSBM") and snr >= 1.4 else None


_GIRVAN_NEWMAN = {1.1: 0.48, 1.5: 0.885, 1.8: 0.965}
_BELOW_SEED = 0.005


def _recovery(run: Run, trials: int, parts: tuple[Finding, ...]) -> Finding:
    lines = []
    margins: dict[str, list[tuple[float, str]]] = {"oracle": [], "oracle from truth": []}
    above_seed, benchmark = [], []
    for cell, values in _part(run, "recovery"):
        model, k, snr = (cell.parameters[name] for name in ("model", "k", "λ"))
        where = f"{model}, k = {k}, λ = {snr:g}"
        found = {name: _column(values, name) for name in ("seed", "bp", *margins)}
        apart = {name: measured(found["bp"] - found[name]) for name in margins}
        bar = _bar(model, snr)
        words = []
        if bar is not None:
            for name, listed in margins.items():
                listed.append((apart[name].mean + bar, where))
            words = [_verdict(holds=apart[name].mean >= -bar) for name in margins]
        if snr >= 1.1:
            above_seed.append((float((found["bp"] - found["seed"]).mean()) + _BELOW_SEED, where))
        if model == "Girvan-Newman" and snr in _GIRVAN_NEWMAN:
            benchmark.append((float(found["bp"].mean()) - _GIRVAN_NEWMAN[snr], where))
            words = [_verdict(holds=benchmark[-1][0] >= 0.0)]
        lines.append(
            (
                model,
                k,
                snr,
                Measured(float(found["seed"].mean()), np.nan),
                measured(found["bp"]),
                Measured(float(found["oracle"].mean()), np.nan),
                apart["oracle"],
                Measured(float(found["oracle from truth"].mean()), np.nan),
                apart["oracle from truth"],
                f"{_column(values, 'gain').mean():+.1f}",
                f"{100 * _column(values, 'accepted').mean():.0f} %",
                ", ".join(words) or _verdict(holds=None),
            )
        )
    starts = {"oracle": "from the same labels", "oracle from truth": "from the planted labels"}
    claims = [
        Claim(
            f"not below the oracle that starts {starts[name]} by more than .015 at λ = 1.2 and "
            ".005 from 1.3 on (SBM), .015 from 1.4 on (DCSBM)",
            min(listed)[0] >= 0.0,
            f"{sum(margin >= 0.0 for margin, _ in listed)} of {len(listed)} cells, smallest "
            f"margin {_least(listed)}",
        )
        for name, listed in margins.items()
    ]
    claims += [
        Claim(f"not below the eigenvectors by more than {_BELOW_SEED} from λ = 1.1 on",
              min(above_seed)[0] >= 0.0, f"smallest margin {_least(above_seed)}"),
        Claim("on the Girvan-Newman benchmark at least .48, .885 and .965 at λ = 1.1, 1.5 and 1.8",
              min(benchmark)[0] >= 0.0, f"smallest margin {_least(benchmark)}"),
    ]  # fmt: skip
    return Finding(
        "optimal",
        "belief propagation beside an oracle",
        f"Mean overlaps, {counted(trials, 'graph')} each, k given. SBM: n = 1000, mean degree 3; "
        "DCSBM: n = 1000, mean degree 5, power-law propensities. Eigenvectors are what belief "
        "propagation starts from. The oracle is told the true rates, and starts from the same "
        "labels, or from the planted ones. Differences are paired. Evidence: nats by which the "
        "oracle from the planted labels ends with more Bethe free energy than the other one. "
        "Accepted: the most probable labels fit better than those at the start. Verdict: on both "
        "differences.",
        (
            "model", "k", "λ", "eigenvectors", "learned", "oracle", "difference",
            "oracle from truth", "its difference", "evidence", "accepted", "verdict",
        ),
        tuple(lines),
        tuple(claims),
        parts=parts,
    )  # fmt: skip


# Calibration

_CALIBRATION = {"SBM": (0.03, 1.2), "DCSBM": (0.04, 1.4)}
"""Largest error, and the ratio from which on it is asked for."""


def _calibration(run: Run) -> Finding:
    lines: list[tuple[Any, ...]] = []
    claims = []
    pooled: dict[str, list[Values]] = {}
    for cell, values in _part(run, "recovery"):
        model, k, snr = (cell.parameters[name] for name in ("model", "k", "λ"))
        limit, first = _CALIBRATION.get(model.split(",")[0], (None, 0.0))
        if limit is not None and snr >= first:
            pooled.setdefault(model, []).extend(values)
        else:
            limit = None
        lines.append(_calibration_line(f"{model}, k = {k}, λ = {snr:g}", values, limit))
    for model, values in pooled.items():
        limit, first = _CALIBRATION[model.split(",")[0]]
        lines.append(_calibration_line(f"{model}, from λ = {first:g} on, pooled", values, limit))
        for name, error in (("accepted posteriors", lines[-1][3]), ("all", lines[-1][2])):
            claims.append(
                Claim(f"{model}: calibration error at most {limit:g}, {name}",
                      error <= limit, f"{error:.4f}")
            )  # fmt: skip
    for cell, (one,) in _part(run, "lfr"):
        n, mixing = cell.parameters["n"], cell.parameters["mixing"]
        error = calibration_error([one["bins"]])
        name = f"LFR, n = {n}, degree 20, μ = {mixing:g}, {one['k']} communities"
        lines.append((name, 1, error, None, 0.03, _verdict(holds=error <= 0.03)))
        claims.append(
            Claim(f"LFR, μ = {mixing:g}: calibration error at most .03", error <= 0.03,
                  f"{error:.4f}; mean confidence {one['sure']:.3f}, right {one['right']:.3f}")
        )  # fmt: skip
    return Finding(
        "optimal-calibration",
        "confidence beside the share of right labels",
        "Calibration error: distance of confidence and share of right labels in ten bins of "
        "confidence, with the nodes of all graphs of a line together; of all graphs, and of those "
        "whose posterior was accepted. Elsewhere belief propagation has lost the communities, the "
        "labels at the start are returned, and their marginals say little. Verdict: accepted, all.",
        ("graphs", "number", "error", "accepted", "bar", "verdict"),
        tuple(lines),
        tuple(claims),
    )


def _calibration_line(name: str, values: list[Values], limit: float | None) -> tuple[Any, ...]:
    accepted = [each["bins"] for each in values if each["accepted"]]
    errors = [
        calibration_error(bins) if bins else None
        for bins in ([each["bins"] for each in values], accepted)
    ]
    words = [
        _verdict(holds=error <= limit)
        for error in reversed(errors)
        if limit is not None and error is not None
    ]
    return (name, len(values), *errors, limit, ", ".join(words) or _verdict(holds=None))


def _chains(run: Run) -> Finding:
    lines, least = [], []
    for cell, (values,) in _part(run, "chain"):
        name, correlation = cell.parameters["network"], values["rank correlation"]
        least.append((correlation, name))
        lines.append((name, values["n"], values["k"], correlation, values["difference"],
                      _verdict(holds=correlation >= 0.9)))  # fmt: skip
    return Finding(
        "optimal-chains",
        "confidence beside long Gibbs chains of the same model",
        "Communities of detect_communities; belief propagation with a rate for each community, and "
        "a chain of 2,000 sweeps at the same rates, 200 of them burn-in.",
        ("network", "nodes", "k", "rank correlation", "mean difference", "verdict"),
        tuple(lines),
        (
            Claim("rank correlation at least .9 on every network", min(least)[0] >= 0.9,
                  f"smallest {min(least)[0]:.3f}, {min(least)[1]}"),
        ),
    )  # fmt: skip


# Verdict


def _verdicts(run: Run) -> Finding:
    lines: list[tuple[Any, ...]] = []
    nulls: list[bool] = []
    least = []
    for cell, values in _part(run, "size"):
        kind, claimed = cell.parameters["graphs"], [each["claimed"] for each in values]
        nulls += claimed
        nodes = "34 to 115" if kind == "degrees of real networks" else "200, 350"
        share = float(np.mean(claimed))
        lines.append((kind, nodes, "19 nulls", len(claimed), share, None, _verdict(holds=None)))
    size = float(np.mean(nulls))
    low, high = 0.035, 0.065
    lines.append(("random graphs, pooled", None, "19 nulls", len(nulls), size,
                  f"{low} to {high}", _verdict(holds=low <= size <= high)))  # fmt: skip
    for cell, values in _part(run, "power"):
        model, n, k, snr, test = cell.parameters.values()
        share = float(_column(values, "claimed").mean())
        bar = 0.95 if snr >= (1.3 if model == "SBM" else 1.7) else None
        name = f"{model}, k = {k}, λ = {snr:g}"
        if bar is not None:
            least.append((share, f"{name}, n = {n}"))
        lines.append((name, str(n), test, len(values), share, bar,
                      _verdict(holds=None if bar is None else share >= bar)))  # fmt: skip
    return Finding(
        "optimal-verdict",
        "how often structure is claimed at the 5 % level",
        "SBM of mean degree 3, DCSBM of mean degree 5 with power-law propensities.",
        ("graphs", "nodes", "test", "number", "structure claimed", "bar", "verdict"),
        tuple(lines),
        (
            Claim(f"on random graphs between {low} and {high}", low <= size <= high,
                  f"{size:.4f} of {len(nulls)}"),
            Claim("at least .95 for SBM from λ = 1.3 and DCSBM from λ = 1.7 on",
                  min(least)[0] >= 0.95, f"smallest {min(least)[0]:.3f}, {min(least)[1]}"),
        ),
    )  # fmt: skip


# Number of communities

_RULES = {
    "P(k)": "P(k)",
    "at mean-degree": "eigenvalues, mean degree",
    "at second-moment": "second moment",
    "at nonbacktracking": "non-backtracking",
    "description": "description length",
    "default": "detect_communities",
}


def _numbers(run: Run) -> Finding:
    by_family: dict[str, list[Values]] = {}
    for cell, values in _part(run, "number"):
        by_family.setdefault(cell.parameters["family"], []).extend(values)
    lines = [
        (family, len(values), *_right(values), _verdict(holds=None))
        for family, values in by_family.items()
    ]
    claims = []
    for left_out, name in ((RELATIVE, "the mean degree"), ("DCSBM", "rho(B)")):
        pooled = [
            each for family, values in by_family.items() if family != left_out for each in values
        ]
        shares = _right(pooled)
        sentence = f"λ of DCSBM relative to {name}"
        lines.append((f"all, {sentence}", len(pooled), *shares, _verdict(holds=shares[0] >= 0.72)))
        claims.append(
            Claim(f"the most probable k is right on at least .72 of the graphs, {sentence}",
                  shares[0] >= 0.72, f"{shares[0]:.3f} of {len(pooled)}")
        )  # fmt: skip
    return Finding(
        "optimal-k",
        "share of graphs on which the number of communities is right",
        "SBM: n = 1000, mean degree 3, k = 2, 5, 15, λ = 1.2 to 1.6; DCSBM: mean degree 5, k = 3, "
        "5, 10, λ = 1.4, 1.6, 2; Erdős-Rényi: n = 1000, mean degree 3, 5, 8; LFR: n = 1000, degree "
        "20, μ = .3, .5; real: karate, dolphins, polbooks, football, email-Eu-core. The largest "
        "component of each; description length is the search alone.",
        ("graphs", "number", *_RULES.values(), "verdict"),
        tuple(lines),
        tuple(claims),
    )


def _right(values: Sequence[Values]) -> tuple[float, ...]:
    truth = _column(values, "truth")
    return tuple(float(np.mean(_column(values, rule) == truth)) for rule in _RULES)


# Time and memory


def _times(run: Run) -> Finding:
    lines, claims = [], []
    for cell, (values,) in _part(run, "large"):
        ratio, peak = values["seconds"] / values["leiden"], values["peak"] / 1e9
        lines.append((cell.parameters["n"], values["seconds"], values["leiden"], ratio, peak,
                      values["overlap"], _verdict(holds=ratio <= 1.0 and peak <= 1.5)))  # fmt: skip
        claims += [
            Claim("not slower than Leiden with two iterations", ratio <= 1.0, f"ratio {ratio:.2f}"),
            Claim("at most 1.5 GB, graph and interpreter included", peak <= 1.5, f"{peak:.2f} GB"),
        ]
    return Finding(
        "optimal-time",
        "time and memory of the posterior on a large graph",
        "Planted partition of mean degree 20, k = 10, λ = 1.5; medians of three runs of each, CPU "
        "time, in a process of its own.",
        ("nodes", "seconds", "Leiden", "ratio", "peak, GB", "overlap", "verdict"),
        tuple(lines),
        tuple(claims),
    )
