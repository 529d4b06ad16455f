"""Level of the permutation test for equal distributions, and power for unequal ones."""

import numpy as np
import pytest
from scipy import stats

from kgroups.energy.permutation import equal_distribution_test
from kgroups.energy.semimetrics import Exponential, Gaussian, Power

pytestmark = pytest.mark.statistical

RUNS = 200


def p_values(draw, metric, *, first_seed=0, runs=RUNS):
    found = []
    for seed in range(first_seed, first_seed + runs):
        sample_rng, test_rng = np.random.default_rng(seed).spawn(2)
        samples = draw(sample_rng)
        found.append(
            equal_distribution_test(*samples, metric=metric, permutations=99, rng=test_rng).p_value
        )
    return np.array(found)


EQUAL = {
    "two normal": lambda rng: (rng.normal(size=(15, 2)), rng.normal(size=(25, 2))),
    "three heavy": lambda rng: [rng.standard_cauchy(size) for size in (10, 15, 20)],
    "many ties": lambda rng: (rng.integers(0, 2, 12), rng.integers(0, 2, 20)),
}


@pytest.mark.parametrize("metric", [Power(), Power(2.0), Exponential()])
@pytest.mark.parametrize("name", ["two normal", "three heavy"])
def test_p_values_are_uniform_under_the_hypothesis(name, metric):
    """The p-values are exactly uniform on .01, .02, ..., 1, so that no spread need be measured.

    Of 200 uniform numbers the empirical distribution is farther than .13 from the true one with
    a probability of 2 exp(-2 * 200 * .13^2) = .0023 at most; .01 more is the grain of the values.
    """
    p = p_values(EQUAL[name], metric)
    assert stats.kstest(p, "uniform").statistic < 0.14


def test_ties_never_make_the_test_reject_too_often():
    """At most .1 by right; 200 runs have a standard deviation of .021, of which four are added."""
    p = p_values(EQUAL["many ties"], Power())
    assert np.mean(p <= 0.1) < 0.1 + 4 * 0.0212


def shifted(rng):
    return rng.normal(size=(30, 2)), rng.normal(0.6, size=(40, 2))


def scaled(rng):
    return rng.normal(size=(50, 2)), rng.normal(scale=2.0, size=(50, 2))


def one_of_three_shifted(rng):
    return rng.normal(size=(25, 2)), rng.normal(size=(25, 2)), rng.normal(0.8, size=(25, 2))


# Share of p-values up to .05 among 400 runs with the seeds 1000 to 1399.
POWER = [
    (shifted, Power(), 0.8825),
    (shifted, Power(2.0), 0.895),
    (shifted, Exponential(), 0.8325),
    (scaled, Power(), 0.955),
    (scaled, Power(0.5), 0.9875),
    (scaled, Gaussian(), 0.99),
    (one_of_three_shifted, Power(), 0.95),
]


@pytest.mark.parametrize(("draw", "metric", "share"), POWER)
def test_different_distributions_are_told_apart(draw, metric, share):
    """Bound: five standard deviations of a share of 100, on samples that were not measured."""
    p = p_values(draw, metric, runs=100)
    spread = np.sqrt(share * (1 - share) / 100)
    assert np.mean(p <= 0.05) > share - 5 * spread


def test_squared_distances_see_no_difference_in_scale():
    """The share is .05 if nothing is seen, with a standard deviation of .022 in 100 runs.

    400 runs with the seeds 1000 to 1399 gave .0475; other semimetrics reject nearly always.
    """
    p = p_values(scaled, Power(2.0), runs=100)
    assert np.mean(p <= 0.05) < 0.05 + 5 * 0.022
