"""Levels of a graph, whose units are groups of nodes, and local moving of units between groups."""

from kgroups.multilevel.levels import (
    ROUNDING,
    Code,
    Level,
    Rules,
    explicit_weights,
    finest_level,
    inner_weights,
)
from kgroups.multilevel.shared import shared_moves

__all__ = [
    "ROUNDING",
    "Code",
    "Level",
    "Rules",
    "explicit_weights",
    "finest_level",
    "inner_weights",
    "shared_moves",
]
