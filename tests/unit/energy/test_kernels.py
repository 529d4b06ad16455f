"""Kernels of semimetrics, and validation of matrices of distances and of Gram matrices."""

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from helpers.strategies_energy_kernels import squared_distances_by_products
from kgroups.energy import (
    Exponential,
    Gaussian,
    Power,
    check_distances,
    check_gram,
    distances_from_gram,
    gram_from_distances,
    is_negative_type,
    kernel_matrix,
)
from kgroups.energy.kernels import add_sums, check_symmetric
from kgroups.errors import InputError

METRICS = [Power(), Power(0.5), Exponential(2.0), Gaussian(1.5)]


def points(n=12, d=3):
    return np.random.default_rng(n).normal(size=(n, d))


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize("base_point", [None, [0.5, -1.0, 2.0]])
def test_kernel_is_its_formula_pair_by_pair(metric, base_point):
    X = points()
    x0 = np.zeros((1, 3)) if base_point is None else np.array([base_point])
    G = kernel_matrix(X, metric=metric, base_point=base_point)
    for i, j in np.ndindex(G.shape):
        x, y = X[i : i + 1], X[j : j + 1]
        expected = (metric(x, x0) + metric(y, x0) - metric(x, y))[0, 0] / 2
        assert G[i, j] == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_gaussian_kernel_is_the_rbf_kernel_seen_from_the_base_point():
    X, x0 = points(), np.array([[0.1, 0.2, 0.3]])
    gamma = 1 / (2 * 1.5**2)
    to_base = rbf_kernel(X, x0, gamma=gamma)
    expected = rbf_kernel(X, gamma=gamma) - to_base - to_base.T + 1.0
    G = kernel_matrix(X, metric=Gaussian(1.5), base_point=x0[0])
    np.testing.assert_allclose(G, expected, atol=1e-14)


def test_the_usual_metric_is_the_distance_and_functions_are_taken():
    X = points()
    np.testing.assert_array_equal(kernel_matrix(X), kernel_matrix(X, metric=Power(1.0)))
    by_function = kernel_matrix(X, metric=lambda x, y: np.abs(x - y).sum(), base_point=X[3])
    assert not by_function[3].any()
    assert by_function[0, 0] == pytest.approx(np.abs(X[0] - X[3]).sum())


def test_blocks_leave_kernels_symmetric_to_the_last_digit():
    X = points(40)
    whole = kernel_matrix(X)
    assert np.array_equal(whole, whole.T)
    in_blocks = -0.5 * Power()(X)
    add_sums(in_blocks, 0.5 * Power()(X, np.zeros((1, 3)))[:, 0], block_entries=100)
    assert np.array_equal(in_blocks, whole)


def test_a_number_is_a_base_point_on_the_line():
    assert kernel_matrix([1.0, 4.0], base_point=1.0).tolist() == [[0.0, 0.0], [0.0, 3.0]]


@pytest.mark.parametrize(
    ("base_point", "message"),
    [
        ([1.0, 2.0], r"one coordinate per column of X, got shape \(2,\) for 3 columns"),
        (np.zeros((1, 3)), r"got shape \(1, 3\) for 3 columns"),
        ([0.0, math.nan, 1.0], "base_point must be finite, got nan in row 0, column 1"),
        (["a", "b", "c"], "base_point must hold real numbers"),
    ],
)
def test_bad_base_points_are_refused(base_point, message):
    with pytest.raises(InputError, match=message):
        kernel_matrix(points(), base_point=base_point)


def test_bad_points_and_metrics_are_refused():
    with pytest.raises(InputError, match="X must be finite, got nan in row 0, column 1"):
        kernel_matrix([[0.0, math.nan]])
    with pytest.raises(InputError, match="metric must be a semimetric"):
        kernel_matrix(points(), metric="cosine")


@pytest.mark.parametrize("base", [-1, 12, 1.5, True, "0", [0]])
def test_bad_base_numbers_are_refused(base):
    with pytest.raises(
        InputError,
        match=r"base must be (a whole number >= 0|the number of a point, from 0 to 11), got",
    ):
        gram_from_distances(Power()(points()), base=base)


@pytest.mark.parametrize("convert", [check_distances, gram_from_distances, is_negative_type])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (
            [[0, 1, 5], [1, 0, 2], [4, 3, 0]],
            r"must be symmetric, got 5.0 at \(0, 2\) but 4.0 at \(2, 0\)",
        ),
        ([[0, -1], [-1, 0]], "distances must be >= 0, got -1.0 in row 0, column 1"),
        ([[0, 1], [1, 0.5]], "to itself must be 0, got 0.5 for point 1"),
        ([[0, math.nan], [1, 0]], "distances must be finite, got nan in row 0, column 1"),
        ([[0, math.inf], [math.inf, 0]], "got inf in row 0, column 1 \\(and 1 more\\)"),
        ([[0, 1, 2], [1, 0, 2]], r"must be square.*got shape \(2, 3\)"),
        ([0, 1], r"must be square.*got shape \(2,\)"),
        (np.zeros((0, 0)), r"must be square.*got shape \(0, 0\)"),
        ([[0j, 1], [1, 0]], "a matrix of distances must hold real numbers, got dtype complex128"),
        (sparse.csr_array(np.eye(2)), "a matrix of distances must be dense"),
    ],
)
def test_what_is_no_matrix_of_distances_is_refused(convert, matrix, message):
    with pytest.raises(InputError, match=message):
        convert(matrix)


