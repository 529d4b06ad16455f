"""Runs of all methods on the rows of a table, from equal starts."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from kgroups import metrics
from kgroups._progress import counted_progress
from kgroups._types import Floats, Ints
from kgroups._wording import argument, in_python
from kgroups.energy import Exponential, kernel_kgroups, kernel_kmeans, kernel_matrix
from kgroups.errors import InputError
from kgroups.reproduce.findings import Measured
from kgroups.reproduce.printed import printed_kernel_kmeans
from kgroups.reproduce.starts import nearest_of_drawn
from kgroups.reproduce.table_data import Sample, UciTable
from kgroups.reproduce.vectors import association, require_sklearn
from kgroups.studies.plan import trial_seed

__all__ = [
    "METHODS",
    "Draw",
    "Spread",
    "dealt",
    "embedding",
    "gmm",
    "in_parallel",
    "kmeans",
    "rows_of",
    "spectral",
    "spread",
    "undisturbed",
]

Row = dict[str, Any]

METHODS = (
    "k-groups", "kernel k-means, printed", "kernel k-means", "spectral", "k-means", "GMM"
)  # fmt: skip
"""What is compared. Printed is kernel k-means with the paper's update, the other the exact one."""

_METRIC = Exponential(sigma=2.0)


class Draw(NamedTuple):
    """One order or subsample of the rows of a table, and the numbers of the starts on it."""

    table: UciTable
    number: int
    trials: tuple[int, ...]


def dealt(tables: Sequence[UciTable], trials: int, count: int) -> list[Draw]:
    """Return ``count`` draws of each table, with ``trials`` starts dealt to them."""
    return [
        Draw(table, number, tuple(range(number, trials, count)))
        for table in tables
        for number in range(count)
    ]


def rows_of(draw: Draw) -> list[Row]:
    """Return a row for each start and method, which depend on the draw alone."""
    place: Row = {"table": draw.table.title}
    sample = draw.table.draw(np.random.default_rng(trial_seed(0, place, draw.number)))
    place = {**place, "draw": draw.number}
    with undisturbed():
        G = kernel_matrix(sample.X, metric=_METRIC)
        V = embedding(G, sample.k)
        return [
            row
            for trial in draw.trials
            for row in _of_start(
                sample, G, V, {**place, "trial": trial}, trial_seed(0, place, trial)
            )
        ]


def _of_start(sample: Sample, G: Floats, V: Floats, place: Row, seed: int) -> Iterator[Row]:
    X, truth, k = sample
    start = nearest_of_drawn(X, k, np.random.default_rng(seed))
    state = seed % 2**32
    found: Mapping[str, Callable[[], Ints]] = {
        "k-groups": lambda: kernel_kgroups(G, k, metric="gram", init=start).labels,
        "kernel k-means, printed": lambda: printed_kernel_kmeans(G, start, k=k),
        "kernel k-means": lambda: kernel_kmeans(G, k, metric="gram", init=start).labels,
        "spectral": lambda: spectral(V, k, starts=1, state=state),
        "k-means": lambda: kmeans(X, k, starts=1, state=state),
        "GMM": lambda: gmm(X, k, starts=1, state=state),
    }
    for method in METHODS:
        begun = perf_counter()
        z = found[method]()
        seconds = perf_counter() - begun
        yield {
            **place,
            "method": method,
            "k_given": True,
            "nmi": metrics.nmi(truth, z, average="geometric"),
            "objective": association(G, z, k),
            "k_hat": np.unique(z).size,
            "seconds": seconds,
            "seed": seed,
        }


def kmeans(X: Floats, k: int, *, starts: int, state: int) -> Ints:
    """Return the labels of scikit-learn's k-means."""
    cluster, _ = require_sklearn()
    labels: Ints = cluster.KMeans(k, n_init=starts, random_state=state).fit_predict(X)
    return labels.astype(np.int64)


def gmm(X: Floats, k: int, *, starts: int, state: int) -> Ints:
    """Return the labels of scikit-learn's Gaussian mixture, which starts from its k-means."""
    _, mixture = require_sklearn()
    made = mixture.GaussianMixture(k, n_init=starts, random_state=state)
    labels: Ints = made.fit_predict(X)
    return labels.astype(np.int64)


def embedding(G: Floats, k: int) -> Floats:
    """Return the rows that scikit-learn's spectral clustering of a Gram matrix gives to k-means."""
    from sklearn.manifold import spectral_embedding

    V: Floats = spectral_embedding(G, n_components=k, drop_first=False, random_state=0)
    return V


def spectral(V: Floats, k: int, *, starts: int, state: int) -> Ints:
    """Return what spectral clustering makes of the rows of :func:`embedding`."""
    return kmeans(V, k, starts=starts, state=state)


def in_parallel(
    run: Callable[[Any], list[Row]], tasks: Sequence[Any], running: Mapping[str, Any]
) -> list[Row]:
    """Return the rows of all tasks, in their order, from as many processes as are asked for."""
    require_sklearn()
    from joblib import Parallel, delayed

    n_jobs = running.get("n_jobs")
    if n_jobs == 0:
        msg = (
            f"{argument('n_jobs')} must be {in_python('None or ')}a whole number other than 0, got "
            "0."
        )
        raise InputError(msg)
    rows: list[Row] = []
    workers = Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1)
    with counted_progress(running.get("progress"), len(tasks), "trial") as show:
        for done, made in enumerate(workers(delayed(run)(task) for task in tasks), start=1):
            rows += made
            show(done)
    return rows


@contextmanager
def undisturbed() -> Iterator[None]:
    """Work on one thread of linear algebra, so that rounding does not depend on the machine.

    Warnings are left out: that a method does not converge shows in its score.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Spread(NamedTuple):
    """A mean over draws and starts, and how far another such mean may be from the truth.

    Attributes
    ----------
    ours : Measured
        The mean and its standard error.
    one_draw : float
        The standard error of another's mean, over starts on a single draw.
    starts : int
        Starts behind our mean.
    """

    ours: Measured
    one_draw: float
    starts: int


def spread(values: Sequence[Any], starts: int) -> Spread:
    """Return the mean of values in draws; ``starts`` are those behind the other mean.

    Starts on one draw share its rows and their order, so that the variance between draws counts
    for itself.
    """
    every = np.concatenate([np.asarray(draw, dtype=float) for draw in values])
    means = np.array([np.mean(draw) for draw in values])
    if len(means) < 2:
        return Spread(Measured(float(every.mean()), math.nan), math.nan, every.size)
    squares = sum(float(np.square(np.subtract(draw, np.mean(draw))).sum()) for draw in values)
    within = squares / max(1, every.size - len(values))
    per_draw = float(np.mean([1.0 / len(draw) for draw in values]))
    between = max(0.0, float(means.var(ddof=1)) - within * per_draw)
    ours = between / len(values) + within / every.size
    return Spread(
        Measured(float(every.mean()), math.sqrt(ours)),
        math.sqrt(between + within / starts),
        every.size,
    )
