"""Candidates for communities, the search among them, and the decision between them."""

from kgroups.search.finding import EXACT_NODES, communities_found
from kgroups.search.given import communities_given_k
from kgroups.search.problem import Detection, Prepared, Problem, prepared
from kgroups.search.settings import (
    Auto,
    Exact,
    FewGroups,
    ManyGroups,
    Regime,
    Search,
    check_regime,
)

__all__ = [
    "EXACT_NODES",
    "Auto",
    "Detection",
    "Exact",
    "FewGroups",
    "ManyGroups",
    "Prepared",
    "Problem",
    "Regime",
    "Search",
    "check_regime",
    "communities_found",
    "communities_given_k",
    "prepared",
]
