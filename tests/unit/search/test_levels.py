import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from helpers import oracles_levels as oracles
from helpers.kernels_levels import moved
from helpers.strategies_hartigan import as_csr
from helpers.strategies_levels import ONE, graph_of, groups_of, level_of
from kgroups._csr import constant, inner_weights
from kgroups._progress import new_control
from kgroups.graph import Graph
from kgroups.search import (
    _search_nb,
    coarsened,
    finest_level,
    intersection,
    levels,
    singletons,
    totals,
)

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
    both = finest_level(twice.simple_adjacency(), weighted=True, offsets=np.array([0, 34, 68]))
    assert both.A.data == pytest.approx(np.tile(alone.A.data, 2), rel=1e-6)
    assert both.strength == pytest.approx(np.tile(alone.strength, 2), rel=1e-6)


def test_a_vanishing_weight_remains_a_link():
    level = level_of(nx.path_graph(3), weights=[1e-60, 1.0])
    assert (level.A.data > 0.0).all()


def test_a_graph_without_edges_has_a_finest_level():
    level = finest_level(Graph.from_edges([], [], [], n=3).simple_adjacency(), weighted=True)
    assert level.strength.tolist() == [0.0] * 3


@pytest.mark.parametrize("k", [1, 3, 34])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_graph_of_groups_is_that_of_scipy(k, weighted):
    weights = np.random.default_rng(1).lognormal(size=78) if weighted else None
    level = level_of(KARATE, weights=weights)
    z = (np.arange(34) % k).astype(np.int32)
    groups = groups_of(level, z, k)
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
    in_one = groups_of(level, coarse[fine], 4)
    in_two = groups_of(groups_of(level, fine, 9), coarse, 4)
    assert oracles.dense(in_two.A).tolist() == oracles.dense(in_one.A).tolist()
    for one, two in zip(in_one[3:], in_two[3:], strict=True):
        assert two.tolist() == one.tolist()


def beside(*parts, **options):
    """Return the finest level of graphs side by side, each a component."""
    offsets = np.concatenate([[0], np.cumsum([len(G) for G in parts])])
    A = graph_of(nx.disjoint_union_all(parts)).simple_adjacency()
    return finest_level(A, weighted=False, offsets=offsets, **options)


def test_a_block_is_the_graph_of_its_nodes():
    level = beside(nx.path_graph(4), KARATE, nx.cycle_graph(5))
    assert_equal_levels(level.block(1), level_of(KARATE))
    whole = level.as_one()
    assert whole.block(0) is whole
    assert oracles.dense(whole.A).tolist() == oracles.dense(level.A).tolist()


def test_components_have_their_sizes_entries_and_places():
    level = beside(nx.path_graph(4), KARATE, nx.cycle_graph(5))
    assert (level.n, level.sizes.tolist(), level.entries.tolist()) == (43, [4, 34, 5], [6, 156, 10])
    assert level.rows(1) == slice(4, 38)
    assert np.flatnonzero(level.mask(np.array([0, 2]))).tolist() == [*range(4), *range(38, 43)]
    assert singletons(level).tolist() == [*range(4), *range(34), *range(5)]


def test_kernels_work_in_arrays_for_the_largest_component(monkeypatch):
    """Small levels keep them between calls."""
    level = beside(nx.path_graph(4), KARATE, nx.cycle_graph(5))
    scratch = level.scratch
    assert (scratch.link.size, scratch.indices.size, scratch.strength.size) == (34, 312, 68)
    assert level.scratch is scratch
    assert level.block(1).scratch is not scratch
    monkeypatch.setattr(levels, "_KEPT_UNITS", 42)
    assert level.scratch is not level.scratch


