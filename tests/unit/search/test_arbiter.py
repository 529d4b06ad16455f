"""Who wins a component, and why."""

import math

import networkx as nx
import numpy as np
import pytest

from helpers.strategies_levels import largest_part, level_of
from kgroups.generators import planted_partition
from kgroups.metrics import nmi
from kgroups.search.candidates import Candidate, one_community, posterior_candidate
from kgroups.search.finding import decide

N = 20


def candidate(score, *, k=2, origin="search", nats=None, evidence=None):
    nats = score if nats is None else nats
    return Candidate(np.arange(N) % k, k, origin, score, nats, evidence)


def never(searched):
    pytest.fail("others were asked for")


def test_a_nat_per_node_decides_without_asking_others():
    searched = candidate(float(N))
    won, why = decide(searched, N, never)
    assert won is searched
    assert why == "they shorten the description of the graph by 20.0 nats"


def test_below_a_nat_per_node_others_are_asked_for_once():
    searched, asked = candidate(N - 1e-9), []

    def propose(first):
        asked.append(first)
        return [one_community(N), first]

    assert decide(searched, N, propose)[0] is searched
    assert asked == [searched]


def test_the_highest_score_wins():
    faint = candidate(9.0, k=3, origin="eigenvectors", nats=0.0, evidence=15.0)
    won, why = decide(candidate(5.0), N, lambda first: [one_community(N), first, faint])
    assert won is faint
    assert why == (
        "proposed by the eigenvectors; belief propagation prefers them to one community by 9.0 nats"
    )


def test_the_description_decides_where_it_scores_highest():
    searched = candidate(5.0)
    faint = candidate(4.0, origin="eigenvectors", nats=0.0, evidence=9.0)
    won, why = decide(searched, N, lambda first: [one_community(N), first, faint])
    assert won is searched
    assert why == "they shorten the description of the graph by 5.0 nats"


def test_beliefs_that_started_from_the_search_are_said_to():
    beliefs = candidate(7.0, nats=5.0, evidence=12.0)
    won, why = decide(candidate(5.0), N, lambda first: [one_community(N), first, beliefs])
    assert won is beliefs
    assert why.startswith("proposed by the search; belief propagation prefers them")


@pytest.mark.parametrize("score", [-1.0, 0.0, -math.inf])
def test_one_community_wins_where_nothing_scores_above_it(score):
    others = [candidate(score, origin="eigenvectors", evidence=1.0)]
    won, why = decide(candidate(0.0, k=1), N, lambda first: [one_community(N), first, *others])
    assert won.k == 1
    assert why == "there is no sign of more"


def test_a_tie_is_left_to_the_first():
    """One community comes first, the search second, eigenvectors last."""
    searched = candidate(3.0)
    twin = candidate(3.0, origin="eigenvectors", evidence=8.0)
    assert decide(searched, N, lambda first: [one_community(N), first, twin])[0] is searched


def test_one_community_is_one():
    whole = one_community(5)
    assert (whole.z.tolist(), whole.k, whole.score) == ([0] * 5, 1, 0.0)
    assert whole.origin == "one community"


@pytest.fixture(scope="module")
def planted():
    graph, truth = planted_partition(400, k=2, degree=10.0, snr=2.2, rng=0)
    part, rows = largest_part(graph)
    return part.level(weighted=False), truth[rows]


def test_beliefs_improve_a_candidate_and_keep_its_nats(planted):
    level, truth = planted
    wrong = np.where(np.random.default_rng(0).random(truth.size) < 0.2, 1 - truth, truth)
    given = Candidate(wrong, 2, "eigenvectors", 0.0, 3.5)
    found = posterior_candidate(level, given, dense=False)
    assert (found.k, found.origin, found.nats) == (2, "eigenvectors", 3.5)
    assert found.evidence > found.score > 10.0
    assert nmi(truth, found.z) > nmi(truth, wrong)


@pytest.mark.parametrize(("origin", "lost"), [("eigenvectors", True), ("search", False)])
def test_eigenvectors_without_evidence_are_out(origin, lost):
    level = level_of(nx.random_regular_graph(4, 60, seed=0))
    found = posterior_candidate(
        level, Candidate(np.arange(60) % 2, 2, origin, 0.0, 0.0), dense=False
    )
    assert found.evidence <= math.log(10.0)
    assert bool(found.score == -math.inf) is lost


def test_one_community_needs_no_beliefs(planted):
    level, _ = planted
    whole = one_community(level.strength.size)
    assert posterior_candidate(level, whole, dense=True) is whole


def test_more_messages_than_memory_holds_are_not_sent(planted):
    level, truth = planted
    most = 2 * level.A.indices.size - 1
    for nats, score in ((8.0, 8.0), (-5.0, math.log(10.0))):
        given = Candidate(truth, 2, "eigenvectors", nats, nats)
        found = posterior_candidate(level, given, dense=False, max_messages=most)
        assert (found.score, found.nats, found.evidence) == (score, nats, None)
        won, why = decide(
            one_community(truth.size), truth.size, lambda whole, found=found: [whole, found]
        )
        assert won is found
        assert ("description of the graph" if nats > 0.0 else "below what a description") in why


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
    level, z = level_of(G), np.repeat([0, 1], 12)
    given = Candidate(z, 2, "search", 0.0, 0.0)
    plain, dense = (posterior_candidate(level, given, dense=flag) for flag in (False, True))
    assert dense.z.tolist() == plain.z.tolist()
    extra = binomial_less_poisson(G, np.unique(plain.z, return_inverse=True)[1])
    assert dense.score - plain.score == pytest.approx(extra, rel=1e-9)
    assert dense.evidence - plain.evidence == pytest.approx(extra, rel=1e-9)
