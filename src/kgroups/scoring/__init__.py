"""Scores of a partition on its graph; no ground truth is needed."""

from kgroups.scoring.quality import (
    Scores,
    SizeDistribution,
    conductance,
    coverage,
    cut_size,
    modularity,
    performance,
    scores,
    size_distribution,
)

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
