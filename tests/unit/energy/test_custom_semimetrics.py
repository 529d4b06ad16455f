"""Semimetrics of the caller: what they return is validated, and errors name rows as given."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kgroups.energy import (
    Power,
    Semimetric,
    energy_distance,
    kernel_kgroups,
    kernel_matrix,
    mean_semimetric,
    within_energy,
)
from kgroups.energy.points import Points
from kgroups.energy.semimetrics import as_semimetric, is_family, pairwise
from kgroups.energy.statistics import Vectors, mean_between
from kgroups.errors import InputError

X = np.arange(12.0).reshape(6, 2)
POINTS = Points(X, np.array([10, 11, 12, 13, 14, 15]))
NEW_POINTS = Points(X[:2], np.arange(2), "new row {}")


@dataclass(frozen=True)
class Returning(Semimetric):
    """Whatever a function makes of the distances."""

    change: Any

    def __call__(self, X, Y=None):
        return self.change(Power()(X, Y))


class Kept(Semimetric):
    """Distances that are returned once and kept."""

    def __init__(self):
        self.matrix = Power()(X)

    def __call__(self, X, Y=None):
        return self.matrix


def with_entry(value):
    def change(rho):
        rho[1, 3] = value
        return rho

    return Returning(change)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0])
def test_errors_of_values_that_are_no_distances_name_the_rows(value):
    message = f"finite number >= 0, got {value} for {{}} and row 13 of X"
    with pytest.raises(InputError, match=message.format("row 11 of X")):
        pairwise(with_entry(value), POINTS)
    with pytest.raises(InputError, match=message.format("new row 1")):
        pairwise(with_entry(value), NEW_POINTS, POINTS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (np.ravel, r"Returning must return .*shape \(6, 6\), got shape \(36,\)"),
        (lambda rho: rho[:, :5], r"shape \(6, 6\), got shape \(6, 5\)"),
        (lambda rho: 1j * rho, "what Returning returns must hold real numbers"),
        (lambda rho: None, "what Returning returns must hold real numbers, got None"),
    ],
)
def test_what_is_no_matrix_of_the_right_shape_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        within_energy(X, [0] * 6, metric=Returning(change))
    with pytest.raises(InputError, match=message):
        kernel_kgroups(X, 2, metric=Returning(change))
    with pytest.raises(InputError, match=r"must return|must hold real"):
        pairwise(Returning(change), NEW_POINTS, POINTS)


def test_rounding_below_zero_and_on_the_diagonal_is_zero():
    rho = pairwise(Returning(lambda rho: rho - 1e-15), POINTS)
    assert rho.min() == 0.0
    assert not rho.diagonal().any()
    assert not pairwise(Returning(lambda rho: rho + 1e-9), POINTS).diagonal().any()


def test_a_matrix_that_the_semimetric_keeps_is_left_as_it_is():
    kept = Kept()
    before = kept.matrix.copy()
    kernel_kgroups(X, 2, metric=kept, init=np.arange(6) % 2)
    assert np.array_equal(kept.matrix, before)


def test_only_the_three_families_are_trusted():
    class Stranger(Power):
        pass

    assert is_family(Power(0.5))
    assert not is_family(Stranger(0.5))
    assert kernel_kgroups(X, 2, metric=Stranger(0.5)).within_energy == pytest.approx(
        kernel_kgroups(X, 2, metric=Power(0.5)).within_energy
    )


def failing_at(value):
    def function(x, y):
        return np.nan if value in (x[0], y[0]) else np.abs(x - y).sum()

    return function


def test_the_base_point_is_called_so():
    with pytest.raises(InputError, match="got nan for row 0 of X and the base point"):
        kernel_matrix(X + 1.0, metric=failing_at(0.0))


def test_groups_and_blocks_keep_the_numbers_of_rows():
    with pytest.raises(InputError, match="got nan for row 2 of X and row 4 of X"):
        within_energy(X, [0, 1, 0, 1, 0, 1], metric=with_nan(4.0, 8.0))
    metric = as_semimetric(with_nan(8.0, 100.0))
    points = Points.numbered(X)
    far = Vectors(Points.numbered(X[:1] + 100.0, "row {} of Y"), metric)
    with pytest.raises(InputError, match="got nan for row 4 of X and row 0 of Y"):
        mean_between(Vectors(points, metric), np.ones(6), far, np.ones(1), entries=2)
    with pytest.raises(InputError, match="got nan for row 0 of Y and row 1 of Y"):
        energy_distance(X[:2], X[3:5], metric=with_nan(6.0, 8.0))


def with_nan(value, other):
    def function(x, y):
        return np.nan if {x[0], y[0]} == {value, other} else np.abs(x - y).sum()

    return function


def test_points_of_another_width_are_refused():
    for metric in (Returning(abs), lambda x, y: 0.0):
        with pytest.raises(InputError, match="same number of columns, got 2 in X and 1 in Y"):
            mean_semimetric(X, [1.0], metric=metric)