@pytest.mark.parametrize("convert", [check_gram, distances_from_gram])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0.5], [0.4, 1]], r"Gram matrix must be symmetric, got 0.5 at \(0, 1\) but 0.4"),
        ([[1, math.nan], [0, 1]], "a Gram matrix must be finite, got nan in row 0, column 1"),
        ([[1, 2, 3]], r"a Gram matrix must be square.*got shape \(1, 3\)"),
        ([["1"]], "a Gram matrix must hold real numbers, got dtype <U1"),
    ],
)
def test_what_is_no_gram_matrix_is_refused(convert, matrix, message):
    with pytest.raises(InputError, match=message):
        convert(matrix)


def test_the_first_asymmetric_pair_is_named_in_large_matrices():
    D = Power()(points(40))
    D[33, 31] += 1.0
    D[37, 30] += 1.0
    with pytest.raises(InputError, match=r"at \(30, 37\) but .* at \(37, 30\)"):
        check_symmetric(D, 1e-8, "a matrix of distances", block_entries=100)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e307])
@pytest.mark.parametrize("check", [check_distances, check_gram])
def test_asymmetry_is_measured_by_the_largest_entry(check, size):
    D = size * Power()(points())
    D[0, 1] += 1e-9 * D.max()
    assert check(D) is D
    D[0, 1] += 1e-6 * D.max()
    with pytest.raises(InputError, match="must be symmetric"):
        check(D)


def test_what_single_precision_has_left_below_zero_can_be_clipped():
    Z = np.repeat(points(20), 2, axis=0).astype(np.float32) + np.float32(30.0)
    D = squared_distances_by_products(Z)
    with pytest.raises(InputError, match=r"must be (>= )?0, got.*\n.*numpy.maximum\(D, 0\) with a"):
        check_distances(D)
    np.maximum(D, 0.0, out=D)
    np.fill_diagonal(D, 0.0)
    check_distances(D)


def test_rounded_zeros_pass_for_zeros():
    D = Power()(points())
    D[3, 3], D[4, 5], D[5, 4] = 1e-12, -1e-12, -1e-12
    assert check_distances(D) is D


def test_other_numbers_become_floats_and_nothing_is_changed():
    given = np.array([[0, 3], [3, 0]], dtype=np.int8)
    assert check_distances(given).dtype == np.float64
    assert check_gram(given.astype(np.float32)).dtype == np.float64
    D = Power()(points())
    before = D.copy()
    for function in (gram_from_distances, is_negative_type, check_distances, check_gram):
        function(D)
    distances_from_gram(kernel_matrix(points()))
    assert np.array_equal(D, before)
    D.flags.writeable = False
    assert check_distances(D) is D
    gram_from_distances(D, base=2)


def test_gram_matrix_that_gives_negative_distances_is_refused():
    G = [[1.0, 0.0, 0.0], [0.0, 1.0, 3.0], [0.0, 3.0, 1.0]]
    with pytest.raises(InputError, match=r"got -4.0 for points 1 and 2"):
        distances_from_gram(G)


def test_gram_of_equal_points_gives_no_distance_below_zero():
    beyond = 1.0 + 1e-12
    assert not distances_from_gram([[1.0, beyond], [beyond, 1.0]]).any()
    X = points(30, 5)[np.arange(60) % 30] + 1e3
    np.testing.assert_allclose(distances_from_gram(X @ X.T), Power(2)(X), atol=1e-8)


def test_distances_of_any_size_are_centered():
    D = 1e308 * (1.0 - np.eye(4))
    np.testing.assert_allclose(gram_from_distances(D) / 1e308, 0.5 * np.eye(4) - 0.125)
    assert is_negative_type(D)


def test_negative_type_depends_on_the_tolerance():
    """Steps along a star are of negative type, squared steps around a cycle of five are not."""
    steps = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    cycle = np.minimum(steps, 5 - steps) ** 2
    assert check_distances(cycle).dtype == np.float64
    assert not is_negative_type(cycle)
    J = np.eye(5) - 0.2
    lowest, *_, highest = np.linalg.eigvalsh(-0.5 * J @ cycle @ J)
    assert is_negative_type(cycle, tolerance=-1.01 * lowest / highest)
    star = np.array([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]])
    assert is_negative_type(star)


@pytest.mark.parametrize("tolerance", ["a", None, math.nan, math.inf, -1.0, True, [1e-8]])
def test_bad_tolerances_are_refused(tolerance):
    with pytest.raises(InputError, match="tolerance must be a finite number >= 0, got"):
        is_negative_type(np.zeros((2, 2)), tolerance=tolerance)


def test_one_point_and_equal_points_are_of_negative_type():
    assert is_negative_type([[0.0]])
    assert is_negative_type(np.zeros((4, 4)))
    assert gram_from_distances([[0.0]]).tolist() == [[0.0]]
