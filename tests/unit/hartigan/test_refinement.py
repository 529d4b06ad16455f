from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import kgroups as kg
from helpers.oracles_levels import dense
from kgroups.adapters import as_graph
from kgroups.errors import InputError
from kgroups.hartigan import Hartigan, group_association, planted_fit, refine_labels
from kgroups.search import prepare
from kgroups.search import problem as problems

WHOLE = np.zeros(1, dtype=np.int64)


def karate_problem(*, fast=False):
    problem = prepare(as_graph(nx.karate_club_graph(), weight=None)).problem
    return replace(problem, fast=fast)


def bound_karate():
    problem = karate_problem()
    return problem.A, problem.strength, problem.hessian


def likelihood_moves(level, z, *, k):
    return problems.likelihood_moves(level, z, np.array([k]), WHOLE)


@pytest.mark.parametrize("weights", ["association", "uniform", "gram"])
def test_conventions_are_the_matrices_of_the_theory(weights):
    A, d, hessian = bound_karate()
    M, diagonal, w = Hartigan(weights=weights).objective(hessian, d)
    H = hessian.matrix().toarray()
    expected, node_weights = {
        "association": (-H, hessian.diagonal),
        "uniform": (-H, np.ones(34)),
        "gram": (-d[:, None] * H * d, d),
    }[weights]
    np.testing.assert_allclose(np.diag(diagonal) + dense(M), expected, atol=1e-12)
    np.testing.assert_allclose(w, node_weights)
    assert len(A.indices) == len(M.indices)


@pytest.mark.parametrize("weights", ["association", "uniform", "gram"])
def test_refinement_raises_its_objective(weights):
    A, d, hessian = bound_karate()
    method = Hartigan(weights=weights, candidates="all", guard=None)
    z = np.arange(34) % 2
    found = method.refine(karate_problem(), z)
    M, diagonal, w = method.objective(hessian, d)
    assert found.objective > group_association(M, diagonal, w, z, k=2)
    assert found.objective == pytest.approx(group_association(M, diagonal, w, found.z, k=2))
    assert found.visits == found.sweeps * len(A.indices)


def test_planted_fit_equals_its_formula():
    A, d, _ = bound_karate()
    z = np.array([0] * 17 + [1] * 17)
    G = nx.karate_club_graph()
    inner = sum(z[u] == z[v] for u, v in G.edges)
    K = [d[z == a].sum() for a in (0, 1)]
    m = 78
    expected = sum(x * x for x in K) / (4 * m)
    gain = inner * np.log(inner / expected) + (m - inner) * np.log((m - inner) / (m - expected))
    fit = planted_fit(A, d, z, k=2)
    assert fit.gain == pytest.approx(gain)
    assert fit.inside == pytest.approx(inner / expected)


def test_planted_fit_does_not_depend_on_the_unit_of_weights():
    A, d, _ = bound_karate()
    z = np.arange(34) % 3
    heavy = A._replace(data=A.data * 1000)
    assert planted_fit(heavy, d * 1000, z, k=3).gain == pytest.approx(
        planted_fit(A, d, z, k=3).gain
    )
    level = karate_problem().level
    moved = likelihood_moves(level, z, k=3)
    thousand = level._replace(data=level.data * np.float32(1000), strength=level.strength * 1000)
    assert np.array_equal(likelihood_moves(thousand, z, k=3), moved)
    assert planted_fit(A, d, moved, k=3).gain >= planted_fit(A, d, z, k=3).gain


