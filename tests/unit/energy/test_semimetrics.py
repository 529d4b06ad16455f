"""Semimetrics: values against scipy and scikit-learn, precision, and validation."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import canberra, cdist
from sklearn.metrics.pairwise import rbf_kernel

from helpers.ids import stable_id
from kgroups.energy import (
    Exponential,
    Gaussian,
    PairFunction,
    Power,
    as_points,
    as_semimetric,
)
from kgroups.energy.points import squared_distances
from kgroups.errors import InputError

METRICS = [Power(), Power(0.5), Power(2), Power(1.3), Exponential(2.0), Gaussian(3.0)]
# Columns and rows on both sides of where differences give way to a matrix product.
SHAPES = [(1, 1, 1), (7, 5, 2), (40, 1, 90), (1, 40, 90), (40, 30, 31), (40, 30, 32), (17, 16, 90)]


def exact_squares(X, Y):
    """Return squared distances summed with three or more digits to spare."""
    X, Y = X.astype(np.longdouble), Y.astype(np.longdouble)
    return np.array([((x - Y) ** 2).sum(axis=1) for x in X])


def taxi(x, y):
    return np.abs(x - y).sum()


@pytest.mark.parametrize(("n", "m", "d"), SHAPES)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.3, 2.0])
def test_power_is_a_power_of_the_distance(n, m, d, alpha):
    rng = np.random.default_rng(n + d)
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    np.testing.assert_allclose(Power(alpha)(X, Y), cdist(X, Y) ** alpha, rtol=1e-12)


@pytest.mark.parametrize("sigma", [0.1, 2.0, 50.0])
def test_exponential_and_gaussian_are_their_formulas(sigma):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(30, 40)), rng.normal(size=(20, 40))
    expected = 2 - 2 * np.exp(-cdist(X, Y) / (2 * sigma))
    np.testing.assert_allclose(Exponential(sigma)(X, Y), expected, rtol=1e-10)
    expected = 2 - 2 * rbf_kernel(X, Y, gamma=1 / (2 * sigma**2))
    np.testing.assert_allclose(Gaussian(sigma)(X, Y), expected, rtol=1e-10)


@pytest.mark.parametrize("metric", [*METRICS, PairFunction(taxi)], ids=stable_id)
@pytest.mark.parametrize("d", [1, 2, 31, 40])
def test_rho_of_a_set_is_symmetric_and_zero_on_the_diagonal_to_the_last_digit(metric, d):
    X = np.random.default_rng(d).normal(size=(23, d)) + 100.0
    rho = metric(X)
    assert np.array_equal(rho, rho.T)
    assert not rho.diagonal().any()
    np.testing.assert_allclose(rho, metric(X, X), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("metric", [*METRICS, PairFunction(taxi)], ids=stable_id)
@pytest.mark.parametrize("d", [2, 40])
def test_equal_rows_and_only_they_are_zero_apart(metric, d):
    rng = np.random.default_rng(5)
    X = 1e3 + rng.normal(size=(20, d))[rng.integers(20, size=40)]
    equal = (X[:, None] == X[None]).all(axis=2)
    assert np.array_equal(metric(X) == 0, equal)
    assert np.array_equal(metric(X[:25], X) == 0, equal[:25])


@pytest.mark.parametrize("d", [3, 33, 200])
@pytest.mark.parametrize(
    "kind", ["offset", "tight clusters", "close pairs", "many sizes", "one far"]
)
def test_squared_distances_keep_their_digits(kind, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(60, d))
    if kind == "offset":
        X += 1e7
    elif kind == "tight clusters":
        X = 100 * rng.normal(size=(3, d))[rng.integers(3, size=60)] + 1e-6 * X
    elif kind == "close pairs":
        X[:4] *= 1e-9
        X[10:13] = X[20:23] + 1e-5 * X[30:33]
    elif kind == "many sizes":
        X *= 10.0 ** rng.uniform(-8, 8, size=(60, 1))
    else:
        X[7] += 1e9
    exact = exact_squares(X, X)
    squares = squared_distances(X)
    np.testing.assert_allclose(squares, exact.astype(float), rtol=1e-10)
    squares = squared_distances(X[:20], X)
    np.testing.assert_allclose(squares, exact[:20].astype(float), rtol=1e-10)


def test_blocks_make_no_difference():
    rng = np.random.default_rng(8)
    X, Y = rng.normal(size=(50, 40)), rng.normal(size=(30, 40))
    X[3:9] = X[20:26] + 1e-9
    whole, across = squared_distances(X), squared_distances(X, Y)
    in_blocks = squared_distances(X, block_entries=170)
    assert np.array_equal(in_blocks, in_blocks.T)
    np.testing.assert_allclose(in_blocks, whole, rtol=1e-12)
    np.testing.assert_allclose(squared_distances(X, Y, block_entries=170), across, rtol=1e-12)


def test_small_distances_do_not_round_off_at_the_size_of_two():
    tiny = 1e-12
    assert Exponential(1.0)([0.0, tiny])[0, 1] == pytest.approx(tiny, rel=1e-9, abs=0)
    assert Gaussian(1.0)([0.0, 1e-10])[0, 1] == pytest.approx(1e-20, rel=1e-9, abs=0)


@pytest.mark.parametrize("unit", [1e-140, 1e140])
@pytest.mark.parametrize("d", [2, 40])
def test_the_unit_of_coordinates_does_not_matter(unit, d):
    X = np.arange(20.0)[:, None] * np.ones(d)
    expected = Power()(X)
    np.testing.assert_allclose(Power()(X * unit) / unit, expected, rtol=1e-12)
    np.testing.assert_allclose(Power()(X[:3] * unit, X * unit) / unit, expected[:3], rtol=1e-12)
    np.testing.assert_allclose(Power()(X[:1] * unit, X * unit) / unit, expected[:1], rtol=1e-12)
    np.testing.assert_allclose(Power()(X * unit, X[:1] * unit) / unit, expected[:, :1], rtol=1e-12)
    expected = Exponential(1.0)(X)
    np.testing.assert_allclose(Exponential(unit)(X * unit), expected, rtol=1e-12)
    expected = Gaussian(4.0)(X)
    np.testing.assert_allclose(Gaussian(4.0 * unit)(X * unit), expected, rtol=1e-12)


@pytest.mark.parametrize("metric", [Power(2), Power(0.5), Exponential(1e200), Gaussian(1.0)])
def test_squares_beyond_the_range_of_floats_are_refused(metric):
    with pytest.raises(InputError, match=r"squared distances must stay below .*up to 1e\+200"):
        metric([[0.0, 1e200], [0.0, -1e200]])


def test_rho_that_has_reached_its_end_is_two():
    assert Exponential(1e-300)([0.0, 1e100])[0, 1] == 2.0
    assert Gaussian(1e-300)([0.0, 1e100])[0, 1] == 2.0
    assert Gaussian(1e-300)([0.0, 1.0])[0, 1] == 2.0


@pytest.mark.parametrize(
    "given",
    [
        [[0, 1], [2, 0], [1, 1]],
        ((0, 1), (2, 0), (1, 1)),
        np.array([[0, 1], [2, 0], [1, 1]], dtype=np.uint8),
        np.array([[0, 1], [2, 0], [1, 1]], dtype=np.float32),
        np.array([[0, 1], [2, 0], [1, 1]], dtype=np.longdouble),
        np.array([[0, 1], [2, 0], [1, 1]], dtype=object),
        np.array([[0, Fraction(1)], [2, 0], [True, 1]], dtype=object),
        np.array([[0, 1], [2, 0], [1, 1]], order="F"),
    ],
    ids=["lists", "tuples", "uint8", "float32", "longdouble", "objects", "fractions", "by columns"],
)
def test_numbers_of_any_kind_become_floats(given):
    points = as_points(given)
    assert points.dtype == np.float64
    assert points.tolist() == [[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]]
    assert Power(2)(given)[0].tolist() == [0.0, 5.0, 1.0]


def test_truth_values_and_plain_numbers_are_points():
    assert as_points([True, False]).tolist() == [[1.0], [0.0]]
    assert Power()(np.array([True, False])).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert Power()([1.0, 4.0], [0.0]).tolist() == [[1.0], [4.0]]


def test_floats_are_not_copied_and_not_changed():
    X = np.random.default_rng(0).normal(size=(20, 40))
    before = X.copy()
    assert as_points(X) is X
    for metric in [*METRICS, PairFunction(taxi)]:
        metric(X)
        metric(X, X[:3])
    assert np.array_equal(X, before)


BAD_POINTS = [
    ([[0.0, 1.0], [math.nan, 2.0]], "must be finite, got nan in row 1, column 0"),
    ([[0.0, math.inf], [-math.inf, 2]], "got inf in row 0, column 1 \\(and 1 more\\)"),
    ([1.0, 2.0, math.nan], "got nan in row 2, column 0"),
    ([[1 + 2j, 3]], "must hold real numbers, got dtype complex128"),
    ([["1", "2"]], "must hold real numbers, got dtype <U1"),
    (np.array([[1, "a"]], dtype=object), "got 'a' at row 0, column 1"),
    (np.array([[1, None]], dtype=object), "got None at row 0, column 1"),
    (np.array([[10**400]], dtype=object), "must hold real numbers, got 1000"),
    (np.array([np.ones(1), None], dtype=object)[:1], "got array.* at row 0"),
    ([[1, 2], [3]], "must have rows of one length"),
    (None, r"must hold real numbers, got None\."),
    (3.0, "one row per point, got an array of shape \\(\\)"),
    (np.zeros((2, 2, 2)), "one row per point, got an array of shape \\(2, 2, 2\\)"),
    ([], "at least one row and one column, got an array of shape \\(0,\\)"),
    (np.zeros((0, 3)), "at least one row and one column"),
    (np.zeros((3, 0)), "at least one row and one column"),
    (sparse.csr_array(np.eye(2)), "must be dense, got csr_array"),
    (np.ma.array([1.0, 2.0], mask=[0, 1]), "must not be a masked array"),
    (np.array(["2020-01-01"], dtype="datetime64[D]"), "must hold real numbers, got dtype datetime"),
]


@pytest.mark.parametrize(("points", "message"), BAD_POINTS)
def test_bad_points_are_refused_with_the_place(points, message):
    with pytest.raises(InputError, match=f"^X .*{message}"):
        as_points(points)
    for metric in (Power(), Exponential(), Gaussian(), PairFunction(taxi)):
        with pytest.raises(InputError, match=f"^X .*{message}"):
            metric(points)


@pytest.mark.parametrize("metric", [Power(2), Gaussian(), PairFunction(taxi)], ids=stable_id)
@pytest.mark.parametrize("d", [2, 40])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_bad_values_are_found_in_either_argument_and_many_rows(metric, d, bad):
    X = np.random.default_rng(1).normal(size=(30, d))
    broken = X.copy()
    broken[17, 1] = bad
    with pytest.raises(InputError, match=f"X must be finite, got {bad} in row 17, column 1"):
        metric(broken)
    with pytest.raises(InputError, match=f"X must be finite, got {bad} in row 17, column 1"):
        metric(broken, X)
    with pytest.raises(InputError, match=f"Y must be finite, got {bad} in row 17, column 1"):
        metric(X[:1], broken)


@pytest.mark.parametrize("metric", [Power(), PairFunction(taxi)], ids=stable_id)
def test_points_of_different_length_are_refused(metric):
    with pytest.raises(InputError, match="same number of columns, got 2 in X and 1 in Y"):
        metric([[1.0, 2.0]], [1.0, 2.0])


@pytest.mark.parametrize(
    "alpha", [0, -1, 2.0001, math.nan, math.inf, True, "1", None, 1j, 10**400, np.array(1.0)]
)
def test_alpha_outside_its_range_is_refused(alpha):
    with pytest.raises(InputError, match="alpha must be a number above 0 and at most 2, got"):
        Power(alpha)


@pytest.mark.parametrize("alpha", [1, np.float32(0.5), np.int64(2), 1e-300])
def test_alpha_of_any_real_type_is_taken(alpha):
    expected = 3.0 ** float(alpha)
    assert Power(alpha)([0.0, 3.0])[0, 1] == pytest.approx(expected, rel=1e-12)
    assert Power(alpha)([0.0, 3.0]).dtype == np.float64


@pytest.mark.parametrize("family", [Exponential, Gaussian])
@pytest.mark.parametrize("sigma", [0, -1.0, math.nan, math.inf, False, "2", None, 10**400])
def test_sigma_outside_its_range_is_refused(family, sigma):
    with pytest.raises(InputError, match='sigma must be a finite number above 0 or "median", got'):
        family(sigma)


@pytest.mark.parametrize("metric", [*METRICS, PairFunction(taxi)], ids=stable_id)
def test_semimetrics_are_values(metric):
    for twin in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert twin == metric
        assert hash(twin) == hash(metric)
    assert len({metric, Power(0.123)}) == 2
    with pytest.raises(AttributeError):
        metric.alpha = 2.0


def test_families_with_one_sigma_differ():
    assert Exponential(1.0) != Gaussian(1.0)


def test_a_function_is_called_once_for_each_pair():
    calls = []

    def counted(x, y):
        assert x.shape == y.shape == (3,)
        calls.append((x[0], y[0]))
        return taxi(x, y)

    X = np.arange(36.0).reshape(12, 3)
    rho = PairFunction(counted)(X)
    np.testing.assert_array_equal(rho, cdist(X, X, "cityblock"))
    pairs = [(X[i, 0], X[j, 0]) for i in range(12) for j in range(i + 1, 12)]
    assert calls[: len(pairs)] == pairs
    assert len(calls) < len(pairs) + 40


@pytest.mark.parametrize(
    "function",
    [
        canberra,
        lambda x, y: float(taxi(x, y)),
        lambda x, y: np.array([[taxi(x, y)]]),
        lambda x, y: bool((x != y).any()),
        lambda x, y: x @ x + y @ y - 2 * (x @ y),
        lambda x, y: math.acos(min(1.0, x @ y / math.sqrt((x @ x) * (y @ y)))),
    ],
    ids=["scipy", "float", "one by one array", "bool", "rounded square", "rounded angle"],
)
def test_functions_of_two_rows_are_taken(function):
    X = np.random.default_rng(2).normal(size=(9, 4))
    X[5] = X[2]
    rho = as_semimetric(function)(X)
    expected = cdist(X, X, lambda x, y: np.asarray(function(x, y), dtype=float).item())
    np.testing.assert_allclose(rho, expected, atol=1e-7)
    np.testing.assert_allclose(as_semimetric(function)(X[:2], X), expected[:2], atol=1e-7)
    assert rho.min() >= 0


def test_values_below_zero_by_rounding_are_zero():
    X = [0.0, 0.0, 1.0]
    rounded = PairFunction(lambda x, y: taxi(x, y) - 1e-17)
    assert rounded(X).tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    assert rounded(X[:1], X).tolist() == [[0.0, 0.0, 1.0]]


def test_a_function_may_write_into_its_rows():
    def careless(x, y):
        x -= y
        x *= x
        return x.sum()

    X = np.array([[0.0, 1.0], [2.0, 3.0]])
    assert PairFunction(careless)(X).tolist() == [[0.0, 8.0], [8.0, 0.0]]
    assert PairFunction(careless)(X, X[:1]).tolist() == [[0.0], [8.0]]
    assert X.tolist() == [[0.0, 1.0], [2.0, 3.0]]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, y: -taxi(x, y), "finite number >= 0, got -1.0 for row 0 of X and row 1 of X"),
        (lambda x, y: math.nan if y[0] == 2 else 1.0, "got nan for row 0 of X and row 2 of X"),
        (lambda x, y: math.inf, "got inf for row 0 of X and row 1 of X"),
        (lambda x, y: None, "got None for row 0 of X and row 1 of X"),
        (lambda x, y: "1", "got '1' for row 0 of X and row 1 of X"),
        (lambda x, y: 1j, "got 1j for row 0 of X and row 1 of X"),
        (lambda x, y: x, "finite number >= 0, got array"),
        (lambda x, y: 1 + taxi(x, y), "0 between a point and itself, got 1.0 for row 0 of X"),
        (
            lambda x, y: max(y[0] - x[0], 0),
            "symmetric, got 2.0 and, in the other order, 0.0 for row 0 of X and row 2 of X",
        ),
    ],
)
def test_functions_that_are_no_semimetrics_are_refused(function, message):
    with pytest.raises(InputError, match=message):
        PairFunction(function)([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, y: -taxi(x, y), "got -3.0 for row 0 of X and row 0 of Y"),
        (lambda x, y: math.nan, "got nan for row 0 of X and row 0 of Y"),
        (lambda x, y: 1.0, "0 between a point and itself, got 1.0 for row 0 of X"),
        (lambda x, y: max(y[0] - x[0], 0), "symmetric, got 3.0 .* 0.0 for row 0 of X and row 0"),
    ],
)
def test_functions_are_checked_between_two_sets(function, message):
    with pytest.raises(InputError, match=message):
        PairFunction(function)([0.0, 1.0], [3.0])


def test_a_function_of_one_point_is_not_called_for_pairs():
    assert PairFunction(taxi)([[1.0, 2.0]]).tolist() == [[0.0]]
    assert PairFunction(lambda x, y: taxi(x, y) + 1e-9)([[1.0, 2.0]]).tolist() == [[0.0]]


def test_what_cannot_be_called_is_no_function():
    with pytest.raises(InputError, match="got 3, which cannot be called"):
        PairFunction(3)
