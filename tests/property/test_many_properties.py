"""Properties of multilevel moves, of densities of their own and of the many regime."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kgroups as kg
import oracles_levels as oracles
from kgroups.refine import connected_pieces, rates
from kgroups.refine._rates_nb import best_partners
from kgroups.refine.rates import Warmth, merged, nats_saved, worths
from kgroups.regimes.many import many_communities, many_given_k
from kgroups.seed.levels import Effort, coarse_level, group_moves, multilevel
from kgroups.spectrum import moments
from strategies_levels import connected_graphs, graph_of, labelled_levels, part_of, weightings

seeds = st.integers(0, 2**32 - 1)
ROUNDING = pytest.approx(0.0, abs=1e-6)


def totals_are_right(level, z, groups):
    expected = oracles.totals(level, z, groups.n)
    return all(
        np.allclose(kept, computed, rtol=1e-6, atol=1e-6)
        for kept, computed in zip(groups[1:], expected, strict=True)
    )


@given(labelled_levels())
def test_the_graph_of_groups_sums_links(case):
    level, z, k = case
    groups = coarse_level(level, z, k, Effort())
    Y = oracles.indicator(z, k)
    expected = Y.T @ oracles.dense(level.A) @ Y
    np.fill_diagonal(expected, 0.0)
    assert oracles.dense(groups.A) == pytest.approx(expected, rel=1e-6)
    assert totals_are_right(level, z, groups)


@given(labelled_levels(), st.sampled_from([0.3, 1.0, 4.0]), seeds)
def test_moves_raise_the_association(case, resolution, seed):
    level, z, k = case
    assume(level.edges > 0)
    penalty = resolution / (2.0 * level.edges)
    effort = Effort()
    order = np.random.default_rng(seed).permutation(level.n)
    after, count = group_moves(level, z, k, effort, penalty=np.full(level.n, penalty), order=order)
    gained = oracles.association(level, after, penalty) - oracles.association(level, z, penalty)
    # Twice the margin of each move, less the rounding of the oracle.
    assert gained >= 2e-9 * effort.moves - 1e-12 * level.strength.sum()
    assert (gained > 0.0) == (effort.moves > 0) or gained == ROUNDING
    assert np.unique(after).tolist() == list(range(count))


@given(labelled_levels(), seeds)
def test_multilevel_is_no_worse_than_single_nodes(case, seed):
    level, _, _ = case
    assume(level.edges > 0)
    penalty = 1.0 / (2.0 * level.edges)
    z, k = multilevel(level, np.full(level.n, penalty), np.random.default_rng(seed), Effort())
    alone = oracles.association(level, np.arange(level.n), penalty)
    assert oracles.association(level, z, penalty) >= alone - 1e-6
    assert np.unique(z).tolist() == list(range(k))


@given(labelled_levels())
def test_nats_are_the_sum_of_their_terms(case):
    level, z, k = case
    assume(level.edges > 0)
    groups = coarse_level(level, z, k, Effort())
    if k == 1:
        assert nats_saved(groups) == 0.0
        return
    assert nats_saved(groups) == pytest.approx(oracles.nats_saved(level, z, k), rel=1e-6, abs=1e-6)


@given(labelled_levels(), st.randoms(use_true_random=False))
def test_nats_ignore_the_names_of_groups(case, random):
    level, z, k = case
    assume(level.edges > 0)
    names = np.array(random.sample(range(k), k), dtype=np.int32)
    one, other = (nats_saved(coarse_level(level, x, k, Effort())) for x in (z, names[z]))
    assert other == pytest.approx(one, rel=1e-9, abs=1e-9)


@given(labelled_levels())
def test_partners_are_the_best_by_brute_force(case):
    level, z, k = case
    assume(level.edges > 0)
    groups = coarse_level(level, z, k, Effort())
    gain, partner = np.zeros(k), np.full(k, -1, dtype=np.int32)
    best_partners(
        groups.A,
        groups.strength,
        groups.inner,
        groups.nodes,
        worths(groups, np.full(k, groups.edges)),
        np.full(k, groups.edges),
        np.full(k, rates.log_outside_rate(groups, groups.edges)),
        gain,
        partner,
    )
    linked = oracles.dense(groups.A) > 0
    for a in range(k):
        gains = [oracles.merge_gain(level, z, k, a, b) for b in np.flatnonzero(linked[a])]
        assert (partner[a] >= 0) == bool(gains)
        if gains:
            assert gain[a] == pytest.approx(max(gains), rel=1e-5, abs=1e-4)
            chosen = oracles.merge_gain(level, z, k, a, int(partner[a]))
            assert chosen == pytest.approx(max(gains), rel=1e-5, abs=1e-4)


@given(labelled_levels(connected=True), st.data())
def test_merging_meets_any_target_on_connected_graphs(case, data):
    level, z, k = case
    target = data.draw(st.integers(1, k))
    label, groups = merged(coarse_level(level, z, k, Effort()), Effort(), target=target)
    assert groups.n == target
    assert totals_are_right(level, label[z], groups)


@given(labelled_levels())
def test_merges_that_remain_gain_nothing(case):
    level, z, k = case
    assume(level.edges > 0)
    label, groups = merged(coarse_level(level, z, k, Effort()), Effort())
    z = label[z]
    for a, b in np.argwhere(oracles.dense(groups.A) > 0):
        assert oracles.merge_gain(level, z, groups.n, a, b) <= 1e-4


@given(
    labelled_levels(),
    seeds,
    st.lists(st.sampled_from([0.0, 0.3, 1.0, 3.0]), min_size=1, max_size=6),
)
def test_totals_keep_up_with_warm_and_cold_moves(case, seed, temperatures):
    level, z, k = case
    assume(level.edges > 0)
    warmth = Warmth(level, Effort(), np.random.default_rng(seed))
    after, groups = warmth.moved(z, coarse_level(level, z, k, Effort()), tuple(temperatures))
    assert totals_are_right(level, after, groups)
    assert np.unique(after).tolist() == list(range(k))
    assert 0.0 <= warmth.unsure <= 1.0


@settings(max_examples=40)
@given(connected_graphs(max_nodes=20), st.data(), seeds)
def test_communities_are_connected_and_save_nats(G, data, seed):
    graph = graph_of(G, weights=data.draw(weightings(G)))
    part, _ = part_of(graph)
    found = many_communities(
        part,
        moments(part.bound),
        kg.Hartigan(),
        np.random.default_rng(seed),
        weighted=graph.is_weighted,
    )
    assert np.unique(found.z).tolist() == list(range(found.k))
    assert connected_pieces(part.A, found.z)[1] == found.k
    assert found.nats > 0.0 or found.k == 1


@settings(max_examples=40)
@given(connected_graphs(max_nodes=20), st.data(), seeds)
def test_any_k_up_to_n_is_met(G, data, seed):
    graph = graph_of(G, weights=data.draw(weightings(G)))
    part, _ = part_of(graph)
    k = data.draw(st.integers(1, len(G)))
    rng = np.random.default_rng(seed)
    found = many_given_k(part, moments(part.bound), k, rng, weighted=graph.is_weighted)
    assert found.k == k
    assert np.unique(found.z).tolist() == list(range(k))
