"""A graph, the graphs of its groups, and moves of units between groups."""

from kgroups.multilevel.levels import Level, finest_level, modularity_moves

__all__ = ["Level", "finest_level", "modularity_moves"]
