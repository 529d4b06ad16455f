"""The experiments: which setting of the search, on which graphs, at which values."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import kgroups as kg
from benchmarks.constants.cases import BORDER, DRAWN, FAINT, LARGE, NULLS, REAL, SURE, Case
from benchmarks.suites import Row
from kgroups import metrics

Regime = kg.Auto | kg.FewGroups | kg.ManyGroups
DEFAULT = kg.Search()


@dataclass(frozen=True)
class Setting:
    """A value that is tried; the chosen one is marked by a star."""

    label: str
    regime: Regime
    chosen: bool = False


@dataclass(frozen=True)
class Score:
    """What is measured of labels; with ``of_best`` in percent of the best value of the line."""

    heading: str
    of: Callable[[Case, np.ndarray], float]
    of_best: bool = False


PHI = Score("Phi in % of the best of the line", lambda case, z: case.phi(z), of_best=True)
ONE = Score("% that are one community", lambda _, z: 100.0 * (np.unique(z).size == 1))
AMI = Score("AMI with the planted communities", lambda case, z: metrics.ami(case.truth, z))


@dataclass(frozen=True)
class Experiment:
    """Settings that are compared on some graphs; ``graphs`` overrides how many of each."""

    question: str
    settings: tuple[Setting, ...]
    rows: tuple[Row, ...] = (*DRAWN, *REAL)
    score: Score = PHI
    graphs: int | None = None


def _written(value: Any) -> str:
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
            kg.ManyGroups(replace(DEFAULT, **{field: value})),
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
        "part of what is saved that undecided nodes may be worth after one start",
        "at_stake",
        0.0,
        0.03,
        DEFAULT.at_stake,
        0.3,
        1.0,
    ),
    "ambiguous": varied(
        "share of the nodes in communities that may nearly be merged, after one start",
        "ambiguous",
        0.0,
        DEFAULT.ambiguous,
        0.1,
        1.0,
    ),
    "retried": varied(
        "share of the nodes where a second start is made before one is enough",
        "retried",
        0.0,
        DEFAULT.retried,
        0.2,
        1.0,
        rows=(*DRAWN, *SURE, *REAL),
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
    "regimes": Experiment(
        "who proposes communities, on both sides of what eigenvectors and the search can show",
        (
            Setting("FewGroups", kg.FewGroups()),
            Setting("ManyGroups", kg.ManyGroups()),
            Setting("Auto*", kg.Auto(), chosen=True),
        ),
        rows=BORDER,
        score=AMI,
    ),
}
