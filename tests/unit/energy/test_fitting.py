"""The data that are clustered: order and weights of points, matrix rows, threads, row names."""

import threading
from dataclasses import dataclass, replace

import numpy as np
import pytest

from helpers.strategies_energy_kernels import squared_distances_by_products
from kgroups._parallel import available_cores
from kgroups.energy import (
    Gaussian,
    Power,
    Semimetric,
    as_semimetric,
    kernel_kgroups,
    kernel_kmeans,
    kernel_matrix,
)
from kgroups.energy.fitting import as_data, in_order
from kgroups.errors import InputError

METRICS = [Power(), Gaussian(2.0)]


def data_of(X, metric=Power(), weights=None, *, k=2, rng=0, memory=1e9):
    stream = None if rng is None else np.random.default_rng(rng)
    return as_data(X, metric, weights, k=k, rng=stream, memory=memory)


def taxi(x, y):
    return np.abs(x - y).sum()


def nan_at(value, other):
    """Return a function of two points that cannot measure one pair of them."""

    def function(x, y):
        return np.nan if {float(x[0]), float(y[0])} == {value, other} else taxi(x, y)

    return function


def test_minus_zero_is_zero():
    signs = np.array([[0.0, 1.0], [-0.0, 1.0], [5.0, -0.0], [5.0, 0.0], [9.0, 9.0]])
    data = data_of(signs)
    assert data.w.size == 3
    assert data.point_of[0] == data.point_of[1]
    assert data.point_of[2] == data.point_of[3]


def test_no_function_can_tell_minus_zero_from_zero():
    """Equal rows are one point, and which of them came first must not show."""

    def by_sign(x, y):
        return np.abs(np.copysign(1.0, x) - np.copysign(1.0, y)).sum() + taxi(x, y)

    one = kernel_kgroups([0.0, -0.0, 1.0, 5.0, -1.0], 2, metric=by_sign)
    other = kernel_kgroups([-0.0, 0.0, 1.0, 5.0, -1.0], 2, metric=by_sign)
    assert one.within_energy == other.within_energy


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_the_matrix_is_that_of_the_rows(metric):
    X = np.random.default_rng(0).normal(size=(12, 2))[[*range(12), 3, 3, 7]]
    w = np.random.default_rng(1).uniform(0.5, 3.0, 15)
    data = data_of(X, metric, w)
    of = data.point_of
    shares = np.zeros((15, 12))
    shares[np.arange(15), of] = w / data.unit
    np.testing.assert_allclose(shares.sum(axis=0), data.w, rtol=1e-12)
    expected = -0.5 * np.outer(data.w[of], data.w[of]) * metric(X)
    np.testing.assert_allclose(data.rows.stored[np.ix_(of, of)], expected, rtol=1e-12)
    assert data.norm * data.unit == pytest.approx(w @ kernel_matrix(X, metric=metric).diagonal())


@pytest.mark.parametrize("seed", range(4))
def test_equal_points_that_must_part_are_ordered_by_their_weights(seed):
    """Whose weight is whose does not depend on the order of the rows."""
    X, w = np.array([1.0, 1.0, 1.0, 2.0]), np.array([3.0, 1.0, 2.0, 5.0])
    order = np.random.default_rng(seed).permutation(4)
    one, other = data_of(X, weights=w, k=4), data_of(X[order], weights=w[order], k=4)
    np.testing.assert_array_equal(one.w, other.w)
    np.testing.assert_array_equal(one.point_of[order], other.point_of)
    np.testing.assert_array_equal(one.rows.stored, other.rows.stored)


@pytest.mark.parametrize("largest", [5e-324, 1e-300, 1.0, 9e307])
def test_weights_of_any_size_have_a_unit(largest):
    data = data_of([0.0, 1.0, 2.0], weights=[largest, largest / 2, 0.0])
    assert 1.0 <= data.w.max() < 2.0
    assert data.w.max() * data.unit == largest


def test_weights_that_rounding_would_hide_do_not_count():
    data = data_of([0.0, 1.0, 2.0], weights=[1e-13, 1.0, 1e-11])
    assert (data.point_of >= 0).tolist() == [False, True, True]


def test_a_row_of_next_to_no_weight_is_labeled_like_one_of_none():
    X, w = [0.0, 0.1, 9.0, 9.1, 4.0], [1.0, 1.0, 1.0, 1.0, 1e-14]
    light, none = (kernel_kgroups(X, 2, sample_weight=[*w[:4], v]) for v in (w[4], 0.0))
    np.testing.assert_array_equal(light.labels, none.labels)
    assert light.within_energy == none.within_energy


