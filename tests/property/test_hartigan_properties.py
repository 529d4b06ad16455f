import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import oracles_hartigan as oracles
from helpers.strategies_hartigan import as_csr, labeled_matrices
from kgroups.hartigan import (
    best_kmeans,
    group_association,
    group_totals,
    improve,
    improve_components,
    improve_rows,
)

candidates = st.sampled_from(["neighbors", "all"])


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-9)


@given(labeled_matrices())
def test_association_equals_the_dense_form(case):
    M, w, z, k = case
    expected = oracles.association(M, w, z, k)
    assert group_association(as_csr(M), np.diag(M).copy(), w, z, k=k) == close(expected)


@given(labeled_matrices(), candidates)
def test_every_sweep_raises_the_objective(case, which):
    M, w, z, k = case
    G, diagonal = as_csr(M), np.diag(M).copy()
    value = oracles.association(M, w, z, k)
    for _ in range(30):
        step = improve(G, diagonal, w, z, k=k, candidates=which, max_sweeps=1)
        after = oracles.association(M, w, step.z, k)
        assert after >= value - 1e-9 * (1 + abs(value))
        if step.moves:
            assert after > value
        if step.converged:
            break
        z, value = step.z, after
    else:
        pytest.fail("30 sweeps did not converge on a dozen nodes")


@given(labeled_matrices(), candidates)
def test_running_totals_equal_recomputed_totals(case, which):
    M, w, z, k = case
    G, diagonal = as_csr(M), np.diag(M).copy()
    found = improve(G, diagonal, w, z, k=k, candidates=which)
    s, Q, size = group_totals(G, diagonal, w, found.z, k=k)
    np.testing.assert_allclose(found.s, s, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.Q, Q, rtol=1e-9, atol=1e-9)
    assert size.tolist() == np.bincount(found.z, minlength=k).tolist()
    assert found.objective == close(oracles.association(M, w, found.z, k))


@given(labeled_matrices())
def test_no_single_move_improves_what_all_candidates_converged_to(case):
    M, w, z, k = case
    found = improve(as_csr(M), np.diag(M).copy(), w, z, k=k, candidates="all", max_sweeps=1000)
    assert found.converged
    assert oracles.best_single_move(M, w, found.z, k) <= 1e-8 * (1 + np.abs(M).sum())


@given(labeled_matrices(), candidates)
def test_no_group_is_emptied_when_k_is_fixed(case, which):
    M, w, z, k = case
    found = improve(as_csr(M), np.diag(M).copy(), w, z, k=k, candidates=which)
    assert np.unique(found.z).size == k


@given(labeled_matrices(), candidates)
def test_each_sweep_reads_every_entry_once(case, which):
    M, w, z, k = case
    G = as_csr(M)
    found = improve(G, np.diag(M).copy(), w, z, k=k, candidates=which)
    assert found.visits == found.sweeps * len(G.indices)


@given(labeled_matrices(), st.sampled_from([0.1, 0.5, 2.0]))
def test_no_move_gains_less_than_the_margin(case, margin):
    M, w, z, k = case
    G, diagonal = as_csr(M), np.diag(M).copy()
    found = improve(G, diagonal, w, z, k=k, candidates="all", margin=margin)
    gain = found.objective - oracles.association(M, w, z, k)
    # Each move gains at least margin * mean|M| * (1/s_a + 1/s_b), and no group outweighs them all.
    typical = np.abs(G.data).mean() if G.data.size else 0.0
    assert gain >= found.moves * margin * typical * 2 / w.sum() - 1e-9 * (1 + np.abs(M).sum())


@given(labeled_matrices(), st.randoms(use_true_random=False))
def test_association_ignores_group_names_and_node_order(case, random):
    M, w, z, k = case
    name = np.array(random.sample(range(k), k))
    p = np.array(random.sample(range(z.size), z.size))
    shuffled = M[np.ix_(p, p)]
    original = group_association(as_csr(M), np.diag(M).copy(), w, z, k=k)
    renamed = group_association(as_csr(shuffled), np.diag(shuffled).copy(), w[p], name[z][p], k=k)
    assert renamed == close(original)


