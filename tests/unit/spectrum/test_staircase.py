"""The number of eigenvalues of N_r above 1 at increasing r."""

import numpy as np
import pytest

import kgroups as kg
from kgroups.generators import planted_partition
from kgroups.spectrum import staircase


@pytest.mark.parametrize("weighted", [False, True])
def test_each_step_counts_eigenvalues(weighted):
    graph, _ = planted_partition(120, 4, 8.0, 2.2, rng=0)
    if weighted:
        u, v, w = graph.edges()
        graph = kg.Graph.from_edges(u, v, 1.0 + np.arange(w.size) % 3, n=graph.n)
    A = graph.simple_adjacency()
    first = kg.BetheHessian().bind(A, weighted=weighted).r
    steps = staircase(A, first, weighted=weighted)
    assert steps[0].r == first
    assert steps[0].k == kg.estimate_k(graph).k
    for step in steps:
        N = kg.BetheHessian(step.r).normalized_matrix(graph).toarray()
        assert step.k == np.count_nonzero(np.linalg.eigvalsh(N) > 1.0 + 1e-9)
        assert step.is_exact
    counts = [step.k for step in steps]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] <= 1 < counts[-2]


def test_a_graph_with_an_enormous_hub_ends_after_some_steps():
    star = np.arange(1, 400)
    rim = np.roll(star, 1)
    graph = kg.Graph.from_edges(np.r_[np.zeros(399, int), star], np.r_[star, rim])
    assert len(staircase(graph.simple_adjacency(), 1.1, weighted=False)) <= 16
