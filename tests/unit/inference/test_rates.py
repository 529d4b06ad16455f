"""Belief propagation with any rates against slow code, and how rates are learned."""

import networkx as nx
import numpy as np
import pytest

from helpers.kernels_inference import propagated, with_arguments
from helpers.oracles_inference import (
    slow_sweeps,
    some_rates,
    sums_over_labels,
    tree_posterior,
)
from helpers.oracles_levels import dense
from helpers.strategies_levels import graph_of, level_of, problem_of
from kgroups._progress import STOP
from kgroups.errors import InputError
from kgroups.generators import degree_corrected_sbm, planted_partition
from kgroups.inference import BeliefPropagation
from kgroups.inference import _beliefs_nb as kernels
from kgroups.inference.belief_propagation import (
    Learning,
    Rates,
    Schedule,
    block_model,
    contrast,
    planted_rates,
    propagate,
    rates_of_labels,
)
from kgroups.metrics import nmi
from kgroups.search import finest_level
from kgroups.spectrum import degrees_are_uneven

CASES = [(own, corrected) for own in (False, True) for corrected in (False, True)]
TREES = [nx.path_graph(6), nx.star_graph(6), nx.from_prufer_sequence([0, 0, 1, 1, 2])]

UNCHANGED = Learning("unchanged")


def learned(learning, rates, edges, pairs, sizes, m):
    """Return the rates that a rule learns from expected edges, pairs and sizes."""
    inside, prior = rates.inside.copy(), rates.prior.copy()
    rule, sums = kernels.RULES.index(learning.rule), np.zeros((4, 1, inside.size))
    sums[[kernels._EDGES, kernels._PAIRS, kernels._SIZES], 0] = edges, pairs, sizes
    between = kernels.learn_rates(
        rule, learning.least, sums, 0, inside.size, m, rates.between, inside[None], prior[None]
    )
    return Rates(inside, between, prior)


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 4.0, 78)])
def test_rates_of_one_expect_the_edges_there_are(corrected, weights):
    model = block_model(
        level_of(nx.karate_club_graph(), weights=weights), degree_corrected=corrected
    )
    pairs = 0.5 * (model.theta.sum() ** 2 - model.theta @ model.theta)
    assert model.m == pytest.approx([pairs], rel=1e-12)
    assert model.m == pytest.approx([0.5 * model.A.data.sum()], rel=1e-6)


