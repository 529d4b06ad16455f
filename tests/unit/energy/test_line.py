"""The exact clustering of a line against brute force, and its validation."""

import numpy as np
import pytest

from helpers.oracles_line import least_of_all_intervals, least_of_all_partitions, within_energy
from kgroups.energy.clustering import kernel_kgroups
from kgroups.energy.line import segment_line, split_line
from kgroups.errors import InputError, NumberOfCommunitiesError


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
@pytest.mark.parametrize(("n", "k"), [(3, 2), (5, 3), (7, 2), (7, 3), (7, 4)])
def test_intervals_are_the_best_of_all_partitions(n, k, seed):
    for x, w in samples(np.random.default_rng([n, k, seed]), n):
        counted = w > 0
        if np.count_nonzero(counted) < k:
            continue
        least = least_of_all_partitions(x[counted], k, w[counted])
        found = segment_line(x, k, weights=w)
        assert found.within_energy == pytest.approx(least, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_a_split_is_the_best_of_all_bipartitions(seed):
    for x, w in samples(np.random.default_rng(seed), 9):
        counted = w > 0
        least = least_of_all_partitions(x[counted], 2, w[counted])
        assert split_line(x, weights=w).within_energy == pytest.approx(least, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 17, 59, 60])
def test_bounded_search_equals_the_full_one(k):
    for x, w in samples(np.random.default_rng(k), 60):
        w = w + 0.1
        least = least_of_all_intervals(x, k, w)
        found = segment_line(x, k, weights=w)
        assert found.within_energy == pytest.approx(least, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize(("center", "spread"), [(1e6, 1e-2), (-1e12, 1.0), (0.0, 1e-200)])
def test_energy_is_that_of_the_labels_far_from_the_origin(center, spread, k):
    rng = np.random.default_rng(3)
    x = center + spread * rng.normal(size=300)
    w = rng.exponential(size=300)
    found = segment_line(x, k, weights=w)
    # abs=0: an energy of 1e-200 must be right as well.
    expected = pytest.approx(within_energy(x, found.labels, w), rel=1e-9, abs=0)
    assert found.within_energy == expected


def test_clumps_far_apart_are_cut_inside_as_if_alone():
    """Prefix sums over all points would lose the energy inside the clumps to rounding."""
    rng = np.random.default_rng(0)
    clump = 1e-3 * rng.normal(size=40)
    alone = segment_line(clump, 3)
    found = segment_line(np.concatenate([clump - 1e9, clump, clump + 1e9]), 9)
    assert np.array_equal(found.labels[40:80] - 3, alone.labels)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_no_move_of_hartigan_improves_the_best_classes(k):
    for x, w in samples(np.random.default_rng(10 + k), 80):
        found = segment_line(x, k, weights=w)
        if np.unique(x[w > 0]).size < k:
            continue
        moved = kernel_kgroups(x, k, sample_weight=w, init=found.labels)
        assert moved.moves == 0
        assert moved.within_energy == pytest.approx(found.within_energy, rel=1e-9)


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
    for find in (split_line, lambda x, weights: segment_line(x, 4, weights=weights)):
        plain = find(x, weights=w)
        for changed in (find(scale * x, weights=w), find(x, weights=scale * w)):
            assert np.array_equal(changed.labels, plain.labels)
            assert changed.within_energy / scale == pytest.approx(plain.within_energy, rel=1e-9)


def test_labels_rise_from_left_to_right_and_follow_the_thresholds():
    x = np.random.default_rng(2).normal(size=200)
    found = segment_line(x, 6)
    assert np.all(np.diff(found.labels[np.argsort(x)]) >= 0)
    assert np.unique(found.labels).tolist() == list(range(6))
    assert np.array_equal(np.searchsorted(found.thresholds, x), found.labels)
    split = split_line(x)
    assert np.array_equal(split.labels, x > split.threshold)


def test_adjacent_floats_are_separated():
    low = 1.0
    high = np.nextafter(low, 2.0)
    split = split_line([high, low, high])
    assert split.labels.tolist() == [1, 0, 1]
    assert np.array_equal(np.array([high, low, high]) > split.threshold, [True, False, True])


def test_equal_numbers_share_a_class_while_there_are_enough_others():
    x = np.array([2.0, 2.0, 2.0, 2.0, 5.0, 5.0, 9.0])
    for k in (2, 3):
        labels = segment_line(x, k).labels
        assert np.unique(labels[:4]).size == 1
        assert labels[4] == labels[5]


def test_equal_numbers_are_shared_out_when_there_are_too_few_others():
    found = segment_line([7.0, 3.0, 7.0, 3.0, 3.0], 4)
    assert np.bincount(found.labels).tolist() == [1, 1, 1, 2]
    assert found.within_energy == 0.0
    assert found.thresholds.tolist() == [3.0, 3.0, 5.0]
    same = split_line([4.0, 4.0, 4.0])
    assert (same.labels.tolist(), same.threshold, same.within_energy) == ([0, 1, 1], 4.0, 0.0)


def test_a_weight_counts_as_that_many_copies():
    x, copies = np.array([0.0, 1.0, 3.0, 7.0, 8.0, 12.0]), np.array([3, 1, 2, 1, 4, 2])
    for k in (2, 3):
        weighted = segment_line(x, k, weights=copies)
        repeated = segment_line(np.repeat(x, copies), k)
        assert np.array_equal(np.repeat(weighted.labels, copies), repeated.labels)
        assert weighted.within_energy == pytest.approx(repeated.within_energy)


def test_a_point_of_no_weight_takes_the_label_of_its_place():
    x, w = [0.0, 1.0, 10.0, 11.0, -50.0, 4.0, 7.0, 99.0], [1, 1, 1, 1, 0, 0, 0, 0]
    split = split_line(x, weights=w)
    assert split.threshold == 5.5
    assert split.labels.tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert split.within_energy == 1.0


def test_one_class_has_the_energy_of_the_whole():
    x = np.array([4.0, 1.0, 9.0])
    found = segment_line(x, 1)
    assert found.labels.tolist() == [0, 0, 0]
    assert found.thresholds.size == 0
    assert found.within_energy == pytest.approx(16 / 3)


@pytest.mark.parametrize("k", [0, -1, 2.0, True, "2", None])
def test_k_must_be_a_whole_number(k):
    with pytest.raises(NumberOfCommunitiesError, match="k must be a whole number >= 1, got"):
        segment_line([1.0, 2.0], k)


def test_k_must_not_exceed_the_points_that_count():
    with pytest.raises(NumberOfCommunitiesError, match="got k=3 for 2 such points"):
        segment_line([1.0, 2.0, 3.0], 3, weights=[1, 0, 1])
    with pytest.raises(NumberOfCommunitiesError, match="got k=2 for 1 such points"):
        split_line([1.0])
    with pytest.raises(NumberOfCommunitiesError, match="got k=1 for 0 such points"):
        segment_line([], 1)


def test_numbers_must_be_finite_and_in_one_row():
    with pytest.raises(InputError, match=r"x must be finite, got nan in row 1 \(and 1 more\)"):
        split_line([1.0, np.nan, np.inf])
    with pytest.raises(InputError, match=r"one dimension, got shape \(2, 1\).*\n.*X\[:, 0\]"):
        split_line([[1.0], [2.0]])
    with pytest.raises(InputError, match="x must hold real numbers, got dtype <U1"):
        segment_line(["a", "b"], 2)


def test_weights_must_fit():
    with pytest.raises(InputError, match=r"3 numbers, one for each row, got shape \(2,\)"):
        split_line([1.0, 2.0, 3.0], weights=[1, 1])
    with pytest.raises(InputError, match=r"weights must be finite and >= 0, got -1.0 for row 2"):
        split_line([1.0, 2.0, 3.0], weights=[1, 1, -1])
    with pytest.raises(InputError, match="weights must be finite and >= 0, got nan for row 0"):
        segment_line([1.0, 2.0, 3.0], 2, weights=[np.nan, 1, 1])


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
        segment_line([1.0, 2.0, 3.0], 2, weights=numbers)
