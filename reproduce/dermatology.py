"""``dermatology``: six skin diseases found from several kinds of starts."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from kgroups import datasets, metrics
from kgroups._types import Floats, Ints
from kgroups.datasets import TableInfo, find_entry
from kgroups.energy import Power, kernel_kgroups, kernel_kmeans, kernel_matrix
from kgroups.plotting.style import INK
from kgroups.studies import Study, trial_seed
from reproduce.clustering import (
    association,
    gmm_labels,
    kmeans_labels,
    plus_plus_labels,
    printed_kernel_kmeans,
    random_state,
    require_sklearn,
    spectral_rows,
)
from reproduce.published import DERMATOLOGY, DERMATOLOGY_COMPLETE, DERMATOLOGY_OBJECTIVE, Scores
from reproduce.results import Claim, Finding, Measured, counted, measured, with_progress
from reproduce.uci import ABSENT, ROUNDING, Sample, standardized

_METRIC = Power(0.5)
_TRIALS = 500
# Starts of which the paper keeps the best.
_FEW = 5
# Objectives that differ by less belong to the same partition.
_SAME = 1e-6
_EXACT = "the partition of largest Q has the paper's scores to every digit"
_DERMATOLOGY_COLUMNS = (
    "method", "accuracy, paper", "accuracy", "aRand, paper", "aRand", "NMI, paper", "NMI",
    "largest Q", "verdict",
)  # fmt: skip


BEST_OF = 10
"""Starts of which a run of k-means, of a mixture or of spectral clustering keeps the best."""


def dermatology_rows(missing: Literal["mean", "drop"]) -> Sample:
    """Return the table on the scale z; replace missing ages by the mean, or drop their rows."""
    table = datasets.load_table("dermatology")
    names, truth = np.unique(table.labels, return_inverse=True)
    if missing == "mean":
        return Sample(standardized(filled(table.X)), truth, names.size)
    complete = ~np.isnan(table.X).any(axis=1)
    return Sample(standardized(table.X[complete]), truth[complete], names.size)


def filled(X: Floats) -> Floats:
    """Replace missing cells by the mean of their column."""
    whole: Floats = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    return whole


class Prepared(NamedTuple):
    """Rows with their Gram matrix and its spectral embedding, which all runs share."""

    name: str
    sample: Sample
    G: Floats
    V: Floats

    @classmethod
    def of(cls, name: str, sample: Sample) -> "Prepared":
        """Compute the Gram matrix and the spectral embedding."""
        G = kernel_matrix(sample.X, metric=_METRIC)
        return cls(name, sample, G, spectral_rows(G, sample.k))


class Run(NamedTuple):
    """The result of one run."""

    method: str
    trial: int
    seed: int
    z: Ints
    objective: float
    scores: Scores
    seconds: float


def run(data: Prepared, method: str, trials: int) -> Iterator[Run]:
    """Yield runs of a method, each from its own seed."""
    truth = data.sample.truth
    for trial in range(trials):
        seed = trial_seed(0, {"table": data.name, "method": method}, trial)
        begun = perf_counter()
        z = RUNS[method](data, np.random.default_rng(seed))
        seconds = perf_counter() - begun
        scores = Scores(
            metrics.accuracy(truth, z),
            metrics.ari(truth, z),
            metrics.nmi(truth, z, average="geometric"),
        )
        objective = association(data.G, z, data.sample.k)
        yield Run(method, trial, seed, z, objective, scores, seconds)


def best_of(runs: Sequence[Run], size: int) -> list[Run]:
    """Return the run with the largest objective of every ``size`` runs in a row."""
    size = min(size, len(runs))
    stretches = (runs[i : i + size] for i in range(0, len(runs) - size + 1, size))
    return [largest([stretch]) for stretch in stretches]


def largest(several: Sequence[Sequence[Run]]) -> Run:
    """Return the run with the largest objective."""
    return max((each for runs in several for each in runs), key=lambda each: each.objective)


def _from_rows(data: Prepared, rng: np.random.Generator) -> Ints:
    return _grouped(data, plus_plus_labels(data.sample.X, data.sample.k, rng))


def _from_features(data: Prepared, rng: np.random.Generator) -> Ints:
    return _grouped(data, "k-means++", n_init=1, rng=rng)


def _from_random(data: Prepared, rng: np.random.Generator) -> Ints:
    return _grouped(data, "random", n_init=1, rng=rng)


def _from_spectral(data: Prepared, rng: np.random.Generator) -> Ints:
    return _grouped(data, _spectral(data, rng))


def _grouped(data: Prepared, init: Any, **options: Any) -> Ints:
    return kernel_kgroups(data.G, data.sample.k, metric="gram", init=init, **options).labels


def _printed(data: Prepared, rng: np.random.Generator) -> Ints:
    k = data.sample.k
    return printed_kernel_kmeans(data.G, plus_plus_labels(data.sample.X, k, rng), k=k)


def _exact(data: Prepared, rng: np.random.Generator) -> Ints:
    k = data.sample.k
    start = plus_plus_labels(data.sample.X, k, rng)
    return kernel_kmeans(data.G, k, metric="gram", init=start).labels


def _spectral(data: Prepared, rng: np.random.Generator) -> Ints:
    return kmeans_labels(data.V, data.sample.k, starts=BEST_OF, state=random_state(rng))


def _kmeans(data: Prepared, rng: np.random.Generator) -> Ints:
    return kmeans_labels(data.sample.X, data.sample.k, starts=BEST_OF, state=random_state(rng))


def _gmm(data: Prepared, rng: np.random.Generator) -> Ints:
    return gmm_labels(data.sample.X, data.sample.k, starts=BEST_OF, state=random_state(rng))


GROUPS = (
    "k-means++ on the rows", "k-means++ in feature space", "random labels", "spectral labels"
)  # fmt: skip
"""Kinds of starts of kernel k-groups."""


STARTED_OFTEN = (GROUPS[0], GROUPS[2])
"""Kinds of starts that also run on the rows without missing cells."""


REPEATABLE = (GROUPS[3], "spectral", "k-means", "GMM")
"""Runs that keep the best of several starts themselves, and hardly differ from one another."""


RUNS: dict[str, Callable[[Prepared, np.random.Generator], Ints]] = {
    **dict(zip(GROUPS, (_from_rows, _from_features, _from_random, _from_spectral), strict=True)),
    "kernel k-means, printed": _printed,
    "kernel k-means": _exact,
    "spectral": _spectral,
    "k-means": _kmeans,
    "GMM": _gmm,
}
"""Functions by the name of the run."""


def dermatology(trials: int | None = None, **running: Any) -> Finding:
    """Find the six diseases of dermatology from several kinds of starts."""
    require_sklearn()
    trials = trials or _TRIALS
    if not find_entry("dermatology", TableInfo).present:
        line = ("dermatology", *[None] * (len(_DERMATOLOGY_COLUMNS) - 2), ABSENT)
        return _dermatology_finding(trials, [line], [Claim(_EXACT, holds=False, seen="not run")])
    with threadpool_limits(limits=1):
        whole = Prepared.of("all", dermatology_rows("mean"))
        complete = Prepared.of("complete", dermatology_rows("drop"))
        few = max(1, trials // BEST_OF)
        plan = [(whole, name, few if name in REPEATABLE else trials) for name in RUNS]
        plan += [(complete, name, trials) for name in STARTED_OFTEN]
        found = {
            (data.name, name): list(run(data, name, count))
            for data, name, count in with_progress(plan, running.get("progress", False))
        }
    best = largest([found["all", name] for name in GROUPS])
    dropped = largest([found["complete", name] for name in STARTED_OFTEN])
    mine = {name: runs for (place, name), runs in found.items() if place == "all"}
    return _dermatology_finding(
        trials,
        [*_method_lines(mine, best, dropped), *_start_lines(mine, best)],
        list(_dermatology_claims(mine, best, dropped)),
        Study(
            ("rows",),
            ("accuracy", "ari", "nmi", "objective"),
            tuple(_row(place, each) for (place, _), runs in found.items() for each in runs),
        ),
        {
            "dermatology": lambda: draw_membership(
                whole.sample.truth, best.z, title="dermatology: classes and groups"
            )
        },
    )


def _dermatology_finding(
    trials: int,
    lines: Sequence[tuple[Any, ...]],
    claims: Sequence[Claim],
    study: Study | None = None,
    figures: Mapping[str, Callable[[], Any]] = MappingProxyType({}),
) -> Finding:
    return Finding(
        "dermatology",
        "six diseases of the skin from 34 signs",
        "Power semimetric, alpha = 1/2; the mean age for 8 missing ones, then the scale z; "
        f"{counted(trials, 'start')} of each kind. Largest Q: how many of them end in the "
        "partition of the largest objective that any found. Printed is kernel k-means with the "
        "paper's update, which leaves out G_ii, exact with the exact one.",
        _DERMATOLOGY_COLUMNS,
        tuple(lines),
        tuple(claims),
        study,
        figures,
    )


def _row(place: str, each: Run) -> dict[str, Any]:
    return {
        "rows": place,
        "trial": each.trial,
        "method": each.method,
        "k_given": True,
        "accuracy": each.scores.accuracy,
        "ari": each.scores.rand,
        "nmi": each.scores.nmi,
        "objective": each.objective,
        "k_hat": np.unique(each.z).size,
        "seconds": each.seconds,
        "seed": each.seed,
    }


def _method_lines(
    mine: Mapping[str, Sequence[Run]], best: Run, dropped: Run
) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of the paper's table."""
    for name, method, runs in (
        ("k-means, best of 10", "k-means", mine["k-means"]),
        ("GMM, best of 10", "GMM", mine["GMM"]),
        ("kernel k-means, printed, best of 10", "kernel k-means",
         best_of(mine["kernel k-means, printed"], BEST_OF)),
        ("kernel k-means, exact, best of 10", "kernel k-means",
         best_of(mine["kernel k-means"], BEST_OF)),
    ):  # fmt: skip
        means, paper = _means(runs), DERMATOLOGY[method]
        yield _scored(name, paper, means, None, run_verdict(means, _sds(runs), paper))
    for name, paper, each in (
        ("spectral", DERMATOLOGY["spectral"], largest([mine["spectral"]])),
        ("k-groups, largest Q", DERMATOLOGY["k-groups"], best),
        ("k-groups, largest Q, 8 rows dropped", DERMATOLOGY_COMPLETE, dropped),
    ):
        verdict = "reproduced" if _to_the_digit(each, paper) else "differs"
        yield _scored(name, paper, _means([each]), None, verdict)


