"""Clusterings of a line for any numbers and weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.oracles_line import least_of_all_intervals, least_of_all_partitions, within_energy
from kgroups.energy.line import segment_line, split_line

NUMBERS = st.floats(-1e6, 1e6) | st.integers(-4, 4).map(float)
WEIGHTS = st.floats(1e-3, 1e3) | st.sampled_from([1.0, 2.0])


@st.composite
def weighted_points(draw, max_size):
    n = draw(st.integers(1, max_size))
    x = draw(st.lists(NUMBERS, min_size=n, max_size=n))
    w = draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    return np.array(x), np.array(w), draw(st.integers(1, n))


def close_to(energy):
    return pytest.approx(energy, rel=1e-9, abs=1e-290)


@given(weighted_points(max_size=6))
def test_no_partition_is_better(case):
    x, w, k = case
    assert segment_line(x, k, weights=w).within_energy == close_to(least_of_all_partitions(x, k, w))


@given(weighted_points(max_size=20))
def test_no_intervals_are_better(case):
    x, w, k = case
    assert segment_line(x, k, weights=w).within_energy == close_to(least_of_all_intervals(x, k, w))


@given(weighted_points(max_size=40))
def test_energy_is_that_of_the_labels(case):
    x, w, k = case
    found = segment_line(x, k, weights=w)
    assert found.within_energy == close_to(within_energy(x, found.labels, w))
    assert np.unique(found.labels).tolist() == list(range(k))
    if k <= np.unique(x).size:
        assert np.array_equal(np.searchsorted(found.thresholds, x), found.labels)


@given(weighted_points(max_size=40).filter(lambda case: case[0].size > 1))
def test_a_split_is_two_segments(case):
    x, w, _ = case
    split = split_line(x, weights=w)
    assert split.within_energy == close_to(segment_line(x, 2, weights=w).within_energy)
    assert split.within_energy == close_to(within_energy(x, split.labels, w))


@given(weighted_points(max_size=30), st.randoms(use_true_random=False))
def test_order_of_the_points_does_not_matter(case, random):
    x, w, k = case
    p = np.array(random.sample(range(x.size), x.size))
    original = segment_line(x, k, weights=w)
    shuffled = segment_line(x[p], k, weights=w[p])
    assert shuffled.within_energy == close_to(original.within_energy)
