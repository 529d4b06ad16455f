"""``uci``: the paper's comparison of methods on tables of the UCI repository."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from kgroups import datasets, metrics
from kgroups._parallel import check_n_jobs
from kgroups._progress import Progress, counted_progress
from kgroups._types import Floats, Ints
from kgroups.datasets import Table, TableInfo, find_entry
from kgroups.energy import Exponential, kernel_kgroups, kernel_kmeans, kernel_matrix
from kgroups.plotting import community_colors
from kgroups.plotting.style import INK
from kgroups.studies import Study, trial_seed
from reproduce.clustering import (
    association,
    gmm_labels,
    kmeans_labels,
    plus_plus_labels,
    printed_kernel_kmeans,
    require_sklearn,
    spectral_rows,
)
from reproduce.published import DEGENERATE, REASONS, UCI, UCI_STARTS, UciLine
from reproduce.results import Claim, Finding, Measured, counted

Scale: TypeAlias = Literal["z", "raw"]
Rows: TypeAlias = Literal["all", "2000", "200 per class"]
Row = dict[str, Any]


_SUBSAMPLE, _PER_CLASS = 2_000, 200
_METRIC = Exponential(sigma=2.0)
# Half of the last printed digit.
ROUNDING = 0.0005
# With fewer starts their standard error is not known well enough for a verdict.
_FEWEST_STARTS = 10


METHODS = (
    "k-groups", "kernel k-means, printed", "kernel k-means", "spectral", "k-means", "GMM"
)  # fmt: skip
"""The methods; "printed" is kernel k-means with the paper's update, the other the exact one."""


COMPARED = {
    "groups": "k-groups",
    "printed": "kernel k-means, printed",
    "spectral": "spectral",
}
"""Columns of the paper and the methods that are compared with them."""


class Sample(NamedTuple):
    """Rows to cluster, the class of each in ``range(k)``, and the number of classes."""

    X: Floats
    truth: Ints
    k: int


@dataclass(frozen=True)
class UciTable:
    """How the paper uses a table.

    Attributes
    ----------
    title : str
        The paper's name for it.
    name : str or None
        The name that :func:`kgroups.datasets.load_table` takes, if there is a copy.
    scale : {"z", "raw"}
        Columns of mean 0 and standard deviation 1, or as they are.
    rows : {"all", "2000", "200 per class"}
        All rows in random order, or some of them drawn with replacement.
    """

    title: str
    name: str | None
    scale: Scale
    rows: Rows = "all"

    @property
    def present(self) -> bool:
        """Whether its file is on this machine."""
        return any(info.name == self.name and info.present for info in datasets.describe_tables())

    @property
    def shape(self) -> str | None:
        """Number of rows used, of classes and of columns."""
        if self.name is None:
            return None
        info = find_entry(self.name, TableInfo)
        rows = {"all": info.rows, "2000": _SUBSAMPLE, "200 per class": _PER_CLASS * info.classes}
        return f"{rows[self.rows]}/{info.classes}/{info.columns}"

    def draw(self, rng: np.random.Generator) -> Sample:
        """Return the rows in an order, or the subsample, that ``rng`` draws."""
        assert self.name is not None
        table = _loaded(self.name)
        names, truth = np.unique(table.labels, return_inverse=True)
        picks = _picked(self.rows, truth, rng)
        X = table.X[picks]
        return Sample(standardized(X) if self.scale == "z" else X, truth[picks], names.size)


UCI_TABLES = (
    UciTable("libras movement", "libras", "z"),
    UciTable("vehicle", "vehicle", "raw"),
    UciTable("forest", "forest_type", "z"),
    UciTable("covertype", "covertype15120", "z", "200 per class"),
    UciTable("segmentation", "segmentation", "z"),
    UciTable("wine", "wine", "z"),
    UciTable("synthetic control", "synthetic_control", "z"),
    UciTable("fertility", "fertility", "raw"),
    UciTable("glass", "glass", "raw"),
    UciTable("ionosphere", "ionosphere", "raw"),
    UciTable("epileptic", "epileptic", "z", "2000"),
    UciTable("anuran", "anuran", "z", "2000"),
    UciTable("gene expression", None, "z"),
    UciTable("pendigits", "pendigits", "z", "2000"),
    UciTable("seeds", "seeds", "z"),
    UciTable("spect heart", "spect_heart", "raw"),
    UciTable("iris", "iris", "raw"),
    UciTable("contraceptive", "contraceptive", "z"),
)
"""The lines of the paper's table. The paper does not state the scales; others do not fit."""


