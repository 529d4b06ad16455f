"""Edges become the same rows, bit for bit, by counting and by sorting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from helpers import oracles_adapters as oracles
from helpers.strategies_adapters import exact_weights
from kgroups import _csr
from kgroups._csr import FEW_EDGES, _rows_by_counting, row_ranges, rows_of_edges
from kgroups.adapters.matrices import _is_symmetric
from kgroups.graph import Graph

ends = st.integers(0, 9)
index_types = st.sampled_from([np.int64, np.int32, np.uint8])


@st.composite
def edges(draw, weights, max_size):
    rows = draw(st.lists(st.tuples(ends, ends, weights), max_size=max_size))
    u, v, w = (np.array([row[part] for row in rows]) for part in range(3))
    kind = draw(index_types)
    weighted = draw(st.booleans())
    n = draw(st.integers(int(max(u.max(initial=-1), v.max(initial=-1))) + 1, 12))
    return u.astype(kind), v.astype(kind), w.astype(float) if weighted else None, n


def by_counting(u, v, w, n):
    return rows_of_edges(u, v, w, n, few_edges=-1)


def assert_same_bits(one, other):
    for ours, theirs in zip(one, other, strict=True):
        assert (ours is None) == (theirs is None)
        assert ours is None or ours.tolist() == theirs.tolist()


@given(edges(st.one_of(st.just(1.0), st.floats(0, 1e300)), max_size=60))
def test_counting_equals_sorting(case):
    assert_same_bits(by_counting(*case), rows_of_edges(*case, few_edges=100))


@given(edges(exact_weights, max_size=60))
def test_few_edges_are_sorted_whatever_the_number_of_nodes(case):
    u, v, w, n = case
    rows = rows_of_edges(u, v, w, n + 70_000)
    expected = rows_of_edges(u, v, w, n)
    assert rows.indptr[: n + 1].tolist() == expected.indptr.tolist()
    assert_same_bits(rows[1:], expected[1:])


@given(edges(exact_weights, max_size=40), st.integers(-1, 30))
def test_asymmetric_values_are_noticed(case, broken):
    indptr, indices, weights, _ = rows_of_edges(*case)
    data = np.ones(indices.size) if weights is None else weights.copy()
    row = np.repeat(np.arange(case[3]), np.diff(indptr))
    expected = True
    if 0 <= broken < indices.size:
        data[broken] += 1.0
        expected = bool(row[broken] == indices[broken])
    shape = (case[3], case[3])
    assert _is_symmetric(sparse.csr_array((data, indices, indptr), shape=shape)) == expected


@given(st.lists(st.tuples(ends, ends), max_size=30))
def test_an_asymmetric_pattern_is_noticed(pairs):
    dense = np.zeros((10, 10))
    dense[tuple(np.array(pairs, dtype=int).reshape(-1, 2).T)] = 1.0
    assert _is_symmetric(sparse.csr_array(dense)) == np.array_equal(dense, dense.T)


@given(edges(exact_weights, max_size=40), st.integers(1, 9))
def test_pieces_of_any_size_give_the_same_rows(case, at_once):
    assert_same_bits(_rows_by_counting(*case, at_once=at_once), _rows_by_counting(*case))


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 12))
def test_ranges_cover_all_rows_in_order(lengths, entries):
    bounds = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    ranges = row_ranges(bounds, entries)
    assert [row for first, stop in ranges for row in range(first, stop)] == [*range(len(lengths))]
    # A range ends at the first row that reaches its number of entries.
    for first, stop in ranges:
        assert bounds[max(first, stop - 1)] - bounds[first] <= entries


@given(edges(exact_weights, max_size=40))
def test_counted_rows_are_a_well_formed_graph(case):
    u, v, w, n = case
    rows = by_counting(*case)
    graph = Graph(*rows[:3], multiplicity=rows.multiplicity)
    oracles.assert_well_formed(graph)
    listed = list(zip(u.tolist(), v.tolist(), np.ones(u.size) if w is None else w, strict=True))
    assert np.array_equal(oracles.dense(graph), oracles.adjacency(n, listed))
    assert np.array_equal(oracles.dense_counts(graph), oracles.multiplicities(n, listed))


@given(edges(exact_weights, max_size=40))
def test_loops_are_the_entries_on_the_diagonal(case):
    graph = Graph.from_edges(*case[:3], n=case[3])
    rows = graph.row_of_slot[graph.loop_slots].tolist()
    assert rows == graph.indices[graph.loop_slots].tolist()
    assert rows == sorted({a for a, b in zip(*case[:2], strict=True) if a == b})


@given(edges(exact_weights, max_size=40), st.booleans())
def test_simple_adjacency_equals_the_dense_matrix(case, loops):
    graph = Graph.from_edges(*case[:3], n=case[3])
    dense = oracles.dense(graph)
    np.fill_diagonal(dense, np.diag(dense) * loops)
    multiplicity = graph.multiplicity
    if loops and multiplicity is not None and np.array_equal(graph.weights, multiplicity):
        np.fill_diagonal(dense, np.diag(dense) > 0)
    indptr, indices, data = graph.simple_adjacency(loops=loops)
    assert np.all(data > 0)
    assert np.array_equal(oracles.dense(Graph(indptr, indices, data)), dense)


@given(edges(exact_weights, max_size=40), st.randoms(use_true_random=False))
def test_permuting_permutes_the_dense_matrix(case, random):
    graph = Graph.from_edges(*case[:3], n=case[3])
    order = list(range(case[3]))
    random.shuffle(order)
    permuted = graph.permuted(np.array(order, dtype=np.int64))
    oracles.assert_well_formed(permuted)
    assert list(permuted.nodes) == order
    both = np.ix_(order, order)
    assert np.array_equal(oracles.dense(permuted), oracles.dense(graph)[both])
    assert np.array_equal(oracles.dense_counts(permuted), oracles.dense_counts(graph)[both])


def test_parallel_edges_are_added_in_input_order():
    u, v = np.zeros(3, np.int64), np.ones(3, np.int64)
    w = np.array([1e16, 1.0, 1.0])
    for build in (by_counting, rows_of_edges):
        assert build(u, v, w, 2).weights.tolist() == [1e16] * 2
        assert build(u, v, w[::-1], 2).weights.tolist() == [1e16 + 2] * 2


@pytest.mark.compiled
@pytest.mark.parametrize("weighted", [False, True])
def test_graphs_of_many_edges_are_counted(weighted, monkeypatch):
    rng = np.random.default_rng(3)
    u, v = rng.integers(0, 400, (2, FEW_EDGES + 1))
    w = rng.integers(0, 9, u.size) / 8 if weighted else None
    expected = rows_of_edges(u, v, w, 400, few_edges=u.size)
    monkeypatch.setattr(_csr, "_rows_by_sorting", lambda *_: pytest.fail("sorted"))
    graph = Graph.from_edges(u, v, w, n=400)
    assert graph.indices.dtype == graph.indptr.dtype == np.int32
    assert_same_bits((graph.indptr, graph.indices, graph.weights, graph.multiplicity), expected)
