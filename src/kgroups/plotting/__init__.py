"""Draw graphs with their communities, and the spectrum that counts the communities."""

from kgroups.plotting.figures import (
    FAINT,
    INK,
    community_colors,
    plot_partition,
    plot_spectrum,
    require_matplotlib,
)

__all__ = [
    "FAINT",
    "INK",
    "community_colors",
    "plot_partition",
    "plot_spectrum",
    "require_matplotlib",
]
