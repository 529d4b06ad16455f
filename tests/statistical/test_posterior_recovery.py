"""The posterior beside an oracle that knows the true rates; bounds from measured spread."""

import numpy as np
import pytest

import kgroups as kg
from kgroups.generators import (
    PlantedAffinity,
    degree_corrected_sbm,
    girvan_newman_benchmark,
    planted_partition,
)
from kgroups.inference.propagation import (
    Beliefs,
    Learning,
    Rates,
    Schedule,
    block_model,
    propagate,
)
from kgroups.metrics import overlap
from kgroups.multilevel import finest_level

pytestmark = [pytest.mark.statistical, pytest.mark.compiled]


def oracle(graph, labels, k, degree, snr, *, corrected=False):
    """Return the marginals at the true rates, from the labels given."""
    a, b = degree + snr * (k - 1) * np.sqrt(degree), degree - snr * np.sqrt(degree)
    rates = Rates(np.full(k, a / degree), b / degree, np.full(k, 1.0 / k))
    level = finest_level(graph.simple_adjacency(), weighted=False)
    model = block_model(level, degree_corrected=corrected)
    schedule = Schedule(0, 1, 200, 1e-3, 0.0)
    return propagate(
        Beliefs(model, labels, k, 0.5), rates, Learning("unchanged"), schedule
    ).marginals


def calibration_error(pairs, bins=10):
    """Return the mean distance of confidence and share of right labels, pooled over graphs."""
    sure, right = np.concatenate(pairs, axis=1)
    which = np.minimum((sure * bins).astype(int), bins - 1)
    size = np.bincount(which, minlength=bins)
    difference = np.bincount(which, sure - right, bins)
    return np.abs(difference).sum() / size.sum()


def right(truth, labels):
    """Tell for each node if its label is the true one, communities matched best."""
    from scipy.optimize import linear_sum_assignment

    table = np.zeros((labels.max() + 1, truth.max() + 1))
    np.add.at(table, (labels, truth), 1)
    row, column = linear_sum_assignment(-table)
    match = np.full(labels.max() + 1, -1)
    match[row] = column
    return match[labels] == truth


@pytest.mark.parametrize(
    ("k", "snr", "below"), [(2, 1.2, 0.03), (2, 1.4, 0.005), (5, 1.2, 0.02), (5, 1.4, 0.005)]
)
def test_block_models_are_recovered_as_by_the_oracle(k, snr, below):
    """Six graphs of 1000 nodes, degree 3."""
    found, best, seeds, sure = [], [], [], []
    for seed in range(6):
        graph, truth = planted_partition(1_000, k, 3.0, snr, rng=seed)
        posterior = kg.posterior(graph, k)
        assert not posterior.degree_corrected
        found.append(overlap(truth, posterior.labels))
        best.append(overlap(truth, np.argmax(oracle(graph, truth, k, 3.0, snr), axis=1)))
        seeds.append(overlap(truth, kg.detect_communities(graph, k, refine=None).labels))
        sure.append([posterior.confidence, right(truth, posterior.labels)])
    assert np.mean(found) >= np.mean(best) - below
    assert np.mean(found) >= np.mean(seeds) - 0.005
    assert calibration_error(sure) <= 0.05


@pytest.mark.parametrize("k", [3, 10])
def test_degree_corrected_models_are_recovered_as_by_the_oracle(k):
    found, best, sure = [], [], []
    for seed in range(4):
        graph, truth = degree_corrected_sbm([1_000 // k] * k, PlantedAffinity(5.0, 1.4), rng=seed)
        posterior = kg.posterior(graph, k)
        assert posterior.degree_corrected
        found.append(overlap(truth, posterior.labels))
        known = oracle(graph, truth, k, 5.0, 1.4, corrected=True)
        best.append(overlap(truth, np.argmax(known, axis=1)))
        sure.append([posterior.confidence, right(truth, posterior.labels)])
    assert np.mean(found) >= np.mean(best) - 0.015
    assert calibration_error(sure) <= 0.04


@pytest.mark.parametrize(("snr", "least"), [(1.1, 0.45), (1.5, 0.86), (1.8, 0.95)])
def test_girvan_newman_is_not_worse_than_its_seed(snr, least):
    found = []
    for seed in range(12):
        graph, truth = girvan_newman_benchmark(snr, rng=seed)
        found.append(overlap(truth, kg.posterior(graph, 4).labels))
    assert np.mean(found) >= least


def test_confidence_of_detected_communities_is_calibrated():
    """Communities found without k, rates of their own."""
    sure = []
    for seed in range(4):
        graph, truth = planted_partition(1_000, 4, 12.0, 1.8, rng=seed)
        partition = kg.detect_communities(graph)
        assert partition.k == 4
        sure.append([partition.confidence(), right(truth, partition.labels)])
    assert calibration_error(sure) <= 0.03
