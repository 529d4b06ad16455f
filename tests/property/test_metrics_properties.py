"""Metrics against scikit-learn and slow twins, and what renaming and swapping must not change."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics as reference

from helpers import oracles_metrics as oracles
from helpers.strategies_metrics import labelings
from kgroups import metrics
from kgroups.metrics import (
    _match_dense,
    _match_sparse,
    _settle,
    contingency,
    expected_mutual_information,
    matched_nodes,
)

ALL = [getattr(metrics, name) for name in metrics.METRIC_NAMES]
SYMMETRIC = [metric for metric in ALL if metric is not metrics.overlap]


def close(value):
    return pytest.approx(value, rel=1e-10, abs=1e-10)


@given(labelings())
def test_information_scores_equal_scikit_learn(case):
    truth, labels = case
    for average in ("arithmetic", "geometric"):
        nmi = reference.normalized_mutual_info_score(truth, labels, average_method=average)
        ami = reference.adjusted_mutual_info_score(truth, labels, average_method=average)
        assert metrics.nmi(truth, labels, average=average) == close(nmi)
        assert metrics.ami(truth, labels, average=average) == close(ami)


@given(labelings())
def test_ari_equals_scikit_learn(case):
    assert metrics.ari(*case) == close(reference.adjusted_rand_score(*case))


@given(labelings(min_nodes=1))
def test_confusion_equals_scikit_learn(case):
    expected = reference.cluster.contingency_matrix(*case)
    assert np.array_equal(metrics.confusion(*case).counts, expected)


@given(labelings(min_nodes=2, max_nodes=12))
def test_ari_equals_the_count_of_pairs(case):
    assume(not contingency(*case).is_match)
    assert metrics.ari(*case) == close(oracles.adjusted_rand(*case))


@given(labelings(min_nodes=1, max_nodes=30, max_groups=6))
def test_matching_equals_every_matching_tried(case):
    expected = oracles.matched_nodes(*case)
    assert matched_nodes(contingency(*case)) == expected
    assert metrics.accuracy(*case) == expected / len(case[0])


@given(labelings(min_nodes=1, max_nodes=60))
def test_all_ways_of_matching_agree(case):
    table = contingency(*case)
    settled, places, rest = _settle(table)
    assert np.array_equal(table.counts[places], rest.counts)
    assert not settled[places].any()
    chosen = [match(table) for match in (_match_dense, _match_sparse)]
    for match in (_match_dense, _match_sparse):
        cells = settled.copy()
        cells[places[match(rest)]] = True
        chosen.append(cells)
    for cells in chosen:
        assert np.bincount(table.rows[cells]).max(initial=0) <= 1
        assert np.bincount(table.columns[cells]).max(initial=0) <= 1
    assert len({table.counts[cells].sum() for cells in chosen}) == 1


@given(labelings(min_nodes=1, max_nodes=6))
def test_expected_information_equals_the_mean_over_all_orders(case):
    table = contingency(*case)
    expected = oracles.expected_mutual_information(*case)
    assert expected_mutual_information(table.row_sums, table.column_sums) == close(expected)


@given(labelings(min_nodes=1))
def test_variation_of_information_is_entropy_not_shared(case):
    truth, labels = case
    expected = (
        oracles.entropy(truth)
        + oracles.entropy(labels)
        - 2 * oracles.mutual_information(truth, labels)
    )
    assert metrics.variation_of_information(truth, labels) == close(expected)


@given(labelings(3, min_nodes=1))
def test_variation_of_information_obeys_the_triangle_inequality(case):
    a, b, c = case
    vi = metrics.variation_of_information
    assert vi(a, c) <= vi(a, b) + vi(b, c) + 1e-12
    assert 0 <= vi(a, b) <= math.log(len(a)) + 1e-12


@given(labelings())
def test_symmetric_metrics_do_not_care_which_is_the_truth(case):
    truth, labels = case
    for metric in SYMMETRIC:
        assert metric(truth, labels) == close(metric(labels, truth))


@given(labelings(), st.randoms(use_true_random=False))
def test_names_of_groups_and_order_of_nodes_do_not_matter(case, random):
    truth, labels = case
    names = random.sample([f"group {a}" for a in range(40)], 40)
    order = random.sample(range(len(truth)), len(truth))
    moved_truth = [truth[i] for i in order]
    moved_labels = [names[labels[i]] for i in order]
    for metric in ALL:
        assert metric(moved_truth, moved_labels) == close(metric(truth, labels))


@given(labelings(), st.randoms(use_true_random=False))
def test_dicts_and_sets_give_what_arrays_give(case, random):
    truth, labels = case
    n = len(truth)
    nodes = random.sample([f"node {i}" for i in range(n)], n)
    as_dict = dict(zip(nodes, truth, strict=True))
    as_sets = [{nodes[i] for i in range(n) if labels[i] == a} for a in range(n)]
    for metric in ALL:
        assert metric(as_dict, as_sets) == close(metric(truth, labels))
        assert metric(as_sets, as_dict) == close(metric(labels, truth))


@given(labelings(1))
def test_a_labeling_matches_itself(case):
    (labels,) = case
    renamed = [f"{a}!" for a in labels]
    for metric in ALL:
        perfect = 0.0 if metric is metrics.variation_of_information else 1.0
        assert metric(labels, renamed) == perfect


@given(labelings())
def test_bounds(case):
    for average in ("arithmetic", "geometric"):
        assert 0 <= metrics.nmi(*case, average=average) <= 1
        assert metrics.ami(*case, average=average) <= 1 + 1e-12
    assert metrics.ari(*case) <= 1
    assert 0 <= metrics.accuracy(*case) <= 1
    assert metrics.overlap(*case) <= metrics.accuracy(*case)


@given(labelings(min_nodes=1))
def test_overlap_is_the_rescaled_accuracy(case):
    truth, _ = case
    k = len(set(truth))
    assume(k > 1)
    expected = (metrics.accuracy(*case) - 1 / k) / (1 - 1 / k)
    assert metrics.overlap(*case) == close(expected)
