import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from helpers import oracles_levels as oracles
from helpers.kernels_levels import moved
from helpers.strategies_hartigan import as_csr
from helpers.strategies_levels import graph_of, level_of
from kgroups._csr import constant
from kgroups._progress import new_tally
from kgroups.graph import Graph
from kgroups.multilevel import explicit_weights, finest_level, inner_weights
from kgroups.multilevel._levels_nb import (
    block_level,
    coarsened,
    intersection,
    renumbered,
)
from kgroups.multilevel._moving_nb import group_totals

KARATE = nx.karate_club_graph()


def test_the_finest_level_of_an_unweighted_graph_counts_edges():
    level = level_of(KARATE)
    assert level.strength.tolist() == [d for _, d in KARATE.degree]
    assert level.nodes.tolist() == [1] * 34
    assert not level.inner.any()
    assert level.A.data.dtype == np.float32


def test_equal_weights_are_as_good_as_none():
    plain, equal = level_of(KARATE), level_of(KARATE, weights=np.full(78, 3.7))
    assert equal.A.data.tolist() == plain.A.data.tolist()
    assert equal.strength.tolist() == plain.strength.tolist()


def test_the_unit_of_weights_is_their_mean_square_over_their_mean():
    weights = np.array([1.0, 2.0, 5.0])
    level = level_of(nx.path_graph(4), weights=weights)
    expected = weights * 8.0 / 30.0
    assert level.strength.sum() == pytest.approx(2.0 * expected.sum(), rel=1e-6)
    assert np.unique(level.A.data) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("unit", [1e-9, 0.3, 1e12])
def test_the_scale_of_weights_does_not_matter(unit):
    weights = np.random.default_rng(0).lognormal(size=78)
    level, scaled = (level_of(KARATE, weights=factor * weights) for factor in (1.0, unit))
    assert scaled.A.data == pytest.approx(level.A.data, rel=1e-6)


def test_each_component_has_a_scale_of_its_own():
    weights = np.random.default_rng(1).lognormal(size=78)
    alone = level_of(KARATE, weights=weights)
    twice = graph_of(
        nx.disjoint_union(KARATE, KARATE), weights=np.concatenate([weights, 1e6 * weights])
    )
    component = np.repeat([0, 1], 34)
    both = finest_level(twice.simple_adjacency(), weighted=True, component=component)
    assert both.A.data == pytest.approx(np.tile(alone.A.data, 2), rel=1e-6)
    assert both.strength == pytest.approx(np.tile(alone.strength, 2), rel=1e-6)


def test_a_vanishing_weight_remains_a_link():
    level = level_of(nx.path_graph(3), weights=[1e-60, 1.0])
    assert (level.A.data > 0.0).all()


def test_a_graph_without_edges_has_a_finest_level():
    level = finest_level(Graph.from_edges([], [], [], n=3).simple_adjacency(), weighted=True)
    assert level.strength.tolist() == [0.0] * 3


def test_labels_are_renumbered_by_first_appearance():
    z, k = renumbered(np.array([7, 3, 7, 0], dtype=np.int32), 8)
    assert z.tolist() == [0, 1, 0, 2]
    assert k == 3


def test_no_labels_are_no_groups():
    z, k = renumbered(np.array([], dtype=np.int32), 0)
    assert (z.size, k) == (0, 0)


@pytest.mark.parametrize("k", [1, 3, 34])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_graph_of_groups_is_that_of_scipy(k, weighted):
    weights = np.random.default_rng(1).lognormal(size=78) if weighted else None
    level = level_of(KARATE, weights=weights)
    z = (np.arange(34) % k).astype(np.int32)
    groups = coarsened(level, z, k, new_tally())
    A = sparse.csr_array((level.A.data.astype(float), level.A.indices, level.A.indptr))
    Y = sparse.csr_array((np.ones(34), z, np.arange(35)), shape=(34, k))
    expected = (Y.T @ A @ Y).toarray()
    assert groups.inner == pytest.approx(np.diag(expected) / 2, rel=1e-12)
    np.fill_diagonal(expected, 0.0)
    assert oracles.dense(groups.A) == pytest.approx(expected, rel=1e-6)
    assert groups.strength == pytest.approx(Y.T @ level.strength, rel=1e-12)
    assert groups.nodes.tolist() == np.bincount(z).tolist()


def test_groups_of_groups_are_groups_of_nodes():
    level = level_of(KARATE)
    fine = (np.arange(34) % 9).astype(np.int32)
    coarse = (np.arange(9) % 4).astype(np.int32)
    in_one = coarsened(level, coarse[fine], 4, new_tally())
    in_two = coarsened(coarsened(level, fine, 9, new_tally()), coarse, 4, new_tally())
    assert oracles.dense(in_two.A).tolist() == oracles.dense(in_one.A).tolist()
    for one, two in zip(in_one[1:], in_two[1:], strict=True):
        assert two.tolist() == one.tolist()


