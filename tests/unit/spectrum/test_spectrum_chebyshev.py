import threading
import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import oracles_chebyshev as oracles
from helpers.strategies_spectrum import (
    TEXTBOOK,
    adjacency_of,
    csr_of,
    perron_of,
    random_adjacency,
)
from kgroups import BetheHessian
from kgroups.generators import planted_partition
from kgroups.spectrum.chebyshev import (
    BLAS_PAIRS,
    BlockOperator,
    Recursion,
    growth_of,
    subtract_products,
    value_of,
)

CONNECTED = {
    name: graph for name, graph in TEXTBOOK.items() if nx.is_connected(graph) and len(graph) > 1
}


def hessian_of(A, *, weighted=False):
    return BetheHessian().bind(csr_of(A), weighted=weighted)


def random_columns(n, columns, seed=0):
    return np.random.default_rng(seed).standard_normal((n, columns)).astype(np.float32)


INTERVALS = [(-1.0, 1.0), (-1.5, 1.0), (-3.0, 1.0), (-1.0, 0.9), (1.9, -0.99)]


@given(st.integers(0, 10_000), st.booleans(), st.booleans(), st.sampled_from(INTERVALS))
def test_products_are_those_of_the_dense_operator(seed, weighted, loops, interval):
    A = random_adjacency(seed, weighted=weighted, loops=loops)
    hessian = hessian_of(A, weighted=weighted)
    lowest, highest = interval
    stretch = 2.0 / (highest - lowest)
    P = stretch * oracles.right_operator(hessian) + (1.0 - stretch * highest) * np.eye(len(A))
    operator = BlockOperator(hessian, lowest=lowest, highest=highest)
    assert operator.mapped(lowest) == pytest.approx(-1.0)
    assert operator.unmapped(np.array([-1.0, 1.0])).tolist() == pytest.approx([lowest, highest])
    X, out = random_columns(len(A), 3), random_columns(len(A), 3, seed=1)
    expected = 2.0 * P @ X - out
    size = 1.0 + np.abs(P).sum(axis=1).max() * np.abs(X).max()
    operator.matmat(X, out, alpha=2.0, beta=-1.0)
    np.testing.assert_allclose(out, expected, atol=1e-5 * size)
    out[:] = np.nan
    operator.matmat(X, out)
    np.testing.assert_allclose(out, P @ X, atol=1e-5 * size)


@given(st.integers(0, 10_000), st.booleans())
def test_inner_products_weigh_with_the_diagonal(seed, weighted):
    A = random_adjacency(seed, weighted=weighted)
    hessian = hessian_of(A, weighted=weighted)
    operator = BlockOperator(hessian)
    X, Y = random_columns(len(A), 2), random_columns(len(A), 2, seed=1)
    expected = X.T @ (hessian.diagonal[:, None] * Y)
    size = hessian.diagonal.sum() * 20
    np.testing.assert_allclose(operator.products(X, Y), expected, atol=1e-6 * size)
    own, both = operator.products_by_column(X, Y)
    np.testing.assert_allclose(both, np.diag(expected), atol=1e-6 * size)
    np.testing.assert_allclose(own, np.diag(operator.products(X, X)), rtol=1e-6)
    S = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])
    out = np.ones((len(A), 3), dtype=np.float32)
    operator.add_product(X, S, out)
    np.testing.assert_allclose(out, 1.0 + X @ S, atol=1e-5)


@pytest.mark.compiled
def test_no_digit_depends_on_the_number_of_threads():
    graph, _ = planted_partition(30_000, k=4, degree=10.0, snr=1.5, rng=0)
    hessian = BetheHessian().bind(graph.simple_adjacency(), weighted=False)
    results = []
    for threads in (1, 2, 3):
        operator = BlockOperator(hessian, threads=threads)
        X = operator.random_block(4, np.random.default_rng(0))
        recursion = Recursion(operator, [perron_of(operator).deflated], X)
        for _ in range(4):
            recursion.advance()
        results.append((recursion.now, operator.products(recursion.now, recursion.before)))
    for now, products in results[1:]:
        np.testing.assert_array_equal(now, results[0][0])
        np.testing.assert_array_equal(products, results[0][1])


def test_rows_are_shared_completely_and_in_order():
    hessian = hessian_of(adjacency_of(nx.star_graph(20)))
    operator = BlockOperator(
        hessian, threads=3, entries_per_task=7, rows_per_task=3, fewest_shared_tasks=2
    )
    X = random_columns(hessian.n, 2)
    out = np.full_like(X, np.nan)
    operator.matmat(X, out)
    np.testing.assert_allclose(out, oracles.right_operator(hessian) @ X, atol=1e-5)
    expected = X.T @ (hessian.diagonal[:, None] * X)
    np.testing.assert_allclose(operator.products(X, X), expected, rtol=1e-5)


