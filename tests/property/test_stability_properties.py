"""Stability equals its definition, and depends on nothing that it should not."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgroups as kg
from helpers import oracles_stability as oracles
from kgroups.graph import Graph
from kgroups.uncertainty.stability import (
    edge_shares,
    matched_shares,
    resampled,
)


@st.composite
def resamples_of_labels(draw):
    """Labels of a partition, and labels and linked nodes of a few resamples."""
    n = draw(st.integers(0, 9))
    groups = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    own = np.unique(draw(groups), return_inverse=True)[1]
    linked = st.lists(st.booleans(), min_size=n, max_size=n)
    count = draw(st.integers(1, 3))
    return own, [(draw(groups), draw(linked)) for _ in range(count)]


def stacked(resamples):
    labels, linked = zip(*resamples, strict=True)
    return np.array(labels, dtype=np.int64), np.array(linked, dtype=bool)


@given(resamples_of_labels())
def test_shares_are_those_of_a_best_matching(case):
    own, resamples = case
    labels, linked = stacked(resamples)
    nodes, communities = matched_shares(own, labels, linked)
    mean_nodes = np.zeros(own.size)
    for (z, has_edges), *one in zip(resamples, labels, linked, strict=True):
        # A resample at a time, where there may be several best matchings.
        found = matched_shares(own, *(row[np.newaxis] for row in one))
        mean_nodes += np.nan_to_num(found[0])
        kept = [i for i in range(own.size) if has_edges[i]]
        pairs = [own[kept].tolist(), [z[i] for i in kept]]
        expected = [
            oracles.shares(own.tolist(), [(z, has_edges)], [matching])
            for matching in oracles.best_matchings(*pairs)
        ]
        assert any(
            all(as_dict(got) == pytest.approx(want) for got, want in zip(found, each, strict=True))
            for each in expected
        )
    counts = linked.sum(axis=0)
    assert nodes[counts > 0] == pytest.approx((mean_nodes / np.maximum(counts, 1))[counts > 0])
    assert np.isnan(nodes[counts == 0]).all()
    assert communities.size == np.unique(own).size


def as_dict(values):
    return {i: value for i, value in enumerate(values.tolist()) if not np.isnan(value)}


@given(resamples_of_labels())
def test_edges_count_where_both_ends_are_linked(case):
    own, resamples = case
    pairs = list(itertools.combinations(range(own.size), 2))
    source, target = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    found = edge_shares(*stacked(resamples), source, target)
    expected = oracles.together(resamples, pairs)
    assert {pairs[e]: share for e, share in as_dict(found).items()} == pytest.approx(expected)


@st.composite
def graphs(draw):
    """Small graphs with self-loops, weights and parallel edges."""
    n = draw(st.integers(1, 10))
    end = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(end, end), max_size=25))
    weights = draw(
        st.none() | st.lists(st.integers(1, 3), min_size=len(edges), max_size=len(edges))
    )
    source, target = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    return Graph.from_edges(source, target, weights, n=n)


@given(graphs(), st.floats(0.0, 0.99), st.integers(0, 2**32))
def test_a_resample_has_some_of_the_edges_unchanged(graph, drop, seed):
    drawn = resampled(graph, drop, np.random.default_rng(seed))
    before, after = (
        {(u, v): w for u, v, w in zip(*g.edges(), strict=True)} for g in (graph, drawn)
    )
    assert after.items() <= before.items()
    assert {edge for edge in before if edge[0] == edge[1]} <= after.keys()
    matrix = drawn.to_scipy().toarray()
    assert (matrix == matrix.T).all()
    if drop == 0.0:
        assert after == before
        assert drawn.m == graph.m
    assert drawn.n_loops == graph.n_loops


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(12)), st.data())
def test_the_order_of_nodes_and_edges_does_not_matter(order, data):
    edges = np.array(
        [
            (i, j)
            for start in (0, 4, 8)
            for i, j in itertools.combinations(range(start, start + 4), 2)
        ]
        + [(0, 4), (4, 8), (8, 1), (3, 7)]
    )
    names = [f"node {i:02d}" for i in range(12)]
    first = kg.Graph.from_edges(*edges.T, n=12, nodes=names)
    place = np.argsort(order)
    shuffled = np.array(data.draw(st.permutations(place[edges].tolist())))
    second = kg.Graph.from_edges(*shuffled.T, n=12, nodes=[names[i] for i in order])
    found = []
    for graph in (first, second):
        partition = kg.detect_communities(graph)
        stability = partition.stability(3, 0.3)
        found.append(
            (
                dict(zip(graph.nodes, stability.nodes.tolist(), strict=True)),
                dict(zip(partition, stability.communities.tolist(), strict=True)),
                {
                    frozenset((graph.nodes[i], graph.nodes[j])): share
                    for i, j, share in zip(*stability.edges, strict=True)
                },
                stability.agreement,
            )
        )
    assert found[0] == found[1]
