"""The permutation test against every labeling written out, and its validation."""

import io
import math
import re
from dataclasses import replace
from itertools import permutations
from unittest import mock

import numpy as np
import pytest

from kgroups.energy import (
    EnergyTest,
    Exponential,
    Power,
    between_energy,
    equal_distribution_test,
    kernel_matrix,
    permutation_test,
)
from kgroups.energy.permutation import permuted_labels, run_permutations, statistics_of_labelings
from kgroups.energy.statistics import pairs_of
from kgroups.errors import InputError


def draw(seed, *sizes, columns=2):
    rng = np.random.default_rng(seed)
    return [rng.normal(0.3 * a, size=(size, columns)) for a, size in enumerate(sizes)]


def in_blocks(samples, permutations=999, progress=False, *, strip, indicators, labels):
    """Run the test in small blocks, whose sizes are given in multiples of the number of points."""
    z = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    n = z.size
    pairs = replace(pairs_of(np.vstack(samples), Power()), strip_entries=strip * n)
    return run_permutations(
        pairs,
        z,
        permutations,
        None,
        progress,
        label_entries=labels * n,
        indicator_entries=indicators * n,
    )


@pytest.mark.parametrize("sizes", [(5, 9), (4, 6, 3), (1, 1), (1, 7, 2, 5)])
@pytest.mark.parametrize("metric", [Power(), Power(2.0), Exponential(0.5)])
def test_statistic_is_the_between_sample_energy(sizes, metric):
    samples = draw(0, *sizes)
    found = equal_distribution_test(*samples, metric=metric, permutations=1)
    z = np.repeat(np.arange(len(sizes)), sizes)
    assert found.statistic == pytest.approx(between_energy(np.vstack(samples), z, metric=metric))
    assert found.sizes == sizes
    assert found.permutations == 1


@pytest.mark.parametrize("sizes", [(5, 9), (4, 6, 3), (1, 7, 2, 5)])
def test_statistics_of_permutations_are_those_of_each_by_itself(sizes):
    X = np.vstack(draw(1, *sizes))
    z = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(2)
    labelings = list(permuted_labels(z, 12, rng, label_entries=5 * len(z)))
    assert [len(some) for some in labelings] == [5, 5, 3]
    pairs = replace(pairs_of(X, Power()), strip_entries=3 * len(z))
    for some in labelings:
        S, energy = statistics_of_labelings(
            pairs,
            some,
            np.bincount(z),
            lambda done: None,
            indicator_entries=2 * len(z) * len(sizes),
        )
        expected = [between_energy(X, labels) for labels in some]
        np.testing.assert_allclose(S, expected, rtol=1e-10)
        assert energy == pytest.approx(between_energy(X, np.arange(len(z))))
    drawn = np.vstack(labelings)
    np.testing.assert_array_equal(drawn[0], z)
    np.testing.assert_array_equal(np.sort(drawn), np.tile(np.sort(z), (13, 1)))
    assert len(np.unique(drawn, axis=0)) > 5


def test_p_value_tends_to_the_share_of_all_labelings():
    """20,000 draws have a standard deviation of .0035, of which five are allowed."""
    x, y = np.array([0.0, 1.0, 1.5]), np.array([2.0, 2.2, 0.9, 4.0])
    X, z = np.concatenate([x, y]), np.repeat([0, 1], [3, 4])
    S = between_energy(X, z)
    every = [between_energy(X, labels) for labels in sorted(set(permutations(z)))]
    share = np.mean(np.array(every) >= S - 1e-12)
    assert 0.05 < share < 0.5
    found = equal_distribution_test(x, y, permutations=20_000)
    assert found.p_value == pytest.approx(share, abs=0.0175)


def test_labelings_that_exchange_equal_points_count_as_ties():
    """Three values make a few dozen statistics, which rounding must not part."""
    rng = np.random.default_rng(0)
    X = np.sqrt(2.0) * rng.choice([0.1, 0.7, 1.3], size=(30, 1))
    z = np.repeat([0, 1], 15)
    pairs = replace(pairs_of(X, Power(0.7)), strip_entries=7 * 30)
    found = run_permutations(pairs, z, 999, 4, progress=False)
    (labelings,) = permuted_labels(z, 999, np.random.default_rng(4))
    S = np.array([between_energy(X, labels, metric=Power(0.7)) for labels in labelings])
    assert np.unique(S.round(9)).size < np.unique(S).size
    assert found.p_value == np.mean(S.round(9) >= S[0].round(9))
    assert 0.05 < found.p_value < 1.0


def test_points_that_are_all_equal_cannot_be_told_apart():
    assert permutation_test(np.full((30, 3), 0.1), np.arange(30) % 2).p_value == 1.0


def test_matrices_give_what_points_give():
    X = np.vstack(draw(3, 12, 15))
    labels = ["left"] * 12 + ["right"] * 15
    points = permutation_test(X, labels, metric=Exponential(2.0), rng=5)
    distances = permutation_test(Exponential(2.0)(X), labels, metric="precomputed", rng=5)
    gram = permutation_test(kernel_matrix(X, metric=Exponential(2.0)), labels, metric="gram", rng=5)
    for other in (distances, gram):
        assert other.p_value == points.p_value
        assert other.statistic == pytest.approx(points.statistic)
    samples = equal_distribution_test(X[:12], X[12:], metric=Exponential(2.0), rng=5)
    assert samples == points