def test_an_error_in_a_helping_thread_reaches_the_caller():
    hessian = hessian_of(adjacency_of(nx.star_graph(20)))
    operator = BlockOperator(hessian, threads=2, entries_per_task=7)
    X = random_columns(21, 2)

    def fails(task, start, stop):
        raise RuntimeError(task)

    with pytest.raises(RuntimeError):
        operator._share(fails, list(range(21)))
    operator.matmat(X, np.empty_like(X))


def test_after_an_error_no_thread_begins_another_task():
    hessian = hessian_of(adjacency_of(nx.star_graph(20)))
    operator = BlockOperator(hessian, threads=2)
    main, begun = threading.get_ident(), []

    def interrupted(task, start, stop):
        begun.append(task)
        if threading.get_ident() == main:
            raise KeyboardInterrupt
        time.sleep(0.05)

    with pytest.raises(KeyboardInterrupt):
        operator._share(interrupted, list(range(1_000)))
    # One task of this thread, and what the other had begun until then.
    assert len(begun) < 500


def test_entries_read_are_counted_per_product():
    hessian = hessian_of(adjacency_of(nx.complete_graph(6)))
    operator = BlockOperator(hessian)
    X = random_columns(6, 4)
    for _ in range(3):
        operator.matmat(X, np.empty_like(X))
    assert operator.visits == 3 * 30


@pytest.mark.parametrize("name", CONNECTED)
def test_the_perron_pair_is_the_top_eigenpair_where_that_is_beyond_the_bulk(name):
    hessian = hessian_of(adjacency_of(CONNECTED[name]))
    operator = BlockOperator(hessian)
    perron = perron_of(operator)
    top = np.linalg.eigvalsh(hessian.normalized_matrix().toarray())[-1]
    assert operator.products(perron.vector, perron.vector)[0, 0] == pytest.approx(1.0, abs=1e-5)
    if top > 1.0:
        assert perron.value == pytest.approx(top, rel=2e-3)
        assert (perron.vector > -1e-5 * perron.vector.max()).all()
    else:
        assert perron.value <= top + 1e-6


def test_random_columns_are_independent_and_of_one_length():
    hessian = hessian_of(adjacency_of(nx.barabasi_albert_graph(400, 3, seed=0)))
    operator = BlockOperator(hessian)
    X = operator.random_block(61, np.random.default_rng(0))
    products = operator.products(X, X) / 400
    np.testing.assert_allclose(np.diag(products), 1.0, rtol=1e-5)
    apart = products[np.triu_indices(61, 1)]
    assert abs(apart.mean()) < 5.0 / np.sqrt(400 * apart.size)
    assert apart.std() == pytest.approx(1.0 / 20.0, rel=0.1)


def test_the_recursion_is_a_chebyshev_polynomial_without_the_perron_vector():
    hessian = hessian_of(adjacency_of(nx.planted_partition_graph(3, 30, 0.4, 0.05, seed=1)))
    operator = BlockOperator(hessian)
    start = operator.random_block(3, np.random.default_rng(0))
    root = np.sqrt(hessian.diagonal)[:, None]
    lam, V = np.linalg.eigh(hessian.normalized_matrix().toarray())
    recursion = Recursion(operator, [perron_of(operator).deflated], start.copy())
    for _ in range(8):
        recursion.advance()
    filtered = oracles.chebyshev(9, lam)
    filtered[-1] = 0.0
    expected = V @ (filtered[:, None] * (V.T @ (root * start))) / root
    np.testing.assert_allclose(recursion.now, expected, atol=2e-3 * np.abs(expected).max())


def test_what_lies_along_given_columns_can_be_taken_out():
    hessian = hessian_of(adjacency_of(nx.complete_graph(8)))
    operator = BlockOperator(hessian)
    perron = perron_of(operator)
    X = operator.random_block(3, np.random.default_rng(0))
    subtract_products(operator, perron.vector, X)
    np.testing.assert_allclose(operator.products(perron.vector, X), 0.0, atol=1e-6)


@given(st.floats(1.0, 50.0))
def test_growth_and_eigenvalue_are_inverse(growth):
    assert growth_of(value_of(growth)) == pytest.approx(growth, rel=1e-6)


def test_inside_the_bulk_nothing_grows():
    assert growth_of(0.3) == growth_of(-1.0) == 1.0


def test_products_of_wide_blocks_are_those_of_narrow_ones():
    hessian = hessian_of(adjacency_of(nx.barabasi_albert_graph(3_000, 3, seed=0)))
    operator = BlockOperator(hessian)
    X, Y = random_columns(3_000, 40), random_columns(3_000, 50, seed=1)
    assert X.shape[1] * Y.shape[1] > BLAS_PAIRS
    by_column = np.column_stack([operator.products(X, Y[:, [b]]) for b in range(50)])
    np.testing.assert_allclose(operator.products(X, Y), by_column, rtol=1e-5, atol=1e-2)
    S = np.random.default_rng(2).standard_normal((40, 50))
    out = np.ones((3_000, 50), dtype=np.float32)
    operator.add_product(X, S, out)
    np.testing.assert_allclose(out, 1.0 + X @ S, atol=1e-4)
