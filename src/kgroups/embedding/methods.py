"""The ways to a first labelling, as value objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._doors import check_choice, check_count
from kgroups._types import Floats, Ints
from kgroups.embedding.kmeans import kmeans
from kgroups.embedding.qr import pivoted_qr_labels
from kgroups.embedding.rows import Rows

__all__ = ["KMeansSeed", "QRSeed", "Seed", "WarmStart"]

_ROWS = ("normalized", "raw")


@dataclass(frozen=True)
class KMeansSeed:
    """Group embedding rows by k-means: k-means++ starts and Hartigan moves.

    Parameters
    ----------
    rows : {"normalized", "raw"}
        Top eigenvectors of N_r with rows of length 1, or the lowest eigenvectors of H_r as they
        are (the paper's choice).
    n_init : int
        Number of starts, of which the best is kept; fewer on large problems.

    Examples
    --------
    >>> KMeansSeed(rows="raw")
    KMeansSeed(rows='raw', n_init=10)
    """

    rows: Rows = "normalized"
    n_init: int = 10

    def __post_init__(self) -> None:
        check_choice("rows", self.rows, _ROWS)
        check_count("n_init", self.n_init)

    def labels(self, X: Floats, k: int, rng: np.random.Generator) -> Ints:
        """Return ``k`` non-empty groups of the rows of X."""
        return kmeans(X, k, n_init=self.n_init, rng=rng)


@dataclass(frozen=True)
class QRSeed:
    """Group embedding rows by column-pivoted QR: deterministic and without iterations.

    Parameters
    ----------
    rows : {"normalized", "raw"}
        As for :class:`KMeansSeed`.
    """

    rows: Rows = "normalized"

    def __post_init__(self) -> None:
        check_choice("rows", self.rows, _ROWS)

    def labels(self, X: Floats, k: int, rng: np.random.Generator) -> Ints:
        """Return ``k`` non-empty groups of the rows of X; ``rng`` is not used."""
        del rng
        return pivoted_qr_labels(X[:, :k])


Seed = KMeansSeed | QRSeed


@dataclass(frozen=True, eq=False)
class WarmStart:
    """Start from labels that are already there, as of a graph that has changed a little since.

    Parameters
    ----------
    partition : Partition, sets of nodes, labels in node order, or dict from node to label
        Labels of every node. Communities of the result may be more or fewer.
    """

    partition: Any
