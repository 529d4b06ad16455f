"""Candidates for communities, the search among them, and the decision between them."""

from kgroups.search._search_nb import ROUNDING
from kgroups.search.arbiter import decide, reported_counts
from kgroups.search.candidates import ANY_SAVING_NODES, Detection, Options, propose
from kgroups.search.climbing import MoveRules, State, attached, climb, woken
from kgroups.search.given_k import find_k_communities
from kgroups.search.levels import (
    Level,
    coarsened,
    finest_level,
    intersection,
    majority,
    places,
    singletons,
)
from kgroups.search.numbers import ComponentNumbers, numbers_of_communities
from kgroups.search.objective import (
    GROUPS_PER_MERGE,
    Objective,
    Totals,
    best_partners,
    log_factorials,
    merged_down,
    nats_saved,
    totals,
)
from kgroups.search.problem import Prepared, Problem, prepare
from kgroups.search.scales import Scale, find_scales, scale_nats
from kgroups.search.settings import (
    EXACT_NODES_UNEVEN,
    Auto,
    Method,
    Search,
    Spectral,
    check_method,
    dense_solves,
)

__all__ = [
    "ANY_SAVING_NODES",
    "EXACT_NODES_UNEVEN",
    "GROUPS_PER_MERGE",
    "ROUNDING",
    "Auto",
    "ComponentNumbers",
    "Detection",
    "Level",
    "Method",
    "MoveRules",
    "Objective",
    "Options",
    "Prepared",
    "Problem",
    "Scale",
    "Search",
    "Spectral",
    "State",
    "Totals",
    "attached",
    "best_partners",
    "check_method",
    "climb",
    "coarsened",
    "decide",
    "dense_solves",
    "find_k_communities",
    "find_scales",
    "finest_level",
    "intersection",
    "log_factorials",
    "majority",
    "merged_down",
    "nats_saved",
    "numbers_of_communities",
    "places",
    "prepare",
    "propose",
    "reported_counts",
    "scale_nats",
    "singletons",
    "totals",
    "woken",
]
