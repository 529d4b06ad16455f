"""Moves of units between groups, on graphs whose answers are known."""

import networkx as nx
import numpy as np
import pytest

from helpers import oracles_levels as oracles
from helpers.kernels_levels import moved, nats
from helpers.strategies_levels import level_of
from kgroups._progress import MOVES, new_control
from kgroups.search._search_nb import saving

KARATE = nx.karate_club_graph()


def test_terms_are_paid_on_their_own_side_of_chance_only():
    assert saving(3.0, 2.0, 1.0) == pytest.approx(3.0 * np.log(1.5) - 1.0)
    assert saving(2.0, 3.0, -1.0) == pytest.approx(2.0 * np.log(2.0 / 3.0) + 1.0)
    for E, P in ((2.0, 3.0), (2.0, 2.0), (1.0, 0.0)):
        assert saving(E, P, 1.0) == 0.0
    for E, P in ((3.0, 2.0), (2.0, 2.0)):
        assert saving(E, P, -1.0) == 0.0
    assert saving(0.0, 2.0, -1.0) == 2.0


@pytest.mark.parametrize("E", [np.nan, 1.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_terms_that_are_not_a_number_pay_nothing(E, sign):
    assert saving(E, np.nan, sign) == 0.0
    assert saving(np.nan, E, sign) == 0.0


def test_strays_return_to_their_clique():
    level, cliques = level_of(nx.ring_of_cliques(6, 8)), np.repeat(np.arange(6), 8)
    stray = cliques.copy()
    stray[::8] = (stray[::8] + 1) % 6
    z, value = moved(level, stray)[:2]
    assert z.tolist() == cliques.tolist()
    assert value == pytest.approx(oracles.nats_saved(level, cliques), rel=1e-12)


def test_a_node_may_open_a_group_of_its_own_unless_their_number_is_kept():
    """Pairs of a clique are worth less than the cost of their densities."""
    level, pairs = level_of(nx.ring_of_cliques(6, 8)), np.arange(48) // 2
    free, value = moved(level, pairs)[:2]
    assert np.unique(free).size > 24
    assert value > oracles.nats_saved(level, pairs)
    kept = moved(level, pairs, fixed_k=True).z
    assert np.unique(kept).size == 24


def test_only_units_that_wait_are_visited():
    level, cliques = level_of(nx.ring_of_cliques(6, 8)), np.repeat(np.arange(6), 8)
    stray = cliques.copy()
    stray[::8] = (stray[::8] + 1) % 6
    waiting = np.zeros(48, dtype=np.bool_)
    waiting[16] = True
    control = new_control()
    z = moved(level, stray, waiting=waiting, control=control).z
    # Neighbors of the node that moved are visited too; nodes 0 and 8 are none of them.
    assert z[16] == z[17]
    assert z[0] == z[9] != z[1]
    assert not waiting.any()
    assert control[MOVES] == 1


def test_nodes_between_two_groups_are_undecided():
    level = level_of(nx.ring_of_cliques(2, 12))
    z = np.repeat([0, 1], 12)
    undecided = moved(level, z, undecided_margin=6.0).undecided
    assert not undecided.any()
    between = nx.disjoint_union(nx.complete_graph(8), nx.complete_graph(8))
    between.add_edges_from((16, i) for i in (0, 1, 2, 8, 9, 10))
    undecided = moved(
        level_of(between), np.repeat([0, 1, 0], [8, 8, 1]), undecided_margin=1.0
    ).undecided
    assert np.flatnonzero(undecided).tolist() == [16]


@pytest.mark.parametrize("start", [0, 1, 2, 7])
def test_any_order_of_visits_finds_the_cliques(start):
    level, cliques = level_of(nx.ring_of_cliques(6, 8)), np.repeat(np.arange(6), 8)
    penalty = 1.0 / level.strength.sum()
    assert moved(level, np.arange(48), penalty=penalty, start=start).z.tolist() == cliques.tolist()
    stray = np.where(np.arange(48) % 4 == 0, (cliques + 1) % 6, cliques)
    assert moved(level, stray, start=start).z.tolist() == cliques.tolist()


@pytest.mark.parametrize("n", [2, 3, 4, 5, 12, 48, 97])
@pytest.mark.parametrize("start", range(6))
def test_every_start_visits_each_unit_once(n, start):
    """The penalty is so high that none moves."""
    level = level_of(nx.path_graph(n))
    found = moved(level, np.arange(n), penalty=99.0, start=start, max_visits=1)
    assert found.z.tolist() == list(range(n))
    assert not found.waiting.any()
    assert found.control.tolist()[:2] == [level.indices.size, 0]


def test_every_start_has_an_order_of_its_own():
    level = level_of(nx.gnm_random_graph(60, 150, seed=0))
    found = {tuple(moved(level, np.arange(60), penalty=0.01, start=s).z) for s in range(4)}
    assert len(found) == 4


def test_a_flag_stops_the_moves():
    level = level_of(KARATE)
    start = np.arange(34)
    for temperatures in ([], [1.0, 0.5]):
        control = np.array([0, 0, 1, 0, 0])
        z = moved(level, start, temperatures=temperatures, control=control).z
        assert z.tolist() == start.tolist()
        assert control[MOVES] == 0


@pytest.mark.parametrize("penalty", [0.0, 1.0 / 156.0])
def test_visits_are_counted_and_limited(penalty):
    """At a penalty each node that is visited once reads its row once."""
    level = level_of(nx.gnm_random_graph(50, 200, seed=1))
    before = 0 if penalty else level.A.indices.size
    controls = []
    for most in (1, 10):
        control = new_control()
        moved(level, np.arange(50) % 7, penalty=penalty, control=control, max_visits=most)
        controls.append(control)
    first, more = controls
    assert 0 < first[1] <= 50
    assert first[0] <= before + 50 * level.strength.max()
    assert more[0] > first[0]


def test_the_same_noise_gives_the_same_moves():
    level = level_of(nx.gnm_random_graph(150, 600, seed=2))
    runs = [moved(level, np.arange(150) % 6, temperatures=[1.0, 0.3]) for _ in range(2)]
    assert runs[0][0].tolist() == runs[1][0].tolist()
    assert runs[0][1] == runs[1][1]


@pytest.mark.compiled
@pytest.mark.parametrize("temperature", [0.6, 1.0, 1.6])
def test_warm_moves_follow_the_law_of_gibbs(temperature):
    """8192 nodes with one link more to one of two cliques: within 5 sd of the logistic law.

    They start near the share that the law gives, so that the rates stay what they are.
    """
    count = 1 << 13
    G = nx.disjoint_union(nx.complete_graph(200), nx.complete_graph(200))
    preferred = np.arange(count) % 2
    G.add_edges_from((200 * side, 400 + i) for i in range(count) for side in (0, 1))
    G.add_edges_from((200 * int(side) + 1, 400 + i) for i, side in enumerate(preferred))
    level = level_of(G)
    rng = np.random.default_rng(0)
    astray = rng.random(count) > 1.0 / (1.0 + np.exp(-1.8 / temperature))
    z = np.concatenate([np.repeat([0, 1], 200), preferred ^ astray]).astype(np.int32)
    waiting = np.arange(len(G)) >= 400
    # No unit is undecided in the end, so that the queue after the sweep stays empty.
    undecided = np.zeros(len(G), dtype=np.bool_)
    after = moved(
        level,
        z,
        temperatures=[temperature],
        waiting=waiting,
        undecided=undecided,
        undecided_margin=-1.0,
    ).z
    other = after.copy()
    other[400 + np.argmax(after[400:] == preferred)] ^= 1
    ahead = nats(level, after) - nats(level, other)
    expected = 1.0 / (1.0 + np.exp(-ahead / temperature))
    share = float(np.mean(after[400:] == preferred))
    assert abs(share - expected) < 5.0 * np.sqrt(expected * (1.0 - expected) / count)


def test_rounding_never_leaves_a_group_less_than_no_weight_inside():
    """Beside a link of 1e12 inside of group 0 the sum has no digits left for one of 5e-5."""
    weight = {(0, 1): 1e12, (1, 2): 5e-5, (2, 3): 1e-9, (0, 4): 1e12, (2, 4): 1e12}
    G = nx.Graph(list(weight))
    level = level_of(G, weights=np.array([weight[edge] for edge in G.edges]))
    for labels in ([0, 0, 0, 0, 1], [0, 1, 2, 3, 4], [0, 1, 1, 0, 1]):
        z, value = moved(level, labels, temperatures=[3.0, 1.0])[:2]
        assert np.isfinite(value)
        assert value == pytest.approx(oracles.nats_saved(level, z), abs=1e-6)
