import networkx as nx
import numpy as np
import pytest

from helpers import oracles_spectrum as oracles
from helpers.strategies_spectrum import TEXTBOOK, adjacency_of, csr_of, random_adjacency
from kgroups import (
    Auto,
    BetheHessian,
    Graph,
    Search,
    Spectral,
    detect_communities,
)
from kgroups.errors import InputError
from kgroups.generators import planted_partition
from kgroups.spectrum.operators import R_CHOICES, R_FLOOR

KARATE = nx.karate_club_graph()


def dense(csr):
    n = len(csr.indptr) - 1
    matrix = np.zeros((n, n))
    matrix[np.repeat(np.arange(n), np.diff(csr.indptr)), csr.indices] = csr.data
    return matrix


@pytest.mark.parametrize("name", TEXTBOOK)
def test_matrix_follows_the_definition(name):
    A = adjacency_of(TEXTBOOK[name])
    hessian = BetheHessian().bind(csr_of(A), weighted=False)
    np.testing.assert_allclose(hessian.matrix().toarray(), oracles.bethe_hessian(A, hessian.r))


@pytest.mark.parametrize("seed", range(40))
def test_loops_count_once_in_the_degree_and_stand_on_the_diagonal(seed):
    A = random_adjacency(seed, loops=True)
    hessian = BetheHessian(r=1.7).bind(csr_of(A), weighted=False)
    H = oracles.bethe_hessian(A, 1.7)
    np.testing.assert_allclose(hessian.matrix().toarray(), H)
    np.testing.assert_allclose(hessian.diagonal, A.sum(axis=1) + 1.7**2 - 1.0)
    scale = 1.0 / np.sqrt(hessian.diagonal)
    np.testing.assert_allclose(
        hessian.normalized_matrix().toarray(), scale[:, None] * (1.7 * A) * scale, atol=1e-14
    )


@pytest.mark.parametrize("seed", range(40))
def test_weighted_matrix_follows_the_definition_when_r_is_large(seed):
    W = random_adjacency(seed, weighted=True, loops=seed % 2 == 0)
    r = 1.3 * max(W.max(), 1.0)
    hessian = BetheHessian(r=r).bind(csr_of(W), weighted=True)
    assert hessian.saturated == 0
    np.testing.assert_allclose(
        hessian.matrix().toarray(), oracles.weighted_bethe_hessian(W, r), atol=1e-12
    )


@pytest.mark.parametrize("choice", [*R_CHOICES, 2.5])
@pytest.mark.parametrize("name", TEXTBOOK)
def test_equal_weights_are_the_unweighted_form(name, choice):
    A = adjacency_of(TEXTBOOK[name])
    plain = BetheHessian(choice).bind(csr_of(A), weighted=False)
    scaled = choice if isinstance(choice, str) else 5.0 * choice
    heavy = BetheHessian(scaled).bind(csr_of(5.0 * A), weighted=True)
    if A.any():
        assert heavy.r == pytest.approx(5.0 * plain.r, rel=1e-12)
    assert heavy.saturated == 0
    np.testing.assert_allclose(dense(heavy.normalized), dense(plain.normalized), atol=1e-9)


@pytest.mark.parametrize("choice", R_CHOICES)
@pytest.mark.parametrize("seed", range(30))
def test_scaling_all_weights_changes_nothing(seed, choice):
    W = random_adjacency(seed, weighted=True)
    first = BetheHessian(choice).bind(csr_of(W), weighted=True)
    second = BetheHessian(choice).bind(csr_of(1000.0 * W), weighted=True)
    if W.any():
        assert second.r == pytest.approx(1000.0 * first.r, rel=1e-9)
    assert second.saturated == first.saturated
    np.testing.assert_allclose(dense(second.normalized), dense(first.normalized), rtol=1e-7)


def test_tiny_and_huge_weights_do_not_overflow():
    W = adjacency_of(KARATE)
    for scale in (1e-200, 1e200):
        hessian = BetheHessian().bind(csr_of(scale * W), weighted=True)
        assert hessian.r == pytest.approx(scale * np.sqrt(W.sum() / 34))
        assert np.isfinite(hessian.normalized.data).all()


def test_the_three_rules_on_karate():
    d = np.array([degree for _, degree in KARATE.degree()])
    assert BetheHessian().radius(KARATE, weight=None) ** 2 == pytest.approx(d.mean())
    second = BetheHessian("second-moment").radius(KARATE, weight=None)
    assert second**2 == pytest.approx((d**2).sum() / d.sum() - 1.0)
    third = BetheHessian("nonbacktracking").radius(KARATE, weight=None)
    expected = oracles.nonbacktracking_radius(adjacency_of(KARATE))
    assert third**2 == pytest.approx(expected, rel=1e-9)


def test_weighted_rules_follow_their_formulas_where_nothing_is_saturated():
    rng = np.random.default_rng(3)
    W = np.triu((rng.random((25, 25)) < 0.5) * rng.uniform(1.0, 2.0, (25, 25)), 1)
    W = W + W.T
    csr = csr_of(W)
    first = BetheHessian().bind(csr, weighted=True)
    assert first.saturated == 0
    assert first.r**2 == pytest.approx((W**2).sum() / 25)
    s = (W**2).sum(axis=1)
    second = BetheHessian("second-moment").bind(csr, weighted=True)
    assert second.r**2 == pytest.approx(((s**2).sum() - (W**4).sum()) / s.sum())
    third = BetheHessian("nonbacktracking").bind(csr, weighted=True)
    assert third.r**2 == pytest.approx(oracles.nonbacktracking_radius(W**2), rel=1e-9)


