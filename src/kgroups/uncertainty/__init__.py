"""How sure are the communities of a graph, and how sure is their number."""

from kgroups.uncertainty.marginals import Posterior, posterior, spectral_start
from kgroups.uncertainty.number import KDistribution, k_distribution
from kgroups.uncertainty.stability import EdgeShares, Stability

__all__ = [
    "EdgeShares",
    "KDistribution",
    "Posterior",
    "Stability",
    "k_distribution",
    "posterior",
    "spectral_start",
]
