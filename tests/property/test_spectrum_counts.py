"""Counts against the dense matrix on random graphs of every shape, each method in turn."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import oracles_spectrum as oracles
from helpers.strategies_spectrum import counts_by, csr_of, random_adjacency, random_tree
from kgroups import BetheHessian
from kgroups._csr import connected_components, two_core
from kgroups._types import CSR
from kgroups.generators import planted_partition
from kgroups.spectrum import count_components
from kgroups.spectrum.count import count_on
from kgroups.spectrum.operators import R_CHOICES
from kgroups.spectrum.subspace import count_by_filter

METHODS = [None, "dense", "inertia"]
seeds = st.integers(0, 2**32 - 1)
rules = st.sampled_from([*R_CHOICES, 1.5, 2.5])


def bind(W, rule, *, weighted):
    csr = csr_of(W)
    return BetheHessian(rule).bind(csr, weighted=weighted), connected_components(csr)[1]


def dense_spectrum(hessian):
    return np.linalg.eigvalsh(hessian.normalized_matrix().toarray())


@pytest.mark.parametrize("method", METHODS)
@given(seed=seeds, rule=rules, weighted=st.booleans(), loops=st.booleans())
def test_counts_equal_the_dense_spectrum(method, seed, rule, weighted, loops):
    W = random_adjacency(seed, largest=40, weighted=weighted, loops=loops)
    hessian, labels = bind(W, rule, weighted=weighted)
    counts = counts_by(hessian, labels, method)
    for a in range(labels.max() + 1):
        nu = dense_spectrum(hessian.restrict(np.flatnonzero(labels == a)))
        assume(np.abs(np.abs(nu) - 1.0).min() > 1e-7)
        assert counts.k[a] == np.count_nonzero(nu > 1.0)
    below = count_on(hessian, counts.layout, sign=-1)
    assert below.total == np.count_nonzero(dense_spectrum(hessian) < -1.0)


@pytest.mark.compiled
@settings(max_examples=40)
@given(
    seed=seeds,
    n=st.integers(300, 900),
    k=st.integers(1, 12),
    snr=st.floats(0.0, 1.6),
    rule=st.sampled_from(R_CHOICES),
    weighted=st.booleans(),
    sign=st.sampled_from([1, -1]),
)
def test_the_filter_bounds_the_dense_count(seed, n, k, snr, rule, weighted, sign):
    """No size at which the filter would hand over to another method is left out."""
    graph, _ = planted_partition(n, k, 8.0, snr, beyond="clip", rng=seed)
    A = graph.simple_adjacency()
    if weighted:
        # A symmetric weight for each pair of nodes.
        rows = np.repeat(np.arange(n), np.diff(A.indptr))
        pair = np.minimum(rows, A.indices) * n + np.maximum(rows, A.indices)
        A = CSR(A.indptr, A.indices, 1.0 + np.random.default_rng(seed).random(n * n)[pair])
    _, labels = connected_components(A)
    rows = np.flatnonzero(labels == np.argmax(np.bincount(labels)))
    hessian = BetheHessian(rule).bind(A, weighted=weighted).restrict(rows)
    nu = sign * dense_spectrum(hessian)
    assume(np.abs(nu - 1.0).min() > 1e-7)
    found = count_by_filter(hessian, sign=sign)
    assert found.k_low <= np.count_nonzero(nu > 1.0) <= found.k_high


@given(seed=seeds, rule=rules, weighted=st.booleans(), loops=st.booleans())
def test_pruning_to_the_core_keeps_the_count(seed, rule, weighted, loops):
    W = random_adjacency(seed, largest=40, weighted=weighted, loops=loops)
    hessian, _ = bind(W, rule, weighted=weighted)
    lam = np.linalg.eigvalsh(hessian.matrix().toarray())
    assume(np.abs(lam).min() > 1e-7)
    core = hessian.on_core(np.flatnonzero(two_core(csr_of(W))))
    on_core = np.linalg.eigvalsh(core.matrix().toarray()) if core.n else np.zeros(0)
    assert np.count_nonzero(on_core < 0) == np.count_nonzero(lam < 0)


@given(seed=seeds, rule=rules, n=st.integers(1, 60), weighted=st.booleans())
def test_trees_and_unicyclic_graphs_hold_nothing(seed, rule, n, weighted):
    rng = np.random.default_rng(seed)
    W = random_tree(n, rng)
    i, j = rng.integers(0, n, 2)
    W[i, j] = W[j, i] = 1.0
    if weighted:
        w = rng.lognormal(0.0, 2.0, (n, n))
        W = W * (w + w.T)
    hessian, labels = bind(W, rule, weighted=weighted)
    assert np.linalg.eigvalsh(hessian.matrix().toarray()).min() > 0.0
    assert set(count_components(hessian, labels).method) == {"pruned"}


@given(seed=seeds, weighted=st.booleans(), scale=st.sampled_from([1e-6, 0.25, 3.0, 1e7]))
def test_counts_do_not_see_the_unit_of_the_weights(seed, weighted, scale):
    W = random_adjacency(seed, largest=30, weighted=weighted)
    for rule in R_CHOICES:
        hessian, labels = bind(W, rule, weighted=True)
        nu = dense_spectrum(hessian)
        assume(np.abs(nu - 1.0).min() > 1e-6)
        scaled, _ = bind(scale * W, rule, weighted=True)
        assert count_components(scaled, labels).total == count_components(hessian, labels).total


@given(seed=seeds, weighted=st.booleans())
def test_counts_do_not_see_the_order_of_the_nodes(seed, weighted):
    W = random_adjacency(seed, largest=30, weighted=weighted)
    order = np.random.default_rng(seed).permutation(len(W))
    for rule in R_CHOICES:
        hessian, labels = bind(W, rule, weighted=weighted)
        assume(np.abs(dense_spectrum(hessian) - 1.0).min() > 1e-6)
        moved, moved_labels = bind(W[np.ix_(order, order)], rule, weighted=weighted)
        assert moved.r == pytest.approx(hessian.r, rel=1e-7)
        first = count_components(hessian, labels).total
        assert count_components(moved, moved_labels).total == first


@given(seed=seeds, weighted=st.booleans(), loops=st.booleans())
def test_nonbacktracking_rule_is_the_root_of_the_dense_radius(seed, weighted, loops):
    W = random_adjacency(seed, largest=12, weighted=weighted, loops=loops)
    hessian, _ = bind(W, "nonbacktracking", weighted=weighted)
    if weighted and hessian.saturated:
        return
    rho = oracles.nonbacktracking_radius(W**2 if weighted else W)
    largest = W.max() if weighted and W.any() else 1.0
    if rho > largest**2 * 1.01:
        assert hessian.r**2 == pytest.approx(rho, rel=1e-7)
    else:
        assert hessian.r >= 1.0005 * largest
