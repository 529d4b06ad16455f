"""``dermatology`` and ``uci``: the paper's tables of vector data."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from kgroups.datasets.catalogue import table_info
from kgroups.reproduce.findings import Claim, Finding, Measured, counted, measured
from kgroups.reproduce.pace import told
from kgroups.reproduce.table_data import UCI_TABLES, UciTable, dermatology_rows
from kgroups.reproduce.table_figures import draw_membership, draw_violins
from kgroups.reproduce.table_paper import (
    DERMATOLOGY,
    DERMATOLOGY_COMPLETE,
    DERMATOLOGY_OBJECTIVE,
    STARTS,
    UCI,
    Scores,
)
from kgroups.reproduce.table_runs import METHODS, dealt, in_parallel, rows_of, spread, undisturbed
from kgroups.reproduce.table_starts import (
    BEST_OF,
    GROUPS,
    REPEATABLE,
    RUNS,
    STARTED_OFTEN,
    Bench,
    Run,
    best_of,
    largest,
    run,
)
from kgroups.reproduce.table_verdicts import (
    COMPARED,
    in_short,
    ranking_claims,
    run_verdict,
    table_verdict,
    within_claims,
)
from kgroups.reproduce.vectors import require_sklearn
from kgroups.studies import Study

__all__ = ["dermatology", "uci"]

_DRAWS = 10
_DERMATOLOGY_STARTS = 500
_ABSENT = "not run: its file is not here (`kgroups datasets`)"
_NO_COPY = "not run: no copy of the data is at hand"
_FEW = 5
_SAME = 1e-6
_EXACT = "the partition of largest Q has the paper's scores to every digit"
_DERMATOLOGY_COLUMNS = (
    "method", "accuracy, paper", "accuracy", "aRand, paper", "aRand", "NMI, paper", "NMI",
    "largest Q", "verdict",
)  # fmt: skip


def uci(trials: int | None, **running: Any) -> Finding:
    """Compare kernel k-groups with other methods on the paper's tables, by NMI."""
    trials = trials or STARTS
    count = min(_DRAWS, trials)
    here = [table for table in UCI_TABLES if table.present]
    titles = [table.title for table in here]
    study = Study(
        ("table", "draw"),
        ("nmi", "objective"),
        tuple(in_parallel(rows_of, dealt(here, trials, count), running)),
    )
    cases = [(title, method) for title in titles for method in METHODS]
    spreads = {
        (title, method): spread(
            [study.values("nmi", method=method, table=title, draw=d) for d in range(count)], STARTS
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
        else _line(table, {}, _NO_COPY if table.name is None else _ABSENT)
        for table in UCI_TABLES
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


def dermatology(trials: int | None, **running: Any) -> Finding:
    """Find the six diseases of dermatology from several kinds of starts."""
    require_sklearn()
    trials = trials or _DERMATOLOGY_STARTS
    if not table_info("dermatology").present:
        line = ("dermatology", *[None] * (len(_DERMATOLOGY_COLUMNS) - 2), _ABSENT)
        return _dermatology_finding(trials, [line], [Claim(_EXACT, holds=False, seen="not run")])
    with undisturbed():
        whole = Bench.of("all", dermatology_rows("mean"))
        complete = Bench.of("complete", dermatology_rows("drop"))
        few = max(1, trials // BEST_OF)
        plan = [(whole, name, few if name in REPEATABLE else trials) for name in RUNS]
        plan += [(complete, name, trials) for name in STARTED_OFTEN]
        found = {
            (bench.name, name): list(run(bench, name, count))
            for bench, name, count in told(plan, running)
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
    """Yield how single starts of each kind fare, and five of the paper's."""
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
