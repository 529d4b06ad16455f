"""P(k): what it is computed from, what it says, and what it refuses."""

import json
import math
from dataclasses import FrozenInstanceError

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from kgroups.errors import InputError, NumberOfCommunitiesError
from kgroups.generators import planted_partition
from kgroups.inference import BeliefPropagation
from kgroups.multilevel import prepare
from kgroups.uncertainty import number, spectral_start

KARATE = nx.karate_club_graph()


@pytest.mark.compiled
@pytest.mark.parametrize("rates", ["auto", "planted", "own"])
def test_probabilities_follow_from_evidence_and_penalty(rates):
    graph, _ = planted_partition(300, 3, 8.0, 2.0, rng=0)
    found = kg.k_distribution(graph, [1, 2, 3, 4], rates=rates)
    ready = prepare(graph)
    ordered = graph if ready.order is None else graph.permuted(ready.order)
    assert found.models == (("planted", "own") if rates == "auto" else (rates,))
    assert found.k_values.tolist() == [1, 2, 3, 4]
    assert not found.evidence[:, 0].any()
    assert not found.penalty[:, 0].any()
    stream = np.random.default_rng(0).integers(2**63)
    for row, model in enumerate(found.models):
        for k in (2, 3, 4):
            z = spectral_start(ordered, k, np.random.default_rng(stream))
            inferred = BeliefPropagation(rates=model).infer(ready.problem.level, z, k, alike=True)
            assert found.evidence[row, k - 1] == pytest.approx(inferred.evidence, rel=1e-9)
            rows = k if model == "own" else 1
            assert found.penalty[row, k - 1] == pytest.approx(0.5 * rows * math.log(graph.m))
    weights = np.exp(found.evidence - found.penalty).sum(axis=0)
    assert found.reliable.all()
    assert found.probabilities == pytest.approx(weights / weights.sum())
    assert found.k == 3
    assert found.probability(3) == found.probabilities[2]
    assert found.probability(9) == 0.0


@pytest.mark.compiled
@pytest.mark.parametrize(("k", "degree", "snr"), [(1, 6.0, 0.0), (2, 8.0, 2.2), (6, 12.0, 2.5)])
def test_clear_numbers_are_found(k, degree, snr):
    graph, _ = planted_partition(600, max(k, 2), degree, snr, rng=3)
    found = kg.k_distribution(graph)
    assert found.k == k
    assert found.probability(k) > 0.99
    assert {1, k} <= set(found.k_values.tolist())


@pytest.mark.compiled
def test_trying_ends_where_the_rest_is_negligible():
    graph, _ = planted_partition(600, 8, 12.0, 2.5, rng=3)
    found = kg.k_distribution(graph)
    scores = found.scores.max(axis=0)
    assert found.k_values[0] == 1
    assert np.diff(found.k_values)[1:].max() == 1
    # At both ends at least three values far below the best; between 1 and them nothing is tried.
    assert (scores[-3:] < scores.max() - 10.0).all()
    assert (scores[1:4] < scores.max() - 10.0).all()
    assert found.k_values[1] > 2


def test_the_order_of_nodes_does_not_matter():
    G = nx.relabel_nodes(KARATE, {i: f"node {i:02}" for i in KARATE})
    names = list(G)
    np.random.default_rng(1).shuffle(names)
    H = nx.Graph()
    H.add_nodes_from(names)
    H.add_edges_from(G.edges(data=True))
    one, other = kg.k_distribution(G), kg.k_distribution(H)
    assert one.probabilities == pytest.approx(other.probabilities, abs=1e-12)
    assert [step.k for step in one.staircase] == [step.k for step in other.staircase]


def test_counts_and_staircase_stand_beside_it():
    found = kg.k_distribution(KARATE, weight=None)
    assert found.spectrum.k_at == kg.estimate_k(KARATE, weight=None).k_at
    assert found.staircase[0].r == pytest.approx(min(found.spectrum.r_at.values()))
    assert found.staircase[0].k == 2
    assert found.staircase[-1].k == 1


