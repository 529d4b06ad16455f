"""Rows of the matrix of points, stored or computed when needed."""

import numpy as np
import pytest

from helpers.ids import stable_id
from kgroups.energy import Exponential, PairFunction, Power
from kgroups.energy.fitting import DistanceRows, VectorRows, rows_of_distances, rows_of_points
from kgroups.energy.points import Points
from kgroups.errors import InputError


def almost_taxi(x, y):
    """Return a distance that is 1e-9, and so passes for rounding, between a point and itself."""
    return np.abs(x - y).sum() + 1e-9


METRICS = [Power(0.5), Exponential(), PairFunction(almost_taxi)]


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(9, 2))


@pytest.fixture
def weights():
    return np.random.default_rng(1).uniform(0.5, 2.0, 9)


def rows_of(X, w, metric, memory):
    return rows_of_points(Points.numbered(X), w, metric, memory=memory)


def test_the_matrix_is_kept_if_it_just_fits(points, weights):
    assert isinstance(rows_of(points, weights, Power(), 8 * 81), DistanceRows)
    assert isinstance(rows_of(points, weights, Power(), 8 * 81 - 1), VectorRows)


@pytest.mark.parametrize("metric", METRICS, ids=stable_id)
def test_rows_that_are_not_kept_are_those_of_the_matrix(metric, points, weights):
    stored = rows_of(points, weights, metric, 1e9).stored
    made = VectorRows(Points.numbered(points), weights, metric, tile_side=4)
    assert made.stored is None
    some = np.array([7, 2, 3])
    np.testing.assert_allclose(made.rows(some), stored[some], rtol=1e-12)
    np.testing.assert_allclose(made.among(some), stored[np.ix_(some, some)], rtol=1e-12)
    whole = np.full((9, 9), np.nan)
    for top, left, tile in made.tiles():
        whole[top : top + tile.shape[0], left : left + tile.shape[1]] = tile
    np.testing.assert_allclose(whole, stored, rtol=1e-12)


def test_errors_in_a_tile_name_rows_as_given(points, weights):
    def function(x, y):
        return np.nan if {x[0], y[0]} == {points[2, 0], points[6, 0]} else almost_taxi(x, y)

    named = Points(points, 100 + np.arange(9))
    rows = VectorRows(named, weights, PairFunction(function), tile_side=4)
    with pytest.raises(InputError, match="got nan for row 102 of X and row 106 of X"):
        list(rows.tiles())


@pytest.mark.parametrize("memory", [0, 1e9])
@pytest.mark.parametrize("metric", METRICS, ids=stable_id)
def test_a_point_is_at_no_distance_from_itself(metric, memory, points, weights):
    rows = rows_of(points, weights, metric, memory)
    assert not rows.rows(np.arange(9)).diagonal().any()
    assert not rows.diagonal.any()


def test_rounding_on_a_given_diagonal_does_not_count(points, weights):
    D = Power()(points)
    np.fill_diagonal(D, 1e-9)
    assert not rows_of_distances(D, weights).stored.diagonal().any()


def test_the_shift_leaves_nothing_below_zero(weights):
    D = np.random.default_rng(2).normal(size=(9, 9))
    D = np.triu(D, 1) + np.triu(D, 1).T
    shift = rows_of_distances(D.copy(), weights).shift
    shifted = D + shift * np.add.outer(1.0 / weights, 1.0 / weights)
    assert shift > 0.0
    assert shifted.min() == pytest.approx(0.0, abs=1e-12)
