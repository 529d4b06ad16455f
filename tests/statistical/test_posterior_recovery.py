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
from kgroups.metrics import overlap
from kgroups.studies import TrialContext, oracle_inference
from reproduce.inference_trials import calibration_bins, calibration_error, right_labels

pytestmark = [pytest.mark.statistical, pytest.mark.compiled]


def oracle(planted, k):
    """Return the labels at the true rates, from the planted ones."""
    context = TrialContext(planted.graph, planted.graph, k, 0, planted)
    return np.argmax(oracle_inference(context, from_truth=True).marginals, axis=1)


def bins(posterior, truth):
    return calibration_bins(posterior.confidence, right_labels(truth, posterior.labels))


@pytest.mark.parametrize(
    ("k", "snr", "below"), [(2, 1.2, 0.03), (2, 1.4, 0.005), (5, 1.2, 0.02), (5, 1.4, 0.005)]
)
def test_block_models_are_recovered_as_by_the_oracle(k, snr, below):
    """Six graphs of 1000 nodes, degree 3."""
    found, best, seeds, sure = [], [], [], []
    for seed in range(6):
        planted = planted_partition(1_000, k, 3.0, snr, rng=seed)
        graph, truth = planted
        posterior = kg.posterior(graph, k)
        assert not posterior.degree_corrected
        found.append(overlap(truth, posterior.labels))
        best.append(overlap(truth, oracle(planted, k)))
        seeds.append(overlap(truth, kg.detect_communities(graph, k, refine=None).labels))
        sure.append(bins(posterior, truth))
    assert np.mean(found) >= np.mean(best) - below
    assert np.mean(found) >= np.mean(seeds) - 0.005
    assert calibration_error(sure) <= 0.05


@pytest.mark.parametrize("k", [3, 10])
def test_degree_corrected_models_are_recovered_as_by_the_oracle(k):
    found, best, sure = [], [], []
    for seed in range(4):
        planted = degree_corrected_sbm([1_000 // k] * k, PlantedAffinity(5.0, 1.4), rng=seed)
        graph, truth = planted
        posterior = kg.posterior(graph, k)
        assert posterior.degree_corrected
        found.append(overlap(truth, posterior.labels))
        best.append(overlap(truth, oracle(planted, k)))
        sure.append(bins(posterior, truth))
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
        right = right_labels(truth, partition.labels)
        sure.append(calibration_bins(partition.confidence(), right))
    assert calibration_error(sure) <= 0.03