def test_the_summary_can_be_read():
    found = kg.k_distribution(KARATE, weight=None)
    text = str(found)
    for part in (
        "Number of communities of 34 nodes and 78 edges",
        "most probable: 2 communities",
        "P(k): 1: ",
        "eigenvalues above the threshold: 2 (mean degree), 2 (second moment), 2 (non-backtracking)",
        "k(r): 2 at r = 2.14 to 2.57, 1 at r = 3.08",
        "model: degree-corrected, one density;",
        "it is not a calibrated probability",
    ):
        assert part in text
    assert repr(found).startswith("KDistribution(k=2, P(k)={1: 0.")
    document = json.loads(json.dumps(found.to_dict()))
    assert document["k"] == 2
    assert document["k_values"] == found.k_values.tolist()
    assert document["staircase"][0]["k"] == 2


@pytest.mark.parametrize(
    ("values", "text"), [([1], "1"), ([1, 2], "1 to 2"), ([1, 5, 6, 7, 9], "1, 5 to 7, 9")]
)
def test_ranges_are_shown(values, text):
    assert number._shown_ranges(values) == text


def test_evidence_without_convergence_does_not_count():
    found = kg.k_distribution(KARATE, [1, 2, 4], weight=None)
    assert found.reliable.tolist() == [[True, True, False]] * 2
    assert found.probabilities[2] == 0.0
    assert "belief propagation did not converge: k = 4" in str(found)


@pytest.mark.parametrize(("graph", "k"), [(nx.Graph(), 0), (nx.empty_graph(3), 1)])
def test_graphs_without_edges(graph, k):
    found = kg.k_distribution(graph)
    assert found.k == k
    assert found.probabilities.tolist() == [1.0]
    assert found.staircase == ()
    assert "most probable" in str(found)


def test_it_is_frozen():
    found = kg.k_distribution(KARATE, [1, 2])
    with pytest.raises(FrozenInstanceError):
        found.limit = 3
    with pytest.raises(ValueError, match="read-only"):
        found.probabilities[0] = 1.0


def test_progress_names_each_number():
    stages = []
    kg.k_distribution(KARATE, [1, 2, 4], progress=stages.append)
    assert stages == ["counting eigenvalues", "inferring 2 communities", "inferring 4 communities"]


@pytest.mark.compiled
def test_the_limit_of_messages_ends_the_trying():
    graph, _ = planted_partition(200, 4, 10.0, 3.0, rng=0)
    entries = 2 * graph.m
    found = kg.k_distribution(graph, max_messages=5 * entries)
    assert found.k_values.max() == 5
    assert found.limit == 5
    assert "more than 5 communities were not tried" in str(found)
    with pytest.raises(InputError, match=rf"{entries} x 4 messages.*max_messages"):
        kg.k_distribution(graph, max_messages=3 * entries)
    with pytest.raises(InputError, match=rf"{entries} x 9 messages.*max_messages"):
        kg.k_distribution(graph, [2, 9], max_messages=8 * entries)


@pytest.mark.parametrize("k_values", [[], 3, None.__class__])
def test_numbers_must_be_listed(k_values):
    with pytest.raises(InputError, match=r"k_values must be one or more whole numbers"):
        kg.k_distribution(KARATE, k_values)


@pytest.mark.parametrize("k_values", [[0], [35], [2.5]])
def test_each_number_is_checked(k_values):
    with pytest.raises(NumberOfCommunitiesError):
        kg.k_distribution(KARATE, k_values)


@pytest.mark.parametrize("option", ["degrees", "rates"])
def test_options_are_checked(option):
    with pytest.raises(InputError, match=f"{option} must be one of"):
        kg.k_distribution(KARATE, **{option: "some"})


def test_communities_of_unequal_density_have_their_own():
    G = nx.disjoint_union(nx.complete_graph(20), nx.gnm_random_graph(80, 240, seed=0))
    G.add_edges_from((i, 20 + i) for i in range(12))
    found = kg.k_distribution(G, range(1, 5))
    assert found.model == "degree-corrected, a density for each community"


def test_numbers_for_which_nothing_converges():
    with pytest.raises(InputError, match=r"got k_values 4, 5, 6, none of which(.|\n)*Include 1"):
        kg.k_distribution(KARATE, [4, 5, 6], weight=None)


def test_any_number_of_messages():
    assert kg.k_distribution(KARATE, weight=None, max_messages=float("inf")).k == 2
