"""Properties of levels, of the objective, of moves and of the search, against slow twins."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import kgroups as kg
from helpers import oracles_levels as oracles
from helpers.kernels_levels import given_number, moved, nats, objective_of, pairs_saved
from helpers.strategies_levels import (
    ONE,
    connected_graphs,
    graph_of,
    groups_of,
    joined,
    labeled_levels,
    labelings,
    level_of,
    levels,
    problem_of,
    weightings,
)
from kgroups._csr import connected_components
from kgroups._progress import ENTRIES, MOVES, new_control
from kgroups.search import Objective, merged_down, nats_saved, totals
from kgroups.search.arbiter import split_small
from kgroups.search.candidates import search

# Weights between units are of single precision: coarser levels round them.
CLOSE = {"rel": 1e-5, "abs": 1e-4}


@given(labeled_levels(connected=False))
def test_the_level_of_groups_sums_links(case):
    level, z, k = case
    groups = groups_of(level, z, k)
    Y = oracles.indicator(z, k)
    expected = Y.T @ oracles.dense(level.A) @ Y
    np.fill_diagonal(expected, 0.0)
    assert oracles.dense(groups.A) == pytest.approx(expected, rel=1e-6)
    E, K, N = oracles.totals(level, z, k)
    for ours, theirs in zip(totals(level, z, np.array([k]), ONE), (E, K, N), strict=False):
        assert ours == pytest.approx(theirs, rel=1e-9)
    assert groups.inner == pytest.approx(E, rel=1e-6)
    assert groups.strength == pytest.approx(K, rel=1e-9)
    assert groups.nodes.tolist() == N.tolist()


@given(st.lists(levels(), min_size=1, max_size=4), st.data())
def test_a_block_of_the_whole_is_the_level_that_was_put_there(parts, data):
    c = data.draw(st.integers(0, len(parts) - 1))
    found = joined(parts).block(c)
    for ours, theirs in zip(found, parts[c], strict=True):
        assert ours.tolist() == theirs.tolist()


@given(labeled_levels())
def test_nats_are_the_sum_of_their_terms(case):
    level, z, _ = case
    assert nats(level, z) == pytest.approx(oracles.nats_saved(level, z), rel=1e-9, abs=1e-6)


@given(connected_graphs(), st.data())
def test_groups_of_nodes_save_as_much_as_units_as_they_do_as_nodes(G, data):
    level = level_of(G, weights=data.draw(weightings(G)))
    cells, count = data.draw(labelings(len(G)))
    z, k = data.draw(labelings(count))
    code, groups, number = Objective.of(level), groups_of(level, cells, count), np.array([k])
    fine, coarse = nats_saved(level, z[cells], number, code), nats_saved(groups, z, number, code)
    assert coarse == pytest.approx(fine, **CLOSE)
    assert groups.strength.sum() == pytest.approx(2.0 * code.edges[0], rel=1e-12)
    assert groups.nodes.sum() == level.n


@given(labeled_levels(), st.randoms(use_true_random=False))
def test_nats_ignore_the_names_of_groups_and_the_order_of_units(case, random):
    level, z, k = case
    names = np.array(random.sample(range(k), k), dtype=np.int32)
    order = np.array(random.sample(range(z.size), z.size))
    turned = reordered(level, order)
    number = np.array([k])
    before = nats_saved(level, z, number, objective_of(level))
    after = nats_saved(turned, names[z][order], number, objective_of(turned))
    assert after == pytest.approx(before, rel=1e-9, abs=1e-9)


def reordered(level, order):
    """Return the level with its units in another order."""
    A = sparse.csr_array((level.A.data, level.A.indices, level.A.indptr), shape=2 * (order.size,))
    A = A[order][:, order].tocsr()
    return level._replace(
        indptr=A.indptr.astype(level.indptr.dtype),
        indices=A.indices.astype(level.indices.dtype),
        data=A.data.astype(np.float32),
        strength=level.strength[order],
        inner=level.inner[order],
        nodes=level.nodes[order],
    )


@given(labeled_levels())
def test_nothing_is_paid_for_groups_that_avoid_themselves(case):
    """If no group is denser than chance, all that is saved is less than labels cost."""
    level, z, k = case
    E, K, _ = oracles.totals(level, z, k)
    m = level.strength.sum() / 2
    assume(k > 1 and np.all(K**2 / (4 * m) >= E))
    assert nats(level, z) <= 0.0


@given(st.lists(labeled_levels(), min_size=1, max_size=4))
def test_each_component_has_its_own_nats(cases):
    whole = joined([level for level, _, _ in cases])
    z, k = np.concatenate([labels for _, labels, _ in cases]), np.array([k for _, _, k in cases])
    found = nats_saved(whole, z, k, objective_of(whole))
    for saved, (level, labels, _) in zip(found, cases, strict=True):
        assert saved == pytest.approx(oracles.nats_saved(level, labels), rel=1e-9, abs=1e-6)


@given(
    labeled_levels(),
    st.lists(st.sampled_from([0.2, 1.0, 3.0]), max_size=4),
    st.booleans(),
)
def test_the_value_of_moves_is_that_of_the_labels(case, temperatures, keep):
    level, z, k = case
    after, value, _, _, control = moved(level, z, temperatures=temperatures, fixed_k=keep)
    assert value == pytest.approx(oracles.nats_saved(level, after), **CLOSE)
    if keep:
        assert np.unique(after).tolist() == list(range(k))
    if not control[MOVES]:
        assert after.tolist() == (z if keep else oracles.renumbered(z)).tolist()


@given(labeled_levels(), st.booleans())
def test_cold_moves_never_lose(case, keep):
    level, z, _ = case
    _, value, _, _, control = moved(level, z, fixed_k=keep)
    before = oracles.nats_saved(level, z)
    assert value >= before - 1e-6
    if control[MOVES]:
        assert value > before - 1e-6


@given(labeled_levels())
def test_moves_end_where_no_single_move_gains(case):
    """Visits are not limited, so the queue ends empty; every unit is asked again after that.

    Moves are made for units that wait, and a unit whose neighbors stay does not wait even if the
    densities of groups change: so all of them wait again until none moves.
    """
    level, z, _ = case
    for _ in range(100):
        z, value, waiting, _, control = moved(level, z, max_visits=1_000)
        assert not waiting.any()
        if not control[MOVES]:
            break
    assert not control[MOVES]
    for i in range(z.size):
        gain = oracles.best_gain(level, z, i, oracles.nats_saved)
        assert gain <= 1e-4 * max(1.0, abs(value))


@given(labeled_levels(), st.sampled_from([0.3, 1.0, 4.0]))
def test_linear_moves_raise_modularity_at_the_resolution(case, resolution):
    level, z, _ = case
    penalty = resolution / level.strength.sum()
    after, value, waiting, _, control = moved(level, z, penalty=penalty, max_visits=1_000)
    gained = oracles.modularity(level, after, penalty) - oracles.modularity(level, z, penalty)
    rounding = 1e-5 * level.strength.sum()
    assert value == 0.0
    assert gained >= 2e-9 * control[MOVES] - rounding
    assert not waiting.any()


@given(labeled_levels(), st.integers(1, 3))
def test_moves_are_given_up_after_so_many_visits(case, most):
    level, z, _ = case
    control = moved(level, z, max_visits=most).control
    longest = int(np.diff(level.A.indptr).max())
    assert control[ENTRIES] - level.A.indices.size <= most * z.size * longest


@given(labeled_levels(), st.data())
def test_merging_meets_any_target_on_connected_graphs(case, data):
    level, z, k = case
    target = data.draw(st.integers(1, k))
    groups, code = groups_of(level, z, k), objective_of(level)
    label, count = merged_down(groups, code, ONE, np.array([target]), new_control())
    assert count.tolist() == [target]
    assert np.unique(label).tolist() == list(range(target))
    # Whole groups are merged, and only with groups that they are linked to.
    assert label.size == k


@given(connected_graphs(max_nodes=9), st.data())
def test_pairs_are_counted_as_whole_numbers_are(G, data):
    z, k = data.draw(labelings(len(G)))
    assert pairs_saved(level_of(G), z, k) == pytest.approx(oracles.pairs_saved(G, z), abs=1e-9)


@st.composite
def component_graphs(draw):
    """Draw several connected graphs side by side, with weights or none."""
    parts = draw(st.lists(connected_graphs(max_nodes=16), min_size=1, max_size=4))
    G = nx.disjoint_union_all(parts)
    return graph_of(G, weights=draw(weightings(G)))


@settings(max_examples=60)
@given(component_graphs(), st.integers(0, 2**32 - 1), st.booleans(), st.data())
def test_what_the_search_returns(graph, seed, warm, data):
    """Connected communities without gaps, none of a single node beside others, nats as told."""
    problem = problem_of(graph)
    start = data.draw(labelings(graph.n))[0].astype(np.int64) if warm else None
    found, visits, measured = search(problem, kg.Search(), np.random.default_rng(seed), start=start)
    assert visits >= 0
    assert not measured
    saved = nats_saved(problem.level, found.z, found.k, problem.objective)
    assert saved == pytest.approx(found.nats, rel=1e-6, abs=1e-5)
    assert found.score.tolist() == found.nats.tolist()
    for c in range(problem.n_components):
        sizes = np.bincount(found.z[problem.rows(c)])
        assert sizes.size == found.k[c]
        assert sizes.all()
        assert found.k[c] == 1 or sizes.min() > 1
        assert found.nats[c] > np.log(10.0) or (found.k[c], found.nats[c]) == (1, 0.0)
        assert 0.0 <= found.undecided[c] <= 1.0
    labels = np.cumsum(found.k)[problem.component] + found.z
    assert connected_components(problem.A, oracles.renumbered(labels))[0] == found.k.sum()


@settings(max_examples=60)
@given(connected_graphs(max_nodes=20), st.data(), st.integers(0, 2**32 - 1))
def test_any_number_up_to_n_is_met(G, data, seed):
    level = level_of(G, weights=data.draw(weightings(G)))
    k = data.draw(st.integers(1, len(G)))
    z, visits = given_number(level, k, seed=seed)
    assert np.unique(z).tolist() == list(range(k))
    assert visits > 0


@given(connected_graphs(max_nodes=24), st.integers(2, 20), st.data())
def test_small_splits_join_nothing_and_leave_large_communities_whole(G, most, data):
    A = graph_of(G).simple_adjacency()
    _, z = connected_components(A, data.draw(labelings(len(G)))[0].astype(np.int64))
    limit = np.full(len(G), most)
    after = split_small(A, z, limit, kg.Search(), np.random.default_rng(0))
    finer = {*zip(after.tolist(), z.tolist(), strict=True)}
    assert len(finer) == np.unique(after).size == int(after.max()) + 1
    for a, size in enumerate(np.bincount(z)):
        members = np.flatnonzero(z == a)
        own = np.unique(after[members], return_inverse=True)[1]
        if own.any():
            alone = nx.convert_node_labels_to_integers(G.subgraph(members.tolist()), 0, "sorted")
            assert size <= most
            assert oracles.pairs_saved(alone, own) > (0.0 if size <= 9 else np.log(10.0))