def test_labels_go_to_a_coarser_level_and_back():
    """The second component is left out of the coarser level."""
    level = beside(nx.path_graph(6), KARATE, nx.cycle_graph(4))
    cells = np.concatenate([np.arange(6) // 2, np.zeros(34), np.arange(4) // 2]).astype(np.int32)
    top = coarsened(level, cells, np.array([3, 1, 2]), np.array([0, 2]), new_control())
    assert (top.n, top.sizes.tolist()) == (5, [3, 0, 2])
    labels = np.array([1, 0, 1, 0, 1], dtype=np.int32)
    lifted, kept = level.lifted(top, labels, cells), level.mask(np.array([0, 2]))
    assert lifted[kept].tolist() == [1, 1, 0, 0, 1, 1, 0, 0, 1, 1]
    assert level.contracted(top, lifted, cells).tolist() == labels.tolist()


def test_the_intersection_keeps_together_what_both_do():
    z = np.array([0, 0, 0, 1, 1, 2], dtype=np.int32)
    y = np.array([4, 4, 2, 2, 4, 4], dtype=np.int32)
    cells, count = intersection(level_of(nx.path_graph(6)), z, np.array([3]), y, ONE)
    assert count.tolist() == [5]
    assert cells.tolist() == [0, 0, 1, 2, 3, 4]


def with_and_without_ones(G):
    """Return the finest level of a graph with a weight for each link, and with one for all."""
    A = graph_of(G).simple_adjacency()
    return finest_level(A, weighted=False), finest_level(A, weighted=False, implicit_entries=0)


def assert_equal_levels(one, other):
    for ours, theirs in zip(one, other, strict=True):
        assert ours.tolist() == theirs.tolist()


def test_one_number_stands_for_all_weights_of_a_large_graph():
    explicit, implicit = with_and_without_ones(KARATE)
    assert explicit.A.data.tolist() == [1.0] * 156
    assert implicit.A.data.tolist() == [1.0]
    assert implicit.with_explicit_weights().data.tolist() == [1.0] * 156
    assert explicit.with_explicit_weights() is explicit
    weighted = graph_of(KARATE, weights=np.arange(1.0, 79.0)).simple_adjacency()
    assert finest_level(weighted, weighted=True, implicit_entries=0).A.data.size == 156


def test_kernels_find_the_same_with_one_number_for_all_weights():
    two = [beside(KARATE, nx.ring_of_cliques(4, 5), implicit_entries=n) for n in (1_000, 0)]
    assert [level.data.size for level in two] == [244, 1]
    z = (np.arange(54) % 7).astype(np.int32)
    both, k = np.arange(2), np.array([7, 7])
    assert_equal_levels(*(coarsened(level, z, k, both, new_control()) for level in two))
    for ours, theirs in zip(*(totals(level, z, k, both) for level in two), strict=True):
        assert ours.tolist() == theirs.tolist()
    blocks = [level.block(1) for level in two]
    assert blocks[1].data.tolist() == [1.0]
    assert_equal_levels(*(groups_of(level, z[:20], 7) for level in blocks))
    for penalty in (0.0, 1.0 / 156.0):
        found = [moved(level, z[:20], penalty=penalty, temperatures=[1.0]) for level in blocks]
        assert found[0].z.tolist() == found[1].z.tolist()
        assert found[0].value == found[1].value


@pytest.mark.parametrize("k", [33, 2])
def test_links_between_groups_are_those_of_the_matrix_whether_few_or_many(k):
    """With many groups the arrays are kept as they are, with few they are copied."""
    z = (np.arange(34) % k).astype(np.int32)
    groups = groups_of(level_of(KARATE), z, k)
    inside = np.eye(k)[z]
    expected = inside.T @ nx.to_numpy_array(KARATE, weight=None) @ inside
    np.fill_diagonal(expected, 0.0)
    assert oracles.dense(groups.A).tolist() == expected.tolist()


def test_a_flag_ends_the_work_on_a_level():
    level, z, stop = level_of(KARATE), (np.arange(34) % 3).astype(np.int32), new_control()
    stop[2] = 1
    none, ends, sums = np.zeros(0), np.array([0, 3]), (*np.zeros((2, 3)), np.zeros(3, np.int64))
    code, found = (none, none, none, ends), (np.zeros((1, 3)), np.zeros(1))
    _search_nb.describe(*level, *code, ONE, z, ends, *sums, *found, stop)
    assert not any(total.any() for total in sums)
    scratch, groups = level.scratch, [np.zeros_like(column) for column in level[:6]]
    filled = np.zeros(1, dtype=np.int64)
    _search_nb.coarsen(*level, ONE, z, 0, ends, *groups, *scratch[:5], filled, stop)
    assert not any(column.any() for column in groups)
    waiting, cells = np.zeros(34, dtype=np.bool_), np.arange(3, dtype=np.int32)
    ends = level.offsets, ends
    state = z, np.ones(3, np.int64), cells, cells[::-1].copy(), waiting, scratch.work, stop
    _search_nb.wake(level.indptr, level.indices, *ends, ONE, *state)
    assert not waiting.any()


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
