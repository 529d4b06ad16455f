"""The experiments of the paper, published numbers compared with ours, and one beyond it."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from kgroups._progress import Progress
from kgroups._validation import check_choice, check_integer
from reproduce.dermatology import dermatology
from reproduce.mixtures import gauss1d, gauss_dim, gauss_n, many_clusters, unbalanced
from reproduce.networks import drosophila, grqc, real
from reproduce.optimal import optimal
from reproduce.planted import girvan, init, kmeans_on_bethe, sbm
from reproduce.results import Claim, Finding, Measured
from reproduce.uci import uci

__all__ = ["EXPERIMENTS", "RESUMABLE", "Claim", "Finding", "Measured", "reproduce"]

EXPERIMENTS: Mapping[str, Callable[..., Finding]] = {
    "girvan": girvan,
    "sbm": sbm,
    "real": real,
    "drosophila": drosophila,
    "grqc": grqc,
    "init": init,
    "kmeans-on-bethe": kmeans_on_bethe,
    "gauss1d": gauss1d,
    "gauss-dim": gauss_dim,
    "gauss-n": gauss_n,
    "many-clusters": many_clusters,
    "unbalanced": unbalanced,
    "dermatology": dermatology,
    "uci": uci,
    "optimal": optimal,
}
"""Experiments by name."""

RESUMABLE = ("girvan", "sbm", "optimal")
"""Experiments that can keep a journal."""


def reproduce(
    experiment: str,
    *,
    trials: int | None = None,
    n_jobs: int | None = None,
    progress: Progress = True,
    journal: str | os.PathLike[str] | None = None,
) -> Finding:
    """Run an experiment of the paper and compare the published numbers with ours.

    Parameters
    ----------
    experiment : str
        On graphs ``girvan``, ``sbm``, ``real``, ``drosophila``, ``grqc``, ``init`` or
        ``kmeans-on-bethe``; on vector data ``gauss1d``, ``gauss-dim``, ``gauss-n``,
        ``many-clusters``, ``unbalanced``, ``dermatology`` or ``uci``; and beyond the paper
        ``optimal``.
    trials : int, optional
        Graphs or samples per cell, or starts per network or table; the paper's number by default,
        where it has one.
    n_jobs : int or None
        Processes for experiments on drawn data, as for :func:`kgroups.studies.sweep`.
    progress : bool or callable
        As for :func:`kgroups.studies.sweep`.
    journal : path, optional
        File to which ``girvan``, ``sbm`` and ``optimal`` add finished trials, and from which the
        same call resumes after an interruption. Other experiments have none.

    Returns
    -------
    Finding
        A table, the verdicts, all trials, and figures where the paper has them.

    Examples
    --------
    >>> finding = reproduce("drosophila", trials=1)
    >>> finding.lines[0][:2], finding.lines[0][2], finding.lines[0][-1]
    (('drosophila_left', 'performance'), 0.67, 'reproduced')
    """
    check_choice("experiment", experiment, EXPERIMENTS)
    if trials is not None:
        trials = check_integer("trials", trials)
    running: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    if experiment in RESUMABLE:
        running["journal"] = journal
    return EXPERIMENTS[experiment](trials, **running)