@given(st.integers(0, 2**32 - 1), st.integers(2, 20), st.integers(1, 4), st.integers(1, 4))
def test_row_moves_lower_the_kmeans_cost_and_report_it(seed, n, p, k):
    rng = np.random.default_rng(seed)
    k = min(k, n)
    X = rng.normal(size=(n, p))
    z = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))
    found, cost = improve_rows(X, z, k=k)
    assert cost == pytest.approx(oracles.kmeans_cost(X, found, k), rel=1e-9, abs=1e-9)
    assert cost <= oracles.kmeans_cost(X, z, k) + 1e-9
    assert np.unique(found).size == k


@given(labeled_matrices(max_nodes=9), candidates, st.sampled_from([0.0, 0.3]))
def test_moves_are_those_of_the_definition(case, which, margin):
    M, w, z, k = case
    found = improve(as_csr(M), np.diag(M).copy(), w, z, k=k, candidates=which, margin=margin)
    expected = oracles.sweeps(M, w, z, k, neighbors=which == "neighbors", margin=margin)
    assert found.z.tolist() == expected[0].tolist()
    assert (found.sweeps, found.moves) == expected[1:]


@given(st.lists(labeled_matrices(max_nodes=8), min_size=1, max_size=4), candidates, st.data())
def test_components_at_once_move_as_each_alone(cases, which, data):
    sizes, k = [len(w) for _, w, _, _ in cases], np.array([k for *_, k in cases])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    M = np.zeros((offsets[-1], offsets[-1]))
    for (own, *_), first, last in zip(cases, offsets[:-1], offsets[1:], strict=True):
        M[first:last, first:last] = own
    w, z = (np.concatenate([case[place] for case in cases]) for place in (1, 2))
    chosen = np.array(sorted(data.draw(st.sets(st.integers(0, k.size - 1)))), dtype=np.int64)
    options = {"candidates": which, "margin": 0.1, "max_sweeps": 3}
    diagonal = np.diag(M).copy()
    found = improve_components(as_csr(M), diagonal, w, offsets, chosen, k, z, **options)
    s, Q, _ = found.groups
    place = 0
    for c, (own, weights, labels, count) in enumerate(cases):
        rows = slice(offsets[c], offsets[c + 1])
        if c not in chosen:
            assert found.z[rows].tolist() == labels.tolist()
            continue
        alone = improve(as_csr(own), np.diag(own).copy(), weights, labels, k=count, **options)
        assert found.z[rows].tolist() == alone.z.tolist()
        assert found.done[c].tolist() == [alone.sweeps, alone.moves, alone.converged]
        groups = slice(place, place + count)
        assert s[groups].tobytes() == alone.s.tobytes()
        assert Q[groups].tobytes() == alone.Q.tobytes()
        place += count


@st.composite
def tables(draw):
    """Draw a table of random rows, a number of groups, random numbers and a number of starts."""
    n, p = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    k, starts = draw(st.integers(1, min(n, 4))), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    trials = draw(st.integers(1, 3))
    return rng.normal(size=(n, p)), k, rng.random((starts, 1 + k * trials)), starts


@given(tables())
def test_kmeans_is_that_of_the_definition(case):
    X, k, draws, starts = case
    (found,) = best_kmeans([X], [k], [draws], [starts])
    expected = oracles.best_kmeans(X, k, draws)
    assert found.tolist() == expected.tolist()


@given(st.lists(tables(), min_size=1, max_size=4))
def test_tables_at_once_are_grouped_as_each_alone(cases):
    found = best_kmeans(*map(list, zip(*cases, strict=True)))
    for case, z in zip(cases, found, strict=True):
        (alone,) = best_kmeans(*([value] for value in case))
        assert z.tolist() == alone.tolist()


@given(tables(), st.integers(1, 4))
def test_row_moves_are_those_of_the_definition(case, max_sweeps):
    X, k, draws, _ = case
    start = oracles.greedy_labels(X, k, draws[0])
    found, _ = improve_rows(X, start, k=k, max_sweeps=max_sweeps)
    M = X @ X.T
    expected, *_ = oracles.sweeps(M, np.ones(len(X)), start, k, max_sweeps=max_sweeps)
    assert found.tolist() == expected.tolist()
