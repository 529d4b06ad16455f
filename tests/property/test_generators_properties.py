"""Whatever the arguments, drawn graphs are simple, of the right size and repeatable."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgroups.generators import (
    PowerLaw,
    configuration_model,
    degree_corrected_sbm,
    planted_partition,
    stochastic_block_model,
)
from kgroups.generators.rewiring import simple_pairing

seeds = st.integers(0, 2**64)


@st.composite
def block_models(draw, *, highest=1.0):
    sizes = draw(st.lists(st.integers(0, 12), min_size=1, max_size=5))
    k = len(sizes)
    p = st.floats(0, highest) | st.sampled_from([0.0, highest, 1e-300, 0.25])
    P = np.zeros((k, k))
    for a in range(k):
        for b in range(a, k):
            P[a, b] = P[b, a] = draw(p)
    return sizes, P


def assert_simple(graph):
    A = graph.to_scipy().toarray()
    assert np.array_equal(A, A.T)
    assert not A.diagonal().any()
    assert set(np.unique(A)) <= {0.0, 1.0}


@given(block_models(), seeds)
def test_block_models_obey_zeros_and_ones(model, seed):
    sizes, P = model
    graph, labels = stochastic_block_model(sizes, P, rng=seed)
    assert_simple(graph)
    assert np.bincount(labels, minlength=len(sizes)).tolist() == sizes
    A = graph.to_scipy().toarray() + np.eye(graph.n)
    of_pair = P[np.ix_(labels, labels)]
    assert not A[(of_pair == 0) & ~np.eye(graph.n, dtype=bool)].any()
    assert A[of_pair == 1].all()


@given(block_models(highest=0.9), st.floats(0, 4), st.floats(1, 50), seeds)
def test_degree_corrected_models_are_simple(model, exponent, ratio, seed):
    sizes, P = model
    graph, _ = degree_corrected_sbm(sizes, P, PowerLaw(exponent, ratio), rng=seed)
    assert_simple(graph)
    assert graph.n == sum(sizes)


@given(st.integers(1, 60), st.data(), seeds)
def test_planted_partitions_are_simple_and_repeatable(n, data, seed):
    k = data.draw(st.integers(1, n))
    degree, snr = data.draw(st.floats(0, 10)), data.draw(st.floats(-5, 5))
    sizes = data.draw(st.sampled_from(["balanced", "multinomial"]))
    draw = [
        planted_partition(n, k, degree, snr, sizes=sizes, beyond="clip", rng=seed) for _ in range(2)
    ]
    assert_simple(draw[0].graph)
    assert draw[0].labels.size == n
    assert draw[0].labels.max() < k
    assert np.array_equal(draw[0].graph.indices, draw[1].graph.indices)


@given(block_models(), st.floats(0, 3), seeds)
def test_configuration_model_keeps_every_degree(model, swaps, seed):
    graph, _ = stochastic_block_model(*model, rng=seed)
    null = configuration_model(graph, swaps_per_edge=swaps, rng=seed)
    assert_simple(null)
    assert np.array_equal(null.degrees, graph.degrees)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=30), st.integers(1, 4), seeds)
def test_pairing_never_exceeds_the_stubs(degrees, pools, seed):
    stubs = np.array(degrees)
    pool = np.arange(stubs.size) % pools
    for a in range(pools):
        if stubs[pool == a].sum() % 2:
            stubs[a] += 1
    u, v = simple_pairing(stubs, pool, np.random.default_rng(seed))
    assert np.all(np.bincount(np.concatenate([u, v]), minlength=stubs.size) <= stubs)
    assert np.array_equal(pool[u], pool[v])
    assert np.all(u != v)
    assert len({frozenset(pair) for pair in zip(u.tolist(), v.tolist(), strict=True)}) == u.size
