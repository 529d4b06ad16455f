"""Counts near the detectability threshold against those of dense matrices, computed once."""

import pytest

from helpers.strategies_spectrum import counts_by
from kgroups._csr import connected_components
from kgroups.spectrum import count_components
from regression.dense_counts import Planted, read

# Closer to the threshold than this, rounding decides.
NEAREST = 1e-8
COUNTS = {graph: counted for graph, counted in read().items() if counted.nearest > NEAREST}
BY_DEFAULT = 10


def marked(graphs):
    """Return the graphs as parameters, all but the first few of which are slow."""
    return [
        pytest.param(graph, id=str(graph.seed), marks=[pytest.mark.slow] * (i >= BY_DEFAULT))
        for i, graph in enumerate(graphs)
    ]


def test_all_graphs_were_counted():
    assert list(read()) == [Planted.draw(seed) for seed in range(500)]
    assert len(COUNTS) >= 495


@pytest.mark.parametrize("graph", marked(COUNTS))
def test_the_count_is_exact_up_to_5000_nodes(graph):
    hessian = graph.hessian()
    _, labels = connected_components(hessian.coupling)
    counts = count_components(hessian, labels)
    assert counts.is_exact
    assert counts.total == COUNTS[graph].count


@pytest.mark.compiled
@pytest.mark.parametrize("graph", marked(COUNTS))
def test_the_filter_is_right_or_says_that_it_is_not_sure(graph):
    hessian = graph.hessian()
    _, labels = connected_components(hessian.coupling)
    counts = counts_by(hessian, labels, "filter")
    assert counts.k_low.sum() <= COUNTS[graph].count <= counts.k_high.sum()
    # Above this distance from the threshold the filter decides.
    if COUNTS[graph].nearest > 5e-4:
        assert counts.is_exact