def test_isolated_nodes_do_not_change_r():
    A = np.zeros((40, 40))
    A[:34, :34] = adjacency_of(KARATE)
    for choice in R_CHOICES:
        with_isolated = BetheHessian(choice).bind(csr_of(A), weighted=False).r
        assert with_isolated == pytest.approx(BetheHessian(choice).radius(KARATE, weight=None))


@pytest.mark.parametrize("choice", R_CHOICES)
@pytest.mark.parametrize("weighted", [False, True])
def test_graphs_with_nothing_to_find_still_have_a_positive_diagonal(choice, weighted):
    for name in ("isolated nodes", "lone edges", "path", "cycle"):
        A = adjacency_of(TEXTBOOK[name])
        hessian = BetheHessian(choice).bind(csr_of(A), weighted=weighted)
        assert hessian.r >= R_FLOOR
        assert (hessian.diagonal > 0).all()


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("weighted", [False, True])
def test_restrict_is_the_principal_submatrix(seed, weighted):
    W = random_adjacency(seed, weighted=weighted, loops=seed % 3 == 0)
    hessian = BetheHessian(r=9.0).bind(csr_of(W), weighted=weighted)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(W))[: rng.integers(0, len(W) + 1)]
    part = hessian.restrict(rows)
    np.testing.assert_array_equal(
        part.matrix().toarray(), hessian.matrix().toarray()[np.ix_(rows, rows)]
    )
    assert part.r == hessian.r
    assert part.n == len(rows)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_on_core_is_the_hessian_of_the_smaller_graph(seed, weighted):
    W = random_adjacency(seed, weighted=weighted, loops=seed % 3 == 0)
    r = 1.5 * max(W.max(), 1.0)
    rows = np.flatnonzero(np.random.default_rng(seed).random(len(W)) < 0.7)
    part = BetheHessian(r=r).bind(csr_of(W), weighted=weighted).on_core(rows)
    build = oracles.weighted_bethe_hessian if weighted else oracles.bethe_hessian
    expected = build(W[np.ix_(rows, rows)], r)
    np.testing.assert_allclose(part.matrix().toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, True, "mean", None, "2", [2.0]])
def test_r_that_is_no_rule_and_no_number_is_refused(bad):
    with pytest.raises(InputError, match=r"r must be one of 'mean-degree', .* or a finite number"):
        BetheHessian(r=bad)


def test_a_whole_number_beyond_floats_is_refused():
    with pytest.raises(InputError, match=r"r must be one of 'mean-degree', .* or a finite number"):
        BetheHessian(r=10**400)


@pytest.mark.parametrize("r", [1, 0.5])
def test_r_of_at_most_one_is_refused_without_weights(r):
    with pytest.raises(InputError, match=r"r must be > 1 on a graph without weights, got"):
        BetheHessian(r=r).matrix(KARATE, weight=None)


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_r_far_beyond_the_weights_is_refused(unit):
    W = unit * adjacency_of(KARATE)
    said = r"r must not exceed 1e\+09 times the largest weight, got r=.* for weights up to"
    with pytest.raises(InputError, match=said):
        BetheHessian(r=1e30 * unit).bind(csr_of(W), weighted=True)
    assert np.isfinite(BetheHessian(r=1e9 * unit).bind(csr_of(W), weighted=True).diagonal).all()
    without = r"r must not exceed 1e\+09 .* for a graph without weights"
    with pytest.raises(InputError, match=without):
        BetheHessian(r=1e30).bind(csr_of(W), weighted=False)


@pytest.mark.parametrize("method", [Auto(), Spectral("filtered"), Search(), Spectral("exact")])
@pytest.mark.parametrize("k", [None, 3])
def test_every_r_is_used_or_refused(method, k):
    """Large graphs are worked on with 32-bit floats, which end at 1e38."""
    plain, _ = planted_partition(1_100, 4, 10.0, 2.0, rng=0)
    u, v, _ = plain.edges()
    weights = np.random.default_rng(0).lognormal(0.0, 1.0, len(u))
    for graph, lowest in ((plain, 1.1), (Graph.from_edges(u, v, weights, n=1_100), 5e-324)):
        for r in (lowest, 1e9):
            partition = detect_communities(graph, k, operator=BetheHessian(r), method=method)
            assert k is None or len(partition) == k
        for r in (1e20, 1e30, 1e160):
            with pytest.raises(InputError, match="r must not exceed"):
                detect_communities(graph, k, operator=BetheHessian(r), method=method)


def test_a_small_r_is_fine_in_the_unit_of_small_weights():
    W = 0.1 * adjacency_of(KARATE)
    hessian = BetheHessian(r=0.25).bind(csr_of(W), weighted=True)
    plain = BetheHessian(r=2.5).bind(csr_of(10 * W), weighted=False)
    np.testing.assert_allclose(hessian.normalized.data, plain.normalized.data)


def test_self_loops_must_be_dropped_or_kept():
    with pytest.raises(InputError, match="self_loops must be one of 'drop', 'keep', got 'maybe'"):
        BetheHessian().matrix(KARATE, self_loops="maybe")
    graph = nx.Graph([(0, 1), (1, 2), (2, 0), (0, 0)])
    assert BetheHessian(2.0).matrix(graph).toarray()[0, 0] == 5.0
    assert BetheHessian(2.0).matrix(graph, self_loops="keep").toarray()[0, 0] == 4.0
