"""Values by hand, corner cases, and sizes that take the other path through the code."""

import math

import numpy as np
import pytest
from sklearn import metrics as reference

from kgroups import metrics
from kgroups.errors import InputError
from kgroups.metrics import contingency, expected_mutual_information, matched_nodes


@pytest.mark.parametrize("name", metrics.METRIC_NAMES)
@pytest.mark.parametrize(
    ("truth", "labels"),
    [([], []), ([0], [5]), ([0, 0, 0], [1, 1, 1]), ([0, 1, 2], ["c", "a", "b"])],
)
def test_trivial_labelings_that_match(name, truth, labels):
    perfect = 0.0 if name == "variation_of_information" else 1.0
    assert getattr(metrics, name)(truth, labels) == perfect


@pytest.mark.parametrize("metric", [metrics.nmi, metrics.ami, metrics.ari])
@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [0, 1, 2, 3]])
def test_one_group_tells_nothing(metric, labels):
    assert metric([0, 0, 0, 0], labels) == 0.0
    assert metric(labels, [0, 0, 0, 0]) == 0.0


def test_unmatched_groups_count_as_wrong():
    assert metrics.accuracy([0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2]) == 4 / 6
    assert metrics.accuracy([0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1]) == 4 / 6


def test_matching_is_best_over_all_and_not_greedy():
    truth = [0] * 5 + [1] * 4
    labels = ["x"] * 3 + ["y"] * 2 + ["x"] * 4
    assert metrics.accuracy(truth, labels) == 6 / 9


def test_overlap_uses_the_classes_of_the_truth():
    assert metrics.overlap([0, 0, 1, 1], [0, 1, 2, 3]) == 0.0
    assert metrics.overlap([0, 1, 2, 3], [0, 0, 1, 1]) == pytest.approx(1 / 3, abs=1e-15)
    assert metrics.overlap([0] * 4 + [1] * 4, range(8)) == -0.5


def test_overlap_of_one_class():
    assert metrics.overlap([0, 0, 0], [1, 1, 1]) == 1.0
    assert metrics.overlap([0, 0, 0], [1, 1, 2]) == 0.0


def test_nmi_by_hand():
    truth, labels = [0, 0, 1, 1], [0, 1, 2, 3]
    assert metrics.nmi(truth, labels) == pytest.approx(2 / 3, abs=1e-15)
    geometric = metrics.nmi(truth, labels, average="geometric")
    assert geometric == pytest.approx(1 / math.sqrt(2), abs=1e-15)


def test_variation_of_information_by_hand():
    assert metrics.variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(
        2 * math.log(2), abs=1e-15
    )
    assert metrics.variation_of_information([0, 0, 0, 0], [0, 1, 2, 3]) == pytest.approx(
        math.log(4), abs=1e-15
    )


def test_ari_below_zero():
    assert metrics.ari([0, 0, 1, 1], [0, 1, 0, 1]) == -0.5


def test_ari_of_many_nodes_does_not_overflow():
    n = 200_000
    truth, labels = np.arange(n) % 2, np.arange(n) % 4 // 2
    assert metrics.ari(truth, labels) == pytest.approx(
        reference.adjusted_rand_score(truth, labels), abs=1e-12
    )


@pytest.mark.parametrize("metric", [metrics.nmi, metrics.ami])
def test_unknown_average_is_named(metric):
    with pytest.raises(InputError, match="average must be one of 'arithmetic', 'geometric', got"):
        metric([0, 1], [0, 1], average="max")


def test_expectation_is_the_same_in_chunks():
    rng = np.random.default_rng(1)
    sizes = contingency(rng.integers(0, 30, 2_000), rng.geometric(0.1, 2_000))
    whole = expected_mutual_information(sizes.row_sums, sizes.column_sums)
    chunks = expected_mutual_information(sizes.row_sums, sizes.column_sums, chunk_terms=100)
    assert chunks == pytest.approx(whole, rel=1e-13)


@pytest.mark.parametrize(("n", "k"), [(20_000, 3), (5_000, 300)])
def test_scores_of_many_nodes_equal_scikit_learn(n, k):
    rng = np.random.default_rng(2)
    truth = rng.integers(0, k, n)
    labels = np.where(rng.random(n) < 0.4, truth, rng.integers(0, 2 * k, n))
    assert metrics.ami(truth, labels) == pytest.approx(
        reference.adjusted_mutual_info_score(truth, labels), abs=1e-10
    )
    assert metrics.nmi(truth, labels) == pytest.approx(
        reference.normalized_mutual_info_score(truth, labels), abs=1e-12
    )


def test_large_tables_are_matched_sparsely():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 60, 3_000)
    labels = np.where(rng.random(3_000) < 0.5, truth, rng.integers(0, 90, 3_000))
    table = contingency(truth, labels)
    assert matched_nodes(table, max_dense_cells=0) == matched_nodes(table)


def test_many_groups_need_no_dense_table():
    """A dense table of these labelings would have 9e10 cells."""
    n = 300_000
    truth = np.arange(n)
    labels = np.arange(n) // 2
    assert metrics.nmi(truth, labels) == pytest.approx(
        2 * math.log(n / 2) / (math.log(n) + math.log(n / 2)), abs=1e-12
    )
    assert metrics.ari(truth, labels) == 0.0
    assert metrics.ami(truth, labels) == 0.0
    assert metrics.accuracy(truth, labels) == 0.5


def test_groups_within_one_class_leave_a_small_table_to_search():
    """All but the last six nodes are settled without a search."""
    n = 3_000
    truth = [*range(n), *[n] * 3, *[n + 1] * 3]
    labels = [*(i // 3 for i in range(n)), n, n, n + 1, n, n + 1, n + 1]
    assert metrics.accuracy(truth, labels) == (n / 3 + 4) / (n + 6)


@pytest.mark.parametrize("name", metrics.METRIC_NAMES)
def test_every_metric_name_is_a_function_of_two_labelings(name):
    assert isinstance(getattr(metrics, name)([0, 0, 1, 1], [0, 1, 1, 1]), float)
