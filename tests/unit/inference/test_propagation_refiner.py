"""Belief propagation as a refinement of labels."""

from functools import partial

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups.generators import degree_corrected_sbm, girvan_newman_benchmark, planted_partition
from kgroups.hartigan import Refiner
from kgroups.inference import better_fit
from kgroups.metrics import overlap
from kgroups.search import finest_level, prepare


def test_it_is_a_refiner():
    assert isinstance(kg.BeliefPropagation(), Refiner)
    assert kg.BeliefPropagation() == kg.BeliefPropagation(rates="planted")


def test_spoiled_labels_are_put_right():
    graph, truth = planted_partition(400, 3, 10.0, 2.0, rng=0)
    rng = np.random.default_rng(0)
    start = np.where(rng.random(400) < 0.2, rng.integers(3, size=400), truth)
    ready = prepare(graph)
    start, truth = ready.sorted(start), ready.sorted(truth)
    before = start.copy()
    found = kg.BeliefPropagation().refine(ready.problem, start)
    assert start.tolist() == before.tolist()
    assert found.kept == "refined labels"
    assert found.converged
    assert found.moves == np.count_nonzero(found.z != start)
    assert overlap(truth, found.z) > overlap(truth, start) + 0.1


def test_labels_that_fit_worse_are_refused():
    graph, truth = girvan_newman_benchmark(3.0, rng=0)
    level = finest_level(graph.simple_adjacency(), weighted=False)
    spoiled = truth.copy()
    spoiled[:10] = (spoiled[:10] + 1) % 4
    better = partial(
        better_fit, level, k=4, degree_corrected=kg.BeliefPropagation().corrects(level)
    )
    assert better(truth, spoiled)
    assert not better(spoiled, truth)
    assert not better(truth, truth)
    assert not better(np.minimum(truth, 2), spoiled)


def test_no_group_is_lost():
    """One group of a random graph has nothing to hold it together."""
    for seed in range(5):
        graph = kg.as_graph(nx.gnm_random_graph(60, 150, seed=seed))
        start = np.arange(60) % 6
        found = kg.BeliefPropagation().refine(prepare(graph).problem, start)
        assert np.unique(found.z).tolist() == list(range(6))


@pytest.mark.parametrize("k", [None, 3])
def test_detection_takes_it(k):
    graph, truth = planted_partition(600, 3, 8.0, 2.0, rng=1)
    partition = kg.detect_communities(
        graph, k, refine=kg.BeliefPropagation(), method=kg.Spectral("exact")
    )
    plain = kg.detect_communities(graph, k, refine=None, method=kg.Spectral("exact"))
    assert partition.k == 3
    assert overlap(truth, partition.labels) > overlap(truth, plain.labels)
    assert "BeliefPropagation(" in partition.report.refinement.method
    assert partition.report.refinement.kept == {
        "refined labels": partition.report.refinement.components
    }


def test_uneven_degrees_start_at_the_nonbacktracking_radius():
    """At the root of the mean degree, hubs hide the communities."""
    P = [[0.012, 0.0035, 0.0035], [0.0035, 0.012, 0.0035], [0.0035, 0.0035, 0.012]]
    graph, truth = degree_corrected_sbm([300] * 3, P, rng=0)
    found = kg.detect_communities(graph, 3, refine=kg.BeliefPropagation())
    seeds = kg.detect_communities(
        graph, 3, refine=kg.BeliefPropagation(), operator=kg.BetheHessian("nonbacktracking")
    )
    assert found == seeds
    assert overlap(truth, found.labels) > 0.3


def test_refine_partition_takes_it():
    G = nx.barbell_graph(6, 0)
    start = [set(range(4)), set(range(4, 12))]
    refined = kg.refine_partition(G, start, refine=kg.BeliefPropagation())
    assert {frozenset(range(6)), frozenset(range(6, 12))} == set(refined)


def test_weights_and_isolated_nodes():
    G = nx.les_miserables_graph()
    G.add_nodes_from(["nobody", "no one"])
    partition = kg.detect_communities(G, 5, refine=kg.BeliefPropagation(rates="own"))
    assert partition.k == 5
    assert sum(partition.sizes) == 79


def test_the_report_names_the_model():
    graph, _ = planted_partition(300, 2, 8.0, 2.2, rng=0)
    even = kg.detect_communities(graph, 2, refine=kg.BeliefPropagation()).report
    assert even.refinement.models == {"uniform, one density": even.refinement.components}
    assert "Refinement by belief propagation (uniform, one density): " in str(even)
    uneven, _ = degree_corrected_sbm([150, 150], [[0.06, 0.01], [0.01, 0.06]], rng=0)
    refine = kg.BeliefPropagation(rates="own")
    report = kg.detect_communities(uneven, 2, refine=refine).report
    assert "(degree-corrected, a density for each community)" in str(report)
    assert not kg.detect_communities(graph, 2, refine=kg.Hartigan()).report.refinement.models
