"""The benchmark of points: its data are what they claim, its plain methods are what they are."""

import numpy as np
import pytest

from benchmarks.energy import (
    FIRST_CALL,
    NUMPY,
    OURS,
    compare,
    mixture,
    numpy_lloyd,
    numpy_sweep,
    numpy_sweep_in_blocks,
    sweep_rows,
    watched,
)
from benchmarks.startup import run
from kgroups.energy import Power, kernel_matrix, within_energy


@pytest.fixture(scope="module")
def data():
    return mixture(120, 4, 0)


def test_the_components_of_a_mixture_are_equal_and_shuffled(data):
    assert np.bincount(data.truth).tolist() == [30] * 4
    assert np.unique(data.truth[:30]).size == 4
    assert not np.array_equal(mixture(120, 4, 1).X, data.X)


def test_a_plain_sweep_sends_points_to_the_nearest_mean(data):
    z = np.random.default_rng(0).integers(4, size=data.n)
    means = np.array([data.X[z == a].mean(axis=0) for a in range(4)])
    nearest = Power(2.0)(data.X, means).argmin(axis=1)
    assert np.array_equal(numpy_sweep(kernel_matrix(data.X, metric=Power(2.0)), z, 4), nearest)


def test_a_group_that_a_plain_sweep_emptied_stays_empty(data):
    z = np.random.default_rng(0).integers(3, size=data.n)
    assert numpy_sweep(kernel_matrix(data.X), z, 4).max() < 3


def test_a_plain_sweep_in_blocks_is_the_same(data):
    z = np.random.default_rng(5).integers(4, size=data.n)
    whole = numpy_sweep(kernel_matrix(data.X), z, 4)
    assert np.array_equal(numpy_sweep_in_blocks(data.X, 4, 5), whole)


def test_plain_lloyd_stops_where_nothing_changes(data):
    G, z = kernel_matrix(data.X), np.random.default_rng(0).integers(4, size=data.n)
    labels, sweeps = numpy_lloyd(G, z, 4)
    assert sweeps > 1
    assert np.array_equal(numpy_sweep(G, labels, 4), labels)
    assert within_energy(data.X, labels) < within_energy(data.X, z)


def test_every_method_labels_every_point(data):
    results = compare(data, {**OURS, **NUMPY}, repeat=1)
    assert set(results) == {*OURS, *NUMPY}
    for timing, labels in results.values():
        assert timing.wall > 0
        assert np.unique(labels).tolist() == [0, 1, 2, 3]


def test_sweeps_of_both_kinds_end_within_the_limit(data):
    rows = list(sweep_rows(data, repeat=1))
    assert [row.start for row in rows] == ["by chance", "nearest"]
    for row in rows:
        assert 1 < row.sweeps < 300
        assert 1 < row.numpy_sweeps < 300
        assert row.ratio == row.mean / row.numpy_mean
        # Hartigan's optima are among those of Lloyd, so that neither can be far off.
        assert 0.5 < row.W_ratio < 2.0


def test_watching_a_method_scores_its_groups(data):
    _, _, W, score = watched("kgroups", data.n, data.k)
    planted = within_energy(data.X, data.truth)
    assert 0.8 * planted < W < 1.2 * planted
    assert 0 < score <= 1


def test_the_first_call_prints_its_seconds_by_both_clocks(tmp_path):
    printed = run(FIRST_CALL, str(tmp_path), mode="never").stdout.split()
    assert len(printed) == 2
    assert all(float(seconds) > 0.0 for seconds in printed)