@pytest.mark.parametrize(("own", "corrected"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("G", [nx.karate_club_graph(), nx.gnm_random_graph(20, 40, seed=3)])
def test_sweeps_are_those_of_the_definition(G, weighted, own, corrected):
    """Not only at the fixed point: messages are updated in the same order."""
    k, n = 3, len(G)
    weights = np.linspace(0.5, 4.0, G.number_of_edges()) if weighted else None
    model = block_model(level_of(G, weights=weights), degree_corrected=corrected)
    rates = some_rates(3, own=own)
    for sweeps in (1, 2, 3):
        schedule = Schedule(0, 1, sweeps, -1.0, 0.0)
        found, arguments = with_arguments(
            model, np.arange(n) % k, rates, UNCHANGED, schedule, softness=0.3
        )
        slow = slow_sweeps(dense(model.A), model.theta, rates, np.arange(n) % k, 0.3, sweeps)
        assert found.sweeps == sweeps
        assert found.evidence == pytest.approx(slow[0], abs=1e-7)
        assert found.marginals == pytest.approx(slow[1], abs=1e-9)
        assert arguments["sums"][kernels._EDGES, 0] == pytest.approx(slow[2], abs=1e-8)


@pytest.mark.parametrize(("own", "corrected"), CASES)
@pytest.mark.parametrize("G", TREES)
def test_beliefs_on_trees_are_sums_over_all_labels(G, own, corrected):
    n, k = len(G), 3
    z = np.arange(n) * k // n
    model, rates = block_model(level_of(G), degree_corrected=corrected), some_rates(3, own=own)
    found = propagated(model, z, rates, UNCHANGED, Schedule(0, 1, 500, -1.0, 0.0))
    evidence, mean = tree_posterior(dense(model.A), model.theta, rates, z)
    assert found.evidence == pytest.approx(evidence, abs=1e-7)
    assert found.marginals == pytest.approx(mean, abs=1e-7)


@pytest.mark.parametrize(("own", "weight"), [(False, 2_000.0), (True, 300.0)])
def test_powers_of_heavy_weights_stay_finite(own, weight):
    """Powers are e^1577 and e^-1597 for equal rates inside, and 495 nats apart for own ones."""
    level, z, k = level_of(nx.path_graph(6)), np.repeat([0, 1, 2], 2), 3
    A, weights = level.A, np.ones(10, dtype=np.float32)
    # The edges at both ends of the path.
    weights[[0, 1, 8, 9]] = weight
    strength = np.add.reduceat(weights, A.indptr[:-1]).astype(float)
    heavy = level._replace(data=weights, strength=strength)
    model, rates = block_model(heavy, degree_corrected=False), some_rates(k, own=own)
    found = propagated(model, z, rates, UNCHANGED, Schedule(0, 1, 500, -1.0, 0.0))
    evidence, marginals, _ = sums_over_labels(dense(model.A), model.theta, rates, found.marginals)
    assert found.evidence == pytest.approx(evidence, rel=1e-12)
    assert found.marginals == pytest.approx(marginals, abs=1e-12)


def test_one_group_saves_nothing():
    model = block_model(level_of(nx.karate_club_graph()), degree_corrected=True)
    z, rates = np.zeros(34, dtype=np.int64), Rates(np.ones(1), 1.0, np.ones(1))
    found = propagated(model, z, rates, UNCHANGED, Schedule(0, 1, 1, -1.0, 0.0))
    assert found.evidence == pytest.approx(0.0, abs=1e-9)
    assert found.residual == pytest.approx(0.0, abs=1e-12)


def test_the_contrast_of_planted_rates_is_the_one_given():
    rates = planted_rates(0.4, 5)
    assert contrast(rates) == pytest.approx(0.4, rel=1e-12)
    # Equal groups: the mean rate is 1.
    assert rates.inside[0] / 5 + rates.between * 4 / 5 == pytest.approx(1.0, rel=1e-12)


def test_the_contrast_moves_halfway_and_not_below_its_bound():
    rates = planted_rates(0.2, 2)
    # Inside 80 / 50, between 20 / 50.
    found = learned(Learning("contrast"), rates, [40.0, 40.0], [25.0, 25.0], [9.0, 9.0], 100.0)
    assert contrast(found) == pytest.approx(0.5 * (0.2 + 0.6))
    none = [25.0, 25.0]
    found = learned(Learning("contrast", 0.15), rates, none, none, [9.0, 9.0], 100.0)
    assert contrast(found) == pytest.approx(0.15)


def test_own_rates_move_halfway_on_a_logarithmic_scale():
    rates = Rates(np.array([2.0, 1.0]), 0.5, np.full(2, 0.5))
    found = learned(Learning("own"), rates, [29.0, 9.0], [9.5, 4.5], [6.0, 2.0], 60.0)
    common = 38.0 / 14.0
    own = np.array([30.0 / (9.5 + 1 / common), 10.0 / (4.5 + 1 / common)])
    assert found.inside == pytest.approx(np.sqrt(rates.inside * own))
    assert found.between == pytest.approx(np.sqrt(0.5 * 22.0 / 46.0))
    assert found.prior == pytest.approx([0.7, 0.3])


def test_planted_rates_are_counts_over_pairs():
    rates = Rates(np.ones(2), 1.0, np.full(2, 0.5))
    found = learned(Learning("planted"), rates, [29.0, 9.0], [9.5, 4.5], [6.0, 2.0], 60.0)
    assert found.inside == pytest.approx(np.full(2, 38.0 / 14.0))
    assert found.between == pytest.approx(22.0 / 46.0)
    assert found.prior == pytest.approx([0.75, 0.25])


def test_rates_of_labels_are_densities():
    model = block_model(level_of(nx.barbell_graph(4, 0)), degree_corrected=False)
    rates = rates_of_labels(model, np.repeat([0, 1], 4), 2)
    # 13 edges on 28 pairs; all 6 pairs inside and 1 of 16 between are linked.
    assert rates.inside == pytest.approx(np.full(2, 28.0 / 13.0))
    assert rates.between == pytest.approx(28.0 / 13.0 / 16.0)


@pytest.mark.parametrize("rates", ["planted", "own"])
@pytest.mark.parametrize("degrees", ["corrected", "uniform"])
def test_clear_communities_are_found_from_spoiled_labels(rates, degrees):
    graph, truth = planted_partition(300, 3, 12.0, 2.5, rng=1)
    rng = np.random.default_rng(0)
    start = np.where(rng.random(300) < 0.2, rng.integers(3, size=300), truth)
    level = finest_level(graph.simple_adjacency(), weighted=False)
    found = BeliefPropagation(rates=rates, degrees=degrees).infer(level, start, 3)
    assert found.converged
    assert found.evidence > 50.0
    assert nmi(truth, np.argmax(found.marginals, axis=1)) > 0.95


def test_degrees_decide_on_their_correction():
    even, _ = planted_partition(1_000, 2, 6.0, 1.5, rng=0)
    uneven, _ = degree_corrected_sbm([500, 500], [[0.02, 0.004], [0.004, 0.02]], rng=0)
    assert not degrees_are_uneven(even.simple_adjacency())
    assert degrees_are_uneven(uneven.simple_adjacency())
    for graph, corrected in ((even, False), (uneven, True)):
        level = finest_level(graph.simple_adjacency(), weighted=False)
        assert BeliefPropagation().corrects(level) is corrected
        assert BeliefPropagation(degrees="uniform").corrects(level) is False
        assert BeliefPropagation(degrees="corrected").corrects(level) is True


def test_an_enormous_weight_hides_nothing():
    G = nx.barbell_graph(6, 0)
    weights = np.ones(G.number_of_edges())
    weights[0] = 1e6
    level = problem_of(graph_of(G, weights=weights)).level
    found = BeliefPropagation(rates="own").infer(level, np.repeat([0, 1], 6), 2)
    assert np.argmax(found.marginals, axis=1).tolist() == [0] * 6 + [1] * 6
    assert found.marginals.max(axis=1).min() > 0.8


@pytest.mark.parametrize("rates", ["planted", "own"])
@pytest.mark.parametrize("G", [nx.empty_graph(4), nx.empty_graph(1)])
def test_without_edges_only_the_prior_is_known(rates, G):
    z = np.arange(len(G)) % 2
    found = BeliefPropagation(rates=rates).infer(level_of(G), z, 2)
    assert found.marginals == pytest.approx(np.tile(found.rates.prior, (len(G), 1)))
    assert found.converged
    assert found.sweeps == 0


def test_progress_counts_sweeps():
    seen = []
    method = BeliefPropagation(em_steps=2, em_sweeps=2, max_sweeps=3, tolerance=0.0)
    method.infer(level_of(nx.karate_club_graph()), np.arange(34) % 2, 2, progress=seen.append)
    assert seen == [method.most_sweeps] == [7]


@pytest.mark.parametrize("messages_per_call", [10, 10**6])
@pytest.mark.parametrize(("k", "given_up"), [(2, False), (17, True)])
def test_it_is_given_up_if_a_group_that_is_needed_is_empty(k, given_up, messages_per_call):
    """Of 17 groups of two nodes each, the first two sweeps leave fewer."""
    model = block_model(level_of(nx.karate_club_graph()), degree_corrected=True)
    schedule, rates, z = Schedule(3, 2, 4, 0.0, 0.0), planted_rates(0.4, k), np.arange(34) % k
    plain, needed = (
        propagated(
            model,
            z,
            rates,
            Learning("contrast"),
            schedule,
            need_all=need_all,
            messages_per_call=messages_per_call,
        )
        for need_all in (False, True)
    )
    if given_up:
        assert (needed.sweeps, needed.evidence) == (2, -np.inf)
    else:
        assert (needed.sweeps, needed.evidence) == (plain.sweeps, plain.evidence)
        assert np.array_equal(needed.marginals, plain.marginals)


def test_a_component_that_has_ended_is_not_given_up_for_another_that_has_not():
    """A clique ends as one group within two sweeps, beside a component that takes three."""
    G = nx.disjoint_union(nx.complete_graph(6), nx.karate_club_graph())
    model, z = block_model(problem_of(graph_of(G)).level), np.arange(40) % 2
    k, schedule = np.array([2, 2]), Schedule(3, 2, 15, 1e-2, 10.0)
    (alone,), (beside, other) = (
        propagate(model, z, k, np.array(which), Learning("planted"), schedule, need_all=True)
        for which in ([0], [0, 1])
    )
    assert alone.converged
    assert np.unique(np.argmax(alone.marginals, axis=1)).size == 1
    assert beside.evidence == alone.evidence > -np.inf
    assert (beside.sweeps, other.sweeps) == (2, 3)


@pytest.mark.parametrize(
    "options",
    [
        {"rates": "free"},
        {"degrees": "some"},
        {"em_steps": -1},
        {"em_sweeps": 0},
        {"max_sweeps": 0},
        {"tolerance": -1.0},
        {"softness": 1.5},
    ],
)
def test_options_are_checked(options):
    with pytest.raises(InputError, match=next(iter(options))):
        BeliefPropagation(**options)


def test_large_problems_run_in_a_second_thread_with_the_same_result():
    model = block_model(level_of(nx.karate_club_graph()), degree_corrected=True)
    schedule, rates, z = Schedule(3, 2, 4, 0.0, 0.0), planted_rates(0.4, 2), np.arange(34) % 2
    found, seen = [], []
    for messages in (10**6, 10):
        sweeps = []
        found.append(
            propagated(
                model,
                z,
                rates,
                Learning("contrast"),
                schedule,
                progress=sweeps.append,
                messages_per_call=messages,
            )
        )
        seen.append(sweeps)
    assert seen == [[10], list(range(1, 11))]
    assert np.array_equal(found[0].marginals, found[1].marginals)


def test_a_flag_ends_a_sweep():
    model = block_model(level_of(nx.karate_club_graph()), degree_corrected=True)
    schedule, z = Schedule(0, 1, 1, -1.0, 0.0), np.arange(34) % 2
    found, arguments = with_arguments(model, z, planted_rates(0.4, 2), UNCHANGED, schedule)
    before = found.marginals.copy()
    arguments["state"][0, [kernels.EVIDENCE, kernels.ENDED]] = 0.0
    arguments["control"][STOP] = 1
    kernels.propagate(*arguments.values())
    assert arguments["state"][0, [kernels.EVIDENCE, kernels.ENDED]].tolist() == [0.0, 0.0]
    assert np.array_equal(found.marginals, before)
    arguments["control"][STOP] = 0
    kernels.propagate(*arguments.values())
    assert not np.array_equal(found.marginals, before)
