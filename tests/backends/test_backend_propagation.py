"""Label propagation through the networkx backend: the update rules of networkx."""

import random
from statistics import mean

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.backend_parity import assert_declined
from helpers.strategies_backends import UNDIRECTED, cases

asynchronous = nx.community.asyn_lpa_communities
fast = nx.community.fast_label_propagation_communities
semisynchronous = nx.community.label_propagation_communities


def frequencies(G, node, label, weight, *, both_ways):
    """Count labels around a node as networkx does: its two ways of counting differ."""
    total = {}
    if weight is None and not (both_ways and G.is_multigraph()):
        around = nx.all_neighbors(G, node) if both_ways else G[node]
        met = [(v, 1) for v in around]
    else:
        met = [(v, w) for _, v, w in G.edges(node, data=weight, default=1)]
        if both_ways and G.is_directed():
            met += [(u, w) for u, _, w in G.in_edges(node, data=weight, default=1)]
    for v, w in met:
        total[label[v]] = total.get(label[v], 0) + w
    return total


def assert_settled(G, communities, weight, *, both_ways):
    """Assert that no node would take another label, the rule by which both algorithms end."""
    label = {v: a for a, part in enumerate(communities) for v in part}
    assert label.keys() == set(G)
    for node in G:
        total = frequencies(G, node, label, weight, both_ways=both_ways)
        if total:
            assert total.get(label[node], -np.inf) >= max(total.values()) - 1e-9


WEIGHT = st.sampled_from([None, "weight"])


@given(cases(), WEIGHT, st.integers(0, 99))
def test_asynchronous_propagation_ends_where_networkx_would_end(case, weight, seed):
    found = list(asynchronous(case.graph, weight, seed, backend="kgroups"))
    assert nx.community.is_partition(case.graph, found)
    assert_settled(case.graph, found, weight, both_ways=False)


@given(cases(weights=("none", "partial")), WEIGHT, st.integers(0, 99))
def test_fast_propagation_ends_where_networkx_would_end(case, weight, seed):
    found = list(fast(case.graph, weight=weight, seed=seed, backend="kgroups"))
    assert nx.community.is_partition(case.graph, found)
    assert_settled(case.graph, found, weight, both_ways=True)


@given(cases(UNDIRECTED))
def test_semisynchronous_propagation_gives_the_communities_of_networkx(case):
    ours, native = (
        semisynchronous(case.graph, backend=backend) for backend in ("kgroups", "networkx")
    )
    assert list(ours) == list(native)
    assert type(ours) is type(native)


@pytest.mark.parametrize("seed", range(5))
def test_semisynchronous_propagation_on_larger_graphs(seed):
    G = nx.planted_partition_graph(6, 40, 0.3, 0.02, seed=seed)
    G.add_edges_from([(v, v) for v in range(0, 240, 7)])
    assert list(semisynchronous(G, backend="kgroups")) == list(
        semisynchronous(G, backend="networkx")
    )


@pytest.mark.statistical
@pytest.mark.parametrize("function", [asynchronous, fast])
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_random_propagations_have_the_distribution_of_networkx(function, kind):
    """Mean numbers of communities of 60 runs each, within five standard errors of another."""
    G = kind(nx.planted_partition_graph(4, 15, 0.4, 0.06, seed=3))
    counts = [
        [len(list(function(G, seed=s, backend=backend))) for s in range(60)]
        for backend in ("kgroups", "networkx")
    ]
    spread = np.hypot(np.std(counts[0]), np.std(counts[1])) / np.sqrt(60)
    assert abs(mean(counts[0]) - mean(counts[1])) <= 5 * spread


@pytest.mark.parametrize("function", [asynchronous, fast])
def test_seeds_repeat_and_move_on(function):
    G = nx.gnm_random_graph(60, 100, seed=1)
    first, again = (list(function(G, seed=3, backend="kgroups")) for _ in range(2))
    assert first == again
    source = random.Random(3)
    drawn = [list(function(G, seed=source, backend="kgroups")) for _ in range(8)]
    assert any(one != drawn[0] for one in drawn)


def test_infinite_weights_are_left_to_networkx():
    G = nx.Graph()
    G.add_edge(0, 1, weight=float("inf"))
    assert_declined(asynchronous, G, weight="weight")
