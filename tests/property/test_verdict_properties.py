"""Verdicts on graphs of every shape: a valid p, and no dependence on order or processes."""

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import kgroups as kg
from helpers.strategies_spectrum import csr_of, random_adjacency
from kgroups.uncertainty.significance import second_eigenvalue


@given(seed=st.integers(0, 10_000), stream=st.integers(0, 100))
@settings(max_examples=40)
def test_a_verdict_on_any_graph(seed, stream):
    A = random_adjacency(seed, largest=24, weighted=True, loops=True)
    verdict = kg.significance(A, nulls=19, rng=stream)
    assert verdict.significant == (verdict.p is not None and verdict.p <= 0.05)
    if verdict.test == "none":
        assert (verdict.p, verdict.eigenvalue) == (None, None)
    else:
        assert verdict.p in [count / 20 for count in range(1, 21)]
        assert np.isfinite(verdict.null_eigenvalues).all()
        assert verdict.snr >= 1.0
        assert verdict.detectability != "detectable" or verdict.eigenvalue > 1.0
    assert str(verdict).startswith(("The graph ", "There is too little"))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_the_order_of_the_input_does_not_matter(seed):
    G = nx.from_numpy_array(random_adjacency(seed, largest=20))
    rng = np.random.default_rng(seed)
    shuffled = nx.Graph()
    shuffled.add_nodes_from(rng.permutation(len(G)).tolist())
    shuffled.add_edges_from(rng.permutation(np.array(G.edges).reshape(-1, 2)).tolist())
    assert kg.significance(shuffled, nulls=19, rng=1) == kg.significance(G, nulls=19, rng=1)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30)
def test_names_do_not_change_the_eigenvalue(seed):
    A = random_adjacency(seed, largest=20)
    if len(A) < 2:
        return
    order = np.random.default_rng(seed).permutation(len(A))
    renamed = second_eigenvalue(csr_of(A[order][:, order]))
    assert abs(renamed - second_eigenvalue(csr_of(A))) < 1e-8