def test_same_rng_same_answer():
    samples = draw(4, 20, 25)
    first = equal_distribution_test(*samples, rng=7)
    assert equal_distribution_test(*samples, rng=7) == first
    assert equal_distribution_test(*samples, rng=np.random.default_rng(7)) == first
    default = equal_distribution_test(*samples)
    assert equal_distribution_test(*samples) == default
    values = {equal_distribution_test(*samples, rng=seed).p_value for seed in range(4)}
    assert len(values) > 1


def test_block_sizes_change_nothing():
    samples = draw(5, 20, 25, 9)
    expected = equal_distribution_test(*samples)
    found = in_blocks(samples, strip=7, indicators=10, labels=100)
    assert found.p_value == expected.p_value
    assert found.statistic == pytest.approx(expected.statistic)


def test_more_samples_than_fit_a_byte():
    X = np.random.default_rng(6).normal(size=600)
    labels = np.arange(600) // 2
    found = permutation_test(X, labels, permutations=3)
    assert found.sizes == (2,) * 300
    assert found.statistic == pytest.approx(between_energy(X, labels))


def test_result_is_a_frozen_record():
    found = EnergyTest(1.5, 0.25, 3, (2, 2))
    assert repr(found) == "EnergyTest(statistic=1.5, p_value=0.25, permutations=3, sizes=(2, 2))"
    with pytest.raises(AttributeError, match="p_value"):
        found.p_value = 0.0


def test_progress_rises_to_the_total():
    shown = []
    samples = draw(7, 20, 20)
    in_blocks(samples, 99, lambda *now: shown.append(now), strip=10, indicators=20, labels=50)
    done = [now for now, _ in shown]
    assert {total for _, total in shown} == {99}
    assert done == sorted(done)
    assert done[-1] == 99
    assert len(set(done)) > 5


def test_a_bar_stays_off_where_there_is_no_terminal():
    with mock.patch("sys.stderr", io.StringIO()) as shown:
        found = equal_distribution_test(*draw(8, 20, 20), progress=True)
    assert shown.getvalue() == ""
    assert found == equal_distribution_test(*draw(8, 20, 20))


def test_a_bar_counts_permutations_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    with mock.patch("sys.stderr", Terminal()) as shown:
        equal_distribution_test(*draw(8, 20, 20), permutations=77, progress=True)
    assert re.search(r"77 \[|77/77", shown.getvalue())


def test_an_interrupt_ends_the_test():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        equal_distribution_test(*draw(9, 20, 20), progress=stop)


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "9", None])
def test_permutations_must_be_a_whole_number(count):
    with pytest.raises(InputError, match="permutations must be a whole number >= 1, got"):
        equal_distribution_test([1.0], [2.0], permutations=count)


def test_bad_samples_are_named():
    with pytest.raises(InputError, match="two samples or more, got 1"):
        equal_distribution_test([[0.0], [1.0]])
    with pytest.raises(InputError, match="two samples or more, got 0"):
        equal_distribution_test()
    with pytest.raises(InputError, match="got 1 in sample 0 and 2 in sample 1"):
        equal_distribution_test([0.0, 1.0], [[0.0, 1.0]])
    with pytest.raises(InputError, match="sample 1 must be finite, got inf in row 0"):
        equal_distribution_test([0.0, 1.0], [np.inf])
    with pytest.raises(InputError, match="one label for all rows of X"):
        permutation_test([0.0, 1.0], ["a", "a"])
    with pytest.raises(InputError, match="each of the 2 rows of X, got 3"):
        permutation_test([0.0, 1.0], ["a", "a", "b"])
    with pytest.raises(InputError, match="metric must be a semimetric"):
        equal_distribution_test([0.0], [1.0], metric="cosine")
    with pytest.raises(InputError, match="progress must be True, False or a callable"):
        equal_distribution_test([0.0], [1.0], progress="yes")
    with pytest.raises(InputError, match="rng must be None"):
        equal_distribution_test([0.0], [1.0], rng="seed")


@pytest.mark.parametrize("metric", ["precomputed", "gram"])
def test_samples_need_a_semimetric_and_matrices_have_another_test(metric):
    message = rf"a semimetric .* here, got '{metric}'.\n.*permutation_test\(X, labels"
    with pytest.raises(InputError, match=message):
        equal_distribution_test(np.zeros((2, 2)), np.zeros((2, 2)), metric=metric)
    with pytest.raises(InputError, match=r"function of two points, got 'cosine'"):
        equal_distribution_test(np.zeros((2, 2)), np.zeros((2, 2)), metric="cosine")


def test_a_statistic_of_nothing_has_no_sign():
    found = permutation_test(np.zeros((4, 4)), [0, 0, 1, 1], metric="precomputed", permutations=3)
    assert (found.statistic, math.copysign(1.0, found.statistic)) == (0.0, 1.0)


def test_errors_of_a_function_name_the_rows_of_all_samples():
    def function(x, y):
        return math.nan if {x[0], y[0]} == {1.0, 4.0} else abs(x[0] - y[0])

    with pytest.raises(InputError, match="got nan for row 1 of all samples and row 4 of all"):
        equal_distribution_test([0.0, 1.0, 2.0], [3.0, 4.0], metric=function)
