"""Who wins a component, and why."""

import math
from functools import partial

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.strategies_levels import graph_of, problem_of
from kgroups.generators import planted_partition
from kgroups.inference import _beliefs_nb, belief_propagation
from kgroups.metrics import nmi
from kgroups.search.arbiter import nats_in_component, reason, winners
from kgroups.search.candidates import Judge, candidate, one_community


def proposal(score, *, k=2, origin="search", evidence=math.nan):
    """Return a candidate for one component."""
    score, evidence = (np.array([value], dtype=float) for value in (score, evidence))
    return candidate(origin, np.arange(20) % k, np.array([k]), score, evidence=evidence)


ONE = proposal(0.0, k=1, origin="one community")


def winner_of(*candidates, clear=False):
    return candidates[winners(candidates, np.array([clear]))[0]]


def test_a_clear_description_decides_whatever_the_others_score():
    searched = proposal(20.0)
    beliefs = proposal(99.0, evidence=120.0)
    assert winner_of(ONE, searched, beliefs, clear=True) is searched
    assert reason(searched, 0, 20.0) == (
        "they describe the graph clearly better than one community (20.0 nats shorter)"
    )
    assert "slightly better than one community (4.5 nats" in reason(searched, 0, 4.5)


def test_elsewhere_the_highest_score_wins():
    searched = proposal(20.0 - 1e-9)
    faint = proposal(21.0, k=3, origin="eigenvectors", evidence=25.0)
    assert winner_of(ONE, searched, faint) is faint
    assert reason(faint, 0, -3.0) == (
        "they describe the graph clearly better than one community (21.0 nats by belief "
        "propagation)"
    )


def test_the_description_decides_where_it_scores_highest():
    searched = proposal(5.0)
    faint = proposal(4.0, origin="eigenvectors", evidence=9.0)
    assert winner_of(ONE, searched, faint) is searched


@pytest.mark.parametrize("score", [-1.0, 0.0, -math.inf])
def test_one_community_wins_where_nothing_scores_above_it(score):
    other = proposal(score, origin="eigenvectors", evidence=1.0)
    won = winner_of(ONE, proposal(0.0, k=1), other)
    assert won is ONE
    assert reason(won, 0, 0.0) == "nothing was found that divides it"


def test_a_tie_is_left_to_the_first():
    """One community comes first, the search second, eigenvectors last."""
    searched = proposal(3.0)
    twin = proposal(3.0, origin="eigenvectors", evidence=8.0)
    assert winner_of(ONE, searched, twin) is searched


def test_components_are_decided_one_by_one():
    z, k = np.zeros(60, dtype=np.int64), np.full(3, 2)
    whole = candidate("one community", z, np.ones(3, dtype=np.int64), np.zeros(3))
    searched = candidate("search", z, k, np.array([25.0, 3.0, 0.0]))
    score = np.array([30.0, 9.0, -math.inf])
    faint = candidate("eigenvectors", z, k, score, evidence=np.array([40.0, 12.0, 1.0]))
    clear = np.array([True, False, False])
    assert winners([whole, searched, faint], clear).tolist() == [1, 2, 0]


def test_one_community_is_one_in_each_component():
    whole = one_community(
        problem_of(graph_of(nx.disjoint_union(nx.path_graph(3), nx.path_graph(2))))
    )
    assert (whole.z.tolist(), whole.k.tolist(), whole.score.tolist()) == ([0] * 5, [1, 1], [0, 0])
    assert whole.origin == "one community"


ALL = np.zeros(1, dtype=np.int64)
TWO = np.array([2])


@pytest.fixture(scope="module")
def planted():
    graph, truth = planted_partition(400, k=2, degree=16.0, snr=2.2, rng=0)
    problem = problem_of(graph)
    assert problem.n_components == 1
    return problem, truth


def test_beliefs_improve_a_candidate(planted):
    problem, truth = planted
    wrong = np.where(np.random.default_rng(0).random(truth.size) < 0.2, 1 - truth, truth)
    found = Judge(problem).scored(wrong, TWO, ALL, own_rates=False)
    assert (found.k.tolist(), found.origin) == ([2], "eigenvectors")
    assert found.evidence[0] > found.score[0] > 10.0
    assert nmi(truth, found.z) > nmi(truth, wrong)


@pytest.mark.parametrize("own_rates", [False, True])
def test_eigenvectors_without_evidence_are_out(own_rates):
    problem = problem_of(graph_of(nx.random_regular_graph(4, 60, seed=0)))
    found = Judge(problem).scored(np.arange(60) % 2, TWO, ALL, own_rates=own_rates)
    assert found.evidence[0] <= math.log(10.0)
    assert bool(found.score[0] == -math.inf) is not own_rates


def test_more_messages_than_memory_holds_are_not_sent(planted):
    problem, truth = planted
    most = 2 * problem.level.A.indices.size - 1
    for labels, above in ((truth, True), (np.arange(400) % 2, False)):
        found = Judge(problem).scored(labels, TWO, ALL, max_messages=most, own_rates=False)
        assert found.z.tolist() == labels.tolist()
        nats = nats_in_component(problem, 0, labels)
        assert bool(nats > math.log(10.0)) is above
        assert found.score[0] == max(nats, math.log(10.0))
        assert np.isnan(found.evidence[0])
        assert winners([one_community(problem), found], np.array([False])).tolist() == [1]
        says = "nats shorter" if nats > 0.0 else "too faint for a shorter description"
        assert says in reason(found, 0, nats)


