"""First labels: from the top eigenvectors, or by moving nodes at a resolution."""

from kgroups.seed.embedding import embedding_rows, informative_eigenpairs
from kgroups.seed.methods import KMeansSeed, QRSeed, Seed

__all__ = ["KMeansSeed", "QRSeed", "Seed", "embedding_rows", "informative_eigenpairs"]
