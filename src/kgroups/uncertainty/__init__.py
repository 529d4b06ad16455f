"""How sure are the communities of a graph, and how sure is their number."""

from kgroups.uncertainty.number import KDistribution, k_distribution
from kgroups.uncertainty.posterior import Posterior, posterior, spectral_start
from kgroups.uncertainty.significance import Significance, significance
from kgroups.uncertainty.stability import EdgeShares, Stability

__all__ = [
    "EdgeShares",
    "KDistribution",
    "Posterior",
    "Significance",
    "Stability",
    "k_distribution",
    "posterior",
    "significance",
    "spectral_start",
]