@pytest.mark.parametrize("metric", ["precomputed", "gram"])
@pytest.mark.parametrize("cluster", [kernel_kgroups, kernel_kmeans])
def test_rows_of_no_weight_keep_their_column_in_matrices(cluster, metric):
    """New rows hold a number for every row fitted, also for those that do not count."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 2)) + np.repeat([[0.0, 0.0], [4.0, 3.0]], 10, axis=0)
    new = rng.normal(size=(8, 2)) * 3.0
    w = np.where(np.arange(20) % 3 == 0, 0.0, rng.uniform(0.5, 2.0, 20))
    matrix = {"precomputed": Power()(np.vstack([X, new]))}
    matrix["gram"] = kernel_matrix(np.vstack([X, new]))
    table, rows = matrix[metric][:20, :20], matrix[metric][20:, :20]
    start = np.arange(20) % 2
    by_points = cluster(X, 2, sample_weight=w, init=start)
    by_matrix = cluster(table, 2, metric=metric, sample_weight=w, init=start)
    np.testing.assert_array_equal(by_matrix.labels, by_points.labels)
    np.testing.assert_array_equal(by_matrix.predict(rows), by_points.predict(new))
    assert np.unique(by_points.predict(new)).size == 2


def test_the_norm_of_a_gram_matrix_counts_weights():
    X = np.random.default_rng(3).normal(size=(9, 2))
    w = np.r_[0.0, np.random.default_rng(4).uniform(0.5, 2.0, 8)]
    G = kernel_matrix(X)
    data = data_of(G, "gram", w)
    assert data.norm * data.unit == pytest.approx(w @ G.diagonal(), rel=1e-12)
    of_points, of_gram = data_of(X, weights=w), data_of(G, "gram", w)
    assert of_gram.norm == pytest.approx(of_points.norm, rel=1e-12)


def test_distances_below_zero_by_rounding_are_taken_and_others_refused():
    rng = np.random.default_rng(5)
    P = squared_distances_by_products(rng.normal(size=(40, 3))[np.arange(80) % 40] + 10.0)
    assert P.min() < 0.0
    found = kernel_kgroups(P, 3, metric="precomputed")
    np.testing.assert_array_equal(found.predict(P), found.labels)
    with pytest.raises(InputError, match=r"distances of new points must be >= 0, got -\d.* in row"):
        found.predict(-P)


def test_new_distances_all_as_small_as_rounding_are_taken():
    found = kernel_kgroups([[0.0, 4.0], [4.0, 0.0]], 1, metric="precomputed")
    assert found.predict([[-1e-12, 1e-13]]).tolist() == [0]
    with pytest.raises(InputError, match=r"got -1e-06 in row 1, column 0.\n.*numpy.maximum"):
        found.predict([[0.0, 0.0], [-1e-6, 0.0]])


@pytest.mark.parametrize("memory", [0, 1e9])
@pytest.mark.parametrize("start", ["k-means++", np.arange(9) % 2])
def test_errors_of_a_function_name_the_rows_of_the_caller(memory, start):
    X = np.array([5.0, 1.0, 1.0, 7.0, 3.0, 5.0, 9.0, 8.0, 2.0])
    w = np.r_[1.0, 0.0, np.ones(7)]
    with pytest.raises(InputError) as caught:
        kernel_kgroups(X, 2, metric=nan_at(1.0, 8.0), sample_weight=w, init=start,
                       gram_memory=memory)  # fmt: skip
    message = str(caught.value)
    assert "got nan for " in message
    assert "row 2 of X" in message
    assert "row 7 of X" in message


@pytest.mark.parametrize("memory", [0, 1e9])
def test_errors_of_a_function_at_new_points_name_both_rows(memory):
    X = [5.0, 1.0, 1.0, 7.0, 3.0]
    found = kernel_kgroups(X, 2, metric=nan_at(4.0, 7.0), gram_memory=memory)
    with pytest.raises(InputError, match="got nan for new row 1 and row 3 of X"):
        found.predict([1.0, 4.0])


def test_new_points_in_many_blocks_keep_their_numbers():
    between = data_of([5.0, 1.0, 1.0, 7.0, 3.0], as_semimetric(nan_at(4.0, 7.0))).between
    blocks = replace(between, block_entries=10)([1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 4.0])
    assert next(blocks).shape == (2, 4)
    with pytest.raises(InputError, match="got nan for new row 6 and row 3 of X"):
        list(blocks)


@dataclass(frozen=True)
class Cosine(Semimetric):
    """One minus the cosine, which has no value at the origin."""

    def __call__(self, X, Y=None):
        X, Y = np.asarray(X), np.asarray(X if Y is None else Y)
        product = (X @ Y.T) / np.sqrt(np.outer((X * X).sum(axis=1), (Y * Y).sum(axis=1)))
        return 1.0 - product


@pytest.mark.parametrize("memory", [0, 1e9])
def test_a_semimetric_of_the_caller_need_not_be_defined_at_the_origin(memory):
    X = np.random.default_rng(6).normal(size=(30, 2)) + np.repeat([[6, 0], [0, 6]], 15, axis=0)
    found = kernel_kgroups(X, 2, metric=Cosine(), gram_memory=memory)
    np.testing.assert_array_equal(found.labels, np.repeat(found.labels[[0, -1]], 15))
    by_matrix = kernel_kgroups(np.maximum(Cosine()(X), 0.0), 2, metric="precomputed")
    assert found.within_energy == pytest.approx(by_matrix.within_energy, rel=1e-9)
    assert found.objective == pytest.approx(by_matrix.objective, rel=1e-9)


def test_results_come_in_the_order_of_the_tasks():
    first_may_end = threading.Event()

    def work(task):
        if task == 0 and available_cores() > 1:
            assert first_may_end.wait(30)
        if task == 1:
            first_may_end.set()
        return task * task

    assert list(in_order(work, range(40))) == [task * task for task in range(40)]


def test_an_error_in_a_task_ends_the_others():
    done = []

    def work(task):
        if task == 3:
            msg = "no"
            raise ArithmeticError(msg)
        done.append(task)
        return task

    with pytest.raises(ArithmeticError, match="no"):
        list(in_order(work, range(10_000)))
    assert len(done) < 200


@pytest.mark.compiled
@pytest.mark.parametrize("memory", [0, 1e9])
def test_the_number_of_threads_does_not_matter(memory, monkeypatch):
    X = np.random.default_rng(0).normal(size=(1_200, 3))
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
        found.append(kernel_kgroups(X, 4, metric=Gaussian(), n_init=4, gram_memory=memory))
    np.testing.assert_array_equal(found[0].labels, found[1].labels)
    np.testing.assert_array_equal(found[0].objectives, found[1].objectives)
