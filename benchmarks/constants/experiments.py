"""The experiments: which setting of the search, on which graphs, at which values."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np

import kgroups as kg
from benchmarks.constants.cases import (
    BORDER,
    CORRELATED,
    DRAWN,
    FAINT,
    LARGE,
    MANY,
    MERGED,
    NULLS,
    REAL,
    SMALL,
    SURE,
    THIN,
    Case,
)
from benchmarks.suites import Row
from kgroups import metrics
from kgroups.search import arbiter, candidates, objective
from kgroups.search.climbing import Searching

Method = kg.Auto | kg.Search | kg.Spectral
DEFAULT = kg.Search()
# Phi is the objective if each edge counts in full.
IN_FULL = replace(DEFAULT, dispersion=1.0)


class _CountAlone(candidates.Spectra):
    """Eigenvectors that propose no other number than that of the eigenvalues."""

    def with_counts(self, which: np.ndarray) -> np.ndarray:
        return which[:0]


class _JudgeByPhi(candidates.Judge):
    """Judges candidates by evidence, but leaves the search its description alone."""

    def scored(self, *arguments: Any, own_rates: bool, **options: Any) -> Any:
        found = super().scored(*arguments, own_rates=own_rates, **options)
        if not own_rates:
            return found
        return found._replace(score=np.full_like(found.score, -np.inf))


def _dispersion_of_all(problem: Any, searched: Any, _: Any, settings: kg.Search) -> float:
    """Return the dispersion as all components show it, clear or not."""
    everything = np.arange(problem.n_components)
    return objective.dispersion_of(problem.level, searched.z, searched.k, everything)


# A rule, where it is, its name there, and what stands in for it.
_WITHOUT: dict[str, tuple[Any, str, Any]] = {
    "own densities": (candidates, "Judge", _JudgeByPhi),
    "next numbers": (candidates, "Spectra", _CountAlone),
    "pairs": (arbiter, "_split_small_communities", lambda problem, z, *_: z),
    "splits": (Searching, "_with_splits", lambda self, best, which: best),
    "chance": (objective, "_SURE", -math.inf),
    "dense": (objective, "MOST_REPEATED", math.inf),
    "faint": (candidates, "_dispersion", _dispersion_of_all),
}


@dataclass(frozen=True)
class Setting:
    """A value that is tried; the chosen one is marked by a star."""

    label: str
    method: Method
    chosen: bool = False
    without: str | None = None

    @contextmanager
    def rules(self) -> Iterator[None]:
        """Switch off the rule that the setting does without."""
        if self.without is None:
            yield
            return
        with patch.object(*_WITHOUT[self.without]):
            yield


@dataclass(frozen=True)
class Score:
    """What is measured of labels; with ``of_best`` in percent of the best value of the line."""

    heading: str
    of: Callable[[Case, np.ndarray], float]
    of_best: bool = False


PHI = Score("Phi in % of the best of the line", lambda case, z: case.phi(z), of_best=True)
ONE = Score("% that are one community", lambda _, z: 100.0 * (np.unique(z).size == 1))
AMI = Score("AMI with the known communities", lambda case, z: metrics.ami(case.truth, z))


@dataclass(frozen=True)
class Experiment:
    """Settings that are compared on some graphs; ``graphs`` overrides how many of each."""

    question: str
    settings: tuple[Setting, ...]
    rows: tuple[Row, ...] = (*DRAWN, *REAL)
    score: Score = PHI
    graphs: int | None = None


def _written(value: Any) -> str:
    if value is None:
        return "estimated"
    return (
        (" ".join(f"{x:g}" for x in value) or "none") if isinstance(value, tuple) else f"{value:g}"
    )


def varied(question: str, field: str, *values: Any, **options: Any) -> Experiment:
    """Return an experiment on one field of the search: the default among other values."""
    chosen = getattr(DEFAULT, field)
    if chosen not in values:
        msg = f"the default {chosen} of {field} must be among the values"
        raise ValueError(msg)
    settings = tuple(
        Setting(
            _written(value) + "*" * (value == chosen),
            replace(IN_FULL, **{field: value}),
            chosen=value == chosen,
        )
        for value in values
    )
    return Experiment(question, settings, **options)


EXPERIMENTS: dict[str, Experiment] = {
    "scales": varied(
        "resolutions of the starts, as exponents",
        "scales",
        (0.3,),
        (0.3, 0.5),
        (0.2, 0.4),
        DEFAULT.scales,
        (0.5, 0.3, 0.4, 0.2, 0.6),
        (0.0, 0.25, 0.5, 0.75),
    ),
    "starts": varied("starts at most", "starts", 1, 2, 4, 8, 16, 64),
    "least_gain": varied(
        "part of what is saved that a start must gain for another to follow",
        "least_gain",
        0.0,
        0.001,
        DEFAULT.least_gain,
        0.01,
        0.03,
        rows=(*DRAWN, *SURE, *REAL),
    ),
    "patience": varied(
        "starts in a row that may gain less before the search ends", "patience", 1, 2, 3, 8
    ),
    "temperatures": varied(
        "temperatures of annealing",
        "temperatures",
        (),
        (0.4, 0.2),
        DEFAULT.temperatures,
        (2.0, 1.0, 0.5, 0.2),
        (1.0, 0.7, 0.4, 0.2),
    ),
    "undecided_margin": varied(
        "nats by which a node is decided",
        "undecided_margin",
        1.0,
        3.0,
        DEFAULT.undecided_margin,
        12.0,
    ),
    "at_stake": varied(
        "part of what is saved that undecided nodes may be worth after two starts that agree",
        "at_stake",
        0.0,
        0.03,
        DEFAULT.at_stake,
        0.3,
        1.0,
    ),
    "treelike": varied(
        "part of the links of cells beyond those of a tree below which the graph is a tree locally",
        "treelike",
        0.0,
        0.05,
        DEFAULT.treelike,
        0.2,
        1.0,
    ),
    "significance": varied(
        "nats that communities must save",
        "significance",
        0.0,
        1.0,
        DEFAULT.significance,
        4.0,
        10.0,
        rows=(*NULLS, *FAINT),
        score=ONE,
        graphs=50,
    ),
    "max_visits": varied(
        "visits to each node before moves are given up", "max_visits", 2, 5, DEFAULT.max_visits, 40
    ),
    "spectral_nodes": varied(
        "nodes above which a graph that is locally a tree starts from the spectrum",
        "spectral_nodes",
        1_000,
        DEFAULT.spectral_nodes,
        10**9,
        rows=LARGE,
    ),
    "clear_communities": varied(
        "communities above which a faint start from the spectrum is compared with the usual one",
        "clear_communities",
        0.0,
        DEFAULT.clear_communities,
        1e9,
        rows=MANY,
    ),
    "clear_signal": varied(
        "signal-to-noise ratio below which many communities from the spectrum are compared",
        "clear_signal",
        0.0,
        DEFAULT.clear_signal,
        1e9,
        rows=MANY,
    ),
    "dispersion": varied(
        "by how much edges that are correlated count less",
        "dispersion",
        1.0,
        DEFAULT.dispersion,
        2.0,
        rows=(*DRAWN, *CORRELATED),
        score=AMI,
    ),
    "rules": Experiment(
        "the default without one of its rules",
        (
            Setting("all*", kg.Auto(), chosen=True),
            Setting("search by Phi", kg.Auto(), without="own densities"),
            Setting("k-hat alone", kg.Auto(), without="next numbers"),
            Setting("no pairs", kg.Auto(), without="pairs"),
            Setting("no splits", kg.Auto(), without="splits"),
        ),
        rows=(*FAINT, *THIN, *SMALL, *MERGED),
        score=AMI,
        graphs=20,
    ),
    "independent": Experiment(
        "the dispersion without one of the conditions under which edges count in full",
        (
            Setting("all*", kg.Auto(), chosen=True),
            Setting("by chance too", kg.Auto(), without="chance"),
            Setting("dense too", kg.Auto(), without="dense"),
            Setting("faint too", kg.Auto(), without="faint"),
        ),
        rows=(*FAINT, *THIN, *SMALL, *CORRELATED),
        score=AMI,
    ),
    "methods": Experiment(
        "who proposes communities, on both sides of what eigenvectors and the search can show",
        (
            Setting("Spectral", kg.Spectral("filtered")),
            Setting("Search", kg.Search()),
            Setting("Auto*", kg.Auto(), chosen=True),
        ),
        rows=BORDER,
        score=AMI,
    ),
}
