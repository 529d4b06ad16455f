"""First labels from eigenvectors: embedding rows, k-means, pivoted QR."""

from kgroups.embedding.first_labels import (
    EQUAL,
    SWEEPS_EXPECTED,
    TIE,
    Init,
    KMeansInit,
    QRInit,
    WarmStart,
    embedding_rows,
    informative_eigenpairs,
    kmeans,
    spread_labels,
    strong_rows,
    trials_of,
)

__all__ = [
    "EQUAL",
    "SWEEPS_EXPECTED",
    "TIE",
    "Init",
    "KMeansInit",
    "QRInit",
    "WarmStart",
    "embedding_rows",
    "informative_eigenpairs",
    "kmeans",
    "spread_labels",
    "strong_rows",
    "trials_of",
]