def test_a_block_is_the_graph_of_its_nodes():
    parts = [nx.path_graph(4), KARATE, nx.cycle_graph(5)]
    level = level_of(nx.disjoint_union_all(parts))
    block, alone = block_level(level, 4, 38), level_of(KARATE)
    assert oracles.dense(block.A).tolist() == oracles.dense(alone.A).tolist()
    for one, other in zip(block[1:], alone[1:], strict=True):
        assert one.tolist() == other.tolist()
    whole = block_level(level, 0, 43)
    assert oracles.dense(whole.A).tolist() == oracles.dense(level.A).tolist()


def test_a_block_does_not_share_memory_with_the_whole():
    level = level_of(nx.disjoint_union(KARATE, KARATE))
    block = block_level(level, 34, 68)
    block.strength[:] = 0.0
    block.A.data[:] = 0.0
    assert level.strength.all()
    assert level.A.data.all()


def test_the_intersection_keeps_together_what_both_do():
    z = np.array([0, 0, 0, 1, 1, 2], dtype=np.int32)
    y = np.array([4, 4, 2, 2, 4, 4], dtype=np.int32)
    cells, count = intersection(z, y, 3)
    assert count == 5
    assert cells.tolist() == [0, 0, 1, 2, 3, 4]


def with_and_without_ones(G):
    """Return the finest level of a graph with a weight for each link, and with one for all."""
    A = graph_of(G).simple_adjacency()
    return finest_level(A, weighted=False), finest_level(A, weighted=False, implicit_entries=0)


def assert_equal_levels(one, other):
    for ours, theirs in zip((*one.A, *one[1:]), (*other.A, *other[1:]), strict=True):
        assert ours.tolist() == theirs.tolist()


def test_one_number_stands_for_all_weights_of_a_large_graph():
    explicit, implicit = with_and_without_ones(KARATE)
    assert explicit.A.data.tolist() == [1.0] * 156
    assert implicit.A.data.tolist() == [1.0]
    assert explicit_weights(implicit.A).data.tolist() == [1.0] * 156
    assert explicit_weights(explicit.A) is explicit.A
    weighted = graph_of(KARATE, weights=np.arange(1.0, 79.0)).simple_adjacency()
    assert finest_level(weighted, weighted=True, implicit_entries=0).A.data.size == 156


def test_kernels_find_the_same_with_one_number_for_all_weights():
    both = nx.disjoint_union(KARATE, nx.ring_of_cliques(4, 5))
    levels = with_and_without_ones(both)
    z = (np.arange(54) % 7).astype(np.int32)
    assert_equal_levels(*(coarsened(level, z, 7, new_tally()) for level in levels))
    blocks = [block_level(level, 34, 54) for level in levels]
    assert blocks[1].A.data.tolist() == [1.0]
    assert_equal_levels(*(coarsened(level, z[:20], 7, new_tally()) for level in blocks))
    totals = [group_totals(level, z, 7, new_tally()) for level in levels]
    for ours, theirs in zip(*totals, strict=True):
        assert ours.tolist() == theirs.tolist()
    for penalty in (0.0, 1.0 / 156.0):
        found = [moved(level, z, penalty=penalty, temperatures=[1.0]) for level in levels]
        assert found[0].z.tolist() == found[1].z.tolist()
        assert found[0].value == found[1].value


@pytest.mark.parametrize("k", [33, 2])
def test_links_between_groups_are_those_of_the_matrix_whether_few_or_many(k):
    """With many groups the arrays are kept as they are, with few they are copied."""
    z = (np.arange(34) % k).astype(np.int32)
    groups = coarsened(level_of(KARATE), z, k, new_tally())
    inside = np.eye(k)[z]
    expected = inside.T @ nx.to_numpy_array(KARATE, weight=None) @ inside
    np.fill_diagonal(expected, 0.0)
    assert oracles.dense(groups.A).tolist() == expected.tolist()


def test_a_flag_ends_the_work_on_a_level():
    level, z, stop = level_of(KARATE), (np.arange(34) % 3).astype(np.int32), new_tally()
    stop[2] = 1
    assert not any(total.any() for total in group_totals(level, z, 3, stop))
    assert coarsened(level, z, 3, stop).nodes.size == level.nodes.size


@pytest.mark.parametrize("at_once", [1, 50, 10_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_inside_groups_are_those_of_the_dense_matrix(at_once, weighted):
    A, z = nx.to_numpy_array(KARATE, weight="weight" if weighted else None), np.arange(34) % 4
    A[3, 3] = 2.0 if weighted else 1.0
    csr = as_csr(A)
    if not weighted:
        csr = csr._replace(data=constant(1.0, csr.indices.size))
    inside = np.eye(4)[z]
    expected = 0.5 * np.diag(inside.T @ A @ inside)
    assert inner_weights(csr, z, 4, at_once=at_once) == pytest.approx(expected, rel=1e-12)
