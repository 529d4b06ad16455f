"""Another operator than the Bethe Hessian is one class."""

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.strategies_spectrum import counts_by
from kgroups._csr import connected_components, row_sums, rows_of
from kgroups.spectrum import BoundOperator, Operator, count_components, largest_eigenpairs
from kgroups.spectrum.operators import BoundBetheHessian


@dataclass(frozen=True)
class NormalizedAdjacency:
    """The adjacency matrix between inverse roots of the degrees, to which ``tau`` is added."""

    threshold: float = 0.6
    tau: float = 0.0

    def bind(self, adjacency, *, weighted):
        n = len(adjacency.indptr) - 1
        data = adjacency.data if weighted else np.ones(len(adjacency.indices))
        strength = row_sums(rows_of(adjacency), data, n)
        diagonal = np.maximum(strength + self.tau, 1e-9)
        return BoundOperator(adjacency._replace(data=data), diagonal, self.threshold)


OPERATORS = [NormalizedAdjacency(), NormalizedAdjacency(0.5, tau=2.0)]


def bound(graph, operator):
    adjacency = kg.as_graph(graph).simple_adjacency()
    return operator.bind(adjacency, weighted=False), connected_components(adjacency)[1]


def exact_count(hessian, sign=1):
    own = 1.0 / np.sqrt(hessian.diagonal)
    matrix = sign * own[:, None] * hessian.coupling_matrix().toarray() * own
    return np.count_nonzero(np.linalg.eigvalsh(matrix) > hessian.threshold * (1.0 + 1e-9))


@pytest.mark.parametrize("operator", OPERATORS)
def test_eigenvalues_above_its_own_threshold_are_counted(operator):
    graph = nx.disjoint_union(nx.ring_of_cliques(7, 6), nx.path_graph(9))
    hessian, labels = bound(graph, operator)
    for method in (None, "dense", "inertia"):
        assert counts_by(hessian, labels, method).total == exact_count(hessian)
    H = hessian.matrix().toarray()
    assert np.count_nonzero(np.linalg.eigvalsh(H) < -1e-9) == exact_count(hessian)


def test_the_filter_counts_above_its_own_threshold():
    graph = nx.planted_partition_graph(6, 80, 0.3, 0.01, seed=0)
    hessian, labels = bound(graph, NormalizedAdjacency())
    assert counts_by(hessian, labels, "filter").total == exact_count(hessian) == 6


def test_trees_count_where_the_operator_does_not_ignore_them():
    hessian, labels = bound(nx.path_graph(12), NormalizedAdjacency())
    assert count_components(hessian, labels).total == exact_count(hessian) > 1


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("k", [None, 5])
@pytest.mark.parametrize("method", [kg.Auto(), kg.Spectral()])
def test_communities_are_found_with_another_operator(operator, k, method):
    graph = nx.ring_of_cliques(5, 8)
    partition = kg.detect_communities(graph, k, operator=operator, method=method)
    assert partition.sizes.tolist() == [8] * 5
    assert partition.report.r is partition.report.r_choice is None
    spectrum = partition.spectrum
    assert spectrum.k == exact_count(bound(graph, operator)[0])
    assert kg.estimate_k(graph, operator=operator) == spectrum
    assert type(spectrum).from_dict(spectrum.to_dict()) == spectrum
    for shown in (partition, spectrum):
        assert "None" not in repr(shown)
    assert "Parameter of the Bethe Hessian" not in "\n".join(partition.report.lines())


def test_refinement_and_the_report_page_take_another_operator(tmp_path):
    graph = nx.ring_of_cliques(5, 8)
    operator = NormalizedAdjacency()
    start = np.arange(40) // 8
    start[3] = 1
    partition = kg.refine_partition(graph, start, operator=operator)
    assert partition.sizes.tolist() == [8] * 5
    partition.to_html(tmp_path / "page.html", spectrum=True)
    assert "at <i>r</i> = " not in (tmp_path / "page.html").read_text()


def test_weights_are_those_of_the_edges():
    graph = nx.ring_of_cliques(5, 6)
    nx.set_edge_attributes(graph, {edge: 1.0 + sum(edge) % 3 for edge in graph.edges}, "weight")
    partition = kg.detect_communities(graph, operator=NormalizedAdjacency())
    assert partition.sizes.tolist() == [6] * 5


def test_protocol():
    hessian, _ = bound(nx.complete_graph(5), kg.BetheHessian())
    assert isinstance(kg.BetheHessian(), Operator)
    assert isinstance(NormalizedAdjacency(), Operator)
    assert isinstance(hessian, BoundBetheHessian)
    with pytest.raises(kg.errors.InputError, match="operator must be BetheHessian"):
        kg.detect_communities(nx.path_graph(3), operator="laplacian")
    lam, _ = largest_eigenpairs(hessian.normalized_matrix(), 1, np.ones(5))
    assert lam[0] > hessian.threshold
