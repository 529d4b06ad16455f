"""Semimetrics and their kernels: what holds for all points."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from helpers.strategies_energy_kernels import point_sets, semimetrics
from kgroups.energy import (
    Power,
    check_distances,
    check_gram,
    distances_from_gram,
    gram_from_distances,
    is_negative_type,
    kernel_matrix,
)


@given(point_sets(), semimetrics())
def test_rho_is_a_semimetric_of_negative_type(X, metric):
    D = metric(X)
    assert np.array_equal(D, D.T)
    assert not D.diagonal().any()
    assert check_distances(D) is D
    assert is_negative_type(D)


@given(point_sets(), semimetrics(), st.data())
def test_rho_does_not_depend_on_the_other_rows(X, metric, data):
    chosen = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=9)))
    D = metric(X)
    close = {"rtol": 1e-9, "atol": 1e-12 * max(D.max(), 1e-300)}
    np.testing.assert_allclose(metric(X[chosen]), D[np.ix_(chosen, chosen)], **close)
    np.testing.assert_allclose(metric(X[chosen], X), D[chosen], **close)
    np.testing.assert_allclose(metric(X, X[chosen]), D[:, chosen], **close)


@given(point_sets(min_points=2, max_points=60), st.integers(1, 59))
def test_powers_are_those_of_scipy(points, cut):
    X, Y = np.split(points, [min(cut, len(points) - 1)])
    np.testing.assert_allclose(Power()(X, Y), cdist(X, Y), rtol=1e-10)


@given(point_sets(), st.floats(0.1, 2.0), st.integers(-40, 40))
def test_powers_scale_with_the_points(X, alpha, exponent):
    np.testing.assert_allclose(
        Power(alpha)(X * 2.0**exponent), 2.0 ** (alpha * exponent) * Power(alpha)(X), rtol=1e-9
    )


@given(point_sets(), semimetrics())
def test_kernels_of_negative_type_are_positive_semidefinite(X, metric):
    G = kernel_matrix(X, metric=metric)
    assert np.array_equal(G, G.T)
    assert check_gram(G) is G
    eigenvalues = np.linalg.eigvalsh(G)
    assert eigenvalues[0] >= -1e-8 * eigenvalues[-1]


@given(point_sets(min_points=3), st.floats(2.5, 6.0))
def test_higher_powers_are_of_negative_type_exactly_where_their_kernel_is_semidefinite(X, alpha):
    D = Power()(X / np.abs(X).max()) ** alpha if X.any() else Power()(X)
    lowest = np.linalg.eigvalsh(gram_from_distances(D, base=0))
    # At the border between both answers the two roundings differ.
    assume(abs(lowest[0]) > 1e-6 * lowest[-1] or lowest[0] >= -1e-12 * lowest[-1])
    assert is_negative_type(D) == (lowest[0] >= -1e-8 * lowest[-1])


@pytest.mark.parametrize("alpha", [2.01, 2.5, 3.0, 4.0])
def test_powers_beyond_two_are_not_of_negative_type(alpha):
    """Three points in a row are enough: the middle one is too close to both others."""
    D = np.abs(np.subtract.outer([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])) ** alpha
    assert not is_negative_type(D)
    assert (
        np.linalg.eigvalsh(kernel_matrix([0, 1, 2], metric=lambda x, y: abs(x - y) ** alpha))[0] < 0
    )


@given(point_sets(), semimetrics(), st.data())
def test_the_kernel_of_any_base_point_generates_the_same_distances(X, metric, data):
    D = metric(X)
    base = data.draw(st.integers(0, len(X) - 1))
    grams = [
        kernel_matrix(X, metric=metric),
        kernel_matrix(X, metric=metric, base_point=X[base]),
        kernel_matrix(X, metric=metric, base_point=X.mean(axis=0) + 1.0),
        gram_from_distances(D),
        gram_from_distances(D, base=base),
    ]
    for G in grams:
        slack = 1e-10 * max(np.abs(G).max(), D.max())
        np.testing.assert_allclose(distances_from_gram(G), D, rtol=0, atol=slack)
        np.testing.assert_allclose(
            gram_from_distances(distances_from_gram(G)), grams[3], rtol=0, atol=slack
        )


@given(point_sets(), semimetrics(), st.data())
def test_the_base_point_is_the_origin_of_feature_space(X, metric, data):
    base = data.draw(st.integers(0, len(X) - 1))
    D = metric(X)
    G = kernel_matrix(X, metric=metric, base_point=X[base])
    slack = 1e-10 * max(D.max(), 1e-300)
    np.testing.assert_allclose(G[base], 0.0, atol=slack)
    np.testing.assert_allclose(G.diagonal(), D[base], atol=slack)
    np.testing.assert_allclose(G, gram_from_distances(D, base=base), atol=slack)
    assert not gram_from_distances(D, base=base)[base].any()


@given(point_sets(), semimetrics())
def test_the_mean_is_the_origin_of_centered_feature_space(X, metric):
    D = metric(X)
    G = gram_from_distances(D)
    n = len(D)
    J = np.eye(n) - 1.0 / n
    assert np.array_equal(G, G.T)
    np.testing.assert_allclose(G, -0.5 * J @ D @ J, atol=1e-12 * max(D.max(), 1e-300))


@given(point_sets())
def test_with_the_square_the_kernel_is_the_inner_product(X):
    origin = X[0]
    expected = (X - origin) @ (X - origin).T
    slack = 1e-10 * max(np.abs(expected).max(), 1e-300)
    np.testing.assert_allclose(
        kernel_matrix(X, metric=Power(2), base_point=origin), expected, atol=slack
    )
