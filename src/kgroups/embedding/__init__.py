"""First labels from eigenvectors: rows of an embedding, k-means, pivoted QR."""

from kgroups.embedding.methods import KMeansSeed, QRSeed, Seed, WarmStart
from kgroups.embedding.rows import embedding_rows, informative_eigenpairs, strong_rows
from kgroups.embedding.spreading import spread_labels

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
