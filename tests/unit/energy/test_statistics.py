"""Energy statistics by hand, against scipy, and on input that has none."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist

from kgroups.energy.semimetrics import Exponential, Gaussian, PairFunction, Power
from kgroups.energy.statistics import (
    between_energy,
    energy_distance,
    mean_semimetric,
    within_energy,
)
from kgroups.errors import InputError

LINE = [[0.0], [1.0], [3.0]]


def test_three_points_by_hand():
    assert mean_semimetric(LINE) == pytest.approx(12 / 9)
    assert mean_semimetric(LINE, x_weights=[2, 1, 0]) == pytest.approx(4 / 9)
    assert mean_semimetric(LINE, [[5.0]], x_weights=[2, 1, 0]) == pytest.approx(14 / 3)
    assert within_energy(LINE, [0, 0, 1]) == pytest.approx(0.5)
    assert within_energy(LINE, [0, 0, 1], weights=[2, 1, 5]) == pytest.approx(2 / 3)
    assert between_energy(LINE, [0, 0, 1]) == pytest.approx(1.5)
    assert energy_distance(LINE[:2], LINE[2:]) == pytest.approx(4.5)


def test_numbers_are_points_on_a_line():
    assert energy_distance([0.0, 1.0], [3.0]) == energy_distance([[0.0], [1.0]], [[3.0]])
    assert within_energy([0, 1, 3], list("aab")) == within_energy(LINE, list("aab"))


@pytest.mark.parametrize("seed", range(5))
def test_scipy_returns_the_square_root_on_a_line(seed):
    """Both are twice the integral of (F - G)^2, of which scipy takes the root."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=40), rng.normal(0.3, 1.5, size=31)
    w, v = rng.uniform(0.1, 2.0, x.size), rng.uniform(0.1, 2.0, y.size)
    expected = stats.energy_distance(x, y, w, v) ** 2
    assert energy_distance(x, y, x_weights=w, y_weights=v) == pytest.approx(expected, rel=1e-9)
    plain = stats.energy_distance(x, y) ** 2
    assert energy_distance(x, y) == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize(
    ("metric", "of_distance"),
    [
        (Power(0.5), np.sqrt),
        (Exponential(2.0), lambda r: 2 - 2 * np.exp(-r / 4)),
        (Gaussian(2.0), lambda r: 2 - 2 * np.exp(-(r**2) / 8)),
        (lambda x, y: float(np.linalg.norm(x - y)), lambda r: r),
        (PairFunction(lambda x, y: float(np.sum((x - y) ** 2))), np.square),
    ],
)
def test_every_semimetric_counts_as_it_is(metric, of_distance):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(12, 3)), rng.normal(1.0, size=(9, 3))
    across, first, second = (of_distance(cdist(a, b)).mean() for a, b in [(X, Y), (X, X), (Y, Y)])
    assert mean_semimetric(X, Y, metric=metric) == pytest.approx(across)
    assert energy_distance(X, Y, metric=metric) == pytest.approx(2 * across - first - second)
    z = np.repeat([7, -1], [12, 9])
    within = within_energy(np.vstack([X, Y]), z, metric=metric)
    assert within == pytest.approx(6 * first + 4.5 * second)


def test_equal_samples_are_no_distance_apart():
    signs = set()
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(20, 3))
        signs.add(np.sign(energy_distance(X, X[::-1])))
        assert energy_distance(X, X[::-1]) == pytest.approx(0.0, abs=1e-14)
    assert -1.0 in signs, "rounding must be able to make a distance negative"


def test_a_single_sample_has_no_energy_between():
    X = np.random.default_rng(2).normal(size=(20, 3))
    assert between_energy(X, np.zeros(20, int)) == 0.0


def test_weights_count_points():
    X = np.random.default_rng(4).normal(size=(8, 2))
    z, w = np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([1, 2, 0, 3, 1, 1, 2, 4])
    many = np.repeat(np.arange(8), w)
    for statistic in (within_energy, between_energy):
        expected = statistic(X[many], z[many])
        assert statistic(X, z, weights=w) == pytest.approx(expected)


def test_a_group_without_weight_adds_nothing():
    w = [1.0, 2.0, 0.0]
    assert within_energy(LINE, [0, 0, 1], weights=w) == within_energy(LINE, [0, 0, 0], weights=w)
    assert between_energy(LINE, [0, 0, 1], weights=w) == pytest.approx(0.0, abs=1e-15)


def test_weights_near_the_largest_float_do_not_overflow():
    assert mean_semimetric(LINE, x_weights=[1e300, 1e300, 0]) == pytest.approx(0.5)
    within = within_energy(LINE, [0, 0, 1], weights=np.full(3, 1e300))
    assert within == pytest.approx(0.5e300)


