"""A graph prepared for detection, its levels, the objective, and climbing on it."""

from kgroups.multilevel._climbing_nb import ROUNDING
from kgroups.multilevel.climbing import MoveRules, State, attached, climb, woken
from kgroups.multilevel.levels import (
    Level,
    coarsened,
    finest_level,
    inner_weights,
    intersection,
    majority,
    places,
    singletons,
)
from kgroups.multilevel.objective import (
    GROUPS_PER_MERGE,
    Objective,
    Totals,
    best_partners,
    log_factorials,
    merged_down,
    nats_saved,
    totals,
)
from kgroups.multilevel.problem import Prepared, Problem, prepare

__all__ = [
    "GROUPS_PER_MERGE",
    "ROUNDING",
    "Level",
    "MoveRules",
    "Objective",
    "Prepared",
    "Problem",
    "State",
    "Totals",
    "attached",
    "best_partners",
    "climb",
    "coarsened",
    "finest_level",
    "inner_weights",
    "intersection",
    "log_factorials",
    "majority",
    "merged_down",
    "nats_saved",
    "places",
    "prepare",
    "singletons",
    "totals",
    "woken",
]
