"""The input policy holds with every method: on any graph, with k found or given.

Warnings are errors in the whole suite, so a warning of numpy fails these tests too.
"""

import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kgroups as kg
from kgroups.generators import planted_partition

METHODS = (
    kg.Auto(),
    kg.Search(),
    kg.Spectral("exact"),
    kg.Spectral("filtered"),
    kg.Spectral(exact_nodes=6),
    kg.Auto(spectral=kg.Spectral("exact")),
    kg.Auto(spectral=kg.Spectral("filtered")),
    kg.Auto(spectral=kg.Spectral(exact_nodes=0)),
)
WINNERS = ("search", "eigenvectors", "one community", "pairs of nodes")
SHAPES = {
    "isolated": nx.empty_graph,
    "path": nx.path_graph,
    "star": lambda n: nx.star_graph(n - 1),
    "cycle": nx.cycle_graph,
    "complete": nx.complete_graph,
    "bipartite": lambda n: nx.complete_bipartite_graph(n // 3, n - n // 3),
    "cliques": lambda n: nx.ring_of_cliques(max(2, n // 5), 5) if n >= 10 else nx.complete_graph(n),
    "wheel": nx.wheel_graph,
}
WEIGHTS = {
    "none": lambda m, rng: None,
    "equal": lambda m, rng: np.full(m, 3.7),
    "counts": lambda m, rng: rng.integers(0, 5, m).astype(float),
    "wide": lambda m, rng: 10.0 ** rng.uniform(-12, 12, m),
    "heavy tail": lambda m, rng: rng.pareto(0.6, m) + 1e-3,
    "one enormous": lambda m, rng: np.where(np.arange(m) == m // 2, 1e12, 1.0),
    "one faint": lambda m, rng: np.where(np.arange(m) == m // 2, 1e-12, 1.0),
}


def examples(count):
    relaxed = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=count, suppress_health_check=relaxed)


@st.composite
def shapes(draw, max_nodes):
    """Draw a connected shape, a random graph, or nodes without an edge."""
    n = draw(st.integers(1, max_nodes))
    name = draw(st.sampled_from([*SHAPES, "random", "random", "random"]))
    if name != "random":
        return SHAPES[name](n)
    edges = draw(st.integers(0, 4 * n))
    return nx.gnm_random_graph(n, edges, seed=draw(st.integers(0, 2**32 - 1)))


@st.composite
def odd_graphs(draw, max_nodes=60):
    """Draw several shapes beside one another, with hubs, loops, parallel edges and weights."""
    count = draw(st.integers(1, 4))
    G = nx.disjoint_union_all([draw(shapes(max_nodes // count)) for _ in range(count)])
    n = len(G)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    edges = np.array(G.edges, dtype=np.int64).reshape(-1, 2)
    more = []
    if draw(st.booleans()):
        more.append(rng.integers(n, size=(draw(st.integers(1, 6)), 2)))
    if draw(st.integers(0, 3)) == 0:
        more.append(np.column_stack([np.zeros(n, dtype=np.int64), np.arange(n)]))
    if draw(st.integers(0, 3)) == 0:
        more.append(np.repeat(np.arange(0, n, 2), 2).reshape(-1, 2))
    if len(edges) and draw(st.integers(0, 3)) == 0:
        more.append(edges[rng.integers(len(edges), size=5)])
    edges = np.concatenate([edges, *more])
    weight = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))](len(edges), rng)
    return kg.Graph.from_edges(edges[:, 0], edges[:, 1], weight, n=n)


def linked(graph):
    """Return the pairs of positive weight as a networkx graph."""
    A = graph.to_scipy().tocoo()
    G = nx.empty_graph(graph.n)
    positive = A.data > 0.0
    G.add_edges_from(zip(A.row[positive].tolist(), A.col[positive].tolist(), strict=True))
    return G


def check_partition(partition, graph, k):
    G = linked(graph)
    assert sorted(partition.labels.tolist()) == sorted(
        label for label, community in enumerate(partition) for _ in community
    )
    assert set().union(*partition) == set(range(graph.n))
    assert all(partition)
    if k is None:
        assert partition.uninformed == ()
        assert all(nx.is_connected(G.subgraph(community)) for community in partition)
    else:
        assert len(partition) == k
        assert len({partition.membership[node] for node in partition.uninformed}) <= 1
        # Only whole components are uninformed.
        for component in nx.connected_components(G):
            assert component.isdisjoint(partition.uninformed) or component <= set(
                partition.uninformed
            )


def check_report(partition, k):
    report = partition.report
    assert (report.k_given, report.k_found) == (k, len(partition))
    assert report.uninformed == len(partition.uninformed)
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False)) == report.to_dict()
    assert all(line[-1] in ".:" for line in report.lines())
    for component in report.components:
        assert 1 <= component.k <= component.n
        assert component.winner in WINNERS
        assert component.why


loops = st.sampled_from(["drop", "keep"])
refinements = st.sampled_from([kg.Hartigan(), kg.Hartigan(), None])


@examples(200)
@given(odd_graphs(), st.sampled_from(METHODS), loops, refinements)
def test_communities_are_connected_with_every_method(graph, method, self_loops, refine):
    partition = kg.detect_communities(graph, method=method, self_loops=self_loops, refine=refine)
    check_partition(partition, graph, None)
    check_report(partition, None)


@examples(200)
@given(
    odd_graphs(),
    st.sampled_from(METHODS),
    loops,
    refinements,
    st.sampled_from([kg.KMeansInit(), kg.QRInit(), kg.KMeansInit(rows="raw")]),
    st.data(),
)
def test_a_given_k_is_met_with_every_method(graph, method, self_loops, refine, init, data):
    components = nx.number_connected_components(linked(graph))
    near = [1, 2, components - 1, components, components + 1, graph.n - 1, graph.n]
    ks = st.one_of(st.sampled_from([k for k in near if 1 <= k <= graph.n]), st.integers(1, graph.n))
    k = data.draw(ks)
    partition = kg.detect_communities(
        graph, k, method=method, self_loops=self_loops, refine=refine, init=init
    )
    check_partition(partition, graph, k)
    check_report(partition, k)


def reordered(graph, order, rng):
    """Return the graph under names, and the same with its nodes and edges in another order."""
    names = [f"v{i:04d}" for i in range(graph.n)]
    place = np.argsort(order)
    u, v, w = graph.edges()
    slots = rng.permutation(u.size)
    first = kg.Graph.from_edges(u, v, w, nodes=names)
    second = kg.Graph.from_edges(
        place[v[slots]], place[u[slots]], w[slots], nodes=[names[i] for i in order]
    )
    return first, second


@examples(60)
@given(
    odd_graphs(),
    st.sampled_from(METHODS),
    st.sampled_from([None, 1, 3]),
    st.randoms(use_true_random=False),
)
def test_order_of_the_nodes_does_not_matter_with_any_method(graph, method, k, random):
    k = None if k is None else min(k, graph.n)
    rng = np.random.default_rng(random.randrange(2**32))
    first, second = reordered(graph, rng.permutation(graph.n), rng)
    found = kg.detect_communities(first, k, method=method)
    other = kg.detect_communities(second, k, method=method)
    assert set(other) == set(found)
    assert set(other.uninformed) == set(found.uninformed)


@st.composite
def large_graphs(draw):
    """Draw planted communities too large for exact eigenvectors, beside an odd graph, weighted."""
    n, k = draw(st.integers(1_050, 1_500)), draw(st.integers(1, 40))
    degree = draw(st.floats(1.5, 15.0))
    snr = draw(st.floats(0.0, 1.0)) * np.sqrt(degree)
    seed = draw(st.integers(0, 2**32 - 1))
    u, v, _ = planted_partition(n, k=k, degree=degree, snr=snr, rng=seed).graph.edges()
    beside = draw(odd_graphs(max_nodes=40))
    x, y, _ = beside.edges()
    u, v = np.concatenate([u, n + x]), np.concatenate([v, n + y])
    rng = np.random.default_rng(seed)
    if draw(st.booleans()):
        u, v = np.append(u, np.zeros(400, dtype=u.dtype)), np.append(v, rng.choice(n, 400))
    weight = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))](u.size, rng)
    return kg.Graph.from_edges(u, v, weight, n=n + beside.n)


@pytest.mark.compiled
@examples(25)
@given(large_graphs(), loops, refinements)
def test_communities_of_large_graphs_are_connected(graph, self_loops, refine):
    partition = kg.detect_communities(graph, self_loops=self_loops, refine=refine)
    check_partition(partition, graph, None)
    check_report(partition, None)


@pytest.mark.compiled
@examples(15)
@given(large_graphs(), refinements, st.data())
def test_a_given_k_is_met_on_large_graphs(graph, refine, data):
    components = nx.number_connected_components(linked(graph))
    near = [1, 2, 7, components - 1, components, components + 1, 300, graph.n - 1, graph.n]
    k = data.draw(st.sampled_from([k for k in near if k >= 1]))
    partition = kg.detect_communities(graph, k, refine=refine)
    check_partition(partition, graph, k)
    check_report(partition, k)


@pytest.mark.compiled
@examples(6)
@given(large_graphs(), st.randoms(use_true_random=False))
def test_order_of_the_nodes_does_not_matter_on_large_graphs(graph, random):
    rng = np.random.default_rng(random.randrange(2**32))
    first, second = reordered(graph, rng.permutation(graph.n), rng)
    assert set(kg.detect_communities(second)) == set(kg.detect_communities(first))