@pytest.mark.parametrize(
    "labels",
    [[4, 4, 9], ["x", "x", "y"], [0.5, 0.5, 1], np.array([1, 1, 0]), np.array(["b", "b", "a"])],
)
def test_labels_are_numbers_or_strings(labels):
    assert within_energy(LINE, labels) == pytest.approx(0.5)


def test_points_need_no_matrix_of_all_pairs():
    """A matrix of 6,000 x 6,000 floats would take 288 MB."""
    X = np.random.default_rng(0).normal(size=(6_000, 2))
    z = np.arange(6_000) % 3
    tracemalloc.start()
    between, within = between_energy(X, z), within_energy(X, z)
    g = mean_semimetric(X, X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
    assert between + within == pytest.approx(3_000 * g)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1], r"weights must be finite and >= 0, got -1\.0 for row 1"),
        ([1, np.nan, -1], r"got nan for row 1 \(and 1 more\)"),
        ([1, 1, np.inf], "got inf for row 2"),
        ([1, 1], r"3 numbers, one for each row, got shape \(2,\)"),
        ([0, 0, 0], "must not be zero for every row"),
        ([1e308, 1e308, 1e308], r"finite sum, got numbers up to 1e\+308"),
        (list("123"), "must hold real numbers, got dtype <U1"),
        ("heavy", "must hold real numbers, got 'heavy'"),
        ([1j, 1, 1], "must hold real numbers, got dtype complex128"),
        ([1, None, 1], "must hold real numbers, got None at row 1"),
        (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), "must not be a masked array"),
        (np.arange(3).astype("datetime64[s]"), "must hold real numbers, got dtype datetime64"),
    ],
)
def test_bad_weights_are_named(weights, message):
    with pytest.raises(InputError, match=message):
        within_energy(LINE, [0, 0, 1], weights=weights)
    with pytest.raises(InputError, match=f"x_.*{message}"):
        energy_distance(LINE, LINE, x_weights=weights)
    with pytest.raises(InputError, match=f"y_.*{message}"):
        mean_semimetric(LINE, LINE, y_weights=weights)


def test_weights_of_a_missing_sample_are_refused():
    with pytest.raises(InputError, match="y_weights must be omitted without Y"):
        mean_semimetric(LINE, y_weights=[1, 1, 1])


@pytest.mark.parametrize("statistic", [within_energy, between_energy])
def test_labels_must_fit_the_rows(statistic):
    with pytest.raises(InputError, match="each of the 3 rows of X, got 2"):
        statistic(LINE, [0, 1])
    with pytest.raises(
        InputError, match="one number or string for each of the 3 rows of X, got groups or"
    ):
        statistic(LINE, [{0, 1}, {2}])
    with pytest.raises(
        InputError, match="one number or string for each of the 3 rows of X, got groups or"
    ):
        statistic(LINE, {0: "a", 1: "a", 2: "b"})


@pytest.mark.parametrize("statistic", [within_energy, between_energy])
@pytest.mark.parametrize(
    ("labels", "got"),
    [
        (None, "None"),
        (3, "3"),
        ("abc", "'abc'"),
        ([0, 1, np.nan], "nan for row 2"),
        (np.array([0.0, np.nan, 1.0]), "nan for row 1"),
        (["a", ["b"], "a"], r"\['b'\] for row 1"),
        (np.zeros((3, 1)), r"\[0.\] for row 0"),
        (np.ma.array([0, 1, 1], mask=[0, 0, 1]), "masked for row 2|-- for row 2"),
    ],
)
def test_what_is_no_label_is_named_in_the_words_of_rows(statistic, labels, got):
    with pytest.raises(InputError, match=f"string for each of the 3 rows of X, got ({got})") as e:
        statistic(LINE, labels)
    assert not any(word in str(e.value) for word in ("node", "communit", "igraph", "partition"))


def test_bad_input_is_named():
    with pytest.raises(InputError, match="Y must be finite, got nan in row 1"):
        energy_distance(LINE, [[0.0], [np.nan]])
    with pytest.raises(InputError, match="same number of columns, got 1 in X and 2 in Y"):
        energy_distance(LINE, [[0.0, 1.0]])
    with pytest.raises(InputError, match="X must have at least one row"):
        mean_semimetric(np.empty((0, 2)))
    with pytest.raises(InputError, match="metric must be a semimetric"):
        within_energy(LINE, [0, 0, 1], metric="cosine")
    with pytest.raises(InputError, match="metric must be a semimetric"):
        energy_distance(LINE, LINE, metric="precomputed")


def test_matrices_are_checked():
    with pytest.raises(InputError, match="a matrix of distances must be square"):
        within_energy(LINE, [0, 0, 1], metric="precomputed")
    with pytest.raises(InputError, match="a matrix of distances must be symmetric"):
        between_energy([[0, 1], [2, 0]], [0, 1], metric="precomputed")
    with pytest.raises(InputError, match="a Gram matrix must be symmetric"):
        between_energy([[0, 1], [2, 0]], [0, 1], metric="gram")
