"""Pictures of partitions and of the evidence for them; they need the extra ``plot``."""

from kgroups.plotting.figures import (
    plot_adjacency,
    plot_alluvial,
    plot_confidence,
    plot_levels,
    plot_sizes,
    plot_spectrum,
    plot_stability,
)
from kgroups.plotting.graphs import plot_communities, plot_graph
from kgroups.plotting.style import community_colors, style

__all__ = [
    "community_colors",
    "plot_adjacency",
    "plot_alluvial",
    "plot_communities",
    "plot_confidence",
    "plot_graph",
    "plot_levels",
    "plot_sizes",
    "plot_spectrum",
    "plot_stability",
    "style",
]
