"""How good labels are: against the truth where there is one, against components on nulls."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.graphs import BenchmarkGraph

# The expectation in AMI sums over pairs of distinct sizes; beyond this it takes a minute.
_MOST_AMI_TERMS = 500_000_000


@dataclass(frozen=True)
class Scores:
    """Quality of the labels of one run; None where it cannot be told."""

    k: int
    modularity: float
    k_error: float | None = None
    nmi: float | None = None
    ami: float | None = None
    overlap: float | None = None
    whole: float | None = None


class Scorer:
    """Scores labels on one graph; what depends on the graph alone is computed once."""

    def __init__(self, graph: BenchmarkGraph) -> None:
        import kgroups

        self._graph = graph
        self._converted = kgroups.Graph.from_edges(graph.source, graph.target, n=graph.n)
        self._components = _components(graph) if graph.is_null else None

    def __call__(self, labels: npt.NDArray[Any]) -> Scores:
        """Return the scores: ``k_error`` in percent, ``whole`` is 1 if components are whole."""
        from kgroups import metrics, scoring

        modularity = scoring.modularity(self._converted, labels)
        k = np.unique(labels).size
        if self._components is not None:
            whole = _same_groups(self._components, labels)
            return Scores(k, modularity, whole=float(whole))
        truth, true_k = self._graph.truth, self._graph.true_k
        if truth is None or true_k is None:
            return Scores(k, modularity)
        known = slice(None) if self._graph.known is None else self._graph.known
        truth, labels = truth[known], labels[known]
        return Scores(
            k,
            modularity,
            k_error=100 * abs(k - true_k) / true_k,
            nmi=metrics.nmi(truth, labels),
            ami=metrics.ami(truth, labels) if _ami_terms(truth, labels) < _MOST_AMI_TERMS else None,
            overlap=metrics.overlap(truth, labels),
        )


def _components(graph: BenchmarkGraph) -> npt.NDArray[Any]:
    from scipy import sparse

    ones = np.ones(graph.m, dtype=np.int8)
    matrix = sparse.coo_matrix((ones, (graph.source, graph.target)), shape=(graph.n, graph.n))
    return sparse.csgraph.connected_components(matrix, directed=False)[1]


def _same_groups(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> bool:
    pairs = np.unique(np.column_stack([first, second]), axis=0)
    return len(pairs) == np.unique(first).size == np.unique(second).size


def _ami_terms(truth: npt.NDArray[Any], labels: npt.NDArray[Any]) -> int:
    a, b = (np.unique(np.unique(z, return_counts=True)[1]) for z in (truth, labels))
    return int(np.minimum.outer(a, b).sum())