def test_likelihood_moves_keep_groups_filled_and_arrays_as_they_were():
    (A, d, _), level = bound_karate(), karate_problem().level
    before = [array.copy() for array in level]
    start = np.arange(34) // 9
    z = likelihood_moves(level, start, k=4)
    assert all(np.array_equal(array, one) for array, one in zip(level, before, strict=True))
    assert np.unique(z).tolist() == [0, 1, 2, 3]
    assert planted_fit(A, d, z, k=4).gain > planted_fit(A, d, start, k=4).gain
    assert start.tolist() == (np.arange(34) // 9).tolist()


def test_loops_do_not_hold_a_node_in_its_group():
    G = nx.barbell_graph(6, 0)
    G.add_edge(0, 0)
    problem = prepare(as_graph(G), self_loops="keep").problem
    assert problem.loops
    start = np.repeat([0, 1], 6)
    start[0] = 1
    assert likelihood_moves(problem.level, start, k=2).tolist() == [0] * 6 + [1] * 6


def kept_by_the_guard(labels, z, *, guard=0.2, fast=False):
    method, names = Hartigan(guard=guard), {0: "hartigan"}
    problem, k = karate_problem(fast=fast), np.array([2])
    kept = method._guarded(problem, labels, z.copy(), k, WHOLE, names)
    return kept, names[0]


HALVES = np.array([0] * 17 + [1] * 17)


@pytest.mark.parametrize("fast", [False, True])
def test_the_guard_keeps_the_moves_of_the_likelihood_where_hartigan_falls_short(fast):
    giant = np.zeros(34, dtype=np.int64)
    giant[0] = 1
    moved = likelihood_moves(karate_problem().level, HALVES, k=2)
    kept, name = kept_by_the_guard(HALVES, giant, fast=fast)
    assert (kept.tolist(), name) == (moved.tolist(), "likelihood moves")
    kept, name = kept_by_the_guard(moved, giant, fast=fast)
    assert (kept.tolist(), name) == (moved.tolist(), "first labels")
    kept, name = kept_by_the_guard(HALVES, moved, fast=fast)
    assert (kept.tolist(), name) == (moved.tolist(), "hartigan")


@pytest.mark.parametrize(("fast", "expected"), [(False, "likelihood moves"), (True, "hartigan")])
def test_fast_refinement_runs_the_guard_only_after_a_loss(fast, expected):
    """Labels as good as the first ones are no loss, though moves on the likelihood gain more."""
    assert kept_by_the_guard(HALVES, HALVES, fast=fast)[1] == expected


def test_without_a_guard_hartigan_moves_are_kept():
    assert Hartigan(guard=None).refine(karate_problem(), HALVES).kept == "hartigan"


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", [Hartigan(), Hartigan("gram", "all", guard=None)])
def test_components_at_once_are_refined_as_each_alone(method, weighted):
    rng = np.random.default_rng(0)
    G = nx.disjoint_union_all(
        [nx.planted_partition_graph(3, 10, 0.5, 0.1, seed=seed) for seed in range(4)]
        + [nx.empty_graph(1), nx.barbell_graph(5, 0)]
    )
    nx.set_edge_attributes(
        G, {edge: rng.random() if weighted else 1.0 for edge in G.edges}, "weight"
    )
    for fast in (False, True):
        problem = replace(prepare(as_graph(G)).problem, fast=fast)
        k = np.minimum(problem.sizes, 3)
        z = np.concatenate([np.arange(n) % min(n, 3) for n in problem.sizes])
        which = np.array([0, 1, 3, 4, 5])
        found = refine_labels(method, problem, z, k, which)
        for c, beside in zip(which.tolist(), found, strict=True):
            (alone,) = refine_labels(method, problem.part(c), z[problem.rows(c)], k[[c]], WHOLE)
            assert beside.z.tolist() == alone.z.tolist()
            assert repr(beside[1:]) == repr(alone[1:])


def test_groups_that_avoid_one_another_are_no_communities_to_the_guard():
    G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(10, 10))
    checkerboard = [(i // 10 + i % 10) % 2 for i in range(100)]
    partition = kg.refine_partition(G, checkerboard)
    assert kg.scoring.modularity(G, partition) > 0.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "degree"}, "weights must be one of 'association', 'uniform', 'gram'"),
        ({"candidates": "some"}, "candidates must be one of"),
        ({"margin": -1.0}, "margin must be a number of edges >= 0, got -1.0"),
        ({"max_sweeps": 0}, "max_sweeps must be a whole number >= 1, got 0"),
        ({"guard": 1.5}, "guard must be None or a number from 0 to below 1, got 1.5"),
        ({"guard": "a"}, "guard must be None or a number from 0 to below 1, got 'a'"),
        ({"margin": "a"}, "margin must be a number of edges >= 0, got 'a'"),
        ({"margin": True}, "margin must be a number of edges >= 0, got True"),
        ({"margin": float("inf")}, "margin must be a number of edges >= 0, got inf"),
        ({"max_sweeps": None}, "max_sweeps must be a whole number >= 1, got None"),
        ({"max_sweeps": float("nan")}, "max_sweeps must be a whole number >= 1, got nan"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Hartigan(**options)
