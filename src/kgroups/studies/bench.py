"""One drawn graph on the workbench: what several methods need of it is computed once."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from kgroups._types import Ints
from kgroups.detect import detect_communities
from kgroups.embedding import KMeansSeed, informative_eigenpairs
from kgroups.graph import Graph
from kgroups.refine import Hartigan
from kgroups.search import Exact, Prepared, prepared
from kgroups.spectrum.lanczos import largest_eigenpairs, start_vector

__all__ = ["Workbench"]

_DENSE_NODES = 300


class Workbench:
    """A graph with its planted number of groups, and the labels that methods build upon.

    The paper's variants of kernel k-groups start from the same labels, which are computed once.
    The seconds of shared work count for each method that uses it.

    Attributes
    ----------
    source : object
        The graph as the generator made it.
    graph : Graph
        The same as a Graph.
    k : int
        Planted number of groups.
    """

    def __init__(self, source: Any, graph: Graph, k: int, seed: int) -> None:
        self.source, self.graph, self.k = source, graph, k
        self._seed = seed
        self._shared: dict[str, tuple[Any, float]] = {}
        self._borrowed = 0.0

    def rng(self) -> np.random.Generator:
        """Return the random stream of the methods; each starts at its beginning."""
        return np.random.default_rng(self._seed).spawn(2)[1]

    def timed(self, find: Callable[["Workbench"], Any]) -> tuple[Any, float]:
        """Return what a method finds and its seconds, those of shared work included."""
        self._borrowed = 0.0
        start = perf_counter()
        found = find(self)
        return found, perf_counter() - start + self._borrowed

    def labels_given_k(self, refine: Hartigan | None) -> Ints:
        """Return the labels of ``detect_communities(graph, k, refine=refine, regime=Exact())``."""
        found = detect_communities(
            self.graph, self.k, refine=refine, regime=Exact(), rng=self.rng()
        )
        return found.labels

    def labels_of_paper(self, refine: Hartigan | None) -> Ints:
        """Return labels as the paper finds them, which does not look at components.

        The lowest eigenvectors of H_r of the whole graph, k-means on their rows, and moves of all
        nodes. On a connected graph that is ``detect_communities`` with ``KMeansSeed(rows="raw")``.
        """
        first: tuple[Prepared, Ints] = self._once("first labels", self._first_of_paper)
        ready, z = first
        if refine is not None:
            z = ready.problem.whole.refined(z, self.k, refine).z
        return ready.restored(z)

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name in self._shared:
            value, seconds = self._shared[name]
            self._borrowed += seconds
            return value
        start = perf_counter()
        value = make()
        self._shared[name] = value, perf_counter() - start
        return value

    def _first_of_paper(self) -> tuple[Prepared, Ints]:
        ready = prepared(self.graph)
        bound, k = ready.problem.bound, self.k
        if bound.n > _DENSE_NODES and 3 * k < bound.n:
            # The graphs of a study are small and many: Lanczos beats a dense solver ten times.
            _, V = largest_eigenpairs(-bound.matrix(), k, start_vector(bound))
        else:
            _, V = informative_eigenpairs(bound, k, "raw")
        return ready, KMeansSeed(rows="raw").labels(V, k, self.rng())
