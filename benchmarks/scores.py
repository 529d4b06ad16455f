"""How good labels are: against the truth where there is one, against components on nulls."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.graphs import BenchmarkGraph, components

# The expectation in AMI sums over pairs of distinct sizes; beyond this it takes a minute.
_MOST_AMI_TERMS = 500_000_000


@dataclass(frozen=True)
class Scores:
    """Quality of the labels of one run; None where it is unknown."""

    k: int
    modularity: float
    phi: float | None = None
    k_error: float | None = None
    nmi: float | None = None
    ami: float | None = None
    overlap: float | None = None
    whole: float | None = None


class Phi:
    """The objective of the search: nats that labels save, component by component."""

    def __init__(self, graph: Any) -> None:
        from kgroups.search import prepare

        self._ready = prepare(graph)

    def __call__(self, labels: npt.NDArray[Any]) -> float:
        """Return the sum over the components; labels that cross components count in each."""
        from kgroups.search import nats_saved

        problem = self._ready.problem
        z = self._ready.sorted(np.unique(labels, return_inverse=True)[1])
        k = np.ones(problem.n_components, dtype=np.int64)
        for c in range(problem.n_components):
            z[problem.rows(c)] = np.unique(z[problem.rows(c)], return_inverse=True)[1]
            k[c] = z[problem.rows(c)].max() + 1
        return float(nats_saved(problem.level, z, k, problem.objective).sum())


class Scorer:
    """Scores labels on one graph; what depends on the graph alone is computed once."""

    def __init__(self, graph: BenchmarkGraph) -> None:
        import kgroups

        self._graph = graph
        self._converted = kgroups.Graph.from_edges(graph.source, graph.target, n=graph.n)
        self._phi = Phi(self._converted)
        self._components = components(graph) if graph.is_null else None

    def __call__(self, labels: npt.NDArray[Any]) -> Scores:
        """Return the scores: ``k_error`` in percent, ``whole`` is 1 if components are whole."""
        from kgroups import metrics, scoring

        modularity = scoring.modularity(self._converted, labels)
        phi = self._phi(labels)
        k = np.unique(labels).size
        if self._components is not None:
            whole = _same_groups(self._components, labels)
            return Scores(k, modularity, phi, whole=float(whole))
        truth, true_k = self._graph.truth, self._graph.true_k
        if truth is None or true_k is None:
            return Scores(k, modularity, phi)
        known = slice(None) if self._graph.known is None else self._graph.known
        truth, labels = truth[known], labels[known]
        return Scores(
            k,
            modularity,
            phi,
            k_error=100 * abs(k - true_k) / true_k,
            nmi=metrics.nmi(truth, labels),
            ami=metrics.ami(truth, labels) if _ami_terms(truth, labels) < _MOST_AMI_TERMS else None,
            overlap=metrics.overlap(truth, labels),
        )


def _same_groups(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> bool:
    pairs = np.unique(np.column_stack([first, second]), axis=0)
    return len(pairs) == np.unique(first).size == np.unique(second).size


def _ami_terms(truth: npt.NDArray[Any], labels: npt.NDArray[Any]) -> int:
    a, b = (np.unique(np.unique(z, return_counts=True)[1]) for z in (truth, labels))
    return int(np.minimum.outer(a, b).sum())
