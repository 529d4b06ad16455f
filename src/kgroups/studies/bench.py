"""One drawn graph on the workbench: what several methods need of it is computed once."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from kgroups._csr import restricted
from kgroups._types import Ints
from kgroups.adapters import canonical_order
from kgroups.graph import Graph
from kgroups.operators import BetheHessian
from kgroups.refine import Hartigan, refine_labels
from kgroups.regimes import Exact, Found, Problem, communities_given_k
from kgroups.seed import KMeansSeed, informative_eigenpairs
from kgroups.spectrum import connected_components
from kgroups.spectrum.lanczos import largest_eigenpairs, start_vector

__all__ = ["Workbench"]

_DENSE_NODES = 300


class _First(NamedTuple):
    """A graph in canonical order, and the labels that methods start from."""

    problem: Problem
    order: Ints | None
    found: Found


class Workbench:
    """A graph with its planted number of groups, and the labels that methods build upon.

    Kernel k-groups starts from the labels that the Bethe Hessian alone gives, so that a study of
    both computes eigenvectors once. The seconds of shared work count for each method that uses it.

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
        """Return the labels of ``detect_communities(graph, k, refine=refine)``."""
        problem, order, found = self._once("first labels", self._first_labels)
        z = found.z.copy()
        z[found.uninformed] = -1
        if refine is not None:
            for component in np.unique(problem.component[z >= 0]).tolist():
                members = np.flatnonzero(problem.component == component)
                z[members] = _refined(problem, members, z[members], refine)
        z[z < 0] = int(np.argmax(np.bincount(z[z >= 0])))
        return _restored(z, order)

    def labels_of_paper(self, refine: Hartigan | None) -> Ints:
        """Return labels as the paper finds them, which does not look at components.

        The lowest eigenvectors of H_r of the whole graph, k-means on their rows, and moves of all
        nodes. On a connected graph that is ``detect_communities`` with ``KMeansSeed(rows="raw")``.
        """
        problem, order, found = self._once("first labels of the paper", self._first_of_paper)
        if refine is None:
            return _restored(found.z, order)
        return _restored(_refined(problem, np.arange(found.z.size), found.z, refine), order)

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name in self._shared:
            value, seconds = self._shared[name]
            self._borrowed += seconds
            return value
        start = perf_counter()
        value = make()
        self._shared[name] = value, perf_counter() - start
        return value

    def _first_labels(self) -> _First:
        problem, order = _prepared(self.graph)
        found = communities_given_k(problem, self.k, Exact(), KMeansSeed(), None, self.rng())
        return _First(problem, order, found)

    def _first_of_paper(self) -> _First:
        problem, order = _prepared(self.graph)
        bound, k = problem.bound, self.k
        if bound.n > _DENSE_NODES and 3 * k < bound.n:
            # The graphs of a study are small and many: Lanczos beats a dense solver ten times.
            _, V = largest_eigenpairs(-bound.matrix(), k, start_vector(bound))
        else:
            _, V = informative_eigenpairs(bound, k, "raw")
        return _First(problem, order, Found(KMeansSeed(rows="raw").labels(V, k, self.rng())))


def _prepared(graph: Graph) -> tuple[Problem, Ints | None]:
    order, _ = canonical_order(graph)
    graph = graph if order is None else graph.permuted(order)
    A = graph.simple_adjacency()
    n_components, component = connected_components(A)
    problem = Problem(
        A=A,
        bound=BetheHessian().bind(A, weighted=graph.is_weighted),
        component=component,
        n_components=n_components,
        weighted=graph.is_weighted,
    )
    return problem, order


def _refined(problem: Problem, members: Ints, z: Ints, refine: Hartigan) -> Ints:
    """Refine the labels of nodes that are one component, or the whole graph."""
    base, groups = int(z.min()), int(np.ptp(z)) + 1
    if groups in (1, members.size):
        return z
    whole = problem.whole
    bound, A, d = whole.bound, whole.A, whole.d
    if members.size < d.size:
        bound, A, d = bound.restrict(members), restricted(A, members), d[members]
    return base + refine_labels(bound, A, d, z - base, k=groups, method=refine).z


def _restored(z: Ints, order: Ints | None) -> Ints:
    """Return labels in the caller's order."""
    if order is None:
        return z
    restored = np.empty_like(z)
    restored[order] = z
    return restored
