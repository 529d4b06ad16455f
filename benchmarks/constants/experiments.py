"""The experiments: which constant, on which graphs, at which values."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import kgroups as kg
from benchmarks.constants.cases import (
    BORDER,
    BOTH,
    CLEAR,
    HARD,
    HARDEST,
    Case,
    Found,
    detected,
    polished,
    searched,
)
from kgroups.refine import rates
from kgroups.regimes import choice, finding, many, splits


@dataclass(frozen=True)
class Setting:
    """One line: names that are given other values while ``run`` works."""

    label: str
    changes: tuple[tuple[Any, str, Any], ...] = ()
    run: Callable[[Case], Found] = searched

    def found(self, case: Case) -> Found:
        """Run with the changes in force."""
        with ExitStack() as stack:
            for owner, attribute, value in self.changes:
                stack.enter_context(patch.object(owner, attribute, value))
            return self.run(case)


@dataclass(frozen=True)
class Experiment:
    """Settings that are compared on some graphs."""

    question: str
    graphs: tuple[str, ...]
    settings: tuple[Setting, ...]


def varied(
    question: str,
    owner: Any,
    attribute: str,
    others: tuple[float, ...],
    graphs: tuple[str, ...],
    run: Callable[[Case], Found] = searched,
) -> Experiment:
    """Return an experiment on one number: the chosen value, and others around it."""
    chosen = getattr(owner, attribute)
    values = sorted({chosen, *others})
    settings = (
        Setting(f"{value:g}*", run=run)
        if value == chosen
        else Setting(f"{value:g}", ((owner, attribute, value),), run)
        for value in values
    )
    return Experiment(question, graphs, tuple(settings))


def _times(factor: float) -> Setting:
    def scaled(k: float, s: float, degree: float) -> float:
        return factor * resolution_of(k, s, degree)

    resolution_of = many.resolution_of
    return Setting(f"{factor:g}", ((many, "resolution_of", scaled),))


def _cold(temperatures: tuple[float, ...]) -> tuple[float, ...]:
    return (0.0,) * len(temperatures)


def _temperatures() -> tuple[Setting, ...]:
    mild, reheat, step = many._MILD, many._REHEAT, many._STEP
    return (
        Setting(
            "all cold",
            (
                (many, "_MILD", _cold(mild)),
                (many, "_REHEAT", _cold(reheat)),
                (many, "_STEP", _cold(step)),
            ),
        ),
        Setting("mild ones cold", ((many, "_MILD", _cold(mild)),)),
        Setting("no reheating", ((many, "_REHEATS", 0),)),
        Setting("descent cold", ((many, "_STEP", _cold(step)),)),
        Setting("chosen*"),
        Setting("descent at 1", ((many, "_STEP", (1.0,) * len(step)),)),
        Setting("descent slower", ((many, "_STEP", (1.0, 0.9, 0.8, 0.6, 0.4, 0.2)),)),
        Setting("reheat at 1.5", ((many, "_REHEAT", (1.5, *reheat)),)),
    )


_POLISHES = (
    "nothing",
    "Hartigan, margin 0",
    "Hartigan, margin 0.25",
    "one density",
    "own densities",
)

EXPERIMENTS: dict[str, Experiment] = {
    "resolution": Experiment(
        "resolution of the first moves, as a multiple of the derived one",
        ("LFR d=20 mu=.65", *BOTH),
        (_times(0.6), _times(0.8), Setting("1*"), _times(1.5), _times(2.0)),
    ),
    "share": varied(
        "part of the groups that is merged before nodes move again",
        many,
        "_SHARE",
        (0.05, 0.5, 1.0),
        (*BOTH, "LFR d=20 mu=.65", "SBM k=200 SNR 2"),
    ),
    "notable": varied(
        "part of the groups that must have been merged for nodes to move at once",
        many,
        "_NOTABLE",
        (0.0, 0.2),
        (*BOTH, "LFR d=20 mu=.65"),
    ),
    "temperatures": Experiment("temperatures of the warm moves", HARDEST, _temperatures()),
    "doubt": varied("nats by which a node is decided", rates, "_DOUBT", (1.0, 3.0, 12.0), HARDEST),
    "step-down": varied(
        "groups before a step of the descent, for one after it",
        many,
        "_STEP_DOWN",
        (1.1, 1.5, 2.0),
        ("LFR d=10 mu=.6", "SBM k=40 SNR 1.5"),
    ),
    "finer": varied(
        "resolution at which a descent begins, as a multiple",
        many,
        "_FINER",
        (1.0, 2.0, 8.0),
        ("LFR d=10 mu=.6", "SBM k=40 SNR 1.5"),
    ),
    "finest-share": varied(
        "most groups that a descent begins with, for each node",
        many,
        "_FINEST_SHARE",
        (0.03, 0.3),
        ("LFR d=10 mu=.6", "SBM k=40 SNR 1.5"),
    ),
    "steps-past-best": varied(
        "steps of the descent after the best one", many, "_STEPS_PAST_BEST", (2, 4), HARDEST
    ),
    "faint": varied(
        "SNR below which the search begins with the descent (1: never, 9: always)",
        many,
        "_FAINT",
        (1.0, 9.0),
        ("LFR d=20 mu=.65", "LFR d=10 mu=.4", *HARDEST),
    ),
    "hard": varied(
        "part that reheating must add to the nats for a descent to follow",
        many,
        "_HARD",
        (0.0, 0.01, 0.1),
        HARDEST,
    ),
    "decided": varied(
        "share of undecided nodes from which on labels are reheated",
        many,
        "_DECIDED",
        (0.0, 0.05, 0.2),
        (*CLEAR, "LFR d=10 mu=.5"),
    ),
    "worth-reheating": varied(
        "part that reheating must add to the nats to be repeated",
        many,
        "_WORTH_REHEATING",
        (0.0, 0.02, 1.0),
        HARD,
    ),
    "sampled": varied(
        "one community in so many is tried first for splits (1000: all at once)",
        splits,
        "_SAMPLED",
        (2, 20, 1000),
        ("LFR d=20 mu=.65", *BOTH),
    ),
    "split-saving": varied(
        "nats that a split must save",
        splits,
        "LEAST_SAVING",
        (0.0, 10.0, 40.0),
        ("LFR d=20 mu=.65", *BOTH),
    ),
    "hartigan": Experiment(
        "the polish by Hartigan moves, kept where it saves nats",
        HARDEST,
        (Setting("left out", run=partial(searched, refine=None)), Setting("guarded*")),
    ),
    "densities": Experiment(
        "one polish only, after the first moves and merges",
        ("LFR d=20 mu=.65", *BOTH),
        tuple(Setting(by, run=partial(polished, start="moves", by=by)) for by in _POLISHES),
    ),
    "bias": Experiment(
        "one polish only, from the planted labels",
        ("LFR d=20 mu=.65", *BOTH),
        tuple(Setting(by, run=partial(polished, start="truth", by=by)) for by in _POLISHES),
    ),
    "regimes": Experiment(
        "the regimes on both sides of the border between few and many",
        BORDER,
        (
            Setting("FewGroups", run=partial(detected, regime=kg.FewGroups())),
            Setting("ManyGroups", run=partial(detected, regime=kg.ManyGroups())),
            Setting("Auto*", run=detected),
        ),
    ),
    "clear": varied(
        "SNR up to which eigenvectors are tried first",
        choice,
        "_CLEAR",
        (1.0, 1.4, 2.0),
        BORDER,
        detected,
    ),
    "shortfall": varied(
        "part of the expected nats that may be missing before the other regime is tried too",
        choice,
        "_SHORTFALL",
        (0.0, 0.2, 9.0),
        ("SBM k=10 SNR 1.3", "SBM k=10 SNR 2", "DCSBM k=10 SNR 1.8"),
        detected,
    ),
    "faint-nats": varied(
        "nats for each edge below which a description does not decide",
        finding,
        "_FAINT_NATS",
        (0.0, 0.05, 0.2),
        BORDER,
        detected,
    ),
}
