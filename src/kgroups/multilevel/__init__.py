"""A graph, the graphs of its groups, and moves of units between groups."""

from kgroups.multilevel.levels import Code, Level, Rules, finest_level, modularity_moves

__all__ = ["Code", "Level", "Rules", "finest_level", "modularity_moves"]
