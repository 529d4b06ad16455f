"""Splits of a line for any numbers and weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.oracles_line import least_of_all_bipartitions, least_of_all_cuts, within_energy
from kgroups.energy.line import split_line

NUMBERS = st.floats(-1e6, 1e6) | st.integers(-4, 4).map(float)
WEIGHTS = st.floats(1e-3, 1e3) | st.sampled_from([1.0, 2.0])


@st.composite
def weighted_points(draw, max_size):
    n = draw(st.integers(2, max_size))
    x = draw(st.lists(NUMBERS, min_size=n, max_size=n))
    w = draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    return np.array(x), np.array(w)


def close_to(energy):
    return pytest.approx(energy, rel=1e-9, abs=1e-290)


@given(weighted_points(max_size=7))
def test_no_bipartition_is_better(case):
    x, w = case
    assert split_line(x, weights=w).within_energy == close_to(least_of_all_bipartitions(x, w))


@given(weighted_points(max_size=20))
def test_no_cut_is_better(case):
    x, w = case
    assert split_line(x, weights=w).within_energy == close_to(least_of_all_cuts(x, w))


@given(weighted_points(max_size=40))
def test_energy_is_that_of_the_labels(case):
    x, w = case
    split = split_line(x, weights=w)
    assert split.within_energy == close_to(within_energy(x, split.labels, w))
    assert np.unique(split.labels).tolist() == [0, 1]
    if np.unique(x).size > 1:
        assert np.array_equal(x > split.threshold, split.labels)


@given(weighted_points(max_size=30), st.randoms(use_true_random=False))
def test_order_of_the_points_does_not_matter(case, random):
    x, w = case
    p = np.array(random.sample(range(x.size), x.size))
    shuffled = split_line(x[p], weights=w[p])
    assert shuffled.within_energy == close_to(split_line(x, weights=w).within_energy)
