"""Runs on dermatology: kernel k-groups from several kinds of starts, other methods beside it."""

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from kgroups import metrics
from kgroups._types import Floats, Ints
from kgroups.energy import Power, kernel_kgroups, kernel_kmeans, kernel_matrix
from kgroups.reproduce.printed import printed_kernel_kmeans
from kgroups.reproduce.starts import nearest_of_drawn
from kgroups.reproduce.table_data import Sample
from kgroups.reproduce.table_paper import Scores
from kgroups.reproduce.table_runs import embedding, gmm, kmeans, spectral
from kgroups.reproduce.vectors import association
from kgroups.studies.plan import trial_seed

__all__ = [
    "BEST_OF",
    "GROUPS",
    "REPEATABLE",
    "RUNS",
    "STARTED_OFTEN",
    "Bench",
    "Run",
    "best_of",
    "largest",
    "run",
]

BEST_OF = 10
"""Starts of which a run of k-means, of a mixture and of spectral clustering keeps the best."""

_METRIC = Power(0.5)


class Bench(NamedTuple):
    """Rows with what all runs on them share."""

    name: str
    sample: Sample
    G: Floats
    V: Floats

    @classmethod
    def of(cls, name: str, sample: Sample) -> "Bench":
        """Return rows with their Gram matrix and its spectral embedding."""
        G = kernel_matrix(sample.X, metric=_METRIC)
        return cls(name, sample, G, embedding(G, sample.k))


class Run(NamedTuple):
    """What one run found."""

    method: str
    trial: int
    seed: int
    z: Ints
    objective: float
    scores: Scores
    seconds: float


def run(bench: Bench, method: str, trials: int) -> Iterator[Run]:
    """Yield runs of a method, each from its own seed."""
    truth = bench.sample.truth
    for trial in range(trials):
        seed = trial_seed(0, {"table": bench.name, "method": method}, trial)
        begun = perf_counter()
        z = RUNS[method](bench, np.random.default_rng(seed))
        seconds = perf_counter() - begun
        scores = Scores(
            metrics.accuracy(truth, z),
            metrics.ari(truth, z),
            metrics.nmi(truth, z, average="geometric"),
        )
        objective = association(bench.G, z, bench.sample.k)
        yield Run(method, trial, seed, z, objective, scores, seconds)


def best_of(runs: Sequence[Run], size: int) -> list[Run]:
    """Return the run of largest objective in each stretch of ``size`` runs."""
    size = min(size, len(runs))
    stretches = (runs[i : i + size] for i in range(0, len(runs) - size + 1, size))
    return [largest([stretch]) for stretch in stretches]


def largest(several: Sequence[Sequence[Run]]) -> Run:
    """Return the run of largest objective."""
    return max((each for runs in several for each in runs), key=lambda each: each.objective)


def _from_rows(bench: Bench, rng: np.random.Generator) -> Ints:
    return _grouped(bench, nearest_of_drawn(bench.sample.X, bench.sample.k, rng))


def _from_features(bench: Bench, rng: np.random.Generator) -> Ints:
    return _grouped(bench, "k-means++", n_init=1, rng=rng)


def _from_random(bench: Bench, rng: np.random.Generator) -> Ints:
    return _grouped(bench, "random", n_init=1, rng=rng)


def _from_spectral(bench: Bench, rng: np.random.Generator) -> Ints:
    return _grouped(bench, _spectral(bench, rng))


def _grouped(bench: Bench, init: Any, **options: Any) -> Ints:
    return kernel_kgroups(bench.G, bench.sample.k, metric="gram", init=init, **options).labels


def _printed(bench: Bench, rng: np.random.Generator) -> Ints:
    k = bench.sample.k
    return printed_kernel_kmeans(bench.G, nearest_of_drawn(bench.sample.X, k, rng), k=k)


def _exact(bench: Bench, rng: np.random.Generator) -> Ints:
    k = bench.sample.k
    start = nearest_of_drawn(bench.sample.X, k, rng)
    return kernel_kmeans(bench.G, k, metric="gram", init=start).labels


def _spectral(bench: Bench, rng: np.random.Generator) -> Ints:
    return spectral(bench.V, bench.sample.k, starts=BEST_OF, state=_state(rng))


def _kmeans(bench: Bench, rng: np.random.Generator) -> Ints:
    return kmeans(bench.sample.X, bench.sample.k, starts=BEST_OF, state=_state(rng))


def _gmm(bench: Bench, rng: np.random.Generator) -> Ints:
    return gmm(bench.sample.X, bench.sample.k, starts=BEST_OF, state=_state(rng))


def _state(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


GROUPS = (
    "k-means++ on the rows", "k-means++ in feature space", "random labels", "spectral labels"
)  # fmt: skip
"""Kinds of starts of kernel k-groups."""

STARTED_OFTEN = (GROUPS[0], GROUPS[2])
"""Kinds of starts for the rows without missing cells."""

REPEATABLE = (GROUPS[3], "spectral", "k-means", "GMM")
"""Runs that keep the best of several starts themselves, and hardly differ from one another."""

RUNS: dict[str, Callable[[Bench, np.random.Generator], Ints]] = {
    **dict(zip(GROUPS, (_from_rows, _from_features, _from_random, _from_spectral), strict=True)),
    "kernel k-means, printed": _printed,
    "kernel k-means": _exact,
    "spectral": _spectral,
    "k-means": _kmeans,
    "GMM": _gmm,
}
"""What each name runs."""
