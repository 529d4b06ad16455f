"""Dense sweeps where numbers differ by many orders of magnitude, or hardly at all."""

import numpy as np
import pytest

from kgroups.hartigan import StoredRows, improve_dense


def matrix_of(x):
    return StoredRows(-0.5 * np.abs(np.subtract.outer(x, x)))


@pytest.mark.parametrize("rule", ["hartigan", "lloyd"])
@pytest.mark.parametrize("nearer", [1e-3, 1e-6, 1e-8])
def test_a_small_gain_is_a_gain(rule, nearer):
    x = np.concatenate([np.zeros(50), np.ones(50), [0.5 - nearer]])
    start = np.repeat([0, 1], [50, 51])
    found = improve_dense(matrix_of(x), np.ones(101), start, k=2, rule=rule)
    # Lloyd counts the point in the mean it lies beside, so that only far ones leave.
    assert found.z[-1] == (0 if rule == "hartigan" else 1)
    assert found.moves == (1 if rule == "hartigan" else 0)


@pytest.mark.parametrize("rule", ["hartigan", "lloyd"])
def test_rounding_is_no_gain(rule):
    x = np.concatenate([np.zeros(49), np.ones(49), [0.5]]) * 0.1 + 0.3
    for own in (0, 1):
        start = np.repeat([0, 1, own], [49, 49, 1])
        found = improve_dense(matrix_of(x), np.ones(99), start, k=2, rule=rule)
        assert found.moves == 0
        assert found.converged


def test_a_group_is_not_left_to_what_rounding_cannot_see():
    M = np.array([[0.5, -1e-20, 0.0], [-1e-20, 0.0, 0.0], [0.0, 0.0, 0.5]])
    found = improve_dense(StoredRows(M), np.array([1.0, 1e-17, 1.0]), np.array([0, 0, 1]), k=2)
    assert found.z[0] == 0
    assert np.isfinite(found.objective)


def test_sums_are_recomputed_after_an_outlier_has_left():
    x = np.concatenate([np.zeros(20), np.full(20, 1.0), [1e14]])
    start = np.concatenate([np.arange(40) % 3, [0]])
    found = improve_dense(matrix_of(x), np.ones(41), start, k=3)
    assert found.converged
    assert np.unique(found.z[:20]).size == np.unique(found.z[20:40]).size == 1
    assert found.objective == 0.0