@lru_cache(maxsize=1)
def _loaded(name: str) -> Table:
    """Return a table, kept for the next draws from it."""
    return datasets.load_table(name)


def standardized(X: Floats) -> Floats:
    """Return columns of mean 0 and standard deviation 1; a constant column becomes 0."""
    centered = X - X.mean(axis=0)
    # The mean of equal numbers may be off by a rounding error, which must not be scaled up.
    constant = np.ptp(X, axis=0) == 0.0
    centered[:, constant] = 0.0
    scaled: Floats = centered / np.where(constant, 1.0, X.std(axis=0))
    return scaled


def _picked(rows: Rows, truth: Ints, rng: np.random.Generator) -> Ints:
    if rows == "2000":
        return rng.integers(truth.size, size=_SUBSAMPLE)
    if rows == "200 per class":
        members = [np.flatnonzero(truth == a) for a in range(int(truth.max()) + 1)]
        drawn = np.concatenate([rng.choice(each, size=_PER_CLASS) for each in members])
        return rng.permutation(drawn)
    return rng.permutation(truth.size)


class Draw(NamedTuple):
    """One order or subsample of the rows of a table, and the numbers of the starts on it."""

    table: UciTable
    number: int
    trials: tuple[int, ...]


def divided_starts(tables: Sequence[UciTable], trials: int, count: int) -> list[Draw]:
    """Return ``count`` draws of each table, with ``trials`` starts divided among them."""
    return [
        Draw(table, number, tuple(range(number, trials, count)))
        for table in tables
        for number in range(count)
    ]


def rows_of(draw: Draw) -> list[Row]:
    """Return a row for each start and method; rows depend only on the draw."""
    place: Row = {"table": draw.table.title}
    sample = draw.table.draw(np.random.default_rng(trial_seed(0, place, draw.number)))
    place = {**place, "draw": draw.number}
    with threadpool_limits(limits=1):
        G = kernel_matrix(sample.X, metric=_METRIC)
        V = spectral_rows(G, sample.k)
        return [
            row
            for trial in draw.trials
            for row in _of_start(
                sample, G, V, {**place, "trial": trial}, trial_seed(0, place, trial)
            )
        ]


def _of_start(sample: Sample, G: Floats, V: Floats, place: Row, seed: int) -> Iterator[Row]:
    X, truth, k = sample
    start = plus_plus_labels(X, k, np.random.default_rng(seed))
    state = seed % 2**32
    found: Mapping[str, Callable[[], Ints]] = {
        "k-groups": lambda: kernel_kgroups(G, k, metric="gram", init=start).labels,
        "kernel k-means, printed": lambda: printed_kernel_kmeans(G, start, k=k),
        "kernel k-means": lambda: kernel_kmeans(G, k, metric="gram", init=start).labels,
        "spectral": lambda: kmeans_labels(V, k, starts=1, state=state),
        "k-means": lambda: kmeans_labels(X, k, starts=1, state=state),
        "GMM": lambda: gmm_labels(X, k, starts=1, state=state),
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


def in_parallel(
    run: Callable[[Any], list[Row]], tasks: Sequence[Any], n_jobs: int | None, progress: Progress
) -> list[Row]:
    """Return the rows of all tasks, in their order, computed in ``n_jobs`` processes."""
    require_sklearn()
    from joblib import Parallel, delayed

    check_n_jobs(n_jobs)
    rows: list[Row] = []
    workers = Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1)
    with counted_progress(len(tasks), "trial", progress=progress) as show:
        for done, made in enumerate(workers(delayed(run)(task) for task in tasks), start=1):
            rows += made
            show(done)
    return rows


class Spread(NamedTuple):
    """A mean over draws and starts, and the standard error of another such mean.

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
    """Return the mean of values in draws; the other mean is over ``starts`` starts.

    Starts on one draw share its rows and their order, so the variance between draws is a term of
    its own.
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


