"""Ways from a graph to its communities, chosen by size."""

from kgroups.regimes.choice import (
    EXACT_NODES,
    Auto,
    Exact,
    FewGroups,
    ManyGroups,
    Regime,
    check_regime,
)
from kgroups.regimes.finding import by_moments, communities_found
from kgroups.regimes.given import communities_given_k
from kgroups.regimes.problem import Found, Problem

__all__ = [
    "EXACT_NODES",
    "Auto",
    "Exact",
    "FewGroups",
    "Found",
    "ManyGroups",
    "Problem",
    "Regime",
    "by_moments",
    "check_regime",
    "communities_found",
    "communities_given_k",
]
