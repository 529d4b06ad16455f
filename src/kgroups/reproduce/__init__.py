"""The experiments of the paper, its numbers beside ours."""

from collections.abc import Callable, Mapping
from typing import Any

from kgroups._doors import check_choice
from kgroups._progress import Progress
from kgroups._wording import argument, in_python
from kgroups.errors import InputError
from kgroups.reproduce.findings import Claim, Finding, Measured
from kgroups.reproduce.gaussians import gauss_dim, gauss_n, many_clusters, unbalanced
from kgroups.reproduce.line import gauss1d
from kgroups.reproduce.lloyd import kmeans_on_bethe
from kgroups.reproduce.networks import drosophila, grqc, real
from kgroups.reproduce.planted import girvan, sbm
from kgroups.reproduce.starts import init
from kgroups.reproduce.tables import dermatology, uci

__all__ = ["EXPERIMENTS", "Claim", "Finding", "Measured", "reproduce"]

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
}
"""What each name runs."""


def reproduce(
    experiment: str,
    *,
    trials: int | None = None,
    n_jobs: int | None = None,
    progress: Progress = "bar",
) -> Finding:
    """Run an experiment of the paper and put its numbers beside ours.

    Parameters
    ----------
    experiment : str
        On graphs ``girvan``, ``sbm``, ``real``, ``drosophila``, ``grqc``, ``init`` or
        ``kmeans-on-bethe``; on vector data ``gauss1d``, ``gauss-dim``, ``gauss-n``,
        ``many-clusters``, ``unbalanced``, ``dermatology`` or ``uci``.
    trials : int, optional
        Graphs or samples per cell, or starts per network or table; the paper's number by default,
        where it has one.
    n_jobs : int or None
        Processes for experiments on drawn data, as for :func:`kgroups.studies.sweep`.
    progress : "bar", callable or None
        As for :func:`kgroups.studies.sweep`.

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
    if trials is not None and (type(trials) is not int or trials < 1):
        msg = (
            f"{argument('trials')} must be {in_python('None or ')}a whole number >= 1, got "
            f"{trials!r}."
        )
        raise InputError(msg)
    running: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    return EXPERIMENTS[experiment](trials, **running)
