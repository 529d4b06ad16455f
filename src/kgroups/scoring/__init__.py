"""Scores of a partition on its graph: no truth needed."""

from kgroups.scoring.cuts import conductance, cut_size
from kgroups.scoring.quality import coverage, modularity, performance
from kgroups.scoring.sizes import SizeDistribution, size_distribution
from kgroups.scoring.summary import Scores, scores

__all__ = [
    "Scores",
    "SizeDistribution",
    "conductance",
    "coverage",
    "cut_size",
    "modularity",
    "performance",
    "scores",
    "size_distribution",
]