def table_verdict(found: Spread, title: str, column: str) -> str:
    """Return whether a mean agrees with the paper's, and if not, a known reason."""
    paper, other = UCI[title]
    if (title, column) in DEGENERATE:
        return f"no target ({DEGENERATE[title, column]})"
    if found.starts < _FEWEST_STARTS:
        return "too few starts to tell"
    # The paper's mean has its own standard error, of as many starts on a single draw.
    tolerance = 2.0 * math.hypot(found.ours.se, found.one_draw) + ROUNDING
    ours, printed = found.ours.mean, getattr(paper, column)
    if abs(ours - printed) <= tolerance:
        return _REPRODUCED
    side = "above" if ours > printed else "below"
    if (title, column) in REASONS:
        return f"{side} ({REASONS[title, column]})"
    agrees = other is not None and abs(ours - getattr(other, column)) <= tolerance
    return f"{side}, like another implementation" if agrees else side


def in_short(verdicts: Mapping[str, str]) -> str:
    """Return one verdict if all methods have the same, or list the methods of each.

    Examples
    --------
    >>> in_short({"k-groups": "reproduced", "spectral": "reproduced"})
    'reproduced'
    >>> in_short({"k-groups": "above", "kernel k-means": "above", "spectral": "reproduced"})
    'k-groups and kernel k-means above; spectral reproduced'
    """
    alike: dict[str, list[str]] = {}
    for name, verdict in verdicts.items():
        alike.setdefault(verdict, []).append(name)
    if len(alike) == 1:
        return next(iter(alike))
    return "; ".join(f"{' and '.join(names)} {verdict}" for verdict, names in alike.items())


def within_claims(
    verdicts: Mapping[tuple[str, str], str], titles: Sequence[str]
) -> Iterator[Claim]:
    """Yield for each method the claim that its means agree with the paper's."""
    for column, method in COMPARED.items():
        aims = [title for title in titles if (title, column) not in DEGENERATE]
        off = [title for title in aims if verdicts[title, column] != _REPRODUCED]
        unexplained = [title for title in off if (title, column) not in REASONS]
        seen = [f"{len(aims) - len(off)} of {len(aims)}"]
        seen += [f"{title} {verdicts[title, column]}" for title in off]
        yield Claim(
            f"{method} is within 2 s.e. of the paper wherever that can be expected",
            bool(aims) and not unexplained,
            "; ".join(seen),
        )


def ranking_claims(
    means: Mapping[tuple[str, str], float],
    objectives: Mapping[tuple[str, str], float],
    titles: Sequence[str],
) -> Iterator[Claim]:
    """Yield the claims that k-groups is ahead of kernel k-means with the exact update."""
    for values, what, least in (
        (means, "mean NMI of k-groups is at least that of kernel k-means on most tables", 0.5),
        (objectives, "its mean objective is larger on every table", 1.0),
    ):
        behind = [t for t in titles if values[t, "k-groups"] < values[t, "kernel k-means"]]
        ahead = len(titles) - len(behind)
        seen = f"{ahead} of {len(titles)}" + (f"; not {', '.join(behind)}" if behind else "")
        yield Claim(what, bool(titles) and ahead >= least * len(titles), seen)


ABSENT = "not run: its file is not here (`kgroups datasets`)"
_NO_COPY = "not run: no copy of the data is at hand"
_REPRODUCED = "reproduced"


