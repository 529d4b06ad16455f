from math import comb, factorial, log

import networkx as nx
import numpy as np
import pytest

import oracles_levels as oracles
from kgroups.refine import rates
from kgroups.refine._rates_nb import matched, sweep_rates
from kgroups.refine.rates import (
    Frame,
    Warmth,
    log_outside_rate,
    merged,
    nats_saved,
    worths,
)
from kgroups.seed.levels import Effort, Level, coarse_level
from strategies_levels import level_of

KARATE = nx.karate_club_graph()
FACTIONS = np.array([int(KARATE.nodes[i]["club"] != "Mr. Hi") for i in range(34)], dtype=np.int32)


def cliques(count=6, size=8):
    """Return a ring of cliques, and the clique of each node."""
    return level_of(nx.ring_of_cliques(count, size)), np.repeat(
        np.arange(count, dtype=np.int32), size
    )


def groups_of(level, z):
    return coarse_level(level, z, int(z.max()) + 1, Effort())


def swept(level, z, rate, temperature, *, start=0, unsure=None, seed=0):
    """Make one sweep with given rates; return labels, totals and moves."""
    k = rate.shape[0]
    z = z.copy()
    total, inner, size = oracles.totals(level, z, k)
    size = size.astype(np.int64)
    unsure = np.ones(level.n, dtype=np.bool_) if unsure is None else unsure
    tally = np.zeros(2, dtype=np.int64)
    noise = np.random.default_rng(seed).gumbel(size=1 << 14)
    end = sweep_rates(
        level.A,
        level.strength,
        rate,
        temperature,
        6.0,
        noise,
        0,
        start,
        1 << 30,
        z,
        total,
        inner,
        size,
        np.ones(level.n, dtype=np.bool_),
        unsure,
        np.zeros(k),
        np.empty(k, dtype=np.int32),
        tally,
    )
    assert end == level.n
    return z, (total, inner, size), int(tally[1])


def test_one_community_saves_nothing():
    level = level_of(KARATE)
    assert nats_saved(groups_of(level, np.zeros(34, dtype=np.int32))) == 0.0


def test_nats_saved_by_the_factions_of_karate():
    """Term by term: edges inside, densities, edges across, sizes and labels."""
    level = level_of(KARATE)
    groups = groups_of(level, FACTIONS)
    sizes = np.bincount(FACTIONS).tolist()
    inside, degrees = groups.inner.tolist(), groups.strength.tolist()
    m, cut = 78, 78 - sum(inside)
    expected = cut * log(cut / (m - sum(K * K for K in degrees) / (4 * m)))
    for E, K in zip(inside, degrees, strict=True):
        # Each faction has more pairs of nodes than the graph has edges.
        expected += E * log(4 * m * E / K**2) - log(m + 1)
    expected -= log(comb(34, sizes[0])) + log(33) - log(2)
    assert cut == sum(FACTIONS[u] != FACTIONS[v] for u, v in KARATE.edges)
    assert nats_saved(groups) == pytest.approx(expected, rel=1e-12)
    assert nats_saved(groups) == pytest.approx(oracles.nats_saved(level, FACTIONS, 2), rel=1e-12)


