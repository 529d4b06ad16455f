"""How sure are the communities of a graph, and how sure is their number."""

from kgroups.uncertainty.marginals import Posterior, posterior, spectral_start
from kgroups.uncertainty.number import KDistribution, k_distribution

__all__ = ["KDistribution", "Posterior", "k_distribution", "posterior", "spectral_start"]
