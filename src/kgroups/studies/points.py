"""Points instead of a graph: what a generator of vector data returns."""

from dataclasses import dataclass

import numpy as np

from kgroups._types import Floats
from kgroups.graph import Graph

__all__ = ["Points"]


@dataclass(frozen=True, eq=False)
class Points:
    """Vector data with planted classes; methods that are callables are given it as it is.

    Attributes
    ----------
    X : ndarray of shape (n, dimensions)
        A row per point.
    """

    X: Floats

    def without_edges(self) -> Graph:
        """Return a graph with a node per point, which labels are checked against."""
        nothing = np.empty(0, dtype=np.int64)
        return Graph(np.zeros(len(self.X) + 1, dtype=np.int64), nothing)