def _start_lines(mine: Mapping[str, Sequence[Run]], best: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the results of single starts of each kind, and of the best of five."""
    fives = best_of(mine[GROUPS[0]], _FEW)
    missed = _count(fives, best) < len(fives)
    yield _scored(
        f"k-groups, best of {_FEW} from {GROUPS[0]}",
        DERMATOLOGY["k-groups"],
        _means(fives),
        _hits(fives, best),
        f"{_FEW} starts do not suffice" if missed else "reproduced",
    )
    for kind in GROUPS:
        runs = mine[kind]
        hits = _count(runs, best)
        often = "always" if hits == len(runs) else "often" if 4 * hits > len(runs) else "seldom"
        yield _scored(f"k-groups, one start from {kind}", None, _means(runs), _hits(runs, best),
                      f"{often} the largest Q")  # fmt: skip


def _dermatology_claims(
    mine: Mapping[str, Sequence[Run]], best: Run, dropped: Run
) -> Iterator[Claim]:
    for sentence, each, paper in (
        (_EXACT, best, DERMATOLOGY["k-groups"]),
        ("so does the one without the 8 rows that have no age", dropped, DERMATOLOGY_COMPLETE),
        ("so does spectral clustering", largest([mine["spectral"]]), DERMATOLOGY["spectral"]),
    ):
        seen = ", ".join(f"{score:.4f}" for score in each.scores)
        yield Claim(sentence, _to_the_digit(each, paper), seen)
    yield Claim(
        "its objective is the largest that another implementation found",
        abs(best.objective - DERMATOLOGY_OBJECTIVE) < 1e-4,
        f"Q = {best.objective:.4f} and {DERMATOLOGY_OBJECTIVE}",
    )
    fives = best_of(mine[GROUPS[0]], _FEW)
    yield Claim(
        "the best of 5 starts of k-means++, of which the paper speaks, mostly misses it",
        2 * _count(fives, best) < len(fives),
        f"found {_hits(fives, best)} times",
    )


def _scored(
    name: str,
    paper: Scores | None,
    means: Sequence[Measured],
    hits: str | None,
    verdict: str,
) -> tuple[Any, ...]:
    pairs = zip(paper or (None,) * len(means), means, strict=True)
    return (name, *(value for pair in pairs for value in pair), hits, verdict)


def run_verdict(found: Sequence[Measured], spreads: Sequence[float], paper: Scores) -> str:
    """Return whether the paper's value, which is of a single run, is within the spread of runs."""
    if any(math.isnan(sd) for sd in spreads):
        return "one run is no mean"
    off = [
        "above" if ours.mean > printed else "below"
        for ours, sd, printed in zip(found, spreads, paper, strict=True)
        if abs(ours.mean - printed) > 2.0 * math.hypot(ours.se, sd) + ROUNDING
    ]
    return off[0] if off else "reproduced"


def _means(runs: Sequence[Run]) -> list[Measured]:
    return [measured(values) for values in zip(*(each.scores for each in runs), strict=True)]


def _sds(runs: Sequence[Run]) -> list[float]:
    return [mean.se * math.sqrt(len(runs)) for mean in _means(runs)]


def _count(runs: Sequence[Run], best: Run) -> int:
    return sum(each.objective > best.objective - _SAME for each in runs)


def _hits(runs: Sequence[Run], best: Run) -> str:
    return f"{_count(runs, best)} of {len(runs)}"


def _to_the_digit(each: Run, paper: Scores) -> bool:
    return tuple(round(score, 3) for score in each.scores) == paper


def draw_membership(truth: Ints, z: Ints, *, title: str) -> Any:
    """Draw how many rows of each class are in each group, as a heat map."""
    from matplotlib.figure import Figure
    from scipy.optimize import linear_sum_assignment

    counts = metrics.confusion(truth, z).counts
    # Each class is next to its matched group, so the diagonal shows the agreement.
    counts = counts[:, linear_sum_assignment(-counts)[1]]
    figure = Figure(figsize=(4.6, 4.0), layout="constrained")
    panel = figure.subplots()
    image = panel.imshow(counts, cmap="Blues")
    for (a, b), count in np.ndenumerate(counts):
        dark = count > counts.max() / 2
        panel.text(b, a, str(count), ha="center", va="center", fontsize=8,
                   color="white" if dark else INK)  # fmt: skip
    for axis, what in ((panel.xaxis, "group"), (panel.yaxis, "class")):
        axis.set_ticks(range(len(counts)), [str(a + 1) for a in range(len(counts))])
        axis.set_label_text(what, color=INK)
    panel.set_title(title, color=INK, fontsize=10, loc="left")
    figure.colorbar(image, ax=panel, label="rows")
    return figure
