"""Cores are right where communities can be told apart, and noise is not found again.

Bounds: the figures of ``python -m benchmarks.stability --only cores --seed 1000`` with a margin of
several times the spread between its graphs. The seeds here are others.
"""

import warnings

import numpy as np
import pytest

import kgroups as kg
from kgroups.errors import InstabilityWarning
from kgroups.generators import lfr_benchmark, planted_partition
from kgroups.metrics import confusion

pytestmark = [pytest.mark.statistical, pytest.mark.compiled]


def are_right(truth, labels):
    """Return which nodes are in the class that holds most of their community."""
    return confusion(truth, labels).counts.argmax(axis=0)[labels] == truth


@pytest.mark.parametrize("seed", [3000, 3001])
def test_cores_of_an_lfr_graph_are_right(seed):
    graph, truth = lfr_benchmark(
        2000,
        degree=15,
        mixing=0.6,
        max_degree=50,
        max_community=100,
        internal="binomial",
        rng=seed,
    )
    partition = kg.detect_communities(graph)
    stability = partition.stability()
    right = are_right(truth, partition.labels)
    inside = stability.nodes >= 0.9
    assert inside.mean() > 0.8
    assert right[inside].mean() >= 0.97
    assert right[~inside].mean() < 0.75


def test_clear_communities_are_found_again_and_faint_ones_are_not():
    found = []
    for snr in (1.3, 3.0):
        graph, _ = planted_partition(2000, k=10, degree=15.0, snr=snr, rng=3000)
        stability = kg.detect_communities(graph).stability(6)
        source, target, share = stability.edges
        within = kg.Partition(stability.labels).labels
        within = within[source] == within[target]
        assert share[within].mean() > share[~within].mean()
        found.append((stability.agreement, np.nanmean(stability.nodes)))
    assert found[0][0] < 0.5
    assert min(found[1]) > 0.99


def test_patches_of_one_cloud_are_certain_by_the_model_and_less_stable():
    """On clouds 1000 to 1007 the means differ by .02 to .23, and on five of them is a warning."""
    neighbors = pytest.importorskip("sklearn.neighbors")
    apart, warned = [], 0
    for seed in range(3000, 3006):
        points = np.random.default_rng(seed).normal(size=(900, 2))
        linked = neighbors.kneighbors_graph(points, 15)
        partition = kg.detect_communities(linked, symmetrize="union")
        sure = partition.confidence().mean()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", InstabilityWarning)
            apart.append(sure - partition.stability().nodes.mean())
        warned += len(caught)
        assert sure > 0.95
    assert np.mean(apart) > 0.04
    assert min(apart) > 0.0
    assert warned >= 1
