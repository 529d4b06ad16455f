"""First labels: from the top eigenvectors, or by moving nodes at a resolution."""

from kgroups.seed.embedding import embedding_rows, informative_eigenpairs, strong_rows
from kgroups.seed.methods import KMeansSeed, QRSeed, Seed, WarmStart
from kgroups.seed.spreading import spread_labels

__all__ = [
    "KMeansSeed",
    "QRSeed",
    "Seed",
    "WarmStart",
    "embedding_rows",
    "informative_eigenpairs",
    "spread_labels",
    "strong_rows",
]