def test_nats_are_a_likelihood_ratio_less_the_cost_of_labels_and_densities():
    level = level_of(KARATE)
    A = oracles.dense(level.A)
    for seed in range(5):
        z = np.random.default_rng(seed).permutation(np.arange(34) % 4).astype(np.int32)
        gain = oracles.planted_log_likelihood(A, z) - oracles.planted_log_likelihood(A, 0 * z)
        sizes = np.bincount(z).tolist()
        labels = log(factorial(34)) - sum(log(factorial(N)) for N in sizes)
        counts = log(comb(33, 3)) - log(factorial(4))
        densities = sum(log(N * (N - 1) // 2 + 1) for N in sizes)
        expected = gain - labels - counts - densities
        assert nats_saved(groups_of(level, z)) == pytest.approx(expected, rel=1e-9)


def test_equal_weights_save_what_none_do():
    plain, equal = level_of(KARATE), level_of(KARATE, weights=np.full(78, 0.01))
    assert nats_saved(groups_of(equal, FACTIONS)) == nats_saved(groups_of(plain, FACTIONS))


@pytest.mark.parametrize("unit", [1e-6, 250.0])
def test_the_scale_of_weights_does_not_change_the_nats(unit):
    weights = np.random.default_rng(0).lognormal(size=78)
    one, other = (level_of(KARATE, weights=factor * weights) for factor in (1.0, unit))
    saved = nats_saved(groups_of(one, FACTIONS))
    assert nats_saved(groups_of(other, FACTIONS)) == pytest.approx(saved, rel=1e-6)


def test_a_cut_without_edges_has_a_rate_all_the_same():
    level = level_of(nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(5)))
    groups = groups_of(level, np.repeat(np.arange(2, dtype=np.int32), 5))
    assert log_outside_rate(groups, level.edges) == pytest.approx(log(1e-3))
    assert np.isfinite(nats_saved(groups))


def test_a_single_node_is_worth_nothing():
    level = level_of(nx.star_graph(4))
    groups = groups_of(level, np.arange(5, dtype=np.int32))
    assert worths(groups, np.full(5, level.edges)) == pytest.approx(np.zeros(5))


def test_cliques_that_were_cut_in_half_are_merged():
    level, z = cliques()
    halves = (2 * z + np.tile(np.arange(8) // 4, 6)).astype(np.int32)
    effort = Effort()
    label, groups = merged(groups_of(level, halves), effort)
    assert groups.n == 6
    assert (np.bincount(label) == 2).all()
    assert (label[halves][::8] == label[halves][7::8]).all()
    assert effort.entries > 0


def test_cliques_stay_apart():
    level, z = cliques()
    label, groups = merged(groups_of(level, z), Effort())
    assert label.tolist() == list(range(6))
    assert groups.n == 6


@pytest.mark.parametrize("target", [1, 2, 5, 30, 33, 34])
def test_merging_to_a_target_ends_there(target):
    level = level_of(KARATE)
    groups = groups_of(level, np.arange(34, dtype=np.int32))
    label, merged_groups = merged(groups, Effort(), target=target)
    assert merged_groups.n == np.unique(label).size == target
    assert merged_groups.nodes.sum() == 34


def test_merging_to_a_target_ends_where_nothing_is_linked():
    level = level_of(nx.disjoint_union_all([nx.complete_graph(3)] * 3))
    label, groups = merged(groups_of(level, np.arange(9, dtype=np.int32)), Effort(), target=1)
    assert groups.n == 3
    assert np.unique(label).size == 3


def test_a_share_is_merged_once():
    level = level_of(KARATE)
    groups = groups_of(level, np.arange(34, dtype=np.int32))
    assert merged(groups, Effort(), share=0.2)[1].n == 34 - 6
    assert merged(groups, Effort(), share=0.001)[1].n == 33


@pytest.mark.parametrize(("nudge", "expected"), [((1, 1), 2), ((1, -1), 3), ((-1, -1), 4)])
def test_pieces_are_merged_in_the_frame_that_they_belong_to(nudge, expected):
    """Two graphs side by side, at rates where merges just gain or just do not."""
    level = level_of(nx.disjoint_union(nx.complete_graph(6), nx.complete_graph(8)))
    halves = np.repeat(np.arange(4, dtype=np.int32), [3, 3, 4, 4])
    edges, between = np.array([15.0, 28.0]), []
    for size, m, gains in zip((3, 4), edges, nudge, strict=True):
        inside, cut, degree = size * (size - 1) / 2, size * size, 2 * size - 1
        apart = 2 * oracles.worth(m, size * degree, inside, size)
        together = oracles.worth(m, 2 * size * degree, 2 * inside + cut, 2 * size)
        between.append((together - apart - 1e-6 * gains) / cut)
    frame = Frame(np.repeat(edges, 2), np.repeat(between, 2))
    label, groups = merged(groups_of(level, halves), Effort(), frame=frame)
    assert groups.n == np.unique(label).size == expected


def test_matching_follows_the_greedy_rule():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 15))
        gain, partner = rng.normal(size=n), rng.integers(-1, n, n).astype(np.int32)
        partner[partner == np.arange(n)] = -1
        order = np.argsort(np.where(partner < 0, np.inf, -gain), kind="stable")
        least, most = rng.normal(), int(rng.integers(1, n + 1))
        into = np.full(n, -1, dtype=np.int32)
        merges = matched(order, gain, partner, least, most, into)
        pairs = oracles.matching(order, gain, partner, least, most)
        expected = np.arange(n)
        for a, b in pairs:
            expected[a] = b
        assert merges == len(pairs)
        assert into.tolist() == expected.tolist()


def test_the_worth_of_a_move_is_a_difference_of_log_likelihoods():
    """The rates that moves use, against the model of independent edges at these rates."""
    level = level_of(nx.planted_partition_graph(4, 10, 0.6, 0.1, seed=1))
    A, z = oracles.dense(level.A), np.repeat(np.arange(4, dtype=np.int32), 10)
    groups = groups_of(level, z)
    rate = rates._rates(groups)
    inside = 4 * level.edges * groups.inner / groups.strength**2
    outside = np.exp(oracles.log_rate_between(level, z, 4))
    for i in range(level.n):
        moved = z.copy()
        moved[i] = (z[i] + 1 + i) % 4
        kept, changed = (
            oracles.poisson_log_likelihood(A, labels, inside, outside)
            + np.log(np.bincount(z)[labels] / level.n).sum()
            for labels in (z, moved)
        )
        ours, theirs = (
            oracles.fixed_rate_likelihood(level, labels, 4, rate) for labels in (z, moved)
        )
        assert theirs - ours == pytest.approx(changed - kept, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_cold_sweeps_raise_the_likelihood_with_fixed_rates(seed):
    level = level_of(nx.gnm_random_graph(60, 200, seed=seed))
    z = np.random.default_rng(seed).permutation(np.arange(60) % 5).astype(np.int32)
    rate = rates._rates(groups_of(level, z))
    before = oracles.fixed_rate_likelihood(level, z, 5, rate)
    made = 0
    for _ in range(50):
        z, totals, moves = swept(level, z, rate, 0.0)
        made += moves
        after = oracles.fixed_rate_likelihood(level, z, 5, rate)
        assert after > before or not moves
        before = after
        for kept, computed in zip(totals, oracles.totals(level, z, 5), strict=True):
            assert kept == pytest.approx(computed, rel=1e-9, abs=1e-9)
        if not moves:
            break
    assert made > 0
    for i in range(60):
        for b in oracles.neighbouring_groups(level, z, i) if np.sum(z == z[i]) > 1 else ():
            moved = z.copy()
            moved[i] = b
            assert oracles.fixed_rate_likelihood(level, moved, 5, rate) <= before + 1e-9


@pytest.mark.compiled
@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_warm_moves_follow_the_law_of_gibbs(temperature):
    """16384 nodes, each between the same two groups: within 5 sd of the logistic law."""
    count = 1 << 14
    G = nx.empty_graph(count + 2)
    G.add_edges_from((side, i) for i in range(2, count + 2) for side in (0, 1))
    level = level_of(G)
    z = np.concatenate([[0, 1], np.arange(count) % 2]).astype(np.int32)
    ahead = 1.2
    rate = np.array([[ahead, 0.0, 0.0], [0.0, 0.0, 0.0]])
    after, *_ = swept(level, z, rate, temperature, start=2)
    share = float(np.mean(after[2:] == 0))
    expected = oracles.logistic(ahead / temperature)
    assert abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / count)


def test_no_group_is_emptied():
    level = level_of(KARATE)
    z = np.arange(34, dtype=np.int32)
    after, *_ = swept(level, z, rates._rates(groups_of(level, z)), 1.0)
    assert after.tolist() == z.tolist()
    pairs = (np.arange(34) // 2).astype(np.int32)
    warmth = Warmth(level, Effort(), np.random.default_rng(0))
    after, groups = warmth.moved(pairs, groups_of(level, pairs), (2.0,) * 20)
    assert np.unique(after).size == groups.n == 17
    assert groups.nodes.min() >= 1


def test_cold_sweeps_pass_over_nodes_that_do_not_wait():
    level, z = cliques()
    effort = Effort()
    warmth = Warmth(level, effort, np.random.default_rng(0))
    groups = groups_of(level, z)
    after, _ = warmth.moved(z, groups, (0.0, 0.0))
    assert after.tolist() == z.tolist()
    assert effort.entries == level.A.indices.size
    warmth.moved(z, groups, (0.0,))
    assert effort.entries == level.A.indices.size


def test_neighbours_of_a_node_that_moved_are_visited_again():
    level, z = cliques()
    stray = z.copy()
    last = level.n - 1
    stray[last] = 0
    effort = Effort()
    warmth = Warmth(level, effort, np.random.default_rng(0))
    after, _ = warmth.moved(stray, groups_of(level, stray), (0.0, 0.0))
    around = level.A.indices[level.A.indptr[last] :]
    assert after.tolist() == z.tolist()
    assert effort.moves == 1
    # The last node is the last to be visited, so that all of its neighbours come after it.
    assert effort.entries == level.A.indices.size + level.strength[around].sum()


def test_warm_sweeps_visit_the_unsure():
    level = level_of(nx.ring_of_cliques(2, 12))
    z = np.repeat(np.arange(2, dtype=np.int32), 12)
    unsure = np.zeros(24, dtype=np.bool_)
    rate = np.array([[0.1, 0.0, 0.0], [0.1, 0.0, 0.0]])
    swept(level, z, rate, 0.0, unsure=unsure)
    # Only nodes on a bridge have two groups to choose from, and neither is far ahead.
    assert np.flatnonzero(unsure).tolist() == sorted(
        {i for edge in nx.ring_of_cliques(2, 12).edges if z[edge[0]] != z[edge[1]] for i in edge}
    )


@pytest.mark.parametrize("budget", [1, 13])
def test_sweeps_in_slices_are_the_same_sweeps(monkeypatch, budget):
    level = level_of(nx.gnm_random_graph(150, 600, seed=2))
    z = (np.arange(150) % 6).astype(np.int32)
    runs = []
    for entries in (1 << 23, budget):
        monkeypatch.setattr(rates, "_BUDGET", entries)
        effort = Effort()
        warmth = Warmth(level, effort, np.random.default_rng(0))
        after, groups = warmth.moved(z, groups_of(level, z), (1.0, 0.3, 0.0, 0.0))
        totals = [column.tolist() for column in groups[1:]]
        runs.append((after.tolist(), totals, effort.entries, effort.moves, warmth.unsure))
    assert runs[0] == runs[1]


def test_the_same_stream_gives_the_same_moves_and_another_does_not():
    level = level_of(nx.gnm_random_graph(150, 600, seed=2))
    z = (np.arange(150) % 6).astype(np.int32)
    runs = [
        Warmth(level, Effort(), np.random.default_rng(seed))
        .moved(z, groups_of(level, z), (1.0, 0.3))[0]
        .tolist()
        for seed in (0, 0, 1)
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_moves_bring_labels_back_to_the_cliques():
    level, z = cliques(6, 8)
    stray = z.copy()
    stray[::8] = (stray[::8] + 1) % 6
    warmth = Warmth(level, Effort(), np.random.default_rng(0))
    after, groups = warmth.moved(stray, groups_of(level, stray), (0.3, 0.0, 0.0))
    assert after.tolist() == z.tolist()
    assert groups.inner.tolist() == [28.0] * 6
    assert warmth.unsure < 1.0


def test_groups_that_avoid_themselves_have_a_rate_above_the_rest():
    """Sides of a bipartite graph: a link inside must not count against a node."""
    level = level_of(nx.complete_bipartite_graph(5, 5))
    z = np.repeat(np.arange(2, dtype=np.int32), 5)
    rate = rates._rates(groups_of(level, z))
    assert (rate[:, :2] > 0.0).all()
    assert np.isfinite(rate).all()


def test_levels_of_no_strength_have_rates():
    level = Level(level_of(nx.path_graph(3)).A, np.array([1.0, 2.0, 1.0]), np.zeros(3), np.ones(3))
    assert np.isfinite(rates._rates(level)).all()


def test_rounding_never_leaves_a_group_less_than_no_weight_inside():
    """Beside a link of 1e12 inside of group 0 the sum has no digits left for one of 5e-5."""
    weight = {(0, 1): 1e12, (1, 2): 5e-5, (2, 3): 1e-9, (0, 4): 1e12, (2, 4): 1e12}
    G = nx.Graph(list(weight))
    level = level_of(G, weights=np.array([weight[edge] for edge in G.edges]))
    z = np.array([0, 0, 0, 0, 1], dtype=np.int32)
    into_group_1 = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    moved, (_, inner, _), moves = swept(level, z, into_group_1, 0.0)
    assert moves == 3
    assert moved.tolist() == [1, 1, 1, 0, 1]
    assert inner.min() >= 0.0


def test_inner_weights_below_zero_count_as_none():
    level = level_of(KARATE)
    groups = groups_of(level, FACTIONS)
    none = groups._replace(inner=np.array([0.0, groups.inner[1]]))
    rounded = groups._replace(inner=np.array([-1e-12, groups.inner[1]]))
    assert np.isfinite(nats_saved(rounded))
    assert nats_saved(rounded) == pytest.approx(nats_saved(none))


def test_what_is_saved_is_never_nan():
    level = level_of(KARATE)
    groups = groups_of(level, FACTIONS)
    assert nats_saved(groups._replace(inner=np.array([np.nan, 1.0]))) == -np.inf


def test_a_merge_of_unknown_gain_is_never_made_for_its_gain():
    level, z = cliques(3)
    groups = groups_of(level, z)
    groups = groups._replace(inner=np.array([np.nan, *groups.inner[1:]]))
    _, kept = merged(groups, Effort())
    assert kept.n == 3
    _, fewer = merged(groups, Effort(), target=2)
    assert fewer.n == 2
