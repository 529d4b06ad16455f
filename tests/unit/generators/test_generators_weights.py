"""Weights of drawn edges: each block's own distribution, symmetric, checked."""

import numpy as np
import pytest

from kgroups.errors import InputError, WeightError
from kgroups.generators import planted_partition, stochastic_block_model

SIZES, P = [20, 30], [[0.5, 0.2], [0.2, 0.1]]


def constant(value):
    return lambda rng, size: np.full(size, value)


def test_one_function_weighs_all_edges():
    graph, _ = stochastic_block_model(
        SIZES, P, rng=1, weights=lambda rng, size: rng.exponential(size=size)
    )
    A = graph.to_scipy().toarray()
    assert np.array_equal(A, A.T)
    assert np.unique(graph.edges()[2]).size == graph.m
    plain, _ = stochastic_block_model(SIZES, P, rng=1)
    assert np.array_equal(plain.indices, graph.indices)


def test_edges_inside_and_between_blocks_have_their_own_weights():
    weights = {"inside": constant(2), "between": constant(0.5)}
    graph, labels = stochastic_block_model(SIZES, P, rng=0, weights=weights)
    u, v, w = graph.edges()
    assert np.array_equal(w, np.where(labels[u] == labels[v], 2.0, 0.5))


def test_groups_that_are_mixed_keep_their_weights():
    planted = planted_partition(
        200, 2, 8, 2, rng=0, weights={"inside": constant(3), "between": constant(1)}
    )
    graph, labels = planted
    u, v, w = graph.edges()
    assert np.array_equal(w, np.where(labels[u] == labels[v], 3.0, 1.0))


def test_weights_of_one_are_no_weights():
    assert not stochastic_block_model(SIZES, P, rng=0, weights=constant(1)).graph.is_weighted


def test_a_graph_without_edges_takes_any_weights():
    for weights in (constant(2), {"inside": constant(2), "between": constant(2)}):
        graph, _ = stochastic_block_model([4], [[0]], rng=0, weights=weights)
        assert graph.m == 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("heavy", r"weights must be a function .* keys 'inside' and 'between', got 'heavy'"),
        ({"inside": constant(1)}, r"keys 'inside' and 'between', got \{'inside': <function"),
        ({(0, 0): constant(1)}, r"keys 'inside' and 'between', got \{\(0, 0\): <function"),
        ({}, r"keys 'inside' and 'between', got \{\}"),
        ({"inside": 1, "between": constant(1)}, "weights must hold functions .* got 1"),
        ([constant(1), constant(1)], r"keys 'inside' and 'between', got \[<function"),
    ],
)
def test_weights_of_a_wrong_form_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        stochastic_block_model(SIZES, P, rng=0, weights=weights)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda rng, size: np.ones(size + 1), r"one number per edge \(\d+ in the graph\), got"),
        (lambda rng, size: ["a"] * size, "one number per edge"),
        (constant(-1.0), r"finite numbers >= 0, got -1\.0 for an edge in the graph"),
        (constant(np.inf), "got inf for an edge in the graph"),
    ],
)
def test_bad_drawn_weights_are_refused(function, message):
    with pytest.raises(WeightError, match=message):
        stochastic_block_model(SIZES, P, rng=0, weights=function)


def test_bad_weights_say_where():
    weights = {"inside": constant(1), "between": constant(np.nan)}
    with pytest.raises(WeightError, match=r"got nan for an edge between blocks"):
        stochastic_block_model(SIZES, P, rng=0, weights=weights)