@pytest.mark.parametrize(("sweeps", "in_thread"), [(0, True), (1, False), (10**6, False)])
def test_many_messages_are_sent_in_several_calls_or_in_a_second_thread(
    planted, monkeypatch, sweeps, in_thread
):
    """Ctrl-C had no effect for seconds while beliefs of a hundred communities were propagated."""
    problem, _ = planted
    called, threads = [], []
    kernel, run = _beliefs_nb.propagate, belief_propagation.run_interruptibly
    monkeypatch.setattr(_beliefs_nb, "propagate", lambda *a: called.append(1) or kernel(*a))
    monkeypatch.setattr(
        belief_propagation, "run_interruptibly", lambda *a: threads.append(1) or run(*a)
    )
    z, messages = np.arange(400) % 2, 2 * problem.level.indices.size
    expected = Judge(problem).scored(z, TWO, ALL, own_rates=True)
    called.clear()
    limited = partial(belief_propagation.propagate, messages_per_call=max(1, sweeps * messages))
    monkeypatch.setattr("kgroups.search.candidates.propagate", limited)
    found = Judge(problem).scored(z, TWO, ALL, own_rates=True)
    assert found.z.tolist() == expected.z.tolist()
    assert (len(called) > 1) is (sweeps < 10**6)
    assert bool(threads) is in_thread


def test_only_the_components_asked_for_are_judged():
    part = nx.planted_partition_graph(2, 20, 0.5, 0.05, seed=0)
    problem = problem_of(graph_of(nx.disjoint_union(part, part)))
    z, k = np.tile(np.repeat([0, 1], 20), 2), np.array([2, 2])
    both = Judge(problem).scored(z, k, np.array([0, 1]), own_rates=True)
    second = Judge(problem).scored(z, k, np.array([1]), own_rates=True)
    assert both.score[0] == both.score[1] == second.score[1]
    assert second.score[0] == -math.inf
    assert np.isnan(second.evidence[0])
    none = Judge(problem).scored(z, k, np.zeros(0, dtype=np.int64), own_rates=True)
    assert none.score.tolist() == [-math.inf] * 2


def test_components_are_as_they_are_alone():
    """Whatever stands beside a component, its communities are the same."""
    parts = [nx.karate_club_graph(), nx.les_miserables_graph(), nx.florentine_families_graph()]
    parts += [nx.planted_partition_graph(2, 40, 0.25, 0.08, seed=seed) for seed in range(3)]
    operator = kg.BetheHessian(r=2.5)
    beside = kg.detect_communities(
        nx.disjoint_union_all(parts), weight=None, operator=operator
    ).labels
    first = 0
    for G in parts:
        alone = kg.detect_communities(
            nx.convert_node_labels_to_integers(G), weight=None, operator=operator
        ).labels
        own = beside[first : first + len(G)]
        assert nmi(alone, own) == pytest.approx(1.0)
        first += len(G)


def binomial_less_poisson(G, z):
    """Return what groups save more with pairs linked once at most, from entropies."""
    n, m = len(G), G.number_of_edges()
    sizes = np.bincount(z)
    cells = [
        (sum(z[u] == z[v] == a for u, v in G.edges), s * (s - 1) / 2) for a, s in enumerate(sizes)
    ]
    cells.append((m - sum(e for e, _ in cells), n * (n - 1) / 2 - sum(p for _, p in cells)))

    def excess(e, p):
        # ln C(p, e) is near p H(e / p); Poisson has e ln(p / e) + e.
        return e + (p - e) * math.log((p - e) / p) if p > e else e

    return sum(excess(e, p) for e, p in cells) - excess(m, n * (n - 1) / 2)


def test_dense_pairs_count_once():
    G = nx.planted_partition_graph(2, 12, 0.9, 0.3, seed=1)
    problem, z = problem_of(graph_of(G)), np.repeat([0, 1], 12)
    plain, dense = (
        Judge(problem).scored(z, TWO, ALL, own_rates=True, by_pairs=np.array([flag]))
        for flag in (False, True)
    )
    assert dense.z.tolist() == plain.z.tolist()
    extra = binomial_less_poisson(G, np.unique(plain.z, return_inverse=True)[1])
    assert dense.score[0] - plain.score[0] == pytest.approx(extra, rel=1e-9)
    assert dense.evidence[0] - plain.evidence[0] == pytest.approx(extra, rel=1e-9)


def test_own_densities_are_evident_where_communities_differ():
    """Cliques of 5 beside one of 12: a density for each costs less than it saves."""
    G = nx.disjoint_union_all([nx.complete_graph(n) for n in (12, 5, 5, 5)])
    G.add_edges_from([(0, 12), (1, 17), (13, 22), (18, 23)])
    truth = np.repeat([0, 1, 2, 3], [12, 5, 5, 5])
    uneven, even = problem_of(graph_of(G)), problem_of(graph_of(nx.ring_of_cliques(4, 7)))
    four = np.array([4])
    for problem, z, own_wins in ((uneven, truth, True), (even, np.arange(28) // 7, False)):
        one, own = (Judge(problem).scored(z, four, ALL, own_rates=own) for own in (False, True))
        assert one.z.tolist() == own.z.tolist() == z.tolist()
        assert bool(own.score[0] > one.score[0]) is own_wins