def uci(
    trials: int | None = None,
    *,
    tables: Sequence[UciTable] = UCI_TABLES,
    draws: int = 10,
    n_jobs: int | None = None,
    progress: Progress = False,
) -> Finding:
    """Compare kernel k-groups with other methods on the paper's tables, by NMI.

    Parameters
    ----------
    trials : int, optional
        Starts per table.
    tables : sequence of UciTable
        The tables to cluster.
    draws : int
        Orders or subsamples of each table, among which the starts are divided.
    n_jobs, progress
        As for :func:`kgroups.studies.sweep`.
    """
    trials = trials or UCI_STARTS
    count = min(draws, trials)
    here = [table for table in tables if table.present]
    titles = [table.title for table in here]
    study = Study(
        ("table", "draw"),
        ("nmi", "objective"),
        tuple(in_parallel(rows_of, divided_starts(here, trials, count), n_jobs, progress)),
    )
    cases = [(title, method) for title in titles for method in METHODS]
    spreads = {
        (title, method): spread(
            [study.values("nmi", method=method, table=title, draw=d) for d in range(count)],
            UCI_STARTS,
        )
        for title, method in cases
    }
    objectives = {
        (title, method): float(study.values("objective", method=method, table=title).mean())
        for title, method in cases
    }
    verdicts = {
        (title, column): table_verdict(spreads[title, method], title, column)
        for title in titles
        for column, method in COMPARED.items()
    }
    means = {case: found.ours for case, found in spreads.items()}
    lines = [
        _line(table, means, in_short({m: verdicts[table.title, c] for c, m in COMPARED.items()}))
        if table in here
        else _line(table, {}, _NO_COPY if table.name is None else ABSENT)
        for table in tables
    ]
    claims = [
        *within_claims(verdicts, titles),
        *ranking_claims({case: mean.mean for case, mean in means.items()}, objectives, titles),
    ]
    return Finding(
        "uci",
        "mean NMI on tables of the UCI repository",
        f"Exponential semimetric, sigma = 2; {counted(trials, 'start')} per table, each a single "
        f"one of k-means++ on the rows, over {counted(count, 'random order')} or subsamples of "
        "them; NMI with the geometric mean. Printed is kernel k-means with the paper's update, "
        "which leaves out G_ii, exact with the exact one. On the scale z columns have mean 0 and "
        "standard deviation 1. ± is the standard error, the spread over orders and subsamples in "
        "it.",
        (
            "table", "n/k/D", "scale", "k-groups, paper", "k-groups", "kernel k-means, paper",
            "printed", "exact", "spectral, paper", "spectral", "k-means", "GMM", "verdict",
        ),
        tuple(lines),
        tuple(claims),
        study,
        {"uci": lambda: draw_violins(study, UCI)} if here else {},
    )  # fmt: skip


def _line(
    table: UciTable, means: Mapping[tuple[str, str], Measured], verdict: str
) -> tuple[Any, ...]:
    groups, printed, exact, spectral, kmeans, gmm = (means.get((table.title, m)) for m in METHODS)
    paper = UCI[table.title].paper
    return (
        table.title,
        table.shape,
        table.scale,
        paper.groups,
        groups,
        paper.printed,
        printed,
        exact,
        paper.spectral,
        spectral,
        kmeans,
        gmm,
        verdict,
    )


# Methods in the figure, and the names under their violins.
_DRAWN = ("k-groups", "kernel k-means, printed", "kernel k-means", "spectral")
_SHORT = ("groups", "means,\nprinted", "means", "spectral")
_PANELS_PER_ROW = 6
_PANEL_INCHES = (2.3, 2.2)


def draw_violins(study: Study, paper: Mapping[str, UciLine]) -> Any:
    """Draw the NMI of all starts on each table, and the paper's means as crosses."""
    from matplotlib.figure import Figure

    tables = list(dict.fromkeys(row["table"] for row in study.rows))
    across, down = min(len(tables), _PANELS_PER_ROW), math.ceil(len(tables) / _PANELS_PER_ROW)
    figure = Figure(
        figsize=(_PANEL_INCHES[0] * across, _PANEL_INCHES[1] * down + 0.3), layout="constrained"
    )
    panels = figure.subplots(down, across, squeeze=False).ravel()
    colors = community_colors(len(_DRAWN))
    places = np.arange(len(_DRAWN))
    for panel, table in zip(panels, tables, strict=False):
        # Equal partitions differ by rounding errors, which must not be drawn as a distribution.
        values = [np.round(study.values("nmi", method=m, table=table), 9) for m in _DRAWN]
        parts = panel.violinplot(values, places, widths=0.8, showmeans=True, showextrema=False)
        for body, color in zip(parts["bodies"], colors, strict=True):
            body.set(facecolor=color, alpha=0.6)
        parts["cmeans"].set(color=INK, lw=1.2)
        printed = paper[table].paper
        of_paper = [printed.groups, printed.printed, math.nan, printed.spectral]
        panel.plot(places, of_paper, "x", color=INK, ms=4, label="paper")
        panel.set_title(table, color=INK, fontsize=9, loc="left")
        panel.set_xticks(places, _SHORT, fontsize=6)
        panel.tick_params(axis="y", labelsize=7, colors=INK)
        panel.spines[["top", "right"]].set_visible(False)
    for unused in panels[len(tables) :]:
        unused.remove()
    figure.supylabel("NMI", color=INK, fontsize=9)
    figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, fontsize=8,
                  loc="outside lower right")  # fmt: skip
    return figure
