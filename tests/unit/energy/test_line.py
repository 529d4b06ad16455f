"""The exact split of a line against brute force, and its validation."""

import numpy as np
import pytest

from helpers.oracles_line import least_of_all_bipartitions, within_energy
from kgroups.energy.clustering import kernel_kgroups
from kgroups.energy.line import split_line
from kgroups.errors import InputError


def samples(rng, n):
    """Numbers with and without ties, in clumps and with outliers, and weights to go with them."""
    kinds = [
        rng.normal(size=n),
        rng.integers(0, 5, size=n).astype(float),
        rng.lognormal(sigma=2.5, size=n),
        rng.choice([-1e3, 0.0, 1e3], size=n) + rng.normal(size=n),
    ]
    for x in kinds:
        yield x, np.ones(n)
        yield x, rng.exponential(size=n) ** 3
        yield x, rng.integers(0, 3, size=n) + (np.arange(n) < 4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [3, 5, 7, 9])
def test_a_split_is_the_best_of_all_bipartitions(n, seed):
    for x, w in samples(np.random.default_rng([n, seed]), n):
        counted = w > 0
        least = least_of_all_bipartitions(x[counted], w[counted])
        assert split_line(x, weights=w).within_energy == pytest.approx(least, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("center", "spread"), [(1e6, 1e-2), (-1e12, 1.0), (0.0, 1e-200)])
def test_energy_is_that_of_the_labels_far_from_the_origin(center, spread):
    rng = np.random.default_rng(3)
    x = center + spread * rng.normal(size=300)
    w = rng.exponential(size=300)
    split = split_line(x, weights=w)
    # abs=0: an energy of 1e-200 must be right as well.
    expected = pytest.approx(within_energy(x, split.labels, w), rel=1e-9, abs=0)
    assert split.within_energy == expected


def test_no_move_of_hartigan_improves_the_best_classes():
    for x, w in samples(np.random.default_rng(12), 80):
        split = split_line(x, weights=w)
        moved = kernel_kgroups(x, 2, sample_weight=w, init=split.labels)
        assert moved.moves == 0
        assert moved.within_energy == pytest.approx(split.within_energy, rel=1e-9)


def test_no_start_of_hartigan_is_better():
    x = np.random.default_rng(5).lognormal(sigma=1.5, size=150)
    least = split_line(x).within_energy
    for seed in range(5):
        reached = kernel_kgroups(x, 2, init="random", n_init=3, rng=seed).within_energy
        assert reached >= least * (1 - 1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_scale_of_numbers_and_of_weights_does_not_matter(scale):
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=50), rng.exponential(size=50)
    plain = split_line(x, weights=w)
    for changed in (split_line(scale * x, weights=w), split_line(x, weights=scale * w)):
        assert np.array_equal(changed.labels, plain.labels)
        assert changed.within_energy / scale == pytest.approx(plain.within_energy, rel=1e-9)


def test_labels_follow_the_threshold():
    x = np.random.default_rng(2).normal(size=200)
    split = split_line(x)
    assert np.array_equal(split.labels, x > split.threshold)


def test_adjacent_floats_are_separated():
    low = 1.0
    high = np.nextafter(low, 2.0)
    split = split_line([high, low, high])
    assert split.labels.tolist() == [1, 0, 1]
    assert np.array_equal(np.array([high, low, high]) > split.threshold, [True, False, True])


def test_equal_numbers_share_a_class_unless_all_are_equal():
    labels = split_line([2.0, 2.0, 2.0, 2.0, 5.0, 5.0, 9.0]).labels
    assert labels.tolist() == [0, 0, 0, 0, 1, 1, 1]
    same = split_line([4.0, 4.0, 4.0])
    assert (same.labels.tolist(), same.threshold, same.within_energy) == ([0, 1, 1], 4.0, 0.0)


def test_a_weight_counts_as_that_many_copies():
    x, copies = np.array([0.0, 1.0, 3.0, 7.0, 8.0, 12.0]), np.array([3, 1, 2, 1, 4, 2])
    weighted = split_line(x, weights=copies)
    repeated = split_line(np.repeat(x, copies))
    assert np.array_equal(np.repeat(weighted.labels, copies), repeated.labels)
    assert weighted.within_energy == pytest.approx(repeated.within_energy)


def test_a_point_of_no_weight_takes_the_label_of_its_place():
    x, w = [0.0, 1.0, 10.0, 11.0, -50.0, 4.0, 7.0, 99.0], [1, 1, 1, 1, 0, 0, 0, 0]
    split = split_line(x, weights=w)
    assert split.threshold == 5.5
    assert split.labels.tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert split.within_energy == 1.0


@pytest.mark.parametrize(
    ("x", "weights", "got"), [([], None, 0), ([1.0], None, 1), ([1.0, 2.0, 3.0], [0, 1, 0], 1)]
)
def test_two_numbers_must_count(x, weights, got):
    with pytest.raises(InputError, match=f"at least two numbers of positive weight, got {got}"):
        split_line(x, weights=weights)


def test_numbers_must_be_finite_and_in_one_row():
    with pytest.raises(InputError, match=r"x must be finite, got nan in row 1 \(and 1 more\)"):
        split_line([1.0, np.nan, np.inf])
    with pytest.raises(InputError, match=r"one dimension, got shape \(2, 1\).*\n.*X\[:, 0\]"):
        split_line([[1.0], [2.0]])


def test_weights_must_fit():
    with pytest.raises(InputError, match=r"3 numbers, one for each row, got shape \(2,\)"):
        split_line([1.0, 2.0, 3.0], weights=[1, 1])
    with pytest.raises(InputError, match=r"weights must be finite and >= 0, got -1.0 for row 2"):
        split_line([1.0, 2.0, 3.0], weights=[1, 1, -1])
    with pytest.raises(InputError, match="weights must be finite and >= 0, got nan for row 0"):
        split_line([1.0, 2.0, 3.0], weights=[np.nan, 1, 1])


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ([1j, 2.0, 3.0], "must hold real numbers, got dtype complex128"),
        (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), "must not be a masked array"),
        (["1", "2", "3"], "must hold real numbers, got dtype <U1"),
        (np.arange(3).astype("datetime64[s]"), "must hold real numbers, got dtype datetime64"),
    ],
)
def test_what_only_looks_like_numbers_is_refused(numbers, message):
    with pytest.raises(InputError, match=f"x {message}"):
        split_line(numbers)
    with pytest.raises(InputError, match=f"weights {message}"):
        split_line([1.0, 2.0, 3.0], weights=numbers)
