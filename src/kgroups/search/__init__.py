"""Candidates for communities, the search among them, and the decision between them."""

from kgroups.search.candidates import ANY_SAVING_NODES
from kgroups.search.detection import Detection
from kgroups.search.finding import compete, find_communities
from kgroups.search.given import EXACT_NODES_UNEVEN, find_k_communities
from kgroups.search.numbers import ComponentNumbers, numbers_of_communities
from kgroups.search.scales import Scale, find_scales, scale_nats
from kgroups.search.settings import (
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
    "Auto",
    "ComponentNumbers",
    "Detection",
    "Method",
    "Scale",
    "Search",
    "Spectral",
    "check_method",
    "compete",
    "dense_solves",
    "find_communities",
    "find_k_communities",
    "find_scales",
    "numbers_of_communities",
    "scale_nats",
]
