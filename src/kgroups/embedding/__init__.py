"""First labels from eigenvectors: embedding rows, k-means, pivoted QR."""

from kgroups.embedding.first_labels import (
    EQUAL,
    Init,
    KMeansInit,
    QRInit,
    WarmStart,
    embedding_rows,
    informative_eigenpairs,
    spread_labels,
    strong_rows,
)

__all__ = [
    "EQUAL",
    "Init",
    "KMeansInit",
    "QRInit",
    "WarmStart",
    "embedding_rows",
    "informative_eigenpairs",
    "spread_labels",
    "strong_rows",
]
