"""Ways from a graph to its communities, chosen by size."""

from kgroups.regimes.choice import Auto, Exact, Regime, chosen_regime
from kgroups.regimes.exact import Found, Problem, communities_found, communities_given_k

__all__ = [
    "Auto",
    "Exact",
    "Found",
    "Problem",
    "Regime",
    "chosen_regime",
    "communities_found",
    "communities_given_k",
]
