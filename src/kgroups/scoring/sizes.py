"""How the nodes are spread over the communities."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgroups._types import Ints, Symmetrize
from kgroups.scoring._labelled import label_edges

__all__ = ["SizeDistribution", "size_distribution"]


@dataclass(frozen=True)
class SizeDistribution:
    """The sizes of the communities of a partition.

    Attributes
    ----------
    sizes : tuple of int
        Number of nodes of each community, largest first.
    """

    sizes: tuple[int, ...]

    @classmethod
    def from_sizes(cls, sizes: Iterable[int]) -> "SizeDistribution":
        """Return the distribution of community sizes given in any order."""
        return cls(tuple(sorted((int(size) for size in sizes), reverse=True)))

    @property
    def k(self) -> int:
        """Number of communities."""
        return len(self.sizes)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return sum(self.sizes)

    @property
    def largest(self) -> int:
        """Size of the largest community; 0 when there is none."""
        return self.sizes[0] if self.sizes else 0

    @property
    def smallest(self) -> int:
        """Size of the smallest community; 0 when there is none."""
        return self.sizes[-1] if self.sizes else 0

    @property
    def mean(self) -> float:
        """Mean size; 0.0 when there is no community."""
        return self.n / self.k if self.sizes else 0.0

    @property
    def median(self) -> float:
        """Median size; 0.0 when there is no community."""
        return float(np.median(self.sizes)) if self.sizes else 0.0

    @property
    def singletons(self) -> int:
        """Number of communities of one node."""
        return self.sizes.count(1)

    def histogram(self) -> tuple[Ints, Ints]:
        """Return the sizes that occur, smallest first, and how many communities have each."""
        values, counts = np.unique(np.array(self.sizes, np.int64), return_counts=True)
        return values, counts.astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Return sizes and summary as plain Python values."""
        return {
            "k": self.k,
            "n": self.n,
            "largest": self.largest,
            "smallest": self.smallest,
            "mean": self.mean,
            "median": self.median,
            "singletons": self.singletons,
            "sizes": list(self.sizes),
        }

    def __repr__(self) -> str:
        shown = ", ".join(str(size) for size in self.sizes[:8])
        more = f", ... ({self.k - 8} more)" if self.k > 8 else ""
        return f"SizeDistribution({self.k} communities of {self.n} nodes: {shown}{more})"


def size_distribution(
    G: Any, partition: Any, *, symmetrize: Symmetrize | None = None
) -> SizeDistribution:
    """Return the sizes of the communities of a partition.

    Parameters
    ----------
    G : graph_like
        Anything that :func:`kgroups.as_graph` takes; it says which nodes there are.
    partition : partition_like
        Anything that :func:`kgroups.adapters.labels.as_labels` takes.
    symmetrize : {"sum", "union"}, optional
        How to make a directed graph undirected; an error without it.

    Returns
    -------
    SizeDistribution
        Sizes, largest first, with mean, median and histogram.

    Examples
    --------
    >>> from kgroups.graph import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> size_distribution(path, [{0}, {1, 2, 3}])
    SizeDistribution(2 communities of 4 nodes: 3, 1)
    """
    labelled = label_edges(G, partition, symmetrize=symmetrize)
    return SizeDistribution.from_sizes(labelled.sizes.tolist())
